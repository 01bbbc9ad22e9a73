"""The result for one row: a Score with its Outcome, or a Fault.

A reward function returns ``rk.Score(0.5, note="off by 2")`` to explain its score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol


class Outcome(str, Enum):
    """The outcome for one row. It is also a string: ``Outcome.FAILED == "failed"``."""

    SCORED = "scored"
    """A finite number within the declared bounds."""
    ABSTAINED = "abstained"
    """The reward does not apply to this sample, so sums skip it."""
    FAILED = "failed"
    """The score could not be computed for a reason other than the completion (a judge is unavailable, a worker was
    killed)."""
    ERRORED = "errored"
    """The reward's code raised an exception or returned something that is not a score."""
    SKIPPED = "skipped"
    """The reward was not evaluated: a gate is closed, or the weight is always zero."""

    def __str__(self) -> str:
        return self.value


SCORED, ABSTAINED, FAILED, ERRORED, SKIPPED = range(5)
"""The codes in columns: indices into ``list(Outcome)``."""


@dataclass(frozen=True, slots=True)
class Score:
    """A score with an explanation: ``return rk.Score(0.5, note="off by 2", parts={"distance": 2.0})``.

    ``float(score)`` is the value.

    Args:
        value: a finite number within the reward's bounds.
        note: the reason for the score, shown next to the score in tables and logs.
        parts: numbers that explain the value. They are logged, but never summed.
        turns: for a trajectory reward, each turn's share of the value. The shares add up to the value.
    """

    value: float
    note: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    turns: Sequence[float] = ()

    def __float__(self) -> float:
        return float(self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Score, (self.value, self.note, dict(self.parts), tuple(self.turns))


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that failed or errored, and the reason.

    Attributes:
        component: the component that failed or errored, or an empty string if unknown.
        stops: whether the run must stop, because every later row would fail for the same reason.
        unparsable: whether the reason is a gold cell that cannot be read, so that a retry would also fail.
    """

    component: str
    row: int
    outcome: Outcome
    reason: str
    traceback: str = ""
    stops: bool = False
    unparsable: bool = False

    @property
    def explanation(self) -> str:
        """The reason, preceded by the component's name."""
        return f"{self.component}: {self.reason}" if self.component else self.reason


class Measured(Protocol):
    """A reward's measurements for some rows, in addition to its scores: calls, tokens, or money."""

    def __add__(self, other: Any, /) -> Measured:
        """Return the sum of two measurements for different rows."""

    def numbers(self) -> Mapping[str, float]:
        """Return the numbers to log: ``{"judge_calls": 12.0}``."""
