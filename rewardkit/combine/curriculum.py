"""Curricula: one reward after another, switched by training time or by the policy's progress.

::

    rk.curriculum([
        rk.Stage("form", form, until=rk.schedules.when_reached("tags", level=0.9)),
        rk.Stage("answer", 0.2 * form + right),
    ])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, final

from rewardkit.batch.column import Rows
from rewardkit.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.progress.positions import Passing, checked_position
from rewardkit.progress.schedule import Schedule, Weight, multiplied
from rewardkit.tree.algebra import additive, is_sum, schedules_of, summands, weighted_sum_of
from rewardkit.tree.conversion import reward_of
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps, Tunable, checked_name


@final
@dataclass(frozen=True)
class Stage:
    """A phase of training with its own reward: ``rk.Stage("form", rk.tags("answer"), until=0.3)``.

    Args:
        name: the stage's name in logs.
        reward: the reward during the stage.
        until: the end of the stage: a fraction of training (float), a step (int), or a schedule that goes from 0 (the
            stage counts) to 1 (the stage is over), such as ``rk.schedules.when_reached(...)``. The last stage must not
            have an ``until``.
        over: the duration of the next stage's fade-in, as a fraction or in steps, like `until`. With 0, the switch is
            immediate. Only allowed if `until` is not a schedule.

    Raises:
        RewardDefinitionError: `until` or `over` is out of range, or `until` is a schedule that has values outside 0 to
            1 or does not end at 1.
        RewardTypeError: an argument has the incorrect type.
    """

    name: str
    reward: Reward
    until: Any = None
    over: Any = 0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise RewardTypeError(
                f"rk.Stage(name, reward, until=...): the name of a stage must be a string, got {shorten(self.name)}"
            )
        checked_name(self.name)
        object.__setattr__(self, "reward", reward_of(self.reward, f"stage {self.name!r}: reward"))
        if isinstance(self.until, Schedule):
            low, high = self.until.bounds
            if low < 0.0 or high > 1.0:
                raise RewardDefinitionError(
                    f"stage {self.name!r}: until={self.until!r} ranges from {low:g} to {high:g}, but it must "
                    "stay between 0 (the stage counts) and 1 (the stage is over). Use .clip(0, 1)"
                )
            if self.until.end_value != 1.0:
                raise RewardDefinitionError(
                    f"stage {self.name!r}: until={self.until!r} ends at {self.until.end_value:g}, so later "
                    "stages never count fully. Use a schedule that ends at 1"
                )
            if self.over != 0:
                raise RewardDefinitionError(
                    f"stage {self.name!r}: until= is a schedule, which sets how fast the stage ends. Drop over= here, "
                    "or pass it to the schedule: when_reached(..., over=) expects a number of batches"
                )
        elif self.until is not None:
            if isinstance(self.until, str | Reward):
                raise RewardTypeError(
                    f"stage {self.name!r}: until must be a position or a schedule, got {shorten(self.until)}. Did you "
                    f"mean until=rk.schedules.when_reached({self.until!r}, level=0.9)?"
                )
            object.__setattr__(self, "until", checked_position(self.until, f"stage {self.name!r}: until"))
            object.__setattr__(self, "over", checked_position(self.over, f"stage {self.name!r}: over"))
            if self.until == self.over == 0:
                raise RewardDefinitionError(
                    f"stage {self.name!r}: until=0, so the stage never counts. Remove the stage"
                )
        elif self.over != 0:
            raise RewardDefinitionError(f"stage {self.name!r}: over= has no effect without until=. Remove over=")

    @property
    def passed(self) -> Schedule | None:
        """A schedule that is 0 during the stage and 1 after the stage, or None for a stage without an end."""
        if self.until is None or isinstance(self.until, Schedule):
            return self.until
        return Passing(self.until, self.over)

    @property
    def parts(self) -> tuple[tuple[Weight, Reward], ...]:
        """The stage's rewards with their weights. A plain sum is split so that each addend is scored separately."""
        return summands(self.reward)

    @property
    def tunables(self) -> list[Tunable]:
        """The numbers that can be tuned: the stage's end, and the weights in a plain sum."""
        end = [] if self.until is None else [Tunable("schedules", self.until, stage=self.name)]
        parts = self.parts if is_sum(self.reward) else ()
        return [*end, *(Tunable("weights", weight, reward, self.name) for weight, reward in parts)]

    def rebuilt(self, rewards: Iterator[Reward], numbers: Iterator[Any]) -> Stage:
        """Return this stage with different rewards and numbers, taken from the iterators."""
        until = None if self.until is None else next(numbers)
        over = 0 if isinstance(until, Schedule) else self.over
        if not is_sum(self.reward):
            return Stage(self.name, next(rewards), until=until, over=over)
        parts = [(next(numbers), next(rewards)) for _ in self.parts]
        return Stage(self.name, weighted_sum_of(parts), until=until, over=over)

    @property
    def fades(self) -> bool:
        """Whether the stage fades out instead of ending immediately."""
        return isinstance(self.until, Schedule) or self.over != 0

    def __repr__(self) -> str:
        options = f", until={self.until!r}" * (self.until is not None) + f", over={self.over!r}" * (self.over != 0)
        return f"Stage({self.name!r}, {self.reward!r}{options})"


