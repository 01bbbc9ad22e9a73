"""What ``coerce`` accepts and refuses; hostile text costs little and raises CoercionError alone."""

from __future__ import annotations

import json
import math
import pickle
import time as clock
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, NoReturn, Optional, Union
from uuid import UUID

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    Json,
    PlainValidator,
    RootModel,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from typing_extensions import TypeAliasType, TypedDict

from rewardkit.core.errors import CoercionError, RewardDefinitionError
from rewardkit.core.text.literals import DEPTH
from rewardkit.core.tree.coercion import Coercer, coerce, coerce_column


class Color(Enum):
    RED = "red"
    SEVEN = 7


class Level(IntEnum):
    LOW = 1


class Word(str, Enum):
    NONE = "None"


class Invoice(BaseModel):
    total: Decimal
    tags: set[str] = set()


@dataclass
class Point:
    x: float
    seen: frozenset[int] = frozenset()


class Pair(NamedTuple):
    left: int
    right: str


class Movie(TypedDict):
    name: str
    year: int


class Unfinished(BaseModel):
    other: NotYetThere  # type: ignore[name-defined]  # noqa: F821


class Fraction(BaseModel):
    """A model that parses its own text."""

    numerator: int
    denominator: int

    @model_validator(mode="before")
    @classmethod
    def split(cls, data: Any) -> Any:
        if isinstance(data, str) and "/" in data:
            numerator, denominator = data.split("/")
            return {"numerator": int(numerator), "denominator": int(denominator)}
        return data


def after_hashes(text: str) -> str:
    return text.split("####")[-1].strip().replace(",", "")


def doubled(value: int) -> int:
    return value * 2


