"""Schedules as text: what is written is read back as an equal schedule, and nothing else is executed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit import schedules as s
from rewardkit.progress.schedule import Schedule, argument_text as written
from rewardkit_adapters.live.numbers import parse_weight

numbers = st.one_of(st.sampled_from([0.0, 1.0, -0.25, 1 / 3]), st.floats(-1e6, 1e6))
positive = st.floats(1e-3, 1e3)
places = st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)).map(sorted) | st.sampled_from(
    [[0, 10], [5, 100], [0, 0.5]]
)
points = st.lists(st.floats(0.01, 1.0), max_size=3, unique=True).map(lambda found: [0.0, *sorted(found)])


def _ramp(make: Any, initial: float, final: float, place: list[Any], **options: float) -> Schedule:
    made: Schedule = make(initial, final, start=place[0], end=place[1], **options)
    return made


leaves = st.one_of(
    st.builds(_ramp, st.sampled_from([s.linear, s.cosine]), numbers, numbers, places),
    st.builds(_ramp, st.just(s.polynomial), numbers, numbers, places, power=positive),
    st.builds(_ramp, st.just(s.sigmoid), numbers, numbers, places, steepness=positive),
    st.builds(_ramp, st.just(s.exponential), positive, positive, places),
    st.builds(s.constant, numbers),
    st.builds(
        lambda at, value, how: s.piecewise({place: value + place for place in at}, interpolation=how),
        points,
        numbers,
        st.sampled_from(["linear", "constant"]),
    ),
    st.builds(lambda at, over: s.after(at, over=over), st.floats(0.0, 1.0), st.floats(0.0, 1.0)),
    st.builds(s.warm_up, st.floats(0.01, 1.0), numbers),
    st.builds(
        lambda name, level, window, back, over: s.when_reached(
            name, level, window, fall_back=None if back is None else level - back, over=over
        ),
        st.text(min_size=1, max_size=8),
        st.floats(-1.0, 1.0),
        st.integers(1, 99),
        st.none() | positive,
        st.integers(1, 5),
    ),
    st.builds(lambda low, way, life: s.track('it\'s "x"', low, low + way, half_life=life), numbers, positive, positive),
)


def _grown(inner: st.SearchStrategy[Schedule]) -> st.SearchStrategy[Schedule]:
    return st.one_of(
        st.builds(lambda one, factor: one * factor, inner, numbers),
        st.builds(lambda one, other: one * other, inner, inner),
        st.builds(lambda one, other: one + other, inner, inner),
        st.builds(lambda number, one: number - one, numbers, inner),
        st.builds(lambda one, low, way: one.clip(low, low + way), inner, numbers, positive),
        st.builds(lambda at, one: s.join(dict.fromkeys(at, one)), points, inner),
        st.builds(lambda one, number: s.join({0: number, 7: one}), inner, numbers),
        st.builds(s.cycle, inner, st.floats(0.01, 1.0) | st.integers(2, 50)),
        st.builds(s.maximum, inner, inner),
        st.builds(s.minimum, inner, numbers),
        st.builds(s.delay, inner, st.floats(0.01, 1.0)),
    )


schedules = st.recursive(leaves, _grown, max_leaves=5)


@pytest.mark.slow
@given(schedules)
def test_what_is_written_is_read_back_as_an_equal_schedule(schedule: Schedule) -> None:
    text = written(schedule)
    if len(text) > 2_000:
        return
    again = parse_weight(text)
    assert again == (schedule.value if type(schedule).__name__ == "Constant" else schedule)  # type: ignore[attr-defined]
    assert written(again) == (text if isinstance(again, Schedule) else repr(again))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_its_own_text(number: float) -> None:
    assert parse_weight(written(number)) == number


@pytest.mark.parametrize(
    "text", ["linear(0, 1)", "rk.schedules.linear(0, 1)", "schedules.linear(0, 1)", " linear(0,1) "]
)
def test_schedules_are_written_as_in_code(text: str) -> None:
    assert parse_weight(text) == s.linear(0, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a number"),
        ("linear(", "not a number"),
        ("lineer(0, 1)", "Did you mean 'linear'"),
        ("linear(0, 1, ende=0.5)", "ende"),
        ("linear(0)", "final"),
        ("__import__('os').system('true')", "is not a schedule"),
        ("(1).__class__", "is not allowed"),
        ("linear.__globals__", "is not allowed"),
        ("[x for x in (1, 2)]", "is not allowed"),
        ("lambda: 1", "is not allowed"),
        ("open('x')", "is not a schedule"),
        ("2 ** 99999999", "is not allowed"),
        ("'a' * 99", "neither a number nor"),
        ("True + 1", "neither a number nor"),
        ("1e999", "finite"),
        ("'linear'", "must be a number"),
        ("linear(*[0, 1])", "is not allowed"),
        ("linear(**{'initial': 0})", "not allowed"),
        ("(1.5).clip(0, 1)", "no .clip()"),
        ("f'{1}'", "is not allowed"),
        ("-" * 500 + "1", "deep"),
        ("(" * 300 + "1" + ")" * 300, "not a number"),
        ("9" * 3000, "2,000"),
        ("linear(0, 1, end=1)", "1.0"),
    ],
)
def test_anything_else_is_refused(text: str, said: str) -> None:
    with pytest.raises(rk.RewardKitError, match=said.replace("(", r"\(").replace(")", r"\)")):
        parse_weight(text)
