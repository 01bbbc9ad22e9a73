"""Check the judges: how many calls a training makes, and whether the budget is enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rewardkit.core.tree.reward import Reward, bindings, walk
from rewardkit_runner.preflight.batches import Batches
from rewardkit_runner.preflight.findings import Finding


def asks(tree: Reward) -> bool:
    """Return whether the reward calls a judge or a model, which would cost money or time."""
    return any(node.facts.measures for node, _, _ in walk(tree)) or any(one.asynchronous for _, one in bindings(tree))


def judges(tree: Reward, batches: Batches, evaluated: int) -> Iterator[Finding]:
    """Report the maximum number of calls of each judge, and budgets that run out during the training.

    Args:
        evaluated: completions in all evaluations together.
    """
    completions = batches.completions + evaluated
    budgets: dict[Any, list[tuple[str, int]]] = {}
    for node, binding in bindings(tree):
        if binding.measures:
            calls = completions // batches.generations if binding.scope == "group" else completions
            per = "group" if binding.scope == "group" else "completion"
            yield Finding(
                "fact",
                f"judge {node.name!r}",
                f"at most {calls:,} calls: one per {per}, fewer if gates are closed or completions are repeated",
            )
            service = getattr(getattr(binding.function, "brief", None), "service", None)
            budget = getattr(service, "budget", None)
            if budget is not None:
                budgets.setdefault(budget, []).append((node.name, calls))
    for budget, shared in budgets.items():
        calls = sum(count for _, count in shared)
        names = ", ".join(repr(name) for name, _ in shared)
        if budget.calls is not None and budget.calls < calls:
            yield Finding(
                "warning",
                f"judge {names}",
                f"the budget of {budget.calls:,} calls is less than the {calls:,} that the training may make: it runs "
                f"out around step {batches.steps * budget.calls // calls:,} of {batches.steps:,} ({budget.then})",
                "raise the budget, put the judge behind a gate, or train for fewer steps",
            )
        elif budget.calls is None:
            limits = {"tokens": budget.tokens, "money": budget.money}
            there = {name: limit for name, limit in limits.items() if limit is not None}
            told = " and ".join(f"{limit:g} {name}" for name, limit in there.items())
            each = " and ".join(f"{limit / max(calls, 1):.3g} {name}" for name, limit in there.items())
            yield Finding("fact", f"judge {names}", f"the budget of {told} allows {each} per call")
