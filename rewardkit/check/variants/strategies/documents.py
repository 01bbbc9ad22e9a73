"""Documents: JSON for a schema, valid or with one violation.

``json_documents({"type": "object", "properties": {"qty": {"type": "integer"}}, "required": ["qty"]})`` draws ``{"qty":
0}``. With ``valid=False``, it draws ``{}``, ``{"qty": null}``, or ``{"qty": 0,}``.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

from hypothesis import assume, strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.check.variants.broken_texts import changed_values
from rewardkit.check.variants.strategies.texts import pattern_texts
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.rewards.json_schema.document import SchemaDocument
from rewardkit.rewards.json_schema.reward import JsonSchema

# Scalars for a JSON schema: numbers within bounds, texts with a pattern or format.


Value = SearchStrategy[Any]

_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_HINTS = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties", "propertyNames"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "string": ("pattern", "minLength", "maxLength", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_SPREAD = 10**6
"""The distance up to which values are drawn if a schema bounds them on only one side, or not at all. Arbitrary."""

_FORMATS: Mapping[str, Value] = {
    "date": st.dates().map(lambda day: day.isoformat()),
    "date-time": st.datetimes().map(lambda moment: moment.replace(microsecond=0).isoformat() + "Z"),
    "time": st.times().map(lambda moment: moment.replace(microsecond=0).isoformat() + "Z"),
    "email": st.from_regex(r"[a-z]{1,8}@[a-z]{1,8}\.(com|org)", fullmatch=True),
    "uuid": st.uuids().map(str),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "uri": st.from_regex(r"https://[a-z]{1,8}\.org/[a-z]{0,8}", fullmatch=True),
    "hostname": st.from_regex(r"[a-z]{1,8}\.org", fullmatch=True),
    "duration": st.integers(0, 99).map(lambda hours: f"PT{hours}H"),
    "regex": st.sampled_from(["a", "a*", "[0-9]+"]),
}


@dataclass
class Requirements:
    """The combined requirements of several schemas for one value."""

    members: list[dict[str, Any]] = field(default_factory=list)
    impossible: bool = False

    def all(self, keyword: str) -> list[Any]:
        return [member[keyword] for member in self.members if keyword in member]

    def most(self, keyword: str) -> Any:
        """Return the largest of several lower limits, or None if there are none."""
        return max((value for value in self.all(keyword) if not isinstance(value, bool)), default=None)

    def least(self, keyword: str) -> Any:
        """Return the smallest of several upper limits, or None if there are none."""
        return min((value for value in self.all(keyword) if not isinstance(value, bool)), default=None)

    @property
    def types(self) -> list[str]:
        """The allowed types, or, if the schemas name no types, the types that the other keywords imply."""
        type_sets = [{entry} if isinstance(entry, str) else set(entry) for entry in self.all("type")]
        if type_sets:
            allowed = [
                kind
                for kind in _TYPES
                if all(kind in entry or (kind == "integer" and "number" in entry) for entry in type_sets)
            ]
            return [kind for kind in allowed if kind != "integer" or "number" not in allowed]
        hinted = [
            kind for kind, words in _HINTS.items() if any(word in entry for entry in self.members for word in words)
        ]
        return hinted or ["null", "boolean", "integer", "string"]


def integers(requirements: Requirements) -> SearchStrategy[int]:
    """Draw integers within the required bounds."""
    low, high = _limits(requirements)
    steps = [step for step in requirements.all("multipleOf") if isinstance(step, int)]
    first = None if low is None else math.floor(low) + 1 if _open(requirements, "minimum", low) else math.ceil(low)
    last = None if high is None else math.ceil(high) - 1 if _open(requirements, "maximum", high) else math.floor(high)
    start = first if first is not None else (min(0, last) - _SPREAD if last is not None else -_SPREAD)
    end = last if last is not None else max(0, start) + _SPREAD
    if not steps:
        return st.integers(start, end) if start <= end else st.nothing()
    step = math.lcm(*steps)
    least, most = -(-start // step), end // step
    return st.integers(least, most).map(lambda count: count * step) if least <= most else st.nothing()


def floats(requirements: Requirements) -> SearchStrategy[float]:
    """Draw numbers within the required bounds."""
    low, high = _limits(requirements)
    if requirements.all("multipleOf"):
        step = requirements.all("multipleOf")[0]
        return (
            st.integers(-1000, 1000)
            .map(lambda n: n * step)
            .filter(lambda value: (low is None or value > low) and (high is None or value < high))
        )
    start = float(low) if low is not None else min(0.0, high if high is not None else 0.0) - _SPREAD
    end = float(high) if high is not None else max(0.0, start) + _SPREAD
    if start > end:
        return st.nothing()
    above = low is not None and _open(requirements, "minimum", low)
    under = high is not None and _open(requirements, "maximum", high)
    if start == end and (above or under):
        return st.nothing()
    return st.floats(start, end, allow_nan=False, allow_subnormal=False, exclude_min=above, exclude_max=under)


def _limits(requirements: Requirements) -> tuple[Any, Any]:
    lows = [
        limit for limit in (requirements.most("minimum"), requirements.most("exclusiveMinimum")) if limit is not None
    ]
    highs = [
        limit for limit in (requirements.least("maximum"), requirements.least("exclusiveMaximum")) if limit is not None
    ]
    return max(lows, default=None), min(highs, default=None)


def _open(requirements: Requirements, side: str, limit: Any) -> bool:
    """Return whether the limit itself is excluded. In draft 4, a separate flag specifies this."""
    word = f"exclusive{side.capitalize()}"
    return limit in [
        bound for bound in requirements.all(word) if not isinstance(bound, bool)
    ] or True in requirements.all(word)


def strings(requirements: Requirements) -> SearchStrategy[str]:
    """Draw texts with the required format, pattern, or length."""
    least, most = requirements.most("minLength") or 0, requirements.least("maxLength")
    for name in requirements.all("format"):
        if name in _FORMATS:
            return _FORMATS[name]
    patterns = requirements.all("pattern")
    if not patterns:
        return st.text(
            st.characters(exclude_categories=["Cs"]), min_size=least, max_size=least + 20 if most is None else most
        )
    texts = matching(patterns[0])
    top = math.inf if most is None else most
    return texts.filter(
        lambda text: least <= len(text) <= top and all(found_in(pattern, text) for pattern in patterns[1:])
    )


def matching(pattern: str) -> SearchStrategy[str]:
    """Draw texts in which a pattern is found, full matches first."""
    return pattern_texts(re.compile(pattern, re.ASCII))


def example(pattern: str) -> str:
    """Return a short text in which the pattern is found."""
    from hypothesis import find, settings

    return find(matching(pattern), lambda _: True, settings=settings(database=None, max_examples=20, derandomize=True))


def found_in(pattern: str, text: str) -> bool:
    """Return whether a pattern is found in a text."""
    return re.search(pattern, text, re.ASCII) is not None


# Values for a JSON schema, built from its keywords: ``{"type": "object", "required": ["a"]}`` gives ``{"a":
# null}``.


_DEEP = 3
"""The nesting level below which optional parts are omitted. Arbitrary: each level multiplies the size."""
# Arbitrary limits: a schema may refer to itself, and combinations of alternatives multiply.
_DEEPEST_SCHEMA = 24
_COMBINATIONS = 24


class SchemaValues:
    """Strategies for the parts of one schema document."""

    def __init__(self, document: SchemaDocument) -> None:
        self.document = document
        self._memory: dict[tuple[int, ...], Value] = {}

    def of(self, nodes: Sequence[Any], depth: int = 0) -> Value:
        """Draw values that fit all of `nodes`."""
        if depth > _DEEPEST_SCHEMA:
            return st.nothing()
        choices = [
            self._of_one(requirements, depth) for requirements in self._combine(nodes) if not requirements.impossible
        ]
        return st.one_of(choices)

    def _combine(self, nodes: Sequence[Any]) -> Iterator[Requirements]:
        """Yield the combined requirements of `nodes` for each combination of their branches."""
        requirements = Requirements()
        unions: list[list[Any]] = []
        queue = list(nodes)
        while queue:
            node = queue.pop(0)
            if not isinstance(node, dict):
                requirements.impossible = requirements.impossible or node is False
                continue
            queue += self.document.targets(node)
            if self.document.only_reference(node):
                continue
            requirements.members.append(node)
            queue += node.get("allOf", [])
            unions += [node[word] for word in ("anyOf", "oneOf") if word in node]
            if "if" in node:
                unions.append([{"allOf": [node["if"], node.get("then", True)]}, node.get("else", True)])
        if not unions:
            yield requirements
            return
        for branches in islice(product(*unions), _COMBINATIONS):
            for branch in self._combine(branches):
                yield Requirements(
                    [*requirements.members, *branch.members], requirements.impossible or branch.impossible
                )

    def _of_one(self, requirements: Requirements, depth: int) -> Value:
        fixed = requirements.all("const")
        if fixed:
            return st.just(fixed[0])
        if listed := requirements.all("enum"):
            return st.sampled_from(
                [choice for choice in listed[0] if all(choice in other for other in listed[1:])] or listed[0]
            )
        makers: dict[str, Callable[[], Value]] = {
            "null": lambda: st.none(),
            "boolean": lambda: st.booleans(),
            "integer": lambda: integers(requirements),
            "number": lambda: st.one_of(integers(requirements), floats(requirements)),
            "string": lambda: strings(requirements),
            "array": lambda: self._arrays(requirements, depth),
            "object": lambda: self._objects(requirements, depth),
        }
        return st.one_of([makers[kind]() for kind in requirements.types])

    def _below(self, nodes: Sequence[Any], depth: int) -> Value:
        """Draw a nested value. The strategy is deferred, because schemas may be recursive."""
        key = (depth, *map(id, nodes))  # the document keeps the nodes alive, so their ids stay unique
        if key not in self._memory:
            self._memory[key] = st.deferred(lambda: self.of(nodes, depth + 1))
        return self._memory[key]

    def _arrays(self, requirements: Requirements, depth: int) -> Value:
        least, most = requirements.most("minItems") or 0, requirements.least("maxItems")
        heads, rest = _items(requirements)
        count = min(max(map(len, heads), default=0), math.inf if most is None else most)
        first = [[head[index] for head in heads if index < len(head)] for index in range(int(count))]
        parts = [st.tuples(*(self._below(nodes, depth) for nodes in first)).map(list)]
        contained = requirements.all("contains")
        contained_count = (requirements.most("minContains") or 1) if contained else 0
        if contained:
            parts.append(
                st.lists(self._below([*rest, *contained], depth), min_size=contained_count, max_size=contained_count)
            )
        lower = max(0, least - len(first) - contained_count)
        # Arbitrary numbers: a few items are enough for a list.
        room = lower + (1 if depth > _DEEP else 3)
        upper = room if most is None else min(room, most - len(first) - contained_count)
        if False not in rest and upper >= max(lower, 1):
            parts.append(st.lists(self._below(rest, depth), min_size=lower, max_size=upper))
        arrays = st.tuples(*parts).map(lambda lists: [item for segment in lists for item in segment])
        return arrays.map(_distinct) if True in requirements.all("uniqueItems") else arrays

    def _objects(self, requirements: Requirements, depth: int) -> Value:
        required = list(dict.fromkeys(_flat(requirements.all("required"))))
        property_names = list(dict.fromkeys(_flat(requirements.all("properties"))))
        must = {name: self._below(self._property(requirements, name), depth) for name in required}
        may = {
            name: self._below(self._property(requirements, name), depth) for name in property_names if name not in must
        }
        may = {name: values for name, values in may.items() if False not in self._property(requirements, name)}
        fields = st.fixed_dictionaries(must, optional=may if depth <= _DEEP else {})
        least, most = requirements.most("minProperties") or 0, requirements.least("maxProperties")
        extra_count = max(0, least - len(must) - (len(may) if depth <= _DEEP else 0))
        objects = fields
        extra = self._extra(requirements, {*must, *may}, extra_count, depth)
        if extra is not None:
            objects = st.builds(lambda named, more: {**more, **named}, fields, extra)
        if least or most is not None:
            top = math.inf if most is None else most
            objects = objects.filter(lambda value: least <= len(value) <= top)
        return objects

    def _property(self, requirements: Requirements, name: str) -> list[Any]:
        """Return the schemas that apply to the property `name`."""
        nodes: list[Any] = []
        for member in requirements.members:
            schemas = [member["properties"][name]] if name in member.get("properties", {}) else []
            schemas += [
                node for pattern, node in member.get("patternProperties", {}).items() if found_in(pattern, name)
            ]
            nodes += schemas or [member[word] for word in ("additionalProperties",) if word in member]
        return nodes

    def _extra(self, requirements: Requirements, used_names: set[str], extra_count: int, depth: int) -> Value | None:
        """Draw properties that the schema does not name. Return None if it allows none."""
        patterns = [pattern for member in requirements.members for pattern in member.get("patternProperties", {})]
        additional_schemas = requirements.all("additionalProperties")
        names = requirements.all("propertyNames")
        kinds: list[SearchStrategy[dict[str, Any]]] = []
        most = extra_count + (2 if depth <= _DEEP else 0)
        for pattern in patterns:
            keys = matching(pattern).filter(lambda key: key not in used_names)
            kinds.append(
                st.dictionaries(
                    keys,
                    self._below(self._property(requirements, example(pattern)), depth),
                    min_size=extra_count,
                    max_size=most,
                )
            )
        if False not in additional_schemas and (
            any(isinstance(entry, dict) for entry in additional_schemas) or extra_count or depth == 0
        ):
            letters = "abcdefghijklmnopqrstuvwxyz"
            keys = self._below(names, depth) if names else st.text(letters, min_size=1, max_size=8)
            keys = keys.filter(lambda key: isinstance(key, str) and key not in used_names)
            keys = keys.filter(lambda key: not any(found_in(entry, key) for entry in patterns))
            kinds.append(
                st.dictionaries(keys, self._below(additional_schemas, depth), min_size=extra_count, max_size=most)
            )
        return st.one_of(kinds) if kinds and most else None


def _flat(lists: Sequence[Any]) -> list[Any]:
    return [item for entry in lists for item in (entry if isinstance(entry, (list, dict, tuple)) else [entry])]


def _items(requirements: Requirements) -> tuple[list[list[Any]], list[Any]]:
    """Return the schemas for the first items in an array, and the schemas for the remaining items."""
    heads: list[list[Any]] = []
    rest: list[Any] = []
    for member in requirements.members:
        listed = isinstance(member.get("items"), list)  # up to draft 2019-09
        heads.append(member["items"] if listed else member.get("prefixItems", []))
        rest += [member[word] for word in ("additionalItems" if listed else "items",) if word in member]
    return heads, rest


def _distinct(items: list[Any]) -> list[Any]:
    """Return the items without duplicates. They are compared as in JSON: 1 equals 1.0, but not true."""
    written = (
        json.dumps(int(item) if isinstance(item, float) and item.is_integer() else item, sort_keys=True)
        for item in items
    )
    return list(dict(zip(written, items, strict=True)).values())


_DEEPEST = 40
"""The maximum number of nesting levels. Arbitrary, but below the 64 levels that a safe JSON parser accepts."""


def json_documents(schema: Any = True, *, valid: bool = True) -> SearchStrategy[str]:
    """Draw JSON text that fits a schema, or violates it (or the JSON grammar) in exactly one place.

    Args:
        schema: a schema, as in ``rk.json_schema``: a dict, JSON text, a pydantic model, a dataclass, a TypedDict, or
            True for any JSON object or list.
        valid: False for one violation: a missing or extra property, a value with the wrong type, bounds, or format, or
            text that is not JSON (a trailing comma, an open bracket, single quotes, or words around it).

    Raises:
        RewardDefinitionError: the schema is unusable, or no value fits it.
        MissingExtraError: the extra ``json`` is not installed.
    """
    values = json_values(schema)
    if valid:
        return st.builds(_written, values, st.sampled_from(_STYLES))
    unlike = st.nothing() if schema is True else json_values(schema, valid=False)
    return st.one_of(unlike.map(json.dumps), values.flatmap(lambda value: _unparsable(json.dumps(value))))


def json_values(schema: Any = True, *, valid: bool = True) -> SearchStrategy[Any]:
    """Draw the values of `json_documents` as Python objects."""
    if schema is True:
        return _anything() if valid else st.nothing()
    checker = JsonSchema.of(schema)
    document = SchemaDocument(json.loads(checker.schema))
    values = SchemaValues(document).of([document.root])
    if values.is_empty:
        raise RewardDefinitionError(f"json_documents: no value fits the schema {shorten(schema)}")

    def fits(value: Any) -> bool:
        return _depth(value) <= _DEEPEST and checker.credit_of(value)[0] == 1.0

    return values.filter(fits) if valid else _broken(values.filter(fits), checker, document.root)


def unlike(value: Any) -> SearchStrategy[Any]:
    """Draw JSON values that differ from `value` in one place."""
    return st.sampled_from([other for other in changed_values(value) if other != value])


@st.composite
def _broken(draw: DrawFn, values: SearchStrategy[Any], checker: JsonSchema, root: dict[str, Any]) -> Any:
    value = draw(values)
    candidates = list(changed_values(value, root))
    # Each candidate differs in one place; the schema decides which ones are violations.
    indices = list(range(len(candidates)))
    for first in (True, False):
        drawn = [draw(st.sampled_from(indices)) for _ in range(4)] if first and indices else indices
        for index in drawn:
            other = candidates[index]
            if checker.credit_of(other)[0] < 1.0:
                return other
    assume(False)


def _unparsable(text: str) -> SearchStrategy[str]:
    """Draw versions of a JSON text with one violation of the JSON grammar."""
    invalid_texts = [f"{text},", f"JSON: {text}", f"{text}\nDone.", f"{text} {text}", f"/* */{text}"]
    if text[-1:] in "]}":
        invalid_texts += [text[:-1], f"{text}{text[-1]}", text.replace('"', "'") if '"' in text else text[1:]]
        invalid_texts += [f"{text[:-1]},{text[-1]}"]
    if text.startswith('{"'):
        key = text[1 : text.find('":') + 2]
        invalid_texts += [f"{{{key} 0, {text[1:]}", f"{{{key} NaN}}"]
    return st.sampled_from(invalid_texts)


_STYLES: list[Callable[[Any], str]] = [
    json.dumps,
    lambda value: json.dumps(value, indent=2),
    lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    lambda value: json.dumps(_shuffled(value)),
]


def _written(value: Any, style: Callable[[Any], str]) -> str:
    return style(value)


def _shuffled(value: Any) -> Any:
    """Return `value` with the properties in its objects in another order."""
    if isinstance(value, dict):
        names = list(value)
        random.Random(len(names)).shuffle(names)
        return {name: _shuffled(value[name]) for name in names}
    return [_shuffled(item) for item in value] if isinstance(value, list) else value


def _depth(value: Any) -> int:
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, below), default=0)


def _anything() -> SearchStrategy[Any]:
    """Draw any JSON object or list."""
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
    numbers = st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False))
    atoms = st.one_of(st.none(), st.booleans(), numbers, text)
    parts = st.recursive(atoms, lambda inner: _containers(inner, text), max_leaves=6)
    return _containers(parts, text)


def _containers(parts: SearchStrategy[Any], names: SearchStrategy[str]) -> SearchStrategy[Any]:
    return st.one_of(st.dictionaries(names, parts, max_size=4), st.lists(parts, max_size=4))
