"""The compiled form of a JSON schema: validates parsed values, and has the rules of each of its parts.

``SchemaEngine('{"type": "integer"}').is_valid("x")`` is False.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

from rewardkit.core.errors import MissingExtraError, shorten
from rewardkit.core.text.json_notes import path_text, printable
from rewardkit.primitives.schema.checks import check_document, read_schema
from rewardkit.primitives.schema.document import Node, SchemaDocument, refusal
from rewardkit.primitives.schema.levels import Kind, Level, level_of
from rewardkit.primitives.schema.lookaheads import rewritten
from rewardkit.primitives.schema.rules import Check, Key, Part, PlainCheck, Rules

if TYPE_CHECKING:
    from jsonschema_rs import Validator

REGEX_BYTES = 10_000_000

ADDRESS = "https://rewardkit.invalid/schema"
"""The base URI of a schema without one. It has a path, so that a relative ``$id`` (``"/line"``) can be resolved."""

_PLAIN = (
    *("type", "const", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"),
    *("pattern", "format", "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
)
"""The keywords that check a value without another schema, in the order in which the notes name them."""

_EXCLUSIVE = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
_KINDS: dict[type, Kind] = {dict: "object", list: "array"}
_NO_NAME = -1
"""Stands for a property that the schema does not name."""

_MASK = "\0"  # replaces the value in the validator's message, which would contain all of it


class SchemaEngine:
    """A compiled schema.

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
        self.cost = check_document(self._document)
        root = self._document.root
        self._address = urljoin(ADDRESS, self._document.base)
        try:
            self.is_valid: Check = self._compiled(root).is_valid
            self._registry = jsonschema_rs.Registry([(self._address, root)], retriever=_fetch_nothing)
        except jsonschema_rs.ValidationError as error:
            raise refusal(_definition_problem(error)) from None
        except Exception as error:
            raise refusal(f"the schema cannot be used: {shorten(str(error))}.") from None
        self._checks: dict[int, Check] = {}
        self._patterns: dict[str, Check] = {}
        self._rules: dict[tuple[Any, ...], Rules] = {}

    @property
    def root(self) -> dict[str, Any]:
        """The schema; must not be changed."""
        return self._document.root

    def rules(self, node: Node, value: object) -> Rules:
        """Return the rules of the part `node` for a value like `value`; cached."""
        kind = type(value)
        rules = self._rules.get((kind, id(node))) or self._new_rules(node, kind, [])
        if not (rules.level.unions and isinstance(value, dict)):
            return rules
        named: list[dict[str, Any]] = []
        while branches := list(filter(None, (union.branch(value) for union in rules.level.unions))):
            named += branches
            key = (kind, id(node), *map(id, named))
            rules = self._rules.get(key) or self._new_rules(node, kind, named)
        return rules

    def _new_rules(self, node: Node, kind: type, named: list[dict[str, Any]]) -> Rules:
        level = level_of(self._document, node, _KINDS.get(kind, "scalar"), named)
        if kind is list:
            listed = level.listed_items(self._document)
            rules = Rules(level, range(listed), listed, self._item_parts, self._plain_checks)
        else:
            by_pattern = any(member.get("patternProperties") for member in level.members)
            other = None if by_pattern else _NO_NAME
            rules = Rules(level, level.names, other, self._property_parts, self._plain_checks)
        self._rules[(kind, id(node), *map(id, named))] = rules
        return rules

    def _property_parts(self, level: Level, name: Key) -> tuple[Part, ...]:
        parts: list[Part] = []
        for member in level.members:
            declared = name in member.get("properties", ())
            if declared:
                parts.append(self._part(member["properties"][name]))
            for pattern, node in member.get("patternProperties", {}).items():
                if self._matches(pattern, name):
                    declared = True
                    parts.append(self._part(node))
            if not declared and "additionalProperties" in member:
                parts.append(self._part(member["additionalProperties"]))
        return tuple(parts)

    def _item_parts(self, level: Level, index: Key) -> tuple[Part, ...]:
        return tuple(map(self._part, level.item_schemas(int(index), self._document)))

    def _part(self, node: Node) -> Part:
        if not isinstance(node, dict):
            return node, _everything if node else _nothing
        fits = self._checks.get(id(node))
        if fits is None:
            # By reference, so that the part keeps its context: $defs, anchors, the base URI.
            address = f"{self._address}#{quote(self._document.pointer(node), safe='/~')}"
            schema = {"$schema": self._document.dialect(node), "$ref": address}
            fits = self._checks[id(node)] = self._compiled(schema, registry=self._registry).is_valid
        return node, fits

    def _plain_checks(self, level: Level) -> list[PlainCheck]:
        return [
            self._plain_check(member, keyword)
            for member in level.members
            for keyword in _PLAIN
            if keyword in member
            and not (keyword == "type" and level.takes)
            and not (keyword in _EXCLUSIVE.values() and isinstance(member[keyword], bool))
        ]

    def _plain_check(self, member: Mapping[str, Any], keyword: str) -> PlainCheck:
        checked = {keyword: member[keyword]}
        limit = _EXCLUSIVE.get(keyword)
        if limit and isinstance(member.get(limit), bool):  # draft 4: it changes what the keyword means
            checked[limit] = member[limit]
        validator = self._compiled({"$schema": self._document.dialect(member), **checked}, mask=_MASK)

        def explained(value: object) -> str:
            try:
                validator.validate(value)
            except self._library.ValidationError as error:
                problem = str(error.message)
                return printable(problem[1:] if problem.startswith(_MASK) else f": {problem}")
            return ""

        return PlainCheck(validator.is_valid, explained)

    def _matches(self, pattern: str, name: object) -> bool:
        if pattern not in self._patterns:
            self._patterns[pattern] = self._compiled({"pattern": pattern}).is_valid
        return self._patterns[pattern](name)

    def _compiled(self, schema: dict[str, Any], **options: Any) -> Validator:
        return self._library.validator_for(
            schema,
            offline=True,
            validate_formats=self._formats,
            # The linear-time engine has neither lookaround (but see `lookaheads`) nor backreferences.
            pattern_options=self._library.RegexOptions(size_limit=REGEX_BYTES),
            **options,
        )


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


def _everything(value: object) -> bool:
    return True


def _nothing(value: object) -> bool:
    return False
