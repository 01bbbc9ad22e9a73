"""The data in one scored batch for the store: only references, without any computation.

``Record(table, version, step=3)`` is enough; other values can be None.
"""

from __future__ import annotations

import re
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rewardkit.batch.column import Floats, Numbers
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import RewardKitError, shorten
from rewardkit.record.trajectories import Trajectories

FOREIGN = ("foreign/own", "foreign/total", "foreign/form")
"""The columns for completions that were rescored with the gold answers of other prompts, in the order of
`Record.foreign`."""


@dataclass(frozen=True, slots=True)
class ComponentDescription:
    """A component's description: its name, bounds, reward kind, and the columns that it reads.

    `reads` contains the names of dataset columns, and ``"prompt"`` or ``"example"``.
    """

    name: str
    bounds: tuple[float, float] = (float("-inf"), float("inf"))
    kind: str = ""
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a reward. Every row that it scored has the version's `fingerprint`.

    Attributes:
        reward: the reward's expression.
        sources: path -> text, for the files that define the reward's functions.
        packed: the pickled reward; empty if the reward cannot be stored.
        unpacked: the reason why the reward cannot be stored, or an empty string if it can be stored.
    """

    fingerprint: str
    reward: str = ""
    components: tuple[ComponentDescription, ...] = ()
    terms: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    packed: bytes = b""
    unpacked: str = ""

    def __post_init__(self) -> None:
        # Characters that every file system allows in a name, and that cannot form a path.
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.fingerprint):
            raise RewardKitError(
                "the fingerprint is used as a file name: pass 1 to 64 letters, digits, -, or _, got "
                f"{shorten(self.fingerprint)}"
            )


@dataclass(frozen=True, slots=True)
class Line:
    """An event during the scoring of a batch: output, a log line, a fault, or a slow call.

    Attributes:
        kind: ``print``, ``log``, ``warning``, ``fault``, ``slow``, or ``radar`` (which components the radar does not
            score again).
        level: ``debug``, ``info``, ``warning``, or ``error``.
        row: the row in the batch, if the line belongs to one completion.
        detail: a traceback, if there is one.
        count: the number of times that the event occurred in this batch.
        seconds: a slow call's duration.
        time: seconds since 1970, or None for the batch's time.
    """

    message: str
    kind: str = "log"
    level: str = "info"
    component: str | None = None
    row: int | None = None
    detail: str | None = None
    count: int = 1
    seconds: float | None = None
    time: float | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """The trainer's metrics for a step (loss, learning rate, ...), which are logged after that step's batch."""

    step: int
    training: bool
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Record:
    """One scored batch of n completions on one rank.

    Attributes:
        completions: n strings or lists of messages, as passed by the trainer.
        completion_ids: n sequences of token ids, of which only the lengths are recorded.
        prompt_lengths: the n prompt lengths in tokens, or None for an unknown length.
        columns: name -> n values, for the dataset columns.
        groups: (n,) each completion's group number.
        advantages: (n,) the advantages, or NaN if unknown.
        foreign: three arrays (n,): the total with the completion's own gold answer, the total with gold answers of
            other prompts, and the part of both totals that does not depend on a column. NaN for completions that were
            not rescored, or None if no completions were rescored.
        metrics: numbers for the whole batch.
        logged: the trainer's metrics for earlier steps.
        trajectories: statistics about the conversations, or None if the completions are plain text.
        durations: component -> the duration of each call of its function in seconds.
        time: seconds since 1970.
    """

    table: ScoreTable
    version: Version
    step: int | None = None
    epoch: float | None = None
    training: bool = True
    max_steps: int | None = None
    prompts: Sequence[Any] | None = None
    completions: Sequence[Any] | None = None
    completion_ids: Sequence[Any] | None = None
    prompt_lengths: Sequence[int | None] | None = None
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    groups: Numbers | None = None
    advantages: Floats | None = None
    foreign: tuple[Floats, Floats, Floats] | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    lines: Sequence[Line] = ()
    logged: Sequence[Logged] = ()
    trajectories: Trajectories | None = None
    durations: Mapping[str, Sequence[float]] = field(default_factory=dict)
    time: float = field(default_factory=clock.time)

    def __post_init__(self) -> None:
        size = len(self.table)
        lengths = {
            "prompts": self.prompts,
            "completions": self.completions,
            "completion_ids": self.completion_ids,
            "prompt_lengths": self.prompt_lengths,
            "groups": self.groups,
            "advantages": self.advantages,
            **({} if self.foreign is None else dict(zip(FOREIGN, self.foreign, strict=True))),
            "trajectories": None if self.trajectories is None else self.trajectories.turns,
            **{f"column {name!r}": values for name, values in self.columns.items()},
        }
        for name, values in lengths.items():
            if values is not None and len(values) != size:
                raise RewardKitError(f"a record of {size} completions has {len(values)} {name}: pass {size}")

    def kept(self) -> Record:
        """Return a copy that is not affected by later changes in the caller, with only the number of token ids."""
        ids = None if self.completion_ids is None else [range(len(row)) for row in self.completion_ids]
        return replace(
            self,
            prompts=None if self.prompts is None else list(map(_copy_value, self.prompts)),
            completions=None if self.completions is None else list(map(_copy_value, self.completions)),
            completion_ids=ids,
            columns={name: list(values) for name, values in self.columns.items()},
            groups=None if self.groups is None else np.array(self.groups),
            advantages=None if self.advantages is None else np.array(self.advantages, dtype=np.float64),
            foreign=None if self.foreign is None else tuple(map(np.array, self.foreign)),  # type: ignore[arg-type]
            metrics=dict(self.metrics),
            lines=tuple(self.lines),
            logged=tuple(self.logged),
            durations={name: list(seconds) for name, seconds in self.durations.items()},
        )


def _copy_value(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [dict(item) if isinstance(item, Mapping) else item for item in value]
    return value
