"""The state of one guard: the numbers of its window, and whether their mean crosses the limit.

``Watch(GuardConfig(watch="kl", above=0.5, window=2))`` is crossed when the mean of two steps in a row is above 0.5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rewardkit_trl.guards.config import GuardConfig

RADAR = "radar/strength"
METRICS = {
    "zero_variance": "frac_reward_zero_std",
    "length": "completions/mean_length",
    "total": "reward",
    "radar": RADAR,
}
"""The names of these metrics in TRL's log."""
FAILURE_RATE = "failure_rate"
"""Computed from several numbers of the log."""


class Watch:
    """The state of one guard.

    Attributes:
        crossed: True if the last mean crossed the limit.
        value: the last mean; None before the first full window.
        missed: the number of logs in a row, after a generation, in which the watched value was missing.
    """

    def __init__(self, config: GuardConfig) -> None:
        self.config = config
        self.crossed = False
        self.value: float | None = None
        self.missed = 0
        self._start: int | None = None
        self._entries: list[tuple[int, float]] = []
        self._first: float | None = None

    @property
    def key(self) -> str:
        """The key of its saved state; a guard with other settings has another key, and starts from scratch."""
        return self.config.model_dump_json()

    def look(self, logs: Mapping[str, Any], step: int, begun: int) -> None:
        """Add what was logged after `step` steps; this process started training at step `begun`."""
        number = self._number(logs)
        if number is None:
            self.missed += "reward" in logs
            return
        self.missed = 0
        if step <= self.config.after:
            return
        if self._start is None:
            self._start = max(begun, self.config.after)
        self._entries = [entry for entry in (*self._entries, (step, number)) if entry[0] > step - self.config.window]
        if step - self._start < self.config.window:
            return
        mean = sum(value for _, value in self._entries) / len(self._entries)
        if self.config.watch == "length":
            self._first = self._first if self._first is not None else mean
            mean = mean / self._first if self._first else 1.0
        self.value, self.crossed = mean, self.config.crossed(mean)

    def restart(self, step: int) -> None:
        """Start a new window at `step`. Lengths are still relative to the first window of the run."""
        self._start, self._entries, self.crossed, self.value = step, [], False, None

    def _number(self, logs: Mapping[str, Any]) -> float | None:
        if self.config.watch == FAILURE_RATE:
            return _failure_rate(logs, self.config.component)
        for key in self.keys:
            found = logs.get(key)
            if isinstance(found, (int, float)):
                return float(found) if math.isfinite(found) else None
        return None

    @property
    def keys(self) -> tuple[str, ...]:
        """The names under which the trainer may log the value; the first one found counts."""
        name = self.config.watch
        return METRICS.get(name, name), f"components/{name}"

    def saved(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return {
            "start": self._start,
            "entries": [list(entry) for entry in self._entries],
            "first": self._first,
            "crossed": self.crossed,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Load what `saved` returned."""
        self._start, self._first, self.crossed = saved["start"], saved["first"], saved["crossed"]
        self._entries = [(int(step), float(value)) for step, value in saved["entries"]]

    def __str__(self) -> str:
        """``kl above 0.5: 0.61 over 20 steps``."""
        steps = f"{self.config.window} step{'s' * (self.config.window != 1)}"
        return f"{self.config}: {self.value:.3g} over {steps}" if self.value is not None else str(self.config)


def _failure_rate(logs: Mapping[str, Any], component: str | None) -> float | None:
    """Return the share of failed or errored rows of `component`, or of the worst one; None if nothing was scored."""
    if "reward" not in logs:
        return None
    shares: dict[str, float] = {}
    for name, value in logs.items():
        kind, _, owner = name.partition("/")
        if kind in ("failed", "errored") and isinstance(value, (int, float)):
            shares[owner] = shares.get(owner, 0.0) + float(value)
    return shares.get(component, 0.0) if component is not None else max(shares.values(), default=0.0)
