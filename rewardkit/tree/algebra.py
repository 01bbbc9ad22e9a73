"""The algebra of rewards: the nodes behind ``0.7 * a + 0.3 * b``, ``a.named("x")`` and ``a.clip(0, 1)``.

The module also has functions that rebuild a tree with different numbers (`changed`) or different columns
(`with_columns`). Unchanged nodes are reused, not copied.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.batch.batch import RESERVED
from rewardkit.batch.column import Column, Rows, Share, weighted_total
from rewardkit.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.progress.bounds import Bounds, scaled_bounds
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import Schedule, Weight, multiplied, weight_bounds, weight_now
from rewardkit.tree.reward import Evaluation, NodeSpec, Request, Reward, Steps, Tunable, leaves, walk

Items = Sequence[tuple[Weight, Reward]]


def summands(reward: Reward) -> tuple[tuple[Weight, Reward], ...]:
    """Return the (weight, reward) pairs of a plain sum; any other reward is returned with weight 1."""
    return reward.items if isinstance(reward, WeightedSum) else ((1.0, reward),)


def is_sum(reward: Reward) -> bool:
    """Return whether `reward` is a plain, unnamed sum, as built by ``+`` and ``*``."""
    return isinstance(reward, WeightedSum)


def weighted_sum_of(items: Sequence[tuple[Weight, Reward]]) -> Reward:
    """Return the weighted sum of `items`, with nested sums flattened into one."""
    flat = [(multiplied(weight, inner), child) for weight, reward in items for inner, child in summands(reward)]
    return WeightedSum(tuple(flat))


@final
@dataclass(frozen=True)
class WeightedSum(Reward):
    """A weighted sum such as ``0.7 * a + 0.3 * b``, in which children that abstain are skipped."""

    items: tuple[tuple[Weight, Reward], ...]

    @cached_property
    def facts(self) -> NodeSpec:
        weights = tuple(weight for weight, _ in self.items)
        rewards = tuple(reward for _, reward in self.items)
        return NodeSpec(
            name="",
            bounds=self._bounds(),
            children=rewards,
            logged=False,
            addends=rewards,
            weights=weights,
            schedules=schedules_of(weights),
            tunables=tuple(Tunable("weights", weight, reward) for weight, reward in self.items),
        )

    def _bounds(self) -> Bounds:
        parts = [scaled_bounds(weight_bounds(weight), reward.bounds) for weight, reward in self.items]
        if len(parts) > 1:  # each of them may abstain and drop out
            parts = [(min(low, 0.0), max(high, 0.0)) for low, high in parts]
        return sum(low for low, _ in parts), sum(high for _, high in parts)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        return additive(self.items, evaluation, rows)

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return WeightedSum(tuple(zip(numbers, children, strict=True)))

    def __repr__(self) -> str:
        return " + ".join(_scaled_repr(weight, reward) for weight, reward in self.items)


def _scaled_repr(weight: Weight, reward: Reward) -> str:
    if isinstance(weight, float) and weight == 1.0:
        return repr(reward)
    factor = f"{weight:g}" if isinstance(weight, float) else repr(weight)
    return f"{factor}*{reward!r}"


@final
@dataclass(frozen=True)
class Named(Reward):
    """A renamed reward, which is one component and one term under the new name."""

    reward: Reward
    label: str

    @cached_property
    def facts(self) -> NodeSpec:
        return NodeSpec(
            name=self.label,
            bounds=self.reward.bounds,
            children=(self.reward,),
            stands_for=self.reward,
            renamed=lambda name: Named(self.reward, name),
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        columns: list[Column] = yield [(self.reward, rows)]
        return replace(columns[0], shares=())

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        (reward,) = children
        return Named(reward, self.label)

    def __repr__(self) -> str:
        return f"{_before_dot(self.reward)}.named({self.label!r})"


@final
@dataclass(frozen=True)
class Clipped(Reward):
    """A reward whose values are limited to an interval: ``a.clip(0, 1)``."""

    reward: Reward
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise RewardDefinitionError(
                f"clip({self.low:g}, {self.high:g}): the lower bound is greater than the upper bound. Swap them"
            )

    @cached_property
    def facts(self) -> NodeSpec:
        low, high = self.reward.bounds
        bounds = min(max(low, self.low), self.high), max(min(high, self.high), self.low)
        return NodeSpec(name=derived(self.reward, "clipped"), bounds=bounds, children=(self.reward,), generic=True)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        (column,) = yield [(self.reward, rows)]
        return Column.combined([(column, True)], np.clip(column.values, self.low, self.high), rows)

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        (reward,) = children
        return Clipped(reward, self.low, self.high)

    def __repr__(self) -> str:
        return f"{_before_dot(self.reward)}.clip({self.low:g}, {self.high:g})"


def derived(reward: Reward, suffix: str) -> str:
    """Return the name for a reward that wraps `reward`: ``accuracy_clipped``."""
    return f"{reward.name or 'sum'}_{suffix}"


def _before_dot(reward: Reward) -> str:
    return f"({reward!r})" if is_sum(reward) else repr(reward)


def schedules_of(weights: Iterable[Weight]) -> tuple[Schedule, ...]:
    """Return the schedules among `weights`."""
    return tuple(weight for weight in weights if isinstance(weight, Schedule))


def scheduled(weight: Weight, progress: Progress | None, reward: Reward) -> float:
    """Return the current value of `weight`, a weight or threshold of `reward`; raise an error if it is not finite."""
    if isinstance(weight, float):
        return weight
    value = weight_now(weight, progress)
    if not math.isfinite(value):
        raise RewardDefinitionError(
            f"the schedule {weight!r} of {reward!r} returned {value}. Limit it to finite values: .clip(low, high)"
        )
    return value


def must_evaluate(weight: Weight, now: float, reward: Reward) -> bool:
    """Return whether to evaluate a child: at weight zero, only if the weight is a schedule and the child is cheap.

    Its values at weight zero are only logged, as a part of its curve.
    """
    return now != 0.0 or (isinstance(weight, Schedule) and not is_expensive(reward))


def is_expensive(reward: Reward) -> bool:
    """Return whether any leaf of `reward` is declared expensive."""
    return any((binding := leaf.facts.binding) is not None and binding.expensive for leaf in leaves(reward))


def weighted(
    items: Items, evaluation: Evaluation, rows: Rows
) -> Generator[Sequence[Request], list[Column], list[tuple[float, Column]]]:
    """Return each item's current weight and column; items that need no evaluation get an empty column."""
    progress = evaluation.batch.progress
    nowhere = np.zeros_like(rows)
    weights: list[float] = []
    requests: list[Request] = []
    for weight, reward in items:
        now = scheduled(weight, progress, reward)
        weights.append(now)
        requests.append((reward, rows if must_evaluate(weight, now, reward) else nowhere))
    columns = yield requests
    for position, (_, needed) in enumerate(requests):
        if needed is nowhere:  # another parent may have asked for it, but its column does not count here
            columns[position] = Column.empty(len(rows))
    return list(zip(weights, columns, strict=True))


