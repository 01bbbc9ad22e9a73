"""Cells in dataset columns as JSON. Values that JSON cannot represent are replaced, and all others are unchanged.

``as_json({"answer": 4, "image": np.zeros((336, 336, 3))})`` contains the array's shape, dtype, and SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

# The memory address in a repr differs between processes, but equal cells should have equal text.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LARGE = 1000
"""Arrays with more elements than this, and longer bytes objects, are written as a digest. The limit is arbitrary and
bounds the cell size."""
_DEEPEST = 100
"""The maximum nesting depth in the output, because some parsers cannot read deeper JSON."""
_VALUES = (str, bytes, int, bool, type(None))


class Cells:
    """A cache of written cells by id(). It can be used for only one batch, which keeps the objects alive."""

    def __init__(self) -> None:
        self._written: dict[Hashable, str] = {}

    def json(self, value: Any) -> str:
        key = identity(value)
        if key not in self._written:
            self._written[key] = as_json(value)
        return self._written[key]

    def row(self, cells: Mapping[str, Any]) -> str:
        """Return a row's cells as a JSON object."""
        return "{" + ", ".join(f"{as_json(name)}: {self.json(value)}" for name, value in cells.items()) + "}"


def identity(value: Any) -> Hashable:
    """Return a key that is the same for two cells only if they are certainly equal: the value, or its id()."""
    return (type(value), value) if type(value) in _VALUES else id(value)


def as_json(value: Any) -> str:
    """Return `value` as JSON. A part that JSON cannot represent is written as its repr, without memory addresses."""
    return json.dumps(_plain(value, ()), ensure_ascii=False)


def _plain(value: Any, above: tuple[int, ...]) -> Any:
    """Return `value` as plain JSON values; `above` are the ids of its containers."""
    try:
        if id(value) in above:
            return f"<{type(value).__name__} that contains itself>"
        if len(above) > _DEEPEST:
            return f"<{type(value).__name__} below {_DEEPEST} others>"
        return _content(value, (*above, id(value)))
    except KeyboardInterrupt:
        raise
    except BaseException:  # a hostile repr may raise anything
        return f"<{type(value).__name__} that could not be written>"


def _content(value: Any, above: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, np.integer)):
        return _integer(int(value))
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else repr(float(value))
    if isinstance(value, Mapping):
        items = dict(value.items())
        return {key: _plain(item, above) for key, item in zip(_keys(items), items.values(), strict=True)}
    if isinstance(value, (list, tuple)):
        return [_plain(item, above) for item in value]
    if isinstance(value, (bytes, bytearray)) and len(value) > _LARGE:
        return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    if isinstance(value, np.ndarray):
        return _array(value, str(value.dtype), above)
    if callable(getattr(value, "detach", None)):  # a tensor
        tensor = value.detach().cpu()
        if "bfloat16" in str(value.dtype):  # numpy has no bfloat16
            tensor = tensor.float()
        return _array(tensor.numpy(), str(value.dtype), above)
    content = getattr(value, "tobytes", None)  # an image: two of the same size have different digests
    digest = f" {hashlib.sha256(content()).hexdigest()[:16]}" if callable(content) else ""
    return _ADDRESS.sub("", repr(value)) + digest


def _integer(value: int) -> int | str:
    """Return the number, or its hexadecimal form if it has too many digits for Python's str()."""
    try:
        str(value)
    except ValueError:
        return hex(value)
    return value


def _array(values: Any, dtype: str, above: tuple[int, ...]) -> Any:
    if values.size <= _LARGE or values.dtype.hasobject:
        return _plain(values.tolist(), above)
    return {"array": list(values.shape), "dtype": dtype, "sha256": hashlib.sha256(values.tobytes()).hexdigest()}


def _keys(items: Mapping[Any, Any]) -> list[str]:
    """Return a distinct string for each key: ``{"1": a, 1: b}`` becomes "1" and "1 (int)"."""
    used_keys = {str(key) for key in items if isinstance(key, str)}
    keys = []
    for key in items:
        text = key if isinstance(key, str) else _key(key)
        if not isinstance(key, str) and text in used_keys:
            named = f"{text} ({type(key).__name__})"
            text, number = named, 1
            while text in used_keys:
                number += 1
                text = f"{named} {number}"
        used_keys.add(text)
        keys.append(text)
    return keys


def _key(key: Any) -> str:
    content = _plain(key, ())
    return content if isinstance(content, str) else _ADDRESS.sub("", str(key))
