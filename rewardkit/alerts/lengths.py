"""Length: completions that become longer or shorter because that raises the score, and completions that are cut off.

Example: the mean length doubles, and longer completions for a prompt score higher (rank correlation 0.6).
"""

from __future__ import annotations

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp, weakest
from rewardkit.alerts.series import peak_of
from rewardkit.alerts.windowed_run import WindowedRun
from rewardkit.batch.column import Floats, Rows


def length_alerts(run: WindowedRun) -> list[Alert]:
    """Return an observation if the length drifts, and an alert if many completions are cut off."""
    if run.evidence.lengths is None:
        return []
    lengths = np.asarray(run.evidence.lengths, dtype=np.float64)[run.rows]
    return [*_drift(run, lengths), *_truncated(run, lengths)]


def _drift(run: WindowedRun, lengths: Floats) -> list[Alert]:
    """Return an observation if the mean length drifts in the direction of higher scores.

    The observation is ranked by the weakest of: the certainty that the mean length changes (z from 4 to 8), the size of
    the change (a factor from 1.15 to 1.75), the certainty that the total rises at the same time (z from 2 to 4), and
    the rank correlation of length and score within groups, in the direction of the drift (from 0.15 to 0.5).
    """
    change, total = run.changes(lengths), run.changes(run.totals)
    correlation = run.correlation(lengths, run.earned)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.log(np.maximum(change.after, 1e-9) / np.maximum(change.before, 1e-9))
    peak = peak_of(
        change,
        # z from 4: by chance, the best of up to 28 pairs of windows reaches 4 in one of 1,000 runs. For the total, z
        # from 2 is enough: only the pair in which the length changes is tested.
        ramp(np.abs(change.z), 4.0, 8.0),
        ramp(np.abs(factor), np.log(1.15), np.log(1.75)),
        ramp(total.z, 2.0, 4.0),
        ramp(np.sign(factor) * correlation, 0.15, 0.5),
    )
    if peak is None:
        return []
    pair, steps = peak.pair, peak.steps
    grows = bool(factor[pair] > 0)
    late = np.flatnonzero(run.within(steps) & ~np.isnan(lengths))
    return [
        Alert(
            kind="length",
            title=f"completions {'grow' if grows else 'shrink'}, and {'longer' if grows else 'shorter'} ones score "
            "higher",
            text=(
                f"From step {steps[0]} to step {steps[1]} the mean length goes from {change.before[pair]:.4g} to "
                f"{change.after[pair]:.4g} while the total goes from {total.before[pair]:.3g} to "
                f"{total.after[pair]:.3g}. Within groups, the rank correlation between length and total is "
                f"{correlation:.2f}."
            ),
            strength=peak.strength,
            steps=steps,
            rows=run.shown(late, lengths if grows else -lengths),
            numbers=change.numbers(pair) | {"correlation": correlation},
        )
    ]


def _gain(run: WindowedRun, chosen: Rows) -> float:
    """Return the chosen rows' mean total minus the first window's mean total, as a share of the range of totals."""
    totals, size = run.totals, run.spread(run.totals)
    first = totals[run.windows == run.windows.min()]
    if not size > 1e-9 or np.isnan(first).all() or np.isnan(totals[chosen]).all():
        return 0.0
    return float(np.nanmean(totals[chosen]) - np.nanmean(first)) / size


def _truncated(run: WindowedRun, lengths: Floats) -> list[Alert]:
    """Return an alert if many completions reach the maximum length.

    The strength is the weakest of: the share of cut-off completions in the last window (from 0.1 to 0.5), the certainty
    that the share rose (z from 4 to 8; 1 if the share was always that high), and a factor for their total. The factor
    is 0.5, and increases to 1 if their mean total exceeds the first window's mean total (by 0 to 0.1 of the range),
    because cut-off completions with low totals are not a sign of reward hacking. If the maximum length is unknown,
    there is no alert, because answers in a fixed format may also have the same length.
    """
    limit = run.evidence.maximum_length
    known_lengths = lengths[~np.isnan(lengths)]
    if limit is None or not known_lengths.size or known_lengths.min() == known_lengths.max():
        return []
    is_cut = np.where(np.isnan(lengths), np.nan, (lengths >= limit).astype(np.float64))
    last = np.isin(run.windows, run.windows.max())
    share = float(np.nanmean(is_cut[last])) if (~np.isnan(is_cut[last])).any() else 0.0
    change = run.changes(is_cut)
    rise = float(np.nanmax(change.z, initial=0.0)) if change.z.size else 0.0
    # A share that was nearly as high all along (arbitrary: 0.8 times the last one) cannot have risen by many standard
    # errors; it still deserves an alert.
    was_high_before = float(np.nanmean(is_cut)) >= 0.8 * share
    # Keep half the strength even if cut-off completions do not score higher: they end without an answer.
    gain_factor = 0.5 + 0.5 * float(ramp(_gain(run, last & (is_cut == 1.0)), 0.0, 0.1))
    strength = float(
        weakest(ramp(share, 0.1, 0.5), max(float(ramp(rise, 4.0, 8.0)), float(was_high_before)), gain_factor)
    )
    if strength <= 0.0:
        return []
    steps = int(run.starts[-1]), run.span[1]
    return [
        Alert(
            kind="truncated",
            title=f"{100 * share:.0f}% of completions are cut off at the maximum length",
            text=(
                f"In steps {steps[0]} to {steps[1]}, {100 * share:.1f}% of completions have the maximum length "
                f"{limit:.6g} ({100 * float(np.nanmean(is_cut)):.1f}% over the whole run). A completion that is cut "
                "off may "
                "never reach its answer."
            ),
            strength=strength,
            steps=steps,
            rows=run.shown(np.flatnonzero(last & (is_cut == 1.0))),
            numbers={"share": share, "overall": float(np.nanmean(is_cut)), "limit": limit, "z": rise},
        )
    ]
