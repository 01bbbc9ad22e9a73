"""Compiled JSON schemas, which validate parsed values and return the rules for each part of the schema.

``SchemaEngine('{"type": "integer"}').is_valid("x")`` is False.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urljoin

from rewardkit.errors import MissingExtraError, shorten
from rewardkit.rewards.json_schema.checks import check_document, read_schema
from rewardkit.rewards.json_schema.document import Node, SchemaDocument, refusal
from rewardkit.text.json_text import path_text, printable, value_text

if TYPE_CHECKING:
    from jsonschema_rs import Validator


# The rules of a JSON schema for one value, after following ``$ref``, ``allOf`` and unions.


Kind = Literal["object", "array", "scalar"]

_PYTHON_KINDS = {"object": dict, "array": list}

# Keywords that check a value as a whole: no single property or item is to blame for a violation.
_WHOLE = ("not", "if", "const", "enum", "$dynamicRef", "$recursiveRef")
_UNIONS = ("anyOf", "oneOf")
_SIZE = ("minProperties", "maxProperties")
_WHOLE_OBJECT = (
    *_SIZE,
    "propertyNames",
    "unevaluatedProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
)
_WHOLE_ARRAY = ("contains", "unevaluatedItems")


@dataclass(frozen=True)
class TaggedUnion:
    """A union in which each branch requires a different string in one property, the tag.

    Example: ``kind`` in ``[{"properties": {"kind": {"const": "card"}, ...}}, {"properties": {"kind": ...}}]``.
    """

    tag: str
    branches: Mapping[str, dict[str, Any]]

    def branch(self, value: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the only branch that matches the tag in `value`; None if the tag is missing or unknown."""
        tag = value.get(self.tag)
        return self.branches.get(tag) if isinstance(tag, str) else None


@dataclass(frozen=True)
class Level:
    """A subschema's rules for an object or array, except the rules for the values inside it.

    Attributes:
        members: the schemas that all apply to the value.
        required: the names of the required properties.
        takes: True if the value may be an object or array.
        whole: the keywords for checks of the whole value.
        unions: the unions in which a tag selects the branch.
    """

    members: tuple[Mapping[str, Any], ...]
    required: tuple[str, ...]
    takes: bool
    whole: tuple[str, ...]
    unions: tuple[TaggedUnion, ...]

    @cached_property
    def parts(self) -> frozenset[int]:
        """The ``id()`` of each member."""
        return frozenset(map(id, self.members))

    @cached_property
    def names(self) -> frozenset[str]:
        """The properties that are declared or required."""
        return frozenset(self.required).union(*(member.get("properties", ()) for member in self.members))

    @cached_property
    def whole_object(self) -> bool:
        """True if an object can violate a rule even if every property is valid."""
        return any(keyword not in _WHOLE_ARRAY for keyword in self.whole)

    @cached_property
    def whole_map(self) -> bool:
        """True if an object can violate a rule even if every property and the number of properties are valid."""
        return any(keyword not in (*_WHOLE_ARRAY, *_SIZE) for keyword in self.whole)

    @cached_property
    def whole_array(self) -> bool:
        """True if an array can violate a rule even if every item and the length are valid."""
        return any(keyword not in _WHOLE_OBJECT for keyword in self.whole)

    def listed_items(self, document: SchemaDocument) -> int:
        """Return the number of items that have their own subschema."""
        lists = (member.get(_items_keyword(member, document)) for member in self.members)
        return max((len(listed) for listed in lists if isinstance(listed, list)), default=0)

    def item_schemas(self, index: int, document: SchemaDocument) -> Iterator[Node]:
        """Yield the subschemas for the item at `index`."""
        for member in self.members:
            draft = document.draft(member)
            listed = member.get(_items_keyword(member, document))
            rest = member.get("additionalItems" if draft < 2020 and isinstance(listed, list) else "items")
            if isinstance(listed, list) and index < len(listed):
                yield listed[index]
            elif rest is not None:
                yield rest


