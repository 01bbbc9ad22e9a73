"""Reward, the node of every tree, and what its operators build.

``0.7 * a + 0.3 * b`` is a WeightedSum, ``a.named("x")`` a Named, ``a.clip(0, 1)`` a Clipped. Every Reward is frozen,
hashable, picklable and prints as the expression that made it. Equal rewards are one, evaluated once per batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, is_factory, shorten
from rewardkit.core.fingerprints import fingerprint
from rewardkit.core.outcome import Column, Rows, weighted_total
from rewardkit.core.progress import (
    Bounds,
    PerformanceSchedule,
    Progress,
    Schedule,
    Weight,
    as_weight,
    following,
    multiplied,
    number,
    scaled_bounds,
    weight_bounds,
    weight_now,
)
from rewardkit.core.scoring import Scoring, Share, Together, schedules_of, weighted_columns

if TYPE_CHECKING:
    from rewardkit.core.batch import Batch


class Reward(ABC):
    """Scores completions: a leaf, or a combination of other rewards.

    Users write functions (``@rk.reward``) and call factories; nobody subclasses this to write a reward.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in tables, logs and errors; empty for a plain sum."""

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """Lowest and highest value it can give."""

    @property
    def children(self) -> tuple[Reward, ...]:
        """The rewards it is made of."""
        return ()

    @property
    def prefixes(self) -> tuple[str, ...]:
        """For each child, what its name is prefixed with where names clash; empty for no prefix."""
        return ("",) * len(self.children)

    @property
    def generic(self) -> bool:
        """Whether nobody chose its name, so that a number may tell it from others."""
        return False

    @property
    def is_gate(self) -> bool:
        """Whether its pass rate is logged."""
        return False

    @property
    def addends(self) -> tuple[Reward, ...] | None:
        """The children whose shares add up to its value; None where it is one term by itself."""
        return None

    @property
    def together(self) -> Together:
        """What has to be scored in one batch for its values to be right, whichever process it came from."""
        return "sample"

    @property
    def logged(self) -> bool:
        """Whether its raw value is a component of its own."""
        return True

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """Those of its weights and its threshold."""
        return ()

    @property
    def followers(self) -> tuple[PerformanceSchedule, ...]:
        """What it reads that follows the means of components."""
        return tuple(follower for schedule in self.schedules for follower in following(schedule))

    def gauges(self, progress: Progress | None) -> Mapping[str, float]:
        """Numbers of its own that move with training and belong into a log: ``{"threshold": 0.5}``."""
        return {}

    @property
    def measures(self) -> bool:
        """Whether it notes more than scores while it is evaluated: calls, money."""
        return False

    @property
    def summands(self) -> tuple[tuple[Weight, Reward], ...] | None:
        """The rewards whose weighted sum it is, with weights that are the same for all rows; None if it is no such."""
        return None

    def addend_weights(self, progress: Progress | None) -> tuple[float, ...]:
        """What each of its `addends` counts for now, where nothing abstains and its gates stand open."""
        return (1.0,) * len(self.addends or ())

    def applied(self, batch: Batch, rows: Rows) -> tuple[Rows, ...]:
        """Those of `rows` (n,) in which each of its `children` applies: all of them, unless it routes."""
        return (rows,) * len(self.children)

    def reach(self, batch: Batch, rows: Rows) -> Rows:
        """The rows (n,) that it has to see to score `rows`: their whole groups, say."""
        return rows

    def check(self, batch: Batch) -> None:
        """Raises a BindingError if the batch lacks what it asks for itself, its children aside."""
        return

    @abstractmethod
    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        """Its column, filled in `rows` (n,)."""

    def distribute(self, scoring: Scoring, share: Share) -> Iterator[tuple[Reward, Share]]:
        """Hands its share of the total on to its `addends`, once everything is evaluated."""
        raise NotImplementedError(f"{type(self).__name__} has no addends")

    def traps(self, earning: Set[Reward]) -> Iterator[str]:
        """What will probably not work as meant, given the leaves that `earning` something somewhere in the tree."""
        return iter(())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What is called like a function was meant for a trainer, or for ``rk.score``."""
        raise RewardTypeError(
            f"{shorten(self)} is no function: pass reward_funcs=rk.to_trl(reward), or call rk.score(reward, texts)"
        )

    def named(self, name: str) -> Reward:
        """The same reward as one component and one term called `name`."""
        return Named(self, checked_name(name))

    @final
    def clip(self, low: float = 0.0, high: float = 1.0) -> Reward:
        """Its value limited to [`low`, `high`]; one term, no longer additive."""
        return Clipped(self, number(low, "clip's lower bound"), number(high, "clip's upper bound"))

    @final
    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits over the structure and the source of user functions; equal for equal meaning."""
        return fingerprint(self)

    @final
    def __mul__(self, weight: object) -> Reward:
        if isinstance(weight, Reward):
            raise RewardTypeError(
                "a reward times a reward is ambiguous: use rk.product(a, b), or rk.gate(a, b, soft=True)"
            )
        return weighted_sum_of([(as_weight(weight), self)])

    __rmul__ = __mul__

    @final
    def __truediv__(self, divisor: float) -> Reward:
        if number(divisor, "a divisor") == 0.0:
            raise RewardDefinitionError("a reward cannot be divided by zero")
        return self * (1.0 / float(divisor))

    @final
    def __neg__(self) -> Reward:
        return self * -1.0

    @final
    def __add__(self, other: object) -> Reward:
        if isinstance(other, Real) and other == 0:  # so that sum([a, b]) works
            return self
        return weighted_sum_of([(1.0, self), (1.0, as_reward(other, "a summand"))])

    __radd__ = __add__

    @final
    def __sub__(self, other: object) -> Reward:
        return self + -as_reward(other, "what is subtracted")


def as_reward(value: object, where: str) -> Reward:
    """`value`, if it is a Reward; otherwise a TypeError that says what was meant instead."""
    if isinstance(value, Reward):
        return value
    hint = ""
    if isinstance(value, Schedule):
        hint = " A schedule is a weight: write `reward * schedule`."
    elif isinstance(value, Real):
        hint = " A constant shifts all completions of a group alike, which its normalisation cancels: leave it out."
    elif is_factory(value):
        hint = f" Call it: {getattr(value, '__name__', '')}(...) makes the reward."
    elif callable(value) and hasattr(value, "derive"):
        hint = " This is an extractor: pass it as extract= to a primitive such as rk.exact('answer', extract=...)."
    elif callable(value):
        hint = " Decorate the function with @rk.reward, or wrap a TRL reward function with rk.from_trl(function)."
    raise RewardTypeError(f"{where} must be a reward, got {shorten(value)} ({type(value).__name__}).{hint}")


def checked_name(name: str) -> str:
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise RewardDefinitionError(f"a reward's name must be a non-empty printable string, got {shorten(name)}")
    return name


def weighted_sum_of(items: Sequence[tuple[Weight, Reward]]) -> Reward:
    """The weighted sum of `items`, sums inside sums united into one."""
    flat: list[tuple[Weight, Reward]] = []
    for weight, reward in items:
        if isinstance(reward, WeightedSum):
            flat += [(multiplied(weight, inner), child) for inner, child in reward.items]
        else:
            flat.append((weight, reward))
    return WeightedSum(tuple(flat))


class Additive(Reward):
    """A weighted sum, whatever makes its `summands`: what abstained drops out of it."""

    @property
    @abstractmethod
    def summands(self) -> tuple[tuple[Weight, Reward], ...]: ...

    @property
    def children(self) -> tuple[Reward, ...]:
        return tuple(reward for _, reward in self.summands)

    @property
    def addends(self) -> tuple[Reward, ...]:
        return self.children

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        return schedules_of(weight for weight, _ in self.summands)

    def addend_weights(self, progress: Progress | None) -> tuple[float, ...]:
        return tuple(weight_now(weight, progress) for weight, _ in self.summands)

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        columns = await weighted_columns(scoring, self.summands, rows)
        return Column.combined([(column, now != 0.0) for now, column in columns], weighted_total(columns), rows)

    def distribute(self, scoring: Scoring, share: Share) -> Iterator[tuple[Reward, Share]]:
        for weight, reward in zip(self.addend_weights(scoring.batch.progress), self.addends, strict=True):
            yield reward, share.scaled(weight)


@final
@dataclass(frozen=True)
class WeightedSum(Additive):
    """``0.7 * a + 0.3 * b``."""

    items: tuple[tuple[Weight, Reward], ...]

    @property
    def name(self) -> str:
        return ""

    @property
    def logged(self) -> bool:
        return False

    @property
    def summands(self) -> tuple[tuple[Weight, Reward], ...]:
        return self.items

    @property
    def bounds(self) -> Bounds:
        parts = [scaled_bounds(weight_bounds(weight), reward.bounds) for weight, reward in self.items]
        if len(parts) > 1:  # any of them may abstain and drop out
            parts = [(min(low, 0.0), max(high, 0.0)) for low, high in parts]
        return sum(low for low, _ in parts), sum(high for _, high in parts)

    def __repr__(self) -> str:
        return " + ".join(_scaled_repr(weight, reward) for weight, reward in self.items)


def _scaled_repr(weight: Weight, reward: Reward) -> str:
    if isinstance(weight, float) and weight == 1.0:
        return repr(reward)
    shown = f"{weight:g}" if isinstance(weight, float) else repr(weight)
    return f"{shown}*{reward!r}"


@final
@dataclass(frozen=True)
class Named(Reward):
    """A reward under another name: one component, one term."""

    reward: Reward
    label: str

    @property
    def name(self) -> str:
        return self.label

    @property
    def children(self) -> tuple[Reward, ...]:
        return (self.reward,)

    @property
    def bounds(self) -> Bounds:
        return self.reward.bounds

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        (column,) = await scoring.columns([(self.reward, rows)])
        return column

    def named(self, name: str) -> Reward:
        return Named(self.reward, checked_name(name))

    def __repr__(self) -> str:
        return f"{_before_dot(self.reward)}.named({self.label!r})"


def _before_dot(reward: Reward) -> str:
    return f"({reward!r})" if isinstance(reward, WeightedSum) else repr(reward)


class Derived(Reward):
    """One reward made of another: one term, called after it by default."""

    reward: Reward

    @property
    def generic(self) -> bool:
        return True

    @property
    def children(self) -> tuple[Reward, ...]:
        return (self.reward,)


@final
@dataclass(frozen=True)
class Clipped(Derived):
    """``a.clip(0, 1)``: values limited to an interval."""

    reward: Reward
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise RewardDefinitionError(f"clip({self.low:g}, {self.high:g}): the lower bound is above the upper one")

    @property
    def name(self) -> str:
        return f"{self.reward.name or 'sum'}_clipped"

    @property
    def bounds(self) -> Bounds:
        low, high = self.reward.bounds
        return min(max(low, self.low), self.high), max(min(high, self.high), self.low)

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        (column,) = await scoring.columns([(self.reward, rows)])
        return Column.combined([(column, True)], np.clip(column.values, self.low, self.high), rows)

    def __repr__(self) -> str:
        return f"{_before_dot(self.reward)}.clip({self.low:g}, {self.high:g})"
