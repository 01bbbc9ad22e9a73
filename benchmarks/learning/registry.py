"""All experiments by name: a task and the arms to compare on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.learning.arms import most_arms, order_arms
from benchmarks.learning.most import MOST
from benchmarks.learning.orders import HOPELESS_ORDERS, ORDERS
from benchmarks.learning.pool import POOL, REFERENCE, most_pool_arms, order_pool_arms
from benchmarks.learning.search import (
    HARD_MOST,
    HARSHER,
    adaptive_arms,
    bare_gate_arms,
    hard_most_arms,
    harsher_arms,
    missing_rung_arms,
)
from benchmarks.learning.tasks import Task


@dataclass(frozen=True)
class Experiment:
    """A task, its arms (rewards, lists of plain TRL functions, or `Adaptive`), and the reference arm for differences.

    Args:
        pool: the number of prompts to train on; None if no prompt comes up twice.
    """

    task: Task
    arms: Callable[[], Mapping[str, Any]]
    reference: str = "partial"
    pool: int | None = None


REPORTED = {
    "orders": Experiment(ORDERS, order_arms),
    "hopeless": Experiment(HOPELESS_ORDERS, order_arms),
    "most": Experiment(MOST, most_arms, "binary"),
}
SEARCHED = {
    "adaptive-orders": Experiment(HOPELESS_ORDERS, adaptive_arms),
    "bare-gates": Experiment(HOPELESS_ORDERS, bare_gate_arms, "bare gate"),
    "missing-rung": Experiment(HOPELESS_ORDERS, missing_rung_arms),
    "harsher": Experiment(HARSHER, harsher_arms),
    "hard-most": Experiment(HARD_MOST, hard_most_arms, "binary"),
}
POOLED = {
    "pool-orders": Experiment(ORDERS, order_pool_arms, REFERENCE, POOL),
    "pool-hopeless": Experiment(HOPELESS_ORDERS, order_pool_arms, REFERENCE, POOL),
    "pool-hard-most": Experiment(HARD_MOST, most_pool_arms, REFERENCE, POOL),
}
EXPERIMENTS = {**REPORTED, **SEARCHED, **POOLED}
