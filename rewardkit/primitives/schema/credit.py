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

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

from rewardkit.core.errors import MissingExtraError, shorten
from rewardkit.core.text.json_notes import Path, Violations, path_text, printable, value_text
from rewardkit.primitives.schema.checks import check_document, read_schema, why_no_json
from rewardkit.primitives.schema.document import Node, SchemaDocument, refusal
from rewardkit.primitives.schema.levels import Kind, Level, level_of
from rewardkit.primitives.schema.lookaheads import rewritten

if TYPE_CHECKING:
    from jsonschema_rs import Validator

HIGHEST_INVALID = 1.0 - 1e-6
"""The highest credit of an invalid value: gates open at their threshold minus 1e-9."""

INVALID_ITEMS = 100
EXAMINED_VALUES = 2_000
"""The limits of what is examined: an array with more invalid items scores 0, and so do all further invalid objects and
arrays of one value, so that a completion cannot cost seconds."""

REGEX_BYTES = 10_000_000

ADDRESS = "https://rewardkit.invalid/schema"
"""The base URI of a schema without one. It has a path, so that a relative ``$id`` (``"/line"``) can be resolved."""

# Keywords that check a value without another schema; the notes quote the validator for them.
_PLAIN: frozenset[str] = frozenset().union(
    ("type", "enum", "const", "format", "pattern", "minLength", "maxLength", "minimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems"),
    ("minProperties", "maxProperties"),
)
SHOWN_TAGS = 4

Check = Callable[[Any], bool]
Items = Iterator[tuple[str | int, object, Iterator[Node]]]
"""Key or index, value, and the subschemas for it."""

_MASK = "\0"  # replaces the value in the validator's message, which would contain all of it


