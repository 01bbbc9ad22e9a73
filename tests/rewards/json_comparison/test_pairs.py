"""Pairing: no other pairing is worth more."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations, permutations

from hypothesis import given, strategies as st

from rewardkit.rewards.assignment import Pairs, assigned
from rewardkit.rewards.json_match import near

matrices = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.sampled_from([0, 0, 1, 2, 7, 1 << 40]), min_size=columns, max_size=columns), min_size=1, max_size=5
    )
)
ranges = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=6)


def one_to_one(pairs: Pairs) -> bool:
    return all(len(set(side)) == len(side) for side in zip(*pairs, strict=True))


@given(matrices)
def test_an_assignment_is_the_best_of_all(worths: list[list[int]]) -> None:
    size = min(len(worths), len(worths[0]))
    pairs = assigned(worths)
    assert len(pairs) == size
    assert one_to_one(pairs)
    assert sum(worths[row][column] for row, column in pairs) == max(
        sum(worths[row][column] for row, column in zip(rows, columns, strict=True))
        for rows in combinations(range(len(worths)), size)
        for columns in permutations(range(len(worths[0])), size)
    )


@given(ranges, st.lists(st.integers(0, 12), max_size=6))
def test_as_many_numbers_as_possible_are_near(starts: list[tuple[int, int]], numbers: list[int]) -> None:
    within = [(Decimal(low), Decimal(low + width)) for low, width in starts]
    pairs = near(within, map(Decimal, numbers))
    assert one_to_one(pairs)
    assert all(within[row][0] <= numbers[column] <= within[row][1] for row, column in pairs)
    fits = [[int(low <= number <= high) for number in numbers] for low, high in within]
    best = assigned(fits) if starts and numbers else []
    assert len(pairs) == sum(fits[row][column] for row, column in best)


def test_examples() -> None:
    assert assigned([[1, 5], [2, 9]]) == [(0, 0), (1, 1)]
    assert sorted(assigned([[3, 2], [3, 0], [9, 0]])) == [(0, 1), (2, 0)]
    assert near([], [Decimal(1)]) == []
