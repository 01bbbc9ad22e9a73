"""Gates: ``rk.gate(when=rk.tags("answer"), then=accuracy)`` pays accuracy only where the format is right.

`then` is evaluated on the open rows alone, so an expensive judge behind a format gate costs nothing for malformed
completions.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from rewardkit.core.algebra import Reward, as_reward, checked_name
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.outcome import ABSTAINED, FAILED, SCORED, Column, Rows
from rewardkit.core.progress import TOLERANCE, Bounds, Progress, Schedule, Weight, as_weight, number, weight_bounds
from rewardkit.core.scoring import Scoring, Share, leaves, scheduled, schedules_of


@final
@dataclass(frozen=True)
class Fixed(Reward):
    """The same value on every row: what a closed gate pays."""

    label: str
    value: float
    unnamed: bool = False

    @property
    def name(self) -> str:
        return self.label

    @property
    def generic(self) -> bool:
        return self.unnamed

    @property
    def logged(self) -> bool:
        return False

    @property
    def bounds(self) -> Bounds:
        return self.value, self.value

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        column = Column.empty(len(rows))
        column.values[rows], column.codes[rows] = self.value, SCORED
        return column

    def __repr__(self) -> str:
        return f"{self.value:g}"


class _Gate(Reward):
    """What hard and soft gates share: a condition, what it guards, and what it pays otherwise."""

    when: Reward
    then: Reward
    otherwise: float
    label: str

    @property
    def name(self) -> str:
        return self.label or (f"{self.when.name}_gate" if self.when.name else "gate")

    @property
    def generic(self) -> bool:
        return not self.label

    @property
    def is_gate(self) -> bool:
        return True

    @property
    def logged(self) -> bool:
        return bool(self.label)

    @property
    def children(self) -> tuple[Reward, ...]:
        return self.when, self.then

    @property
    def addends(self) -> tuple[Reward, ...]:
        return (self.then, self._otherwise) if self.otherwise else (self.then,)

    @property
    def _otherwise(self) -> Reward:
        return Fixed(f"{self.name}.otherwise", self.otherwise, self.generic)

    def traps(self, earning: Set[Reward]) -> Iterator[str]:
        if not earning & set(leaves(self.when)):
            yield (
                f"gate {self.name!r}: its condition {_shown(self.when)} earns nothing by itself: where no completion "
                "passes it by chance there is nothing to learn from; add it to the reward with a small weight"
            )
        if self.otherwise > self.then.bounds[0] > -math.inf:  # no bound is no knowledge
            yield (
                f"gate {self.name!r}: a completion that fails {_shown(self.when)} gets {self.otherwise:g}, more than "
                f"the worst that passes ({self.then.bounds[0]:g}): failing can beat passing"
            )

    @property
    def bounds(self) -> Bounds:
        low, high = self.then.bounds
        return min(low, self.otherwise), max(high, self.otherwise)

    @abstractmethod
    def opened(self, condition: Column, progress: Progress | None) -> tuple[Rows, Rows]:
        """(open, closed) rows (n,), given the column of `when`; neither where that failed or was not asked."""


def _shown(reward: Reward) -> str:
    """Its name, or how it was written."""
    return shorten(reward.name or reward)


@final
@dataclass(frozen=True)
class HardGate(_Gate):
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

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        return schedules_of([self.threshold])

    def gauges(self, progress: Progress | None) -> Mapping[str, float]:
        return {"threshold": scheduled(self.threshold, progress, self)} if self.schedules else {}

    def named(self, name: str) -> Reward:
        return replace(self, label=checked_name(name))

    def opened(self, condition: Column, progress: Progress | None) -> tuple[Rows, Rows]:
        threshold = scheduled(self.threshold, progress, self)
        reached = condition.contributing & (condition.values >= threshold - TOLERANCE)
        opened = reached | (condition.codes == ABSTAINED)
        return opened, condition.contributing & ~opened

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        (condition,) = await scoring.columns([(self.when, rows)])
        opened, closed = self.opened(condition, scoring.batch.progress)
        scoring.gate_passed(self, rows & (opened | closed), rows & opened)
        requests = [(self.then, rows & opened)]
        if self.otherwise:
            requests.append((self._otherwise, rows & closed))
        inside = (await scoring.columns(requests))[0]
        result = Column.empty(len(rows))
        result.codes[rows & condition.unscorable] = FAILED
        result.fill(rows & opened, inside)
        result.values[rows & closed], result.codes[rows & closed] = self.otherwise, SCORED
        return result

    def distribute(self, scoring: Scoring, share: Share) -> Iterator[tuple[Reward, Share]]:
        opened, closed = self.opened(scoring.column(self.when), scoring.batch.progress)
        yield self.then, share.within(opened)
        if self.otherwise:
            yield self._otherwise, share.within(closed)

    def __repr__(self) -> str:
        options = f", threshold={self.threshold!r}" * (self.threshold != 1.0)
        options += f", otherwise={self.otherwise:g}" * bool(self.otherwise)
        return f"gate({self.when!r}, {self.then!r}{options})" + f".named({self.label!r})" * bool(self.label)


@final
@dataclass(frozen=True)
class SoftGate(_Gate):
    """``when * then + (1 - when) * otherwise``, for a `when` between 0 and 1."""

    when: Reward
    then: Reward
    otherwise: float
    label: str = ""

    def named(self, name: str) -> Reward:
        return replace(self, label=checked_name(name))

    def opened(self, condition: Column, progress: Progress | None) -> tuple[Rows, Rows]:
        opening = _opening(condition)
        return opening > 0.0, opening == 0.0

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        (condition,) = await scoring.columns([(self.when, rows)])
        opening = _opening(condition)
        scoring.gate_passed(self, rows & ~np.isnan(opening), rows & (opening > 0.0))
        requests = [(self.then, rows & (opening > 0.0))]
        if self.otherwise:
            requests.append((self._otherwise, rows & (opening < 1.0)))
        inside = (await scoring.columns(requests))[0]
        result = Column.empty(len(rows))
        result.codes[rows & condition.unscorable] = FAILED
        result.fill(rows & (opening > 0.0), inside)
        scored = rows & ((opening == 0.0) | ((opening > 0.0) & inside.contributing))
        paid = np.where(opening > 0.0, opening * np.nan_to_num(inside.values), 0.0) + (1.0 - opening) * self.otherwise
        result.values[scored], result.codes[scored] = paid[scored], SCORED
        return result

    def distribute(self, scoring: Scoring, share: Share) -> Iterator[tuple[Reward, Share]]:
        opening = _opening(scoring.column(self.when))
        yield self.then, share.scaled(np.nan_to_num(opening)).within(opening > 0.0)
        if self.otherwise:
            # Where `then` abstained there is nothing to mix with: the gate abstains as a whole.
            counts = (opening == 0.0) | scoring.column(self.then).contributing
            yield self._otherwise, share.scaled(np.nan_to_num(1.0 - opening)).within((opening < 1.0) & counts)

    def __repr__(self) -> str:
        options = f", otherwise={self.otherwise:g}" * bool(self.otherwise)
        return f"gate({self.when!r}, {self.then!r}{options}, soft=True)" + f".named({self.label!r})" * bool(self.label)


def _opening(condition: Column) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
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
