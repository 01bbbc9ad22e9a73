"""Each batch is computed once, whether the functions get the same lists, equal ones, or several batches at a time."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given, strategies as st

from rewardkit.online.batch_cache import BatchCache, Table, equal


@dataclass(frozen=True)
class Texts:
    """A call with a list of texts."""

    texts: list[str]

    @property
    def identity(self) -> tuple[int, ...]:
        return (id(self.texts),)

    def equals(self, other: Texts) -> bool:
        return equal(self.texts, other.texts)


class Counting:
    """Numbers the tables that it computes."""

    def __init__(self) -> None:
        self.computed = 0

    def __call__(self, call: Texts) -> Table:
        self.computed += 1
        return {"number": np.array([float(self.computed)])}


BATCHES = st.lists(
    st.tuples(st.sampled_from([["a"], ["a", "b"]]), st.permutations(range(3)), st.booleans()), min_size=1, max_size=6
)


@given(BATCHES)
def test_each_batch_is_computed_once(batches: list[tuple[list[str], list[int], bool]]) -> None:
    tables: BatchCache[Texts] = BatchCache(readers=3)
    compute = Counting()
    for number, (texts, order, fresh) in enumerate(batches, start=1):
        shared = list(texts)
        for reader in order:
            call = Texts(copy.deepcopy(texts) if fresh else shared)
            assert tables.get(str(reader), call, compute)["number"].tolist() == [number]
    assert compute.computed == len(batches)
    assert not tables._entries


@given(st.permutations([0, 0, 1, 1, 2, 2]), st.booleans())
def test_equal_batches_at_the_same_time_stay_two(order: list[int], fresh: bool) -> None:
    tables: BatchCache[Texts] = BatchCache(readers=3)
    compute = Counting()
    lists = ["a"], ["a"]
    seen: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for reader in order:
        call = Texts(["a"] if fresh else lists[len(seen[reader])])
        seen[reader] += tables.get(str(reader), call, compute)["number"].tolist()
    assert compute.computed == 2
    assert not tables._entries
    for found in seen.values():
        assert sorted(found) == [1.0, 2.0]


def test_what_cannot_be_compared_is_not_equal() -> None:
    class Odd:
        def __eq__(self, other: object) -> Any:
            raise RuntimeError

        __hash__ = None  # type: ignore[assignment]

    array = np.arange(3)
    assert not equal([array], [array.copy()])
    assert equal([array], [array])
    assert not equal(Odd(), Odd())
