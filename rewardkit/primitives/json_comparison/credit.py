"""Compute how much of a gold document an answer matches, and describe the differences.

If the gold is ``{"sku": "a-7", "qty": 31, "color": "red"}``, the answer ``{"sku": "a-7", "qty": 30}`` scores 1/3:
``qty: 30 is not 31; color: missing``.

Leaves are texts, numbers, true, false, null, and empty objects and arrays; null, "", {} and [] are *blank*. With

- *right*: the number of gold leaves that are not blank and that the answer has in the same place;
- *blanks*: the number of blank gold leaves that the answer has in the same place;
- *leaves*: the number of all gold leaves;
- *extra*: the number of leaves by which the answer exceeds the gold at each path (ignoring array positions), summed up,

the credit is ``right / (leaves - blanks + extra)``; it is 1 if everything is right and nothing is extra, even if all of
the gold is blank. So a wrong leaf earns what a missing one does, and an unrequested one costs; leaving blank what is
blank in the gold earns nothing by itself, while filling it costs.

"In the same place" means under the same keys and, in arrays, in the item that is paired with the gold item; the pairs
are those that make the most of the gold right. No item is in two pairs, so a repetition earns nothing, and *extra* does
not depend on the pairs. Hence fixing one leaf never lowers the credit: *right* grows by one, and *extra* by at most one
(if the leaf was missing here but its path is too frequent elsewhere). Breaking a leaf or adding one never raises it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import cached_property
from typing import Any, final

from rewardkit.core.text.json_notes import Path, Violations, value_text
from rewardkit.primitives.assignment import Pairs, assigned
from rewardkit.primitives.json_comparison.document import LEAF, Document, Part, Rules
from rewardkit.primitives.json_comparison.pairs import near

COMPARISONS = 100_000
"""With more comparisons, array items count as a whole: unequal items are not compared part by part."""

_EXACT = Context(prec=1_000)
"""More digits than the difference of any two numbers in a document can have."""

_CONTAINERS = ("{}", "[]")


@final
@dataclass(frozen=True)
class Matching:
    """The rules for equality and for pairing the items of arrays.

    `keys`: objects in arrays are paired only if they agree in the first of these keys that they have.
    """

    rules: Rules
    keys: tuple[str, ...] = ()
    tolerance: Decimal = Decimal(0)
    relative: Decimal = Decimal(0)
    extra: bool = True

    @property
    def tolerant(self) -> bool:
        return bool(self.tolerance or self.relative)

    def margin(self, gold: Decimal) -> Decimal:
        """Return how far from `gold` a number may be."""
        return max(self.tolerance, _EXACT.multiply(self.relative, abs(gold)))

    def close(self, gold: Any, found: Any) -> bool:
        """Return whether two numbers are within the tolerance of each other."""
        if not self.tolerant or not _is_number(gold) or not _is_number(found):
            return False
        wanted = _decimal(gold)
        return abs(_EXACT.subtract(_decimal(found), wanted)) <= self.margin(wanted)


@final
@dataclass(frozen=True, eq=False)
class GoldDocument:
    """A gold JSON value, split into parts only when an answer differs from it."""

    value: Any
    rules: Rules

    @cached_property
    def text(self) -> str:
        return _canonical(self.value)

    @cached_property
    def document(self) -> Document:
        return Document.of(self.value, self.rules)


def credit(gold: GoldDocument, answer: Any, matching: Matching, comparisons: int = COMPARISONS) -> tuple[float, str]:
    """Return (credit from 0.0 to 1.0, note) for a parsed JSON value; the note is empty exactly at 1.0."""
    if _canonical(answer) == gold.text:  # the usual case of a correct answer, fast
        return 1.0, ""
    wanted = gold.document
    found = Document.of(answer, matching.rules, gold=wanted, extra=matching.extra)
    comparison = _Comparison(matching, comparisons)
    try:
        worth = comparison.worth(wanted.root, found.root)
    except _TooMany:
        comparison = _Comparison(matching, comparisons, whole=True)
        worth = comparison.worth(wanted.root, found.root)
    extra = (found.leaves - wanted.leaves).total()
    if worth == wanted.root.worth and not extra:
        return 1.0, ""
    right, blanks = divmod(worth, LEAF)
    violations = Violations()
    comparison.explain(wanted.root, found.root, (), violations)
    note = violations.note()
    if comparison.gave_up:
        note = "; ".join(filter(None, (note, "too many items to compare them part by part")))
    return right / (wanted.leaves.total() - blanks + extra), note


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


class _TooMany(Exception):
    """More comparisons than the limit."""


@final
@dataclass(eq=False)
class _Comparison:
    """One comparison of an answer with its gold.

    The number of comparisons does not depend on the order of any array, so neither does the effect of the limit.
    """

    matching: Matching
    left: int
    whole: bool = False
    gave_up: bool = False
    arrays: dict[tuple[int, int], tuple[int, Pairs]] = field(default_factory=dict)

    def worth(self, gold: Part, found: Part) -> int:
        """Return the worth of the leaves of `gold` that `found` has in the same place."""
        self._spend(1)
        if gold.number == found.number:
            return gold.worth
        wanted, given = gold.value, found.value
        if isinstance(wanted, dict) and isinstance(given, dict):
            self._spend(len(wanted))
            return sum(self.worth(part, given[key]) for key, part in wanted.items() if key in given)
        if isinstance(wanted, list) and isinstance(given, list):
            key = id(gold), id(found)
            if key not in self.arrays:
                self._spend(len(wanted) + len(given))
                pairs = self._paired(wanted, given)
                self.arrays[key] = sum(self.worth(wanted[row], given[column]) for row, column in pairs), pairs
            return self.arrays[key][0]
        return gold.worth if self.matching.close(wanted, given) else 0

    def _spend(self, comparisons: int) -> None:
        self.left -= comparisons
        if self.left < 0 and not self.whole:
            raise _TooMany

    def _paired(self, gold: list[Part], found: list[Part]) -> Pairs:
        if self.matching.rules.ordered:
            return list(zip(range(len(gold)), range(len(found)), strict=False))
        pairs: Pairs = []
        for kind, (rows, columns) in _grouped(gold, found, range(len(gold)), range(len(found)), self._kind).items():
            if kind in _CONTAINERS or isinstance(kind, tuple):
                pairs += self._paired_containers(gold, found, rows, columns)
            elif kind == "number":
                pairs += self._paired_numbers(gold, found, rows, columns)
            else:
                pairs += zip(rows, columns, strict=False)
        return pairs

    def _kind(self, part: Part) -> object:
        """Return the kind of an item: only items of one kind are paired, and leaves are of one kind if equal."""
        if isinstance(part.value, dict) and part.value:
            key = next((key for key in self.matching.keys if key in part.value), None)
            return "{}" if key is None else (key, part.value[key].number)
        if isinstance(part.value, list) and part.value:
            return "[]"
        return "number" if self.matching.tolerant and _is_number(part.value) else part.number

    def _paired_containers(self, gold: list[Part], found: list[Part], rows: list[int], columns: list[int]) -> Pairs:
        pairs: Pairs = []
        # Without a tolerance, pairing equal items is always optimal: they are equally close to all others.
        if self.whole or not self.matching.tolerant:
            for same in _grouped(gold, found, rows, columns, _number).values():
                pairs += zip(*same, strict=False)
            paired_rows, paired_columns = map(set, zip(*pairs, strict=True)) if pairs else (set(), set())
            rows = [row for row in rows if row not in paired_rows]
            columns = [column for column in columns if column not in paired_columns]
        if self.whole and rows and columns:
            self.gave_up = True
        if self.whole or not rows or not columns:
            return pairs
        self._spend(min(len(rows), len(columns)) * len(rows) * len(columns) // 10)
        worths = [[self.worth(gold[row], found[column]) for column in columns] for row in rows]
        return pairs + [(rows[row], columns[column]) for row, column in assigned(worths)]

    def _paired_numbers(self, gold: list[Part], found: list[Part], rows: list[int], columns: list[int]) -> Pairs:
        wanted = [_decimal(gold[row].value) for row in rows]
        margins = map(self.matching.margin, wanted)
        ranges = [(_EXACT.subtract(n, m), _EXACT.add(n, m)) for n, m in zip(wanted, margins, strict=True)]
        pairs = near(ranges, [_decimal(found[column].value) for column in columns])
        return [(rows[row], columns[column]) for row, column in pairs]

    def explain(self, gold: Part, found: Part, path: Path, violations: Violations) -> None:
        """Collect the violations along the pairs that `worth` has found."""
        wanted, given = gold.value, found.value
        if gold.number == found.number:
            return
        if isinstance(wanted, dict) and isinstance(given, dict):
            for key, part in wanted.items():
                if key in given:
                    self.explain(part, given[key], (*path, key), violations)
                else:
                    violations.add((*path, key), "missing")
            for key in given:
                if key not in wanted:
                    violations.add((*path, key), "extra")
        elif isinstance(wanted, list) and isinstance(given, list):
            _, pairs = self.arrays.get((id(gold), id(found)), (0, []))
            rows, columns = map(set, zip(*pairs, strict=True)) if pairs else (set(), set())
            lost = [row for row in range(len(wanted)) if row not in rows]
            over = [column for column in range(len(given)) if column not in columns]
            for row, column in [*pairs, *zip(lost, over, strict=False)]:
                self.explain(wanted[row], given[column], (*path, column), violations)
            for row in lost[len(over) :]:
                violations.add((*path, row), "missing")
            for column in over[len(lost) :]:
                violations.add((*path, column), "extra")
        elif not self.matching.close(wanted, given):
            violations.add(path, f"{value_text(given)} is not {value_text(wanted)}")


def _grouped(
    gold: list[Part], found: list[Part], rows: Iterable[int], columns: Iterable[int], kind: Callable[[Part], object]
) -> dict[object, tuple[list[int], list[int]]]:
    """Return the positions of items by kind, for the kinds that both sides have."""
    groups: dict[object, tuple[list[int], list[int]]] = {}
    for row in rows:
        groups.setdefault(kind(gold[row]), ([], []))[0].append(row)
    for column in columns:
        group = groups.get(kind(found[column]))
        if group:
            group[1].append(column)
    return {key: group for key, group in groups.items() if group[1]}


def _number(part: Part) -> int:
    return part.number


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _decimal(number: float) -> Decimal:
    return Decimal(repr(number))  # Decimal(0.1) would be 0.1000000000000000055...