class SchemaEngine:
    """A compiled schema: validates parsed JSON values and gives partial credit (formula above).

    Example: ``SchemaEngine('{"type": "integer"}').credit_of("x") == (0.0, '"x" is not of type "integer"')``.
    `text` is the schema as JSON; `formats`: check ``format``, too.
    Raises RewardDefinitionError for a schema that is invalid, refers to anything outside itself, refers to itself on
    the same value, or is too large; MissingExtraError without jsonschema-rs.
    """

    def __init__(self, text: str, formats: bool = True) -> None:
        try:
            import jsonschema_rs
        except ImportError:
            raise MissingExtraError.of("rk.json_schema", "json") from None
        self._library = jsonschema_rs
        self._formats = formats
        schema = read_schema(text)
        if "(?" in text:
            rewritten(schema)
        self._document = SchemaDocument(schema)
        check_document(self._document)
        root = self._document.root
        self._address = urljoin(ADDRESS, self._document.base)
        try:
            self._validator = self._compiled(root)
            self._registry = jsonschema_rs.Registry([(self._address, root)], retriever=_fetch_nothing)
        except jsonschema_rs.ValidationError as error:
            raise refusal(_definition_problem(error)) from None
        except Exception as error:
            raise refusal(f"the schema cannot be used: {shorten(str(error))}.") from None
        self._validators: dict[int, Validator] = {}
        self._plain_validators: dict[int, Validator] = {}
        self._patterns: dict[str, Validator] = {}
        self._levels: dict[tuple[str | int, ...], Level] = {}  # also keeps the levels alive, so their ids stay valid
        self._checks: dict[int, Mapping[str, tuple[Check, ...]]] = {}

    @property
    def root(self) -> dict[str, Any]:
        """The schema; must not be changed."""
        return self._document.root

    def credit_of(self, value: object, partial: bool = True, parsed: bool = False) -> tuple[float, str]:
        """Return (credit in [0, 1], note) for a JSON value; the note is empty for a valid one.

        `parsed`: the value comes from our own parser, so JSON can hold all of it.
        Never raises for a value: one that JSON cannot hold, or on which the validator fails, scores 0.
        """
        try:
            problem = "" if parsed else why_no_json(value)
            if problem:
                return 0.0, problem
            if self._validator.is_valid(value):
                return 1.0, ""
            violations = Violations()
            credit = _Walk(self, violations).credit(self._document.root, value, ())
            return (credit if partial else 0.0), violations.note()
        except Exception as error:
            return 0.0, f"could not be checked: {type(error).__name__}: {printable(str(error))}"
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # raised for a fault inside the Rust validator
                raise
            return 0.0, "could not be checked: the validator failed on this value"

    def valid(self, node: Node, value: object) -> bool:
        """Return whether `value` satisfies the part `node` of the schema."""
        if not isinstance(node, dict):
            return bool(node)
        validator = self._validators.get(id(node))
        if validator is None:
            # By reference, so that the part keeps its context: $defs, anchors, the base URI.
            address = f"{self._address}#{quote(self._document.pointer(node), safe='/~')}"
            schema = {"$schema": self._document.dialect(node), "$ref": address}
            validator = self._compiled(schema, registry=self._registry)
            self._validators[id(node)] = validator
        return validator.is_valid(value)

    def level(self, node: Node, value: object) -> Level:
        """Return the rules of the part `node` for a value like `value`; cached."""
        kind: Kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else "scalar"
        named: list[dict[str, Any]] = []
        while True:
            key = (kind, id(node), *map(id, named))
            if key not in self._levels:
                self._levels[key] = level_of(self._document, node, kind, named)
            level = self._levels[key]
            branches = [union.branch(value) for union in level.unions] if isinstance(value, dict) else []
            if not any(branches):
                return level
            named += filter(None, branches)

    def checks(self, level: Level) -> Mapping[str, tuple[Check, ...]]:
        """Return the checks for each property that `level` names; cached."""
        if id(level) not in self._checks:
            names = {name for member in level.members for name in member.get("properties", ())}.union(level.required)
            self._checks[id(level)] = {
                name: tuple(partial(self.valid, node) for node in self.property_schemas(level, name)) for name in names
            }
        return self._checks[id(level)]

    def property_schemas(self, level: Level, name: str) -> Iterator[Node]:
        """Return the subschemas for the property `name`."""
        for member in level.members:
            declared = name in member.get("properties", ())
            if declared:
                yield member["properties"][name]
            for pattern, node in member.get("patternProperties", {}).items():
                if self._matches(pattern, name):
                    declared = True
                    yield node
            if not declared and "additionalProperties" in member:
                yield member["additionalProperties"]

    def item_schemas(self, level: Level, index: int) -> Iterator[Node]:
        """Return the subschemas for the item at `index`."""
        return level.item_schemas(index, self._document)

    def plain_problem(self, level: Level, value: object) -> str:
        """Describe the first violated keyword that needs no other schema; empty if there is none."""
        for member in level.members:
            validator = self._plain_validators.get(id(member))
            if validator is None:
                plain = {keyword: member[keyword] for keyword in member if keyword in _PLAIN}
                validator = self._compiled({"$schema": self._document.dialect(member), **plain}, mask=_MASK)
                self._plain_validators[id(member)] = validator
            if not validator.is_valid(value):
                try:
                    validator.validate(value)
                except self._library.ValidationError as error:
                    problem = str(error.message)
                    words = problem[1:] if problem.startswith(_MASK) else f": {problem}"
                    return value_text(value) + printable(words)
        return ""

    def problem(self, level: Level, value: object) -> str:
        """Describe what is wrong with `value` as a whole."""
        plain = self.plain_problem(level, value)
        return plain or f"{value_text(value)} does not satisfy {', '.join(level.whole) or 'its schema'}"

    def _matches(self, pattern: str, name: str) -> bool:
        if pattern not in self._patterns:
            self._patterns[pattern] = self._compiled({"pattern": pattern})
        return self._patterns[pattern].is_valid(name)

    def _compiled(self, schema: dict[str, Any], **options: Any) -> Validator:
        return self._library.validator_for(
            schema,
            offline=True,
            validate_formats=self._formats,
            # The linear-time engine has neither lookaround (but see `lookaheads`) nor backreferences.
            pattern_options=self._library.RegexOptions(size_limit=REGEX_BYTES),
            **options,
        )


