"""Tool calls: observations about a policy that makes more and more calls, repeats calls, or stops without an answer.

Example: calls per completion rise from 1.68 to 3.88, while the share of correct answers rises only from 0.68 to 0.84.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp
from rewardkit.alerts.series import Changes, Peak, peak_of
from rewardkit.alerts.windowed_run import WindowedRun
from rewardkit.batch.column import Floats

FOLLOWS = 0.6
"""If a component's rank correlation with the number of calls exceeds this limit, the component measures the calls
instead of the outcome. The limit is arbitrary: a component that counts calls in a different way correlates closely with
the number of calls."""

# Arbitrary: replaces the infinite factor of a rise from zero calls. The ramps end far below it.
_LARGEST = 100.0


def call_alerts(run: WindowedRun) -> list[Alert]:
    """Return the observations about tool calls, or an empty list if the run does not have tool calls."""
    return [*_rising_calls(run), *_repeated_calls(run), *_unfinished_episodes(run)]


def _rising_calls(run: WindowedRun) -> list[Alert]:
    """Return an observation if tool calls rise by a greater factor than the outcome.

    The outcome is the component that rises by the greatest factor. If there are monitored components, only these are
    considered. Components that track the number of calls are excluded (see `FOLLOWS`). The observation is ranked by the
    weakest of: the certainty that calls rise (z from 4 to 8), the factor by which calls rise (from 1.15 to 1.75), and
    that factor divided by the outcome's factor (from 1.1 to 1.5).
    """
    if run.evidence.calls is None:
        return []
    calls = np.asarray(run.evidence.calls, dtype=np.float64)[run.rows]
    outcomes = _outcomes(run, calls)
    if not outcomes:
        return []
    change = run.changes(calls)
    factor = _factor(change)
    rises = np.array([_factor(other) for other in outcomes.values()])
    margin = factor - np.maximum(rises.max(axis=0), 0.0)
    peak = peak_of(
        change,
        # z from 4: a run has up to 28 pairs of windows, and by chance the best one reaches 4 in one of 1,000 runs.
        ramp(change.z, 4.0, 8.0),
        ramp(factor, np.log(1.15), np.log(1.75)),
        ramp(margin, np.log(1.1), np.log(1.5)),
    )
    if peak is None:
        return []
    pair = peak.pair
    best = int(np.argmax(rises[:, pair]))
    name, outcome = list(outcomes.items())[best]
    before, after = float(outcome.before[pair]), float(outcome.after[pair])
    return [
        _observation(
            run,
            "calls",
            f"tool calls rise, but {name} {'rises less' if after > before else 'does not'}",
            f"tool calls per completion go from {change.before[pair]:.3g} to {change.after[pair]:.3g}, "
            f"while {name} goes from {before:.3g} to {after:.3g}.",
            change,
            peak,
            calls,
            {"outcome_before": before, "outcome_after": after},
            name,
        )
    ]


def _outcomes(run: WindowedRun, calls: Floats) -> dict[str, Changes]:
    """Return the changes in each component that may show whether the calls were useful."""
    names = sorted(run.evidence.monitored) or list(run.rewarded)
    columns = {name: run.component(name) for name in names}
    return {name: run.changes(values) for name, values in columns.items() if run.correlation(values, calls) <= FOLLOWS}


def _factor(change: Changes) -> Floats:
    """Return the log of ``after / before`` for each pair of windows (pairs,); 100 for a rise from zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor: Floats = np.log(change.after / change.before)
    is_undefined = (change.before <= 0.0) | (change.after <= 0.0)
    factor[is_undefined] = np.where(change.difference > 0.0, _LARGEST, 0.0)[is_undefined]
    return np.clip(np.nan_to_num(factor), -_LARGEST, _LARGEST)


def _repeated_calls(run: WindowedRun) -> list[Alert]:
    """Return an observation if the share of completions that repeat a call rises.

    The observation is ranked by the weaker of two measures: the certainty of the rise (z from 4 to 8) and its size
    (from 0.05 to 0.3).
    """
    if run.evidence.repeated_calls is None:
        return []
    repeated = np.asarray(run.evidence.repeated_calls, dtype=np.float64)[run.rows]
    repeats_call = np.where(np.isnan(repeated), np.nan, (repeated > 0.0).astype(np.float64))
    # Arbitrary range: some repetition is normal, for example after an error. The range for unfinished completions is
    # lower, because almost every completion should have an answer.
    return _share(
        run, "repeated", "more completions repeat a call", "repeat one of their calls", repeats_call, (0.05, 0.3)
    )


def _unfinished_episodes(run: WindowedRun) -> list[Alert]:
    """Return an observation if the share of completions without an answer rises.

    The observation is ranked by the weaker of two measures: the certainty of the rise (z from 4 to 8) and its size
    (from 0.02 to 0.15).
    """
    if run.evidence.unfinished is None:
        return []
    unfinished = np.asarray(run.evidence.unfinished, dtype=np.float64)[run.rows]
    return _share(
        run, "unfinished", "more completions end without an answer", "end without an answer", unfinished, (0.02, 0.15)
    )


def _share(
    run: WindowedRun, kind: str, title: str, predicate: str, values: Floats, rise: tuple[float, float]
) -> list[Alert]:
    change = run.changes(values)
    # z from 4, as for all windows.
    peak = peak_of(change, ramp(change.z, 4.0, 8.0), ramp(change.difference, *rise))
    if peak is None:
        return []
    before, after = change.before[peak.pair], change.after[peak.pair]
    text = f"the share of completions that {predicate} goes from {100 * before:.1f}% to {100 * after:.1f}%."
    return [_observation(run, kind, title, text, change, peak, values)]


def _observation(
    run: WindowedRun,
    kind: str,
    title: str,
    text: str,
    change: Changes,
    peak: Peak,
    values: Floats,
    numbers: Mapping[str, float] | None = None,
    component: str | None = None,
) -> Alert:
    late = np.flatnonzero(run.within(peak.steps) & (np.nan_to_num(values) > 0.0))
    return Alert(
        kind=kind,
        title=title,
        text=f"From step {peak.steps[0]} to step {peak.steps[1]} {text}",
        strength=peak.strength,
        steps=peak.steps,
        component=component,
        rows=run.shown(late, values),
        numbers={**change.numbers(peak.pair), **(numbers or {})},
    )
