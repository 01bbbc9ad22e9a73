"""Paid for another prompt's answer: the total rises, and does so, too, if each prompt has the gold answer of another.

Completions list ten numbers, of which one is right. Scored again with the gold answers of other prompts they earn 0.6,
where they earned 0.1 at the start: what the reward pays for by now is not what the gold answer asks for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rewardkit.analysis.suspicious.arrangement import Arrangement
from rewardkit.analysis.suspicious.evidence import Lead, ramp, weakest
from rewardkit.analysis.suspicious.series import Changes
from rewardkit.core.batch.column import Floats


class _Ramps(NamedTuple):
    """From which numbers to which others the strength goes from 0 to 1."""

    z: tuple[float, float]
    rise: tuple[float, float]
    share: tuple[float, float]


_TOTAL = _Ramps(z=(4.0, 8.0), rise=(0.15, 0.3), share=(0.4, 0.7))
"""Of the whole total. A form that is learned earns with any gold answer, so its part has to be large."""
_READING = _Ramps(z=(3.0, 6.0), rise=(0.1, 0.2), share=(0.3, 0.5))
"""Of the terms that read a gold answer, in which nothing should earn with another one."""


def foreign_leads(run: Arrangement) -> list[Lead]:
    """Return at most one lead: the two windows with the greatest strength, of all terms or of those that read a column.

    The strength is the weakest of: the certainty that the foreign total rises (z), the size of its rise (as a share of
    the range of totals), and the share of the total's own rise that it explains. A total that rises by less than its
    foreign one counts as explained.
    """
    if run.evidence.foreign is None:
        return []
    own, foreign, form = (np.asarray(totals, dtype=np.float64)[run.rows] for totals in run.evidence.foreign)
    own = np.where(np.isnan(foreign), np.nan, own)
    found = (
        _lead(run, own, foreign, _TOTAL),
        _lead(run, own - form, foreign - form, _READING, " of the terms that read a column"),
    )
    leads = [lead for lead in found if lead is not None]
    return [max(leads, key=lambda lead: lead.strength)] if leads else []


def _lead(run: Arrangement, own: Floats, foreign: Floats, ramps: _Ramps, of: str = "") -> Lead | None:
    size = _range(own)
    if not size > 1e-9:
        return None
    paid, earned = run.changes(foreign), run.changes(own)
    share = _explained(paid, earned)
    strengths = weakest(ramp(paid.z, *ramps.z), ramp(paid.difference / size, *ramps.rise), ramp(share, *ramps.share))
    if not strengths.max(initial=0.0) > 0.0:
        return None
    pair = int(np.argmax(strengths))
    steps = int(paid.first[pair]), int(paid.last[pair])
    late = (run.steps >= steps[0]) & (run.steps <= steps[1]) & ~np.isnan(foreign)
    return Lead(
        kind="foreign",
        title="the total is paid for answers to other prompts",
        text=(
            f"From step {steps[0]} to step {steps[1]} the mean total{of} goes from {earned.before[pair]:.3g} to "
            f"{earned.after[pair]:.3g}. With the gold answers of other prompts, the same completions go from "
            f"{paid.before[pair]:.3g} to {paid.after[pair]:.3g} ({paid.z[pair]:.1f} standard errors): what the "
            "policy has learned earns without the right answer. Completions that earn most for other prompts come "
            "first."
        ),
        strength=float(strengths[pair]),
        steps=steps,
        rows=run.shown(np.flatnonzero(late), foreign),
        numbers={
            "foreign_before": float(paid.before[pair]),
            "foreign_after": float(paid.after[pair]),
            "foreign_z": float(paid.z[pair]),
            "total_before": float(earned.before[pair]),
            "total_after": float(earned.after[pair]),
            "share": float(share[pair]),
        },
    )


def _explained(paid: Changes, earned: Changes) -> Floats:
    """Return the share of each rise that foreign gold answers earn, too."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Floats = np.where(earned.difference > paid.difference, paid.difference / earned.difference, 1.0)
    return share


def _range(values: Floats) -> float:
    """Return the range of values between the first and the last hundredth of the rows."""
    known = values[~np.isnan(values)]
    return float(np.subtract(*np.quantile(known, (0.99, 0.01)))) if known.size else 0.0
