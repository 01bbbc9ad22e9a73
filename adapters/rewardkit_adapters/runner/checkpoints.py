"""A run's checkpoints: find complete checkpoints, and check whether the last checkpoint is the end of training.

If a process is killed while it saves a checkpoint, the checkpoint is incomplete.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.errors import ConfigError
from rewardkit_adapters.runner.folder import CHECKPOINTS

# The names that transformers gives to checkpoints.
_NAME = re.compile(r"checkpoint-(\d+)")
STATE = "trainer_state.json"
_MOST_HEADER_BYTES = 100_000_000
"""The maximum size of a header in bytes, which is the same as in safetensors itself."""


@dataclass(frozen=True)
class Checkpoint:
    """One of the trainer's checkpoint folders."""

    path: Path

    @property
    def step(self) -> int:
        """The step at which the checkpoint was saved."""
        match = _NAME.fullmatch(self.path.name)
        return int(match.group(1)) if match else int(self.state["global_step"])

    @property
    def state(self) -> dict[str, Any]:
        """The trainer's state.

        Raises:
            ConfigError: the state cannot be read.
        """
        try:
            content = json.loads((self.path / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"{self.path} is not a complete checkpoint: cannot read {STATE} ({error}). Use another checkpoint"
            ) from None
        if not isinstance(content, dict):
            raise ConfigError(
                f"{self.path} is not a complete checkpoint: {STATE} is not a mapping. Use another checkpoint"
            )
        return content

    def fault(self) -> str:
        """Return a description of a missing or truncated file, or "" if the checkpoint is complete."""
        return next(self._faults(), "")

    def _faults(self) -> Iterator[str]:
        try:
            self.state  # noqa: B018
        except ConfigError:
            # The trainer writes this file last.
            yield f"{STATE} is missing or truncated"
            return
        files = [path for path in self.path.iterdir() if path.is_file()]
        if not any(path.suffix in (".safetensors", ".bin") for path in files) and not any(
            path.is_dir() for path in self.path.iterdir()
        ):
            yield "the weights are missing"
        for path in files:
            # torch writes zip files, whose directory is at the end of the file.
            is_torn = path.suffix in (".pt", ".pth", ".bin") and not zipfile.is_zipfile(path)
            if is_torn or (path.suffix == ".safetensors" and not _is_whole(path)):
                yield f"{path.name} is truncated"

    def is_end(self, *, max_steps: int, epochs: float) -> bool:
        """Return whether this is the end of training for `max_steps` steps, or `epochs` if `max_steps` is not
        positive."""
        state = self.state
        if max_steps > 0:
            return bool(state["global_step"] >= max_steps)
        return bool(state["global_step"] >= state["max_steps"] and epochs <= state["num_train_epochs"])


def all_in(output: Path) -> list[Checkpoint]:
    """Return a run's checkpoints, sorted by step."""
    folder = output / CHECKPOINTS
    checkpoints = [
        Checkpoint(path) for path in folder.glob("checkpoint-*") if _NAME.fullmatch(path.name) and path.is_dir()
    ]
    return sorted(checkpoints, key=lambda checkpoint: checkpoint.step)


def named(output: Path, text: str | Path) -> Checkpoint:
    """Return the checkpoint that the user specifies as ``checkpoint-50``, ``50``, or a path.

    Raises:
        ConfigError: the checkpoint does not exist or is incomplete.
    """
    checkpoints = {checkpoint.path.name: checkpoint for checkpoint in all_in(output)}
    name = f"checkpoint-{text}" if str(text).isdigit() else str(text)
    chosen = checkpoints.get(name) or Checkpoint(Path(text).expanduser())
    if not chosen.path.is_dir():
        raise ConfigError(
            f"there is no checkpoint {text}. Choose one in {output / CHECKPOINTS}: {', '.join(checkpoints) or 'none'}"
        )
    if fault := chosen.fault():
        raise ConfigError(f"{chosen.path} is not a complete checkpoint: {fault}. Use another checkpoint")
    return chosen


def drop_after(output: Path, checkpoint: Checkpoint | None) -> None:
    """Move the checkpoints after `checkpoint` out of the way, because training will create them again.

    Complete checkpoints are renamed (``superseded-100``), and incomplete checkpoints are deleted.
    """
    step = -1 if checkpoint is None else checkpoint.step
    for candidate in all_in(output):
        if candidate.fault():
            shutil.rmtree(candidate.path)
        elif candidate.step > step:
            new_path = candidate.path.with_name(f"superseded-{candidate.step}")
            shutil.rmtree(new_path, ignore_errors=True)
            candidate.path.rename(new_path)


def _is_whole(path: Path) -> bool:
    """Return whether the length of a safetensors file matches its header."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length)) if 0 < length < _MOST_HEADER_BYTES else {}
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        # The first eight bytes are the length of the header; the tensors follow the header.
        return bool(ends) and path.stat().st_size == 8 + length + max(ends)
    except (OSError, ValueError, KeyError, TypeError):
        return False
