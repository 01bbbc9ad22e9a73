"""What reports show of a comparison, in the same order everywhere: text, not yet escaped for a terminal or a page.

`text`, `markdown` and `page` render `Sections`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rewardkit.analyze.presentation import UNKNOWN, excerpt, percent, short
from rewardkit.batch.column import Rows
from rewardkit.differences.advantages import Gradients
from rewardkit.differences.components import ComponentChange
from rewardkit.differences.exploits import ExploitChange
from rewardkit.differences.side import TOLERANCE
from rewardkit.scoring.report import Faults

_LONGEST = 1_500
"""The most characters of a text in a report that is not for a terminal."""
_EXCERPT = 98
"""The most characters of an exploit."""


@dataclass(frozen=True)
class Example:
    """A completion that the change affects, with its texts.

    Attributes:
        row: its number in the data, from 0.
        columns: the columns that the rewards read.
        totals, advantages: before and after; None if it has none.
        components: name -> values before and after, of the components that differ here.
        kind: ``"flip"``, ``"newly rewarded"``, ``"newly penalized"``, ``"no longer scored"``, ``"newly scored"`` or
            ``"changed"``.
    """

    row: int
    prompt: str
    completion: str
    columns: Mapping[str, str]
    totals: tuple[float | None, float | None]
    advantages: tuple[float, float] | None
    components: Mapping[str, tuple[float | None, float | None]]
    kind: str


@dataclass(frozen=True)
class Sections:
    """The parts of a report.

    Attributes:
        verdict: one sentence.
        old, new, data: what was compared.
        size: how many completions and groups.
        same: whether nothing changes.
        components, gradients: the cells of tables; the first has a header. Empty if there is nothing to show.
        failures, exploits: lines.
        warnings: sentences.
    """

    verdict: str
    old: str
    new: str
    data: str
    size: str
    same: bool
    components: Sequence[Sequence[str]]
    gradients: Sequence[Sequence[str]]
    failures: Sequence[str]
    exploits: Sequence[str]
    examples: Sequence[Example]
    warnings: Sequence[str]


def component_table(components: Sequence[ComponentChange]) -> list[list[str]]:
    """Return the cells of the table of components, the header first."""
    lines = [["", "before", "after", "changed", "largest change"]]
    for one in components:
        means = [UNKNOWN if mean is None else f"{mean:.4g}" for mean in one.means]
        lines.append(
            [
                _label(one),
                *means,
                f"{one.changed:,}",
                short(one.largest_change) if one.largest_change > TOLERANCE else "",
            ]
        )
    return lines


def _label(one: ComponentChange) -> str:
    """Return the name of a component, and what became of it."""
    if one.state == "renamed" or (one.before != one.after and one.before and one.after):
        return f"{one.before} -> {one.after}"
    name = one.after or one.before or ""
    outcomes = ", ".join(f"{name} {was:,} -> {now:,}" for name, (was, now) in one.outcomes.items())
    said = one.state if one.state in ("added", "removed") else outcomes
    return f"{name} ({said})" if said else name


def gradient_table(known: Gradients) -> list[list[str]]:
    """Return the cells of the table of advantages."""
    of = known.compared
    lines = [
        ["advantages that flip their sign", f"{known.flips:,}", percent(known.flips / of)],
        ["newly rewarded (above 0)", f"{known.rewarded:,}", percent(known.rewarded / of)],
        ["newly penalized (below 0)", f"{known.penalized:,}", percent(known.penalized / of)],
        ["groups with another best completion", f"{known.other_best:,}", percent(known.other_best / known.count)],
        ["groups that fall silent", f"{known.silenced:,}", percent(known.silenced / known.count)],
        ["groups no longer silent", f"{known.voiced:,}", percent(known.voiced / known.count)],
        ["silent groups, before and after", f"{known.silent_before:,} -> {known.silent_after:,}", ""],
        ["largest change of an advantage", f"{known.largest_change:.3g}", ""],
    ]
    if known.rank_correlation is not None:
        lines.append(["rank correlation within groups", f"{known.rank_correlation:.3f}", ""])
    return lines


def failure_lines(failing: Rows, recovered: Rows, errors: Mapping[int, str]) -> list[str]:
    """Say which completions only one of the rewards can score, and why."""
    new, gone = int(failing.sum()), int(recovered.sum())
    lines = []
    if gone:
        lines.append(f"The old reward could not score {counted(gone, 'completion')} that the new one scores.")
    if new:
        faults = Faults()
        for row in np.flatnonzero(failing).tolist():
            faults.add(row, errors.get(row, "all of its components abstain"))
        lines += [f"{counted(new, 'completion')} can no longer be scored (rows are numbered from 0):", *faults.lines()]
    return lines


def exploit_lines(known: ExploitChange) -> list[str]:
    """Say which known exploits the rewards pay."""
    if not known.tried:
        return []
    lines = [f"Known exploits: {known.tried:,} tried, {len(known.still_paid):,} paid by both rewards."]
    for said, listed in (("Paid only by the new reward", known.newly_paid), ("No longer paid", known.no_longer_paid)):
        if listed:
            lines += [f"{said}: {len(listed):,}", *(f"  {excerpt(one, _EXCERPT)}" for one in listed[:5])]
    return lines


def counted(count: int, what: str) -> str:
    """Return ``1 group`` or ``2 groups``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def number(value: float | None) -> str:
    """Return a score with four digits."""
    return UNKNOWN if value is None else f"{value:.4g}"


def signed(advantages: tuple[float, float]) -> str:
    """Return advantages before and after."""
    return f"{advantages[0]:+.2f} -> {advantages[1]:+.2f}"


def cut(text: str, longest: int = _LONGEST) -> str:
    """Return the beginning and the end of a long text; the answer is often at the end."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters ...]\n{text[-half:]}"