def _items_keyword(member: Mapping[str, Any], document: SchemaDocument) -> str:
    """Return the keyword for lists of subschemas: ``prefixItems``, which was called ``items`` before draft 2020-12."""
    return "prefixItems" if document.draft(member) >= 2020 else "items"


def level_of(document: SchemaDocument, node: Node, kind: Kind, named: Iterable[Node] = ()) -> Level:
    """Return the rules that the subschema `node` in `document` has for a value of this kind.

    The level of ``{"allOf": [{"required": ["a"]}, {"required": ["b"]}]}`` requires ``a`` and ``b``. The document must
    not contain a loop for the same value.

    Args:
        named: the union branches that the value's tags select.
    """
    members: list[Mapping[str, Any]] = []
    whole_keywords: list[str] = []
    unions: list[TaggedUnion] = []
    picked = {id(branch) for branch in named}
    waiting = [node]
    while waiting:
        parts, is_local = _members(document, waiting.pop())
        members += parts
        if not is_local:
            whole_keywords.append("$ref")
        for member in parts:
            whole_keywords += (keyword for keyword in (*_WHOLE, *_WHOLE_OBJECT, *_WHOLE_ARRAY) if keyword in member)
            for keyword in _UNIONS:
                if keyword not in member:
                    continue
                branches = member[keyword]
                possible = [branch for branch in branches if _takes(document, branch, kind)]
                # If no branch accepts the kind, the value should have been the X in "X or null".
                possible = possible or [branch for branch in branches if not _is_null(branch)]
                chosen = possible if len(possible) == 1 else [branch for branch in possible if id(branch) in picked]
                union = _tagged(document, possible) if kind == "object" and not chosen else None
                if union:
                    unions.append(union)
                elif not chosen:
                    whole_keywords.append(keyword)
                waiting += chosen
    return Level(
        members=tuple(members),
        required=tuple(sorted({name for member in members for name in member.get("required", ())})),
        takes=all(_allows(member, kind) for member in members),
        whole=tuple(dict.fromkeys(whole_keywords)),
        unions=tuple(unions),
    )


def _members(document: SchemaDocument, node: Node) -> tuple[list[dict[str, Any]], bool]:
    """Return `node` with its ``$ref`` and ``allOf`` parts, and whether all references stay in the document."""
    members: list[dict[str, Any]] = []
    is_local = True
    waiting = [node]
    while waiting:
        member = waiting.pop()
        if not isinstance(member, dict):
            continue
        if "$ref" in member:
            target = document.target(member)
            is_local = is_local and target is not None
            waiting.append(target)
            if document.only_reference(member):
                continue
        members.append(member)
        waiting.extend(member.get("allOf", ()))
    return members, is_local


def _takes(document: SchemaDocument, node: Node, kind: Kind) -> bool:
    """Return whether the subschema `node` can accept a value of this kind."""
    return node is not False and all(_allows(member, kind) for member in _members(document, node)[0])


def _is_null(node: Node) -> bool:
    return isinstance(node, dict) and node.get("type") == "null"


def _allows(member: Mapping[str, Any], kind: Kind) -> bool:
    declared = member.get("type", kind)
    if kind == "scalar" or (declared != kind if isinstance(declared, str) else kind not in declared):
        return False
    values = [member["const"]] if "const" in member else member.get("enum")
    return values is None or any(isinstance(value, _PYTHON_KINDS[kind]) for value in values)


def _tagged(document: SchemaDocument, branches: list[Node]) -> TaggedUnion | None:
    """Return `branches` as a union tagged by a property that differs in each branch; None if no property does."""
    declared = [_properties(document, branch) for branch in branches]
    for name in sorted(set(declared[0]).intersection(*declared[1:])) if declared else ():
        texts = [_texts(document, properties[name]) for properties in declared]
        if all(texts) and len(set().union(*texts)) == sum(map(len, texts)):
            pairs = zip(texts, branches, strict=True)
            return TaggedUnion(name, {text: branch for branch_texts, branch in pairs for text in sorted(branch_texts)})
    return None


