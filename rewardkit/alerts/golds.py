"""Full scores without the gold answer: more and more completions get a component's full score but lack the gold answer.

Example: the gold answer is ``4 10 8``, and the component measures precision. At first, completions with a full score
contain ``4``, ``10``, and ``8``; later, they contain only ``4``.
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
"""A score counts as full if it reaches this share of the component's range. The limit is arbitrary: slightly below 1,
so that slightly rounded or discounted scores also count."""
LONGEST = 40
"""The maximum number of words in a gold answer. Longer gold answers are skipped, because completions do not repeat them
in full."""


def gold_alerts(sample: Sample) -> list[Alert]:
    """Return at most one alert for each component and each column that it reads.

    A completion contains a cell if it contains all of the cell's words. The rate at which completions contain another
    group's cell is subtracted, so that words common to most completions do not count as a gold answer.
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
    """Return the alert for the pair of windows in which the pattern is strongest, or None if there is none.

    The strength is the weakest of five ramps. Two concern all completions: the certainty that more completions get a
    full score without the gold answer (z from 4 to 8), and the size of this rise (0.1 to 0.25). Three concern
    completions with a full score: the certainty that fewer contain the gold answer (z from 2 to 4), the size of this
    fall (0.05 to 0.15), and the share that lacks the gold answer in the later window (0.3 to 0.5).
    """
    full = _at_maximum(sample, component)
    contains_gold, by_chance = cells.contained(column)
    comparable = ~np.isnan(contains_gold)
    if not (full & comparable).any():
        return None
    without_gold = _changes(sample, np.where(comparable, full & (contains_gold == 0.0), np.nan))
    gold_excess = _changes(sample, np.where(full, contains_gold - by_chance, np.nan))
    peak = peak_of(
        without_gold,
        # z from 4: by chance, the best of up to 28 pairs of windows reaches 4 in one of 1,000 runs. With these ramps,
        # the correct answers in benchmarks/radar/suspicious_golds.py that use the notation of the gold answer never
        # exceed 0.37.
        ramp(without_gold.z, 4.0, 8.0),
        ramp(without_gold.difference, 0.1, 0.25),
        ramp(-gold_excess.z, 2.0, 4.0),
        ramp(-gold_excess.difference, 0.05, 0.15),
        ramp(1.0 - gold_excess.after, 0.3, 0.5),
    )
    if peak is None:
        return None
    pair, steps = peak.pair, peak.steps
    chosen = full & (contains_gold == 0.0) & (sample.steps >= steps[0]) & (sample.steps <= steps[1])
    return Alert(
        kind="gold",
        title=f"{component} gives full scores without the {column}",
        text=(
            f"From step {steps[0]} to step {steps[1]}, completions with a full score of {component} that do not "
            f"contain the {column} of their prompt go from {100 * without_gold.before[pair]:.0f}% to "
            f"{100 * without_gold.after[pair]:.0f}% of all completions ({without_gold.z[pair]:.1f} standard errors). "
            f"At first, {100 * gold_excess.before[pair]:.0f}% of the completions with a full score contain it "
            f"(beyond chance). At the end, it is {100 * gold_excess.after[pair]:.0f}%. From {sample.description()}."
        ),
        strength=peak.strength,
        steps=steps,
        component=component,
        rows=sample.run.shown(sample.rows[chosen]),
        numbers={
            "without_before": float(without_gold.before[pair]),
            "without_after": float(without_gold.after[pair]),
            "z": float(without_gold.z[pair]),
            "contained_before": float(gold_excess.before[pair]),
            "contained_after": float(gold_excess.after[pair]),
        },
    )


def _at_maximum(sample: Sample, component: str) -> Rows:
    """Return whether each score (r,) is at the top of the declared range or, if undeclared, of the observed range."""
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
    """Return the start of a cell as text (enough to detect answers with too many words), or None for None."""
    # Cut the text, because a cell may be a document. Arbitrary: 40 characters per word, at most `LONGEST` words.
    return None if cell is None else str(cell)[: 40 * LONGEST]


class _Cells:
    """The cells in a sample's dataset columns, as sets of word numbers."""

    def __init__(self, sample: Sample) -> None:
        columns, rows = sample.run.evidence.columns or (), sample.run.rows[sample.rows]
        tokens, owners = sample.tokens
        ends = np.searchsorted(owners, np.arange(1, len(sample.rows)))
        self._cells = columns(rows) if callable(columns) else [columns[row] for row in rows.tolist()]
        self._completion_words = [set(part.tolist()) for part in np.split(tokens, ends)]
        self._numbers = {word: number for number, word in enumerate(sample.vocabulary)}
        self._groups = sample.groups
        self._words_by_text: dict[str, frozenset[int]] = {}

    def contained(self, column: str) -> tuple[Floats, Floats]:
        """Return whether each completion (r,) contains its own cell and another group's cell; NaN if incomparable."""
        own_words = [self._words(cells.get(column)) for cells in self._cells]
        firsts = np.unique(self._groups, return_index=True)[1]
        other_rows = firsts[(self._groups + 1) % len(firsts)].tolist()
        contains_own, contains_other = np.full(len(own_words), np.nan), np.full(len(own_words), np.nan)
        for row, (completion_words, gold_words, other) in enumerate(
            zip(self._completion_words, own_words, other_rows, strict=True)
        ):
            if gold_words and own_words[other] and gold_words != own_words[other]:
                contains_own[row], contains_other[row] = (
                    gold_words <= completion_words,
                    own_words[other] <= completion_words,
                )
        return contains_own, contains_other

    def _words(self, cell: Any) -> frozenset[int]:
        """Return the numbers of a cell's words, or -1 for words that no text contains."""
        text = cell_text(cell) or ""
        if text not in self._words_by_text:
            # Drop punctuation and markup, so that a gold answer is found even if it is punctuated differently.
            distinct_words = {word for word in words(text) if re.match(r"\w", word)}
            used_words = distinct_words if len(distinct_words) <= LONGEST else ()
            self._words_by_text[text] = frozenset(self._numbers.get(word, -1) for word in used_words)
        return self._words_by_text[text]
