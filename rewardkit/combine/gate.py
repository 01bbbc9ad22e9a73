"""Gates: ``rk.gate(when=rk.tags("answer"), then=accuracy)`` rewards accuracy only if the format is correct.

`then` is evaluated only if the gate is open, so a judge behind a format gate is not called for malformed completions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.batch.column import Column, Floats, Rows, Share
from rewardkit.batch.score import ABSTAINED, FAILED, SCORED
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.progress.bounds import TOLERANCE, number
from rewardkit.progress.schedule import Schedule, Weight, as_weight, weight_bounds
from rewardkit.tree.algebra import scheduled, schedules_of
from rewardkit.tree.conversion import RewardLike, reward_of
from rewardkit.tree.reward import Evaluation, NodeSpec, Request, Reward, Steps, Tunable


@final
@dataclass(frozen=True)
class HardGate(Reward):
    """A gate whose score is `then` if `when` reaches the threshold; otherwise, `otherwise`."""

    when: Reward
    then: Reward
    threshold: Weight
    otherwise: float
    label: str = ""

    def __post_init__(self) -> None:
        lowest, highest = weight_bounds(self.threshold)
        low, high = self.when.bounds
        if lowest < min(0.0, low):
            raise RewardDefinitionError(
                f"gate: the threshold {self.threshold!r} is below the lowest score of {self.when!r}, {low:g}, so every "
                "completion would pass. Raise threshold="
            )
        if highest > high + TOLERANCE and math.isfinite(high):
            rises = "" if lowest > high else f"rises to {highest:g}, which "
            raise RewardDefinitionError(
                f"gate: the threshold {self.threshold!r} {rises}is never reached: {self.when!r} scores at most "
                f"{high:g}. Lower threshold="
            )

    @cached_property
    def facts(self) -> NodeSpec:
        schedules = schedules_of([self.threshold])
        return replace(
            _facts(self),
            threshold=self.threshold,
            schedules=schedules,
            gauges={"threshold": self.threshold} if schedules else {},
            tunables=(Tunable("thresholds", self.threshold),),
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        (condition,) = yield [(self.when, rows)]
        threshold = scheduled(self.threshold, evaluation.batch.progress, self)
        reached = condition.contributing & (condition.values >= threshold - TOLERANCE)
        opened = reached | (condition.codes == ABSTAINED)
        closed = condition.contributing & ~opened
        evaluation.passed(self, rows & (opened | closed), rows & opened)
        inside, *_ = yield _requests(self, rows & opened, rows & closed)
        result = Column.empty(len(rows))
        result.codes[rows & condition.unscorable] = FAILED
        result.fill(rows & opened, inside)
        result.values[rows & closed], result.codes[rows & closed] = self.otherwise, SCORED
        result.shares = (Share(1.0, opened), Share(1.0, closed))[: len(self.facts.addends or ())]
        return result

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        (when, then), (threshold,) = children, numbers
        return replace(self, when=when, then=then, threshold=threshold)

    def __repr__(self) -> str:
        options = f", threshold={self.threshold!r}" * (self.threshold != 1.0)
        options += f", otherwise={self.otherwise:g}" * bool(self.otherwise)
        return f"gate({self.when!r}, {self.then!r}{options})" + f".named({self.label!r})" * bool(self.label)


@final
@dataclass(frozen=True)
class SoftGate(Reward):
    """A gate whose score is ``when * then + (1 - when) * otherwise``, with `when` between 0 and 1."""

    when: Reward
    then: Reward
    otherwise: float
    label: str = ""

    @cached_property
    def facts(self) -> NodeSpec:
        return _facts(self)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        (condition,) = yield [(self.when, rows)]
        opening = _opening(condition)
        opened = opening > 0.0
        evaluation.passed(self, rows & ~np.isnan(opening), rows & opened)
        inside, *_ = yield _requests(self, rows & opened, rows & (opening < 1.0))
        result = Column.empty(len(rows))
        result.codes[rows & condition.unscorable] = FAILED
        result.fill(rows & opened, inside)
        scored = rows & ((opening == 0.0) | (opened & inside.contributing))
        scores = np.where(opened, opening * np.nan_to_num(inside.values), 0.0) + (1.0 - opening) * self.otherwise
        result.values[scored], result.codes[scored] = scores[scored], SCORED
        # If `then` abstained, the gate abstains.
        counts = (opening == 0.0) | inside.contributing
        shares = Share(np.nan_to_num(opening), opened), Share(np.nan_to_num(1.0 - opening), (opening < 1.0) & counts)
        result.shares = shares[: len(self.facts.addends or ())]
        return result

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        when, then = children
        return replace(self, when=when, then=then)

    def __repr__(self) -> str:
        options = f", otherwise={self.otherwise:g}" * bool(self.otherwise)
        return f"gate({self.when!r}, {self.then!r}{options}, soft=True)" + f".named({self.label!r})" * bool(self.label)


@final
@dataclass(frozen=True)
class Fixed(Reward):
    """A reward with the same score for every row: a gate's `otherwise`, as a term of the total."""

    label: str
    value: float
    unnamed: bool = False

    @cached_property
    def facts(self) -> NodeSpec:
        return NodeSpec(name=self.label, bounds=(self.value, self.value), generic=self.unnamed, logged=False)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        column = Column.empty(len(rows))
        column.values[rows], column.codes[rows] = self.value, SCORED
        return column
        yield []  # makes it a generator

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return self

    def __repr__(self) -> str:
        return f"{self.value:g}"


