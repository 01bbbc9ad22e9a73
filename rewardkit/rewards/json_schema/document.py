"""A JSON schema document, with an index of its parts and of the target of each ``$ref``.

``SchemaDocument({"$defs": {"id": {"type": "integer"}}, "properties": {"sku": {"$ref": "#/$defs/id"}}})`` has the parts
``#``, ``#/$defs/id``, and ``#/properties/sku``, and the last part refers to the second. A reference to anything outside
the document is an error, because rewardkit never fetches schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urljoin

from rewardkit.errors import RewardDefinitionError, near_miss, shorten

Node = Any
"""A subschema: a dict, or a bool (True allows every value, and False allows none)."""

# The keywords that contain subschemas, by whether the subschemas apply to the same value or to a value inside it.
_SAME_VALUE = ("not", "if", "then", "else")
_SAME_VALUE_LISTS = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_MAPS = ("dependentSchemas", "dependencies")
_BELOW = (
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "contentSchema",
)
_BELOW_LISTS = ("prefixItems", "items")
_BELOW_MAPS = ("properties", "patternProperties", "$defs", "definitions")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

SINGLE = frozenset((*_SAME_VALUE, *_BELOW))
"""The keywords that contain one subschema. The keywords in `LISTS` and `MAPS` contain several. ``items`` may have
either form."""
LISTS = frozenset((*_SAME_VALUE_LISTS, *_BELOW_LISTS))
MAPS = frozenset((*_SAME_VALUE_MAPS, *_BELOW_MAPS))
STRUCTURE = frozenset((*SINGLE, *LISTS, *MAPS, *_REFERENCES))

_DRAFTS = {
    "json-schema.org/draft-04/schema": 4,
    "json-schema.org/draft-06/schema": 6,
    "json-schema.org/draft-07/schema": 7,
    "json-schema.org/draft/2019-09/schema": 2019,
    "json-schema.org/draft/2020-12/schema": 2020,
}
# The draft of a schema that names none.
LATEST = 2020
_ADDRESSES = {
    draft: f"http{'s' if draft > 7 else ''}://{place}" + "#" * (draft <= 7) for place, draft in _DRAFTS.items()
}


def refusal(problem: str) -> RewardDefinitionError:
    """Return an error about a schema. Its message starts with ``rk.json_schema``: ``raise refusal("...")``."""
    return RewardDefinitionError(f"rk.json_schema: {problem}")


class SchemaDocument:
    """The parts of a schema document by JSON pointer, and the targets of their references.

    ``SchemaDocument({"$ref": "https://example.com/x.json"})`` raises a RewardDefinitionError.

    Args:
        root: the schema, a JSON value that must not be changed.

    Raises:
        RewardDefinitionError: the draft is unknown, or a reference has no target in the document.
    """

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.nodes: list[dict[str, Any]] = []
        self._drafts: dict[int, int] = {}
        self._pointers: dict[int, str] = {}
        self._bases: dict[int, str] = {}
        self._resources: dict[str, dict[str, Any]] = {}
        self._anchors: dict[tuple[str, str], dict[str, Any]] = {}
        self._dynamic: dict[str, list[dict[str, Any]]] = {}
        self._index(root, "", "", LATEST)
        for node in self.nodes:  # the list may grow: a reference may point to a part that no keyword declares
            self.targets(node)

    @property
    def base(self) -> str:
        """The document's URI, from its ``$id``; empty if it has none."""
        return self._bases[id(self.root)]

    def pointer(self, node: Node) -> str:
        """Return the JSON pointer of a subschema, such as ``/properties/sku``; empty for the root."""
        return self._pointers[id(node)]

    def draft(self, node: Mapping[str, Any]) -> int:
        """Return a subschema's draft: 4, 6, 7, 2019, or 2020. Each part may declare a different draft."""
        return self._drafts[id(node)]

    def dialect(self, node: Mapping[str, Any]) -> str:
        """Return the ``$schema`` URI for a subschema's draft."""
        return _ADDRESSES[self.draft(node)]

    def only_reference(self, node: Mapping[str, Any]) -> bool:
        """Return whether all other keywords next to ``$ref`` are ignored in `node`, as in drafts up to 7."""
        return "$ref" in node and self.draft(node) <= 7

    def target(self, node: dict[str, Any]) -> Node | None:
        """Return the target of the ``$ref`` in `node`; None for a meta-schema, which is built into the validator."""
        return self._resolve(node["$ref"], self._bases[id(node)])

    def targets(self, node: dict[str, Any]) -> list[dict[str, Any]]:
        """Return all schemas that `node` may refer to. A dynamic reference may have several targets."""
        schemas: list[dict[str, Any]] = []
        for keyword in _REFERENCES:
            reference = node.get(keyword)
            if isinstance(reference, str):
                target = self._resolve(reference, self._bases[id(node)])
                if isinstance(target, dict):
                    schemas.append(target)
                if keyword != "$ref":
                    schemas.extend(self._dynamic.get(reference.partition("#")[2], ()))
        return schemas

    def on_same_value(self, node: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the schemas that apply to the same value as `node`."""
        if self.only_reference(node):
            return self.targets(node)
        siblings = [part for _, part, same in _subschemas(node) if same and isinstance(part, dict)]
        return self.targets(node) + siblings

    def _index(self, start: Node, pointer: str, base: str, draft: int) -> None:
        waiting = [(start, pointer, base, draft)]
        while waiting:
            node, pointer, base, draft = waiting.pop()
            if not isinstance(node, dict) or id(node) in self._pointers:
                continue
            self._drafts[id(node)] = node_draft = _draft_of(node, draft)
            # The validator reads the keyword by the enclosing draft; for the root, by the draft that it declares.
            base = self._name(node, base, "id" if (draft if self._pointers else node_draft) == 4 else "$id")
            draft = node_draft
            self._pointers[id(node)] = pointer
            self._bases[id(node)] = base
            self.nodes.append(node)
            waiting.extend((part, pointer + path, base, draft) for path, part, _ in _subschemas(node))

    def _name(self, node: dict[str, Any], base: str, keyword: str) -> str:
        """Register the names of `node`, from `keyword` and its anchors, and return the base URI for its references."""
        name = node.get(keyword)
        if isinstance(name, str) and not self.only_reference(node):
            uri, _, fragment = name.partition("#")
            if uri:
                base = _joined(base, uri)
                self._resources[base] = node
            if fragment:
                self._anchors[base, fragment] = node
        if not self._pointers:
            self._resources[base] = node
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(node.get(keyword), str):
                self._anchors[base, node[keyword]] = node
        if isinstance(node.get("$dynamicAnchor"), str):
            self._dynamic.setdefault(node["$dynamicAnchor"], []).append(node)
        if node.get("$recursiveAnchor") is True:
            self._dynamic.setdefault("", []).append(node)
        return base

    def _resolve(self, reference: str, base: str) -> Node | None:
        uri, _, fragment = reference.partition("#")
        uri = _joined(base, uri) if uri else base
        if uri not in self._resources:
            if uri.partition("://")[2].startswith("json-schema.org/draft"):
                return None
            raise refusal(
                f"the schema refers to {shorten(reference)}, which is not part of the schema. Files and "
                "addresses are never fetched: copy the referenced schema into $defs."
            )
        fragment = unquote(fragment)
        if not fragment or fragment.startswith("/"):
            return self._walk(reference, uri, fragment)
        if (uri, fragment) not in self._anchors:
            anchors = [name for at, name in self._anchors if at == uri]
            hint = near_miss(fragment, anchors)
            raise refusal(f"the schema refers to {shorten(reference)}, but has no such $anchor.{hint}")
        return self._anchors[uri, fragment]

    def _walk(self, reference: str, uri: str, fragment: str) -> Node:
        node: Any = self._resources[uri]
        pointer, draft = self._pointers[id(node)] + fragment, self.draft(node)
        for token in fragment.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            try:
                node = node[int(key)] if isinstance(node, list) else node[key]
            except (KeyError, IndexError, ValueError, TypeError):
                hint = near_miss(key, node) if isinstance(node, dict) else ""
                raise refusal(f"the schema refers to {shorten(reference)}, which does not exist.{hint}") from None
            uri, draft = self._bases.get(id(node), uri), self._drafts.get(id(node), draft)
        if not isinstance(node, dict | bool):
            raise refusal(f"the schema refers to {shorten(reference)}, which is not a schema: {shorten(node)}.")
        self._index(node, pointer, uri, draft)
        return node


def _subschemas(node: dict[str, Any]) -> Iterator[tuple[str, Node, bool]]:
    """Yield (pointer from `node`, subschema, whether it applies to the same value as `node`)."""
    for keyword in (*_SAME_VALUE, *_BELOW):
        if isinstance(node.get(keyword), dict):
            yield f"/{keyword}", node[keyword], keyword in _SAME_VALUE
    for keyword in (*_SAME_VALUE_LISTS, *_BELOW_LISTS):
        if isinstance(node.get(keyword), list):
            for index, part in enumerate(node[keyword]):
                yield f"/{keyword}/{index}", part, keyword in _SAME_VALUE_LISTS
    for keyword in (*_SAME_VALUE_MAPS, *_BELOW_MAPS):
        if isinstance(node.get(keyword), dict):
            for name, part in node[keyword].items():
                token = name.replace("~", "~0").replace("/", "~1")
                yield f"/{keyword}/{token}", part, keyword in _SAME_VALUE_MAPS


def _joined(base: str, uri: str) -> str:
    try:
        return urljoin(base, uri)
    except ValueError as error:
        raise refusal(f"{shorten(uri)} is not a URI: {error}.") from None


def _draft_of(node: Mapping[str, Any], around: int) -> int:
    """Return the draft that `node` declares, or the enclosing draft `around` if it declares none."""
    if "$schema" not in node:
        return around
    address = node["$schema"]
    draft = _DRAFTS.get(str(address).removesuffix("#").partition("://")[2])
    if draft is None:
        raise refusal(
            f"unknown $schema {shorten(address)}. Meta-schemas are never fetched: use draft 4, 6, "
            "7, 2019-09, or 2020-12, or omit $schema for 2020-12."
        )
    return draft
