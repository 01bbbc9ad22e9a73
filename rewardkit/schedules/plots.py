"""A reward's weights over training, as numbers or as a figure, before you train.

``(0.3 * form * linear(1.0, 0.0) + right).weights_over_training(100)["tags"][50]`` is 0.15.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.batch.column import Floats
from rewardkit.errors import BindingError, MissingExtraError, RewardDefinitionError, RewardTypeError, near_miss, shorten
from rewardkit.progress import states as kept
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import SQUARES, PerformanceSchedule, Schedule, following, weight_now
from rewardkit.tree.algebra import addend_weights
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward, walk

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class _Course:
    """A reward's weights and gauges at each training step, (steps + 1,) each."""

    weights: dict[str, Floats]
    gauges: dict[str, Floats]


def weights_over_training(
    reward: Reward, max_steps: int, *, means: Mapping[str, Sequence[float]] | None
) -> dict[str, Floats]:
    """Return each term's weight at each step; see ``Reward.weights_over_training``."""
    scorer = Scorer(reward)
    count = _checked_steps(max_steps, "weights_over_training")
    component_means = _checked_means(means, _followers(reward), "weights_over_training")
    followers = _followers(reward)
    missing = [follower for follower in followers if follower.component not in component_means]
    if missing:
        entries = ", ".join(f"{name!r}: [...]" for name in dict.fromkeys(follower.component for follower in missing))
        raise BindingError(
            f"{missing[0]!r} follows {missing[0].component!r}, so it depends on training. Pass the mean for "
            f"each batch: means={{{entries}}}"
        )
    return _course(scorer, count, _states(followers, count, component_means)).weights


def _followers(reward: Reward | Schedule) -> list[PerformanceSchedule]:
    """Return the performance-based schedules in weights, thresholds, and stages (but not in normalizations)."""
    schedules = (
        [reward]
        if isinstance(reward, Schedule)
        else [each for node, _, _ in walk(reward) for each in node.facts.schedules]
    )
    return list(dict.fromkeys(follower for schedule in schedules for follower in following(schedule)))


def _checked_steps(max_steps: object, where: str) -> int:
    if isinstance(max_steps, bool) or not isinstance(max_steps, Integral) or max_steps < 1:
        raise RewardDefinitionError(
            f"{where}: max_steps must be a number of steps, at least 1, got {shorten(max_steps)}"
        )
    return int(max_steps)


def _checked_means(
    means: Mapping[str, Sequence[float]] | None, followers: Sequence[PerformanceSchedule], where: str
) -> dict[str, list[float]]:
    checked: dict[str, list[float]] = {}
    for follower in followers if means else ():
        hint = near_miss(follower.component, means or {})
        if follower.component not in (means or {}) and hint:
            raise BindingError(f"{where}: {follower!r} follows {follower.component!r}, which is not in means=.{hint}")
    for name, values in (means or {}).items():
        try:
            checked[name] = [float(value) for value in values]
        except (TypeError, ValueError):
            raise RewardTypeError(
                f"{where}: means={{{name!r}: ...}} must be a list with the mean for each batch, got {shorten(values)}"
            ) from None
    return checked


def _course(scorer: Scorer, max_steps: int, states: Iterable[kept.States]) -> _Course:
    points = [
        Progress(step, max_steps, states=step_states)
        for step, step_states in zip(range(max_steps + 1), states, strict=False)
    ]
    weights = [_weights_at(scorer, point) for point in points]
    gauges = [
        {
            f"{gauge} of {name}": weight_now(weight, point)
            for name, node in scorer.names.gauged
            for gauge, weight in node.facts.gauges.items()
        }
        for point in points
    ]
    return _Course(_columns(weights), _columns(gauges))


