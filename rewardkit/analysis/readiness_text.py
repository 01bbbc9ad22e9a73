"""The plain text of a readiness check, and its warnings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rewardkit.analysis.presentation import UNKNOWN, aligned, decimal, percent

if TYPE_CHECKING:
    from rewardkit.analysis.readiness import ComponentSignal, GateSignal, Signal

MANY_SILENT = 0.25
"""Warn if at least this share of groups has no signal, or no completion that passes a gate."""

MOST = 0.95
"""Warn if one term causes at least this share of the squared advantages."""


def as_text(found: Signal) -> str:
    """Return the whole readiness check as text, without a line break at the end."""
    low, high = found.samples
    per_prompt = f"{low}" if low == high else f"{low} to {high}"
    planned = "groups of that size" if found.num_generations is None else f"groups of {found.num_generations}"
    lowest, highest = percent(found.silent_at_lowest), percent(found.silent_at_highest)
    extremes = f"In {lowest} of the prompts all samples have the lowest total, in {highest} the highest."
    about = "at least " if found.extrapolated else ""
    sections = [
        [f"{found.completions:,} completions, {found.groups:,} prompts with {per_prompt} samples each"],
        aligned(
            [
                ["prompts whose samples all score the same", percent(found.silent)],
                ["prompts with at most two different totals", percent(found.few_distinct)],
                [f"prompts with a learning signal, in {planned}", about + percent(found.varying)],
                ["completions with a gradient", about + percent(found.effective_batch)],
            ]
        ),
        [extremes] if found.silent_at_lowest + found.silent_at_highest else [],
        aligned(list(_components(found))),
        aligned(list(_gates(found))) if found.gates else [],
        aligned(list(_calls(found))) if found.calls else [],
        [f"! {warning}" for warning in found.warnings],
    ]
    return "\n\n".join("\n".join(section) for section in sections if section)


def _components(found: Signal) -> Iterator[list[str]]:
    others = [name for name in ("abstained", "failed", "errored", "skipped") if _any(found, name)]
    yield ["component", "scored", *others, "mean", "deviation", "varies in", "of the advantages"]
    for component in found.components:
        yield [
            component.name,
            *(percent(component.outcomes.get(name, 0.0)) for name in ("scored", *others)),
            decimal(component.mean),
            decimal(component.deviation),
            percent(component.varies),
            percent(component.advantage_share),
        ]
    named = {component.name for component in found.components}
    for name, share in found.advantage_shares.items():
        if name not in named:
            yield [name, *([UNKNOWN] * (4 + len(others))), percent(share)]


def _any(found: Signal, outcome: str) -> bool:
    return any(outcome in component.outcomes for component in found.components)


def _gates(found: Signal) -> Iterator[list[str]]:
    yield ["gate", "completions passing", "prompts where none passes", "prompts where all pass"]
    for gate in found.gates:
        yield [gate.name, percent(gate.pass_rate), percent(gate.starved), percent(gate.saturated)]


def _calls(found: Signal) -> Iterator[list[str]]:
    yield ["expensive component", "calls per completion", "calls in the run", "cost"]
    for calls in found.calls:
        in_run = UNKNOWN if calls.in_run is None else f"{calls.in_run:,.0f}"
        cost = UNKNOWN if calls.cost is None else f"{calls.cost:,.2f}"
        yield [calls.component, decimal(calls.per_completion), in_run, cost]


def warnings_of(found: Signal) -> Iterator[str]:
    """Yield the obstacles to learning, most serious first."""
    if found.unscorable:
        yield f"{percent(found.unscorable)} of the completions are unscorable: they have no advantage"
    if found.silent >= MANY_SILENT:
        yield (
            f"in {percent(found.silent)} of the groups all completions score the same, so there is no learning signal; "
            "sample more per prompt, choose prompts of medium difficulty, or give partial credit"
        )
    if found.extrapolated:
        yield (
            f"{percent(found.extrapolated)} of the prompts have fewer than {found.num_generations} samples, so the "
            "numbers for the run are lower limits; sample at least that many"
        )
    if found.lone:
        yield f"{found.lone:,} prompts have only one sample and are left out"
    for gate in found.gates:
        yield from _gate(gate)
    for component in found.components:
        yield from _component(component)
    positive = {name: share for name, share in found.advantage_shares.items() if share > 0.0}
    for name, share in positive.items():
        if len(found.advantage_shares) > 1 and share >= MOST:
            yield f"{name!r} causes {percent(share)} of the squared advantages: the other terms hardly count"


def _gate(gate: GateSignal) -> Iterator[str]:
    if gate.pass_rate is None:
        yield f"gate {gate.name!r}: no completion reaches it"
    elif gate.pass_rate == 0.0:
        yield f"gate {gate.name!r}: no completion passes, so nothing behind it can be learned"
    elif gate.pass_rate == 1.0:
        yield f"gate {gate.name!r}: every completion passes, so it teaches nothing"
    elif gate.starved is not None and gate.starved >= MANY_SILENT:
        yield (
            f"gate {gate.name!r}: in {percent(gate.starved)} of the groups no completion passes, and GRPO cannot learn "
            "what no sample shows; also reward its condition, or start with a lower threshold"
        )


def _component(component: ComponentSignal) -> Iterator[str]:
    for outcome, why in (("failed", "could not be computed"), ("errored", "its own code raised")):
        if component.outcomes.get(outcome):
            yield f"{component.name!r} {outcome} on {percent(component.outcomes[outcome])} of the completions: {why}"
    # Behind a gate, even a constant component makes completions differ: then its term has a share.
    if component.varies == 0.0 and abs(component.advantage_share or 0.0) < 1e-9:
        yield f"{component.name!r} is constant within every group (mean {decimal(component.mean)}): it teaches nothing"
    elif component.advantage_share is not None and component.advantage_share < 0.0:
        yield (
            f"{component.name!r} works against the rest: its share of the squared advantages is "
            f"{percent(component.advantage_share)}"
        )
