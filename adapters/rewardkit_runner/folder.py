"""The folder of a run: what lies where, and whether there is a run in it. Loads nothing heavy.

``run.json`` and the tables of the record stand in it as well, unless the record has a folder of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rewardkit_runner.configuration.faults import ConfigError

WRITTEN = "run.yaml"
CHECKPOINTS = "checkpoints"
START = "start"
MODEL = "model"
EVALUATION = "evaluation.json"
SUMMARY = "summary.json"
PLOT = "plot.png"
PROMPTS = "prompts.json"
_RECORD = "run.json"
_LOCK = ".lock"


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


@contextmanager
def taken(output: Path) -> Iterator[None]:
    """While it lasts the folder is this process's alone; it is made if need be. A killed process leaves it free.

    Raises:
        ConfigError: another process trains there, or it cannot be written to.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(output / _LOCK)
    try:
        output.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise ConfigError(
            f"another process trains in {output}: wait for its end, or choose another folder with --output DIR"
        ) from None
    except NotImplementedError:  # a file system without locks
        pass
    except OSError as error:
        raise ConfigError(f"output: {output} cannot be written: {error.strerror or error}") from None
    try:
        yield
    finally:
        lock.release()
