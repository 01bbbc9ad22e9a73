"""Paid for another prompt's answer: a term that reads a gold answer pays more, and as much with the gold answers of
others.

Completions list ten numbers, of which one is right. Scored again with the gold answers of other prompts they earn 0.6,
where they earned 0.1 at the start: by now the reward does not pay for the gold answer.
"""

from __future__ import annotations

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp
from rewardkit.alerts.series import Changes, peak_of
from rewardkit.alerts.windowed_run import WindowedRun
from rewardkit.batch.column import Floats


def foreign_alerts(run: WindowedRun) -> list[Alert]:
    """Return at most one alert: the two windows with the greatest strength.

    Only the terms that read a column count: a form that is learned earns with any gold answer. The strength is the
    weakest of: the certainty that their total with foreign gold answers rises (z from 2.5 to 5), the size of its rise
    (from 0.08 to 0.16 of the range of their total), and the share of the rise with the own gold answers that it
    explains (from 0.2 to 0.4). A total that rises by less than its foreign one counts as explained.
    """
    if run.evidence.foreign is None:
        return []
    own_totals, foreign, form = (np.asarray(totals, dtype=np.float64)[run.rows] for totals in run.evidence.foreign)
    own_totals, foreign = np.where(np.isnan(foreign), np.nan, own_totals - form), foreign - form
    size = run.spread(own_totals)
    # Rounding alone is no spread.
    if not size > 1e-9:
        return []
    paid, earned = run.changes(foreign), run.changes(own_totals)
    share = _explained(paid, earned)
    # z from 2.5 and not from 4, as elsewhere: two sizes must also be large. All were chosen on the twelve tasks of
    # benchmarks/radar that were looked at.
    peak = peak_of(paid, ramp(paid.z, 2.5, 5.0), ramp(paid.difference / size, 0.08, 0.16), ramp(share, 0.2, 0.4))
    if peak is None:
        return []
    pair, steps = peak.pair, peak.steps
    late = run.within(steps) & ~np.isnan(foreign)
    return [
        Alert(
            kind="foreign",
            title="the total rewards answers to other prompts",
            text=(
                f"From step {steps[0]} to step {steps[1]}, the score from the terms that read a column goes from "
                f"{earned.before[pair]:.3g} to {earned.after[pair]:.3g}. With the gold answers of other prompts, the "
                f"same completions go from {paid.before[pair]:.3g} to {paid.after[pair]:.3g} ({paid.z[pair]:.1f} "
                "standard errors): the policy has learned something that scores without the right answer. Completions "
                "that score highest for other prompts come first."
            ),
            strength=peak.strength,
            steps=steps,
            rows=run.shown(np.flatnonzero(late), foreign),
            numbers={
                **paid.numbers(pair, "foreign_"),
                "total_before": float(earned.before[pair]),
                "total_after": float(earned.after[pair]),
                "share": float(share[pair]),
            },
        )
    ]


def _explained(paid: Changes, earned: Changes) -> Floats:
    """Return the share of each rise that foreign gold answers also earn."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Floats = np.where(earned.difference > paid.difference, paid.difference / earned.difference, 1.0)
    return share