def additive(items: Items, evaluation: Evaluation, rows: Rows) -> Steps:
    """Evaluate a weighted sum, skipping children that abstain."""
    columns: list[tuple[float, Column]] = yield from weighted(items, evaluation, rows)
    result = Column.combined([(column, now != 0.0) for now, column in columns], weighted_total(columns), rows)
    result.shares = tuple(Share(now) for now, _ in columns)
    return result


def addend_weights(reward: Reward, progress: Progress | None) -> list[float]:
    """Return the current weight of each addend in `reward`, assuming that nothing abstains and all gates are open."""
    facts = reward.facts
    if facts.weights is None:
        return [1.0] * len(facts.addends or ())
    weights = [weight_now(weight, progress) for weight in facts.weights]
    return [weight / (sum(weights) or 1.0) for weight in weights] if facts.average else weights


def _same_number(node: Reward, index: int, tunable: Tunable) -> Any:
    return tunable.value


def changed(
    value: Any, rewrite: Callable[[Reward], Reward], number: Callable[[Reward, int, Tunable], Any] = _same_number
) -> Any:
    """Return a copy of a tree with replaced nodes and numbers, including those in schedules that follow a reward.

    Args:
        value: a reward, or a schedule or tuple that contains rewards.
        rewrite: returns the replacement for a node; it is called for the leaves first.
        number: returns the new number, given the node, the tunable's index, and the tunable.
    """
    if isinstance(value, Reward):
        facts = value.facts
        numbers = [
            changed(number(value, index, tunable), rewrite, number) for index, tunable in enumerate(facts.tunables)
        ]
        children = [changed(child, rewrite, number) for child in facts.children]
        same = [new is old for new, old in zip(children, facts.children, strict=True)]
        same += [new is tunable.value for new, tunable in zip(numbers, facts.tunables, strict=True)]
        return rewrite(value if all(same) else value._rebuilt(tuple(children), tuple(numbers)))
    if isinstance(value, tuple):
        parts = tuple(changed(part, rewrite, number) for part in value)
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    if isinstance(value, Schedule) and is_dataclass(value):
        inside = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        new = {name: changed(part, rewrite, number) for name, part in inside.items()}
        return value if all(new[name] is inside[name] for name in new) else replace(value, **new)
    return value


def with_columns(reward: Reward, columns: Mapping[str, str]) -> Reward:
    """Return `reward` with different columns: with ``{"answer": "solution"}``, it reads "solution" instead of "answer".

    Raises:
        RewardDefinitionError: the reward does not read a column with this name, or a node's columns cannot be changed.
    """
    read: dict[str, None] = {}
    takes_all = False
    for node, _, _ in walk(reward):
        facts = node.facts
        read |= dict.fromkeys(facts.columns)
        if facts.binding is not None and (facts.binding.foreign or facts.binding.reads("example")):
            takes_all = True
            if facts.with_columns is None:
                raise RewardDefinitionError(
                    f"with_columns: {node!r} comes from another library and receives all columns, so its columns "
                    "cannot be renamed. Rename them in the dataset"
                )
    for name, column in columns.items():
        if not isinstance(column, str) or not column or column in RESERVED:
            raise RewardDefinitionError(
                f"with_columns: {name}= must be the name of a column in the data, got {shorten(column)}"
            )
        if name in RESERVED or not (takes_all or name in read):
            raise RewardDefinitionError(
                f"with_columns: the reward reads no column {name!r}. It reads: {', '.join(read) or 'none'}."
                f"{near_miss(name, read)} Write with_columns(<the reward's name>=<the data's name>)"
            )

    def own(node: Reward) -> Reward:
        return node if node.facts.with_columns is None else node.facts.with_columns(columns)

    result: Reward = changed(reward, own)
    return result
