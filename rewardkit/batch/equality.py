"""Equality: the numbering of a batch's distinct values, so that duplicates are scored only once.

``equality(["a", "b", "a"]).numbers`` is ``array([0, 1, 0])``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rewardkit.batch.column import Numbers
from rewardkit.batch.trajectory import Trajectory

_ABSENT: Any = object()
_PLAIN = {str, int, bool}
"""Types whose equal values are interchangeable if all values have the same type."""
_SAMPLED = 8
"""The number of a completion's token ids that are compared first. The number is arbitrary: nearly all different
completions differ in these ids, and comparing all ids takes longer."""
_DEEPEST = 6
"""The maximum depth of an image inside a message at which messages can still be compared. The limit is arbitrary: in
chat messages, images are two or three levels deep."""
_JSON_ATOMS = {str, int, float, bool, type(None)}


@dataclass(frozen=True)
class Equality:
    """A numbering of n values, ``numbers`` (n,), in which equal values have the same number.

    The ``count`` distinct values are numbered from 0, in the order of their first rows.
    """

    numbers: Numbers
    count: int

    @cached_property
    def firsts(self) -> Numbers:
        """The first row with each distinct value (count,)."""
        return np.flatnonzero(np.diff(np.maximum.accumulate(self.numbers), prepend=-1))

    def first_of(self, row: int) -> int:
        """Return the first row with the same value as `row`."""
        return row if self.count == len(self.numbers) else int(self.firsts[self.numbers[row]])

    def among(self, rows: Numbers) -> Equality:
        """Return the equality restricted to `rows` (ascending)."""
        return self if len(rows) == len(self.numbers) else _numbered(self.numbers[rows].tolist())

    def joined(self, other: Equality) -> Equality:
        """Return the equality of rows that are equal in both `self` and `other`."""
        different = next((partition for partition in (self, other) if partition.count == len(partition.numbers)), None)
        return different or _numbered((self.numbers * other.count + other.numbers).tolist())


def number_equal_rows(equalities: Sequence[Equality], size: int) -> Numbers:
    """Return a number for each row (n,); rows that are equal in all `equalities` have the same number."""
    numbers = np.zeros(size, dtype=np.int64)
    for equal in equalities:  # number from 0 again, so that many columns cannot overflow
        numbers = np.unique(numbers * equal.count + equal.numbers, return_inverse=True)[1]
    return numbers


def first_apart(numbers: Numbers) -> tuple[int, int] | None:
    """Return the first row whose number recurs after a gap, and the last row with this number before the gap."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    _, firsts = np.unique(numbers[starts], return_index=True)
    repeated_starts = np.setdiff1d(np.arange(len(starts)), firsts)
    if not len(repeated_starts):
        return None
    row = int(starts[repeated_starts[0]])
    return row, int(np.flatnonzero(numbers[:row] == numbers[row])[-1])


def equality(values: Sequence[Any]) -> Equality:
    """Number the distinct values. Equal values get the same number, but ``1``, ``1.0``, and ``True`` differ.

    Objects that cannot be compared (images, arrays) are equal only to themselves.
    """
    kinds = set(map(type, values))
    if len(kinds) == 1 and kinds <= _PLAIN:
        return _numbered(values)
    return _numbered(list(map(repr if kinds == {float} else _key, values)))


def equal_ids(values: Sequence[Any]) -> Equality:
    """Number the distinct lists of token ids. All items are ints, so their types do not need to be checked."""
    if set(map(type, values)) <= {list}:
        try:
            samples = [(len(ids), *ids[:: len(ids) // _SAMPLED + 1]) for ids in values]
            all_differ = len(set(samples)) == len(samples)  # the usual case: the other ids do not matter
            return _numbered(samples if all_differ else list(map(tuple, values)))
        except TypeError:  # nested lists
            pass
    return equality(values)


def _numbered(keys: Sequence[Any]) -> Equality:
    numbers: dict[Any, Any] = dict.fromkeys(keys)
    if len(numbers) == len(keys):
        return Equality(np.arange(len(keys)), len(keys))
    for number, key in enumerate(numbers):
        numbers[key] = number
    return Equality(np.array(list(map(numbers.__getitem__, keys)), dtype=np.int64), len(numbers))


def _key(value: Any, depth: int = _DEEPEST) -> Any:
    kind = type(value)
    if kind in (str, bytes, int, bool, type(None)):
        return kind, value
    if kind is Trajectory:  # it compares arguments as JSON, and caches that
        return kind, value
    if isinstance(value, float):
        return kind, repr(value)  # 0.0 and -0.0 differ, and NaN equals itself
    try:
        if kind in (list, tuple, dict):
            plain = list(value) if kind is tuple else value
            if _is_json(plain):
                return kind, json.dumps(plain, sort_keys=True)
            if depth == 0:
                return _ABSENT, id(value)
            # Messages with the same image are equal, even if each row has its own lists.
            if kind is dict:
                return kind, frozenset((_key(name, depth - 1), _key(item, depth - 1)) for name, item in value.items())
            return kind, tuple(_key(item, depth - 1) for item in value)
        hash(value)
        # Decimal("1.0") == Decimal("1.00") with the same hash, but their text differs.
        return kind, repr(value), value
    except Exception:
        return _ABSENT, id(value)


def _is_json(value: Any) -> bool:
    """Return whether JSON text identifies `value`. A key 1 is written like "1", and a tuple like a list."""
    kind = type(value)
    if kind is dict:
        return all(type(key) is str for key in value) and all(map(_is_json, value.values()))
    return kind in _JSON_ATOMS or (kind is list and all(map(_is_json, value)))
