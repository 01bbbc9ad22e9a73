"""Columns: cells of a dataset for an annotation, typed or as the strings in data files.

``columns(bool)`` draws ``False``, ``"false"``, ``"no"``, ``"True"``; ``columns(list[int])`` draws ``[]`` and ``"[]"``.
"""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import TypeAdapter

from rewardkit.core.errors import CoercionError, RewardDefinitionError, shorten
from rewardkit.core.tree.coercion import Coercer
from rewardkit.core.tree.reward import Reward, bindings
from rewardkit.testing.strategies.documents import json_values
from rewardkit.testing.strategies.texts import numbers, sentences

_ANY = (Any, object, inspect.Parameter.empty)
_LISTS = {list: list, set: set, frozenset: frozenset, tuple: tuple}


def columns(annotation: Any = Any, *, written: bool | None = None) -> SearchStrategy[Any]:
    """Draw cells for a reward's argument with this annotation.

    Args:
        annotation: a type, also ``Annotated`` with constraints and parsers.
        written: True for only strings, False for only typed values; by default both.

    ``rk.coerce(cell, annotation)`` accepts every cell, and returns the same for a string as for the value it spells.

    Raises:
        RewardDefinitionError: cells of this type cannot be generated; list your own with ``st.sampled_from([...])``.
    """
    values = _values(annotation)
    coercer = Coercer.of(annotation)

    def fits(cell: Any) -> bool:
        try:
            coercer(cell)
        except CoercionError:
            return False
        return True

    def means_the_same(cell: tuple[Any, str]) -> bool:
        try:
            return bool(coercer(cell[1]) == coercer(cell[0]))
        except CoercionError:
            return False

    typed = values.filter(fits)
    pairs = values.flatmap(lambda value: st.tuples(st.just(value), st.sampled_from(_strings(value))))
    strings = pairs.filter(means_the_same).map(lambda pair: pair[1])
    return strings if written else typed if written is False else st.one_of(typed, strings)


def rows(reward: Reward, *, given: Mapping[str, Any] | None = None) -> SearchStrategy[dict[str, Any]]:
    """Draw a row of the data: a cell for each column that a reward's functions name.

    Args:
        reward: the reward.
        given: cells, or strategies for cells, that replace those drawn from the annotation.
    """
    cells: dict[str, SearchStrategy[Any]] = {}
    for _, binding in bindings(reward):
        for parameter in binding.columns:
            if parameter.source not in cells:
                cells[parameter.source] = columns(parameter.annotation)
    for name, own in (given or {}).items():
        cells[name] = own if isinstance(own, SearchStrategy) else st.just(own)
    return st.fixed_dictionaries(cells)


def _values(annotation: Any) -> SearchStrategy[Any]:
    """Draw values of a type, without its constraints."""
    if annotation in _ANY:
        return st.one_of(st.integers(-100, 100), numbers(), sentences())
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotated(annotation)
    if origin in (Union, types.UnionType):
        return st.one_of([_values(one) for one in inner])
    if origin is Literal:
        return st.sampled_from(inner)
    if annotation in (None, type(None)):
        return st.none()
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from(list(annotation))
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    kind = origin or annotation
    if kind is tuple and inner and inner[-1] is not Ellipsis:
        return st.tuples(*map(_values, inner))
    if kind in _LISTS:
        made: Any = _LISTS[kind]
        return st.lists(_values(inner[0] if inner else str), max_size=5).map(made)
    if kind in (dict, Mapping):
        return st.dictionaries(*(_values(one) for one in (inner or (str, int))), max_size=4)
    return _described(annotation)


def _annotated(annotation: Any) -> SearchStrategy[Any]:
    """Draw values that fit the schema of a constrained type; for a type with parsers, values that they accept."""
    coercer = Coercer.of(annotation)
    if not coercer.parses:
        try:
            return _described(annotation)
        except RewardDefinitionError:
            return _values(get_args(annotation)[0])
    lists = st.lists(st.one_of(numbers(), st.sampled_from(["red", "blue", "x"])), min_size=1, max_size=4, unique=True)
    letters = st.sampled_from(["A", "B", "C", "D", "yes", "no"])
    found = st.one_of(numbers(), letters, sentences(), lists, lists.map(json.dumps), json_values().map(json.dumps))
    return found.filter(lambda cell: _takes(coercer, cell))


def _takes(coercer: Coercer, cell: Any) -> bool:
    try:
        coercer(cell)
    except CoercionError:
        return False
    return True


def _described(annotation: Any) -> SearchStrategy[Any]:
    """Draw from the JSON schema of a type: pydantic models, dataclasses, TypedDicts, constrained types."""
    try:
        return json_values(annotation)
    except RewardDefinitionError:
        raise RewardDefinitionError(
            f"columns: cannot generate cells of type {shorten(annotation)}. Use st.sampled_from([...]) with your own."
        ) from None


def _strings(value: Any) -> list[str]:
    """Return the ways to write a value in a data file."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, bool):
        return [str(value).lower(), str(value), "yes" if value else "no", str(int(value))]
    if isinstance(value, Enum):
        return _strings(value.value)
    if value is None:
        return ["null", "None"]
    if isinstance(value, float):
        return [repr(value), f" {value!r}", f"{value:.17e}"]
    if isinstance(value, (int, Decimal, UUID)):
        return [str(value), f" {value}\n"]
    if isinstance(value, (set, frozenset, tuple)):
        return [json.dumps(list(value), default=str)]
    try:
        return [TypeAdapter(type(value)).dump_json(value).decode().strip('"')]
    except Exception:
        return [str(value)]


_SCALARS: dict[Any, SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: st.integers(-(10**9), 10**9),
    float: st.floats(-1e9, 1e9, allow_nan=False, allow_subnormal=False),
    str: st.one_of(sentences(), numbers(), st.text(st.characters(exclude_categories=["Cs"]), max_size=20)),
    Decimal: st.decimals(-1000, 1000, places=2),
    date: st.dates(),
    datetime: st.datetimes(),
    time: st.times(),
    timedelta: st.timedeltas(timedelta(0), timedelta(days=99)),
    UUID: st.uuids(),
    bytes: st.binary(max_size=10),
}
