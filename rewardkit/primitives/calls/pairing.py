"""Pair the calls that were made with the gold calls so that they are worth as much as possible.

Without an order this is an assignment. With ``order="kept"`` the pairs may not cross: turn after turn takes the next
stretch of the gold, and within a turn calls have no order among themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, final

from rewardkit.core.batch.trajectory import ToolCall
from rewardkit.primitives.assignment import assigned
from rewardkit.primitives.calls.gold import GoldCall, Same

Credit = Literal["exact", "partial", "names"]

_SCALE = 10**9
_LEAST = 1e-12
_MOST_PAIRS = 144
"""With more pairs in one turn, its calls count in the order in which they were written."""

_Best = tuple[float, int, frozenset[int]]
"""The worth of a pairing, how many calls are in it, and which gold calls are right."""


@final
@dataclass(frozen=True)
class Rules:
    """When calls are equal, and how much they are worth."""

    credit: Credit
    kept: bool
    same: tuple[tuple[str, Callable[[Any, Any], object]], ...] = ()

    @cached_property
    def _same(self) -> Same:
        return dict(self.same)

    def worth(self, gold: GoldCall, call: ToolCall) -> float:
        """Return what one pair is worth, from 0.0 to 1.0."""
        if self.credit == "names":
            return float(gold.name == call.name and call.arguments is not None)
        worth = gold.worth(call, self._same)
        return worth if self.credit == "partial" else float(worth == 1.0)


@final
@dataclass(frozen=True, slots=True)
class Paired:
    """The worth of the best pairing, how many calls are in it, and which gold calls are not right."""

    worth: float
    calls: int
    missed: tuple[int, ...]


def paired(gold: Sequence[GoldCall], turns: Sequence[Sequence[ToolCall]], rules: Rules) -> Paired:
    """Return the best pairing of the calls of some turns with gold calls."""
    made = [call for calls in turns for call in calls]
    if not gold or not made:
        return Paired(0.0, 0, tuple(range(len(gold))))
    if rules.kept and (len(gold) > 1 or len(made) > 1):
        return _in_order(gold, turns, rules)
    right = _equal(gold, made, rules)
    if right is not None and (rules.credit == "exact" or len(right) == min(len(gold), len(made))):
        return Paired(float(len(right)), len(right), tuple(place for place in range(len(gold)) if place not in right))
    return _assigned(gold, made, rules)


def _equal(gold: Sequence[GoldCall], made: Sequence[ToolCall], rules: Rules) -> set[int] | None:
    """Return the gold calls that have an equal call, fast; None if calls are not simply equal or not."""
    if rules.same or rules.credit == "names":
        return None
    if any(call.arguments is not None and not call.arguments.typed for call in made):
        return None
    left = Counter(
        (call.name, frozenset(call.arguments.keys_by_name.items())) for call in made if call.arguments is not None
    )
    right = set()
    for place, one in enumerate(gold):
        if one.key is None:
            return None
        if left[one.key] > 0:
            left[one.key] -= 1
            right.add(place)
    return right


def _assigned(gold: Sequence[GoldCall], made: Sequence[ToolCall], rules: Rules) -> Paired:
    worths = [[rules.worth(one, call) for call in made] for one in gold]
    pairs = assigned([[round(worth * _SCALE) for worth in row] for row in worths])
    found = [(row, worths[row][column]) for row, column in pairs if worths[row][column] > 0.0]
    right = {row for row, worth in found if worth == 1.0}
    missed = tuple(place for place in range(len(gold)) if place not in right)
    return Paired(sum(worth for _, worth in found), len(found), missed)


def _in_order(gold: Sequence[GoldCall], turns: Sequence[Sequence[ToolCall]], rules: Rules) -> Paired:
    # best[j] is the best pairing of the turns so far with the first j gold calls.
    best: list[_Best] = [(0.0, 0, frozenset())] * (len(gold) + 1)
    for calls in turns:
        whole = len(gold) * len(calls) <= _MOST_PAIRS
        for together in [calls] if whole else [[call] for call in calls]:
            if together:
                best = _after(gold, together, best, rules)
    worth, count, right = best[-1]
    return Paired(worth, count, tuple(place for place in range(len(gold)) if place not in right))


def _after(gold: Sequence[GoldCall], calls: Sequence[ToolCall], before: Sequence[_Best], rules: Rules) -> list[_Best]:
    """Return the best pairings after one more turn, which takes a stretch of the gold."""
    best = list(before)
    worths = [[rules.worth(one, call) for call in calls] for one in gold]
    useful = [place for place, row in enumerate(worths) if any(row)]
    most = _most(worths)
    for start in useful:
        for stop in (place + 1 for place in useful if place >= start):
            if len(calls) == 1 and stop > start + 1:
                break  # one call is paired with one gold call
            worth, count, right = _stretch(worths[start:stop], start)
            earlier = before[start]
            if earlier[0] + worth > best[stop][0] + _LEAST:
                best[stop] = (earlier[0] + worth, earlier[1] + count, earlier[2] | right)
            if worth > most[start] - _LEAST:
                break  # further gold calls cannot make it worth more
    for stop in range(1, len(best)):
        if best[stop - 1][0] > best[stop][0] + _LEAST:
            best[stop] = best[stop - 1]
    return best


def _most(worths: Sequence[Sequence[float]]) -> list[float]:
    """Return for each gold call a bound for what a turn is worth from there on: each call at its best."""
    best, found = [0.0] * len(worths[0]), []
    for row in reversed(worths):
        best = list(map(max, best, row))
        found.append(sum(best))
    return found[::-1]


def _stretch(worths: Sequence[Sequence[float]], start: int) -> _Best:
    """Return the best pairing of one stretch of gold calls with the calls of one turn."""
    pairs = assigned([[round(worth * _SCALE) for worth in row] for row in worths])
    found = [(row, worths[row][column]) for row, column in pairs if worths[row][column] > 0.0]
    right = frozenset(start + row for row, worth in found if worth == 1.0)
    return sum(worth for _, worth in found), len(found), right
