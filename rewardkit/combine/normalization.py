"""Normalized rewards: ``rk.normalize(judge)`` has mean 0 and standard deviation 1 in each group.

The result does not depend on the judge's scale, so the weight of a normalized reward shows how much the reward
contributes to the advantage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, final, get_args

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column, Floats, Numbers, Rows
from rewardkit.batch.score import ABSTAINED
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.progress.bounds import TOLERANCE, Bounds, number
from rewardkit.progress.schedule import SQUARES, PerformanceSchedule, State
from rewardkit.tree.algebra import derived
from rewardkit.tree.conversion import RewardLike, reward_of
from rewardkit.tree.parameters import Scope
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps

# Rewards relative to the group: ``rk.rank_in_group(accuracy)`` is 1.0 for the best completion of a prompt.


@final
@dataclass(frozen=True)
class RankInGroup(Reward):
    """A reward whose score is the share of the group's other completions that a completion beats; a tie counts half."""

    reward: Reward

    @cached_property
    def facts(self) -> NodeSpec:
        return NodeSpec(
            name=derived(self.reward, "rank"),
            bounds=(0.0, 1.0),
            children=(self.reward,),
            generic=True,
            sees="group",
            together="group",
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        (column,) = yield [(self.reward, rows)]
        ranks = np.full(len(rows), np.nan)
        for members in evaluation.batch.members(rows & column.contributing):
            ranks[members] = _ranks(column.values[members])
        result = Column.combined([(column, True)], ranks, rows)
        result.codes[result.contributing < column.contributing] = ABSTAINED  # a lone completion has no rank
        return result

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return RankInGroup(*children)

    def __repr__(self) -> str:
        return f"rank_in_group({self.reward!r})"


def _ranks(values: Floats) -> Floats:
    """Return the share of the other values that each of `values` (k,) beats; a tie counts half.

    The result for a single value is NaN.
    """
    if len(values) < 2:
        return np.full(len(values), np.nan)
    order = np.argsort(values)
    tie_ids = np.zeros(len(values), dtype=np.int64)  # neighbors within the tolerance share a number
    tie_ids[order[1:]] = np.cumsum(np.diff(values[order]) > TOLERANCE)
    sizes = np.bincount(tie_ids)
    below = np.cumsum(sizes) - sizes
    ranks: Floats = (below + (sizes - 1) / 2.0)[tie_ids] / (len(values) - 1)
    return ranks


def rank_in_group(reward: RewardLike) -> Reward:
    """Return a completion's rank among all completions for the prompt: 1.0 for the best, 0.0 for the worst.

    Scores of 0.1, 0.5, 0.5, and 9.0 become 0.0, 0.5, 0.5, and 1.0. Only the order counts, so a judge's scale or a
    single outlier does not make a difference. If all scores are equal, each completion gets 0.5 and an advantage of
    zero. Inside a gate, all completions are ranked, even those for which the gate is closed.

    Args:
        reward: the reward to rank by. Scores within 1e-9 are treated as equal. Completions for which the reward
            abstains or fails are not ranked. If only one completion in a group remains, the rank abstains.

    Raises:
        RewardTypeError: `reward` is not a reward.
        BindingError: during scoring, if a process received only part of a group.
    """
    return RankInGroup(reward_of(reward, "rank_in_group"))


By = Literal["group", "batch", "running"]

EPSILON = 1e-4
"""The number that is added to a standard deviation before division, as in TRL, so that rounding errors are not
amplified."""


@final
@dataclass(frozen=True)
class RunningMoments(PerformanceSchedule):
    """The exponentially weighted mean and standard deviation of a component over the training run so far."""

    component: str
    half_life: float
    source: Reward = field(compare=False)

    @property
    def bounds(self) -> Bounds:
        return 0.0, math.inf

    @property
    def highest(self) -> float:
        return -math.inf

    def init(self) -> State:
        return {"mean": 0.0, "square": 0.0, "weight": 0.0}

    def settled(self) -> State:
        return self.init()

    def update(self, state: State, means: Mapping[str, float]) -> State:
        square = self.component + SQUARES
        if square not in means:
            return state
        decay = 0.5 ** (1.0 / self.half_life)
        new = {"mean": means[self.component], "square": means[square], "weight": 1.0}
        return {name: decay * state[name] + (1.0 - decay) * value for name, value in new.items()}

    def value(self, state: State) -> float:
        return self.moments(state)[1]

    def moments(self, state: State) -> tuple[float, float]:
        """Return the mean and the standard deviation; 0 and 1 before the first batch."""
        if not state["weight"]:
            return 0.0, 1.0
        mean, square = state["mean"] / state["weight"], state["square"] / state["weight"]
        variance = square - mean * mean
        # The difference of two nearly equal numbers is only a rounding error.
        return mean, (math.sqrt(variance) if variance > 1e-12 * square else 0.0) + EPSILON

    @property
    def text(self) -> str:
        return repr(self)  # moments are never used as a weight

    def __repr__(self) -> str:
        return f"normalize({self.component!r}, by='running', half_life={self.half_life!r})"


@final
@dataclass(frozen=True)
class Normalized(Reward):
    """A reward minus its mean, divided by its standard deviation."""

    reward: Reward
    by: By
    moments: RunningMoments | None

    @cached_property
    def facts(self) -> NodeSpec:
        # Running moments already include all processes.
        scope: Scope = "sample" if self.by == "running" else self.by
        return NodeSpec(
            name=derived(self.reward, "normalized"),
            bounds=(-math.inf, math.inf),
            children=(self.reward,),
            generic=True,
            sees=scope,
            together=scope,
            moments=() if self.moments is None else (self.moments,),
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        (column,) = yield [(self.reward, rows)]
        counted = rows & column.contributing
        values = np.full(len(rows), np.nan)
        for members in self._parts(evaluation.batch, counted):
            values[members] = self._normalized(column.values[members], evaluation.batch)
        return Column.combined([(column, True)], values, rows)

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        (reward,) = children
        moments = None if self.moments is None else replace(self.moments, component=reward.name, source=reward)
        return Normalized(reward, self.by, moments)

    def _parts(self, batch: Batch, counted: Rows) -> Iterable[Rows | Numbers]:
        return batch.members(counted) if self.by == "group" else [counted]

    def _normalized(self, values: Floats, batch: Batch) -> Floats:
        if self.moments is None:
            if len(values) < 2:
                return np.zeros(len(values))
            with np.errstate(over="ignore"):  # squares of huge numbers
                mean, deviation = float(values.mean()), float(values.std(ddof=1)) + EPSILON
        else:
            trained = batch.progress if batch.progress is not None and batch.progress.training else None
            state = None if trained is None else trained.states.get(self.moments)
            mean, deviation = self.moments.moments(state or self.moments.init())
        return np.asarray((values - mean) / deviation)

    def __repr__(self) -> str:
        options = f", by={self.by!r}" * (self.by != "group")
        options += f", half_life={self.moments.half_life:g}" if self.moments and self.moments.half_life != 50.0 else ""
        return f"normalize({self.reward!r}{options})"


def normalize(reward: RewardLike, by: By = "group", *, half_life: float | None = None) -> Reward:
    """Return a reward with mean 0 and standard deviation 1: ``0.7 * right + 0.3 * rk.normalize(judge)``.

    The formula is ``(x - mean) / (deviation + 1e-4)``. The scores 1, 2, and 3 in a group become -1, 0, and 1. If all
    scores in a group are equal, they become 0. GDPO trains on a weighted sum of rewards that are normalized within the
    group (TRL's ``multi_objective_aggregation="normalize_then_sum"``). ``rk.normalize`` works with any trainer and can
    be used for parts of a tree.

    Inside a gate, completions for which the gate is closed still count toward the mean and the standard deviation.

    Args:
        reward: the reward to normalize. Rows for which it abstains or fails do not count toward the mean and the
            standard deviation.
        by: the completions used for the mean and the standard deviation. ``"group"``: the completions for a prompt
            (sample standard deviation, as in TRL). ``"batch"``: all completions in the batch, from all processes.
            ``"running"``: all completions in the training run so far, from all processes. Before the first batch and
            outside training, ``"running"`` does not change the reward.
        half_life: for ``"running"``, the number of batches after which a batch's weight is halved, greater than 0. The
            default is 50.

    Raises:
        RewardDefinitionError: `by` is unknown, `half_life` is not above 0, or `by` is ``"running"`` and the reward does
            not have a name (use ``.named(...)``).
        BindingError: during scoring, if a process received only part of a group.
    """
    item = reward_of(reward, "normalize")
    if by not in get_args(By):
        raise RewardDefinitionError(f"normalize: by must be one of {', '.join(get_args(By))}, got {shorten(by)}")
    if by != "running":
        if half_life is not None:
            raise RewardDefinitionError(
                f'normalize: by={by!r} does not use half_life. Drop half_life=, or pass by="running"'
            )
        return Normalized(item, by, None)
    life = 50.0 if half_life is None else number(half_life, "normalize: half_life")
    if life <= 0.0:
        raise RewardDefinitionError(f"normalize: half_life must be a number of batches greater than 0, got {life:g}")
    if item.facts.generic or not item.name or not item.facts.logged:
        raise RewardDefinitionError(
            f'normalize: by="running" follows the logged mean of a component, but {item!r} has no fixed name. '
            'Name it: reward.named("...")'
        )
    return Normalized(item, by, RunningMoments(item.name, life, item))
