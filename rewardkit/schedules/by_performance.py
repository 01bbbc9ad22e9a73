"""Performance-based schedules: ``when_reached("tags", level=0.9)`` is 0 until the policy masters the tags, then 1.

These schedules read a component's mean over the training batches on all ranks. The trainer's adapter saves their state,
which is a plain mapping, in checkpoints and restores it. Evaluation does not change the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, final

from rewardkit.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.progress.bounds import TOLERANCE, Bounds, number
from rewardkit.progress.schedule import PerformanceSchedule, Schedule, State, call_text
from rewardkit.tree.reward import Reward


@final
@dataclass(frozen=True)
class Reached(PerformanceSchedule):
    """A schedule that is 0 until the mean over a window reaches a level, and then 1."""

    component: str
    level: float
    window: int
    patience: int
    fall_back: float | None
    over: int
    source: Any = field(default=None, compare=False)

    @property
    def bounds(self) -> Bounds:
        return 0.0, 1.0

    @property
    def highest(self) -> float:
        return self.level

    def init(self) -> State:
        return {"recent": [], "held": 0, "reached": False, "way": 0}

    def settled(self) -> State:
        return {"recent": [], "held": 0, "reached": True, "way": self.over}

    def update(self, state: State, means: Mapping[str, float]) -> State:
        if self.component not in means:
            return state
        recent = [*state["recent"], means[self.component]][-self.window :]
        mean = sum(recent) / len(recent)
        full = len(recent) == self.window
        streak = state["held"] + 1 if full and mean >= self.level - TOLERANCE else 0
        reached = state["reached"] or streak >= self.patience
        if self.fall_back is not None and mean < self.fall_back - TOLERANCE:
            reached = False
        # Count whole batches, so that rounding errors do not add up.
        position = min(max(state["way"] + (1 if reached else -1), 0), self.over)
        return {"recent": recent, "held": streak, "reached": reached, "way": position}

    def value(self, state: State) -> float:
        return float(state["way"] / self.over)

    @property
    def text(self) -> str:
        options = {name: getattr(self, name) for name in ("level", "window", "patience", "fall_back", "over")}
        return call_text("when_reached", self.component, **options)

    def __repr__(self) -> str:
        options = f", level={self.level!r}, window={self.window}"
        options += f", patience={self.patience}" * (self.patience != 1)
        options += f", fall_back={self.fall_back!r}" * (self.fall_back is not None)
        options += f", over={self.over}" * (self.over != 1)
        return f"when_reached({self.component!r}{options})"


@final
@dataclass(frozen=True)
class Tracking(PerformanceSchedule):
    """A schedule that moves from 0 to 1 as a component's exponential average moves from `low` to `high`."""

    component: str
    low: float
    high: float
    half_life: float
    source: Any = field(default=None, compare=False)

    @property
    def bounds(self) -> Bounds:
        return 0.0, 1.0

    @property
    def highest(self) -> float:
        return self.high

    def init(self) -> State:
        return {"sum": 0.0, "weight": 0.0}

    def settled(self) -> State:
        return {"sum": self.high, "weight": 1.0}

    def update(self, state: State, means: Mapping[str, float]) -> State:
        if self.component not in means:
            return state
        decay = 0.5 ** (1.0 / self.half_life)
        return {
            "sum": decay * state["sum"] + (1.0 - decay) * means[self.component],
            "weight": decay * state["weight"] + (1.0 - decay),
        }

    def value(self, state: State) -> float:
        if not state["weight"]:
            return 0.0
        # Bias correction, as in Adam: divided by the weights so far, because the average starts at zero.
        average = state["sum"] / state["weight"]
        return float(min(max((average - self.low) / (self.high - self.low), 0.0), 1.0))

    @property
    def text(self) -> str:
        options = {name: getattr(self, name) for name in ("low", "high", "half_life")}
        return call_text("track", self.component, **options)

    def __repr__(self) -> str:
        return f"track({self.component!r}, low={self.low!r}, high={self.high!r}, half_life={self.half_life!r})"


