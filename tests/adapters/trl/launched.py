"""Runs a script in two real processes over gloo, all cases in one run, because loading TRL takes long.

Each case has its own folder, in which its test finds the results.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Launched:
    """What two processes have left.

    Args:
        out: holds a folder for each case.
        said: their standard error, for the tests of cases that did not come to their end.
    """

    out: Path
    said: str

    def ranks(self, case: str) -> list[dict[str, Any]]:
        """What each process saw in a case."""
        seen = [json.loads(path.read_text()) for path in sorted((self.out / case).glob("rank*.json"))]
        assert [rank["world"] for rank in seen] == [2, 2], f"{case} did not come to its end:\n{self.said}"
        return seen


def on_two_ranks(script: str, out: Path, cases: Iterable[str]) -> Launched:
    """Run ``script OUT CASE...``, a file in this folder, in two processes."""
    root = Path(__file__).parents[3]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "adapters"), os.environ.get("PYTHONPATH", "")]),
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    path = str(Path(__file__).with_name(script))
    done = subprocess.run(
        [*launch, path, str(out), *cases], env=environment, capture_output=True, text=True, timeout=300
    )
    return Launched(out, done.stderr)
