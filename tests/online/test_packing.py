"""The code of a reward in a record: it loads in another process, after its files are gone, and reads well."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
import threading
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.online.versions import MOST_BYTES, pack_reward

HELPERS = """
import re

PATTERN = re.compile(r"[0-9]+")
LIMIT = 3
UNUSED = 4


def find(text):
    return PATTERN.findall(text)[:LIMIT]


class Longer:
    def __init__(self, than):
        self.than = than

    def __call__(self, completion):
        return float(len(completion) > self.than)
"""
SCRIPT = """
import sys
from pathlib import Path

import helpers
import rewardkit as rk
from rewardkit.online.versions import pack_reward

BONUS = 0.5


@rk.reward
def has(completion: str, answer: str) -> float:
    return float(answer in helpers.find(completion)) * BONUS


def per(characters):
    def length(completion):
        return len(completion) / characters

    return length


reward = has + 0.1 * rk.reward(helpers.Longer(3)) + rk.reward(per(100)) + rk.number("answer")
code = pack_reward(reward)
assert code.why_not == ""
Path("packed").write_bytes(code.data)
for file, text in code.sources.items():
    print(f"# {file}")
    print(text)
print(rk.score(reward, ["42", "x"], answer=["42", "42"]).total.tolist())
"""
LOAD = """
import pickle
from pathlib import Path

reward = pickle.loads(Path("packed").read_bytes())
import rewardkit as rk

print(rk.score(reward, ["42", "x"], answer=["42", "42"]).total.tolist())
"""


def ran(folder: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_reward_of_a_script_loads_when_its_files_are_gone(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "train.py").write_text(SCRIPT)
    *sources, scored = ran(tmp_path, "train.py").splitlines()
    for name in ("helpers.py", "train.py"):
        (tmp_path / name).unlink()
    assert ran(tmp_path, "-c", LOAD).strip() == scored
    text = "\n".join(sources)
    for wanted in ("# train.py", "BONUS = 0.5", "@rk.reward\ndef has", "    def length", "# helpers.py", "LIMIT = 3"):
        assert wanted in text or textwrap.dedent(wanted) in text, text
    assert "def find" in text
    assert "class Longer" in text
    assert "UNUSED" not in text
    assert text.count("def __call__") == 1


def locked(completion: str) -> float:
    with LOCK:
        return 1.0


def large(completion: str) -> float:
    return float(LARGE[0])


def secret(completion: str) -> float:
    return float(API_KEY in completion)


def innocent(completion: str) -> float:
    return float(TOKEN_PATTERN in completion)


LOCK = threading.Lock()
LARGE = np.zeros(MOST_BYTES // 8 + 1)
API_KEY = "sk-1234567890abcdefgh"
TOKEN_PATTERN = "two words"


@pytest.mark.parametrize(("function", "said"), [(locked, "lock"), (large, "bytes"), (secret, "API_KEY")])
def test_what_cannot_be_stored_is_said_and_its_source_is_kept(
    monkeypatch: pytest.MonkeyPatch, function: Any, said: str
) -> None:
    _leave_out(monkeypatch, function)
    code = pack_reward(rk.reward(function))
    assert code.data == b""
    assert said in code.why_not
    [text] = code.sources.values()
    assert f"def {function.__name__}" in text
    assert "sk-1234" not in text
    assert " at 0x" not in text


def test_a_word_like_token_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    _leave_out(monkeypatch, innocent)
    code = pack_reward(rk.reward(innocent))
    assert code.why_not == ""
    assert rk.score(pickle.loads(code.data), ["two words"]).total.tolist() == [1.0]


def _leave_out(monkeypatch: pytest.MonkeyPatch, kept: Any) -> None:
    """Take the other functions of this module for installed ones."""
    monkeypatch.setattr("rewardkit.online.versions._is_local", lambda one: one is kept)


def test_objects_that_are_made_when_they_are_looked_at_end() -> None:
    mock = Mock()

    def asks(completion: str) -> float:
        return float(mock.score(completion))

    code = pack_reward(rk.reward(partial(asks)))
    assert "def asks" in code.sources["tests/online/test_packing.py"]


def test_installed_rewards_are_only_named() -> None:
    reward = rk.number("answer") + 0.1 * rk.length.between(1, 20, unit="characters")
    code = pack_reward(reward)
    assert code.sources == {}
    assert pickle.loads(code.data).fingerprint == reward.fingerprint
