"""Schedules and stages that first change after the last step: exactly those are reported."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.progress.schedule import Schedule

STEPS = 10
places = st.integers(2, 3 * STEPS)


def ramp(start: int, length: int, rises: bool) -> Schedule:
    return rk.schedules.linear(0.0, float(rises), start=start, end=start + length)


def points(first: int, gaps: list[int], values: list[float], jumps: bool) -> Schedule:
    positions = [first + sum(gaps[:place]) for place in range(len(values))]
    return rk.schedules.piecewise(
        list(zip(positions, values, strict=True)), interpolation="constant" if jumps else "linear"
    )


def after(position: int, over: int) -> Schedule:
    return rk.schedules.after(position, over=over if over > 1 else 0)


simple = st.one_of(
    st.builds(ramp, places, st.integers(0, 9), st.booleans()),
    st.builds(after, places, st.integers(0, 9)),
    st.builds(
        points,
        places,
        st.lists(st.integers(1, 9), min_size=3, max_size=3),
        st.lists(st.sampled_from([0.0, 1.0]), min_size=3, max_size=3),
        st.booleans(),
    ),
)
any_schedule = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(lambda one, other: one + other, inner, inner),
        st.builds(lambda one, other: one * other, inner, inner),
        st.builds(lambda one: (1.0 - 2.0 * one).clip(-0.5, 0.5), inner),
        st.builds(lambda one, other: rk.schedules.maximum(one, other, 0.25), inner, inner),
        st.builds(lambda one, place: rk.schedules.delay(one, place), inner, places),
        st.builds(lambda one, place: rk.schedules.cycle(one, place), inner, places),
    ),
    max_leaves=3,
)


def moves(schedule: Schedule, last: int) -> bool:
    """Whether the value changes in steps 0 to `last`, exclusive."""
    values = [schedule(rk.Progress(step, STEPS)) for step in range(last)]
    return any(value != values[0] for value in values)


@given(simple)
def test_a_schedule_is_late_if_it_moves_but_not_in_training(schedule: Schedule) -> None:
    late = moves(schedule, 100) and not moves(schedule, STEPS)
    assert [found for found, _ in schedule.late(STEPS)] == [schedule] * late
    for _, step in schedule.late(STEPS):
        assert moves(schedule, step + 1)
        assert not moves(schedule, step)


@given(any_schedule)
def test_what_is_reported_never_moves_in_training(schedule: Schedule) -> None:
    for found, step in schedule.late(STEPS):
        assert step >= STEPS
        assert not moves(found, STEPS)


@rk.reward
def form(completion: str) -> float:
    return 1.0


@rk.reward
def right(completion: str) -> float:
    return 1.0


late = rk.schedules.linear(0.0, 1.0, start=500, end=800)


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (form + late * right, "the weight of 'right': linear(0, 1, start=500, end=800) first changes at step 501"),
        (form + 0.5 * (late * right), "first changes at step 501, but this training run has only 100 steps"),
        (rk.mean(form, right * late), "the weight of 'right'"),
        (rk.gate(form, right, threshold=late), "the threshold of 'form_gate'"),
        (rk.curriculum(rk.Stage("a", form, until=500), rk.Stage("b", right)), "stage 'a' ends at step 500"),
        (
            rk.curriculum(rk.Stage("a", form, until=rk.schedules.after(700)), rk.Stage("b", right)),
            "the end of stage 'a' of 'curriculum': after(700)",
        ),
        (rk.curriculum(rk.Stage("a", form + late * right, until=50), rk.Stage("b", right)), "the weight of 'right'"),
        (form + rk.schedules.maximum(late, rk.schedules.after(300)) * right, "first changes at step 300"),
    ],
    ids=lambda value: repr(value)[:40] if isinstance(value, rk.Reward) else "",
)
def test_a_late_change_is_named_with_its_step_and_the_length_of_the_training(reward: rk.Reward, said: str) -> None:
    (found,) = rk.Scorer(reward).late(100)
    assert said in found
    assert not rk.Scorer(reward).late(1000)


@pytest.mark.parametrize(
    "schedule",
    [
        rk.schedules.linear(0.0, 1.0, start=20, end=5000),
        rk.schedules.linear(0.0, 1.0, start=1.0, end=1.0),
        rk.schedules.when_reached("form", level=0.5),
        rk.schedules.maximum(rk.schedules.when_reached("form", level=0.5), rk.schedules.after(500)),
        rk.schedules.cycle(rk.schedules.linear(0.0, 1.0, start=500, end=800), period=1000),
        rk.schedules.join({0: rk.schedules.linear(0.0, 1.0), 500: 0.5}),
    ],
    ids=repr,
)
def test_what_moves_earlier_or_by_other_means_is_not_reported(schedule: Schedule) -> None:
    assert not rk.Scorer(form + schedule * right).late(100)
