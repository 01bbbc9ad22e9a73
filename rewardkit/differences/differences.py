"""The difference between two rewards over the same completions, as numbers and tables.

``compared(before, after, found, groups).verdict`` is one sentence; `text`, `markdown` and `page` show the rest.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rewardkit.analyze.page import escaped, page
from rewardkit.analyze.presentation import aligned, excerpt, json_ready, percent
from rewardkit.batch.column import Floats, Numbers, Rows
from rewardkit.batch.table_text import visible
from rewardkit.differences.advantages import Gradients, gradients
from rewardkit.differences.components import ComponentChange, component_changes
from rewardkit.differences.exploits import ExploitChange, exploit_changes
from rewardkit.differences.markdown import markdown_of
from rewardkit.differences.sections import (
    Example,
    Sections,
    component_table,
    counted,
    cut,
    exploit_lines,
    failure_lines,
    gradient_table,
    number,
    signed,
)
from rewardkit.differences.side import TOLERANCE, Side, differ
from rewardkit.scoring.regressions import Regression

# The report of a comparison as a page: one self-contained file, dark or light as the reader's system.


def page_of(found: Sections) -> str:
    """Return the whole page."""
    return page(f"Reward difference: {cut(f'{found.old} -> {found.new}', 80)}", "\n".join(_body(found)))


def _body(found: Sections) -> Iterator[str]:
    yield "<h1>Reward difference</h1>"
    yield f'<p class="soft">{_code(found.old)} → {_code(found.new)}</p>'
    yield f'<p class="soft">on {_code(found.data)} ({found.size})</p>'
    yield f'<p class="verdict {"held" if found.same else "unfinished"}">{escaped(found.verdict)}</p>'
    yield from (f'<p class="soft small">{escaped(warning)}</p>' for warning in found.warnings)
    if found.components:
        yield f"<section><h2>Components</h2>{_table(found.components, head=True)}</section>"
    if found.gradients:
        yield f"<section><h2>Advantages within groups</h2>{_table(found.gradients, head=False)}</section>"
    for title, lines in (("Failures", found.failures), ("Known exploits", found.exploits)):
        if lines:
            yield f"<section><h2>{title}</h2><pre>{_lines(chr(10).join(lines))}</pre></section>"
    if found.examples:
        yield "<section><h2>The largest changes</h2>"
        for one in found.examples:
            yield from _example_html(one)
        yield "</section>"


def _example_html(one: Example) -> Iterator[str]:
    advantage = "" if one.advantages is None else f", advantage {signed(one.advantages)}"
    total = f"{number(one.totals[0])} -> {number(one.totals[1])}"
    yield f'<div class="finding"><p>Row {one.row:,}: {escaped(one.kind)}, total {total}{advantage}</p><dl>'
    for name, (was, now) in one.components.items():
        yield f"<dt>{escaped(name)}</dt><dd>{number(was)} → {number(now)}</dd>"
    for name, value in (("prompt", one.prompt), *one.columns.items(), ("completion", one.completion)):
        if value:
            yield f"<dt>{escaped(name)}</dt><dd><pre>{_lines(cut(value))}</pre></dd>"
    yield "</dl></div>"


def _table(cells: Sequence[Sequence[str]], *, head: bool) -> str:
    rows = []
    for place, row in enumerate(cells):
        tag = "th" if head and place == 0 else "td"
        numbers = "".join(f'<{tag} class="number">{escaped(cell)}</{tag}>' for cell in row[1:])
        rows.append(f"<tr><{tag}>{escaped(row[0])}</{tag}>{numbers}</tr>")
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _code(text: str) -> str:
    return f"<code>{escaped(text)}</code>"


def _lines(text: str) -> str:
    """Return text with its line breaks, for <pre>."""
    return "\n".join(map(escaped, text.split("\n")))


# The report of a comparison for a terminal: the verdict first, then tables, then the completions that change most.


_WIDTH = 100


def text_of(found: Sections) -> str:
    """Return the whole report."""
    blocks = [
        _filled(found.verdict),
        f"old: {visible(found.old)}\nnew: {visible(found.new)}\non:  {visible(found.data)} ({found.size})",
    ]
    blocks += ["\n".join(aligned(cells)) for cells in (found.components, found.gradients) if cells]
    blocks += ["\n".join(lines) for lines in (found.failures, found.exploits) if lines]
    if found.examples:
        blocks.append(
            "The largest changes:\n" + "\n".join(line for one in found.examples for line in _example_text(one))
        )
    blocks += [_filled(f"Note: {warning}") for warning in found.warnings]
    return "\n\n".join(blocks)


def _example_text(one: Example) -> Iterator[str]:
    total = f"total {number(one.totals[0])} -> {number(one.totals[1])}"
    advantage = "" if one.advantages is None else f", advantage {signed(one.advantages)}"
    yield f"  row {one.row:,} ({one.kind}): {total}{advantage}"
    changes = [f"{visible(name)} {number(was)} -> {number(now)}" for name, (was, now) in one.components.items()]
    if changes:
        yield f"    {excerpt(', '.join(changes), _WIDTH)}"
    for name, value in (("prompt", one.prompt), *one.columns.items(), ("completion", one.completion)):
        if value:
            yield f"    {visible(name)}: {excerpt(value, _WIDTH - len(name) - 6)}"


def _filled(text: str) -> str:
    return textwrap.fill(visible(text), _WIDTH, break_long_words=False, break_on_hyphens=False)


SCHEMA = 1
"""The version of `Differences.to_dict`."""


@dataclass(frozen=True)
class Differences:
    """What changes if the reward `before` is replaced by the reward `after`, over n completions.

    Attributes:
        data: the name of the data.
        changed: (n,) whether the total differs by more than 1e-9; NaN equals NaN.
        components: a line for each component, and for the total (the last).
        gradients: advantages within groups; None if no prompt has two completions.
        failing, recovered: (n,) whether only the new reward cannot score the completion, or only the old one.
        exploits: known exploits that only one of the rewards pays, and those that both pay.
        examples: the completions that change most, the largest change first.
        warnings: what limits the comparison, in sentences.
    """

    before: Side
    after: Side
    data: str
    changed: Rows = field(repr=False)
    components: tuple[ComponentChange, ...]
    gradients: Gradients | None
    failing: Rows = field(repr=False)
    recovered: Rows = field(repr=False)
    exploits: ExploitChange
    examples: tuple[Example, ...] = ()
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.changed)

    def __str__(self) -> str:
        return self.text()

    @property
    def same(self) -> bool:
        """Whether nothing changes for a training: no total, no failure, no known exploit."""
        return not (self.changed.any() or self.failing.any() or self.recovered.any() or self.exploits.changes)

    @property
    def verdict(self) -> str:
        """One sentence."""
        return verdict_of(self)

    @property
    def sections(self) -> Sections:
        """The parts of a report."""
        known = self.gradients
        told = not self.same or any(one.state != "same" for one in self.components)
        return Sections(
            self.verdict,
            self.before.name,
            self.after.name,
            self.data,
            ", ".join([counted(len(self), "completion"), *([] if known is None else [counted(known.count, "group")])]),
            self.same,
            component_table(self.components) if told else (),
            () if known is None or not self.changed.any() else gradient_table(known),
            failure_lines(self.failing, self.recovered, self.after.errors),
            exploit_lines(self.exploits),
            self.examples,
            self.warnings,
        )

    def text(self) -> str:
        """Return a report for a terminal."""
        return text_of(self.sections)

    def markdown(self) -> str:
        """Return a report for a comment on a pull request: at most 65,536 characters, without foreign markup."""
        return markdown_of(self.sections)

    def html(self) -> str:
        """Return a report as a self-contained page."""
        return page_of(self.sections)

    @property
    def columns(self) -> dict[str, Any]:
        """A table with a row per completion, name -> (n,): totals, advantages, flips, components before and after.

        ``pandas.DataFrame(differences.columns)`` makes a frame.
        """
        found: dict[str, Any] = {"total/before": self.before.total, "total/after": self.after.total}
        if (known := self.gradients) is not None:
            found |= {
                "group": known.groups,
                "advantage/before": known.before,
                "advantage/after": known.after,
                "flips": known.flipped,
            }
        for one in self.components[:-1]:
            for side, scores, name in (("before", self.before, one.before), ("after", self.after, one.after)):
                if name is not None:
                    found[f"components/{name}/{side}"] = scores.components[name]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the (n,) arrays as JSON values; docs/diff.md describes them."""
        known = self.gradients
        return {
            "schema": SCHEMA,
            "old": self.before.name,
            "new": self.after.name,
            "data": self.data,
            "completions": len(self),
            "tolerance": TOLERANCE,
            "same": self.same,
            "verdict": self.verdict,
            "changed": int(self.changed.sum()),
            "components": json_ready(self.components[:-1]),
            "total": json_ready(self.components[-1]),
            "groups": None
            if known is None
            else {
                "count": known.count,
                "completions": known.compared,
                **{
                    name: json_ready(getattr(known, name))
                    for name in (
                        "flips", "rewarded", "penalized", "other_best", "silent_before", "silent_after", "silenced",
                        "voiced", "rank_correlation", "largest_change",
                    )
                },
            },
            "failures": {
                "before": self.failures(self.before),
                "after": self.failures(self.after),
                "new": int(self.failing.sum()),
                "gone": int(self.recovered.sum()),
                "reasons": [self.after.errors.get(row, "") for row in np.flatnonzero(self.failing)[:_REASONS].tolist()],
            },
            "exploits": json_ready(self.exploits),
            "unsteady": {"old": json_ready(self.before.unsteady), "new": json_ready(self.after.unsteady)},
            "examples": json_ready(self.examples),
            "warnings": list(self.warnings),
        }  # fmt: skip

    def failures(self, side: Side) -> int:
        """Return how many completions `side` cannot score, or scores with an error."""
        return int(failed(side).sum())


