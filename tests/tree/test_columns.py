"""A column is coerced at once: equal cells are read once, and an error names column, row and value."""

from __future__ import annotations

import inspect
import time as clock
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import BeforeValidator, PlainValidator

import rewardkit as rk
from rewardkit.errors import CoercionError
from rewardkit.tree.binding import coerce_column
from rewardkit.tree.coercion import Coercer, coerce


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


def test_texts_are_remembered_from_one_call_to_the_next_only_on_request() -> None:
    seen: list[Any] = []

    def spy(value: object) -> int:
        seen.append(value)
        if value == "broken":
            raise ValueError("broken")
        return len(str(value))

    coercer = Coercer.of(Annotated[int, PlainValidator(spy)])
    for _ in range(2):
        assert coerce_column(coercer, ["a", "bb"], "answer", range(2)) == [1, 2]
    assert seen == ["a", "bb"] * 2
    seen.clear()
    long = "x" * 1_000
    for _ in range(2):
        assert coerce_column(coercer, ["a", 7.0, long, "bb"], "answer", range(4), remembers=True)[3] == 2
        with pytest.raises(CoercionError, match="row 0: 'broken'"):
            coerce_column(coercer, ["broken"], "answer", [0], remembers=True)
    assert seen == ["a", 7.0, long, "bb", "broken", 7.0, long, "broken"]


def test_what_can_be_changed_is_never_remembered() -> None:
    coercer = Coercer.of(Annotated[list[int], BeforeValidator(lambda text: [len(text)])])
    for _ in range(2):
        (read,) = coerce_column(coercer, ["abc"], "answer", [0], remembers=True)
        assert read == [3]
        read.append(4)


def test_the_memory_of_a_column_is_bounded() -> None:
    coercer = Coercer.of(Annotated[int, BeforeValidator(len)])
    for start in range(0, 20_000, 1_000):
        texts = ["x" * (number % 400) + str(number) for number in range(start, start + 1_000)]
        assert coerce_column(coercer, texts, "answer", range(1_000), remembers=True) == list(map(len, texts))
    assert len(coercer.remembered) <= 4_096


def test_column_reads_equal_numbers_of_one_type_once() -> None:
    seen: list[object] = []

    def spy(value: object) -> str:
        seen.append(value)
        return repr(value)

    values = [1, 1.0, True, 1, 0.0, -0.0, 1.0, 0.0]
    read = coerce_column(Coercer.of(Annotated[str, PlainValidator(spy)]), values, "answer", range(8))
    assert read == list(map(repr, values))
    assert list(map(repr, seen)) == ["1", "1.0", "True", "0.0", "-0.0"]


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


def test_a_float32_means_the_number_it_prints() -> None:
    assert coerce(np.float32(5.1), float) == 5.1
    assert coerce(np.float64(5.1), float) == 5.1


MISSING = [float("nan"), np.float64("nan"), np.float32("nan"), np.datetime64("NaT"), Decimal("nan"), Decimal("sNaN")]


class NAType:
    """What pandas calls the type of its NA, which has no truth value."""

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")

    def __repr__(self) -> str:
        return "<NA>"

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("missing", [*MISSING, NAType()], ids=lambda one: f"{type(one).__name__} {str(one)[:4]}")
def test_missing_values_are_none(missing: Any) -> None:
    for annotation in (float, str, int, float | None, list[int], Any, inspect.Parameter.empty):
        present: Any = "1" if annotation in (str, Any) else ["1"] if annotation == list[int] else 1
        found = coerce_column(Coercer.of(annotation), [present, missing, None], "answer", [0, 1, 2])
        assert found[1:] == [None, None]
        assert found[0] is not None

    @rk.reward
    def needs(completion: str, answer: float) -> float:
        return float(answer == 1.0)

    @rk.reward
    def copes(completion: str, answer: float | None) -> float:
        return float(answer is None)

    table = rk.score(needs + copes + rk.number("answer"), ["1", "1"], answer=[1.0, missing])
    assert table.outcomes["needs"].tolist() == table.outcomes["number"].tolist() == ["scored", "abstained"]
    assert table["copes"].tolist() == [0.0, 1.0]


def test_a_gold_answer_that_says_nan_is_no_number() -> None:
    for gold in ("nan", "NaN", "-nan"):
        with pytest.raises(rk.errors.CoercionError, match="row 0"):
            rk.score(rk.number("answer"), ["nan"], answer=[gold])
        with pytest.raises(rk.errors.CoercionError):
            coerce_column(Coercer.of(float), [gold], "answer", [0])
