"""One result: a Score with its Outcome, and the Fault where there is none.

``return rk.Score(0.5, note="off by 2")`` is what a reward function gives where it has more to say than a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol


class Outcome(str, Enum):
    """How a score came about. A string too: ``Outcome.FAILED == "failed"``."""

    SCORED = "scored"
    """A finite number within the declared bounds."""
    ABSTAINED = "abstained"
    """The reward does not apply to this sample; it drops out of the sum."""
    FAILED = "failed"
    """Could not be computed, for reasons that are not the completion's (a judge is down, a worker was killed)."""
    ERRORED = "errored"
    """The reward's own code raised or returned nonsense on this completion."""
    SKIPPED = "skipped"
    """Not evaluated: behind a closed gate, or its weight is constantly zero."""

    def __str__(self) -> str:
        return self.value


SCORED, ABSTAINED, FAILED, ERRORED, SKIPPED = range(5)
"""The codes that columns hold: positions in ``list(Outcome)``."""


@dataclass(frozen=True, slots=True)
class Score:
    """One result with its reason: ``return rk.Score(0.5, note="off by 2", parts={"distance": 2.0})``.

    Args:
        value: a finite number within the reward's bounds.
        note: why; shown beside the score in tables and logs.
        parts: numbers that explain the value; logged, never summed.
    """

    value: float
    note: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        return Score, (self.value, self.note, dict(self.parts))


@dataclass(frozen=True, slots=True)
class Fault:
    """One row that failed or errored, with what is needed to find out why.

    Attributes:
        stops: whether every later row would meet it too, so that the run has to stop.
    """

    component: str
    row: int
    outcome: Outcome
    reason: str
    traceback: str = ""
    stops: bool = False


class Measured(Protocol):
    """What was measured of a reward while it was evaluated on some rows."""

    def __add__(self, other: Any, /) -> Measured:
        """Both as one: of all their rows."""

    def numbers(self) -> Mapping[str, float]:
        """Name -> number, for logs: ``{"judge_calls": 12.0}``."""
