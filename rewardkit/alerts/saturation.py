"""Lost signal: components at their ceiling or floor, components that never vary in a group, groups without variance.

These are observations about a run, not signs of reward hacking: a fully learned component is also at its ceiling.
"""

from __future__ import annotations

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp
from rewardkit.alerts.series import mean_by_step
from rewardkit.alerts.windowed_run import WindowedRun
from rewardkit.batch.column import Floats

AT_BOUND = 0.95
"""If more than this share of completions is at a bound, the component does not provide a signal. At this share, two out
of three groups of eight do not have variance."""
# Arbitrary: a few groups without variance may be chance, for example a prompt that is always solved.
LEAST_GROUPS = 20


def saturation_alerts(run: WindowedRun) -> list[Alert]:
    """Return at most one observation for each rewarded component: ceiling, floor, or dead."""
    alerts = []
    _, totals_vary = run.varies(run.totals)
    for name in run.rewarded:
        values = run.component(name)
        low, high = run.evidence.bounds.get(name, (-np.inf, np.inf))
        alert = _at_bound(run, name, values, high, "ceiling") or _at_bound(run, name, values, low, "floor")
        if alert is None and totals_vary.any():
            alert = _dead(run, name, values)
        if alert is not None:
            alerts.append(alert)
    return alerts


def _at_bound(run: WindowedRun, name: str, values: Floats, bound: float, kind: str) -> Alert | None:
    """Return an observation if more than 95% of the completions in the last windows are at the bound.

    The observation is ranked by the share of those windows among all windows (from 0 to 0.5).
    """
    if not np.isfinite(bound) or len(run.starts) < 2 or _constant(values):
        return None
    # Tolerate rounding at the bound.
    is_at_bound = np.where(np.isnan(values), np.nan, (np.abs(values - bound) <= 1e-9).astype(np.float64))
    series = run.series(is_at_bound)
    window = np.searchsorted(run.starts, series.steps, side="right") - 1
    sizes = np.bincount(window, minlength=len(run.starts))
    shares = np.bincount(window, series.values, minlength=len(run.starts)) / np.maximum(sizes, 1)
    window_count = int(np.cumprod((shares > AT_BOUND)[::-1]).sum())
    if window_count == 0:
        return None
    steps = int(run.starts[-window_count]), run.span[1]
    share = float(shares[-window_count:].mean())
    return Alert(
        kind=kind,
        title=f"{name} is at its {kind}",
        text=(
            f"Since step {steps[0]}, {100 * share:.1f}% of completions have {bound:.6g}, the "
            f"{'highest' if kind == 'ceiling' else 'lowest'} score of {name}, so it no longer separates completions."
        ),
        # Arbitrary range: it only ranks this observation among others.
        strength=float(ramp(window_count / len(run.starts), 0.0, 0.5)),
        steps=steps,
        component=name,
        rows=run.shown(np.flatnonzero((run.steps >= steps[0]) & (is_at_bound == 0.0))),
        numbers={"share": share, "windows": float(window_count)},
    )


def _constant(values: Floats) -> bool:
    known_values = values[~np.isnan(values)]
    # A range this small is only rounding.
    return not known_values.size or bool(known_values.max() - known_values.min() <= 1e-9)


def _dead(run: WindowedRun, name: str, values: Floats) -> Alert | None:
    """Return an observation if the component never varies within a group.

    The observation is ranked by the number of groups (from 20 to 200).
    """
    groups, vary = run.varies(values)
    if vary.any() or len(groups) < LEAST_GROUPS:
        return None
    return Alert(
        kind="dead",
        title=f"{name} never varies within a group",
        text=(
            f"In all {len(groups)} groups, all completions have the same {name}, so it changes the reward curve, but "
            "not the advantages."
        ),
        # Arbitrary range: it only ranks this observation among others.
        strength=float(ramp(len(groups), LEAST_GROUPS, 200.0)),
        steps=run.span,
        component=name,
        rows=run.shown(np.flatnonzero(~np.isnan(values))),
        numbers={"groups": float(len(groups))},
    )


def variance_alerts(run: WindowedRun) -> list[Alert]:
    """Return an observation if many groups do not have variance.

    The observation is ranked by the share of these groups in the last window (from 0.5 to 0.95).
    """
    groups, vary = run.varies(run.totals)
    if len(groups) < LEAST_GROUPS:
        return []
    steps = run.group_steps[groups]
    series = mean_by_step(steps, (~vary).astype(np.float64))
    last = series.steps >= run.starts[-1]
    if not last.any():
        return []
    share = float(series.values[last].mean())
    # Arbitrary range: it only ranks this observation among others.
    strength = float(ramp(share, 0.5, 0.95))
    if strength <= 0.0:
        return []
    flat = np.flatnonzero(np.isin(run.groups, groups[~vary]) & (run.steps >= run.starts[-1]))
    level = float(np.nanmean(run.totals[flat]))
    return [
        Alert(
            kind="no_variance",
            title=f"{100 * share:.0f}% of groups give no learning signal",
            text=(
                f"In steps {int(run.starts[-1])} to {run.span[1]}, all completions for a prompt score the same in "
                f"{100 * share:.1f}% of groups ({100 * float((~vary).mean()):.1f}% over the whole run), and their "
                f"mean total is {level:.3g}."
            ),
            strength=strength,
            steps=(int(run.starts[-1]), run.span[1]),
            rows=run.shown(flat),
            numbers={"share": share, "overall": float((~vary).mean()), "level": level},
        )
    ]
