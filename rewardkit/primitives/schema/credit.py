"""Compute how much of a JSON schema a value satisfies, and describe the violations.

For an invoice that must have ``sku`` (text), ``qty`` (integer) and ``color``,
``{"sku": "a-7", "qty": "31"}`` scores 1/3: ``color: missing; qty: "31" is not of type "integer"``.

The credit of a value under a schema follows ``$ref``, ``allOf``, and unions of which only one branch can hold the value
(the only one for objects in ``Line | str`` or "X or null"; the one named by a tag such as ``kind``):

- valid: 1. Only the validator decides that, and nothing else ever scores 1.
- an invalid object with required properties: the sum of the credits of these properties (0 for a missing one), divided
  by ``required + wrong + whole``: the number of required properties, plus the number of other properties that are
  invalid or not allowed, plus 1 if the schema has rules for which no single property is to blame (``not``,
  ``minProperties``, a union without a tag, ...). An object whose tag is missing or unknown has 0.
- an invalid array, or object without required properties (a map): the smallest credit among its items, divided by the
  number of invalid ones. Valid items do not make up for an invalid one, so padding earns nothing. With a wrong length
  or duplicates, or if the schema has rules for which no single item is to blame (``contains``, ...): 0.
- an invalid object or array inside another one that the same part of a recursive schema describes: 0; otherwise a
  mistake would weigh less the deeper it is nested.
- any other invalid value: 0. A placeholder of a wrong type earns what a missing property earns.

It follows by induction over the levels that fixing one violation without causing another never lowers the credit, and
causing one never raises it. A policy may leave out whatever the schema lets it leave out: ``[]`` is a valid list of
lines unless ``minItems`` says otherwise, and a property without rules accepts anything.

A union without a tag earns nothing by itself, because scoring the best of its branches would break that law: under
``{a, b, c} | {x, y}``, all required and nothing else allowed, ``{"x": 1}`` is half of the second branch. Adding ``a``,
a step toward the first branch, would make it a third of the second and a quarter of the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rewardkit.core.text.json_notes import Path, Violations, printable, value_text
from rewardkit.primitives.schema.checks import why_no_json
from rewardkit.primitives.schema.document import Node
from rewardkit.primitives.schema.engine import SchemaEngine
from rewardkit.primitives.schema.rules import Key, Part, Rules

HIGHEST_INVALID = 1.0 - 1e-6
"""The highest credit of an invalid value: gates open at their threshold minus 1e-9."""

INVALID_ITEMS = 100
EXAMINED_VALUES = 2_000
"""The limits of what is examined: an array with more invalid items scores 0, and so do all further invalid objects and
arrays of one value, so that a completion cannot cost seconds."""

SHOWN_TAGS = 4


def credit_of(engine: SchemaEngine, value: object, *, partial: bool = True, parsed: bool = False) -> tuple[float, str]:
    """Return (credit in [0, 1], note) for a JSON value; the note is empty for a valid one.

    Example: ``credit_of(SchemaEngine('{"type": "integer"}'), "x") == (0.0, '"x" is not of type "integer"')``.
    `parsed`: the value comes from our own parser, so JSON can hold all of it.
    Never raises for a value: one that JSON cannot hold, or on which the validator fails, scores 0.
    """
    try:
        problem = ("" if parsed else why_no_json(value)) or engine.cost.exceeded(value)
        if problem:
            return 0.0, problem
        if engine.is_valid(value):
            return 1.0, ""
        violations = Violations()
        credit = _Walk(engine, violations).credit(engine.root, value, ())
        return (credit if partial else 0.0), violations.note()
    except Exception as error:
        return 0.0, f"could not be checked: {type(error).__name__}: {printable(str(error))}"
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # raised for a fault inside the Rust validator
            raise
        return 0.0, "could not be checked: the validator failed on this value"


class _Walk:
    """A walk over one invalid value that adds up its credit and collects its violations."""

    def __init__(self, engine: SchemaEngine, violations: Violations) -> None:
        self.engine = engine
        self.violations = violations
        self.left_to_examine = EXAMINED_VALUES
        self._around: frozenset[int] = frozenset()  # the parts of the schema that describe the enclosing values

    def credit(self, node: Node, value: Any, path: Path) -> float:
        """Return the credit of `value`, which is known to be invalid under `node`."""
        rules = self.engine.rules(node, value)
        level = rules.level
        if not level.takes:
            self._blame(rules, value, path)
            return 0.0
        self.left_to_examine -= 1
        if self.left_to_examine < 0:
            self.violations.counted_all = False
            self._blame(rules, value, path)
            return 0.0
        around, parts = self._around, level.parts
        self._around = around | parts
        if isinstance(value, list):
            credit = self._items_credit(rules, level.whole_array, value, enumerate(value), path)
        elif level.unions:
            credit = self._untagged_credit(rules, value, path)
        elif level.required:
            credit = self._object_credit(rules, value, path)
        else:
            credit = self._items_credit(rules, level.whole_map, value, value.items(), path)
        self._around = around
        return min(credit, HIGHEST_INVALID) if around.isdisjoint(parts) else 0.0

    def _object_credit(self, rules: Rules, value: dict[str, Any], path: Path) -> float:
        before = self.violations.count
        required = rules.level.required
        wrong = dict(rules.wrong(value.items()))
        earned = 0.0
        for name in required:
            if name not in value:
                self.violations.add((*path, name), "missing")
            elif name in wrong:
                earned += self._part_credit(rules.parts(name), wrong.pop(name), (*path, name))
            else:
                earned += 1.0
        for name, part in wrong.items():
            self._part_credit(rules.parts(name), part, (*path, name))
        if self.violations.count == before:
            self._blame(rules, value, path)
        return earned / (len(required) + len(wrong) + rules.level.whole_object)

    def _items_credit(
        self, rules: Rules, whole: bool, value: Any, items: Iterable[tuple[Key, Any]], path: Path
    ) -> float:
        """Return the credit of an array, or of an object without required properties."""
        wrong = rules.wrong(items)
        worst = 1.0
        for key, item in wrong[: INVALID_ITEMS + 1]:
            worst = min(worst, self._part_credit(rules.parts(key), item, (*path, key)))
        if len(wrong) > INVALID_ITEMS:
            self.violations.counted_all = False
            return 0.0
        wrong_itself = bool(rules.plain_problem(value))
        if wrong_itself or not wrong:
            self._blame(rules, value, path)
        return 0.0 if wrong_itself or not wrong or whole else worst / len(wrong)

    def _untagged_credit(self, rules: Rules, value: dict[str, Any], path: Path) -> float:
        """Report an object that does not name its branch of a union: nothing in it can be checked."""
        for union in rules.level.unions:
            taken = " or ".join(map(value_text, list(union.branches)[:SHOWN_TAGS]))
            given = f"{value_text(value[union.tag])} is not" if union.tag in value else "missing;"
            self.violations.add((*path, union.tag), f"{given} {taken}")
        return 0.0

    def _part_credit(self, parts: Sequence[Part], value: object, path: Path) -> float:
        """Return the smallest credit of a wrong property or item under the schemas that apply to it."""
        credit = 1.0
        for node, fits in parts:
            if node is False:
                self.violations.add(path, "not allowed")
                return 0.0
            if len(parts) == 1 or not fits(value):
                credit = min(credit, self.credit(node, value, path))
        return credit

    def _blame(self, rules: Rules, value: object, path: Path) -> None:
        # Describing a violation costs more than finding it, and only the first few are shown.
        words = rules.problem(value) if self.violations.wants_words else ""
        self.violations.add(path, words)
