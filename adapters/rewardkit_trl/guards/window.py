"""What one guard has seen: the numbers of its window, and on which side of the line their mean stands.

``Watch(GuardConfig(watch="kl", above=0.5, window=2))`` is crossed once two steps in a row have a mean above 0.5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rewardkit_trl.guards.config import GuardConfig

METRICS = {"zero_variance": "frac_reward_zero_std", "length": "completions/mean_length", "total": "reward"}
"""What TRL calls them in its log."""
RATES = ("failure_rate",)
"""What is made of several numbers of the log."""


class Watch:
    """The state of one guard.

    Attributes:
        crossed: whether the line was crossed when it was last looked at.
        value: what was held against the line then.
        missed: how many generations in a row were logged without such a number.
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
        """Under which its state is saved: a guard that was changed begins anew."""
        return self.config.model_dump_json()

    def look(self, logs: Mapping[str, Any], step: int, begun: int) -> None:
        """Takes in what was logged after `step` steps of a training that this process has begun at step `begun`."""
        number = self._number(logs)
        if number is None:
            self.missed += "reward" in logs
            return
        self.missed = 0
        if step <= self.config.after:
            return
        if self._start is None:
            self._start = max(begun, self.config.after)
        self._entries = [one for one in (*self._entries, (step, number)) if one[0] > step - self.config.window]
        if step - self._start < self.config.window:
            return
        mean = sum(value for _, value in self._entries) / len(self._entries)
        if self.config.watch == "length":
            self._first = self._first if self._first is not None else mean
            mean = mean / self._first if self._first else 1.0
        self.value, self.crossed = mean, self.config.crossed(mean)

    def begin_anew(self, step: int) -> None:
        """Forgets its window: what comes from `step` on is another matter. The first length stays what it was."""
        self._start, self._entries, self.crossed, self.value = step, [], False, None

    def _number(self, logs: Mapping[str, Any]) -> float | None:
        if self.config.watch == "failure_rate":
            return _failure_rate(logs, self.config.component)
        for key in self.keys:
            found = logs.get(key)
            if isinstance(found, (int, float)):
                return float(found) if math.isfinite(found) else None
        return None

    @property
    def keys(self) -> tuple[str, ...]:
        """Under which of these names the trainer may log it; the first that is there counts."""
        name = self.config.watch
        return METRICS.get(name, name), f"components/{name}"

    def saved(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "start": self._start,
            "entries": [list(one) for one in self._entries],
            "first": self._first,
            "crossed": self.crossed,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Goes on from what `saved` gave."""
        self._start, self._first, self.crossed = saved["start"], saved["first"], saved["crossed"]
        self._entries = [(int(step), float(value)) for step, value in saved["entries"]]

    def __str__(self) -> str:
        """``kl above 0.5: 0.61 over 20 steps``."""
        steps = f"{self.config.window} step{'s' * (self.config.window != 1)}"
        return f"{self.config}: {self.value:.3g} over {steps}" if self.value is not None else str(self.config)


def _failure_rate(logs: Mapping[str, Any], component: str | None) -> float | None:
    """The share of rows that failed or errored, of one component or of the worst; None where nothing was scored."""
    if "reward" not in logs:
        return None
    shares: dict[str, float] = {}
    for name, value in logs.items():
        kind, _, owner = name.partition("/")
        if kind in ("failed", "errored") and isinstance(value, (int, float)):
            shares[owner] = shares.get(owner, 0.0) + float(value)
    return shares.get(component, 0.0) if component is not None else max(shares.values(), default=0.0)
