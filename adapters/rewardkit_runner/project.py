"""The project that ``rewardkit init DIR`` writes: a reward, its tests, data and ``run.yaml``, which train at once."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rewardkit.core.errors import RewardKitError, near_miss
from rewardkit_runner.demo.task import examples

ROWS = 256
_FILES = ("README.md", "reward.py", "run.yaml", "test_reward.py")


def write_project(folder: Path, *, task: str = "orders") -> list[str]:
    """Writes a small project into a new or empty folder; the names of its files.

    ::

        write_project(Path("orders"))  # then: cd orders; pytest; rewardkit train run.yaml

    Raises:
        RewardKitError: there is something in the folder, it cannot be written to, or there is no such task.
    """
    templates = Path(__file__).parent / task
    if task != "orders":
        raise RewardKitError(f"there is no task {task!r}.{near_miss(task, ['orders'])} There is: orders.")
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = sorted(path.name for path in folder.iterdir())
        if there:
            shown = ", ".join(there[:5]) + (", ..." if len(there) > 5 else "")
            raise RewardKitError(f"{folder} is not empty ({shown}): name a new folder, nothing is overwritten")
        texts = {name: (templates / name).read_text(encoding="utf-8") for name in _FILES}
        for name, text in sorted({**texts, "data.jsonl": _orders()}.items()):
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RewardKitError(f"{folder} cannot be written to: {error.strerror or error}") from None
    return sorted((*_FILES, "data.jsonl"))


def _orders() -> str:
    """A row per line: the words of a customer, and the order that they stand for."""
    drawn = examples(ROWS, seed=0, split="training")
    rows = [{"text": example.prompt.strip(), "order": asdict(example.order)} for example in drawn]
    return "".join(json.dumps(row) + "\n" for row in rows)
