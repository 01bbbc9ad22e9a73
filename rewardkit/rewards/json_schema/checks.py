"""Reject schemas that cannot be checked safely, and find values that JSON cannot represent.

``{"$ref": "#"}`` refers to itself for the same value. Validators consider every value valid under such a schema, so
every completion would score 1.0. Therefore, ``check_document`` rejects it and names the loop. A schema that refers to
itself through ``properties`` or ``items`` is allowed, because each step goes one level deeper into the value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, final

from rewardkit.errors import near_miss, shorten
from rewardkit.rewards.json_schema.document import STRUCTURE, SchemaDocument, refusal
from rewardkit.text.json_text import MAX_CHARACTERS

# Arbitrary limits: reading a schema takes time and memory in proportion to its length, and the functions that read it
# recurse once per level, of which Python allows 1,000.
SCHEMA_CHARACTERS = 2_000_000
SCHEMA_DEPTH = 128
VALUE_DEPTH = 128
SAFE_INTEGER_BITS = 2_100
"""Integers with fewer bits have fewer than 640 digits, so Python can print them with any interpreter limit."""

SAME_VALUE_PARTS = 10_000
"""The maximum number of schema parts that apply to one value. A nested ``anyOf`` doubles their number at every level.
The limit is arbitrary: real schemas have hundreds."""

LONGEST_CHECK = 2e9
"""The maximum estimated time to check one completion, in nanoseconds (see `Cost`). The limit is arbitrary: a batch
waits for its slowest row."""
_PART, _NAME, _CHARACTER, _STATE = 25, 1_000, 3, 50
"""The nanoseconds, measured with jsonschema-rs 0.37, for one check of a schema part against a value, of a pattern
against a property name, and of a pattern against a character. The last number is for each of a pattern's states and
each character, if its automaton has too many states to be kept."""
_KEPT_STATES = 12
"""The maximum number of states for which the engine keeps all sets of states. It keeps a few thousand sets, not 2 **
13."""
PATTERN_STATES = 200_000
"""The maximum total number of states for all patterns. The limit is arbitrary: it amounts to 20 megabytes, because each
compiled state takes about 100 bytes."""

_KEYWORDS = STRUCTURE.union(
    ("type", "enum", "const", "format", "pattern", "minLength", "maxLength", "minimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems"),
    ("minContains", "maxContains", "required", "minProperties", "maxProperties", "dependentRequired"),
    ("contentMediaType", "contentEncoding", "title", "description", "default", "examples", "deprecated"),
    ("readOnly", "writeOnly", "$schema", "$id", "id", "$anchor", "$comment"),
)


def read_schema(text: str) -> dict[str, Any]:
    """Return the schema from JSON text.

    ``read_schema('{"type": "object"}') == {"type": "object"}``.

    Raises:
        RewardDefinitionError: the text is not a JSON object, repeats a key, has more than 2,000,000 characters or 128
            levels, or has no schema keyword.
    """
    if len(text) > SCHEMA_CHARACTERS:
        raise refusal(f"the schema has {len(text):,} characters, but the limit is {SCHEMA_CHARACTERS:,}")
    try:
        schema = json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise refusal(f"the schema is not valid JSON: {shorten(str(error))} in {shorten(text)}.") from None
    if not isinstance(schema, dict):
        raise refusal(f"a schema must be a JSON object, got {shorten(schema)}.")
    if schema and not _KEYWORDS.intersection(schema):
        hint = next(filter(None, (near_miss(key, _KEYWORDS) for key in schema)), "")
        raise refusal(
            f"no key of the schema is a JSON Schema keyword ({shorten(list(schema))}), so every value would "
            f'pass.{hint} A schema looks like {{"type": "object", "properties": {{"name": {{"type": '
            '"string"}}, "required": ["name"]}.'
        )
    _check_depth(schema)
    return schema


@final
@dataclass(frozen=True)
class Cost:
    """The maximum cost of checking a schema, in nanoseconds: per value, per property name, and per character."""

    value: int
    name: int
    character: int

    def exceeded(self, value: Any) -> str:
        """Return the reason why checking a JSON value would take too long; empty if it would not."""
        # The most that a text can contain: a value takes two characters, a name five.
        if self._of(MAX_CHARACTERS // 2, MAX_CHARACTERS // 5, MAX_CHARACTERS) <= LONGEST_CHECK:
            return ""
        values = names = characters = 0
        waiting = [value]
        while waiting:
            part = waiting.pop()
            values += 1
            if type(part) is str:
                characters += len(part)
            elif type(part) is list:
                waiting += part
            elif type(part) is dict:
                names += len(part)
                characters += sum(map(len, part))
                waiting += part.values()
        if self._of(values, names, characters) <= LONGEST_CHECK:
            return ""
        return f"{values:,} values with {characters:,} characters are more than this schema can check in time"

    def _of(self, values: int, names: int, characters: int) -> int:
        return self.value * (values + names) + self.name * names + self.character * characters


def check_document(document: SchemaDocument) -> Cost:
    """Return a schema's cost; reject a schema that refers to itself, or branches excessively, for the same value.

    ``check_document(SchemaDocument({"allOf": [{"$ref": "#"}]}))`` raises a RewardDefinitionError.

    Raises:
        RewardDefinitionError: the schema is rejected. The message names the loop or the location.
    """
    parts_from: dict[int, int] = {}
    for start in document.nodes:
        if id(start) not in parts_from:
            _explore(document, start, parts_from)
    of_names = [name for node in document.nodes for name in _mapping(node.get("patternProperties"))]
    patterns = [*of_names, *(text for node in document.nodes if isinstance(text := node.get("pattern"), str))]
    states = [_states_of_pattern(pattern) for pattern in patterns]
    if (total := sum(every for every, _ in states)) > PATTERN_STATES:
        raise refusal(
            f"the schema's patterns have {total:,} states in total, but at most {PATTERN_STATES:,} fit into memory. "
            "Lower the numbers in the patterns' braces, or use maxLength."
        )
    character = sum(_STATE * at_once if at_once > _KEPT_STATES else _CHARACTER for _, at_once in states)
    return Cost(_PART * max(parts_from.values()), _NAME * len(of_names), character)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


# An element of a schema's pattern; a count has at most nine digits, so that it stays a small number.
_ATOM = re.compile(
    r"""(?P<opening>\((?:\?(?:P?<[A-Za-z_]\w*>|[a-zA-Z-]*:|[=!]|<[=!]))?) | (?P<closing>\))
    | (?P<counted>\{(?P<least>\d{1,9})(?P<open>,(?P<most>\d{0,9}))?\}) | (?P<loop>[*+]) | (?P<silent>[?^$|])
    | \\[pP]\{[^}]*\} | \\. | \[\^?\]?(?:\\.|[^\]\\])*\] | .""",
    re.VERBOSE | re.DOTALL,
)


@dataclass
class _Group:
    """The part of a pattern's group that has been read.

    Attributes:
        states: the number of states in the group.
        atom: the number of states in its last atom.
        atom_repeats: True if the last atom is repeated or contains a repetition.
        repeats: True if anything in the group is repeated.
    """

    states: int = 0
    atom: int = 0
    atom_repeats: bool = False
    repeats: bool = False


def _states_of_pattern(pattern: str) -> tuple[int, int]:
    """Return (the number of states in a pattern, the number of states that can be active at once).

    The result is (200, 1) for ``^[a-z]{1,200}$`` and (9801, 9801) for ``([ab]{1,99}){1,99}``. A counted repetition
    creates many states. Many of them can be active at once if the pattern may start anywhere, after a loop, or if one
    repetition is inside another.
    """
    groups = [_Group()]
    loops = not pattern.startswith("^")
    at_once = False
    for match in _ATOM.finditer(pattern):
        group = groups[-1]
        if match["opening"]:
            groups.append(_Group())
        elif match["closing"] and len(groups) > 1:
            inner = groups.pop()
            outer = groups[-1]
            outer.states += inner.states
            outer.atom, outer.atom_repeats = inner.states, inner.repeats
            outer.repeats |= inner.repeats
        elif match["counted"]:
            times = int(match["most"] or match["least"])
            at_once |= times * (group.atom if group.atom_repeats else loops) > _KEPT_STATES
            group.states = min(group.states + group.atom * max(0, times - 1), 10**9)
            group.atom_repeats = group.repeats = True
            loops |= match["open"] == ","
        elif match["loop"]:
            at_once |= group.atom_repeats and group.atom > _KEPT_STATES
            loops = group.atom_repeats = group.repeats = True
        elif not match["silent"]:
            group.states, group.atom, group.atom_repeats = group.states + 1, 1, False
    states = sum(group.states for group in groups)
    return states, states if at_once else 1


def _explore(document: SchemaDocument, start: dict[str, Any], parts_from: dict[int, int]) -> None:
    # Depth first, with an explicit stack: a chain of references may be longer than Python's stack.
    path: dict[int, tuple[dict[str, Any], Iterator[dict[str, Any]]]] = {}
    totals: dict[int, int] = {}

    def enter(node: dict[str, Any]) -> None:
        path[id(node)] = (node, iter(document.on_same_value(node)))
        totals[id(node)] = 1

    enter(start)
    while path:
        key, (node, following) = next(reversed(path.items()))
        part = next(following, None)
        if part is None:
            if totals[key] > SAME_VALUE_PARTS:
                raise refusal(
                    f"more than {SAME_VALUE_PARTS:,} parts of the schema apply to one value, starting "
                    f"at #{document.pointer(node)}. Checking the value would never end. Simplify the nested anyOf, "
                    "oneOf, or allOf"
                )
            parts_from[key] = totals[key]
            del path[key]
            if path:
                totals[next(reversed(path))] += totals[key]
        elif id(part) in path:
            loop = [f"#{document.pointer(step)}" for step, _ in path.values()]
            loop = loop[loop.index(f"#{document.pointer(part)}") :]
            cycle = shorten(" -> ".join([*loop, loop[0]]))
            raise refusal(
                f"the schema refers to itself on the same value ({cycle}), so "
                "every value would pass. Recurse through properties or items instead."
            )
        elif id(part) in parts_from:
            totals[key] += parts_from[id(part)]
        else:
            enter(part)


def _check_depth(schema: dict[str, Any]) -> None:
    waiting: list[tuple[Any, int]] = [(schema, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > SCHEMA_DEPTH:
            raise refusal(f"the schema is nested deeper than {SCHEMA_DEPTH} levels.")
        if isinstance(node, dict | list):
            below = node.values() if isinstance(node, dict) else node
            waiting.extend((part, depth + 1) for part in below)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise ValueError(f"a key occurs twice in {shorten([key for key, _ in pairs])}")
    return read


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def why_no_json(value: Any, depth: int = VALUE_DEPTH) -> str:
    """Return the reason why JSON cannot represent `value`; empty if it can.

    ``why_no_json(float("nan")) == "a number is not finite"``. The validator reads such values as null, skips them, or
    raises an exception: the schema ``{"maximum": 5}`` accepted ``10**5000``.
    """
    kind = type(value)
    if kind is str:
        return "" if value.isascii() else _why_no_text(value)
    if kind is int:
        return "" if value.bit_length() < SAFE_INTEGER_BITS else _why_no_integer(value)
    if kind is float:
        return "" if isfinite(value) else "a number is not finite"
    if kind is bool or value is None:
        return ""
    if kind is not dict and kind is not list:
        return f"{kind.__name__} is not a JSON type"
    if depth == 0:
        return f"nested deeper than {VALUE_DEPTH} levels"
    for key in value if kind is dict else ():
        if type(key) is not str:
            return f"a key is of type {type(key).__name__}"
        if not key.isascii() and _why_no_text(key):
            return _why_no_text(key)
    for part in value.values() if kind is dict else value:
        problem = why_no_json(part, depth - 1)
        if problem:
            return problem
    return ""


def _why_no_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "a string contains half a character (a lone surrogate)"
    return ""


def _why_no_integer(number: int) -> str:
    try:
        str(number)  # the validator also prints it, under the same limit of the interpreter
    except ValueError:
        return "an integer has more digits than Python can print"
    return ""