def _properties(document: SchemaDocument, node: Node) -> dict[str, list[Node]]:
    """Return the subschemas that `node` declares for each property."""
    declared: dict[str, list[Node]] = {}
    for member in _members(document, node)[0]:
        for name, part in member.get("properties", {}).items():
            declared.setdefault(name, []).append(part)
    return declared


def _texts(document: SchemaDocument, nodes: list[Node]) -> set[str]:
    """Return the strings that all `nodes` allow as a value; empty if they may allow anything else."""
    for member in (member for node in nodes for member in _members(document, node)[0]):
        values = [member["const"]] if "const" in member else member.get("enum", ())
        if values and all(isinstance(value, str) for value in values):
            return set(values)
    return set()


# Rewrite lookaheads at the start of patterns: the engine that checks patterns in linear time does not support them.


def rewritten(schema: dict[str, Any]) -> None:
    """Rewrite the lookaheads in the patterns of `schema`, in place.

    ``{"pattern": "^(?=.*[0-9])a"}`` becomes ``{"pattern": "^a", "allOf": [{"pattern": "^(?:.*[0-9])"}]}``.

    Raises:
        RewardDefinitionError: the draft is unknown, or a reference has no target in the schema.
    """
    # Only subschemas have patterns: a "pattern" inside "const" or "examples" is data.
    parts = [part for part in SchemaDocument(schema).nodes if "(?" in str(part.get("pattern", ""))]
    for part in parts:
        split = _split(part["pattern"]) if isinstance(part["pattern"], str) else None
        around = part.get("allOf", [])
        if split and isinstance(around, list):
            conditions, part["pattern"] = split
            part["allOf"] = [*around, *conditions]


def _split(pattern: str) -> tuple[list[dict[str, Any]], str] | None:
    """Return (schemas for the lookaheads at the start, rest of the pattern); None if there are no lookaheads."""
    closings = _closings(pattern)
    if closings is None or not pattern.startswith("^"):
        return None
    conditions: list[dict[str, Any]] = []
    start = 1
    while pattern.startswith(("(?=", "(?!"), start):
        end = closings[start]
        condition = {"pattern": f"^(?:{pattern[start + 3 : end]})"}
        # Patterns say nothing about values that are not texts, so their negation must not either.
        absent = {"anyOf": [{"not": {"type": "string"}}, {"not": condition}]}
        conditions.append(absent if pattern[start + 2] == "!" else condition)
        start = end + 1
        if pattern[start : start + 1] in ("*", "+", "?", "{"):
            return None
    return (conditions, f"^{pattern[start:]}") if conditions else None


def _closings(pattern: str) -> dict[int, int] | None:
    """Return a mapping from the position of each opening parenthesis to the position of its closing parenthesis.

    ``_closings("^(a(b))") == {3: 5, 1: 6}``. The result is None if the pattern cannot be split because it has a choice
    outside all parentheses, contains a character set that engines read differently, or is not balanced.
    """
    closings: dict[int, int] = {}
    opened: list[int] = []
    in_set = escaped = False
    for index, character in enumerate(pattern):
        if escaped or character == "\\":
            escaped = not escaped
        elif in_set:
            if character == "[" or (character == "]" and pattern[index - 1] in "[^"):
                return None
            in_set = character != "]"
        elif character == "[":
            in_set = True
        elif character == "(":
            opened.append(index)
        elif character == ")" and opened:
            closings[opened.pop()] = index
        elif character == ")" or (character == "|" and not opened):
            return None
    return None if opened or in_set else closings


# The compiled rules of a schema for one value: which properties or items are wrong, and the errors of the value itself.


Check = Callable[[Any], bool]
Part = tuple[Node, Check]
"""A subschema and the function that checks whether a value satisfies it."""
Key = str | int
"""A property name or an item index."""


