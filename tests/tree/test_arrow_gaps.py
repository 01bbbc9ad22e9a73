"""Arrow gives every dict of a column the keys of all rows, with None: errors name that as the cause, and the fix."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pydantic
import pytest
from typing_extensions import TypedDict

import rewardkit as rk
from rewardkit.errors import CoercionError

datasets = pytest.importorskip("datasets")

CELLS = [{"sku": "a", "qty": 3}, {"name": "b"}]


class Line(TypedDict, total=False):
    sku: str
    qty: int
    name: str


class Strict(pydantic.BaseModel, extra="forbid"):
    sku: str = ""
    qty: int = 0


class Lenient(pydantic.BaseModel):
    name: str = ""


@dataclass
class Plain:
    sku: str = ""
    qty: int = 0
    name: str = ""


def stored(cells: list[Any]) -> list[Any]:
    """Return a column as a dataset returns it."""
    return list(datasets.Dataset.from_list([{"gold": cell} for cell in cells])["gold"])


def reading(kind: Any) -> rk.Reward:
    def reads(completion: str, gold: Any) -> float:
        return 1.0

    reads.__annotations__["gold"] = kind
    return rk.reward(reads)


READERS: list[tuple[Any, list[Any]]] = [
    (Line, CELLS),
    (Line | None, CELLS),
    (Lenient, CELLS),
    (Plain, CELLS),
    (Strict, [CELLS[0], {"other": 1}]),
    (dict[str, int], [{"a": 1}, {"b": 2}]),
    (dict[str, dict[str, int]], [{"x": {"a": 1}}, {"x": {"b": 2}}]),
    (list[Line], [[CELLS[0]], [CELLS[1]]]),
    (tuple[Plain, ...], [[CELLS[0]], [CELLS[1]]]),
]


@pytest.mark.parametrize(("kind", "cells"), READERS, ids=[str(kind) for kind, _ in READERS])
def test_an_error_names_the_gaps_and_the_advice_works(kind: Any, cells: list[Any]) -> None:
    with pytest.raises(CoercionError, match=r"'gold', row 0: .*Arrow.*json\.dumps"):
        rk.score(reading(kind), ["x"] * 2, gold=stored(cells))
    texts = [json.dumps(cell) for cell in cells]
    readable = texts[:1] if kind is Strict else texts
    assert rk.score(reading(kind), ["x"] * len(readable), gold=stored(readable)).total.tolist() == [1.0] * len(readable)


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        (Line, {"sku": 1, "qty": None}),
        (dict[str, int], {"a": "x", "b": None}),
        (list[int], [None]),
        (Line, '{"sku": null}'),
        (str, {"a": None}),
    ],
)
def test_another_fault_does_not_blame_arrow(kind: Any, cell: Any) -> None:
    with pytest.raises(CoercionError) as caught:
        rk.score(reading(kind), ["x"], gold=[cell])
    assert "Arrow" not in str(caught.value)


def test_a_schema_of_gaps_names_them() -> None:
    schemas = [{"dependentRequired": {"a": ["b"]}}, {"dependentRequired": {"c": ["b"]}}]
    with pytest.raises(CoercionError, match=r"Arrow.*json\.dumps"):
        rk.score(rk.json_schema(column="gold"), ["{}"] * 2, gold=stored(schemas))
    texts = list(map(json.dumps, schemas))
    assert rk.score(rk.json_schema(column="gold"), ["{}"] * 2, gold=texts).total.tolist() == [1.0, 1.0]


def test_the_note_of_a_match_names_the_gaps() -> None:
    texts = list(map(json.dumps, CELLS))
    reward = rk.json_match("gold")
    assert all("Arrow" in note for note in rk.score(reward, texts, gold=stored(CELLS)).notes["json_match"])
    assert rk.score(reward, texts, gold=texts).total.tolist() == [1.0, 1.0]
    for gold in ('{"a": null}', {"a": 1}, {"a": None, "b": 1}):  # text, no gap, and a gap that lowers nothing
        completion = '{"a": null}' if isinstance(gold, dict) and "b" in gold else '{"c": 1}'
        assert "Arrow" not in rk.score(reward, [completion], gold=[gold]).notes["json_match"][0]


def test_a_misnamed_argument_is_an_error_in_a_dataset_too() -> None:
    calls = [[{"name": "open", "arguments": {"a": 1}}], [{"name": "shut", "args": {"b": 1}}]]
    with pytest.raises(CoercionError, match="rename it to 'arguments'"):
        rk.score(rk.tool_calls("gold"), ["x"] * 2, gold=stored(calls))
