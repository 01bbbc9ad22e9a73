"""Gates: ``rk.gate(when=rk.tags("answer"), then=accuracy)`` pays accuracy only where the format is right.

`then` is evaluated on the open rows alone, so an expensive judge behind a format gate costs nothing for malformed
completions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.core.batch.column import Column, Floats, Rows, Share
from rewardkit.core.batch.score import ABSTAINED, FAILED, SCORED
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.bounds import TOLERANCE, number
from rewardkit.core.progress.schedule import Schedule, Weight, as_weight, weight_bounds
from rewardkit.core.tree.algebra import scheduled, schedules_of
from rewardkit.core.tree.reward import Evaluation, Facts, Request, Reward, Steps, Tunable, as_reward


@final
@dataclass(frozen=True)
class HardGate(Reward):
    """`then` where `when` reaches the threshold, `otherwise` elsewhere."""

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
                f"gate: the threshold {self.threshold!r} lies below all that {self.when!r} can give, every completion "
                "would pass"
            )
        if highest > high + TOLERANCE and math.isfinite(high):
            goes = "" if lowest > high else f"goes up to {highest:g}, which "
            raise RewardDefinitionError(
                f"gate: the threshold {self.threshold!r} {goes}is never reached: {self.when!r} gives at most {high:g}"
            )

    @cached_property
    def facts(self) -> Facts:
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
    """``when * then + (1 - when) * otherwise``, for a `when` between 0 and 1."""

    when: Reward
    then: Reward
    otherwise: float
    label: str = ""

    @cached_property
    def facts(self) -> Facts:
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
        paid = np.where(opened, opening * np.nan_to_num(inside.values), 0.0) + (1.0 - opening) * self.otherwise
        result.values[scored], result.codes[scored] = paid[scored], SCORED
        # Where `then` abstained there is nothing to mix with: the gate abstains as a whole.
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
    """The same value on every row: what a closed gate pays."""

    label: str
    value: float
    unnamed: bool = False

    @cached_property
    def facts(self) -> Facts:
        return Facts(name=self.label, bounds=(self.value, self.value), generic=self.unnamed, logged=False)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        column = Column.empty(len(rows))
        column.values[rows], column.codes[rows] = self.value, SCORED
        return column
        yield []  # which makes it a generator

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return self

    def __repr__(self) -> str:
        return f"{self.value:g}"


def _facts(gate: HardGate | SoftGate) -> Facts:
    """What hard and soft gates declare."""
    name = gate.label or (f"{gate.when.name}_gate" if gate.when.name else "gate")
    low, high = gate.then.bounds
    otherwise = (Fixed(f"{name}.otherwise", gate.otherwise, not gate.label),) if gate.otherwise else ()
    traps: tuple[str, ...] = ()
    if gate.otherwise > low > -math.inf:  # no bound is no knowledge
        condition = shorten(gate.when.name or gate.when)
        traps = (
            f"gate {name!r}: a completion that fails {condition} gets {gate.otherwise:g}, more than the worst that "
            f"passes ({low:g}): failing can beat passing",
        )
    return Facts(
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
    """What a gate needs of its addends: of `then` the open rows, of what it pays otherwise the closed ones."""
    return list(zip(gate.facts.addends or (), (opened, closed), strict=False))


def _opening(condition: Column) -> Floats:
    """How far each row is open: 0 to 1, 1 where the condition abstained, NaN where it failed or was not asked."""
    opening = np.clip(condition.values, 0.0, 1.0)
    opening[condition.codes == ABSTAINED] = 1.0
    return opening


def gate(
    when: Reward | Sequence[Reward] | Mapping[Reward, float | Schedule],
    then: Reward,
    threshold: float | object = None,
    otherwise: float = 0.0,
    soft: bool = False,
) -> Reward:
    """`then` counts only where `when` reaches the threshold; elsewhere the completion scores `otherwise`.

    ``rk.gate(when=rk.tags("answer"), then=accuracy)`` gives 0 to a completion without its answer tags.

    Args:
        when: the condition. Where it abstains the gate is open; where it fails the sample failed. A list of conditions
            opens where all of them do, a mapping of condition -> threshold gives each its own: a gate inside a gate
            each, so that the later ones are not evaluated where an earlier one is closed. (For any of several, pass
            ``rk.maximum(a, b)``.)
        then: evaluated on the open rows alone.
        threshold: 1.0 by default, with a tolerance of 1e-9; may be a schedule.
        otherwise: the score of a closed row; not zero, it is a term named ``<gate>.otherwise``.
        soft: multiply instead: ``when * then + (1 - when) * otherwise``; needs `when` within [0, 1] and no threshold.

    Raises:
        RewardDefinitionError: a threshold that `when` always or never reaches, or a soft gate with a threshold or an
            unbounded condition.
    """
    if isinstance(when, Mapping | list | tuple):
        return _nested(when, then, threshold, otherwise, soft)
    condition, inside = as_reward(when, "gate: when"), as_reward(then, "gate: then")
    paid = number(otherwise, "gate: otherwise")
    if soft:
        if threshold is not None:
            raise RewardDefinitionError("a soft gate has no threshold: it multiplies; drop threshold= or soft=True")
        if condition.bounds[0] < 0.0 or condition.bounds[1] > 1.0:
            raise RewardDefinitionError(
                f"a soft gate needs a condition within [0, 1]; {condition!r} has the bounds {condition.bounds}: "
                "declare them, or use .clip(0, 1)"
            )
        return SoftGate(condition, inside, paid)
    limit = as_weight(1.0 if threshold is None else threshold, "gate: threshold")
    return HardGate(condition, inside, limit, paid)


def _nested(
    conditions: Sequence[Reward] | Mapping[Reward, Any], then: Reward, threshold: Any, otherwise: float, soft: bool
) -> Reward:
    """A gate for each condition, the first outermost."""
    if not conditions:
        raise RewardDefinitionError("gate: when= has no condition")
    if isinstance(conditions, Mapping) and threshold is not None:
        raise RewardDefinitionError("gate: the conditions have thresholds of their own; drop threshold=")
    pairs = conditions.items() if isinstance(conditions, Mapping) else ((one, threshold) for one in conditions)
    inside = then
    for condition, limit in reversed(list(pairs)):
        inside = gate(condition, inside, threshold=limit, otherwise=otherwise, soft=soft)
    return inside
