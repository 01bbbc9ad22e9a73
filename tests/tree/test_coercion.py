"""What ``coerce`` accepts and refuses; hostile text is cheap and raises only CoercionError."""

from __future__ import annotations

import math
import pickle
import re
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal, NewType, Optional, Union
from uuid import UUID

import numpy as np
import pandas
import pytest
import torch
from PIL import Image
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    Json,
    PlainValidator,
    RootModel,
    WrapValidator,
)
from typing_extensions import TypeAliasType

from rewardkit.errors import CoercionError, RewardDefinitionError
from rewardkit.text.literals import DEPTH
from rewardkit.tree.coercion import Coercer, coerce
from tests.tree.annotations import (
    Alias,
    Benzene,
    Box,
    Checked,
    Color,
    Fraction,
    Hashed,
    Holder,
    Hostile,
    Invoice,
    Level,
    Molecule,
    Money,
    Movie,
    Pair,
    Percent,
    Point,
    Unchecked,
    Unfinished,
    Word,
    after_hashes,
    doubled,
    wrapped,
)

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
    (bytes, b"b'ab'", b"b'ab'"),
    (bytes, "b'", b"b'"),
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
    (list[int], "[1.5]", "valid integer"),
    (list[int], "1, 2", "no brackets"),
    (list[int], ["1.5"], "valid integer"),
    (dict[str, int], '{"a": 1, "a": 2}', "twice"),
    (dict[str, int], '{"a": 1, "\\u0061": 2}', "twice"),
    (dict[str, int], "{'a': 1, 'a': 2}", "twice"),
    *((list[float], text, "not finite") for text in ("[NaN]", "[-Infinity]", "[1e999]", f"[{'9' * 400}]")),
    (list[float], "[nan]", "not allowed"),
    (list[float], "[1e999,]", "not finite"),
    (dict[float, int], '{"nan": 1}', "not finite"),
    (list[Decimal], '["1e999999999"]', "not finite"),
    *((kind, text, "no order") for kind, text in (
        (list[int], "{1, 2}"), (list[int], "set()"), (list[int], {1, 2}), (list[str], "{'a', 'b'}"),
        (list, frozenset("a")),
        (tuple[int, ...], "{1}"), (tuple[int, int], "{2, 1}"), (Sequence[int], "set()"), (list[int] | None, "set()"),
        (int | list[int], "{1}"), (list[list[int]], "[{1}]"), (list[list[date]], "[{'2020-01-01'}]"),
        (list[date], {"2020-01-01"}),
        (dict[str, list[int]], "{'a': {1}}"), (np.ndarray, "{1, 2}"),
        (np.ndarray, "set()"),
    )),
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


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Literal["yes", "no"], "Yes"),
        (Literal["yes", "no"], " YES "),
        (Literal["yes", "no"] | None, "yess"),
        (list[Literal["yes", "no"]], ["YES"]),
        (list[Literal["yes", "no"]], '["Yes"]'),
        (Literal["YES", "NO"], "yes"),
    ],
)
def test_a_misspelled_option_suggests_the_right_one(annotation: Any, value: object) -> None:
    with pytest.raises(CoercionError, match=r"(?i)Did you mean 'yes'\?") as refused:
        coerce(value, annotation)
    assert "JSON" not in str(refused.value)


@pytest.mark.parametrize(("annotation", "value"), [(Literal["yes", "no"], "perhaps"), (Literal[1, 2], "3")])
def test_other_texts_suggest_no_option(annotation: Any, value: object) -> None:
    with pytest.raises(CoercionError) as refused:
        coerce(value, annotation)
    assert "Did you mean" not in str(refused.value)


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
        (5, "cannot be used"),
        (Iterable[str], "Annotate the column as a list"),
        (Iterator, "Annotate the column as a list"),
        (len, "PlainValidator"),
        (list[5], "PlainValidator"),  # type: ignore[valid-type]
        (Unchecked, "runtime_checkable"),
        (Holder, "schema for <class '.*Molecule'>. Use"),
    ],
)
def test_impossible_annotation(annotation: Any, reason: str) -> None:
    with pytest.raises(RewardDefinitionError, match=reason) as raised:
        Coercer.of(annotation)
    assert "arbitrary_types_allowed" not in str(raised.value)


MOLECULE, SUBCLASS, IMAGE, TENSOR = Molecule(), Benzene(), Image.new("RGB", (3, 2)), torch.zeros(2)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Molecule, MOLECULE),
        (Molecule, SUBCLASS),
        (Molecule | None, MOLECULE),
        (Molecule | str, MOLECULE),
        (Molecule | str, "C6H6"),
        (NewType("Alkane", Molecule), MOLECULE),
        (Annotated[Molecule, AfterValidator(lambda molecule: molecule)], MOLECULE),
        (Checked, MOLECULE),
        (Box, Box()),
        (Box[int], Box()),
        (Image.Image, IMAGE),
        (Image.Image | None, IMAGE),
        (torch.Tensor, TENSOR),
        (torch.Tensor | None, TENSOR),
        (torch.Tensor | str, TENSOR),
        (Annotated[torch.Tensor, AfterValidator(lambda tensor: tensor)], TENSOR),
        (np.float32, np.float32(0.5)),
        (pandas.DataFrame, pandas.DataFrame({"a": [1]})),
        (pandas.Series, pandas.Series([1])),
        (Exception, ValueError("a")),
    ],
)
def test_instances_of_any_class_pass_unchanged(annotation: Any, value: object) -> None:
    assert coerce(value, annotation) is value


def test_containers_of_any_class() -> None:
    assert coerce([IMAGE, IMAGE], list[Image.Image]) == [IMAGE, IMAGE]
    assert coerce({"a": MOLECULE}, dict[str, Molecule]) == {"a": MOLECULE}
    assert coerce([TENSOR], list[torch.Tensor])[0] is TENSOR
    assert [array.tolist() for array in coerce("[[1, 2], [3]]", list[np.ndarray])] == [[1, 2], [3]]
    assert isinstance(coerce("C6H6", Annotated[Molecule, BeforeValidator(Molecule)]), Molecule)


@pytest.mark.parametrize(
    ("annotation", "value", "reason"),
    [
        (Image.Image, "a.png", "'a.png' is not an Image: Input should be an instance of Image."),
        (Image.Image, None, "None is not an Image: to allow it, annotate `Image | None`."),
        (Image.Image | None, b"x", "b'x' is not an Image | None: Input should be an instance of Image."),
        (Benzene, MOLECULE, " is not a Benzene: Input should be an instance of Benzene."),
        (torch.Tensor, [1, 2], "[1, 2] is not a Tensor: Input should be an instance of Tensor."),
        (list[Molecule], ["a"], "0: it must be an instance of the class."),
        (Molecule | str, 3, "is-instance[Molecule]: it must be an instance of the class"),
    ],
)
def test_other_values_are_not_instances(annotation: Any, value: object, reason: str) -> None:
    with pytest.raises(CoercionError, match=re.escape(reason)):
        coerce(value, annotation)


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


@pytest.mark.parametrize("annotation", [int, str, list[int], Invoice, int | None])
def test_hostile_object(annotation: Any) -> None:
    with pytest.raises(CoercionError):
        coerce(Hostile(), annotation)


def test_bad_escapes_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert coerce(r"['\d+\s', 'caf\xe9']", list[str]) == [r"\d+\s", "café"]