def _facts(gate: HardGate | SoftGate) -> NodeSpec:
    """Return the node specification of a hard or soft gate."""
    name = gate.label or (f"{gate.when.name}_gate" if gate.when.name else "gate")
    low, high = gate.then.bounds
    otherwise = (Fixed(f"{name}.otherwise", gate.otherwise, not gate.label),) if gate.otherwise else ()
    traps: tuple[str, ...] = ()
    if gate.otherwise > low > -math.inf:  # an infinite bound says nothing
        condition = shorten(gate.when.name or gate.when)
        traps = (
            f"gate {name!r}: a completion that fails {condition} scores {gate.otherwise:g}, which is more than "
            f"the lowest score of a completion that passes ({low:g}), so failing may score higher than passing. "
            "Lower otherwise=",
        )
    return NodeSpec(
        name=name,
        bounds=(min(low, gate.otherwise), max(high, gate.otherwise)),
        children=(gate.when, gate.then),
        generic=not gate.label,
        logged=bool(gate.label),
        addends=(gate.then, *otherwise),
        condition=gate.when,
        traps=traps,
        renamed=lambda label: replace(gate, label=label),
    )


def _requests(gate: HardGate | SoftGate, opened: Rows, closed: Rows) -> list[Request]:
    """Return the gate's requests: `then` for the open rows, and the `otherwise` term for the closed rows."""
    return list(zip(gate.facts.addends or (), (opened, closed), strict=False))


def _opening(condition: Column) -> Floats:
    """Return the degree to which the gate is open for each row, from 0 to 1.

    The value is 1 if the condition abstained, and NaN if the condition failed or was not evaluated.
    """
    opening = np.clip(condition.values, 0.0, 1.0)
    opening[condition.codes == ABSTAINED] = 1.0
    return opening


def gate(
    when: RewardLike | Sequence[RewardLike] | Mapping[Any, float | Schedule],
    then: RewardLike,
    threshold: float | object = None,
    otherwise: float = 0.0,
    soft: bool = False,
) -> Reward:
    """Return a gate. A completion's score is `then` if `when` reaches the threshold, and `otherwise` if it does not.

    ``rk.gate(when=rk.tags("answer"), then=accuracy)`` scores a completion without answer tags 0.

    Args:
        when: the condition. If it abstains, the gate is open. If it fails, the completion fails. If several conditions
            must all hold, pass a list or a mapping: condition -> threshold. If a completion does not meet one
            condition, the later conditions are not evaluated for it. If one of several conditions is enough, pass
            ``rk.maximum(a, b)``.
        then: the reward behind the gate, which is evaluated only if the gate is open.
        threshold: the score that `when` must reach, with a tolerance of 1e-9. The default is 1.0. It can be a schedule.
        otherwise: the score if the gate is closed. If it is not zero, it is a separate term named ``<gate>.otherwise``.
        soft: True for a soft gate, whose score is ``when * then + (1 - when) * otherwise``. `when` must stay within [0,
            1], and a threshold is not allowed.

    Raises:
        RewardDefinitionError: `when` always or never reaches the threshold, or a soft gate has a threshold or an
            unbounded condition.
        RewardTypeError: an item is not a reward.
    """
    if isinstance(when, Mapping | list | tuple):
        return _nested(when, then, threshold, otherwise, soft)
    condition, inside = reward_of(when, "gate: when"), reward_of(then, "gate: then")
    closed_score = number(otherwise, "gate: otherwise")
    if soft:
        if threshold is not None:
            raise RewardDefinitionError(
                "a soft gate multiplies scores, so it has no threshold. Drop threshold= or soft=True"
            )
        if condition.bounds[0] < 0.0 or condition.bounds[1] > 1.0:
            raise RewardDefinitionError(
                f"a soft gate needs a condition within [0, 1], but {condition!r} has the bounds {condition.bounds}. "
                "Declare its bounds, or use .clip(0, 1)"
            )
        return SoftGate(condition, inside, closed_score)
    limit = as_weight(1.0 if threshold is None else threshold, "gate: threshold")
    return HardGate(condition, inside, limit, closed_score)


def _nested(
    conditions: Sequence[RewardLike] | Mapping[Any, Any], then: RewardLike, threshold: Any, otherwise: float, soft: bool
) -> Reward:
    """Nest one gate per condition; the first condition is the outermost gate."""
    if not conditions:
        raise RewardDefinitionError("gate: when= is empty. Pass at least one reward")
    if isinstance(conditions, Mapping) and threshold is not None:
        raise RewardDefinitionError("gate: each condition in when= already has its own threshold. Drop threshold=")
    pairs = (
        conditions.items() if isinstance(conditions, Mapping) else ((condition, threshold) for condition in conditions)
    )
    inside = reward_of(then, "gate: then")
    for condition, limit in reversed(list(pairs)):
        inside = gate(condition, inside, threshold=limit, otherwise=otherwise, soft=soft)
    return inside
