"""A JSON document in parts: a number for every value, shared by equal values, and the leaves by path.

In ``{"lines": [{"sku": "a"}, {"sku": "b"}], "note": null}`` two leaves have the path ``lines[].sku`` and one ``note``.
Paths have no positions, so documents whose arrays are in a different order have the same leaves.
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
"""The worth of a leaf. A blank one (null, "", {} or []) is worth 1: no number of blanks outweighs a leaf."""

_BLANK: tuple[Any, ...] = (None, "", {}, [])
_STEP = re.compile(r"\.?([^.\[\]]+)|(\[\])")


@final
@dataclass(slots=True, eq=False)
class Part:
    """One value of a document.

    Attributes:
        value: a leaf, or a dict or list of parts.
        number: the same exactly for equal values of one document, or of an answer and its gold.
        worth: the worth of all its leaves.
    """

    value: Any
    number: int
    worth: int


@final
@dataclass(frozen=True)
class Rules:
    """When two values are equal, and which paths are ignored."""

    ignore: frozenset[Steps]
    ignore_case: bool
    ordered: bool


@final
@dataclass(slots=True, eq=False)
class Document:
    """A JSON value in parts; made by ``Document.of``."""

    rules: Rules
    numbers: dict[object, int]
    known: frozenset[Steps] | None = None
    leaves: Counter[Steps] = field(default_factory=Counter)
    root: Part = field(init=False)

    @classmethod
    def of(cls, value: Any, rules: Rules, *, gold: Document | None = None, extra: bool = True) -> Document:
        """Split `value` into parts; those of an answer are numbered together with those of its `gold`.

        `extra`: keep the keys that the gold never has at their path.
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
    """Return a leaf as text, the same for 1 and 1.0. As text, because the hashes of numbers can be predicted."""
    if isinstance(leaf, float) and leaf.is_integer():
        return repr(int(leaf))
    return repr(leaf)


def steps_of(path: Any) -> Steps:
    """Parse a path: ``steps_of("lines[].sku") == ("lines", None, "sku")``.

    Raises:
        RewardDefinitionError: `path` is not such a path.
    """
    found = list(_STEP.finditer(path)) if isinstance(path, str) else []
    if not found or "".join(match.group() for match in found) != path or path.startswith("."):
        raise RewardDefinitionError(
            f"json_match: ignore must be paths such as 'note' or 'lines[].sku', got {shorten(path)}; keys that contain "
            "a dot or a bracket are not supported"
        )
    return tuple(match[1] for match in found)
