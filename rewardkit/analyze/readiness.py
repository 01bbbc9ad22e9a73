"""Readiness: find out whether a model can learn anything from its samples before you spend a GPU hour.

``signal_of(table, groups)`` reports for how many prompts all completions score the same, which gates no completion
passes, which components vary, and the cost of a run. ``rewardkit.testing.estimate_signal`` reads the samples, scores
them, and calls this function.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rewardkit.analyze.discrimination import Numbers
from rewardkit.analyze.signal import EPSILON, causes, shares
from rewardkit.batch.column import Column, Floats, Rows
from rewardkit.batch.score import Outcome
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import BindingError, RewardDefinitionError
from rewardkit.report.document import Block, Cell, Document, Name, Paragraph, Table
from rewardkit.report.values import UNKNOWN, decimal, json_ready, percent

# The learning signal of a prompt if only some of its samples are drawn, computed by exact combinatorics.


def multiplicities(totals: Floats) -> list[int]:
    """Return the frequency of each distinct total in `totals` (n,); NaN is ignored.

    Neighbors that differ by at most 1e-4 are treated as equal, because GRPO's normalization reduces such a difference
    to almost nothing.
    """
    known_totals = np.sort(totals[~np.isnan(totals)])
    if not known_totals.size:
        return []
    with np.errstate(over="ignore"):
        cuts = np.flatnonzero(np.diff(known_totals) > EPSILON) + 1
    return [len(part) for part in np.split(known_totals, cuts)]


@dataclass(frozen=True)
class Draw:
    """The expected learning signal in G completions for one prompt.

    Attributes:
        varies: the probability (0 to 1) that their totals differ, so that there is something to learn.
        effective: the expected share of the G completions that have a nonzero advantage.
    """

    varies: float
    effective: float


def drawn(totals: Floats, num_generations: int) -> Draw:
    """Return the learning signal in `num_generations` samples for one prompt, drawn without replacement.

    Among n samples, u do not have a total, and c_v have the total v. G draws do not vary if they have at most one
    distinct total:

        1 - varies = (sum_v C(c_v + u, G) - (K - 1) C(u, G)) / C(n, G)

    for K distinct totals (draws without any total are in each summand but must be counted once). This is the
    hypergeometric distribution. Like pass@k, which has the same form, it is unbiased for new samples (Chen et al. 2021,
    arXiv:2107.03374). A completion with total v has an advantage if at least one of the G - 1 others has a different
    total:

        effective = sum_v c_v / n (1 - C(c_v + u - 1, G - 1) / C(n - 1, G - 1))

    If there are fewer samples than G, all n samples are drawn. On average, the result is a lower limit, because more
    draws vary more.

    Args:
        totals: (n,) the totals of the samples for one prompt, or NaN if a completion is unscorable. n is at least 1.
        num_generations: G, at least 1.
    """
    size, counts = len(totals), multiplicities(totals)
    unscorable = size - sum(counts)
    if not counts:
        return Draw(0.0, 0.0)

    draws = min(num_generations, size)

    def chance(part: int, population: int, number: int) -> float:
        """Return the probability that all `number` draws from `population` samples are in a subset of size `part`."""
        return math.comb(part, number) / math.comb(population, number)

    constant = sum(chance(count + unscorable, size, draws) for count in counts)
    constant -= (len(counts) - 1) * chance(unscorable, size, draws)
    effective = sum(count / size * (1.0 - chance(count + unscorable - 1, size - 1, draws - 1)) for count in counts)
    # A sum of many chances may be slightly above 1.
    return Draw(min(1.0, max(0.0, 1.0 - constant)), min(1.0, max(0.0, effective)))


# The tables of the report, and its warnings.


MANY_SILENT = 0.25
"""A warning is issued if at least this share of groups does not have a signal or a completion that passes a gate. The
value is arbitrary: if a quarter of the groups is silent, the effective batch is a quarter smaller."""

MOST = 0.95
"""A warning is issued if one term causes at least this share of the squared advantages. The value is arbitrary: at this
share, the other terms count in the sum but have almost no effect on the gradient."""


def _components_table(components: Sequence[ComponentSignal], shares: Mapping[str, float]) -> Table:
    other_outcomes = [
        name
        for name in ("abstained", "failed", "errored", "skipped")
        if any(name in component.outcomes for component in components)
    ]
    rows: list[list[Cell]] = [
        [
            Name(component.name),
            *(percent(component.outcomes.get(name, 0.0)) for name in ("scored", *other_outcomes)),
            decimal(component.mean),
            decimal(component.deviation),
            percent(component.varies),
            percent(component.advantage_share),
        ]
        for component in components
    ]
    names = {component.name for component in components}
    unknown = [UNKNOWN] * (4 + len(other_outcomes))
    rows += [[Name(name), *unknown, percent(share)] for name, share in shares.items() if name not in names]
    return Table(rows, ["component", "scored", *other_outcomes, "mean", "deviation", "varies in", "of the advantages"])


def _gates_table(gates: Sequence[GateSignal]) -> Table:
    rows: list[list[Cell]] = [
        [Name(gate.name), *map(percent, (gate.pass_rate, gate.starved, gate.saturated))] for gate in gates
    ]
    return Table(rows, ["gate", "completions passing", "prompts where none passes", "prompts where all pass"])


def _calls_table(components: Sequence[Calls]) -> Table:
    rows: list[list[Cell]] = []
    for calls in components:
        in_run = UNKNOWN if calls.in_run is None else f"{calls.in_run:,.0f}"
        cost = UNKNOWN if calls.cost is None else f"{calls.cost:,.2f}"
        rows.append([Name(calls.component), decimal(calls.per_completion), in_run, cost])
    return Table(rows, ["expensive component", "calls per completion", "calls in the run", "cost"])


def warnings_of(signal: Signal) -> Iterator[str]:
    """Yield a warning for each obstacle to learning, the most serious first."""
    if signal.unscorable:
        yield f"{percent(signal.unscorable)} of the completions are unscorable: they have no advantage"
    if signal.silent >= MANY_SILENT:
        yield (
            f"in {percent(signal.silent)} of the groups all completions score the same, so there is no learning "
            "signal. Sample more completions per prompt, choose prompts of medium difficulty, or give partial credit"
        )
    if signal.extrapolated:
        yield (
            f"{percent(signal.extrapolated)} of the prompts have fewer than {signal.num_generations} samples, so the "
            "numbers for the run are lower limits. Sample at least that many"
        )
    if signal.lone:
        yield f"{signal.lone:,} prompts have only one sample and do not count"
    for gate in signal.gates:
        yield from _gate_lines(gate)
    for component in signal.components:
        yield from _component_lines(component)
    positive = {name: share for name, share in signal.advantage_shares.items() if share > 0.0}
    for name, share in positive.items():
        if len(signal.advantage_shares) > 1 and share >= MOST:
            yield f"{name!r} causes {percent(share)} of the squared advantages: the other terms hardly matter"


def _gate_lines(gate: GateSignal) -> Iterator[str]:
    if gate.pass_rate is None:
        yield f"gate {gate.name!r}: no completion reaches it"
    elif gate.pass_rate == 0.0:
        yield f"gate {gate.name!r}: no completion passes, so nothing behind it can be learned"
    elif gate.pass_rate == 1.0:
        yield f"gate {gate.name!r}: every completion passes, so the gate has no effect"
    elif gate.starved is not None and gate.starved >= MANY_SILENT:
        yield (
            f"gate {gate.name!r}: in {percent(gate.starved)} of the groups no completion passes, and GRPO cannot learn "
            "what no sample shows. Also reward its condition, or start with a lower threshold"
        )


def _component_lines(component: ComponentSignal) -> Iterator[str]:
    for outcome, problem in (("failed", "could not be computed"), ("errored", "its own code raised")):
        if component.outcomes.get(outcome):
            share = percent(component.outcomes[outcome])
            yield f"{component.name!r} {outcome} on {share} of the completions: {problem}"
    # Behind a gate, even a constant component can make completions differ; then its term has a share.
    if component.varies == 0.0 and abs(component.advantage_share or 0.0) < 1e-9:
        yield (
            f"{component.name!r} is constant within every group (mean {decimal(component.mean)}): it gives no "
            "learning signal"
        )
    elif component.advantage_share is not None and component.advantage_share < 0.0:
        yield (
            f"{component.name!r} works against the rest: its share of the squared advantages is "
            f"{percent(component.advantage_share)}"
        )


FEW = 2
"""The maximum number of distinct totals that is considered few. With two, a prompt has only correct and incorrect
completions."""


@dataclass(frozen=True)
class ComponentSignal:
    """One component's scores within prompts.

    Attributes:
        outcomes: outcome -> the share of completions: ``{"scored": 0.9, "skipped": 0.1}``.
        mean: the mean score, or None if there are no scores.
        deviation: the sample standard deviation within a prompt, averaged over prompts that have at least two scored
            completions.
        varies: the share of these prompts whose completions do not all score the same.
        advantage_share: the share of the squared advantages caused by the component's term, as logged in training; None
            if the component is not a term or if no total varies.
    """

    name: str
    outcomes: Mapping[str, float]
    mean: float | None
    deviation: float | None
    varies: float | None
    advantage_share: float | None


@dataclass(frozen=True)
class GateSignal:
    """The learning signal at one gate.

    Attributes:
        pass_rate: the share of completions that pass, among the completions that reach the gate; None if none reaches
            it.
        starved: the share of prompts for which no completion passes, among the prompts that reach the gate. GRPO cannot
            learn behavior that no sample shows. None if it is unknown which rows reach the gate.
        saturated: the share of prompts for which all completions pass, among the same prompts.
    """

    name: str
    pass_rate: float | None
    starved: float | None
    saturated: float | None


@dataclass(frozen=True)
class Calls:
    """The number of calls to an expensive component: one for each completion that it scored or failed on.

    The estimate is too high if a batch has identical completions (one call for all of them), and too low if the
    component is called and abstains.

    Attributes:
        per_completion: the number of calls per sampled completion.
        in_run: the number of calls in the whole run, or None if the run's length is unknown.
        cost: the price of these calls, or None if the price per call is unknown.
    """

    component: str
    per_completion: float
    in_run: float | None
    cost: float | None


@dataclass(frozen=True)
class Signal:
    """The learning signal in a model's samples; ``print(signal)`` shows a report.

    Attributes:
        completions: the number of rows.
        unscorable: the share of rows without a total.
        groups: the number of prompts with at least two samples. All shares of groups refer to these prompts.
        lone: the number of prompts with one sample, which are excluded.
        samples: the smallest and largest number of samples per prompt.
        silent: the share of groups without a learning signal, because all samples score the same.
        silent_at_lowest: the share of groups in which all samples have the lowest total (too hard).
        silent_at_highest: the share of groups in which all samples have the highest total (too easy).
        few_distinct: the share of groups with at most two distinct totals.
        num_generations: the group size of the planned run; None means the number of samples.
        extrapolated: the share of groups with fewer samples than `num_generations`, for which `varying` is a lower
            limit.
        varying: the expected share of groups with a learning signal in the planned run.
        effective_batch: the expected share of completions in the planned run that contribute to the gradient.
        advantage_shares: term -> the share of the squared advantages.
    """

    completions: int
    unscorable: float
    groups: int
    lone: int
    samples: tuple[int, int]
    silent: float
    silent_at_lowest: float
    silent_at_highest: float
    few_distinct: float
    num_generations: int | None
    extrapolated: float
    varying: float
    effective_batch: float
    advantage_shares: Mapping[str, float]
    components: tuple[ComponentSignal, ...]
    gates: tuple[GateSignal, ...]
    calls: tuple[Calls, ...]
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain JSON values."""
        plain: dict[str, Any] = json_ready(self)
        return plain

    @property
    def document(self) -> Document:
        """The report on the learning signal."""
        low, high = self.samples
        per_prompt = f"{low}" if low == high else f"{low} to {high}"
        planned = "groups of that size" if self.num_generations is None else f"groups of {self.num_generations}"
        about = "at least " if self.extrapolated else ""
        shares = [
            ["prompts whose samples all score the same", percent(self.silent)],
            ["prompts with at most two different totals", percent(self.few_distinct)],
            [f"prompts with a learning signal, in {planned}", about + percent(self.varying)],
            ["completions with a gradient", about + percent(self.effective_batch)],
        ]
        blocks: list[Block] = [
            Paragraph(f"{self.completions:,} completions, {self.groups:,} prompts with {per_prompt} samples each"),
            Table(shares),
        ]
        if self.silent_at_lowest + self.silent_at_highest:
            lowest, highest = percent(self.silent_at_lowest), percent(self.silent_at_highest)
            extremes = (
                f"In {lowest} of the prompts, all samples have the lowest total. In {highest}, all have the "
                "highest total."
            )
            blocks.append(Paragraph(extremes))
        blocks.append(_components_table(self.components, self.advantage_shares))
        blocks += [_gates_table(self.gates)] if self.gates else []
        blocks += [_calls_table(self.calls)] if self.calls else []
        return Document("Learning signal", [*blocks, *(Paragraph(warning, "note") for warning in self.warnings)])

    def __str__(self) -> str:
        return self.document.text()


