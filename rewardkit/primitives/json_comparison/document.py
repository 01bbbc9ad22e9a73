"""A JSON document taken apart: every value with a number that equal values share, and its leaves by path.

In ``{"lines": [{"sku": "a"}, {"sku": "b"}], "note": null}`` two leaves stand at ``lines[].sku`` and one at ``note``:
positions are no part of a path, so that documents whose arrays are in another order still have the same leaves.
A leaf is a text, a number, true, false, null, or an empty object or array.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, final

from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.tree.gold import normal

Steps = tuple[str | None, ...]
"""A path without positions: ``lines[].sku`` is ``("lines", None, "sku")``."""

LEAF: Final = 1 << 20
"""What a leaf is worth. A blank one (null, "", {} or []) is worth 1: no number of blanks weighs as much as a leaf."""

_BLANK: tuple[Any, ...] = (None, "", {}, [])
_STEP = re.compile(r"\.?([^.\[\]]+)|(\[\])")


@final
@dataclass(slots=True, eq=False)
class Part:
    """One value of a document.

    Attributes:
        value: a leaf, or a dict or list of parts.
        number: equal exactly for equal values of one document, or of an answer and its gold.
        worth: of all its leaves.
    """

    value: Any
    number: int
    worth: int


@final
@dataclass(frozen=True)
class Rules:
    """When two values are equal, and which paths are not looked at."""

    ignore: frozenset[Steps]
    ignore_case: bool
    ordered: bool


@final
@dataclass(slots=True, eq=False)
class Document:
    """A JSON value as parts; made by ``Document.of``."""

    rules: Rules
    numbers: dict[object, int]
    known: frozenset[Steps] | None = None
    leaves: Counter[Steps] = field(default_factory=Counter)
    root: Part = field(init=False)

    @classmethod
    def of(cls, value: Any, rules: Rules, *, gold: Document | None = None, extra: bool = True) -> Document:
        """`value` as parts; an answer's, numbered together with those of its `gold`.

        `extra`: keep the keys that stand nowhere in the gold.
        """
        known = None if extra or gold is None else gold.paths()
        made = cls(rules, dict(gold.numbers) if gold else {}, known)
        made.root = made._part(value, ())
        return made

    def paths(self) -> frozenset[Steps]:
        """The paths of all values, leaves or not."""
        return frozenset(path[:length] for path in self.leaves for length in range(len(path) + 1))

    def _part(self, value: Any, path: Steps) -> Part:
        if isinstance(value, dict):
            parts = {key: self._part(part, below) for key, part in value.items() if self._counts(below := (*path, key))}
            if parts:
                keys = sorted((key, part.number) for key, part in parts.items())
                return Part(parts, self._number(("{}", *keys)), sum(part.worth for part in parts.values()))
            value = {}
        elif isinstance(value, list) and value:
            items = [self._part(item, (*path, None)) for item in value]
            numbers = [item.number for item in items]
            order = numbers if self.rules.ordered else sorted(numbers)
            return Part(items, self._number(("[]", *order)), sum(item.worth for item in items))
        elif isinstance(value, str):
            value = normal(value, ignore_case=self.rules.ignore_case)
        self.leaves[path] += 1
        return Part(value, self._number(_word(value)), 1 if value in _BLANK else LEAF)

    def _counts(self, path: Steps) -> bool:
        return path not in self.rules.ignore and (self.known is None or path in self.known)

    def _number(self, key: object) -> int:
        return self.numbers.setdefault(key, len(self.numbers))


def _word(leaf: Any) -> str:
    """A leaf as text, the same for 1 and 1.0. Text, because its hashes cannot be foreseen as those of numbers can."""
    if isinstance(leaf, float) and leaf.is_integer():
        return repr(int(leaf))
    return repr(leaf)


def steps_of(path: Any) -> Steps:
    """The steps of a path as it is written: ``steps_of("lines[].sku") == ("lines", None, "sku")``.

    Raises:
        RewardDefinitionError: it is no such path.
    """
    found = list(_STEP.finditer(path)) if isinstance(path, str) else []
    if not found or "".join(match.group() for match in found) != path or path.startswith("."):
        raise RewardDefinitionError(
            f"json_match: ignore takes paths such as 'note' or 'lines[].sku', got {shorten(path)}; a key with a dot or "
            "a bracket in it cannot be named"
        )
    return tuple(match[1] for match in found)
