"""The rules of a JSON schema for one value, after following ``$ref``, ``allOf`` and unions.

For ``{"$ref": "#/$defs/line", "$defs": {"line": {"required": ["qty"], "properties": {"qty": {...}}}}}`` the
level of the root requires ``qty`` and names the subschema for ``qty``. A union is followed if only one of its branches
can hold the value: the only one for objects in ``Line | str``, or the one that a tag names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from rewardkit.rewards.json_schema.document import Node, SchemaDocument

Kind = Literal["object", "array", "scalar"]

_PYTHON_KINDS = {"object": dict, "array": list}

# Rules about a value as a whole: no single property or item is to blame for a violation.
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
    """A union whose branches each require a different text in one property, the tag.

    Example: ``kind`` in ``[{"properties": {"kind": {"const": "card"}, ...}}, {"properties": {"kind": ...}}]``.
    """

    tag: str
    branches: Mapping[str, dict[str, Any]]

    def branch(self, value: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the only branch that `value` can satisfy, by its tag; None if the tag is missing or unknown."""
        tag = value.get(self.tag)
        return self.branches.get(tag) if isinstance(tag, str) else None


@dataclass(frozen=True)
class Level:
    """The rules of a subschema for an object or array, apart from the rules for the values inside.

    `members` are the schemas that all apply to it; `takes`: whether it may be an object or array; `whole`: the keywords
    that check it as a whole; `unions`: the unions whose branch is chosen by a tag.
    """

    members: tuple[Mapping[str, Any], ...]
    required: tuple[str, ...]
    takes: bool
    whole: tuple[str, ...]
    unions: tuple[TaggedUnion, ...]

    @cached_property
    def parts(self) -> frozenset[int]:
        """The identities of the members."""
        return frozenset(map(id, self.members))

    @cached_property
    def names(self) -> frozenset[str]:
        """The properties that are declared or required."""
        return frozenset(self.required).union(*(member.get("properties", ()) for member in self.members))

    @cached_property
    def whole_object(self) -> bool:
        """Whether an object can violate a rule for which no single property is to blame."""
        return any(keyword not in _WHOLE_ARRAY for keyword in self.whole)

    @cached_property
    def whole_map(self) -> bool:
        """Whether an object can violate a rule for which neither a property nor their number is to blame."""
        return any(keyword not in (*_WHOLE_ARRAY, *_SIZE) for keyword in self.whole)

    @cached_property
    def whole_array(self) -> bool:
        """Whether an array can violate a rule for which neither an item nor its length is to blame."""
        return any(keyword not in _WHOLE_OBJECT for keyword in self.whole)

    def listed_items(self, document: SchemaDocument) -> int:
        """Return how many items have a subschema of their own."""
        lists = (member.get(_items_keyword(member, document)) for member in self.members)
        return max((len(listed) for listed in lists if isinstance(listed, list)), default=0)

    def item_schemas(self, index: int, document: SchemaDocument) -> Iterator[Node]:
        """Return the subschemas for the item at `index`."""
        for member in self.members:
            draft = document.draft(member)
            listed = member.get(_items_keyword(member, document))
            rest = member.get("additionalItems" if draft < 2020 and isinstance(listed, list) else "items")
            if isinstance(listed, list) and index < len(listed):
                yield listed[index]
            elif rest is not None:
                yield rest


def _items_keyword(member: Mapping[str, Any], document: SchemaDocument) -> str:
    """Return the keyword that lists subschemas by index: ``prefixItems`` was called ``items`` before 2020-12."""
    return "prefixItems" if document.draft(member) >= 2020 else "items"


def level_of(document: SchemaDocument, node: Node, kind: Kind, named: Iterable[Node] = ()) -> Level:
    """Return the rules of the subschema `node` of `document` for a value of this kind.

    Example: the level of ``{"allOf": [{"required": ["a"]}, {"required": ["b"]}]}`` requires ``a`` and ``b``.
    `named` are the branches that the value's tags name. The document must be free of loops on the same value.
    """
    members: list[Mapping[str, Any]] = []
    whole: list[str] = []
    unions: list[TaggedUnion] = []
    picked = {id(branch) for branch in named}
    waiting = [node]
    while waiting:
        found, known = _members(document, waiting.pop())
        members += found
        if not known:
            whole.append("$ref")
        for member in found:
            whole += (keyword for keyword in (*_WHOLE, *_WHOLE_OBJECT, *_WHOLE_ARRAY) if keyword in member)
            for keyword in _UNIONS:
                if keyword not in member:
                    continue
                branches = member[keyword]
                possible = [branch for branch in branches if _takes(document, branch, kind)]
                # If no branch can hold the value, it should have been the X in "X or null".
                possible = possible or [branch for branch in branches if not _is_null(branch)]
                chosen = possible if len(possible) == 1 else [branch for branch in possible if id(branch) in picked]
                union = _tagged(document, possible) if kind == "object" and not chosen else None
                if union:
                    unions.append(union)
                elif not chosen:
                    whole.append(keyword)
                waiting += chosen
    return Level(
        members=tuple(members),
        required=tuple(sorted({name for member in members for name in member.get("required", ())})),
        takes=all(_allows(member, kind) for member in members),
        whole=tuple(dict.fromkeys(whole)),
        unions=tuple(unions),
    )


def _members(document: SchemaDocument, node: Node) -> tuple[list[dict[str, Any]], bool]:
    """Return the parts of `node` by ``$ref`` and ``allOf``, and whether all references stay in the document."""
    members: list[dict[str, Any]] = []
    known = True
    waiting = [node]
    while waiting:
        member = waiting.pop()
        if not isinstance(member, dict):
            continue
        if "$ref" in member:
            target = document.target(member)
            known = known and target is not None
            waiting.append(target)
            if document.only_reference(member):
                continue
        members.append(member)
        waiting.extend(member.get("allOf", ()))
    return members, known


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
    """Return `branches` as a union by a property for which each accepts different texts; None if there is none."""
    declared = [_properties(document, branch) for branch in branches]
    for name in sorted(set(declared[0]).intersection(*declared[1:])) if declared else ():
        texts = [_texts(document, properties[name]) for properties in declared]
        if all(texts) and len(set().union(*texts)) == sum(map(len, texts)):
            pairs = zip(texts, branches, strict=True)
            return TaggedUnion(name, {text: branch for taken, branch in pairs for text in sorted(taken)})
    return None


def _properties(document: SchemaDocument, node: Node) -> dict[str, list[Node]]:
    """Return the subschemas that `node` declares for each property."""
    declared: dict[str, list[Node]] = {}
    for member in _members(document, node)[0]:
        for name, part in member.get("properties", {}).items():
            declared.setdefault(name, []).append(part)
    return declared


def _texts(document: SchemaDocument, nodes: list[Node]) -> set[str]:
    """Return the texts that a value under all of `nodes` may be; empty if it may be anything else."""
    for member in (member for node in nodes for member in _members(document, node)[0]):
        values = [member["const"]] if "const" in member else member.get("enum", ())
        if values and all(isinstance(value, str) for value in values):
            return set(values)
    return set()
