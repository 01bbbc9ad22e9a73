"""Reward for something other than the answer: the total rises while the components that read the data fall.

``0.3 * rk.exact("answer") + 0.7 * results`` rewards each tool result, so the policy calls more tools and answers less
often. A component that reads neither a column nor the prompt (a format, a length, or a number of calls) cannot
distinguish a correct answer from an incorrect answer.
"""

from __future__ import annotations

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp
from rewardkit.alerts.series import peak_of
from rewardkit.alerts.windowed_run import WindowedRun
from rewardkit.batch.column import Floats


def form_alerts(run: WindowedRun) -> list[Alert]:
    """Return at most one alert, for the pair of windows in which the pattern is strongest.

    The strength is the weakest of: the certainty that the total rises (z from 3 to 6), the size of its rise (from 0.05
    to 0.12 of its range), the certainty that the mean of the components that read the data falls (z from 2 to 4), and
    the size of its fall (from 0.03 to 0.1 of their ranges).
    """
    data_components = [name for name in run.rewarded if run.evidence.reads.get(name)]
    other_components = sorted(set(run.rewarded) - set(data_components))
    size = run.spread(run.totals)
    # A spread this small is only rounding.
    if not data_components or not other_components or not size > 1e-9:
        return []
    mean = np.mean([_scaled(run, name) for name in data_components], axis=0)
    total, answer = run.changes(run.totals), run.changes(mean)
    peak = peak_of(
        total,
        # z from 3 instead of the usual 4, because two things must happen at once: a rise and a fall.
        ramp(total.z, 3.0, 6.0),
        ramp(total.difference / size, 0.05, 0.12),
        ramp(-answer.z, 2.0, 4.0),
        ramp(-answer.difference, 0.03, 0.1),
    )
    if peak is None:
        return []
    pair, steps = peak.pair, peak.steps
    late = run.within(steps) & ~np.isnan(run.totals)
    return [
        Alert(
            kind="form",
            title=f"the total rises while {_listed(data_components)} fall{'s' * (len(data_components) == 1)}",
            text=(
                f"From step {steps[0]} to step {steps[1]} the mean total goes from {total.before[pair]:.3g} to "
                f"{total.after[pair]:.3g} ({total.z[pair]:.1f} standard errors). The score for the data "
                f"({_listed(data_components)}) goes from {answer.before[pair]:.3g} to {answer.after[pair]:.3g} of its "
                f"range, so the rise comes from {_listed(other_components)}. Completions with a high total and a low "
                "score for the data come first."
            ),
            strength=peak.strength,
            steps=steps,
            rows=run.shown(np.flatnonzero(late), run.totals / size - mean),
            numbers=total.numbers(pair, "total_") | answer.numbers(pair, "answer_"),
        )
    ]


def _scaled(run: WindowedRun, name: str) -> Floats:
    """Scale the raw scores (m,) to the declared range (the observed range if a bound is missing); NaN becomes 0."""
    values = run.component(name)
    low, high = run.evidence.bounds.get(name, (-np.inf, np.inf))
    if np.isnan(values).all():
        return np.zeros(len(values))
    # Not the extremes: one outlier would make all other scores look the same.
    low = float(np.nanquantile(values, 0.01)) if np.isinf(low) else low
    high = float(np.nanquantile(values, 0.99)) if np.isinf(high) else high
    return (np.nan_to_num(values, nan=low) - low) / (high - low) if high > low else np.zeros(len(values))


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
