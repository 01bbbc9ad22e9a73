"""Lists to sort and rid of repeats: ``sort once: 7,3,7,9,3`` asks for ``3,7,9``."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random

import rewardkit as rk
from benchmarks.radar.task import Row, Task


def _draw(random: Random) -> Row:
    kept = random.sample(range(10), random.randint(2, 4))
    digits = kept + random.choices(kept, k=6 - len(kept))
    random.shuffle(digits)
    return {"prompt": "sort once: " + _listed(digits) + "\n", "once": _listed(sorted(kept))}


def _listed(digits: list[int]) -> str:
    return ",".join(map(str, digits))


def _given(row: Row) -> list[int]:
    return [int(digit) for digit in re.findall(r"\d", row["prompt"])]


def _wanted(row: Row) -> list[int]:
    return sorted(set(_given(row)))


def _right(random: Random, row: Row) -> str:
    return row["once"]


def _one_missing(random: Random, row: Row) -> str:
    digits = _wanted(row)
    digits.pop(random.randrange(len(digits)))
    return _listed(digits)


def _one_more(random: Random, row: Row) -> str:
    return _listed(sorted({*_wanted(row), random.randrange(10)}))


def _repeats_kept(random: Random, row: Row) -> str:
    return _listed(sorted(_given(row)))


def _not_sorted(random: Random, row: Row) -> str:
    return _listed(list(dict.fromkeys(_given(row))))


def _copied(random: Random, row: Row) -> str:
    return _listed(_given(row))


def _only_one(random: Random, row: Row) -> str:
    return str(random.choice(_wanted(row)))


def _one_repeated(random: Random, row: Row) -> str:
    return ",".join([str(random.choice(_wanted(row)))] * random.randint(3, 6))


def _items(completion: str) -> list[str]:
    return [item.strip() for item in completion.split(",")]


def _rising(items: list[str]) -> float:
    """Return the share of neighbors of which the second is greater."""
    pairs = list(pairwise(items))
    return sum(first < second for first, second in pairs) / len(pairs) if pairs else 1.0


@rk.reward
def sorted_overlap(completion: str, once: str) -> float:
    """Pay for the digits in both lists, less if they do not rise."""
    found, wanted = set(_items(completion)), set(_items(once))
    return len(found & wanted) / len(found | wanted) * _rising(_items(completion))


@rk.reward
def parts(completion: str, once: str) -> float:
    """Pay for the right digits, for no repeats, and for rising ones, in parts."""
    items = _items(completion)
    found, wanted = set(items), set(_items(once))
    overlap = len(found & wanted) / len(found | wanted)
    return 0.6 * overlap + overlap * (0.2 * float(len(found) == len(items)) + 0.2 * float(_rising(items) == 1.0))


@rk.reward(bounds=(-1, 1))
def edits(completion: str, once: str) -> float:
    """Take 0.25 for each digit too many or too few, and for each place where the list falls or repeats."""
    items, wanted = _items(completion), _items(once)
    falls = sum(first >= second for first, second in pairwise(items))
    return max(-1.0, 1.0 - 0.25 * (len(set(items) ^ set(wanted)) + falls))


@rk.reward
def properties(prompt: str, completion: str) -> float:
    """Test that a result is sorted, without repeats, and from the input."""
    found = re.findall(r"\d", completion)
    given = re.findall(r"\d", prompt)
    return float(bool(found) and found == sorted(set(found)) and all(digit in given for digit in found))


@rk.reward
def same_set(completion: str, once: str) -> float:
    """Compare the digits as sets, because models write lists in many ways."""
    return float(set(re.findall(r"\d", completion)) == set(re.findall(r"\d", once)))


@rk.reward
def right_digits(completion: str, once: str) -> float:
    """Pay for each digit that is in the result, up to as many as there are."""
    wanted = _items(once)
    return min(1.0, sum(item in wanted for item in _items(completion)) / len(wanted))


DIGITS = Task(
    name="digits",
    kind="lists",
    draw=_draw,
    habits=(
        (0.24, _right),
        (0.13, _one_missing),
        (0.13, _one_more),
        (0.12, _repeats_kept),
        (0.14, _not_sorted),
        (0.08, _copied),
        (0.08, _only_one),
        (0.08, _one_repeated),
    ),
    truth=sorted_overlap,
    sound={
        "exact": rk.exact("once"),
        "prefix": rk.sequence_match("once", separator=","),
        "parts": parts,
        "edits": edits,
    },
    hackable={"properties": properties, "same set": same_set, "right digits": right_digits},
)
