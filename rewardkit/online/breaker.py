"""The circuit breaker, which stops a run if too many rows fail or error, because the policy cannot learn from them.

Failures, such as an unavailable endpoint, may be temporary, so they stop a run only after a full window of batches.
Errors are bugs, which are not temporary: they stop the run as soon as their rate is above the limit with statistical
confidence. An unreadable gold answer is neither a failure nor an error: a run stops only if a column has no readable
gold answers.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rewardkit.errors import CoercionError, RewardBug, RewardDefinitionError, RewardFailure
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import leaves

_FEWEST_BATCHES, _FEWEST_ROWS = 2, 64
"""The minimum number of batches and rows before errors can stop a run. The limits are arbitrary: a single batch may be
affected by a short outage."""
_SURE = 3.0902
"""The 99.9% quantile of the normal distribution. The confidence level is high because a long run tests the rate after
every batch."""

Counts = dict[str, Sequence[int]]
"""Six counts for each component: evaluated rows, failed rows, errored rows, rows that failed without affecting the
total, rows with an unreadable gold answer (which do not count as failed), and read rows (without an unreadable gold
answer or an abstention)."""


@dataclass(frozen=True)
class Limits:
    """The limits at which training stops because the reward does not work.

    ``rk.Limits(max_failure_rate=0.1, failure_window=50)`` stops training if more than 10% of a component's rows fail
    within 50 batches.

    Attributes:
        max_failure_rate: a fraction of a component's rows, 0.0 to 1.0. The run stops if a larger fraction fails within
            `failure_window` batches.
        max_error_rate: the same limit for rows that trigger a bug in the reward.
        failure_window: the number of batches, at least 1. If a trainer passes rows one at a time, 64 rows count as a
            batch.

    Raises:
        RewardDefinitionError: a fraction is outside 0.0 to 1.0, or the window is below 1.
    """

    # Arbitrary: single outages stay below these limits; higher ones would let a policy train without its reward.
    max_failure_rate: float = 0.05
    max_error_rate: float = 0.05
    failure_window: int = 20

    def __post_init__(self) -> None:
        for name, rate in (("max_failure_rate", self.max_failure_rate), ("max_error_rate", self.max_error_rate)):
            if not 0.0 <= rate <= 1.0:
                raise RewardDefinitionError(f"{name} must be a share from 0.0 to 1.0, got {rate}")
        if self.failure_window < 1:
            raise RewardDefinitionError(
                f"failure_window must be a number of batches, at least 1, got {self.failure_window}"
            )


LIMITS = Limits()
"""The default limits for all trainers."""


class Breaker:
    """The thread-safe circuit breaker, which adds up the faults in the last batches and in all batches."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._batches: deque[Sequence[Sequence[float]]] = deque()
        self._window: Counts = {}  # the sums over `_batches`
        self._all: Counts = {}
        self._count = 0
        self._lock = threading.Lock()

    def add(self, counts: Sequence[Sequence[float]], names: Sequence[str]) -> RewardBug | RewardFailure | None:
        """Add a batch. If a component is over its limit, return the error to raise.

        Args:
            counts: (components, 6) as returned by ``online.faults.fault_counts``, over all processes.
            names: the component names.
        """
        with self._lock:
            self._batches.append(counts)
            self._count += 1
            _add((self._all, self._window), counts, names)
            if len(self._batches) > self._limits.failure_window:
                _add((self._window,), self._batches.popleft(), names, -1)
            stop = self._verdict(names) if any(counts[1] or counts[2] for counts in self._window.values()) else None
            if stop is not None:
                self._batches.clear()
                self._window.clear()
            return stop

    @property
    def faults(self) -> str:
        """The failures and errors in a run that ended before a window was full; empty if there were none."""
        with self._lock:
            descriptions = [
                f"{name!r} {kind} on {count:,} of {evaluated:,} completions"
                for name, (evaluated, failed, errored, *_) in self._all.items()
                for kind, count in (("failed", failed), ("errored", errored))
                if count and self._count < self._limits.failure_window
            ]
        return ", ".join(descriptions)

    def _verdict(self, names: Sequence[str]) -> RewardBug | RewardFailure | None:
        """Return the error that stops the run, or None. The error names the components furthest over a limit."""
        batches = len(self._batches)
        for kind, limit, option in (
            ("failed", self._limits.max_failure_rate, "max_failure_rate"),
            ("errored", self._limits.max_error_rate, "max_error_rate"),
        ):
            over: list[tuple[str, int, int]] = []
            for name in names:
                evaluated, failed, errored, harmless, unparsable, _ = self._window[name]
                count, evaluated = errored if kind == "errored" else failed - harmless, evaluated - unparsable
                if self._is_over(count, evaluated, kind, limit):
                    over.append((name, count, evaluated))
            if not over:
                continue
            _, count, evaluated = max(over, key=lambda component: component[1] / component[2])
            worst = [repr(name) for name, *rows in over if rows == [count, evaluated]]
            stop = RewardBug if kind == "errored" else RewardFailure
            return stop(
                f"reward{'s' * (len(worst) > 1)} {', '.join(worst)} {kind} on {count:,} of {evaluated:,} completions "
                f"in the last {batches} batch{'es' * (batches != 1)}, more than {limit:.0%}: this run trains on noise. "
                "See the log for the reasons, and fix the faults. To change the limit, pass "
                f"limits=rk.Limits({option}=...)"
            )
        return None

    def _is_over(self, count: int, evaluated: int, kind: str, limit: float) -> bool:
        if len(self._batches) >= self._limits.failure_window:
            return evaluated > 0 and count / evaluated > limit
        early = kind == "errored" and len(self._batches) >= _FEWEST_BATCHES and evaluated >= _FEWEST_ROWS
        return early and count > 0 and _lower_bound(count, evaluated) > limit


