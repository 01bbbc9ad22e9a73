"""Normalized rewards: ``rk.normalize(judge)`` has mean 0 and deviation 1 within each group, whatever the judge's scale.

A weight then says how much of the advantage a reward may cause, which a reward of small or rare differences would not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, final, get_args

import numpy as np

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.column import Column, Floats, Numbers, Rows
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.bounds import Bounds, number
from rewardkit.core.progress.schedule import SQUARES, PerformanceSchedule, State
from rewardkit.core.tree.algebra import derived
from rewardkit.core.tree.parameters import Scope
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps, as_reward

By = Literal["group", "batch", "running"]

EPSILON = 1e-4
"""Added to a deviation before something is divided by it, as TRL does: noise in the last digits is no signal."""


@final
@dataclass(frozen=True)
class RunningMoments(PerformanceSchedule):
    """The deviation of a component over the training so far, what is old counting less and less."""

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
        """Mean and deviation; 0 and 1 before there is anything."""
        if not state["weight"]:
            return 0.0, 1.0
        mean, square = state["mean"] / state["weight"], state["square"] / state["weight"]
        variance = square - mean * mean
        # The difference of two numbers that are nearly the same is noise in their last digits.
        return mean, (math.sqrt(variance) if variance > 1e-12 * square else 0.0) + EPSILON

    @property
    def text(self) -> str:
        return repr(self)  # never a weight

    def __repr__(self) -> str:
        return f"normalize({self.component!r}, by='running', half_life={self.half_life!r})"


@final
@dataclass(frozen=True)
class Normalized(Reward):
    """A reward less its mean, in units of its deviation."""

    reward: Reward
    by: By
    moments: RunningMoments | None

    @cached_property
    def facts(self) -> Facts:
        # The running moments are those of all processes already.
        scope: Scope = "sample" if self.by == "running" else self.by
        return Facts(
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
            known = None if trained is None else trained.states.get(self.moments)
            mean, deviation = self.moments.moments(known or self.moments.init())
        return np.asarray((values - mean) / deviation)

    def __repr__(self) -> str:
        options = f", by={self.by!r}" * (self.by != "group")
        options += f", half_life={self.moments.half_life:g}" if self.moments and self.moments.half_life != 50.0 else ""
        return f"normalize({self.reward!r}{options})"


def normalize(reward: Reward, by: By = "group", *, half_life: float | None = None) -> Reward:
    """A reward with mean 0 and deviation 1: ``0.7 * right + 0.3 * rk.normalize(judge)``.

    ``(x - mean) / (deviation + 1e-4)``. Within a group of completions scored 1, 2, 3 it is -1, 0, 1, and 0 where all
    are alike. A sum of rewards that are normalized within the group and weighted is what GDPO trains on (TRL's
    ``multi_objective_aggregation="normalize_then_sum"``), for any trainer and for parts of a tree.

    Args:
        reward: what is normalized; what abstains or fails is left out of mean and deviation.
        by: ``"group"``: among the completions of a prompt (sample deviation, as TRL takes it); ``"batch"``: among all
            completions of the batch, of all processes; ``"running"``: by the training so far, over all processes:
            before the first batch is done it is the reward itself, and so it is outside of training.
        half_life: for ``"running"``: what is as many batches old counts half; 50 by default.

    Inside a gate the closed completions of a group, or of the batch, count among the others.

    Raises:
        RewardDefinitionError: another `by`, a half-life that is not above 0, or ``"running"`` for a reward without a
            name (write ``.named(...)``).
        BindingError: while scoring: a process got part of a group, and cannot bring it together.
    """
    item = as_reward(reward, "normalize")
    if by not in get_args(By):
        raise RewardDefinitionError(f"normalize: by is one of {', '.join(get_args(By))}, got {shorten(by)}")
    if by != "running":
        if half_life is not None:
            raise RewardDefinitionError(f'normalize: half_life is for by="running", not for by={by!r}')
        return Normalized(item, by, None)
    life = 50.0 if half_life is None else number(half_life, "normalize: half_life")
    if life <= 0.0:
        raise RewardDefinitionError(f"normalize: half_life is a number of batches above 0, got {life:g}")
    if item.facts.generic or not item.name or not item.facts.logged:
        raise RewardDefinitionError(
            f"normalize: {item!r} has no mean in the log under a name of its own to follow; give it one with "
            ".named(...)"
        )
    return Normalized(item, by, RunningMoments(item.name, life, item))