def wrapped(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    return handler(value.removeprefix("$"))


class Percent:
    """Foreign metadata that builds its own schema."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core import core_schema

        def parse(value: Any) -> Any:
            return float(value.removesuffix("%")) / 100 if isinstance(value, str) else value

        return core_schema.no_info_before_validator_function(parse, handler(source))


Hashed = Annotated[float, BeforeValidator(after_hashes)]
Money = NewType("Money", Decimal)
Alias = TypeAliasType("Alias", Annotated[int, Field(gt=0)])

ACCEPTED: list[tuple[Any, object, object]] = [
    # text stays text
    (str, "42", "42"),
    (str, "", ""),
    (str, "\ud800", "\ud800"),
    (Annotated[str, Field(max_length=3)], "abc", "abc"),
    (str, np.str_("a"), "a"),
    # int
    (int, "42", 42),
    (int, "+42", 42),
    (int, " -42\n", -42),
    (int, "007", 7),
    (int, "42.000", 42),
    (int, "9" * 400, int("9" * 400)),
    (int, 3.0, 3),
    (int, -0.0, 0),
    (int, Decimal("3.0"), 3),
    (int, np.int32(3), 3),
    (int, np.float64(3.0), 3),
    (int, np.array(3), 3),
    # float
    (float, "42", 42.0),
    (float, ".5", 0.5),
    (float, "5.", 5.0),
    (float, " -1.5E-3 ", -0.0015),
    (float, "1e-999", 0.0),
    (float, 3, 3.0),
    (float, Decimal("0.1"), 0.1),
    (float, np.float32(0.5), 0.5),
    # Decimal
    (Decimal, "0.10", Decimal("0.10")),
    (Decimal, "1e3", Decimal("1e3")),
    (Decimal, 0.1, Decimal("0.1")),
    (Decimal, 10**30, Decimal(10**30)),
    (Money, "3.50", Decimal("3.50")),
    # bool
    *((bool, text, True) for text in ("true", "True", "YES", "on", "t", "y", "1", " true ")),
    *((bool, text, False) for text in ("false", "False", "no", "OFF", "f", "n", "0")),
    (bool, 1, True),
    (bool, 0.0, False),
    (bool, np.True_, True),
    # ISO text
    (date, " 2024-02-29 ", date(2024, 2, 29)),
    (datetime, "2024-02-29T12:00:00Z", datetime(2024, 2, 29, 12, tzinfo=timezone.utc)),
    (datetime, "2024-02-29 12:00", datetime(2024, 2, 29, 12)),
    (time, "12:30", time(12, 30)),
    (timedelta, "P1DT2H", timedelta(days=1, hours=2)),
    (UUID, "12345678123456781234567812345678", UUID("12345678123456781234567812345678")),
    # Literal and Enum: the text itself, then its JSON value
    (Literal["a", "1"], "1", "1"),
    (Literal[1, 2], "2", 2),
    (Literal[True], "True", True),
    (Color, "red", Color.RED),
    (Color, "7", Color.SEVEN),
    (Color, 7, Color.SEVEN),
    (Level, "1", Level.LOW),
    # None and unions
    (int | None, "5", 5),
    (int | None, None, None),
    (int | None, " null ", None),
    (list[int] | None, "None", None),
    (Path | None, "None", None),
    (str | None, "None", "None"),
    (str | None, "null", "null"),
    (Literal["None"] | None, "None", "None"),
    (Word | None, "None", Word.NONE),
    (int | None, 3.0, 3),
    (Annotated[int | None, Field(gt=0)], "null", None),
    (Annotated[int | None, Field(gt=0)], "5", 5),
    (None, "null", None),
    (int | str, "5", "5"),
    (Optional[int], "None", None),  # noqa: UP045
    (Union[int, str], "5", "5"),  # noqa: UP007
    (int | float, "5", 5),
    (int | float, "5.5", 5.5),
    (int | float | None, "None", None),
    (bool | float, "True", True),
    (int | list[int], "[1]", [1]),
    (datetime | int, "19723", 19723),
    (date | int, "2024-02-29", date(2024, 2, 29)),
    # containers from JSON
    (list[int], "[1, 2]", [1, 2]),
    (list[float], "[1, 2.5]", [1.0, 2.5]),
    (list[Decimal], '[0.1, "0.2"]', [Decimal("0.1"), Decimal("0.2")]),
    (list[date], '["2024-02-29"]', [date(2024, 2, 29)]),
    (list, '[1, "a", null]', [1, "a", None]),
    (dict, '{"a": {"b": 1}}', {"a": {"b": 1}}),
    (dict[int, str], '{"1": "a"}', {1: "a"}),
    (set[str], '["a", "a"]', {"a"}),
    (tuple[int, str], '[1, "a"]', (1, "a")),
    (tuple[int, ...], "[1, 2]", (1, 2)),
    (deque[int], "[1]", deque([1])),
    (Invoice, '{"total": "1.10", "tags": ["x"]}', Invoice(total=Decimal("1.10"), tags={"x"})),
    (Point, '{"x": 1, "seen": [1]}', Point(1.0, frozenset({1}))),
    (Pair, '[1, "b"]', Pair(1, "b")),
    (Fraction, "1/2", Fraction(numerator=1, denominator=2)),
    (Fraction, '{"numerator": 1, "denominator": 2}', Fraction(numerator=1, denominator=2)),
    (Movie, '{"name": "Alien", "year": 1979}', {"name": "Alien", "year": 1979}),
    (list, f"[{'[],' * 100}[]]", [[]] * 101),
    (list[str], '["[[[[", "\\"]"]', ["[[[[", '"]']),
    # containers from Python literals
    (list[str], "['a', \"b\", u'c']", ["a", "b", "c"]),
    (set[int], "{1, 2}", {1, 2}),
    (set[int], "set()", set()),
    (dict[str, bool], "{'a': True,}", {"a": True}),
    (dict[int, set[str]], "{1: {'a'}}", {1: {"a"}}),
    (tuple[int, str], "(1, 'a')", (1, "a")),
    (Point, "{'x': -1.5, 'seen': {1}}", Point(-1.5, frozenset({1}))),
    (list[str], r"['\d', '\n', '\\d', '\'']", ["\\d", "\n", "\\d", "'"]),
    # values that a reader such as Arrow has parsed already
    (set[str], ["a", "b"], {"a", "b"}),
    (tuple[int, ...], [1, 2], (1, 2)),
    (Point, {"x": 1.0, "seen": [1]}, Point(1.0, frozenset({1}))),
    (Invoice, {"total": 1.5, "tags": ["a"]}, Invoice(total=Decimal("1.5"), tags={"a"})),
    (list[float], np.array([1.0, 2.0]), [1.0, 2.0]),
    (list[list[int]], np.array([[1], [2]]), [[1], [2]]),
    # text as it stands
    (Path, "a/b", Path("a/b")),
    (bytes, "é", "é".encode()),
    (RootModel[str], "a", RootModel[str]("a")),
    # constraints and custom parsing
    (Annotated[int, Field(gt=0)], "5", 5),
    (Alias, "5", 5),
    (Annotated[int, AfterValidator(doubled)], "5", 10),
    (Annotated[list[int], Field(min_length=1)], "[1]", [1]),
    (Hashed, "so it is #### 1,234.5", 1234.5),
    (Hashed, 42.0, 42.0),
    (Hashed, 42, 42.0),
    (Hashed | None, "#### 5", 5.0),
    (Hashed | None, "null", None),
    (Annotated[float | None, BeforeValidator(after_hashes)], "#### None", None),
    (Annotated[bool, BeforeValidator(after_hashes)], "#### off", False),
    (Annotated[list[int], BeforeValidator(after_hashes)], "#### [7]", [7]),
    (Annotated[list[int], BeforeValidator(lambda text: text.split(";"))], "1;2", [1, 2]),
    (Annotated[int, WrapValidator(wrapped)], "$5", 5),
    (Annotated[int, PlainValidator(len)], "four", 4),
    (Annotated[np.ndarray, PlainValidator(np.asarray)], "[1]", np.asarray("[1]")),
    (Annotated[float, Percent()], "50%", 0.5),
    (Json[list[int]], "[1]", [1]),
]

REFUSED: list[tuple[Any, object, str]] = [
    (str, 42, "Annotate `int`"),
    (str, True, "Annotate `bool`"),
    (str, b"a", "Annotate `bytes`"),
    (str, None, r"None is not a str.* annotate `str \| None`"),
    *((int, text, "whole number")
      for text in ("", "3.5", "1_000", "1e3", "٣", "0x10", "4 2", "+-1", "1.", "²")),
    (int, "9" * 1001, "cannot have"),
    (int, 3.5, "Annotate `float`"),
    (int, math.inf, "whole number"),
    (int, Decimal("1e999999999"), "whole number"),
    (int, True, "valid integer"),
    (int, None, "None is not an int"),
    *((float, text, "plain number")
      for text in ("", "nan", "inf", "-Infinity", "1_0", "٣", "1,5", "$5", "1e", ".")),
    (float, "1e999", "not finite"),
    (float, "9" * 400, "not finite"),
    (float, True, "valid number"),
    (float, 10**400, "valid number"),
    (Decimal, "nan", "plain number"),
    (Decimal, "1e999", "not finite"),
    (Decimal, "1e-99999", "plain number"),
    (Decimal, math.nan, "finite"),
    (Decimal, True, "instance of Decimal"),
    *((bool, text, "true/false")
      for text in ("maybe", "", "2", "1.0", "None", "tru\N{CYRILLIC SMALL LETTER IE}")),
    (bool, 2, "valid boolean"),
    (bool, 0.5, "valid boolean"),
    (date, "19723", "valid date"),
    (date, 19723, "valid date"),
    *((datetime, text, "bare number") for text in ("19723", "1700000000.5", "-5", "1700")),
    (datetime, "yesterday", "datetime"),
    (time, "3600", "time"),
    (timedelta, "3600", "duration"),
    (UUID, "1234", "UUID"),
    (Literal["a", "b"], "c", r"is not a Literal\['a', 'b'\]: Input should be 'a' or 'b'"),
    (Color, "blue", "Input should be 'red' or 7"),
    (int | None, "x", "whole number"),
    (Annotated[int | None, Field(gt=0)], "-5", "greater than 0"),
    (int | float, "1_000", "neither JSON"),
    (int | float, "1e999", "not finite"),
    (list[int], "hello", "valid list|valid array"),
    (list[int], '["a"]', "0: Input should be a valid integer"),
    (list[int], "[1.0]", "valid integer"),
    (list[int], "1, 2", "no brackets"),
    (list[int], ["1"], "valid integer"),
    (dict[str, int], '{"a": 1, "a": 2}', "twice"),
    (dict[str, int], '{"a": 1, "\\u0061": 2}', "twice"),
    (dict[str, int], "{'a': 1, 'a': 2}", "twice"),
    *((list[float], text, "not finite") for text in ("[NaN]", "[-Infinity]", "[1e999]", f"[{'9' * 400}]")),
    (list[float], "[nan]", "not allowed"),
    (list[float], "[1e999,]", "not finite"),
    (dict[float, int], '{"nan": 1}', "not finite"),
    (list[Decimal], '["1e999999999"]', "not finite"),
    (list[int], "[" * (DEPTH + 1) + "]" * (DEPTH + 1), "nested"),
    (list[int], "(" * (DEPTH + 1) + ")" * (DEPTH + 1), "nested"),
    (list[int], f"[{'1,' * 600_000}1]", "1,000,000"),
    (list[int], f"({'1,' * 60_000})", "100,000"),
    *((list[Any], text, "neither JSON") for text in (
        "[print(1)]", "[f'a']", "['a' 'b']", "[x for x in 'a']", "[--1]", "[1-2]", "[1][0]", "['a'[0]]",
        "[[1](2)]", "[1 2]", "[1]]", "[(1]", "[0x10]", "[1_0]", "[1j]", "[lambda: 1]", "['a", "[None0]",
        "[set(1)]", "[*{}]", "[**{}]", "['\\1']", "['a'\n\\\n]", "['''a''']", "[Ellipsis]", "[...]",
        "{[]: 1}", "{1: 2, 3}", "[1 # a\n]",
    )),
    (list[str], '["\\ud800"]', "Invalid JSON"),
    (list[str], "['\\ud800\x00']", "null|nul"),
    (Invoice, '{"tags": []}', "total: Field required"),
    (Annotated[int, Field(gt=0)], "-5", "greater than 0"),
    (Annotated[int, Field(gt=0)], -5, "greater than 0"),
    (Hashed, "#### nan", "plain number"),
    (Hashed, "#### 1_000", "plain number"),
    (Hashed, "none", "plain number"),
    (Annotated[float, BeforeValidator(float)], "nan", "not finite"),
    (Annotated[list[float], BeforeValidator(lambda text: text.split(","))], "1,nan", "not finite"),
    (Annotated[float, Field(gt=0), BeforeValidator(after_hashes)], -5.0, "greater than 0"),
    (Annotated[bool, BeforeValidator(after_hashes)], "#### maybe", "true/false"),
    (Annotated[float, BeforeValidator(lambda text: text.missing)], "5", "AttributeError"),
    (Annotated[int, PlainValidator(lambda text: 1 // 0)], "5", "ZeroDivisionError"),
    (Annotated[float, Percent()], "x%", "could not convert"),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "value", "expected"), ACCEPTED)
def test_fits(annotation: Any, value: object, expected: Any) -> None:
    result = coerce(value, annotation)
    assert type(result) is type(expected)
    if isinstance(result, np.ndarray):
        np.testing.assert_array_equal(result, expected)
    else:
        assert result == expected


@pytest.mark.parametrize(("annotation", "value", "reason"), REFUSED)
def test_does_not_fit(annotation: Any, value: object, reason: str) -> None:
    with pytest.raises(CoercionError, match=reason) as caught:
        coerce(value, annotation)
    assert len(str(caught.value)) < 800


@pytest.mark.parametrize("annotation", [Any, object, None, Parameter.empty, int | None, Literal["a", None]])
def test_optional(annotation: Any) -> None:
    assert Coercer.of(annotation).optional
    assert coerce(None, annotation) is None


@pytest.mark.parametrize("annotation", [int, str, list[int], int | str, Literal["None"], Hashed, Invoice])
def test_not_optional(annotation: Any) -> None:
    assert not Coercer.of(annotation).optional
    with pytest.raises(CoercionError, match=r"None is not an? "):
        coerce(None, annotation)


def test_optional_sees_through_aliases() -> None:
    assert Coercer.of(Annotated[Annotated[int | None, "inner"] | str, "outer"]).optional
    assert Coercer.of(TypeAliasType("Maybe", int | None)).optional


@pytest.mark.parametrize("annotation", [Any, object, Parameter.empty])
def test_passes(annotation: Any) -> None:
    value = np.array([1.0])
    assert Coercer.of(annotation).passes
    assert coerce(value, annotation) is value
    assert not Coercer.of(str).passes


@pytest.mark.parametrize(
    ("annotation", "target"),
    [
        (int, "int"),
        (list[int], "list[int]"),
        (Hashed | None, "float | None"),
        (int | None, "int | None"),
        (Hashed, "float"),
        (Literal["a.b", 1], "Literal['a.b', 1]"),
        (Invoice, "Invoice"),
        (Money, "Decimal"),
        (dict[str, list[int]], "dict[str, list[int]]"),
    ],
)
def test_target(annotation: Any, target: str) -> None:
    assert Coercer.of(annotation).target == target


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        ("int", "Import it"),
        (list["NotYetThere"], "NotYetThere"),  # type: ignore[name-defined]  # noqa: F821
        (Unfinished, "Unfinished"),
        (np.ndarray, "PlainValidator"),
        (list[np.ndarray], "PlainValidator"),
        (5, "cannot be used"),
        (Iterable[str], "Annotate a list"),
        (Iterator, "Annotate a list"),
        (Annotated[np.ndarray, BeforeValidator(len)], "cannot be used"),
    ],
)
def test_impossible_annotation(annotation: Any, reason: str) -> None:
    with pytest.raises(RewardDefinitionError, match=reason):
        Coercer.of(annotation)


def test_compiled_once_and_pickled() -> None:
    assert Coercer.of(list[int]) is Coercer.of(list[int])
    assert Coercer.of(Literal[1]) is not Coercer.of(Literal[True])
    assert Coercer.of(Annotated[int, {"unit": "m"}])("5") == 5
    assert pickle.loads(pickle.dumps(Coercer.of(list[int]))) is Coercer.of(list[int])


def test_users_exception_is_the_cause() -> None:
    with pytest.raises(CoercionError) as caught:
        coerce("5", Annotated[int, PlainValidator(lambda text: 1 // 0)])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_many_misfits_are_counted() -> None:
    with pytest.raises(CoercionError, match=r"2: Input should be .*; 2 more problems\.$"):
        coerce("[1, 2, 3, 4, 5]", list[str])
    with pytest.raises(CoercionError, match=r"40,000 more problems\.$"):
        coerce(f"[{', '.join('1' * 40_000)}]", list[str])


def test_nested_value_beyond_the_recursion_limit() -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(CoercionError):
        coerce(nested, dict[str, Any])
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(CoercionError):
        coerce(cyclic, set[str])


class Hostile:
    """A value that fights back."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RecursionError


@pytest.mark.parametrize("annotation", [int, str, list[int], Invoice, int | None])
def test_hostile_object(annotation: Any) -> None:
    with pytest.raises(CoercionError):
        coerce(Hostile(), annotation)


def test_bad_escapes_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert coerce(r"['\d+\s', 'caf\xe9']", list[str]) == [r"\d+\s", "café"]


# --- Columns


def test_column_names_everything_in_its_error() -> None:
    with pytest.raises(CoercionError) as caught:
        coerce_column(Coercer.of(bool), ["yes", "maybe" * 100], "flag", [3, 8])
    message = str(caught.value)
    for part in ("column 'flag'", "row 8", "'maybemaybe", "(500 characters)", "a bool", "yes/no", "Fix"):
        assert part in message


def test_column_reads_equal_text_once() -> None:
    seen: list[str] = []

    def spy(text: str) -> int:
        seen.append(text)
        return len(text)

    coercer = Coercer.of(Annotated[int, PlainValidator(spy)])
    assert coerce_column(coercer, ["a", "bb", "a", None, "a"], "answer", range(5)) == [1, 2, 1, None, 1]
    assert seen == ["a", "bb"]


def test_column_keeps_numbers_and_text_apart() -> None:
    values = ["1", 1, True, 1.0, "1", None]
    assert coerce_column(Coercer.of(bool), values, "flag", range(6)) == [True] * 5 + [None]
    assert coerce_column(Coercer.of(int | str), ["1", 1, "1"], "flag", range(3)) == ["1", 1, "1"]


@pytest.mark.parametrize(
    ("annotation", "values"),
    [
        (str, ["a", "b"]),
        (float, [1.0, None]),
        (int | None, [1, None]),
        (date, [date(2024, 2, 29)]),
        (Any, [1, "a"]),
        (int, []),
    ],
)
def test_column_of_right_values_is_not_copied(annotation: Any, values: list[object]) -> None:
    assert coerce_column(Coercer.of(annotation), values, "answer", range(len(values))) is values
    assert coerce_column(Coercer.of(annotation), tuple(values), "answer", range(len(values))) == values


def test_column_of_right_values_is_fast() -> None:
    coercer, values, rows = Coercer.of(float), [float(number) for number in range(512)], range(512)
    started = clock.process_time()
    for _ in range(200):
        coerce_column(coercer, values, "answer", rows)
    assert (clock.process_time() - started) / (200 * 512) < 1e-6  # ten times the aim: machines are busy


# --- Laws

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


def test_a_float32_means_the_number_it_prints() -> None:
    assert coerce(np.float32(5.1), float) == 5.1
    assert coerce(np.float64(5.1), float) == 5.1
