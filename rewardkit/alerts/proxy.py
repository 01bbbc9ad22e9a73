"""A proxy that rises while the ground truth does not (Goodhart's law).

The reward rises, but the quality that it should measure does not. Example: the total rises from 0.3 to 0.9 between
steps 100 and 400, but ``rk.monitor(exact)`` stays at 0.31.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp, weakest
from rewardkit.alerts.series import Changes, Peak, Series, changes, mean_by_step, peak_of
from rewardkit.alerts.windowed_run import WindowedRun
from rewardkit.batch.column import Floats
from rewardkit.progress.bounds import Bounds

KIND = "proxy"


@dataclass(frozen=True)
class GroundTruth:
    """A score that is not rewarded but should rise with the reward: a monitored component or an evaluation score.

    Attributes:
        against: the only proxy to compare with, which is the same score in training (``""`` is the total); None for all
            proxies.
        values: (m,) the scores in training, or None for an evaluation score.
    """

    name: str
    against: str | None
    values: Floats | None
    series: Series
    deviation: float
    bounds: Bounds


def proxy_alerts(run: WindowedRun) -> list[Alert]:
    """Return at most one alert for each ground truth, for the proxy and the pair of windows with the greatest strength.

    The strength is the weakest of: the certainty that the proxy rises (z from 4 to 8), the size of its rise (from 0.2
    to 0.8 of its standard deviation over completions), and the certainty that the ground truth does not rise by the end
    of the run (its rise plus two standard errors, from 0.4 down to 0.1 of its standard deviation). If the proxy is
    the total, it is enough that the ground truth rises by much less (each as a share of its range: from 0.6 down to 0.3
    of the total's rise). The total counts only if a rewarded component also rises, because changing weights also change
    the total. A ground truth within a tenth of its upper bound cannot rise further, so it counts only if it falls.
    """
    proxies = {name: run.component(name) for name in run.rewarded}
    risen = {name: run.changes(values) for name, values in proxies.items()}
    deviations = {name: _deviation(values) for name, values in proxies.items()}
    total = run.changes(run.totals)
    # Below the usual 4: this only has to show that a component moves at all.
    supported = np.any([change.z > 3.0 for change in risen.values()], axis=0) if risen else np.ones_like(total.z) > 0
    alerts = []
    for truth in ground_truths(run):
        still = changes(truth.series, run.starts)
        candidates = [
            (_strengths(change, deviations[name], still, truth), name, change)
            for name, change in risen.items()
            if truth.against in (None, name)
        ]
        if truth.against in (None, ""):
            size = run.spread(run.totals)
            candidates.append((_strengths(total, _deviation(run.totals), still, truth, size) * supported, "", total))
        strengths, name, change = max(candidates, key=lambda each: float(each[0].max(initial=0.0)))
        if (peak := peak_of(change, strengths)) is not None:
            alerts.append(_alert(run, truth, name, change, still, peak))
    return alerts


def ground_truths(run: WindowedRun) -> Iterator[GroundTruth]:
    """Yield a run's ground-truth scores.

    Monitored components in training and in evaluations are compared with all proxies. A rewarded component's evaluation
    score is compared only with the same component in training.
    """
    evidence = run.evidence
    for name in sorted(evidence.monitored & set(evidence.components)):
        values = run.component(name)
        if not np.isnan(values).all():
            yield GroundTruth(name, None, values, run.series(values), _deviation(values), _bounds(run, name))
    if evidence.training is None or evidence.training.all():
        return
    rows = np.flatnonzero(~evidence.training)
    steps = np.asarray(evidence.steps, dtype=np.int64)[rows]
    held_out = {"": evidence.totals} | {name: evidence.components[name] for name in sorted(evidence.components)}
    for name, column in held_out.items():
        values = np.asarray(column, dtype=np.float64)[rows]
        series = mean_by_step(steps, values)
        if len(series.steps) > 1:
            against = None if name in evidence.monitored else name
            label = f"held-out {name or 'total'}"
            yield GroundTruth(label, against, None, series, _deviation(values), _bounds(run, name))


def _bounds(run: WindowedRun, name: str) -> Bounds:
    return run.evidence.bounds.get(name, (-np.inf, np.inf))


def _deviation(values: Floats) -> float:
    known_values = values[~np.isnan(values)]
    return float(known_values.std()) if known_values.size else 0.0


def _strengths(proxy: Changes, deviation: float, truth: Changes, about: GroundTruth, size: float = 0.0) -> Floats:
    """Return the strength for each pair of windows.

    If the proxy is the total, `size` is the total's range; otherwise, it is 0.
    """
    # A deviation this small is only rounding.
    if deviation <= 1e-9:
        return np.zeros_like(proxy.z)
    low, high = about.bounds
    if about.deviation <= 1e-9:
        # The truth never moves: only its bounds show whether completions always reach it or never do.
        hopeless = np.isfinite(high) & (truth.before < high - 0.1 * (high - low if np.isfinite(low) else abs(high)))
        still = np.where(hopeless, 1.0, 0.0)
    else:
        rise = (truth.difference + 2.0 * truth.error) / about.deviation
        # From 0.1 instead of 0: two standard errors are added to the rise, so that of a constant truth is a little
        # above 0.
        still = np.where(np.isnan(rise), 0.0, 1.0 - ramp(rise, 0.1, 0.4))
        if np.isfinite(low) and np.isfinite(high):
            still = np.maximum(still, _behind(proxy, size, truth, high - low))
            # A truth in the highest tenth of its range has no room to rise, so it counts only if it falls.
            no_room = truth.before > high - 0.1 * (high - low)
            still = np.where(no_room & (truth.z > -4.0), 0.0, still)
    # z from 4, as for all windows; a rise by 0.2 deviations is small, by 0.8 large (Cohen 1988).
    result: Floats = weakest(ramp(proxy.z, 4.0, 8.0), ramp(proxy.difference / deviation, 0.2, 0.8), _to_the_end(still))
    return result


def _behind(proxy: Changes, size: float, truth: Changes, room: float) -> Floats:
    """Return how clearly (0 to 1) the ground truth rises by a smaller share of its range than the proxy."""
    if not (size > 1e-9 and room > 1e-9):
        return np.zeros_like(proxy.z)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (truth.difference + 2.0 * truth.error) / room / (proxy.difference / size)
    # Arbitrary range: below about a third of the proxy's rise, the truth hardly follows; above 0.6, it does.
    behind: Floats = np.where((proxy.difference > 0.0) & ~np.isnan(share), 1.0 - ramp(share, 0.3, 0.6), 0.0)
    return behind


def _to_the_end(still: Floats) -> Floats:
    """Return the minimum of `still` over each pair of windows and all pairs with the same first and a later last
    window.

    A ground truth that rises later also counts as rising: for example, a format is often learned before the skill
    behind it.
    """
    # n windows have n (n - 1) / 2 pairs.
    windows = round((1.0 + float(np.sqrt(1.0 + 8.0 * len(still)))) / 2.0)
    grid = np.full((windows, windows), np.inf)
    pairs = np.triu_indices(windows, 1)
    grid[pairs] = still
    least: Floats = np.minimum.accumulate(grid[:, ::-1], axis=1)[:, ::-1][pairs]
    return least


def _alert(run: WindowedRun, truth: GroundTruth, name: str, proxy: Changes, still: Changes, peak: Peak) -> Alert:
    pair, steps = peak.pair, peak.steps
    label = name or "the total"
    # The same number of standard errors as for a rise; a smaller fall is called flat.
    trend = "falls" if still.z[pair] < -4.0 else "stays flat"
    proxy_scores = run.component(name) if name else run.totals
    keys = proxy_scores
    if truth.values is not None:
        keys = np.where(np.isnan(truth.values), -np.inf, proxy_scores - truth.values)
    return Alert(
        kind=KIND,
        title=f"{label} rises while {truth.name} {trend}",
        text=(
            f"From step {steps[0]} to step {steps[1]} the mean of {label} goes from {proxy.before[pair]:.3g} to "
            f"{proxy.after[pair]:.3g} ({proxy.z[pair]:.1f} standard errors), and the mean of {truth.name} goes from "
            f"{still.before[pair]:.3g} to {still.after[pair]:.3g}. Completions with a high {label} and a low "
            f"{truth.name} come first."
        ),
        strength=peak.strength,
        steps=steps,
        component=name or None,
        rows=run.shown(np.flatnonzero(run.within(steps) & ~np.isnan(proxy_scores)), keys),
        numbers=proxy.numbers(pair, "proxy_") | still.numbers(pair, "truth_"),
    )