def _columns(points: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
    return {name: np.array([point[name] for point in points]) for name in points[0]}


def _weights_at(scorer: Scorer, progress: Progress) -> dict[str, float]:
    """Return each term's current weight, assuming that nothing abstains and all gates are open."""
    names = {node: name for name, node in scorer.names.terms}
    weights = dict.fromkeys(scorer.terms, 0.0)
    stack = [(scorer.reward, 1.0)]
    while stack:
        node, weight = stack.pop()
        if node.facts.addends is None:
            weights[names[node]] += weight
        else:
            own_weights = addend_weights(node, progress)
            stack += [
                (addend, weight * addend_weight)
                for addend, addend_weight in zip(node.facts.addends, own_weights, strict=True)
            ]
    return weights


def _states(
    followers: Sequence[PerformanceSchedule], max_steps: int, means: Mapping[str, Sequence[float]]
) -> Iterable[kept.States]:
    """Yield the schedules' states before each step."""
    states = kept.initial(followers)
    for step in range(max_steps + 1):
        yield states
        step_means = {name: values[step] for name, values in means.items() if step < len(values)}
        step_means = {name: value for name, value in step_means.items() if not math.isnan(value)}
        squares = {name + SQUARES: value * value for name, value in step_means.items()}
        states = kept.advanced(states, {**step_means, **squares})


def plot_schedules(
    reward: Reward | Schedule,
    max_steps: int,
    *,
    means: Mapping[str, Sequence[float]] | None,
) -> Figure:
    """Return a figure of the schedules; see ``Reward.plot_schedules`` and ``Schedule.plot``."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise MissingExtraError.of("plot_schedules", "plot") from None
    count = _checked_steps(max_steps, "plot_schedules")
    scorer = None if isinstance(reward, Schedule) else Scorer(reward)
    courses = _courses(reward, scorer, count, _checked_means(means, _followers(reward), "plot_schedules"))
    low, high = courses[0], courses[-1]
    panels: list[tuple[str, dict[str, Floats], dict[str, Floats]]] = []
    if low.weights:
        panels.append(("weight", low.weights, high.weights))
    for kind in sorted({name.split(" of ")[0] for name in low.gauges}):
        gauge_names = [name for name in low.gauges if name.startswith(f"{kind} of ")]
        panels.append((kind, {n: low.gauges[n] for n in gauge_names}, {n: high.gauges[n] for n in gauge_names}))
    if not panels:
        raise RewardDefinitionError(
            f"plot_schedules: {reward!r} has no weights, because nothing in it trains. Pass a reward with a term"
        )
    figure = Figure(figsize=(8.0, 1.0 + 2.6 * len(panels)), layout="constrained")
    axes: Any = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    steps = np.arange(count + 1)
    for axis, (kind, lowest, highest) in zip(axes, panels, strict=True):
        for name in lowest:
            style: dict[str, Any] = {"linewidth": 1.8, "drawstyle": "steps-post"}  # a jump must not look like a slope
            (line,) = axis.plot(steps, highest[name], label=_label(name.removeprefix(f"{kind} of ")), **style)
            if not np.array_equal(lowest[name], highest[name]):
                axis.plot(steps, lowest[name], color=line.get_color(), **style)
                axis.fill_between(steps, lowest[name], highest[name], step="post", color=line.get_color(), alpha=0.2)
        axis.set_ylabel(kind)
        axis.grid(alpha=0.25)
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        if kind == "stage":
            axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes[-1].set_xlabel("step")
    if len(courses) > 1:
        open_ends = dict.fromkeys(each.component for each in _followers(reward) if each.component not in (means or {}))
        names = ", ".join(map(_label, open_ends))
        figure.suptitle(f"shaded: depends on the mean of {names}. Pass means= to draw one line", fontsize="medium")
    return figure


def _label(name: str) -> str:
    """Return `name` escaped for a legend, in which leading underscores and dollar signs have a special meaning."""
    escaped = name.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def _courses(
    reward: Reward | Schedule, scorer: Scorer | None, max_steps: int, means: Mapping[str, Sequence[float]]
) -> list[_Course]:
    """Return the schedules' course; if a mean that they follow is unknown, the lowest and the highest course."""
    followers = _followers(reward)
    driven = [follower for follower in followers if follower.component in means]
    open_ends = [follower for follower in followers if follower.component not in means]

    def course(settled: bool) -> _Course:
        pinned = {follower: follower.settled() if settled else follower.init() for follower in open_ends}
        states = [{**inside, **pinned} for inside in _states(driven, max_steps, means)]
        if scorer:
            return _course(scorer, max_steps, states)
        points = [Progress(step, max_steps, states=inside) for step, inside in enumerate(states)]
        return _Course({repr(reward): np.array([reward(point) for point in points])}, {})

    return [course(False), course(True)] if open_ends else [course(False)]
