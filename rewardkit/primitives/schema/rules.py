"""The compiled rules of a schema for one value: which of its properties or items are wrong, and what is wrong with it.

For ``{"required": ["a"], "properties": {"a": {"type": "integer"}}}`` and ``{"a": "x"}``, ``wrong`` yields ``"a"`` with
its value, and ``parts("a")`` is the subschema of ``a`` with its check.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cached_property, partial
from typing import Any

from rewardkit.core.text.json_notes import value_text
from rewardkit.primitives.schema.document import Node
from rewardkit.primitives.schema.levels import Level

Check = Callable[[Any], bool]
Part = tuple[Node, Check]
"""A subschema, and whether a value satisfies it."""
Key = str | int
"""The name of a property or the index of an item."""


class PlainCheck:
    """A keyword that checks a value without another schema.

    `explained` says what is wrong with a value that violates it, in words that follow the value.
    """

    def __init__(self, fits: Check, explained: Callable[[object], str]) -> None:
        self._fits = fits
        self._explained = explained
        self._words = ""  # the same for all values, and the validator takes long to find them

    def problem(self, value: object) -> str:
        """Describe what is wrong with `value`; empty if it is fine."""
        if self._fits(value):
            return ""
        self._words = self._words or self._explained(value)
        return value_text(value) + self._words


class Rules:
    """The rules of one part of a schema for objects, for arrays, or for other values.

    Args:
        level: what the schema says.
        keys: the properties or items that have rules of their own.
        other: stands for all other ones; None if a pattern decides, so that each has to be looked at.
        parts_for: finds the subschemas for a property or an item.
        plain: makes the checks of the keywords that need no other schema.
    """

    def __init__(
        self,
        level: Level,
        keys: Collection[Key],
        other: Key | None,
        parts_for: Callable[[Level, Key], tuple[Part, ...]],
        plain: Callable[[Level], list[PlainCheck]],
    ) -> None:
        self.level = level
        self._keys = keys
        self._other = other
        self._parts_for = parts_for
        self._plain = plain
        self._parts: dict[Key, tuple[Part, ...]] = {}
        self._checks: dict[Key, Check] = {}

    def parts(self, key: Key) -> tuple[Part, ...]:
        """Return the subschemas for a property or an item."""
        place = key if key in self._keys else self._other
        if place is None:  # not kept: a policy can write any number of names
            return self._parts_for(self.level, key)
        if place not in self._parts:
            self._parts[place] = self._parts_for(self.level, place)
        return self._parts[place]

    def wrong(self, entries: Iterable[tuple[Key, Any]]) -> list[tuple[Any, Any]]:
        """Return the entries of an object or array whose value violates its subschemas, in order."""
        known, check = self._checks, self._check
        if not self._keys and self._other is not None:
            fits = check(self._other)
            return [(key, value) for key, value in entries if not fits(value)]
        return [(key, value) for key, value in entries if not (known.get(key) or check(key))(value)]

    def _check(self, key: Key) -> Check:
        """Return one check for all subschemas of a property or an item."""
        parts = self.parts(key)
        check = parts[0][1] if len(parts) == 1 else partial(_fits_all, parts)
        if key in self._keys:
            self._checks[key] = check
        return check

    @cached_property
    def _plain_checks(self) -> list[PlainCheck]:
        return self._plain(self.level)

    def plain_problem(self, value: object) -> str:
        """Describe the first violated keyword that needs no other schema; empty if there is none."""
        for check in self._plain_checks:
            if problem := check.problem(value):
                return problem
        return ""

    def problem(self, value: object) -> str:
        """Describe what is wrong with `value` as a whole."""
        plain = self.plain_problem(value)
        return plain or f"{value_text(value)} does not satisfy {', '.join(self.level.whole) or 'its schema'}"


def _fits_all(parts: tuple[Part, ...], value: object) -> bool:
    return all(fits(value) for _, fits in parts)
