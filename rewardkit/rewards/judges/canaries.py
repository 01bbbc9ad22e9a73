"""Canaries: completions with known scores, judged regularly to detect changes in the judge.

``rk.Canaries([{"completion": "4", "score": 10}, {"completion": "5", "score": 0}], interval=20)`` has the judge score
both completions in every 20th batch. If a provider replaces the model behind a name, or someone changes a local
server's settings, the reward changes even though the policy does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from rewardkit.errors import RewardDefinitionError, hashable, shorten


@final
@dataclass(frozen=True)
class Canary:
    """A completion and its known score: ``Canary("4", score=10)``.

    Attributes:
        completion: the completion to judge.
        score: the completion's known score, on the judge's scale.
        prompt: the prompt for the completion.
        columns: the values of the other columns used by the rubric and the reference, by name.

    Raises:
        RewardDefinitionError: the score is not a finite number, or a column's value is not hashable.
    """

    completion: str
    score: float
    prompt: str = ""
    columns: Mapping[str, Any] | tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.score, bool) or not isinstance(self.score, (int, float)) or not math.isfinite(self.score):
            raise RewardDefinitionError(f"rk.Canaries: score must be a finite number, got {shorten(self.score)}")
        object.__setattr__(self, "columns", tuple(sorted(dict(self.columns).items())))
        if not hashable(self.columns):
            raise RewardDefinitionError(
                f"rk.Canaries: columns must contain text or numbers, got {shorten(self.columns)}"
            )


@final
@dataclass(frozen=True)
class Drift:
    """The difference between the canaries' current and known scores, in points on the judge's scale.

    Attributes:
        mean: the mean difference, which is positive if the judge has become more generous; NaN if no canary got a
            verdict.
        most: the largest absolute difference; NaN if no canary got a verdict.
        off: the fraction of canaries that are beyond the tolerance or have no verdict.
        warning: the message to log; empty if all canaries are within the tolerance.
    """

    mean: float
    most: float
    off: float
    warning: str = ""


@final
@dataclass(frozen=True)
class Canaries:
    """Completions with known scores, used to check a judge.

    ``rk.Canaries([{"prompt": "2+2=?", "completion": "4", "score": 10}], interval=20, tolerance=1)``

    Attributes:
        cases: rows with a ``completion``, its ``score`` on the judge's scale, and optionally a ``prompt`` and the
            columns used by the rubric and the reference.
        interval: the number of batches between checks, at least 1. The first batch is checked.
        tolerance: the largest difference from a known score that does not count as drift, in points on the judge's
            scale, at least 0.

    Raises:
        RewardDefinitionError: there are no canaries, or a number is out of range.
    """

    cases: Iterable[Mapping[str, Any] | Canary]
    # Arbitrary: checks add only a few percent to the calls, and the tolerance is one point on a scale of 0 to 10.
    interval: int = 20
    tolerance: float = 1.0

    def __post_init__(self) -> None:
        cases = tuple(map(_canary, self.cases))
        object.__setattr__(self, "cases", cases)
        if not cases:
            raise RewardDefinitionError("rk.Canaries: cases must have at least one row with completion and score")
        if isinstance(self.interval, bool) or not isinstance(self.interval, int) or self.interval < 1:
            raise RewardDefinitionError(
                f"rk.Canaries: interval must be a whole number of at least 1, got {shorten(self.interval)}"
            )
        if not 0 <= self.tolerance < math.inf:
            raise RewardDefinitionError(f"rk.Canaries: tolerance must be at least 0, got {shorten(self.tolerance)}")

    @property
    def canaries(self) -> tuple[Canary, ...]:
        """The cases as `Canary` objects."""
        return tuple(map(_canary, self.cases))

    def due(self, batch: int) -> tuple[Canary, ...]:
        """Return the canaries to judge in batch number `batch`, counted from 0; often empty."""
        return self.canaries if batch % self.interval == 0 else ()

    def drift(self, given: Sequence[float | None]) -> Drift:
        """Return the drift in the scores `given`, which are in the order of `canaries` (None for a missing verdict)."""
        pairs = list(zip(self.canaries, given, strict=True))
        gaps = [score - canary.score for canary, score in pairs if score is not None]
        off_target = [
            f"{shorten(canary.completion, 60)} was {canary.score:g}, now {_shown(score)}"
            for canary, score in pairs
            if score is None or not abs(score - canary.score) <= self.tolerance
        ]
        mean = sum(gaps) / len(gaps) if gaps else math.nan
        most = max(map(abs, gaps), default=math.nan)
        return Drift(
            mean, most, len(off_target) / len(pairs), self._warning(off_target, len(pairs)) if off_target else ""
        )

    def _warning(self, far: Sequence[str], count: int) -> str:
        return (
            f"the judge has drifted: {len(far)} of {count} canaries are more than {self.tolerance:g} away from their "
            f"known scores ({'; '.join(far[:3])}). Check whether the model, its server, or its settings have changed"
        )


def _canary(row: Mapping[str, Any] | Canary) -> Canary:
    """Return `row` as a canary.

    Raises:
        RewardDefinitionError: `row` is not a mapping, or has no completion or no score.
    """
    if isinstance(row, Canary):
        return row
    if not isinstance(row, Mapping) or not {"completion", "score"} <= row.keys():
        raise RewardDefinitionError(
            f'rk.Canaries: cases must be a list of rows such as {{"completion": "4", "score": 10}}, got {shorten(row)}'
        )
    columns = {name: value for name, value in row.items() if name not in ("completion", "score", "prompt")}
    return Canary(row["completion"], row["score"], row.get("prompt", ""), columns)


def _shown(score: float | None) -> str:
    return "no verdict" if score is None else f"{score:g}"
