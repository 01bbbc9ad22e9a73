"""Slots: times of day from one to another, such as ``9:00-10:30``, in completions and columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rewardkit.check.completion.parsed_completion import atoms_of

SLOT = re.compile(r"\b(\d{1,2}):(\d{2}) ?(?:-|–|to) ?(\d{1,2}):(\d{2})\b")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")


def intervals_in(value: Any) -> Iterator[tuple[int, int]]:
    """Yield the pairs of times in a cell, in minutes: ``["09:00", "10:00"]`` and ``"09:00-10:00"``."""
    times = [_CLOCK.fullmatch(item) if isinstance(item, str) else None for item in atoms_of(value)]
    if isinstance(value, (list, tuple)) and len(times) == len(value) == 2 and all(times):
        low, high = (60 * int(time[1]) + int(time[2]) for time in times if time is not None)
        yield from [(low, high)] if low < high else []
    elif isinstance(value, str):
        for match in SLOT.finditer(value):
            yield 60 * int(match[1]) + int(match[2]), 60 * int(match[3]) + int(match[4])
    else:
        items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
        for item in items:
            yield from intervals_in(item)
