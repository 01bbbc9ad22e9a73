"""Schedules by performance, compared with a naive implementation."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.progress import states as kept
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import PerformanceSchedule
from rewardkit.schedules import track, when_reached

wrong: Any = rk.schedules
"""The same functions, for calls that a type checker refuses too."""


@rk.reward
def tags_right(completion: str) -> float:
    return 1.0


def follower(schedule: rk.schedules.Schedule) -> PerformanceSchedule:
    assert isinstance(schedule, PerformanceSchedule)
    return schedule


def course(schedule: rk.schedules.Schedule, means: Sequence[float | None]) -> list[float]:
    """Return the value after each batch; None for a batch in which the component was not scored."""
    one = follower(schedule)
    state, values = one.init(), []
    for mean in means:
        state = one.update(state, {} if mean is None else {one.component: mean})
        values.append(one.value(state))
    return values


@pytest.mark.parametrize(
    ("schedule", "means", "values"),
    [
        (when_reached("a", 0.5, 2), [1.0, 1.0, 0.0, 0.0], [0, 1, 1, 1]),
        (when_reached("a", 0.5, 2), [0.4, 0.6, 0.0], [0, 1, 1]),
        (when_reached("a", 0.5, 2), [1.0, None, None, 0.2], [0, 0, 0, 1]),
        (when_reached("a", 0.5, 1, patience=3), [1, 1, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1]),
        (when_reached("a", 0.5, 1, fall_back=0.3), [0.5, 0.4, 0.3, 0.2, 0.4, 0.5], [1, 1, 1, 0, 0, 1]),
        (when_reached("a", 0.5, 2, fall_back=0.3), [1.0, 1.0, 0.0, 0.0, 0.0], [0, 1, 1, 0, 0]),
        (when_reached("a", 0.5, 1, over=4), [1, 1, 1, 1, 1], [0.25, 0.5, 0.75, 1, 1]),
        (when_reached("a", 0.5, 1, over=4, fall_back=0.3), [1, 1, 0, 0, 0, 1], [0.25, 0.5, 0.25, 0, 0, 0.25]),
        (when_reached("a", 0.9, 1), [0.9 - 2e-10], [1]),
        (when_reached("a", 0.9, 1), [0.9 - 2e-9], [0]),
        (when_reached("a", -1.0, 1), [-2.0, -1.0], [0, 1]),
        (track("a"), [0.25, 0.25, 0.25], [0.25, 0.25, 0.25]),
        (track("a", 0.5, 1.0), [0.5, None], [0, 0]),
        (track("a", half_life=1.0), [1.0, 0.0, 0.0], [1, 1 / 3, 1 / 7]),
        (track("a", half_life=1e-9), [1.0, 0.25, 0.75], [1, 0.25, 0.75]),
        (track("a", -1.0, 1.0), [0.0, -5.0], [0.5, 0]),
        (track("a", 0.0, 5e-324), [1.0], [1]),
    ],
)
def test_courses(schedule: rk.schedules.Schedule, means: list[float | None], values: list[float]) -> None:
    assert course(schedule, means) == pytest.approx(values)


def naive(
    means: Sequence[float | None], *, level: float, window: int, patience: int, fall_back: float | None, over: int
) -> list[float]:
    """`when_reached`, computed from all earlier batches after each batch."""
    seen: list[float] = []
    way, reached, values = 0, False, []
    holds: list[bool] = []
    for mean in means:
        if mean is not None:
            seen.append(mean)
            full = len(seen) >= window
            average = math.fsum(seen[-window:]) / window
            holds.append(full and average >= level - 1e-9)
            if len(holds) >= patience and all(holds[-patience:]):
                reached = True
            if fall_back is not None and full and average < fall_back - 1e-9:
                reached = False
            way = min(way + 1, over) if reached else max(way - 1, 0)
        values.append(way / over)
    return values


sequences = st.lists(st.none() | st.sampled_from([0.0, 0.25, 0.5, 0.625, 0.75, 1.0]), max_size=40)


@given(
    sequences,
    st.sampled_from([0.5, 0.625, 0.9]),
    st.integers(1, 5),
    st.integers(1, 4),
    st.none() | st.sampled_from([0.0, 0.3, 0.49]),
    st.integers(1, 7),
)
def test_reached_equals_a_naive_implementation(
    means: list[float | None], level: float, window: int, patience: int, fall_back: float | None, over: int
) -> None:
    options: dict[str, Any] = {"patience": patience, "fall_back": fall_back, "over": over}
    values = course(when_reached("a", level, window, **options), means)
    assert values == naive(means, level=level, window=window, **options)
    assert all(0.0 <= value <= 1.0 for value in values)
    if fall_back is None:
        assert values == sorted(values)


@given(sequences, st.floats(0.1, 20.0))
def test_tracking_is_an_average_that_forgets_by_halves(means: list[float | None], half_life: float) -> None:
    seen = [mean for mean in means if mean is not None]
    values = course(track("a", half_life=half_life), means)
    if seen:
        weights = [0.5 ** (age / half_life) for age in range(len(seen))][::-1]
        average = sum(weight * mean for weight, mean in zip(weights, seen, strict=True)) / sum(weights)
        assert values[-1] == pytest.approx(average)
    elif values:
        assert values[-1] == 0.0


followers = st.sampled_from(
    [
        when_reached("a", 0.5, 3),
        when_reached("a", 0.5, 2, patience=2, fall_back=0.3, over=3),
        track("a", 0.2, 0.8, half_life=3.0),
    ]
)


@given(followers, sequences, sequences)
def test_a_state_that_went_through_json_goes_on_as_if_nothing_had_happened(
    schedule: rk.schedules.Schedule, before: list[float | None], after: list[float | None]
) -> None:
    def batches(states: kept.States, means: Sequence[float | None]) -> kept.States:
        for mean in means:
            states = kept.advanced(states, {} if mean is None else {"a": mean})
        return states

    start = kept.initial([follower(schedule)])
    straight = batches(start, [*before, *after])
    loaded = json.loads(json.dumps(kept.saved(batches(start, before))))
    assert batches(kept.restored(start, loaded), after) == straight


@pytest.mark.parametrize("over", range(1, 200))
def test_moving_over_many_batches_arrives_exactly_and_returns_exactly(over: int) -> None:
    values = course(when_reached("a", 0.5, 1, over=over, fall_back=0.1), [1.0] * over + [0.0] * over)
    assert values[over - 1] == 1.0
    assert over == 1 or values[over - 2] < 1.0
    assert values[-1] == 0.0


@given(followers, st.integers(0, 10**12), st.integers(1, 10**6))
def test_evaluation_counts_as_reached_and_training_begins_with_nothing(
    schedule: rk.schedules.Schedule, step: int, max_steps: int
) -> None:
    assert schedule() == schedule(None) == schedule.end_value == 1.0
    assert schedule(Progress(step, max_steps, training=False)) == 1.0
    assert schedule(Progress(step, max_steps)) == 0.0


def test_an_update_leaves_the_state_that_it_was_given_alone() -> None:
    schedule = follower(when_reached("a", 0.5, 2))
    first = schedule.init()
    second = schedule.update(first, {"a": 1.0})
    schedule.update(second, {"a": 1.0})
    assert first == schedule.init()
    assert second["recent"] == [1.0]


@pytest.mark.parametrize(
    "schedule",
    [
        when_reached("a"),
        when_reached("a", 0.5, 3, patience=2, fall_back=0.25, over=4),
        track("a"),
        track("a", 0.25, 0.75, half_life=3.0),
    ],
)
def test_schedules_are_values_whose_repr_is_their_expression(schedule: rk.schedules.Schedule) -> None:
    again = pickle.loads(pickle.dumps(schedule))
    assert again == schedule
    assert hash(again) == hash(schedule)
    assert eval(repr(schedule), vars(rk.schedules)) == schedule
    assert schedule.bounds == (0.0, 1.0)


def test_the_reward_itself_names_the_component() -> None:
    assert when_reached(tags_right) == when_reached("tags_right")
    assert track(rk.product(tags_right, tags_right).named("both")) == track("both")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: when_reached(3), r"component must be .*got 3"),
        (lambda: when_reached(""), "component must be"),
        (lambda: when_reached(0.5 * tags_right), "component must be"),
        (lambda: when_reached(rk.product(tags_right, tags_right)), r"may be called 'product'.*\.named"),
        (lambda: track(None), "track: component must be"),
        (lambda: when_reached("a", level=math.nan), "when_reached: level must be finite"),
        (lambda: wrong.when_reached("a", level="high"), "when_reached: level must be a number"),
        (lambda: when_reached("a", window=0), r"when_reached: window must be .*, got 0"),
        (lambda: wrong.when_reached("a", window=2.0), "window must be a number of batches"),
        (lambda: when_reached("a", window=True), "window must be a number of batches"),
        (lambda: when_reached("a", patience=0), "when_reached: patience must be a number of batches"),
        (lambda: when_reached("a", over=-1), "when_reached: over must be a number of batches"),
        (lambda: when_reached("a", 0.5, fall_back=0.5), "fall_back=0.5 must be below level=0.5"),
        (lambda: track("a", 0.5, 0.5), "low=0.5 must be below high=0.5"),
        (lambda: track("a", half_life=0), "half_life must be a number of batches greater than 0"),
        (lambda: track("a", half_life=math.inf), "half_life must be finite"),
    ],
)
def test_invalid_arguments_are_refused(build: Any, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        build()
