"""Laws of coercion: values round-trip, text raises only CoercionError, and hostile text takes linear time."""

from __future__ import annotations

import json
import time as clock
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pydantic import (
    BeforeValidator,
    Field,
)

from rewardkit.errors import CoercionError
from rewardkit.tree.coercion import coerce
from tests.tree.annotations import Color, Hashed, Invoice, Level, Movie, Pair, Point, after_hashes

TARGETS: list[Any] = [
    str, int, float, bool, Decimal, date, datetime, time, timedelta, UUID, bytes, Path, complex, None,
    Literal["a", 1, None], Color, Level, int | None, str | None, Color | None, int | str | None,
    int | float | list[int], list, dict, set, tuple, list[Any], list[str], dict[str, Any], dict[int, float],
    set[int], tuple[int, ...], Invoice, Point, Pair, Movie, Hashed, Hashed | None,
    Annotated[int, Field(gt=0)], Annotated[list[int], Field(min_length=1)],
    Annotated[Decimal, BeforeValidator(after_hashes)],
]  # fmt: skip

# Pieces of JSON and Python that reach the parsers more often than arbitrary text does.
LOOKALIKES = st.lists(
    st.sampled_from([
        *"[]{}(),:-+.'\"\\ \n\t019eEu", "None", "null", "true", "True", "nan", "NaN", "set()", "'a'", '"a"',
        "1e5", "\\u", "\\x", "\\N", "####", "2024-02-29", "T12:00", "_", "\x00", "\ud800", "٣",
    ]),
    max_size=20,
).map("".join)  # fmt: skip
PLAIN_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | PLAIN_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PLAIN_TEXT, inner, max_size=4),
    max_leaves=20,
)
LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
        | st.tuples(inner, inner)
        | st.sets(st.text() | st.integers(), max_size=4)
    ),
    max_leaves=20,
)


def same(left: object, right: object) -> bool:
    """Equal, and of equal types all the way down (True is not 1, 1 is not 1.0)."""
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return type(left) is type(right) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return type(left) is type(right) and left == right


@given(st.integers(-(10**900), 10**900))
def test_integers_round_trip(number: int) -> None:
    assert same(coerce(str(number), int), number)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_round_trip(number: float) -> None:
    assert same(coerce(str(number), float), number)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=Decimal(-10) ** 299, max_value=Decimal(10) ** 300))
def test_decimals_round_trip(number: Decimal) -> None:
    assert same(coerce(str(number), Decimal), number)


@given(st.booleans())
def test_booleans_round_trip(flag: bool) -> None:
    assert coerce(str(flag), bool) is coerce(str(int(flag)), bool) is flag


@given(st.dates())
def test_dates_round_trip(day: date) -> None:
    assert coerce(day.isoformat(), date) == day


@given(st.datetimes())
def test_datetimes_round_trip(moment: datetime) -> None:
    assert coerce(moment.isoformat(), datetime) == moment


@given(st.lists(PLAIN_JSON, max_size=5), st.dictionaries(PLAIN_TEXT, PLAIN_JSON, max_size=5))
def test_json_round_trips(values: list[Any], mapping: dict[str, Any]) -> None:
    assert same(coerce(json.dumps(values), list), values)
    assert same(coerce(json.dumps(mapping, ensure_ascii=False), dict), mapping)


@given(st.lists(LITERALS, max_size=5), st.dictionaries(st.text(), LITERALS, max_size=4), st.sets(st.text()))
def test_literals_round_trip(values: list[Any], mapping: dict[str, Any], texts: set[str]) -> None:
    assert coerce(repr(values), list[Any]) == values
    assert coerce(repr(tuple(values)), tuple[Any, ...]) == tuple(values)
    assert coerce(repr(mapping), dict[str, Any]) == mapping
    assert coerce(repr(texts), set[str]) == texts


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.text() | LOOKALIKES, st.sampled_from(TARGETS))
def test_text_raises_only_coercion_error_and_results_stay(text: str, annotation: Any) -> None:
    try:
        result = coerce(text, annotation)
    except CoercionError:
        return
    assert same(coerce(result, annotation), result)


@given(LITERALS | st.floats(), st.sampled_from(TARGETS))
def test_values_raise_only_coercion_error_and_results_stay(value: object, annotation: Any) -> None:
    try:
        result = coerce(value, annotation)
    except CoercionError:
        return
    assert same(coerce(result, annotation), result) or "nan" in repr(result)


@given(st.data())
@pytest.mark.parametrize(
    "annotation",
    [str, int, float, bool, Decimal, date, datetime, time, timedelta, UUID, bytes, Color, int | None, Pair,
     list[int], dict[str, float], set[int], tuple[int, str], int | str, Movie, Point],
)  # fmt: skip
def test_right_values_pass_untouched(annotation: Any, data: st.DataObject) -> None:
    finite = {float: st.floats(allow_nan=False), Decimal: st.decimals(allow_nan=False, allow_infinity=False)}
    value = data.draw(finite.get(annotation, st.from_type(annotation)))
    if "nan" not in repr(value):
        assert same(coerce(value, annotation), value)


# --- Hostile text takes linear time

LONG = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        *(mark * LONG for mark in "[{(9- \"'\\e\x00\ud800"), "[]" * (LONG // 2), '"' + '\\"' * (LONG // 2),
        "'" + "\\'" * (LONG // 2), "[" + '"\\"' * (LONG // 3), "[" + "9" * (LONG - 2) + "]",
        "[" + "1," * (LONG // 2 - 2) + "1]", '["' + "\\u0041" * (LONG // 7) + '"]', "1." + "0" * LONG,
        "1e" + "9" * LONG, "{" + '"a":{' * (LONG // 6), "[" * 64 + "9" * 50_000, "['" + "\\'" * 49_000,
        "[" + "-" * 90_000, "[" + "'a'" * 30_000, "[" + "{}," * 30_000 + "]", "(" * 64 + ")" * 64,
        "{1:" * 64 + "1" + "}" * 64,
    ],
    ids=lambda text: f"{text[:4]}~{len(text)}",
)  # fmt: skip
def test_hostile_text_is_cheap(text: str) -> None:
    for annotation in (
        str,
        int,
        bool,
        datetime,
        bytes,
        list[int],
        Invoice,
        Color,
        Hashed,
        int | float | None,
    ):
        started = clock.process_time()
        with suppress(CoercionError):
            coerce(text, annotation)
        assert clock.process_time() - started < 5  # of CPU: others may use the machine
