"""The bundled project: ``rewardkit init DIR`` copies it, ``rewardkit demo`` trains it."""

from __future__ import annotations

from pathlib import Path

from rewardkit.errors import RewardKitError, near_miss

TASKS = {"orders": Path(__file__).parent / "demo" / "orders"}
FILES = ("README.md", "data.jsonl", "reward.py", "run.yaml", "test_reward.py")


def write_project(folder: Path, *, task: str = "orders") -> list[str]:
    """Copy the bundled project to a new or empty folder. Return the names of the copied files.

    ::

        write_project(Path("orders"))  # then: cd orders; pytest; rewardkit train run.yaml

    Raises:
        RewardKitError: the folder is not empty or cannot be written to, or the task does not exist.
    """
    if task not in TASKS:
        hint = near_miss(task, list(TASKS))
        raise RewardKitError(f"there is no task {task!r}.{hint} Choose from: {', '.join(TASKS)}")
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        present = sorted(path.name for path in folder.iterdir())
        if present:
            listing = ", ".join(present[:5]) + (", ..." if len(present) > 5 else "")
            raise RewardKitError(f"{folder} is not empty ({listing}). Name a new folder: init never overwrites files")
        for name in FILES:
            (folder / name).write_bytes((TASKS[task] / name).read_bytes())
    except OSError as error:
        raise RewardKitError(f"cannot write to {folder}: {error.strerror or error}") from None
    return list(FILES)
