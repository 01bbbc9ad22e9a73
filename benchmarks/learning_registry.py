"""All experiments by name: a task and the arms to compare on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from learning_arms import most_arms, order_arms
from learning_most import MOST
from learning_orders import HOPELESS_ORDERS, ORDERS
from learning_search import (
    HARD_MOST,
    HARSHER,
    adaptive_arms,
    bare_gate_arms,
    hard_most_arms,
    harsher_arms,
    missing_rung_arms,
)
from learning_tasks import Task


@dataclass(frozen=True)
class Experiment:
    """A task, its arms (rewards, or lists of plain TRL functions), and the reference arm for differences."""

    task: Task
    arms: Callable[[], Mapping[str, Any]]
    reference: str = "partial"


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
EXPERIMENTS = {**REPORTED, **SEARCHED}
