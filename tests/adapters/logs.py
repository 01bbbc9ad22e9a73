"""What two equal trainings log equally."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_VARYING = ("time", "per_second", "radar/")
"""Parts of names of numbers that depend on the machine: the radar looks when it has the time."""


def steady(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of a log without the numbers that depend on how fast the machine is."""
    return {name: value for name, value in entry.items() if not any(part in name for part in _VARYING)}
