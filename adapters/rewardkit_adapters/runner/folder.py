"""A run's folder: the names of its files, and whether it contains a run. This module does not import large libraries.

The folder also contains ``run.json`` and the record's tables, unless ``record:`` specifies another folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rewardkit.errors import ConfigError

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
    """Return whether the folder contains files from a training run."""
    checkpoint_folders = [path for path in (output / CHECKPOINTS).glob("checkpoint-*") if path.is_dir()]
    return bool(checkpoint_folders) or (output / _RECORD).exists() or (output / SUMMARY).exists()


def is_finished(output: Path) -> bool:
    """Return whether the run in the folder has finished."""
    try:
        return bool(json.loads((output / SUMMARY).read_text(encoding="utf-8"))["finished"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


@contextmanager
def lock_folder(output: Path) -> Iterator[None]:
    """Create the folder if needed, and lock it inside the `with` block. The lock is also released if the process ends.

    Raises:
        ConfigError: another process is training in the folder, or the folder cannot be written to.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(output / _LOCK)
    try:
        output.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise ConfigError(
            f"another process is training in {output}. Wait until it finishes, or choose another folder with --output "
            "DIR"
        ) from None
    except NotImplementedError:  # the file system does not support locks
        pass
    except OSError as error:
        raise ConfigError(f"output: cannot write to {output}: {error.strerror or error}") from None
    try:
        yield
    finally:
        lock.release()
