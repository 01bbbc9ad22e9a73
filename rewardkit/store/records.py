"""What one scored batch hands to the store: plain references, of which nothing is computed yet.

``Record.of(table, version, step=3)`` is enough; what is not known stays None.
"""

from __future__ import annotations

import re
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rewardkit.core.batch.column import Floats, Numbers
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.errors import RewardKitError, shorten


@dataclass(frozen=True, slots=True)
class ComponentDescription:
    """A component as the record knows it: its name, its bounds and what kind of reward it is."""

    name: str
    bounds: tuple[float, float] = (float("-inf"), float("inf"))
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """A reward as it was at one time; `fingerprint` stands on every row that it scored."""

    fingerprint: str
    reward: str = ""
    components: tuple[ComponentDescription, ...] = ()
    terms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.fingerprint):
            raise RewardKitError(
                f"a fingerprint names a file: 1 to 64 letters, digits, - and _, got {shorten(self.fingerprint)}"
            )


@dataclass(frozen=True, slots=True)
class Line:
    """Something that was printed, logged or went wrong while a batch was scored; or that took long.

    Attributes:
        kind: ``print``, ``log``, ``warning``, ``fault`` or ``slow``.
        level: ``debug``, ``info``, ``warning`` or ``error``.
        row: of the batch, where it belongs to one completion.
        detail: a traceback.
        count: how often it happened in this batch.
        time: seconds since 1970; None for the batch's own.
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
    """What a trainer logged of a step (loss, learning rate, ...); it is known only after the batch of that step."""

    step: int
    training: bool
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Record:
    """One scored batch of n completions on one rank.

    Attributes:
        completions: n texts or lists of messages, as the trainer gave them.
        completion_ids: n sequences of token ids; their lengths are recorded.
        columns: name -> n values of the example columns.
        groups: (n,) which completions were sampled from the same prompt.
        advantages: (n,) NaN where unknown.
        metrics: numbers that hold for the whole batch.
        logged: numbers of steps before.
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
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    groups: Numbers | None = None
    advantages: Floats | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    lines: Sequence[Line] = ()
    logged: Sequence[Logged] = ()
    time: float = field(default_factory=clock.time)

    def __post_init__(self) -> None:
        size = len(self.table)
        lengths = {
            "prompts": self.prompts,
            "completions": self.completions,
            "completion_ids": self.completion_ids,
            "groups": self.groups,
            "advantages": self.advantages,
            **{f"column {name!r}": values for name, values in self.columns.items()},
        }
        for name, values in lengths.items():
            if values is not None and len(values) != size:
                raise RewardKitError(f"a record of {size} completions has {len(values)} {name}")

    def kept(self) -> Record:
        """The same, safe from what its owner may change later; of token ids only their number is kept."""
        ids = None if self.completion_ids is None else [range(len(row)) for row in self.completion_ids]
        return replace(
            self,
            prompts=None if self.prompts is None else list(map(_kept, self.prompts)),
            completions=None if self.completions is None else list(map(_kept, self.completions)),
            completion_ids=ids,
            columns={name: list(values) for name, values in self.columns.items()},
            groups=None if self.groups is None else np.array(self.groups),
            advantages=None if self.advantages is None else np.array(self.advantages, dtype=np.float64),
            metrics=dict(self.metrics),
            lines=tuple(self.lines),
            logged=tuple(self.logged),
        )


def _kept(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [dict(item) if isinstance(item, Mapping) else item for item in value]
    return value
