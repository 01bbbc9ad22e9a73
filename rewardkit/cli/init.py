"""``rewardkit init DIR``: a small project that tests and trains at once."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.core.batch.table_text import visible

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Adds the verb with its options."""
    verb = verbs.add_parser(
        "init",
        help="write a small project: a reward, its tests, data, and run.yaml",
        description="Writes a small project: a reward, its tests, a data sample and run.yaml. It tests and trains at "
        "once, on any machine: the model is made on the spot.",
    )
    verb.add_argument("folder", type=Path, metavar="DIR", help="a new or empty folder")
    verb.add_argument("--task", choices=("orders",), default="orders", help="what is learned (default: orders)")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """0 when it is written."""
    from rewardkit_runner.project import write_project

    files = write_project(options.folder, task=options.task)
    print(visible(f"written to {options.folder}: {', '.join(files)}"), end="\n\n")
    folder = shlex.quote(str(options.folder))
    print(visible(f"  cd {folder}"))
    print("  pytest                             # the reward keeps its promises")
    print("  rewardkit check reward.py:reward   # can it be paid without doing the task?")
    print("  rewardkit train run.yaml           # a minute or two on a CPU")
    return 0
