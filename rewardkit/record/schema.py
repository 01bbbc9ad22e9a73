"""The format of a recorded run on disk: tables, columns, and the names of parts.

``scores/a001-r000-00000012.parquet`` contains batch 12 of rank 0, written by the first training process in this folder.
``scores/a001-r000-00000000-00000099.parquet`` contains batches 0 to 99, joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


SCHEMA = 4
"""The current format version."""

KEY = ("attempt", "rank", "part", "row")
"""The columns that together identify a completion."""

Key = tuple[int, int, int, int]
"""A completion's attempt, rank, part, and row."""

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
"""Table -> column -> type, for the columns that every part has. Additional columns are named after components."""

COMMITTING = "scores"
"""The table whose part is written last. Without this part, the batch is considered not recorded."""

TABLES = tuple(COLUMNS)

# "a001-r000-00000012.parquet", or "-00000012-00000111" for joined parts. The minimum number of digits makes names sort
# like numbers.
_NAME = re.compile(r"a(\d{3,})-r(\d{3,})-(\d{8,})(?:-(\d{8,}))?\.parquet")


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """Batches `first` to `last` from one process, stored as one file in each table's folder."""

    attempt: int
    rank: int
    first: int
    last: int

    @classmethod
    def read(cls, name: str) -> Part | None:
        """Return the part with this file name, or None if the name is not a part name."""
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        attempt, rank, first, last = match.groups()
        return cls(int(attempt), int(rank), int(first), int(last or first))

    @property
    def name(self) -> str:
        until = f"-{self.last:08d}" if self.wide else ""
        return f"a{self.attempt:03d}-r{self.rank:03d}-{self.first:08d}{until}.parquet"

    @property
    def wide(self) -> bool:
        """Whether the part is the result of joining several parts."""
        return self.last > self.first

    def covers(self, other: Part) -> bool:
        """Return whether this part contains all batches of `other`."""
        same = (self.attempt, self.rank) == (other.attempt, other.rank)
        return same and self.first <= other.first and other.last <= self.last


def widest(parts: Iterable[Part]) -> list[Part]:
    """Return `parts` in order, without parts that another part covers."""
    outermost: list[Part] = []
    for part in sorted(set(parts), key=lambda part: (part.attempt, part.rank, part.first, -part.last)):
        if not outermost or not outermost[-1].covers(part):
            outermost.append(part)
    return outermost


def within(parts: Iterable[Part], committed: Iterable[Part]) -> list[Part]:
    """Return the widest of `parts` that are within one of the `committed` parts, which do not overlap."""
    inside = []
    frames = iter(sorted(committed))
    frame = next(frames, None)
    for part in sorted(set(parts)):
        while frame is not None and (frame.attempt, frame.rank, frame.last) < (part.attempt, part.rank, part.first):
            frame = next(frames, None)
        if frame is not None and frame.covers(part):
            inside.append(part)
    return widest(inside)


# Migrations from older versions of the schema. They apply while reading, and the files on disk do not change.


Tables = dict[str, "pyarrow.Table"]
Info = dict[str, Any]
Migration = Callable[[Tables, Info], tuple[Tables, Info]]


def only_added(tables: Tables, info: Info) -> tuple[Tables, Info]:
    """Migrate to a version that only adds tables and columns, which the reader fills with null."""
    return tables, info


MIGRATIONS: Mapping[int, Migration] = {1: only_added, 2: only_added, 3: only_added}
"""Version -> the migration to the next version.

Version 2 added trajectories. Version 3 added durations and prompt lengths. Version 4 added scores with the gold answers
of other prompts.
"""


def is_current(info: Info, migrations: Mapping[int, Migration] | None = None, to: int = SCHEMA) -> bool:
    """Return whether a run's files can be read and continued without a migration."""
    steps = MIGRATIONS if migrations is None else migrations
    return all(steps.get(version) is only_added for version in range(int(info["schema"]), to))


def migrated(
    tables: Tables, info: Info, migrations: Mapping[int, Migration] | None = None, to: int = SCHEMA
) -> tuple[Tables, Info]:
    """Return an older version's tables and run.json in the format of version `to`."""
    steps = MIGRATIONS if migrations is None else migrations
    for version in range(int(info["schema"]), to):
        tables, info = steps[version](dict(tables), dict(info))
        info["schema"] = version + 1
    return tables, info
