"""What is wrong with a configuration: each fault knows the setting, the message shows all of them with their lines.

``run.yaml, line 7: grpo.max_stepz: GRPOConfig has no such field. Did you mean 'max_steps'?``
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rewardkit.core.errors import RewardKitError

Place = tuple[str | int, ...]
"""Where a setting stands: ``("grpo", "max_steps")``, ``("guards", 0, "above")``."""


class ConfigError(RewardKitError):
    """A configuration, or the data that it names, is not what it should be; the message says where and what to do."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, and the setting it is about."""

    place: Place
    what: str

    def __str__(self) -> str:
        return f"{written(self.place)}: {self.what}" if self.place else self.what


class Faults(ValueError):
    """Several faults within one setting; their places begin there."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = list(faults)


def written(place: Place) -> str:
    """``grpo.max_steps``, ``guards[0].above``."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