class _Walk:
    """A walk over one invalid value that adds up its credit and collects its violations."""

    def __init__(self, engine: SchemaEngine, violations: Violations) -> None:
        self.engine = engine
        self.violations = violations
        self.left_to_examine = EXAMINED_VALUES
        self._around: set[int] = set()  # the parts of the schema that describe the enclosing values

    def credit(self, node: Node, value: Any, path: Path) -> float:
        """Return the credit of `value`, which is known to be invalid under `node`."""
        level = self.engine.level(node, value)
        if not level.takes:
            self._blame(level, value, path)
            return 0.0
        self.left_to_examine -= 1
        if self.left_to_examine < 0:
            self.violations.counted_all = False
            self._blame(level, value, path)
            return 0.0
        parts = {id(member) for member in level.members}
        entered = parts - self._around
        self._around |= entered
        if isinstance(value, list):
            items = ((index, item, self.engine.item_schemas(level, index)) for index, item in enumerate(value))
            credit = self._items_credit(level, level.whole_array, value, items, path)
        elif level.unions:
            credit = self._untagged_credit(level, value, path)
        elif level.required:
            credit = self._object_credit(level, value, path)
        else:
            entries = ((name, part, self.engine.property_schemas(level, name)) for name, part in value.items())
            credit = self._items_credit(level, level.whole_map, value, entries, path)
        self._around -= entered
        return min(credit, HIGHEST_INVALID) if entered == parts else 0.0

    def _object_credit(self, level: Level, value: dict[str, Any], path: Path) -> float:
        before = self.violations.count
        checks = self.engine.checks(level)
        earned, wrong = 0.0, 0
        for name in level.required:
            if name not in value:
                self.violations.add((*path, name), "missing")
                continue
            for check in checks[name]:
                if not check(value[name]):
                    nodes = self.engine.property_schemas(level, name)
                    earned += self._part_credit(nodes, value[name], (*path, name))
                    break
            else:
                earned += 1.0
        for name, part in value.items():
            if name in level.required_names or (name in checks and all(check(part) for check in checks[name])):
                continue
            wrong += self._part_credit(self.engine.property_schemas(level, name), part, (*path, name)) < 1.0
        if self.violations.count == before:
            self._blame(level, value, path)
        return earned / (len(level.required) + wrong + level.whole_object)

    def _items_credit(self, level: Level, whole: bool, value: Any, items: Items, path: Path) -> float:
        """Return the credit of an array, or of an object without required properties."""
        worst, invalid = 1.0, 0
        for key, item, nodes in items:
            credit = self._part_credit(nodes, item, (*path, key))
            if credit < 1.0:
                worst, invalid = min(worst, credit), invalid + 1
                if invalid > INVALID_ITEMS:
                    self.violations.counted_all = False
                    return 0.0
        wrong_itself = bool(self.engine.plain_problem(level, value))
        if wrong_itself or not invalid:
            self._blame(level, value, path)
        return 0.0 if wrong_itself or not invalid or whole else worst / invalid

    def _untagged_credit(self, level: Level, value: dict[str, Any], path: Path) -> float:
        """Report an object that does not name its branch of a union: nothing in it can be checked."""
        for union in level.unions:
            taken = " or ".join(map(value_text, list(union.branches)[:SHOWN_TAGS]))
            given = f"{value_text(value[union.tag])} is not" if union.tag in value else "missing;"
            self.violations.add((*path, union.tag), f"{given} {taken}")
        return 0.0

    def _part_credit(self, nodes: Iterator[Node], value: object, path: Path) -> float:
        """Return the smallest credit of a property or an item under the schemas that apply to it."""
        credit = 1.0
        for node in nodes:
            if node is False:
                self.violations.add(path, "not allowed")
                return 0.0
            if not self.engine.valid(node, value):
                credit = min(credit, self.credit(node, value, path))
        return credit

    def _blame(self, level: Level, value: object, path: Path) -> None:
        # Describing a violation costs more than finding it, and only the first few are shown.
        words = self.engine.problem(level, value) if self.violations.wants_words else ""
        self.violations.add(path, words)


def _definition_problem(error: Any) -> str:
    where = path_text(error.instance_path)
    problem = f"the schema is not valid{f' at {where}' if where else ''}: {shorten(str(error.message))}."
    if 'is not a "regex"' in str(error.message):
        problem += (
            " Patterns run in linear time, so backreferences and lookaround (other than lookaheads right behind ^ in "
            f'"pattern") are not supported, and a compiled pattern may have at most {REGEX_BYTES // 1_000_000} MB.'
        )
    return problem


def _fetch_nothing(address: str) -> Any:
    raise ValueError(f"{address} is outside the schema and is not fetched")
