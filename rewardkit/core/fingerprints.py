"""Fingerprints: short names for what a reward is, equal for equal structure and equal source of user functions."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass


def fingerprint(value: object) -> str:
    """16 hexadecimal digits over everything that makes `value` what it is."""
    return hashlib.sha256(described(value).encode(errors="surrogatepass")).hexdigest()[:16]


def described(value: object) -> str:
    """Everything that makes `value` what it is, as text: the base of fingerprints."""
    describe = getattr(value, "describe", None)
    if describe is not None and not isinstance(value, type):
        return str(describe())
    if is_dataclass(value) and not isinstance(value, type):
        inner = ", ".join(f"{field.name}={described(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__qualname__}({inner})"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(described, value))})"
    return repr(value)
