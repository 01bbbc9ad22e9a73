"""``rewardkit init DIR``: write a small project that is ready to train."""

from __future__ import annotations

import argparse
import shlex
from importlib.util import find_spec
from pathlib import Path

from rewardkit.batch.table_text import visible
from rewardkit.errors import install_command


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = "The project trains right away, on any machine, because the model is built when the run starts."
    verb.add_argument("folder", type=Path, metavar="DIR", help="a new or empty folder")
    verb.add_argument(
        "--task", choices=("orders",), default="orders", help="the task that the model learns (default: orders)"
    )


def run(options: argparse.Namespace) -> int:
    """Write the project; return 0."""
    from rewardkit_adapters.runner.project import write_project

    files = write_project(options.folder, task=options.task)
    print(visible(f"Written to {options.folder}: {', '.join(files)}"), end="\n\n")
    folder = shlex.quote(str(options.folder))
    if any(find_spec(module) is None for module in ("trl", "rich", "nicegui", "pytest")):
        print(f"  {install_command('train,view')} pytest")
    print(visible(f"  cd {folder}"))
    print("  pytest                             # does the reward score completions correctly?")
    print("  rewardkit check reward.py:reward   # can a completion get it without doing the task?")
    print("  rewardkit train run.yaml           # a minute or two on two idle CPU cores")
    print("\nIn a second terminal, while training runs:\n")
    print(visible(f"  cd {folder}"))
    print("  rewardkit view runs                # graphs and completions in the browser")
    run = shlex.quote(f"runs/{options.folder.resolve().name}")
    print(visible(f"  rewardkit update {run} --set weights.is_json=0.1   # change the reward"))
    return 0
