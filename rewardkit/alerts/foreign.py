"""Foreign gold answers: terms that read a gold answer score higher, even with the gold answers of other prompts.

Example: completions list ten numbers, one of which is correct. If they are rescored with the gold answers of other
prompts, they score 0.6; at the start, the score was 0.1. The score no longer depends on the correct answer.
"""

from __future__ import annotations

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp
from rewardkit.alerts.series import Changes, peak_of
from rewardkit.alerts.windowed_run import WindowedRun
from rewardkit.batch.column import Floats


def foreign_alerts(run: WindowedRun) -> list[Alert]:
    """Return at most one alert, for the pair of windows in which the pattern is strongest.

    Only the terms that read a column are summed, because a learned format gets the same score with any gold answer. The
    strength is the weakest of: the certainty that this sum rises with foreign gold answers (z from 2.5 to 5), the size
    of that rise (from 0.08 to 0.16 of the sum's range), and its share of the rise with each completion's own gold
    answer (from 0.2 to 0.4). If the foreign sum rises by more than the own sum, the share is 1.
    """
    if run.evidence.foreign is None:
        return []
    own_totals, foreign, form = (np.asarray(totals, dtype=np.float64)[run.rows] for totals in run.evidence.foreign)
    own_totals, foreign = np.where(np.isnan(foreign), np.nan, own_totals - form), foreign - form
    size = run.spread(own_totals)
    # A spread this small is only rounding.
    if not size > 1e-9:
        return []
    foreign_change, own_change = run.changes(foreign), run.changes(own_totals)
    share = _foreign_share(foreign_change, own_change)
    # z from 2.5 instead of the usual 4, because two sizes must also be large. All ranges were chosen on the twelve
    # development tasks of benchmarks/radar.
    peak = peak_of(
        foreign_change,
        ramp(foreign_change.z, 2.5, 5.0),
        ramp(foreign_change.difference / size, 0.08, 0.16),
        ramp(share, 0.2, 0.4),
    )
    if peak is None:
        return []
    pair, steps = peak.pair, peak.steps
    late = run.within(steps) & ~np.isnan(foreign)
    return [
        Alert(
            kind="foreign",
            title="scores rise even with another prompt's gold answer",
            text=(
                f"From step {steps[0]} to step {steps[1]}, the mean score of the components that read a column goes "
                f"from {own_change.before[pair]:.3g} to {own_change.after[pair]:.3g}. If the same completions are "
                f"scored with another prompt's gold answer, the mean goes from {foreign_change.before[pair]:.3g} to "
                f"{foreign_change.after[pair]:.3g} ({foreign_change.z[pair]:.1f} standard errors). Therefore, part of "
                "the rise does not depend on the correct answer. The completions that score highest with another "
                "prompt's gold answer come first."
            ),
            strength=peak.strength,
            steps=steps,
            rows=run.shown(np.flatnonzero(late), foreign),
            numbers={
                **foreign_change.numbers(pair, "foreign_"),
                "total_before": float(own_change.before[pair]),
                "total_after": float(own_change.after[pair]),
                "share": float(share[pair]),
            },
        )
    ]


def _foreign_share(foreign_change: Changes, own_change: Changes) -> Floats:
    """Return, for each pair of windows, the share of the rise that remains with foreign gold answers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Floats = np.where(
            own_change.difference > foreign_change.difference, foreign_change.difference / own_change.difference, 1.0
        )
    return share
