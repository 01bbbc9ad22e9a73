"""Convert text and numbers to one scalar type, each with an explicit grammar: ``scalar("42.0", int)`` is 42."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import numpy as np

from rewardkit.core.text.literals import NUMBER_CHARACTERS, Misfit, check_number

WHITESPACE = " \t\n\r\f\v"
_INTEGER = re.compile(r"([+-]?[0-9]+)(?:\.0+)?")
DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_TRUE, _FALSE = ("true", "yes", "on", "t", "y", "1"), ("false", "no", "off", "f", "n", "0")
BYTES_LITERAL = re.compile(r"""\s*(?:[bB][rR]?|[rR][bB])['"].*['"]\s*\Z""", re.DOTALL)


def is_missing(value: object) -> bool:
    """Return whether `value` is how a table says that there is none: NaN, NaT, pandas' NA."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.generic)) and bool(value != value)


def without_numpy(value: object) -> object:
    """Convert numpy and torch scalars to Python scalars, arrays to lists, without importing either library."""
    if type(value) is not str and hasattr(value, "dtype") and hasattr(value, "tolist"):
        # A float32 of 5.1 means 5.1, not 5.099999904632568.
        return float(str(value)) if type(value).__name__ in ("float16", "float32") else value.tolist()
    return value


def scalar(value: object, base: type) -> object:
    """Prepare `value` for strict validation as `base`, which rejects what does not fit."""
    if base is str:
        if not isinstance(value, str):
            kind = type(value).__name__
            raise Misfit(f"its type is {kind}, not text. Annotate `{kind}`, or store the column as text.")
    elif isinstance(value, str):
        return scalar_from_text(value.strip(WHITESPACE), base)
    elif base is int and isinstance(value, (float, Decimal)):  # Arrow turns int columns with gaps into floats
        if not math.isfinite(value) or value != int(value):
            raise Misfit("it is not a whole number. Annotate `float`.")
        return int(value)
    elif base is float and isinstance(value, Decimal):
        return float(value)
    elif base is Decimal and type(value) in (int, float):
        return Decimal(repr(value))  # Decimal(0.1) would be 0.1000000000000000055...
    elif base is bool and type(value) in (int, float) and value in (0, 1):
        return bool(value)
    return value


def scalar_from_text(text: str, base: type) -> object:
    if base is bool:
        if text.lower() in _TRUE + _FALSE:
            return text.lower() in _TRUE
        raise Misfit("write true/false, yes/no, on/off, t/f, y/n or 1/0.")
    if len(text) > NUMBER_CHARACTERS:
        raise Misfit(f"a number cannot have {len(text):,} characters.")
    if base is int:
        if match := _INTEGER.fullmatch(text):
            return int(match[1])
        raise Misfit("a whole number has only ASCII digits, such as 42 or -7. For 3.5, annotate `float`.")
    if not DECIMAL.fullmatch(text):
        raise Misfit("write a plain number such as 42, -0.5 or 1e-3, without units, commas or nan.")
    check_number(text)
    return base(text)