_REASONS = 20


def compared(
    before: Side, after: Side, data: str, groups: Numbers | None, exploits: Sequence[Regression] = ()
) -> Differences:
    """Compare two sides of the same n completions; `groups` (n,) has the group of each."""
    failed_before, failed_after = failed(before), failed(after)
    found = None if groups is None else gradients(before.total, after.total, groups)
    return Differences(
        before,
        after,
        data,
        differ(before.total, after.total),
        component_changes(before, after),
        found,
        failed_after & ~failed_before,
        failed_before & ~failed_after,
        exploit_changes(before, after, exploits),
        warnings=tuple(_warnings(before, after, found)),
    )


def failed(side: Side) -> Rows:
    """Return (n,): whether a completion has no total, or an error."""
    lost = np.isnan(side.total)
    lost[list(side.errors)] = True
    return lost


def verdict_of(found: Differences) -> str:
    """Say in one sentence what changes."""
    size, changed, known = len(found), int(found.changed.sum()), found.gradients
    if found.same:
        inner = [one.after or one.before for one in found.components[:-1] if one.state == "changed"]
        named = f" (but component {inner[0]!r} does)" if len(inner) == 1 else f" (but {len(inner)} components do)"
        return f"No completion's score changes{named if inner else ''}."
    said = [f"{changed:,} of {size:,} completions get another total"] if changed else ["no total changes"]
    if changed and known is not None:
        if known.flips:
            said.append(f"{known.flips:,} ({percent(known.flips / known.compared)}) flip the sign of their advantage")
        elif round(known.largest_change, 6) > 0.0:
            said.append("no advantage flips its sign")
        else:
            said.append("no advantage changes")
        if known.silenced:
            said.append(f"{known.silenced:,} of {known.count:,} groups fall silent")
    if new := int(found.failing.sum()):
        said.append(f"{new:,} can no longer be scored")
    if newly := len(found.exploits.newly_paid):
        said.append(f"{newly:,} known exploit{'' if newly == 1 else 's'} {'is' if newly == 1 else 'are'} paid again")
    text = ", ".join(said[:-1]) + " and " + said[-1] if len(said) > 1 else said[0]
    return f"{text[0].upper()}{text[1:]}."


def _warnings(before: Side, after: Side, found: Gradients | None) -> list[str]:
    said = []
    for side, name in ((before, "old"), (after, "new")):
        if (unsteady := side.unsteady) is not None:
            said.append(
                f"The {name} reward is not deterministic: scored twice, {unsteady.changed:,} of {unsteady.tried:,} "
                f"completions got another total, by up to {unsteady.largest:.3g}. Differences of that size appear "
                "without any change."
            )
    if found is None:
        said.append(
            "No prompt has several completions, so there are no groups and no advantages to compare. Pass data with "
            "a column 'prompt' and several completions of each prompt."
        )
    if before.scheduled or after.scheduled:
        said.append("Schedules have their end value, as in evaluation.")
    if before.sees_batches or after.sees_batches:
        said.append("A reward sees whole batches, here of 512 completions.")
    left = list(dict.fromkeys((*before.omitted, *after.omitted)))
    if left:
        said.append(f"Left out: {', '.join(left)}. Their completions abstain, so totals are not those of a training.")
    return said


def floats_of(values: Floats, row: int) -> float | None:
    """Return the value in a row; None for NaN."""
    value = float(values[row])
    return None if np.isnan(value) else value
