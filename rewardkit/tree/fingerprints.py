"""Fingerprints: short hashes of a reward's structure and of the source code of the user's functions.

Fingerprints must be the same in every process, so they must not depend on memory addresses or set order.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import tokenize
from collections.abc import Callable, Mapping, Set
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from typing import Any
from weakref import WeakKeyDictionary

_PLAIN = (str, bytes, int, float, complex, tuple, frozenset, type(None))
NO_SOURCE = (OSError, TypeError, SyntaxError, tokenize.TokenError)
"""Errors that ``inspect.getsource`` raises. The last two occur if the file is not Python or was edited after the
import."""


def fingerprint(value: object) -> str:
    """Return the fingerprint of `value`: 16 hexadecimal digits."""
    return hashlib.sha256(described(value).encode(errors="surrogatepass")).hexdigest()[:16]


_AROUND: ContextVar[frozenset[int]] = ContextVar("the objects that are being described", default=frozenset())


def described(value: object) -> str:
    """Return the text that identifies `value`, from which fingerprints are computed."""
    return _described(value, _AROUND.get())


def _described(value: object, around: frozenset[int]) -> str:
    """Describe a value inside the objects with the ids `around`. A value nested inside itself is described once."""
    if id(value) in around:
        return f"{type(value).__qualname__} again"
    within = around | {id(value)}
    describe = getattr(value, "describe", None)
    if describe is not None and not isinstance(value, type):
        token = _AROUND.set(within)  # the described object may refer to it
        try:
            return str(describe())
        finally:
            _AROUND.reset(token)

    def of(item: object) -> str:
        return _described(item, within)

    if is_dataclass(value) and not isinstance(value, type):
        inner = ", ".join(f"{field.name}={of(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__qualname__}({inner})"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(of, value))})"
    if isinstance(value, Set):
        return f"{{{', '.join(sorted(map(of, value)))}}}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{of(key)}: {of(item)}' for key, item in value.items())}}}"
    if isinstance(value, functools.partial):
        return f"partial{of((value.func, value.args, value.keywords))}"
    if inspect.isroutine(value):
        owner = f"{of(value.__self__)}." if inspect.ismethod(value) else ""
        cells = getattr(value, "__closure__", None) or ()
        return f"{owner}{source(value)}({', '.join(_enclosed(cell, within) for cell in cells)})"
    if type(value).__repr__ is object.__repr__:
        return f"{type(value).__qualname__}{of(getattr(value, '__dict__', {}))}"
    if callable(value) and not isinstance(value, type):
        # The repr may leave out attributes that change the scores.
        state = {name: item for name, item in getattr(value, "__dict__", {}).items() if isinstance(item, _PLAIN)}
        return f"{value!r}{of(state)}"
    return repr(value)


_SOURCES: WeakKeyDictionary[Callable[..., Any], str] = WeakKeyDictionary()


def source(function: Callable[..., Any]) -> str:
    """Return the source or bytecode of `function`. It is cached, because the file may change during training."""
    try:
        text = _SOURCES.get(function)
        if text is None:
            text = _SOURCES[function] = _read(function)
        return text
    except TypeError:  # unhashable, or without weak references
        return _read(function)


def _read(function: Callable[..., Any]) -> str:
    if str(getattr(function, "__module__", "")).startswith("rewardkit.") and function.__name__ != "<lambda>":
        return f"rewardkit {function.__qualname__}"  # identified by name: our source changes with every comment
    try:
        source_text = inspect.getsource(function)
    except NO_SOURCE:
        return f"{function.__qualname__}: {_compiled(function)}"
    # Two lambdas on one line have the same source.
    return f"{source_text} {_compiled(function)}" if function.__name__ == "<lambda>" else source_text


def _compiled(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    constants = [constant for constant in code.co_consts if isinstance(constant, _PLAIN)]
    return f"{code.co_code!r} {code.co_names!r} {constants!r}"


def _enclosed(cell: Any, around: frozenset[int]) -> str:
    try:
        value = cell.cell_contents
    except ValueError:  # not assigned yet
        return ""
    # A function may enclose itself, so do not follow its own cells.
    return source(value) if inspect.isroutine(value) else _described(value, around)
