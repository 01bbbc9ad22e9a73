"""The checkpoints of a run: which of them are complete, the last one, and whether it is the end of the training.

A process that is killed while it saves leaves a folder that looks like a checkpoint and is none.
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

from rewardkit_runner.configuration.faults import ConfigError
from rewardkit_runner.folder import CHECKPOINTS

_NAME = re.compile(r"checkpoint-(\d+)")
STATE = "trainer_state.json"
_MOST_HEADER_BYTES = 100_000_000


@dataclass(frozen=True)
class Checkpoint:
    """One folder of the trainer's."""

    path: Path

    @property
    def step(self) -> int:
        """The steps that lie behind it."""
        found = _NAME.fullmatch(self.path.name)
        return int(found.group(1)) if found else int(self.state["global_step"])

    @property
    def state(self) -> dict[str, Any]:
        """The trainer's state.

        Raises:
            ConfigError: it cannot be read.
        """
        try:
            found = json.loads((self.path / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(f"{self.path} is no complete checkpoint: {STATE} cannot be read ({error})") from None
        if not isinstance(found, dict):
            raise ConfigError(f"{self.path} is no complete checkpoint: {STATE} holds no mapping")
        return found

    def fault(self) -> str:
        """What is missing or cut off; empty where it is complete."""
        return next(self._faults(), "")

    def _faults(self) -> Iterator[str]:
        try:
            self.state  # noqa: B018
        except ConfigError:
            # The trainer writes it last.
            yield f"{STATE} is missing or cut off"
            return
        files = [path for path in self.path.iterdir() if path.is_file()]
        if not any(path.suffix in (".safetensors", ".bin") for path in files) and not any(
            path.is_dir() for path in self.path.iterdir()
        ):
            yield "the weights are missing"
        for path in files:
            # torch writes zip files, whose directory stands at their end.
            is_torn = path.suffix in (".pt", ".pth", ".bin") and not zipfile.is_zipfile(path)
            if is_torn or (path.suffix == ".safetensors" and not _is_whole(path)):
                yield f"{path.name} is cut off"

    def is_end(self, *, max_steps: int, epochs: float) -> bool:
        """Whether a training of `max_steps` (or, where that is not positive, of `epochs`) has nothing left to do."""
        state = self.state
        if max_steps > 0:
            return bool(state["global_step"] >= max_steps)
        return bool(state["global_step"] >= state["max_steps"] and epochs <= state["num_train_epochs"])


def all_in(output: Path) -> list[Checkpoint]:
    """The checkpoints below the folder of a run, the first step first."""
    folder = output / CHECKPOINTS
    found = [Checkpoint(path) for path in folder.glob("checkpoint-*") if _NAME.fullmatch(path.name) and path.is_dir()]
    return sorted(found, key=lambda checkpoint: checkpoint.step)


def named(output: Path, text: str | Path) -> Checkpoint:
    """The checkpoint that a user means: ``checkpoint-50``, ``50``, or a path.

    Raises:
        ConfigError: there is none, or it is not complete.
    """
    known = {checkpoint.path.name: checkpoint for checkpoint in all_in(output)}
    name = f"checkpoint-{text}" if str(text).isdigit() else str(text)
    found = known.get(name) or Checkpoint(Path(text).expanduser())
    if not found.path.is_dir():
        raise ConfigError(f"there is no checkpoint {text}. In {output / CHECKPOINTS}: {', '.join(known) or 'none'}")
    if fault := found.fault():
        raise ConfigError(f"{found.path} is no complete checkpoint: {fault}")
    return found


def drop_after(output: Path, checkpoint: Checkpoint | None) -> None:
    """Puts aside what a training that goes on from `checkpoint` will make anew: later checkpoints, and torn ones.

    Complete ones keep their content under another name (``superseded-100``), torn ones go.
    """
    step = -1 if checkpoint is None else checkpoint.step
    for later in all_in(output):
        if later.fault():
            shutil.rmtree(later.path)
        elif later.step > step:
            aside = later.path.with_name(f"superseded-{later.step}")
            shutil.rmtree(aside, ignore_errors=True)
            later.path.rename(aside)


def _is_whole(path: Path) -> bool:
    """Whether a safetensors file is as long as its header says."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length)) if 0 < length < _MOST_HEADER_BYTES else {}
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        return bool(ends) and path.stat().st_size == 8 + length + max(ends)
    except (OSError, ValueError, KeyError, TypeError):
        return False
