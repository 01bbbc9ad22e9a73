"""Documents: JSON for a schema, valid or with one violation.

``json_documents({"type": "object", "properties": {"qty": {"type": "integer"}}, "required": ["qty"]})`` draws
``{"qty": 0}``; with ``valid=False``, it draws ``{}``, ``{"qty": null}``, ``{"qty": 0,}``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from hypothesis import assume, strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.primitives.json_schema import JsonSchema
from rewardkit.primitives.schema.document import SchemaDocument
from rewardkit.testing.json_changes import changed_values
from rewardkit.testing.strategies.schema_values import SchemaValues

_DEEPEST = 40
"""Levels of nesting; a safe JSON parser accepts 64."""


def json_documents(schema: Any = True, *, valid: bool = True) -> SearchStrategy[str]:
    """Draw JSON text that fits a schema, or violates it (or the JSON grammar) in exactly one place.

    Args:
        schema: as in ``rk.json_schema``: a dict, JSON text, a pydantic model, a dataclass, a TypedDict; True for any
            JSON object or list.
        valid: False for one violation: a missing or extra property, a value of the wrong type, out of bounds or
            misshapen, or text that is not JSON (a trailing comma, an open bracket, single quotes, words around it).

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
    made = SchemaValues(document).of([document.root])
    if made.is_empty:
        raise RewardDefinitionError(f"json_documents: no value fits the schema {shorten(schema)}")

    def fits(value: Any) -> bool:
        return _depth(value) <= _DEEPEST and checker.credit_of(value)[0] == 1.0

    return made.filter(fits) if valid else _broken(made.filter(fits), checker, document.root)


def unlike(value: Any) -> SearchStrategy[Any]:
    """Draw JSON values that differ from `value` in one place."""
    return st.sampled_from([other for other in changed_values(value) if other != value])


@st.composite
def _broken(draw: DrawFn, values: SearchStrategy[Any], checker: JsonSchema, root: dict[str, Any]) -> Any:
    value = draw(values)
    candidates = list(changed_values(value, root))
    # Each candidate differs in one place; the schema decides which ones are violations.
    places = list(range(len(candidates)))
    for first in (True, False):
        tried = [draw(st.sampled_from(places)) for _ in range(4)] if first and places else places
        for place in tried:
            other = candidates[place]
            if checker.credit_of(other)[0] < 1.0:
                return other
    assume(False)


def _unparsable(text: str) -> SearchStrategy[str]:
    """Draw the text with one thing that JSON does not allow."""
    ways = [f"{text},", f"JSON: {text}", f"{text}\nDone.", f"{text} {text}", f"/* */{text}"]
    if text[-1:] in "]}":
        ways += [text[:-1], f"{text}{text[-1]}", text.replace('"', "'") if '"' in text else text[1:]]
        ways += [f"{text[:-1]},{text[-1]}"]
    if text.startswith('{"'):
        key = text[1 : text.find('":') + 2]
        ways += [f"{{{key} 0, {text[1:]}", f"{{{key} NaN}}"]
    return st.sampled_from(ways)


_STYLES: list[Callable[[Any], str]] = [
    json.dumps,
    lambda value: json.dumps(value, indent=2),
    lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    lambda value: json.dumps(_shuffled(value)),
]


def _written(value: Any, style: Callable[[Any], str]) -> str:
    return style(value)


def _shuffled(value: Any) -> Any:
    """Return the value with the properties of objects in another order."""
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