class PlainCheck:
    """The check for a keyword that does not need another schema.

    Args:
        fits: checks whether a value satisfies the keyword.
        explained: describes the error in an invalid value, in words that follow the value.
    """

    def __init__(self, fits: Check, explained: Callable[[object], str]) -> None:
        self._fits = fits
        self._explained = explained
        self._words = ""  # the same for all values, and slow to compute

    def problem(self, value: object) -> str:
        """Return a description of the error in `value`; empty if it is valid."""
        if self._fits(value):
            return ""
        self._words = self._words or self._explained(value)
        return value_text(value) + self._words


class Rules:
    """The rules that one part of a schema has for objects, arrays, or other values.

    Args:
        level: the schema's requirements at this level.
        keys: the properties or items that have their own rules.
        other: a key that represents all other keys; None if patterns decide, so that each name must be checked.
        parts_for: finds the subschemas for a property or an item.
        plain: creates the checks for keywords that do not need another schema.
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
        slot = key if key in self._keys else self._other
        if slot is None:  # not cached: a policy can write any number of names
            return self._parts_for(self.level, key)
        if slot not in self._parts:
            self._parts[slot] = self._parts_for(self.level, slot)
        return self._parts[slot]

    def wrong(self, entries: Iterable[tuple[Key, Any]]) -> list[tuple[Any, Any]]:
        """Return the entries in an object or array whose values violate their subschemas, in order."""
        checks, check = self._checks, self._check
        if not self._keys and self._other is not None:
            fits = check(self._other)
            return [(key, value) for key, value in entries if not fits(value)]
        return [(key, value) for key, value in entries if not (checks.get(key) or check(key))(value)]

    def _check(self, key: Key) -> Check:
        """Return one check for all of a property's or an item's subschemas."""
        parts = self.parts(key)
        check = parts[0][1] if len(parts) == 1 else partial(_fits_all, parts)
        if key in self._keys:
            self._checks[key] = check
        return check

    @cached_property
    def _plain_checks(self) -> list[PlainCheck]:
        return self._plain(self.level)

    def plain_problem(self, value: object) -> str:
        """Return a description of the first violated keyword in `plain`; empty if none is violated."""
        for check in self._plain_checks:
            if problem := check.problem(value):
                return problem
        return ""

    def problem(self, value: object) -> str:
        """Return a description of the errors in `value` as a whole."""
        plain = self.plain_problem(value)
        return plain or f"{value_text(value)} does not satisfy {', '.join(self.level.whole) or 'its schema'}"


def _fits_all(parts: tuple[Part, ...], value: object) -> bool:
    return all(fits(value) for _, fits in parts)


REGEX_BYTES = 10_000_000
"""The size limit for compiled patterns. It is close to the default in Rust's regex crate (10 MiB), but in whole
megabytes for the error message."""

ADDRESS = "https://rewardkit.invalid/schema"
"""The base URI for a schema without one. It has a path so that a relative ``$id`` (``"/line"``) can be resolved."""

_PLAIN = (
    *("type", "const", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"),
    *("pattern", "format", "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
)
"""The keywords that check a value without another schema, in the order in which notes mention them."""

_EXCLUSIVE = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
_KINDS: dict[type, Kind] = {dict: "object", list: "array"}
_NO_NAME = -1
"""A placeholder for a property that the schema does not name."""

_MASK = "\0"  # replaces the value in the validator's message, which would contain all of it


class SchemaEngine:
    """A compiled schema.

    Args:
        text: the schema as JSON.
        formats: True to also check ``format``.

    Raises:
        RewardDefinitionError: the schema is invalid, refers to anything outside itself, refers to itself for the same
            value, or is too large.
        MissingExtraError: jsonschema-rs is not installed.
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
        """The schema, which must not be changed."""
        return self._document.root

    def rules(self, node: Node, value: object) -> Rules:
        """Return the cached rules of the subschema `node` for values with the same type and tags as `value`."""
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
        if limit and isinstance(member.get(limit), bool):  # draft 4: it changes the meaning of the keyword
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
            # The linear-time engine has neither lookaround (but see `rewritten`) nor backreferences.
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
