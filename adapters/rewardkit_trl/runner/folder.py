"""The folder of a run: what lies where, and whether there is a run in it. Loads nothing heavy.

``run.json`` and the tables of the record stand in it as well, unless the record has a folder of its own.
"""

from __future__ import annotations

import json
from pathlib import Path

WRITTEN = "run.yaml"
CHECKPOINTS = "checkpoints"
START = "start"
MODEL = "model"
EVALUATION = "evaluation.json"
SUMMARY = "summary.json"
PLOT = "plot.png"
_RECORD = "run.json"


def holds_a_run(output: Path) -> bool:
    """Whether a training has left something there."""
    left = [path for path in (output / CHECKPOINTS).glob("checkpoint-*") if path.is_dir()]
    return bool(left) or (output / _RECORD).exists() or (output / SUMMARY).exists()


def is_finished(output: Path) -> bool:
    """Whether a run came to its end there."""
    try:
        return bool(json.loads((output / SUMMARY).read_text(encoding="utf-8"))["finished"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
