"""Values for a JSON schema, built from its keywords: ``{"type": "object", "required": ["a"]}`` gives ``{"a": null}``.

The keywords for a value are collected from all of its schemas (``allOf``, ``$ref``, one branch of each ``anyOf`` and
``oneOf``) before anything is drawn, so that few draws are rejected.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from rewardkit.primitives.schema.document import SchemaDocument
from rewardkit.testing.strategies.schema_scalars import (
    Asked,
    Value,
    example,
    floats,
    found_in,
    integers,
    matching,
    strings,
)

_DEEP = 3
"""Below this level of nesting, optional parts are left out."""
_DEEPEST = 24
_COMBINATIONS = 24


class SchemaValues:
    """Strategies for the parts of one schema document."""

    def __init__(self, document: SchemaDocument) -> None:
        self.document = document
        self._memory: dict[tuple[int, ...], Value] = {}

    def of(self, nodes: Sequence[Any], depth: int = 0) -> Value:
        """Draw values that fit all of `nodes`."""
        if depth > _DEEPEST:
            return st.nothing()
        choices = [self._of_one(asked, depth) for asked in self._asked(nodes) if not asked.impossible]
        return st.one_of(choices)

    def _asked(self, nodes: Sequence[Any]) -> Iterator[Asked]:
        """Yield the requirements for each combination of branches."""
        asked = Asked()
        unions: list[list[Any]] = []
        waiting = list(nodes)
        while waiting:
            node = waiting.pop(0)
            if not isinstance(node, dict):
                asked.impossible = asked.impossible or node is False
                continue
            waiting += self.document.targets(node)
            if self.document.only_reference(node):
                continue
            asked.members.append(node)
            waiting += node.get("allOf", [])
            unions += [node[word] for word in ("anyOf", "oneOf") if word in node]
            if "if" in node:
                unions.append([{"allOf": [node["if"], node.get("then", True)]}, node.get("else", True)])
        if not unions:
            yield asked
            return
        for branches in islice(product(*unions), _COMBINATIONS):
            for one in self._asked(branches):
                yield Asked([*asked.members, *one.members], asked.impossible or one.impossible)

    def _of_one(self, asked: Asked, depth: int) -> Value:
        fixed = asked.all("const")
        if fixed:
            return st.just(fixed[0])
        if listed := asked.all("enum"):
            return st.sampled_from([one for one in listed[0] if all(one in other for other in listed[1:])] or listed[0])
        makers: dict[str, Callable[[], Value]] = {
            "null": lambda: st.none(),
            "boolean": lambda: st.booleans(),
            "integer": lambda: integers(asked),
            "number": lambda: st.one_of(integers(asked), floats(asked)),
            "string": lambda: strings(asked),
            "array": lambda: self._arrays(asked, depth),
            "object": lambda: self._objects(asked, depth),
        }
        return st.one_of([makers[kind]() for kind in asked.types])

    def _below(self, nodes: Sequence[Any], depth: int) -> Value:
        """Draw a part of the value; deferred, because schemas may be recursive."""
        key = (depth, *map(id, nodes))  # the document keeps the nodes, and so their ids
        if key not in self._memory:
            self._memory[key] = st.deferred(lambda: self.of(nodes, depth + 1))
        return self._memory[key]

    def _arrays(self, asked: Asked, depth: int) -> Value:
        least, most = asked.most("minItems") or 0, asked.least("maxItems")
        heads, rest = _items(asked)
        count = min(max(map(len, heads), default=0), math.inf if most is None else most)
        first = [[head[place] for head in heads if place < len(head)] for place in range(int(count))]
        parts = [st.tuples(*(self._below(nodes, depth) for nodes in first)).map(list)]
        found = asked.all("contains")
        wanted = (asked.most("minContains") or 1) if found else 0
        if found:
            parts.append(st.lists(self._below([*rest, *found], depth), min_size=wanted, max_size=wanted))
        lower = max(0, least - len(first) - wanted)
        room = lower + (1 if depth > _DEEP else 3)
        upper = room if most is None else min(room, most - len(first) - wanted)
        if False not in rest and upper >= max(lower, 1):
            parts.append(st.lists(self._below(rest, depth), min_size=lower, max_size=upper))
        whole = st.tuples(*parts).map(lambda lists: [item for one in lists for item in one])
        return whole.map(_distinct) if True in asked.all("uniqueItems") else whole

    def _objects(self, asked: Asked, depth: int) -> Value:
        required = list(dict.fromkeys(_flat(asked.all("required"))))
        known = list(dict.fromkeys(_flat(asked.all("properties"))))
        must = {name: self._below(self._property(asked, name), depth) for name in required}
        may = {name: self._below(self._property(asked, name), depth) for name in known if name not in must}
        may = {name: values for name, values in may.items() if False not in self._property(asked, name)}
        fields = st.fixed_dictionaries(must, optional=may if depth <= _DEEP else {})
        least, most = asked.most("minProperties") or 0, asked.least("maxProperties")
        wanted = max(0, least - len(must) - (len(may) if depth <= _DEEP else 0))
        made = fields
        extra = self._extra(asked, {*must, *may}, wanted, depth)
        if extra is not None:
            made = st.builds(lambda own, more: {**more, **own}, fields, extra)
        if least or most is not None:
            top = math.inf if most is None else most
            made = made.filter(lambda value: least <= len(value) <= top)
        return made

    def _property(self, asked: Asked, name: str) -> list[Any]:
        """Return the schemas of the property `name`."""
        nodes: list[Any] = []
        for member in asked.members:
            own = [member["properties"][name]] if name in member.get("properties", {}) else []
            own += [node for pattern, node in member.get("patternProperties", {}).items() if found_in(pattern, name)]
            nodes += own or [member[word] for word in ("additionalProperties",) if word in member]
        return nodes

    def _extra(self, asked: Asked, taken: set[str], wanted: int, depth: int) -> Value | None:
        """Draw properties that the schema does not name; None if it allows none."""
        patterns = [pattern for member in asked.members for pattern in member.get("patternProperties", {})]
        behind = asked.all("additionalProperties")
        names = asked.all("propertyNames")
        kinds: list[SearchStrategy[dict[str, Any]]] = []
        most = wanted + (2 if depth <= _DEEP else 0)
        for pattern in patterns:
            keys = matching(pattern).filter(lambda key: key not in taken)
            kinds.append(
                st.dictionaries(
                    keys, self._below(self._property(asked, example(pattern)), depth), min_size=wanted, max_size=most
                )
            )
        if False not in behind and (any(isinstance(one, dict) for one in behind) or wanted or depth == 0):
            letters = "abcdefghijklmnopqrstuvwxyz"
            keys = self._below(names, depth) if names else st.text(letters, min_size=1, max_size=8)
            keys = keys.filter(lambda key: isinstance(key, str) and key not in taken)
            keys = keys.filter(lambda key: not any(found_in(one, key) for one in patterns))
            kinds.append(st.dictionaries(keys, self._below(behind, depth), min_size=wanted, max_size=most))
        return st.one_of(kinds) if kinds and most else None


def _flat(lists: Sequence[Any]) -> list[Any]:
    return [item for one in lists for item in (one if isinstance(one, (list, dict, tuple)) else [one])]


def _items(asked: Asked) -> tuple[list[list[Any]], list[Any]]:
    """Return the schemas of the first items, and those of the rest."""
    heads: list[list[Any]] = []
    rest: list[Any] = []
    for member in asked.members:
        listed = isinstance(member.get("items"), list)  # up to draft 2019-09
        heads.append(member["items"] if listed else member.get("prefixItems", []))
        rest += [member[word] for word in ("additionalItems" if listed else "items",) if word in member]
    return heads, rest


def _distinct(items: list[Any]) -> list[Any]:
    """Remove duplicates as JSON compares: 1 equals 1.0, but not true."""
    written = (
        json.dumps(int(one) if isinstance(one, float) and one.is_integer() else one, sort_keys=True) for one in items
    )
    return list(dict(zip(written, items, strict=True)).values())
