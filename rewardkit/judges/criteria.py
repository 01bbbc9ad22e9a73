"""Several questions about one completion, one component each: ``rk.Criterion("clarity", "Is it clear?")``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.core.batch.column import Column, Rows
from rewardkit.core.batch.score import SCORED
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.schedule import Weight, as_weight
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps, checked_name
from rewardkit.judges.verdicts import Interval


@final
@dataclass(frozen=True)
class Criterion:
    """One question for a judge: ``rk.Criterion("tone", "Is it friendly?", weight=0.3)``.

    Args:
        name: the name of its component.
        text: the question.
        weight: a number or a schedule; by default all criteria share a weight of 1 equally.
        scale: the worst and the best score; by default those of the judge.

    Raises:
        RewardDefinitionError: an argument is invalid, or the name is "reason".
    """

    name: str
    text: str
    weight: Weight | None = None
    scale: Interval | None = None

    def __post_init__(self) -> None:
        checked_name(self.name)
        if self.name == "reason":
            raise RewardDefinitionError(
                "a criterion cannot be called 'reason', which is a field of every verdict. Rename it"
            )
        if not isinstance(self.text, str) or not self.text.strip():
            raise RewardDefinitionError(
                f"criterion {self.name!r}: text must be a non-empty string, got {shorten(self.text)}"
            )
        if self.weight is not None:
            object.__setattr__(self, "weight", as_weight(self.weight))
        if self.scale is not None:
            object.__setattr__(self, "scale", checked_scale(self.scale))


def checked_scale(scale: Any) -> Interval:
    """Return `scale` as two finite numbers, (worst, best)."""
    try:
        low, high = (float(end) for end in scale)
    except (TypeError, ValueError):
        low, high = 0.0, 0.0
    if not (low < high and np.isfinite(high - low)):
        raise RewardDefinitionError(
            f"scale must be (worst, best) in ascending order, such as (0, 10), got {shorten(scale)}"
        )
    return low, high


def checked_criteria(criteria: Any, scale: Interval) -> tuple[Criterion, ...]:
    """Return `criteria`, a mapping of name -> text or a list, each with its scale and weight."""
    listed = [Criterion(*item) for item in criteria.items()] if isinstance(criteria, Mapping) else criteria
    if not isinstance(listed, Sequence) or not listed or not all(isinstance(item, Criterion) for item in listed):
        raise RewardDefinitionError(
            f"criteria must be {{name: text}} or a list of rk.Criterion(name, text), got {shorten(criteria)}"
        )
    names = [criterion.name for criterion in listed]
    if len(set(names)) < len(names):
        raise RewardDefinitionError(f"two criteria have the same name: {', '.join(names)}. Rename one")
    share = 1.0 / len(listed)
    return tuple(
        Criterion(item.name, item.text, share if item.weight is None else item.weight, item.scale or scale)
        for item in listed
    )


@final
@dataclass(frozen=True)
class CriterionScore(Reward):
    """The score for one criterion of a judge."""

    judge: Reward
    label: str

    @cached_property
    def facts(self) -> Facts:
        return Facts(name=self.label, bounds=self.judge.bounds, children=(self.judge,))

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        (judge,) = children
        return CriterionScore(judge, self.label)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        (whole,) = yield [(self.judge, rows)]
        result = Column.empty(len(rows))
        result.fill(rows, Column(whole.values, whole.codes))  # the reason is the note of the judge's own score
        scored = rows & (whole.codes == SCORED)
        if scored.any():
            result.values[scored] = whole.parts[self.label][scored]
        return result

    def __repr__(self) -> str:
        return f"{self.judge!r}[{self.label!r}]"