@final
@dataclass(frozen=True)
class Curriculum(Reward):
    """A sequence of stages. While one stage fades into the next, both count."""

    stages: tuple[Stage, ...]
    label: str = ""

    @cached_property
    def facts(self) -> NodeSpec:
        weights = tuple(weight for weight, _ in self._summands)
        rewards = tuple(reward for _, reward in self._summands)
        limits = [stage.reward.bounds for stage in self.stages]
        if any(
            stage.fades for stage in self.stages
        ):  # if one of two fading stages abstains, the other counts only in part
            limits.append((0.0, 0.0))
        counting = self._counting
        return NodeSpec(
            name=self.label or "curriculum",
            bounds=(min(low for low, _ in limits), max(high for _, high in limits)),
            children=rewards,
            prefixes=tuple(stage.name for stage in self.stages for _ in stage.parts),
            generic=not self.label,
            logged=bool(self.label),
            addends=rewards,
            weights=weights,
            schedules=schedules_of(weights),
            gauges={"stage": _sum_weights(multiplied(number, weight) for number, weight in enumerate(counting, 1))},
            stages=tuple((stage.name, weight) for stage, weight in zip(self.stages, counting, strict=True)),
            wants="any",
            tunables=tuple(tunable for stage in self.stages for tunable in stage.tunables),
            renamed=lambda name: replace(self, label=name),
        )

    @property
    def _counting(self) -> list[Weight]:
        """Each stage's weight, from 0 to 1: how far all earlier stages are over and the stage itself is not."""
        weights: list[Weight] = []
        reached: Any = 1.0
        for stage in self.stages:
            passed = stage.passed
            weights.append(reached if passed is None else reached * (1.0 - passed))
            reached = reached * passed if passed is not None else reached
        return weights

    @cached_property
    def _summands(self) -> tuple[tuple[Weight, Reward], ...]:
        return tuple(
            (multiplied(weight, inner), reward)
            for weight, stage in zip(self._counting, self.stages, strict=True)
            for inner, reward in stage.parts
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        return additive(self._summands, evaluation, rows)

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        rewards, values = iter(children), iter(numbers)
        reward = curriculum([stage.rebuilt(rewards, values) for stage in self.stages])
        return reward.named(self.label) if self.label else reward

    def __repr__(self) -> str:
        return f"curriculum({list(self.stages)!r})" + f".named({self.label!r})" * bool(self.label)


def _sum_weights(weights: Iterable[Weight]) -> Weight:
    total: Weight = 0.0
    for weight in weights:
        total = weight if isinstance(total, float) and total == 0.0 else total + weight
    return total


def curriculum(*stages: Stage | Iterable[Stage]) -> Reward:
    """Return a reward that changes during training: each stage's reward counts until the stage is over.

    ``rk.curriculum([rk.Stage("form", form, until=0.2), rk.Stage("answer", 0.2 * form + right)])`` rewards the form for
    the first 20% of training. After that, it mostly rewards the correct answer.

    A stage whose condition already holds is skipped. If a condition stops holding (``when_reached(...,
    fall_back=...)``), training returns to that condition's stage. The components of all stages are always scored so
    that their curves do not have gaps, but outside their stage, their weight is zero. Expensive components (judges,
    code) are skipped outside their stage. ``stage/curriculum`` in the log is the current stage's number, counted from
    1.

    Args:
        stages: the stages in order, or one list of stages. All stages except the last need an ``until``.

    Raises:
        RewardDefinitionError: there are no stages, two stages have the same name, a stage before the last lacks an
            ``until``, the last stage has one, or the ends are not in ascending order.
        RewardTypeError: an item is not a stage.
    """
    collection = stages[0] if len(stages) == 1 and not isinstance(stages[0], Stage) else stages
    listed: tuple[Any, ...] = tuple(collection) if isinstance(collection, Iterable) else (collection,)
    if not listed:
        raise RewardDefinitionError("curriculum needs at least one stage: rk.curriculum([rk.Stage(name, reward)])")
    for stage in listed:
        if not isinstance(stage, Stage):
            raise RewardTypeError(
                f"curriculum expects a list of rk.Stage(name, reward, until=...), got {shorten(stage)}"
            )
    names = [stage.name for stage in listed]
    for name in names:
        if names.count(name) > 1:
            raise RewardDefinitionError(f"curriculum: two stages are named {name!r}. Rename one")
    for stage in listed[:-1]:
        if stage.until is None:
            raise RewardDefinitionError(
                f"curriculum: stage {stage.name!r} has no until=, so later stages never start. Pass until="
            )
    if listed[-1].until is not None:
        raise RewardDefinitionError(f"curriculum: the last stage, {names[-1]!r}, cannot have until=. Remove it")
    _check_times(listed)
    return Curriculum(listed)


def _check_times(stages: Sequence[Stage]) -> None:
    # A stage that ends before an earlier stage would never count.
    timed = [stage for stage in stages if stage.until is not None and not isinstance(stage.until, Schedule)]
    kinds = {type(at) for stage in timed for at in (stage.until, stage.over) if at != 0}
    if len(kinds) > 1:
        raise RewardDefinitionError(
            "curriculum mixes fractions (float) and steps (int) in until= and over=. Use only fractions or only steps"
        )
    for before, stage in pairwise(timed):
        if stage.until <= before.until:
            raise RewardDefinitionError(
                f"curriculum: stage {stage.name!r} ends at {stage.until}, but the stage before it, {before.name!r}, "
                f"ends at {before.until}, so {stage.name!r} would never count. Put the ends in ascending order"
            )
