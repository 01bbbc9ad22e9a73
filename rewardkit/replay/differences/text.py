"""The report of a comparison for a terminal: the verdict first, then tables, then the completions that change most."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rewardkit.analysis.presentation import aligned, excerpt
from rewardkit.core.batch.table_text import visible
from rewardkit.replay.differences.sections import Example, Sections, number, signed

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
        blocks.append("The largest changes:\n" + "\n".join(line for one in found.examples for line in _example(one)))
    blocks += [_filled(f"Note: {warning}") for warning in found.warnings]
    return "\n\n".join(blocks)


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


def _filled(text: str) -> str:
    return textwrap.fill(visible(text), _WIDTH, break_long_words=False, break_on_hyphens=False)
