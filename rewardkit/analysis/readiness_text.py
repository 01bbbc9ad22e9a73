"""A readiness check as plain text, and what is to be warned of in sentences with numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rewardkit.analysis.presentation import UNKNOWN, aligned, decimal, percent

if TYPE_CHECKING:
    from rewardkit.analysis.readiness import ComponentSignal, GateSignal, Signal

MANY_SILENT = 0.25
"""The share of groups without signal from which on it is worth a warning; likewise of those in which no gate opens."""

MOST = 0.95
"""A term that causes so much of the advantages decides nearly everything."""


def as_text(found: Signal) -> str:
    """All that a person wants to see, without a line break at the end."""
    low, high = found.samples
    per_prompt = f"{low}" if low == high else f"{low} to {high}"
    planned = "groups of that size" if found.num_generations is None else f"groups of {found.num_generations}"
    of_silent = f"{percent(found.silent_at_lowest)} all at the lowest total, {percent(found.silent_at_highest)} all at"
    about = "at least " if found.extrapolated else ""
    sections = [
        [f"{found.completions:,} completions, {found.groups:,} prompts with {per_prompt} samples each"],
        aligned(
            [
                ["prompts whose samples all score alike", percent(found.silent)],
                ["prompts with at most two different totals", percent(found.few_distinct)],
                [f"prompts with a learning signal, in {planned}", about + percent(found.varying)],
                ["completions that cause any gradient", about + percent(found.effective_batch)],
            ]
        ),
        [f"Of the prompts, {of_silent} the highest."] if found.silent_at_lowest + found.silent_at_highest else [],
        aligned(list(_components(found))),
        aligned(list(_gates(found))) if found.gates else [],
        aligned(list(_calls(found))) if found.calls else [],
        [f"! {warning}" for warning in found.warnings],
    ]
    return "\n\n".join("\n".join(section) for section in sections if section)


def _components(found: Signal) -> Iterator[list[str]]:
    others = [name for name in ("abstained", "failed", "errored", "skipped") if _any(found, name)]
    yield ["component", "scored", *others, "mean", "deviation", "varies in", "of the advantages"]
    for one in found.components:
        yield [
            one.name,
            *(percent(one.outcomes.get(name, 0.0)) for name in ("scored", *others)),
            decimal(one.mean),
            decimal(one.deviation),
            percent(one.varies),
            percent(one.advantage_share),
        ]
    named = {one.name for one in found.components}
    for name, share in found.advantage_shares.items():
        if name not in named:
            yield [name, *([UNKNOWN] * (4 + len(others))), percent(share)]


def _any(found: Signal, outcome: str) -> bool:
    return any(outcome in one.outcomes for one in found.components)


def _gates(found: Signal) -> Iterator[list[str]]:
    yield ["gate", "completions passing", "prompts where none passes", "prompts where all pass"]
    for one in found.gates:
        yield [one.name, percent(one.pass_rate), percent(one.starved), percent(one.saturated)]


def _calls(found: Signal) -> Iterator[list[str]]:
    yield ["expensive component", "calls per completion", "calls in the run", "cost"]
    for one in found.calls:
        in_run = UNKNOWN if one.in_run is None else f"{one.in_run:,.0f}"
        cost = UNKNOWN if one.cost is None else f"{one.cost:,.2f}"
        yield [one.component, decimal(one.per_completion), in_run, cost]


def warnings_of(found: Signal) -> Iterator[str]:
    """What stands in the way of learning, the gravest first."""
    if found.unscorable:
        yield f"{percent(found.unscorable)} of the completions are unscorable: they have no advantage at all"
    if found.silent >= MANY_SILENT:
        yield (
            f"in {percent(found.silent)} of the groups all completions score alike: no learning signal there; sample "
            "more per prompt, choose prompts of medium difficulty, or give partial credit"
        )
    if found.extrapolated:
        yield (
            f"{percent(found.extrapolated)} of the prompts have fewer than {found.num_generations} samples, so that "
            "their part is a lower limit; sample at least that many to know"
        )
    if found.lone:
        yield f"{found.lone:,} prompts have one sample alone and are left out"
    for gate in found.gates:
        yield from _gate(gate)
    for component in found.components:
        yield from _component(component)
    positive = {name: share for name, share in found.advantage_shares.items() if share > 0.0}
    for name, share in positive.items():
        if len(found.advantage_shares) > 1 and share >= MOST:
            yield f"{name!r} causes {percent(share)} of the squared advantages: the others hardly count"


def _gate(gate: GateSignal) -> Iterator[str]:
    if gate.pass_rate is None:
        yield f"gate {gate.name!r}: no completion reaches it"
    elif gate.pass_rate == 0.0:
        yield f"gate {gate.name!r}: no completion passes, so nothing behind it can be learned"
    elif gate.pass_rate == 1.0:
        yield f"gate {gate.name!r}: every completion passes, so it teaches nothing any more"
    elif gate.starved is not None and gate.starved >= MANY_SILENT:
        yield (
            f"gate {gate.name!r}: in {percent(gate.starved)} of the groups no completion passes: GRPO cannot learn "
            "there what no sample shows; pay for its condition too, or lower its threshold at first"
        )


def _component(component: ComponentSignal) -> Iterator[str]:
    for outcome, why in (("failed", "could not be computed"), ("errored", "its own code raised")):
        if component.outcomes.get(outcome):
            yield f"{component.name!r} {outcome} on {percent(component.outcomes[outcome])} of the completions: {why}"
    # A gate may make a component differ that is the same wherever it is scored: then its term has a share.
    if component.varies == 0.0 and abs(component.advantage_share or 0.0) < 1e-9:
        yield f"{component.name!r} is the same within every group (mean {decimal(component.mean)}): it teaches nothing"
    elif component.advantage_share is not None and component.advantage_share < 0.0:
        yield (
            f"{component.name!r} works against the rest: its share of the squared advantages is "
            f"{percent(component.advantage_share)}"
        )
