"""Judges: how many calls a training makes, and whether their budget lasts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rewardkit.core.algebra import Reward
from rewardkit.core.leaf import Leaf
from rewardkit.core.naming import distinct_nodes
from rewardkit_trl.runner.preflight.batches import Batches
from rewardkit_trl.runner.preflight.findings import Finding


def asks(tree: Reward) -> bool:
    """Whether it waits for others, a judge or a model: what it is asked now would cost."""
    return any(node.measures or (isinstance(node, Leaf) and node.is_async) for node in distinct_nodes(tree).nodes)


def judges(tree: Reward, batches: Batches, evaluated: int) -> Iterator[Finding]:
    """The calls of each judge, at most, and where a budget ends before the training does.

    Args:
        evaluated: completions that are scored in all evaluations.
    """
    completions = batches.completions + evaluated
    budgets: dict[Any, list[tuple[str, int]]] = {}
    for node in distinct_nodes(tree).nodes:
        if isinstance(node, Leaf) and node.measures:
            calls = completions // batches.generations if node.scope == "group" else completions
            per = "group" if node.scope == "group" else "completion"
            yield Finding(
                "fact",
                f"judge {node.label!r}",
                f"at most {calls:,} calls: one per {per}, fewer where gates are closed and completions are alike",
            )
            service = getattr(getattr(node.function, "brief", None), "service", None)
            budget = getattr(service, "budget", None)
            if budget is not None:
                budgets.setdefault(budget, []).append((node.label, calls))
    for budget, shared in budgets.items():
        calls = sum(count for _, count in shared)
        names = ", ".join(repr(name) for name, _ in shared)
        if budget.calls is not None and budget.calls < calls:
            yield Finding(
                "warning",
                f"judge {names}",
                f"the budget of {budget.calls:,} calls is less than the {calls:,} that the training may make: around "
                f"step {batches.steps * budget.calls // calls:,} of {batches.steps:,} it is spent ({budget.then})",
                "raise the budget, put the judge behind a gate, or train for fewer steps",
            )
        elif budget.calls is None:
            limits = {"tokens": budget.tokens, "money": budget.money}
            there = {name: limit for name, limit in limits.items() if limit is not None}
            told = " and ".join(f"{limit:g} {name}" for name, limit in there.items())
            each = " and ".join(f"{limit / max(calls, 1):.3g} {name}" for name, limit in there.items())
            yield Finding("fact", f"judge {names}", f"the budget of {told} is {each} per call")
