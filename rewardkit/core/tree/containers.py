"""Convert what a container holds, item by item, and arrays: ``["1", 2.0]`` becomes ``[1, 2]`` for ``list[int]``.

A container is validated as a whole first. Only if that fails, each item is converted as a cell of its type would be.
"""

from __future__ import annotations

import collections.abc
from collections.abc import Callable
from typing import Any, get_args, get_origin

import numpy as np

from rewardkit.core.text.literals import Misfit

Convert = Callable[[object], Any]

SET_IN_ORDER = "a set has no order. Store a list, or annotate a set."
"""Python orders a set of texts differently in each process, so a reward would not be reproducible."""

_SETS = (set, frozenset, collections.abc.Set, collections.abc.Collection)
_LISTS = (list, collections.deque, collections.abc.Sequence, *_SETS)
_DICTS = (dict, collections.abc.Mapping)


def items_converter(base: Any, converter: Callable[[Any], Convert]) -> Convert | None:
    """Return the function that converts the items of a container of type `base`; None for any other type.

    Args:
        converter: returns the function that converts a cell to a type.
    """
    origin, arguments = get_origin(base), get_args(base)
    if origin in _LISTS and len(arguments) == 1:
        item = converter(arguments[0])
        return lambda value: [item(one) for one in _listed(value, unordered=origin in _SETS)]
    if origin is tuple and arguments[1:] == (...,):
        item = converter(arguments[0])
        return lambda value: [item(one) for one in _listed(value)]
    if origin is tuple and arguments and not any(map(_is_unpacked, arguments)):
        each = [converter(argument) for argument in arguments]
        return lambda value: [item(one) for item, one in zip(each, _listed(value), strict=True)]
    if origin in _DICTS and len(arguments) == 2:
        return _dict_converter(*map(converter, arguments))
    return None


def _dict_converter(key: Convert, item: Convert) -> Convert:
    def convert(value: object) -> Any:
        if not isinstance(value, dict):
            raise Misfit("it is not a mapping.")
        converted = {key(name): item(one) for name, one in value.items()}
        if len(converted) < len(value):
            raise Misfit("two of its keys are the same.")
        return converted

    return convert


def _listed(value: object, *, unordered: bool = False) -> Any:
    if isinstance(value, (set, frozenset)) and not unordered:
        raise Misfit(SET_IN_ORDER)
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise Misfit("it is not a list.")
    return value


def _is_unpacked(argument: Any) -> bool:
    return getattr(argument, "__unpacked__", False) or type(argument).__name__ == "_UnpackGenericAlias"


def is_array(base: Any) -> bool:
    """Return whether `base` is ``np.ndarray`` or ``NDArray[...]``."""
    return base is np.ndarray or get_origin(base) is np.ndarray


def array_converter(base: Any) -> Convert:
    """Return the function that makes an array of a list of numbers, with the dtype of ``NDArray[...]``."""
    dtype: Any = None
    for argument in get_args(base)[1:]:
        scalar = (get_args(argument) or (None,))[0]
        dtype = scalar if isinstance(scalar, type) and issubclass(scalar, np.generic) else None

    def convert(value: object) -> Any:
        if not isinstance(value, (list, tuple, int, float)):
            raise Misfit("an array is made of a list of numbers, such as [1, 2.5].")
        try:
            array = np.array(value)
        except ValueError:
            raise Misfit("its rows have different lengths.") from None
        if array.dtype.kind not in "biuf" and array.size:
            raise Misfit("an array is made of numbers.")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise Misfit("it contains a number that is not finite.")
        return _cast(array, dtype)

    return convert


def _cast(array: Any, dtype: Any) -> Any:
    if dtype is None or (isinstance(dtype, type) and array.dtype == dtype):
        return array
    if dtype in (np.number, np.generic, np.floating, np.integer):  # any of its kind
        kinds = {np.floating: "f", np.integer: "iu"}.get(dtype, "biuf")
        return array if array.dtype.kind in kinds else _cast(array, np.float64 if dtype is np.floating else np.int64)
    cast = array.astype(dtype)
    if np.issubdtype(dtype, np.integer) and not np.array_equal(cast, array):
        raise Misfit("it contains numbers that are not whole.")
    return cast
