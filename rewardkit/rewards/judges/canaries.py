"""Completions with known scores, judged from time to time to see if the judge has changed.

``rk.Canaries([{"completion": "4", "score": 10}, {"completion": "5", "score": 0}], interval=20)`` asks for both in every
20th batch. If the provider replaces a model under the same name, or a local server gets other settings, the reward
changes although the policy does not.
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
    """A completion and the score that the judge should give it: ``Canary("4", score=10)``.

    Attributes:
        completion: the completion to judge.
        score: its known score, on the scale of the judge.
        prompt: its prompt.
        columns: the columns that the rubric and the reference need, by name.

    Raises:
        RewardDefinitionError: the score is not a finite number, or the value of a column is not hashable.
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
            raise RewardDefinitionError(f"rk.Canaries: columns must hold text or numbers, got {shorten(self.columns)}")


@final
@dataclass(frozen=True)
class Drift:
    """The difference between the scores of canaries and their known scores, in points of the scale.

    Attributes:
        mean: the mean difference; above 0 the judge has become more generous. NaN if no canary got a verdict.
        most: the largest absolute difference; NaN if no canary got a verdict.
        off: the share of canaries beyond the tolerance or without a verdict.
        warning: the message to log; empty if no canary is off.
    """

    mean: float
    most: float
    off: float
    warning: str = ""


@final
@dataclass(frozen=True)
class Canaries:
    """Known completions to check a judge with.

    ``rk.Canaries([{"prompt": "2+2=?", "completion": "4", "score": 10}], interval=20, tolerance=1)``

    Attributes:
        cases: rows with ``completion`` and ``score``, on the scale of the judge, and if you like ``prompt`` and the
            columns that the rubric and the reference need.
        interval: the number of batches from one check to the next, at least 1. The first batch is also checked.
        tolerance: the largest difference from the known score that is not a drift, in points of the scale; at least 0.

    Raises:
        RewardDefinitionError: there are no canaries, or a number is out of range.
    """

    cases: Iterable[Mapping[str, Any] | Canary]
    # Any numbers: a few more calls in a hundred, and a step of the usual scale of 0 to 10.
    interval: int = 20
    tolerance: float = 1.0

    def __post_init__(self) -> None:
        cases = tuple(map(_canary, self.cases))
        object.__setattr__(self, "cases", cases)
        if not cases:
            raise RewardDefinitionError("rk.Canaries: cases must have at least one row with completion and score")
        if isinstance(self.interval, bool) or not isinstance(self.interval, int) or self.interval < 1:
            raise RewardDefinitionError(
                f"rk.Canaries: interval must be a whole number, at least 1, got {shorten(self.interval)}"
            )
        if not 0 <= self.tolerance < math.inf:
            raise RewardDefinitionError(f"rk.Canaries: tolerance must be at least 0, got {shorten(self.tolerance)}")

    @property
    def canaries(self) -> tuple[Canary, ...]:
        """The cases, each as a canary."""
        return tuple(map(_canary, self.cases))

    def due(self, batch: int) -> tuple[Canary, ...]:
        """Return the canaries to judge in this batch, counted from 0."""
        return self.canaries if batch % self.interval == 0 else ()

    def drift(self, given: Sequence[float | None]) -> Drift:
        """Return the drift for the scores `given` to `canaries`, in that order; None for no verdict."""
        pairs = list(zip(self.canaries, given, strict=True))
        gaps = [score - canary.score for canary, score in pairs if score is not None]
        far = [
            f"{shorten(canary.completion, 60)} was {canary.score:g}, now {_shown(score)}"
            for canary, score in pairs
            if score is None or not abs(score - canary.score) <= self.tolerance
        ]
        mean = sum(gaps) / len(gaps) if gaps else math.nan
        most = max(map(abs, gaps), default=math.nan)
        return Drift(mean, most, len(far) / len(pairs), self._warning(far, len(pairs)) if far else "")

    def _warning(self, far: Sequence[str], count: int) -> str:
        return (
            f"the judge has drifted: {len(far)} of {count} canaries are more than {self.tolerance:g} away from their "
            f"known scores ({'; '.join(far[:3])}). Check if the model, its server or its settings have changed"
        )


def _canary(row: Mapping[str, Any] | Canary) -> Canary:
    """Return a row as a canary.

    Raises:
        RewardDefinitionError: it is not a row, or has no completion or no score.
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
