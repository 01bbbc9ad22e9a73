"""The report of a comparison for a terminal: the verdict first, then tables, then the completions that change most."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import numpy as np

from rewardkit.analysis.presentation import UNKNOWN, aligned, excerpt, percent, short
from rewardkit.core.batch.table_text import visible
from rewardkit.replay.differences.components import ComponentChange
from rewardkit.replay.differences.differences import Differences, Example
from rewardkit.replay.faults import Faults

_WIDTH = 100
_LONGEST = 1_500
"""The most characters of a text in a report that is not for a terminal."""


def text_of(found: Differences) -> str:
    """Return the whole report."""
    blocks = [_filled(found.verdict), _what(found)]
    if not found.same or any(one.state != "same" for one in found.components):
        blocks.append("\n".join(aligned(component_table(found))))
    if found.changed.any() and found.gradients is not None:
        blocks.append("\n".join(aligned(gradient_table(found))))
    blocks += ["\n".join(lines) for lines in (failure_lines(found), exploit_lines(found)) if lines]
    if found.examples:
        blocks.append("The largest changes:\n" + "\n".join(line for one in found.examples for line in _example(one)))
    blocks += [_filled(f"Note: {warning}") for warning in found.warnings]
    return "\n\n".join(blocks)


def _what(found: Differences) -> str:
    known = found.gradients
    groups = "" if known is None else f", {known.count:,} groups"
    return (
        f"old: {visible(found.before.name)}\nnew: {visible(found.after.name)}\n"
        f"on:  {visible(found.data)} ({len(found):,} completions{groups})"
    )


def component_table(found: Differences) -> list[list[str]]:
    """Return the cells of the table of components, the header first."""
    lines = [["", "before", "after", "changed", "largest change"]]
    for one in found.components:
        means = [UNKNOWN if mean is None else f"{mean:.4g}" for mean in one.means]
        lines.append([label_of(one), *means, f"{one.changed:,}", short(one.largest_change) if one.changed else ""])
    return lines


def label_of(one: ComponentChange) -> str:
    """Return the name of a component, and what became of it."""
    if one.state == "renamed" or (one.before != one.after and one.before and one.after):
        return f"{one.before} -> {one.after}"
    name = one.after or one.before or ""
    outcomes = ", ".join(f"{name} {was:,} -> {now:,}" for name, (was, now) in one.outcomes.items())
    said = one.state if one.state in ("added", "removed") else outcomes
    return f"{name} ({said})" if said else name


def gradient_table(found: Differences) -> list[list[str]]:
    """Return the cells of the table of advantages."""
    known = found.gradients
    assert known is not None
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


def failure_lines(found: Differences) -> list[str]:
    """Say which completions only one of the rewards can score, and why."""
    new, gone = int(found.failing.sum()), int(found.mended.sum())
    lines = []
    if gone:
        lines.append(f"{gone:,} completions are scored now that the old reward could not score.")
    if new:
        faults = Faults()
        for row in np.flatnonzero(found.failing).tolist():
            faults.add(row, found.after.errors.get(row, "it has no total"))
        lines += [f"{new:,} completions can no longer be scored (rows are numbered from 0):", *faults.lines()]
    return lines


def exploit_lines(found: Differences) -> list[str]:
    """Say which known exploits the rewards pay."""
    known = found.exploits
    if not known.tried:
        return []
    lines = [f"Known exploits: {known.tried:,} tried, {len(known.still_paid):,} paid by both rewards."]
    for said, listed in (("Paid only by the new reward", known.newly_paid), ("No longer paid", known.no_longer_paid)):
        if listed:
            lines += [f"{said}: {len(listed):,}", *(f"  {excerpt(one, _WIDTH - 2)}" for one in listed[:5])]
    return lines


def _example(one: Example) -> Iterator[str]:
    total = f"total {number(one.totals[0])} -> {number(one.totals[1])}"
    advantage = "" if one.advantages is None else f", advantage {signed(one.advantages)}"
    yield f"  row {one.row:,} ({one.kind}): {total}{advantage}"
    changes = [f"{visible(name)} {number(was)} -> {number(now)}" for name, (was, now) in one.components.items()]
    if changes:
        yield f"    {excerpt(', '.join(changes), _WIDTH)}"
    for name, value in (("prompt", one.prompt), *one.columns.items(), ("completion", one.completion)):
        if value:
            yield f"    {visible(name)}: {excerpt(value, _WIDTH - len(name) - 6)}"


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


def _filled(text: str) -> str:
    return textwrap.fill(visible(text), _WIDTH, break_long_words=False, break_on_hyphens=False)
