"""Arrays, and what containers hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import rewardkit as rk
from rewardkit.tree.coercion import Coercer, coerce


@pytest.mark.parametrize(
    ("annotation", "value", "array"),
    [
        (np.ndarray, "[1, 2]", np.array([1, 2])), (np.ndarray, [[1.5], [2]], np.array([[1.5], [2.0]])),
        (np.ndarray, "(1, 2)", np.array([1, 2])), (NDArray[np.float64], "[1, 2]", np.array([1.0, 2.0])),
        (NDArray[np.int64], [1.0, 2.0], np.array([1, 2])), (NDArray[np.float32], [1.0], np.array([1.0], np.float32)),
        (NDArray[Any], "[]", np.array([])), (np.ndarray | None, "[1]", np.array([1])),
    ],
)  # fmt: skip
def test_arrays(annotation: Any, value: Any, array: Any) -> None:
    found = coerce(value, annotation)
    assert isinstance(found, np.ndarray)
    assert found.dtype == array.dtype
    assert found.tolist() == array.tolist()


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (list[int], "['1', \"-2\"]", [1, -2]), (list[int], "[1.0]", [1]), (list[int], ["1"], [1]),
        (list[int], '["1.0"]', [1]), (set[int], "['1', 1]", {1}), (tuple[int, ...], ("1", 2.0), (1, 2)),
        (tuple[int, str], ["1", "a"], (1, "a")), (dict[str, int], "{'a': '1'}", {"a": 1}),
        (dict[int, list[float]], {"1": ["2"]}, {1: [2.0]}), (list[list[int]] | None, "[['1'], []]", [[1], []]),
        (list[bool], ["yes", "0"], [True, False]), (bytes, "ab", b"ab"), (bytes, b"b'ab'", b"b'ab'"),
        (bytes, "b'", b"b'"),
    ],
)  # fmt: skip
def test_items_are_converted_as_cells_are(annotation: Any, value: Any, expected: Any) -> None:
    found = coerce(value, annotation)
    assert found == expected
    assert type(found) is type(expected)


def test_an_array_passes_as_it_is_and_a_reward_can_ask_for_one() -> None:
    given_array = np.array([0.5, 1.0])
    assert coerce(given_array, np.ndarray) is given_array

    @rk.reward
    def nearest(completion: str, points: np.ndarray[Any, Any]) -> float:
        return float(np.abs(points - float(completion)).min() == 0.0)

    assert rk.score(nearest, ["1", "3"], points=[given_array, "[1, 2]"]).total.tolist() == [1.0, 0.0]
    assert rk.score(nearest, ["1", "3"], points=[[1, 2], [3]]).total.tolist() == [1.0, 1.0]


@given(st.lists(st.integers(-(10**12), 10**12)))
def test_a_list_of_numbers_as_text_reads_as_the_list_does(numbers: list[int]) -> None:
    texts = [str(number) for number in numbers]
    for annotation, kind in ((list[int], list), (tuple[int, ...], tuple), (frozenset[int], frozenset)):
        expected = kind(numbers)
        for cell in (numbers, texts, str(numbers), repr(texts), [float(number) for number in numbers]):
            assert Coercer.of(annotation)(cell) == expected


def test_keys_that_become_equal_are_refused() -> None:
    with pytest.raises(rk.errors.CoercionError):
        coerce({"1": "2", "1.0": 3}, dict[int, int])


@pytest.mark.parametrize(
    ("annotation", "value", "why"),
    [
        (bytes, "b'ab'", "saved as text"), (bytes, 'rb"a\\x00"', "saved as text"), (bytes | None, "b''", "saved as"),
        (np.ndarray, "[1, [2]]", "different lengths"), (np.ndarray, "['a']", "numbers"),
        (np.ndarray, "x", "neither JSON"), (NDArray[np.int64], "[0.5]", "not whole"),
        (np.ndarray, {"a": 1}, "list of numbers"), (list[int], [None], "valid integer"),
    ],
)  # fmt: skip
def test_what_does_not_fit_says_why(annotation: Any, value: Any, why: str) -> None:
    with pytest.raises(rk.errors.CoercionError, match=why):
        coerce(value, annotation)
