"""Criteria: ``rk.Criterion("clarity", "Is it clear?")``: several questions about one text, each its own component."""

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
    """One question of a rubric.

    Args:
        name: of its component.
        text: what is good.
        weight: a number or a schedule; None: an equal share of 1.
        scale: lowest and highest score; None: that of the judge.
    """

    name: str
    text: str
    weight: Weight | None = None
    scale: Interval | None = None

    def __post_init__(self) -> None:
        checked_name(self.name)
        if self.name == "reason":
            raise RewardDefinitionError(
                "a criterion cannot be called 'reason': that is what the judge calls its reason"
            )
        if not isinstance(self.text, str) or not self.text.strip():
            raise RewardDefinitionError(
                f"criterion {self.name!r}: its text says what is good, got {shorten(self.text)}"
            )
        if self.weight is not None:
            object.__setattr__(self, "weight", as_weight(self.weight))
        if self.scale is not None:
            object.__setattr__(self, "scale", checked_scale(self.scale))


def checked_scale(scale: Any) -> Interval:
    """`scale` as two finite numbers, the worst one first."""
    try:
        low, high = (float(end) for end in scale)
    except (TypeError, ValueError):
        low, high = 0.0, 0.0
    if not (low < high and np.isfinite(high - low)):
        raise RewardDefinitionError(
            f"a scale is (worst, best), two numbers that ascend such as (0, 10), got {shorten(scale)}"
        )
    return low, high


def checked_criteria(criteria: Any, scale: Interval) -> tuple[Criterion, ...]:
    """`criteria`, given as name -> text or as a list, each with a scale and a weight."""
    listed = [Criterion(*item) for item in criteria.items()] if isinstance(criteria, Mapping) else criteria
    if not isinstance(listed, Sequence) or not listed or not all(isinstance(item, Criterion) for item in listed):
        raise RewardDefinitionError(
            f"criteria are {{name: text}} or a list of rk.Criterion(name, text), got {shorten(criteria)}"
        )
    names = [criterion.name for criterion in listed]
    if len(set(names)) < len(names):
        raise RewardDefinitionError(f"two criteria have one name: {', '.join(names)}")
    share = 1.0 / len(listed)
    return tuple(
        Criterion(item.name, item.text, share if item.weight is None else item.weight, item.scale or scale)
        for item in listed
    )


@final
@dataclass(frozen=True)
class CriterionScore(Reward):
    """What a judge that was asked several things gave for one of them."""

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
        result.fill(rows, Column(whole.values, whole.codes))  # the reason stands once, beside the judge's own score
        scored = rows & (whole.codes == SCORED)
        if scored.any():
            result.values[scored] = whole.parts[self.label][scored]
        return result

    def __repr__(self) -> str:
        return f"{self.judge!r}[{self.label!r}]"