def when_reached(
    component: Any,
    # Arbitrary: a level that is nearly learned, and a window that one lucky batch does not move much.
    level: float = 0.9,
    window: int = 20,
    *,
    patience: int = 1,
    fall_back: float | None = None,
    over: int = 1,
) -> Schedule:
    """Return a schedule that is 0 until the mean of `component` reaches `level`, and then 1.

    ::

        accuracy * rk.schedules.when_reached("tags", level=0.9, window=20)

    Use the schedule as a weight, a threshold, or a stage's ``until``. During evaluation, it is 1. It requires a trainer
    that passes its state to rewards, so it does not work with asynchronous GRPO.

    Args:
        component: the name of a component in the tree, or the reward itself. The component is scored for all
            completions, even behind a closed gate or at weight zero.
        level: the level that the mean over the last `window` generation batches, on all ranks, must reach, within 1e-9.
        window: the number of batches to average, at least 1. The level cannot be reached until there are this many
            batches.
        patience: the number of consecutive batches in which the mean must be at the level, at least 1.
        fall_back: if the mean falls below this value, the schedule returns to 0. By default, it never returns. The
            value must be below `level`, because the gap prevents switching back and forth (hysteresis).
        over: the number of batches over which the schedule moves from 0 to 1 or back, at least 1.

    Raises:
        RewardDefinitionError: a number is out of range, or `component` is a reward with a generated name.
        RewardTypeError: `component` is neither a name nor a reward.
    """
    reached = number(level, "when_reached: level")
    back = None if fall_back is None else number(fall_back, "when_reached: fall_back")
    if back is not None and back >= reached:
        raise RewardDefinitionError(f"when_reached: fall_back={back:g} must be below level={reached:g}")
    counts = [
        _count(value, f"when_reached: {name}")
        for name, value in (("window", window), ("patience", patience), ("over", over))
    ]
    return Reached(_name(component, "when_reached"), reached, counts[0], counts[1], back, counts[2], _source(component))


# The default half-life of ten batches is arbitrary: steadier than single batches, and it follows within an epoch.
def track(component: Any, low: float = 0.0, high: float = 1.0, *, half_life: float = 10.0) -> Schedule:
    """Return a schedule that follows a component's average: 0 up to `low`, 1 at `high` and above, linear in between.

    ``1.0 - 0.9 * rk.schedules.track("tags", 0.5, 1.0)`` decreases a weight from 1.0 to 0.1 as the policy learns the
    tags. Before the first batch, the schedule is 0. During evaluation, it is 1.

    Args:
        component: the component, as in `when_reached`.
        low: the average up to which the value is 0.
        high: the average at which the value reaches 1.
        half_life: the half-life of the exponential average in generation batches, greater than 0. A batch of this age
            has half the weight.

    Raises:
        RewardDefinitionError: `low` is not below `high`, `half_life` is not greater than 0, or `component` is a reward
            with a generated name.
        RewardTypeError: `component` is neither a name nor a reward.
    """
    lowest, highest, life = (
        number(low, "track: low"),
        number(high, "track: high"),
        number(half_life, "track: half_life"),
    )
    if lowest >= highest:
        raise RewardDefinitionError(f"track: low={lowest:g} must be below high={highest:g}")
    if life <= 0.0:
        raise RewardDefinitionError(f"track: half_life must be a number of batches greater than 0, got {life:g}")
    return Tracking(_name(component, "track"), lowest, highest, life, _source(component))


def _name(component: Any, where: str) -> str:
    name = component.name if isinstance(component, Reward) else component
    if not isinstance(name, str) or not name:
        raise RewardTypeError(
            f"{where}: component must be the name of a component, or a reward with a name (name a sum with "
            f".named(...)), got {shorten(component)}"
        )
    if isinstance(component, Reward) and component.facts.generic:
        # If another reward of this kind comes first in the tree, this one is called product_2.
        raise RewardDefinitionError(
            f"{where}: {component!r} has only a generated name, so several components may be called {name!r}. Name "
            "it, and use the named reward both here and in the tree: named = reward.named(...)"
        )
    return name


def _source(component: Any) -> Any:
    return None if isinstance(component, str) else component


def _count(value: Any, subject: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise RewardDefinitionError(f"{subject} must be a number of batches, at least 1, got {shorten(value)}")
    return int(value)
