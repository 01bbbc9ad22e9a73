"""Pair numbers with the ranges that contain them: ``near([(1, 3), (2, 2)], [2, 2])`` pairs both."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from decimal import Decimal

from rewardkit.primitives.assignment import Pairs


def near(ranges: Iterable[tuple[Decimal, Decimal]], numbers: Iterable[Decimal]) -> Pairs:
    """Return as many pairs (range, number) as possible, by position, with the number in its (lowest, highest).

    From the lowest number up, each takes the range that ends first among those that contain it: no other choice
    leaves more to the numbers that follow.
    """
    coming = sorted(((low, high, position) for position, (low, high) in enumerate(ranges)), reverse=True)
    begun: list[tuple[Decimal, int]] = []
    pairs = []
    for number, position in sorted((number, position) for position, number in enumerate(numbers)):
        while coming and coming[-1][0] <= number:
            _, high, of_range = coming.pop()
            heapq.heappush(begun, (high, of_range))
        while begun and begun[0][0] < number:
            heapq.heappop(begun)
        if begun:
            pairs.append((heapq.heappop(begun)[1], position))
    return pairs
