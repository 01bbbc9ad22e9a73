"""What ``import rewardkit`` costs beside ``import numpy, pydantic``, which it needs in any case."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASE, REWARDKIT = "numpy, pydantic", "rewardkit"
USED_BASE, USED_REWARDKIT = "numpy, pydantic, in use", "rewardkit, in use"

_STATEMENTS = {
    BASE: "import numpy, pydantic",
    REWARDKIT: "import rewardkit",
    # Both packages load their parts when they are first named; this is what a reward file really pays.
    USED_BASE: "import numpy; from pydantic import BaseModel, TypeAdapter",
    USED_REWARDKIT: "import rewardkit as rk; rk.reward, rk.tags, rk.json_schema, rk.number, rk.to_trl",
}


def measure_import(rounds: int) -> dict[str, list[float]]:
    """Statement -> CPU milliseconds, without the interpreter's start, in fresh processes in turns."""
    times: dict[str, list[float]] = {name: [] for name in _STATEMENTS}
    # Byte code as an installed package has it, whatever this checkout may write; the first round makes it.
    with tempfile.TemporaryDirectory() as byte_code:
        for number in range(rounds + 1):
            for name, statement in _STATEMENTS.items():
                seconds = _seconds(statement, byte_code)
                if number:
                    times[name].append(seconds * 1e3)
    return times


def median_ratio(times: dict[str, list[float]], name: str, base: str) -> float:
    """The median over the rounds of `name` divided by `base`."""
    return statistics.median(time / other for time, other in zip(times[name], times[base], strict=True))


def _seconds(statement: str, byte_code: str) -> float:
    code = f"import time; start = time.process_time(); {statement}; print(time.process_time() - start)"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "adapters"))),
        "PYTHONPYCACHEPREFIX": byte_code,
        "PYTHONDONTWRITEBYTECODE": "",
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])
