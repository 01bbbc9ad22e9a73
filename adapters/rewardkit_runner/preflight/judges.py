"""Judges: how many calls a training makes, and whether their budget lasts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rewardkit.core.tree.reward import Reward, bindings, walk
from rewardkit_runner.preflight.batches import Batches
from rewardkit_runner.preflight.findings import Finding


def asks(tree: Reward) -> bool:
    """Whether it waits for others, a judge or a model: what it is asked now would cost."""
    return any(node.facts.measures for node, _, _ in walk(tree)) or any(one.asynchronous for _, one in bindings(tree))


def judges(tree: Reward, batches: Batches, evaluated: int) -> Iterator[Finding]:
    """The calls of each judge, at most, and where a budget ends before the training does.

    Args:
        evaluated: completions that are scored in all evaluations.
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
                f"at most {calls:,} calls: one per {per}, fewer where gates are closed and completions are alike",
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
