"""Functions of a notebook, of ``python -c`` and of standard input run with a time limit."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rewardkit.workers import pickled_by_value
from rewardkit.workers.pickled_by_value import PickledByValue

CODE = """
import re, time
from pydantic import BaseModel
import rewardkit as rk

LIMIT = 3

class Order(BaseModel):
    quantity: int

def share(text):
    return len(re.findall("x", text)) / LIMIT

@rk.reward(timeout=20.0)
def many(completion: str, order: Order, scale: float = 1.0) -> float:
    assert isinstance(order, Order)
    return min(1.0, share(completion) * scale)

@rk.reward(timeout=0.5)
def slow(completion: str) -> float:
    time.sleep(60)
    return 1.0

table = rk.score(many + slow, ["x", "xxx"], order=['{"quantity": 1}', {"quantity": 2}])
print(table["many"].round(3).tolist(), table.outcomes["slow"].tolist())
LIMIT = 6
print(rk.score(many, ["xxx"], order=[{"quantity": 2}], scale=[0.5]).total.tolist())
"""
SAID = "[0.333, 1.0] ['failed', 'failed']\n[0.25]\n"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["-c", "-", "script.py"])
def test_a_function_that_no_process_can_import_has_a_time_limit(how: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(CODE)
    given = [sys.executable, *{"-c": ("-c", CODE), "-": ("-",), "script.py": (str(script),)}[how]]
    done = subprocess.run(given, input=CODE if how == "-" else "", capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    assert done.stdout.replace("<Outcome.FAILED: 'failed'>", "'failed'") == SAID


def test_what_cannot_be_sent_is_named_with_what_to_do() -> None:
    code = "import threading, rewardkit as rk\nLOCK = threading.Lock()\n@rk.reward(timeout=1.0)\n"
    code += "def locked(completion):\n    with LOCK:\n        return 1.0\nrk.score(locked, ['a'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "RewardDefinitionError: reward 'locked' has a timeout" in done.stderr
    assert "Put the function into a file" in done.stderr


def test_functions_of_modules_are_imported_by_name() -> None:
    assert pickled_by_value.importable(test_functions_of_modules_are_imported_by_name)
    assert pickled_by_value.importable(abs)


def test_a_carried_function_takes_along_what_it_encloses() -> None:
    bonus = 0.5

    def more(value: float) -> float:
        return value + bonus

    assert PickledByValue.of(more)(1.0) == 1.5
    assert PickledByValue.of(more) == PickledByValue(PickledByValue.of(more).packed)
    with pytest.raises(TypeError, match="pickle"):
        PickledByValue.of(threading.Lock().acquire)
