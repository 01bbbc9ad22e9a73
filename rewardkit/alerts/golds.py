"""Full scores without the gold answer: a component that reads it pays more and more completions without it.

The gold answer is ``4 10 8``, and the component is a precision: at first completions with a full score contain
``4``, ``10`` and ``8``, later they are just ``4``.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp
from rewardkit.alerts.series import Changes, peak_of
from rewardkit.alerts.texts import Sample, words
from rewardkit.batch.column import Floats, Rows

FULL = 0.95
"""The part of a component's range from which on a score is full. Below 1, so that scores that are rounded or discounted
a little are full."""
LONGEST = 40
"""The most words of a gold answer: no completion repeats a longer one."""


def gold_alerts(sample: Sample) -> list[Alert]:
    """Return an alert for each component and column that it reads: the two windows with the greatest strength.

    A completion contains a cell if it has all its words. Only the excess over the cell of another group counts, so a
    word that is in most completions is not a gold answer.
    """
    evidence = sample.run.evidence
    if evidence.columns is None:
        return []
    cells = _Cells(sample)
    alerts = [
        _alert(sample, component, column, cells)
        for component in sample.run.rewarded
        for column in sorted(evidence.reads.get(component, ()))
    ]
    return [alert for alert in alerts if alert is not None]


def _alert(sample: Sample, component: str, column: str, cells: _Cells) -> Alert | None:
    """Compare the windows; None if there is nothing to say.

    The strength is the weakest of: the certainty that more of all completions have a full score without the gold answer
    (z from 4 to 8), by how much (0.1 to 0.25), and of those with a full score, the certainty that fewer contain it (z
    from 2 to 4), by how much (0.05 to 0.15), and how many do not, in the end (0.3 to 0.5).
    """
    full = _full(sample, component)
    has, by_chance = cells.contained(column)
    comparable = ~np.isnan(has)
    if not (full & comparable).any():
        return None
    without = _changes(sample, np.where(comparable, full & (has == 0.0), np.nan))
    among = _changes(sample, np.where(full, has - by_chance, np.nan))
    peak = peak_of(
        without,
        # z from 4: by chance, the best of up to 28 pairs of windows reaches 4 in one of 1,000 runs. With these ramps,
        # no real right answers of benchmarks/radar/suspicious_golds.py in the notation of the gold answer exceed
        # 0.37.
        ramp(without.z, 4.0, 8.0),
        ramp(without.difference, 0.1, 0.25),
        ramp(-among.z, 2.0, 4.0),
        ramp(-among.difference, 0.05, 0.15),
        ramp(1.0 - among.after, 0.3, 0.5),
    )
    if peak is None:
        return None
    pair, steps = peak.pair, peak.steps
    chosen = full & (has == 0.0) & (sample.steps >= steps[0]) & (sample.steps <= steps[1])
    return Alert(
        kind="gold",
        title=f"{component} gives full scores without the {column}",
        text=(
            f"From step {steps[0]} to step {steps[1]}, completions with a full score of {component} that do not "
            f"contain the {column} of their prompt go from {100 * without.before[pair]:.0f} to "
            f"{100 * without.after[pair]:.0f} % of all ({without.z[pair]:.1f} standard errors). Of those with a full "
            f"score, {100 * among.before[pair]:.0f} % contained it (beyond chance), and "
            f"{100 * among.after[pair]:.0f} % do in the end; {sample.description()}."
        ),
        strength=peak.strength,
        steps=steps,
        component=component,
        rows=sample.run.shown(sample.rows[chosen]),
        numbers={
            "without_before": float(without.before[pair]),
            "without_after": float(without.after[pair]),
            "z": float(without.z[pair]),
            "contained_before": float(among.before[pair]),
            "contained_after": float(among.after[pair]),
        },
    )


def _full(sample: Sample, component: str) -> Rows:
    """Return (r,) whether a score is at the top of the declared range, or else of the scores that were given."""
    scores = sample.run.component(component)[sample.rows]
    if np.isnan(scores).all():
        return np.zeros(len(scores), dtype=np.bool_)
    # Not the extremes: one outlier would leave no completion with a full score.
    low, high = (float(bound) for bound in np.nanquantile(scores, (0.01, 0.99)))
    lowest, highest = sample.run.evidence.bounds.get(component, (-np.inf, np.inf))
    low, high = min(low, 0.0) if np.isinf(lowest) else lowest, high if np.isinf(highest) else highest
    return (scores >= low + FULL * (high - low)) & (high > low)


def _changes(sample: Sample, values: Floats) -> Changes:
    run_values = np.full(len(sample.run.rows), np.nan)
    run_values[sample.rows] = values
    return sample.run.changes(run_values)


def cell_text(cell: Any) -> str | None:
    """Return the beginning of a cell as a text, long enough to see that an answer is too long; None for None."""
    # Any limit: no longer phrase is looked for, and a cell may be a document.
    return None if cell is None else str(cell)[: 40 * LONGEST]


class _Cells:
    """The cells of the example columns of a sample, as sets of word numbers."""

    def __init__(self, sample: Sample) -> None:
        columns, rows = sample.run.evidence.columns or (), sample.run.rows[sample.rows]
        tokens, owners = sample.tokens
        ends = np.searchsorted(owners, np.arange(1, len(sample.rows)))
        self._cells = columns(rows) if callable(columns) else [columns[row] for row in rows.tolist()]
        self._said = [set(part.tolist()) for part in np.split(tokens, ends)]
        self._numbers = {word: number for number, word in enumerate(sample.vocabulary)}
        self._groups = sample.groups
        self._known: dict[str, frozenset[int]] = {}

    def contained(self, column: str) -> tuple[Floats, Floats]:
        """Return (r,) whether completions contain the own cell, and that of another group; NaN if it has no words."""
        own_words = [self._words(cells.get(column)) for cells in self._cells]
        firsts = np.unique(self._groups, return_index=True)[1]
        other_rows = firsts[(self._groups + 1) % len(firsts)].tolist()
        has, by_chance = np.full(len(own_words), np.nan), np.full(len(own_words), np.nan)
        for row, (completion_words, gold_words, other) in enumerate(
            zip(self._said, own_words, other_rows, strict=True)
        ):
            if gold_words and own_words[other] and gold_words != own_words[other]:
                has[row], by_chance[row] = gold_words <= completion_words, own_words[other] <= completion_words
        return has, by_chance

    def _words(self, cell: Any) -> frozenset[int]:
        """Return the numbers of the words of a cell, without punctuation and markup; -1 for one that no text has."""
        text = cell_text(cell) or ""
        if text not in self._known:
            # Without punctuation and markup: a gold answer is found with other marks, too.
            distinct_words = {word for word in words(text) if re.match(r"\w", word)}
            used_words = distinct_words if len(distinct_words) <= LONGEST else ()
            self._known[text] = frozenset(self._numbers.get(word, -1) for word in used_words)
        return self._known[text]
