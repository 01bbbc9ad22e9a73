"""The format of a recorded run on disk: tables, columns, names of parts.

``scores/a001-r000-00000012.parquet`` holds batch 12 of rank 0, written by the first training process on this folder;
``scores/a001-r000-00000000-00000099.parquet`` holds batches 0 to 99 after they were joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SCHEMA = 4
"""The version of this format."""

KEY = ("attempt", "rank", "part", "row")
"""The columns that together identify a completion."""

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
        "turns": "int32",
        "calls": "int32",
        "repeated_calls": "int32",
        "tool_errors": "int32",
        "stop": "string",
        "broken": "bool",
        "tools": "string",
        "prompt_length": "int32",
        "foreign/own": "float64",
        "foreign/total": "float64",
        "foreign/form": "float64",
    },
    "completions": {
        **_KEY,
        "step": "int64",
        "prompt_id": "string",
        "completion": "string",
        "messages": "string",
        "rollout": "string",
    },
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
    "turns": {**_KEY, "step": "int64", "turn": "int32", "component": "string", "share": "float64"},
    "durations": {**_BATCH, "step": "int64", "component": "string", "seconds": "float64", "count": "int32"},
}
"""Table -> column -> type of the columns in every part; further columns have the names of components."""

COMMITTING = "scores"
"""The table whose part is written last; without that part, the batch was not recorded."""

TABLES = tuple(COLUMNS)

_NAME = re.compile(r"a(\d{3,})-r(\d{3,})-(\d{8,})(?:-(\d{8,}))?\.parquet")


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """The batches `first` to `last` of one process: one file in the folder of each table."""

    attempt: int
    rank: int
    first: int
    last: int

    @classmethod
    def read(cls, name: str) -> Part | None:
        """Return the part that a file name stands for; None if it is not the name of a part."""
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
        """Whether it was joined from several parts."""
        return self.last > self.first

    def covers(self, other: Part) -> bool:
        """Whether this part contains all batches of `other`."""
        same = (self.attempt, self.rank) == (other.attempt, other.rank)
        return same and self.first <= other.first and other.last <= self.last


def widest(parts: Iterable[Part]) -> list[Part]:
    """Return `parts`, sorted, without those that another part covers."""
    kept: list[Part] = []
    for part in sorted(set(parts), key=lambda part: (part.attempt, part.rank, part.first, -part.last)):
        if not kept or not kept[-1].covers(part):
            kept.append(part)
    return kept


def within(parts: Iterable[Part], committed: Iterable[Part]) -> list[Part]:
    """Return the widest of `parts` that lie within one of the `committed` parts, which do not overlap."""
    inside = []
    frames = iter(sorted(committed))
    frame = next(frames, None)
    for part in sorted(set(parts)):
        while frame is not None and (frame.attempt, frame.rank, frame.last) < (part.attempt, part.rank, part.first):
            frame = next(frames, None)
        if frame is not None and frame.covers(part):
            inside.append(part)
    return widest(inside)
