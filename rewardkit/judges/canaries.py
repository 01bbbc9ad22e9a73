"""Completions whose verdict is known, asked now and then to see whether the judge still means what it meant.

``rk.Canaries([rk.Canary("4", score=10), rk.Canary("5", score=0)], every=20)`` asks both in every 20th batch. A hosted
model is exchanged behind its name, a local one is served with other settings: the reward then moves while the policy
does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from rewardkit.core.errors import RewardDefinitionError, hashable, shorten


@final
@dataclass(frozen=True)
class Canary:
    """A completion and the score that the judge gave it when it was right: ``rk.Canary("4", score=10)``.

    Attributes:
        completion: what is judged.
        score: on the judge's scale.
        prompt: what it answers.
        columns: what the rubric and the reference read, by name.

    Raises:
        RewardDefinitionError: a score that is no finite number, or a column whose value has no hash.
    """

    completion: str
    score: float
    prompt: str = ""
    columns: Mapping[str, Any] | tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.score, bool) or not isinstance(self.score, (int, float)) or not math.isfinite(self.score):
            raise RewardDefinitionError(f"rk.Canary: score is a finite number, got {shorten(self.score)}")
        object.__setattr__(self, "columns", tuple(sorted(dict(self.columns).items())))
        if not hashable(self.columns):
            raise RewardDefinitionError(f"rk.Canary: columns hold text and numbers, got {shorten(self.columns)}")


@final
@dataclass(frozen=True)
class Drift:
    """How far verdicts on canaries lie from what they were, in points of the scale.

    Attributes:
        mean: of all that were answered, with its sign: above 0 the judge has become kinder. NaN: none was.
        most: the largest distance of one, NaN where none was answered.
        off: the share that lies beyond the tolerance, or was not answered.
        warning: what to say; empty where all is well.
    """

    mean: float
    most: float
    off: float
    warning: str = ""


@final
@dataclass(frozen=True)
class Canaries:
    """Known completions to mix in: ``rk.Canaries([rk.Canary("4", score=10)], every=20, tolerance=1)``.

    Attributes:
        known: the completions.
        every: in the first batch and in every n-th after it.
        tolerance: how far a verdict may lie from the known score, in points of the scale.

    Raises:
        RewardDefinitionError: no canary, or a number out of range.
    """

    known: Iterable[Canary]
    every: int = 20
    tolerance: float = 1.0

    def __post_init__(self) -> None:
        known = (self.known,) if isinstance(self.known, Canary) else tuple(self.known)
        object.__setattr__(self, "known", known)
        if not known or not all(isinstance(canary, Canary) for canary in known):
            raise RewardDefinitionError(f"rk.Canaries: known is a list of rk.Canary, got {shorten(known)}")
        if isinstance(self.every, bool) or not isinstance(self.every, int) or self.every < 1:
            raise RewardDefinitionError(f"rk.Canaries: every is a number of batches from 1, got {shorten(self.every)}")
        if not 0 <= self.tolerance < math.inf:
            raise RewardDefinitionError(f"rk.Canaries: tolerance is from 0, got {shorten(self.tolerance)}")

    def due(self, batch: int) -> tuple[Canary, ...]:
        """The canaries to ask in this batch, counted from 0."""
        return tuple(self.known) if batch % self.every == 0 else ()

    def drift(self, given: Sequence[float | None]) -> Drift:
        """What the verdicts `given` to `known`, in its order, say; None: not answered."""
        pairs = list(zip(self.known, given, strict=True))
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
            f"the judge has drifted: {len(far)} of {count} canaries lie more than {self.tolerance:g} from their known "
            f"scores ({'; '.join(far[:3])}). Look whether the model, its server or its settings changed"
        )


def _shown(score: float | None) -> str:
    return "no verdict" if score is None else f"{score:g}"