def signal_of(
    table: ScoreTable,
    groups: Numbers,
    *,
    gates: Mapping[str, tuple[Rows, Rows] | None] | None = None,
    calls: Mapping[str, int] | None = None,
    num_generations: int | None = None,
    completions_in_run: int | None = None,
    price_per_call: float | Mapping[str, float] | None = None,
) -> Signal:
    """Return the learning signal in the samples in `table`.

    Args:
        table: n rows, as returned by ``rk.score``, with several samples for each prompt.
        groups: (n,) the prompt of each row, as a number.
        gates: gate -> masks (n,) for the rows that pass and for the rows that do not pass. If a gate maps to None or is
            missing, only the pass rate in the table is used.
        calls: expensive component -> the number of calls for the n rows.
        num_generations: the number of completions per prompt in the planned run, at least 2.
        completions_in_run: the number of completions that the run will sample.
        price_per_call: one price for all components, or component -> price.

    Raises:
        BindingError: `groups` does not have one value per row, or no prompt has at least two samples.
        RewardDefinitionError: `num_generations` is below 2.
    """
    members = _comparable_groups(table, groups, num_generations)
    totals = [table.total[rows] for rows in members]
    silent = [group_totals for group_totals in totals if len(multiplicities(group_totals)) < 2]
    low, high = np.nanmin(table.total, initial=np.inf), np.nanmax(table.total, initial=-np.inf)
    expected = [drawn(group_totals, num_generations or len(group_totals)) for group_totals in totals]
    caused = _advantage_shares(table, groups)

    def share_of_silent_at(total: float) -> float:
        at = [silent_group for silent_group in silent if low < high and (np.abs(silent_group - total) <= EPSILON).any()]
        return len(at) / len(members)

    signal = Signal(
        completions=len(table),
        unscorable=float(np.isnan(table.total).mean()),
        groups=len(members),
        lone=len(np.unique(groups)) - len(members),
        samples=(min(map(len, members)), max(map(len, members))),
        silent=len(silent) / len(members),
        silent_at_lowest=share_of_silent_at(low),
        silent_at_highest=share_of_silent_at(high),
        few_distinct=float(np.mean([len(multiplicities(group_totals)) <= FEW for group_totals in totals])),
        num_generations=num_generations,
        extrapolated=float(np.mean([(num_generations or 0) > len(group_totals) for group_totals in totals])),
        varying=float(np.mean([draw.varies for draw in expected])),
        effective_batch=float(np.mean([draw.effective for draw in expected])),
        advantage_shares=caused,
        components=tuple(
            _component(name, column, members, caused.get(name)) for name, column in table.components.items()
        ),
        gates=tuple(_gate(name, table, (gates or {}).get(name), members) for name in table.passed),
        calls=tuple(
            _calls(name, count / len(table), completions_in_run, price_per_call)
            for name, count in (calls or {}).items()
        ),
    )
    return replace(signal, warnings=tuple(warnings_of(signal)))


