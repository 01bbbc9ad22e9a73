"""The checks of the house fail when it is broken: each contract, each rule, tried on a copy with one bad line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

CONTRACTS = [
    ("rewardkit/errors.py", "import rewardkit.record.run", "layers below its own"),
    ("rewardkit/analyze/signal.py", "import rewardkit.rewards.judges.cache", "layers below its own"),
    ("rewardkit/scoring/report.py", "import rewardkit.check.laws.base", "layers below its own"),
    ("rewardkit/batch/messages.py", "import rewardkit.tree.leaf", "layers below its own"),
    ("rewardkit/text/marks.py", "import rewardkit.workers.worker", "layers below its own"),
    ("rewardkit/analyze/signal.py", "import torch", "Only adapters know a trainer"),
    ("rewardkit/rewards/judges/cache.py", "import datasets", "Only adapters know a trainer"),
]
RULES = [
    ("rewardkit/text/claims.py", "\n".join(f"one_{n} = [one for one in ()]" for n in range(99)), "names are pronouns"),
    ("rewardkit/errors.py", "import rewardkit.batch.batch", "import each other in a circle"),
    ("rewardkit/combine/gate.py", "import rewardkit.combine.cached", "Make it a part of that module"),
    (
        "rewardkit/schedules/plots.py",
        "from rewardkit.tree.leaf import Leaf\nisinstance(None, Leaf)",
        "asks whether something is a Leaf",
    ),
    ("rewardkit/scoring/files.py", "from rewardkit import score", "imports the public API"),
    ("rewardkit/scoring/files.py", "def late():\n    import rewardkit", "imports the public API"),
    ("rewardkit/rewards/exact.py", "import rewardkit.rewards.number.reward", "exact and number are independent"),
    ("rewardkit/rewards/sandbox/values.py", "import rewardkit.rewards.json_schema.checks", "are independent parts"),
    (
        "adapters/rewardkit_adapters/verl.py",
        "import rewardkit_adapters.live.mailbox",
        "are independent parts",
    ),
]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the sources, with the configuration of the checks."""
    for part in ("rewardkit", "adapters", ".ci"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def checked(house: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, (house, house / "adapters")))
    return subprocess.run(command, cwd=house, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)


def spoil(house: Path, file: str, line: str) -> None:
    with (house / file).open("a", encoding="utf-8") as source:
        source.write(f"\n{line}\n")


@pytest.mark.slow
@pytest.mark.parametrize(("file", "line", "contract"), CONTRACTS)
def test_a_forbidden_import_breaks_its_contract(house: Path, file: str, line: str, contract: str) -> None:
    spoil(house, file, line)
    done = checked(house, str(Path(sys.executable).with_name("lint-imports")), "--no-cache")
    broken = " ".join(done.stdout.split()).partition("Broken contracts")[2]
    assert done.returncode == 1, done.stdout
    assert contract in broken


@pytest.mark.slow
@pytest.mark.parametrize(("file", "line", "rule"), RULES)
def test_a_bad_line_breaks_its_rule(house: Path, file: str, line: str, rule: str) -> None:
    spoil(house, file, line)
    done = checked(house, sys.executable, ".ci/house.py")
    assert done.returncode == 1
    assert rule in done.stdout


@pytest.mark.slow
def test_the_house_as_it_is_breaks_none(house: Path) -> None:
    done = checked(house, sys.executable, ".ci/house.py")
    assert done.returncode == 0, done.stdout
    done = checked(house, str(Path(sys.executable).with_name("lint-imports")), "--no-cache")
    assert done.returncode == 0, done.stdout
