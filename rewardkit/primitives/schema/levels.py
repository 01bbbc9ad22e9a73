"""What a JSON schema says about one value, once its ``$ref`` and ``allOf`` are followed.

For ``{"$ref": "#/$defs/line", "$defs": {"line": {"required": ["qty"], "properties": {"qty": {...}}}}}`` the
level of the root requires ``qty``, and says which subschema ``qty`` has to fulfil.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rewardkit.primitives.schema.document import Node, SchemaDocument

# Rules over a value as a whole: when one is broken, no single property or item is to blame.
_WHOLE = ("anyOf", "oneOf", "not", "if", "const", "enum", "$dynamicRef", "$recursiveRef")
_WHOLE_OBJECT = (
    "minProperties",
    "maxProperties",
    "propertyNames",
    "unevaluatedProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
)
_WHOLE_ARRAY = ("contains", "unevaluatedItems")


@dataclass(frozen=True)
class Level:
    """All that a subschema asks of an object or array, besides what it asks of the values inside.

    `members` are the schemas that all apply to it, `whole` the keywords in them that judge it as a whole.
    """

    members: tuple[Mapping[str, Any], ...]
    required: tuple[str, ...]
    declares_properties: bool
    takes_objects: bool
    takes_arrays: bool
    whole: tuple[str, ...]

    @cached_property
    def whole_object(self) -> bool:
        """Whether an object can break a rule that no single property is to blame for."""
        return any(keyword not in _WHOLE_ARRAY for keyword in self.whole)

    @cached_property
    def whole_array(self) -> bool:
        """Whether an array can break a rule that no single item, nor its length, is to blame for."""
        return any(keyword not in _WHOLE_OBJECT for keyword in self.whole)

    def item_schemas(self, index: int, draft: int) -> Iterator[Node]:
        """The subschemas for the item at `index`; ``prefixItems`` was called ``items`` before 2020-12."""
        for member in self.members:
            listed = member.get("prefixItems" if draft >= 2020 else "items")
            rest = member.get("additionalItems" if draft < 2020 and isinstance(listed, list) else "items")
            if isinstance(listed, list) and index < len(listed):
                yield listed[index]
            elif rest is not None:
                yield rest


def level_of(document: SchemaDocument, node: Node) -> Level:
    """What the subschema `node` of `document` asks of a value that is an object or an array.

    Example: the level of ``{"allOf": [{"required": ["a"]}, {"required": ["b"]}]}`` requires ``a`` and ``b``.
    The document must be free of loops on the same value.
    """
    members: list[Mapping[str, Any]] = []
    whole: list[str] = []
    waiting = [node]
    while waiting:
        member = waiting.pop()
        if not isinstance(member, dict):
            continue
        if "$ref" in member:
            target = document.target(member)
            waiting.append(target)
            if target is None:
                whole.append("$ref")
            if document.only_reference(member):
                continue
        members.append(member)
        waiting.extend(member.get("allOf", ()))
        for keyword in (*_WHOLE, *_WHOLE_OBJECT, *_WHOLE_ARRAY):
            if keyword in member:
                branch = _beside_null(member[keyword]) if keyword in ("anyOf", "oneOf") else None
                if branch is None:
                    whole.append(keyword)
                else:
                    waiting.append(branch)
    required = tuple(sorted({name for member in members for name in member.get("required", ())}))
    return Level(
        members=tuple(members),
        required=required,
        declares_properties=bool(required) or any("properties" in member for member in members),
        takes_objects=all(_names(member, "object") for member in members),
        takes_arrays=all(_names(member, "array") for member in members),
        whole=tuple(dict.fromkeys(whole)),
    )


def _beside_null(branches: list[Node]) -> Node | None:
    """The X of "X or null", which is X for every object and array; None for other choices."""
    others = [branch for branch in branches if not (isinstance(branch, dict) and branch.get("type") == "null")]
    return others[0] if len(others) == 1 < len(branches) else None


def _names(member: Mapping[str, Any], kind: str) -> bool:
    declared = member.get("type", kind)
    return bool(declared == kind) if isinstance(declared, str) else kind in declared