def _comparable_groups(table: ScoreTable, groups: Numbers, num_generations: int | None) -> list[Numbers]:
    """Return each group's rows, for groups with at least two rows; raise an error if there are no such groups."""
    if len(groups) != len(table):
        raise BindingError(f"groups has {len(groups)} values for {len(table)} rows. Pass one value per row")
    if num_generations is not None and num_generations < 2:
        raise RewardDefinitionError(
            f"num_generations is {num_generations}, but must be at least 2, because GRPO compares completions"
        )
    members = [rows for rows in _members(groups) if len(rows) > 1]
    if not members:
        raise BindingError(
            f"each of the {len(table):,} prompts has only one completion, but GRPO learns from how the completions for "
            "one prompt differ. Sample several completions per prompt (and check that their prompts are equal)"
        )
    return members


def _members(groups: Numbers) -> list[Numbers]:
    """Return each group's row numbers."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def _advantage_shares(table: ScoreTable, groups: Numbers) -> dict[str, float]:
    """Return term -> the share of the squared advantages; empty if no total varies."""
    order = np.argsort(groups, kind="stable")
    if not table.terms:
        return {}
    term_shares = shares(*causes([term[order] for term in table.terms.values()], groups[order]))
    return {} if term_shares is None else dict(zip(table.terms, term_shares.tolist(), strict=True))


def _component(name: str, column: Column, members: list[Numbers], share: float | None) -> ComponentSignal:
    counts = np.bincount(column.codes, minlength=len(Outcome)) / max(1, len(column.codes))
    outcomes = {str(outcome): float(part) for outcome, part in zip(Outcome, counts, strict=True) if part}
    known_scores = column.scored[~np.isnan(column.scored)]
    group_scores = [column.scored[rows] for rows in members]
    compared = [values[~np.isnan(values)] for values in group_scores if (~np.isnan(values)).sum() > 1]
    return ComponentSignal(
        name=name,
        outcomes=outcomes,
        mean=float(known_scores.mean()) if known_scores.size else None,
        deviation=float(np.mean([values.std(ddof=1) for values in compared])) if compared else None,
        varies=float(np.mean([len(multiplicities(values)) > 1 for values in compared])) if compared else None,
        advantage_share=share,
    )


def _gate(name: str, table: ScoreTable, rows: tuple[Rows, Rows] | None, members: list[Numbers]) -> GateSignal:
    if rows is None:
        return GateSignal(name, table.gates.get(name), None, None)
    opened, closed = rows
    reached = [group_rows for group_rows in members if (opened | closed)[group_rows].any()]
    through, count = int(opened.sum()), int((opened | closed).sum())
    return GateSignal(
        name,
        through / count if count else None,
        float(np.mean([not opened[group_rows].any() for group_rows in reached])) if reached else None,
        float(np.mean([not closed[group_rows].any() for group_rows in reached])) if reached else None,
    )


def _calls(
    name: str, per_completion: float, completions: int | None, prices: float | Mapping[str, float] | None
) -> Calls:
    price = prices.get(name) if isinstance(prices, Mapping) else prices
    in_run = None if completions is None else per_completion * completions
    return Calls(name, per_completion, in_run, None if price is None or in_run is None else price * in_run)
