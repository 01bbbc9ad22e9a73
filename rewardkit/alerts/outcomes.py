"""Outcomes: a component that fails or errors on more and more completions.

Example: after step 300, a judge fails on 8% of the completions, so those completions do not provide a learning signal.
"""

from __future__ import annotations

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp
from rewardkit.alerts.series import peak_of
from rewardkit.alerts.windowed_run import WindowedRun


def outcome_alerts(run: WindowedRun) -> list[Alert]:
    """Return at most one alert for each component and outcome.

    The strength is the weaker of two measures: the certainty that the rate rises between windows (z from 4 to 8) and
    the size of the rise (from 0.01 to 0.06 of all completions).
    """
    alerts = []
    for name, outcomes in sorted(run.evidence.outcomes.items()):
        row_outcomes = np.asarray(outcomes)[run.rows]
        for outcome in ("failed", "errored"):
            has_outcome = (row_outcomes == outcome).astype(np.float64)
            if not has_outcome.any():
                continue
            change = run.changes(has_outcome)
            # z from 4, as for all windows. The size starts at 0.01, because to_trl and the runner stop a run at 0.05,
            # and the alert should come before that.
            peak = peak_of(change, ramp(change.z, 4.0, 8.0), ramp(change.difference, 0.01, 0.06))
            if peak is None:
                continue
            pair, steps = peak.pair, peak.steps
            alerts.append(
                Alert(
                    kind="outcomes",
                    title=f"{name} {outcome} more often",
                    text=(
                        f"From step {steps[0]} to step {steps[1]} the share of completions on which {name} {outcome} "
                        f"goes from {100 * change.before[pair]:.2f}% to {100 * change.after[pair]:.2f}%."
                    ),
                    strength=peak.strength,
                    steps=steps,
                    component=name,
                    rows=run.shown(np.flatnonzero(run.within(steps) & (has_outcome == 1.0))),
                    numbers=change.numbers(pair),
                )
            )
    return alerts
