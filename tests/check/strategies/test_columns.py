"""Columns: cells fit their annotation, and mean the same as text."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import find, given, settings, strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

import rewardkit as rk
from rewardkit.check.variants import strategies

quick = settings(database=None)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Line(BaseModel):
    sku: str
    qty: int


class Pair(TypedDict):
    left: int
    right: str


KINDS: list[Any] = [
    str,
    int,
    float,
    bool,
    Decimal,
    date,
    list[int],
    set[str],
    tuple[int, str],
    dict[str, float],
    Literal["easy", "hard"],
    Color,
    Optional[int],  # noqa: UP045 - the older form is what is tested
    int | str,
    Line,
    Pair,
    list[Line],
    Annotated[int, Field(ge=0, le=9)],
    Any,
]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


@each_kind
def test_cells_are_taken(kind: Any) -> None:
    @quick
    @given(strategies.columns(kind))
    def check(cell: object) -> None:
        rk.coerce(cell, kind)

    check()


@each_kind
def test_written_cells_are_text_and_typed_ones_fit(kind: Any) -> None:
    @quick
    @given(strategies.columns(kind, written=True), strategies.columns(kind, written=False))
    def check(text: object, typed: object) -> None:
        assert isinstance(text, str)
        rk.coerce(text, kind)
        rk.coerce(typed, kind)

    check()


def test_a_bool_is_written_in_several_ways() -> None:
    assert find(strategies.columns(bool, written=True), lambda cell: cell == "no") == "no"


@rk.reward
def close(completion: str, answer: float, level: Literal["easy", "hard"]) -> float:
    return float(abs(answer) > 1 and level == "easy")


@quick
@given(strategies.rows(close), st.text())
def test_a_row_has_what_a_reward_reads(row: dict[str, Any], completion: str) -> None:
    assert set(row) == {"answer", "level"}
    columns: Any = {name: [cell] for name, cell in row.items()}
    assert 0.0 <= rk.score(close, [completion], **columns).total[0] <= 1.0


@quick
@given(strategies.rows(rk.number("answer"), given={"answer": "42"}))
def test_given_cells_stay(row: dict[str, Any]) -> None:
    assert row == {"answer": "42"}
