"""Any cell becomes JSON; a cell that cannot be written does not affect the others."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.record.cells import Cells, as_json

anything = st.text(st.characters(exclude_categories=()))


class Hostile:
    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error or ValueError("no")

    def __repr__(self) -> str:
        raise self.error


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything | st.binary() | st.dates() | st.builds(Hostile),
    lambda inner: st.lists(inner) | st.dictionaries(anything | st.integers(), inner) | st.tuples(inner),
    max_leaves=8,
)
integers = st.dictionaries(st.integers() | st.integers().map(str) | st.booleans(), st.integers())


@given(plain)
def test_any_cell_becomes_json(value: Any) -> None:
    json.loads(as_json(value), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_unwritable_values_are_replaced() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    cells = {"loop": loop, "bad": [Hostile(), 2], "exit": Hostile(SystemExit()), "answer": 4}
    assert json.loads(as_json(cells)) == {
        "loop": [1, "<list that contains itself>"],
        "bad": ["<Hostile that could not be written>", 2],
        "exit": "<Hostile that could not be written>",
        "answer": 4,
    }


def test_an_interrupt_is_raised() -> None:
    with pytest.raises(KeyboardInterrupt):
        as_json([Hostile(KeyboardInterrupt())])


def test_huge_integers_are_hexadecimal() -> None:
    assert json.loads(as_json([10**5000, 7])) == [hex(10**5000), 7]


@pytest.mark.slow
def test_only_values_nested_too_deeply_are_replaced() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    found = json.loads(as_json({"deep": deep, "answer": 4}))
    assert found["answer"] == 4
    assert "<list below 100 others>" in str(found["deep"])


def test_a_repeated_value_is_not_a_cycle() -> None:
    shared = [1]
    assert as_json([shared, shared]) == "[[1], [1]]"


def test_keys_with_the_same_text_stay_distinct() -> None:
    assert json.loads(as_json({1: "a", "1": "b", "1 (int)": "c"})) == {"1 (int) 2": "a", "1": "b", "1 (int)": "c"}


@given(integers)
def test_no_key_is_lost(items: dict[Any, int]) -> None:
    assert list(json.loads(as_json(items)).values()) == list(items.values())


def test_numpy_scalars_are_python_values() -> None:
    scalars = [np.float32(0.5), np.int64(7), np.bool_(True), np.float64("nan"), np.longdouble(1.5), np.str_("a")]
    assert as_json(scalars) == '[0.5, 7, true, "nan", 1.5, "a"]'


def test_small_arrays_are_lists() -> None:
    assert as_json({"a": np.arange(3), "b": np.array(2)}) == '{"a": [0, 1, 2], "b": 2}'


def test_large_arrays_are_written_as_a_digest() -> None:
    array = np.zeros((40, 40), dtype=np.uint8)
    found = json.loads(as_json(array))
    assert (found["array"], found["dtype"], len(found["sha256"])) == ([40, 40], "uint8", 64)
    assert as_json(array.T) == as_json(array)
    assert as_json(array + 1) != as_json(array)


@pytest.mark.parametrize("kind", [bytes, bytearray, np.bytes_])
def test_long_bytes_are_written_as_a_digest(kind: Any) -> None:
    image = kind(bytes(range(1, 256)) * 4)
    digest = {"bytes": 1020, "sha256": hashlib.sha256(image).hexdigest()}
    row = {
        "image": {"bytes": image, "path": "a.png"},
        "images": [image, (image,)],
        "array": np.array([image, 1], object),
    }
    assert json.loads(as_json(row)) == {
        "image": {"bytes": digest, "path": "a.png"},
        "images": [digest, [digest]],
        "array": [digest, 1],
    }
    assert as_json(kind(b"x" * 1020)) != as_json(image)
    assert as_json(bytes(image[:1000])) == json.dumps(repr(bytes(image[:1000])))


def test_tensors_are_written_as_arrays() -> None:
    torch = pytest.importorskip("torch")
    assert as_json(torch.tensor([1.0, 2.0], requires_grad=True)) == "[1.0, 2.0]"
    assert as_json(torch.tensor([1.0], dtype=torch.bfloat16)) == "[1.0]"
    large = torch.zeros(2000)
    assert json.loads(as_json(large))["dtype"] == "torch.float32"
    other = large.clone()
    other[1000] = 1
    assert as_json(other) != as_json(large)


def test_a_row_is_a_json_object() -> None:
    cells = {"answer": 5, 'ü"': ["a"]}
    assert Cells().row(cells) == json.dumps(cells, ensure_ascii=False)
