"""Faults of a configuration: each names its setting; the message lists all of them with their lines.

``run.yaml, line 7, column 3: grpo.max_stepz: GRPOConfig has no such field. Did you mean 'max_steps'?``
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Place = tuple[str | int, ...]
"""The path of a setting: ``("grpo", "max_steps")``, ``("guards", 0, "above")``."""


@dataclass(frozen=True)
class Fault:
    """One fault, and its setting."""

    place: Place
    what: str

    def __str__(self) -> str:
        return f"{written(self.place)}: {self.what}" if self.place else self.what


class Faults(ValueError):
    """Several faults in one setting; their places are relative to it."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = list(faults)


def written(place: Place) -> str:
    """Return ``grpo.max_steps`` or ``guards[0].above``."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