class WrongColumns:
    """A thread-safe check that stops a run if no gold answer in a column can be read.

    The reward may read the wrong column, or the column may contain whole solutions without ``gold=``. Such an error is
    visible in a component's first batch. However, if all rows in that batch have the same gold answer, which may be the
    only unreadable one in the data, the second batch decides. Rewards with ``on_unparsable_gold="fail"`` expect
    unreadable gold answers and are not checked.
    """

    def __init__(self, scorer: Scorer) -> None:
        self._right: set[str] = set()
        self._batches: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.follow(scorer)

    def follow(self, scorer: Scorer) -> None:
        """Continue with a new reward version. Components that have already read a gold answer are not checked again."""
        with self._lock:
            self._right |= tolerant(scorer)

    def add(
        self,
        counts: Sequence[Sequence[float]],
        names: Sequence[str],
        golds: Callable[[], Iterable[tuple[str, str]]],
    ) -> CoercionError | None:
        """Add a batch. If no gold answer in a column was read, return the error to raise.

        Args:
            counts: (components, 6) as returned by ``online.faults.fault_counts``, over all processes.
            names: the component names.
            golds: returns each unreadable gold answer's component and reason, over all processes. It is called either
                in all processes or in none.
        """
        with self._lock:
            suspects = []
            for name, (*_, unparsable, read) in zip(names, counts, strict=True):
                if read:
                    self._right.add(name)
                elif unparsable and name not in self._right:
                    suspects.append(name)
            reasons = sorted(set(golds())) if suspects else []
            for name in suspects:
                component_reasons = [reason for component, reason in reasons if component == name]
                self._batches[name] += 1
                if len(component_reasons) > 1 or (component_reasons and self._batches[name] > 1):
                    return CoercionError(
                        f"reward {name!r} cannot read any gold answer in its first batch"
                        f"{'es' * (len(component_reasons) == 1)}: {component_reasons[0]} If this is not the intended "
                        "column, name another column. rk.number, rk.choice, and rk.math_equal accept such gold "
                        "answers with "
                        'on_unparsable_gold="fail"'
                    )
        return None


def tolerant(scorer: Scorer) -> set[str]:
    """Return the components whose rewards were created with ``on_unparsable_gold="fail"``."""
    return {
        name
        for name, node in scorer.names.components
        for leaf in leaves(node)
        if leaf.facts.binding is not None
        and any(parameter.on_unparsable_gold == "fail" for parameter in leaf.facts.binding.parameters)
    }


def _add(totals: Iterable[Counts], counts: Sequence[Sequence[float]], names: Sequence[str], sign: int = 1) -> None:
    """Add a batch's counts to each of the `totals`, or subtract them."""
    for sums in totals:
        for name, component_counts in zip(names, counts, strict=True):
            before = sums.get(name, (0,) * len(component_counts))
            sums[name] = [total + sign * int(count) for total, count in zip(before, component_counts, strict=True)]


def _lower_bound(count: int, total: int) -> float:
    """Return the 99.9% lower confidence bound for a rate (Wilson 1927, Probable inference): 12 of 64 is at least 8%."""
    rate, spread = count / total, _SURE**2 / total
    return (rate + spread / 2 - _SURE * math.sqrt((rate * (1 - rate) + spread / 4) / total)) / (1 + spread)
