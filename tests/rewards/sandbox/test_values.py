"""Values as JSON: a program may report plain values, but no objects with their own code."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from contextlib import suppress
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.rewards.sandbox.values import decode, encode

atoms = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
    | st.complex_numbers(allow_nan=False) | st.decimals(allow_nan=False) | st.fractions()
)  # fmt: skip
hashables = st.recursive(atoms, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5)
values = st.recursive(
    atoms | st.sets(hashables, max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner) | st.dictionaries(hashables, inner, max_size=3),
    max_leaves=10,
)


def through(value: Any) -> Any:
    return decode(json.loads(json.dumps(encode(value))))


@given(values)
def test_a_value_comes_through_as_it_was(value: Any) -> None:
    found = through(value)
    assert found == value
    assert type(found) is type(value)


def test_nothing_is_lost() -> None:
    numbers = [2**100_000, -(10**5_000), [1] * 10_000, -0.0, float("inf"), range(3, 9, 2)]
    for value in [*numbers, "\ud800", {1: [2]}.keys(), {1: 2}.items(), Counter("aab"), OrderedDict(b=1, a=2)]:
        assert through(value) == value
        assert type(through(value)) is type(value)
    assert list(through({1: 2}.values())) == [2]


def test_nan_stays_nan() -> None:
    assert through(float("nan")) != through(float("nan"))


class Level(IntEnum):
    LOW = 3


class Equal(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class EqualText(str):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Level.LOW, 3),
        (Point(1, 2), (1, 2)),
        (defaultdict(list, {1: [2]}), {1: [2]}),
        (bytearray(b"x"), b"x"),
        (Equal(3), 3),
        (EqualText("x"), "x"),
    ],
)
def test_a_subclass_comes_out_as_what_it_is_made_of(value: Any, plain: Any) -> None:
    assert through(value) == plain
    assert type(through(value)) is type(plain)


def test_what_compares_by_its_own_rules_does_not_get_through() -> None:
    class Anything:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    for value in (Anything(), [Anything()], {1: Anything()}, (x for x in [1]), print, Anything):
        with pytest.raises(TypeError, match="plain value"):
            encode(value)


@pytest.mark.parametrize(
    ("value", "kind"), [(deque([1]), deque), (Decimal("1.50"), Decimal), (Fraction(1, 3), Fraction)]
)
def test_other_types_of_the_standard_library(value: Any, kind: type) -> None:
    assert through(value) == value
    assert type(through(value)) is kind


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=10))
def test_what_encode_did_not_write_is_refused_or_plain(report: Any) -> None:
    with suppress(ValueError, TypeError, KeyError, ArithmeticError):
        decode(report)
