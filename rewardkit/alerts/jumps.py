"""Sudden changes: a component that moves to a different level within one step, or a gate that opens suddenly.

A mean of 0.2 up to step 310 and 0.8 after that is a jump; a mean that climbs over a hundred steps is not.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp, weakest
from rewardkit.alerts.series import STEPS, Jump, Series, largest_jump
from rewardkit.alerts.windowed_run import WindowedRun


def jump_alerts(run: WindowedRun) -> list[Alert]:
    """Return an alert for each component whose largest jump is sudden (for the total if there are no components).

    The strength is the weaker of two measures: the jump's suddenness (`Jump.suddenness`) and its height (from 0.3 to 1
    standard deviation of the completions around the jump).
    """
    columns = {name: run.component(name) for name in sorted(run.evidence.components)} or {"": run.totals}
    alerts = []
    for name, values in columns.items():
        jump = largest_jump(run.series(values))
        if jump is None or jump.suddenness == 0.0:
            continue
        near = np.flatnonzero(run.within(_span(run.distinct_steps, jump)) & ~np.isnan(values))
        deviation = float(values[near].std())
        # A deviation this small is only rounding: any jump is high compared with it.
        height = abs(jump.difference) / deviation if deviation > 1e-9 else np.inf
        # Arbitrary range: a jump by less than a third of a standard deviation is hardly visible in the curve.
        strength = float(weakest(jump.suddenness, ramp(height, 0.3, 1.0)))
        if strength > 0.0:
            label = name or "the total"
            after = near[run.steps[near] >= jump.step]
            alerts.append(
                Alert(
                    kind="jump",
                    title=f"{label} {'jumps' if jump.difference > 0 else 'drops'} at step {jump.step}",
                    text=f"The mean of {label} {_described(jump)}. The jump is {height:.2g} standard deviations high.",
                    strength=strength,
                    steps=_span(run.distinct_steps, jump),
                    component=name or None,
                    rows=run.shown(after, values if jump.difference > 0 else -values),
                    numbers={**_numbers(jump), "height": height},
                )
            )
    return alerts


def gate_alerts(run: WindowedRun) -> list[Alert]:
    """Return an alert for each gate whose pass rate jumps.

    The strength is the weaker of two measures: the jump's suddenness and its height (from 0.1 to 0.4).
    """
    alerts = []
    for name, (steps, rates) in sorted(run.evidence.gates.items()):
        order = np.argsort(steps, kind="stable")
        valid = order[~np.isnan(np.asarray(rates, dtype=np.float64)[order])]
        series = Series(np.asarray(steps, dtype=np.int64)[valid], np.asarray(rates, dtype=np.float64)[valid])
        jump = largest_jump(series)
        # Arbitrary range: a jump of the pass rate by less than 0.1 is hardly visible in the curve.
        strength = 0.0 if jump is None else float(weakest(jump.suddenness, ramp(abs(jump.difference), 0.1, 0.4)))
        if jump is not None and strength > 0.0:
            after = np.flatnonzero(run.within(_span(run.distinct_steps, jump)) & (run.steps >= jump.step))
            alerts.append(
                Alert(
                    kind="gate",
                    title=f"gate {name} {'opens' if jump.difference > 0 else 'closes'} suddenly at step {jump.step}",
                    text=f"The pass rate of gate {name} {_described(jump)}.",
                    strength=strength,
                    steps=_span(series.steps, jump),
                    component=name if name in run.evidence.components else None,
                    rows=run.shown(after),
                    numbers=_numbers(jump),
                )
            )
    return alerts


def _span(steps: np.ndarray[tuple[int], np.dtype[np.int64]], jump: Jump) -> tuple[int, int]:
    """Return the first and last step that the means before and after the jump cover."""
    at = int(np.searchsorted(steps, jump.step))
    return int(steps[max(0, at - STEPS)]), int(steps[min(len(steps) - 1, at + STEPS - 1)])


def _described(jump: Jump) -> str:
    return (
        f"goes from {jump.before:.3g} in the {STEPS} steps before step {jump.step} to {jump.after:.3g} in the next "
        f"{STEPS} ({jump.z:.1f} standard errors). The jump is {jump.ratio:.1f} times the largest change elsewhere, and "
        f"{100 * jump.concentration:.0f}% of all movement around that step"
    )


def _numbers(jump: Jump) -> dict[str, float]:
    return {name: value for name, value in asdict(jump).items() if name != "step"}
