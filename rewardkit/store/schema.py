"""What a recorded run looks like on disk: tables, columns, names of parts.

``scores/a001-r000-00000012.parquet`` holds batch 12 of rank 0, written by the first training process on this folder;
``scores/a001-r000-00000000-00000099.parquet`` is what batches 0 to 99 became when they were put together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SCHEMA = 1
"""The version of all that follows."""

KEY = ("attempt", "rank", "part", "row")
"""Together the name of one completion."""

_KEY = {"attempt": "int16", "rank": "int16", "part": "int32", "row": "int32"}
_BATCH = {name: _KEY[name] for name in ("attempt", "rank", "part")}

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "scores": {
        **_KEY,
        "step": "int64",
        "epoch": "float32",
        "training": "bool",
        "time": "timestamp[us, UTC]",
        "prompt_id": "string",
        "group": "int32",
        "length": "int32",
        "characters": "int32",
        "total": "float64",
        "advantage": "float64",
        "version": "string",
    },
    "completions": {**_KEY, "step": "int64", "prompt_id": "string", "completion": "string", "messages": "string"},
    "prompts": {
        "prompt_id": "string",
        "prompt": "string",
        "messages": "string",
        "columns": "string",
        "first_step": "int64",
    },
    "metrics": {**_BATCH, "step": "int64", "training": "bool", "name": "string", "value": "float64"},
    "logs": {
        **_BATCH,
        "step": "int64",
        "epoch": "float32",
        "time": "timestamp[us, UTC]",
        "component": "string",
        "row": "int32",
        "level": "string",
        "kind": "string",
        "message": "string",
        "detail": "string",
        "count": "int32",
        "seconds": "float64",
    },
}
"""Table -> column -> type, those that every part has; the others follow the names of components."""

COMMITTING = "scores"
"""The table whose part is written last: without it, the batch was not recorded."""

TABLES = tuple(COLUMNS)

_NAME = re.compile(r"a(\d{3,})-r(\d{3,})-(\d{8,})(?:-(\d{8,}))?\.parquet")


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """The batches from `first` to `last` of one process, as one file in the folder of each table."""

    attempt: int
    rank: int
    first: int
    last: int

    @classmethod
    def read(cls, name: str) -> Part | None:
        """From the name of a file; None where it names no part."""
        found = _NAME.fullmatch(name)
        if found is None:
            return None
        attempt, rank, first, last = found.groups()
        return cls(int(attempt), int(rank), int(first), int(last or first))

    @property
    def name(self) -> str:
        until = f"-{self.last:08d}" if self.wide else ""
        return f"a{self.attempt:03d}-r{self.rank:03d}-{self.first:08d}{until}.parquet"

    @property
    def wide(self) -> bool:
        """Whether it was put together of several."""
        return self.last > self.first

    def covers(self, other: Part) -> bool:
        """Whether all of `other` is in here too."""
        same = (self.attempt, self.rank) == (other.attempt, other.rank)
        return same and self.first <= other.first and other.last <= self.last


def widest(parts: Iterable[Part]) -> list[Part]:
    """`parts` without those that another one covers, in order."""
    kept: list[Part] = []
    for part in sorted(set(parts), key=lambda part: (part.attempt, part.rank, part.first, -part.last)):
        if not kept or not kept[-1].covers(part):
            kept.append(part)
    return kept


def within(parts: Iterable[Part], committed: Iterable[Part]) -> list[Part]:
    """The widest of `parts` that lie wholly within one of the `committed` ones, which do not overlap."""
    inside = []
    frames = iter(sorted(committed))
    frame = next(frames, None)
    for part in sorted(set(parts)):
        while frame is not None and (frame.attempt, frame.rank, frame.last) < (part.attempt, part.rank, part.first):
            frame = next(frames, None)
        if frame is not None and frame.covers(part):
            inside.append(part)
    return widest(inside)
