"""Scalars for a JSON schema: numbers within bounds, texts with a pattern or format.

``Asked([{"type": "integer", "minimum": 3}])`` collects what all schemas ask of one value, and ``integers`` draws 3 and
more for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from rewardkit.testing.strategies.texts import pattern_texts

Value = SearchStrategy[Any]

_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_HINTS = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties", "propertyNames"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "string": ("pattern", "minLength", "maxLength", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_SPREAD = 10**6

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
class Asked:
    """What all schemas together ask of one value."""

    members: list[dict[str, Any]] = field(default_factory=list)
    impossible: bool = False

    def all(self, keyword: str) -> list[Any]:
        return [member[keyword] for member in self.members if keyword in member]

    def most(self, keyword: str) -> Any:
        """Return the largest of several lower limits, or None."""
        return max((value for value in self.all(keyword) if not isinstance(value, bool)), default=None)

    def least(self, keyword: str) -> Any:
        """Return the smallest of several upper limits, or None."""
        return min((value for value in self.all(keyword) if not isinstance(value, bool)), default=None)

    @property
    def types(self) -> list[str]:
        """The allowed types; if none are given, those that the other keywords imply."""
        said = [{one} if isinstance(one, str) else set(one) for one in self.all("type")]
        if said:
            allowed = [
                kind for kind in _TYPES if all(kind in one or (kind == "integer" and "number" in one) for one in said)
            ]
            return [kind for kind in allowed if kind != "integer" or "number" not in allowed]
        hinted = [kind for kind, words in _HINTS.items() if any(word in one for one in self.members for word in words)]
        return hinted or ["null", "boolean", "integer", "string"]


def integers(asked: Asked) -> SearchStrategy[int]:
    """Draw integers within the bounds."""
    low, high = _limits(asked)
    steps = [step for step in asked.all("multipleOf") if isinstance(step, int)]
    first = None if low is None else math.floor(low) + 1 if _open(asked, "minimum", low) else math.ceil(low)
    last = None if high is None else math.ceil(high) - 1 if _open(asked, "maximum", high) else math.floor(high)
    start = first if first is not None else (min(0, last) - _SPREAD if last is not None else -_SPREAD)
    end = last if last is not None else max(0, start) + _SPREAD
    if not steps:
        return st.integers(start, end) if start <= end else st.nothing()
    step = math.lcm(*steps)
    least, most = -(-start // step), end // step
    return st.integers(least, most).map(lambda count: count * step) if least <= most else st.nothing()


def floats(asked: Asked) -> SearchStrategy[float]:
    """Draw numbers within the bounds."""
    low, high = _limits(asked)
    if asked.all("multipleOf"):
        step = asked.all("multipleOf")[0]
        return (
            st.integers(-1000, 1000)
            .map(lambda n: n * step)
            .filter(lambda value: (low is None or value > low) and (high is None or value < high))
        )
    start = float(low) if low is not None else min(0.0, high if high is not None else 0.0) - _SPREAD
    end = float(high) if high is not None else max(0.0, start) + _SPREAD
    if start > end:
        return st.nothing()
    above = low is not None and _open(asked, "minimum", low)
    under = high is not None and _open(asked, "maximum", high)
    if start == end and (above or under):
        return st.nothing()
    return st.floats(start, end, allow_nan=False, allow_subnormal=False, exclude_min=above, exclude_max=under)


def _limits(asked: Asked) -> tuple[Any, Any]:
    lows = [one for one in (asked.most("minimum"), asked.most("exclusiveMinimum")) if one is not None]
    highs = [one for one in (asked.least("maximum"), asked.least("exclusiveMaximum")) if one is not None]
    return max(lows, default=None), min(highs, default=None)


def _open(asked: Asked, side: str, limit: Any) -> bool:
    """Whether the limit itself is excluded; in draft 4, a separate flag says so."""
    word = f"exclusive{side.capitalize()}"
    return limit in [one for one in asked.all(word) if not isinstance(one, bool)] or True in asked.all(word)


def strings(asked: Asked) -> SearchStrategy[str]:
    """Draw texts with a format, a pattern or a length."""
    least, most = asked.most("minLength") or 0, asked.least("maxLength")
    for name in asked.all("format"):
        if name in _FORMATS:
            return _FORMATS[name]
    patterns = asked.all("pattern")
    if not patterns:
        return st.text(
            st.characters(exclude_categories=["Cs"]), min_size=least, max_size=least + 20 if most is None else most
        )
    made = matching(patterns[0])
    top = math.inf if most is None else most
    return made.filter(lambda text: least <= len(text) <= top and all(found_in(one, text) for one in patterns[1:]))


def matching(pattern: str) -> SearchStrategy[str]:
    """Draw texts in which a pattern is found, full matches first."""
    return pattern_texts(re.compile(pattern, re.ASCII))


def example(pattern: str) -> str:
    """Return a short text in which the pattern is found."""
    from hypothesis import find, settings

    return find(matching(pattern), lambda _: True, settings=settings(database=None, max_examples=20, derandomize=True))


def found_in(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text."""
    return re.search(pattern, text, re.ASCII) is not None
