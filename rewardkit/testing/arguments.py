"""Arguments: which columns a function asks for, and which of them its code uses."""

from __future__ import annotations

import inspect
import re
from typing import Any

from rewardkit.core.tree.binding import Binding
from rewardkit.testing.source import only_zipped
from rewardkit.testing.vocabulary import Mined, uses_argument

_OF_FORM = re.compile(
    r"form|style|tag|xml|struct|length|long|short|think|strict|soft|repet|lang|tone|layout", re.IGNORECASE
)
"""Names of functions that judge the form of an answer."""


def columns_of(binding: Binding, code: Mined, known: set[str]) -> set[str]:
    """Return the columns that a function names or uses, of those `known`; `code` is what its code mentions."""
    function = binding.original
    if not binding.foreign:
        named = {one.source: one.name for one in binding.columns}
        if binding.reads("example"):
            return set(named) | (known & code.names)
        return {source for source, name in named.items() if binding.trusted or uses_argument(function, name)}
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return set(known)
    named_columns = named_arguments(function, known)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        named_columns |= known & code.names - set(parameters)
    return named_columns


def named_arguments(function: Any, known: set[str]) -> set[str]:
    """Return the known columns that are arguments of a function and that its code uses."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return set()
    return {name for name in parameters if name in known and uses_argument(function, name)}


def is_argument(function: Any, name: str) -> bool:
    """Whether a function asks for a column; one of form may just zip it, as it was copied from a reward of answers."""
    try:
        asked = name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return asked and not (_OF_FORM.search(getattr(function, "__name__", "")) and only_zipped(function, name))
