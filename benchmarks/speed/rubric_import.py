"""Measure what ``import rewardkit`` costs compared with ``import numpy, pydantic``, which it always needs."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASE, REWARDKIT = "numpy, pydantic", "rewardkit"
USED_BASE, USED_REWARDKIT = "numpy, pydantic, in use", "rewardkit, in use"

_STATEMENTS = {
    BASE: "import numpy, pydantic",
    REWARDKIT: "import rewardkit",
    # Both packages load their parts when a name is first used; this is what a reward file really pays.
    USED_BASE: "import numpy; from pydantic import BaseModel, TypeAdapter",
    USED_REWARDKIT: "import rewardkit as rk; rk.reward, rk.tags, rk.json_schema, rk.number, rk.to_trl",
}


def measure_import(rounds: int) -> dict[str, list[float]]:
    """Return name -> CPU milliseconds without the interpreter's start, in fresh processes that take turns."""
    times: dict[str, list[float]] = {name: [] for name in _STATEMENTS}
    # Use compiled bytecode, as an installed package does; the first round writes it.
    with tempfile.TemporaryDirectory() as bytecode:
        for number in range(rounds + 1):
            for name, statement in _STATEMENTS.items():
                seconds = _seconds(statement, bytecode)
                if number:
                    times[name].append(seconds * 1e3)
    return times


def median_ratio(times: dict[str, list[float]], name: str, base: str) -> float:
    """Return the median over the rounds of `name` divided by `base`."""
    return statistics.median(time / other for time, other in zip(times[name], times[base], strict=True))


def _seconds(statement: str, bytecode: str) -> float:
    code = f"import time; start = time.process_time(); {statement}; print(time.process_time() - start)"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "adapters"))),
        "PYTHONPYCACHEPREFIX": bytecode,
        "PYTHONDONTWRITEBYTECODE": "",
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])
