"""Tool calls: observations about a policy that calls tools more and more, repeats its calls, or ends without an answer.

The calls per completion go from 1.68 to 3.88, while the share of right answers goes from 0.68 to 0.84.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rewardkit.alerts.evidence import Alert, ramp
from rewardkit.alerts.series import Changes, Peak, peak_of
from rewardkit.alerts.windowed_run import WindowedRun
from rewardkit.batch.column import Floats

FOLLOWS = 0.6
"""A component whose rank correlation with the calls is higher than this is about the calls: it is not the outcome. Any
limit: what counts calls in another way follows them closely."""

# Any limit: means "from none to some", whose factor would be infinite; the ramps end far below it.
_LARGEST = 100.0


def call_alerts(run: WindowedRun) -> list[Alert]:
    """Return the observations about tool calls; none for a run without them."""
    return [*_rising(run), *_repeated(run), *_unfinished(run)]


def _rising(run: WindowedRun) -> list[Alert]:
    """Return a fact if calls rise by a greater factor than the outcome.

    The outcome is the component that rises by the greatest factor, of the monitored ones if there are any, and without
    those that follow the calls. The place of the observation depends on the weakest of: the certainty that the calls
    rise (z from 4 to 8), their rise (a factor from 1.15 to 1.75), and that factor divided by the outcome's (from 1.1
    to 1.5).
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
            f"tool calls rise, {name} {'rises less' if after > before else 'does not'}",
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
    """Return the changes of the components that may show whether the calls were useful."""
    names = sorted(run.evidence.monitored) or list(run.rewarded)
    columns = {name: run.component(name) for name in names}
    return {name: run.changes(values) for name, values in columns.items() if run.correlation(values, calls) <= FOLLOWS}


def _factor(change: Changes) -> Floats:
    """Return (pairs,) the logarithm of the factor between windows, the largest possible for a rise from zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor: Floats = np.log(change.after / change.before)
    odd = (change.before <= 0.0) | (change.after <= 0.0)
    factor[odd] = np.where(change.difference > 0.0, _LARGEST, 0.0)[odd]
    return np.clip(np.nan_to_num(factor), -_LARGEST, _LARGEST)


def _repeated(run: WindowedRun) -> list[Alert]:
    """Return an observation if more and more completions repeat one of their calls.

    Its place depends on the weaker of the certainty (z from 4 to 8) and the rise of their share (from 0.05 to 0.3).
    """
    if run.evidence.repeated_calls is None:
        return []
    repeated = np.asarray(run.evidence.repeated_calls, dtype=np.float64)[run.rows]
    does = np.where(np.isnan(repeated), np.nan, (repeated > 0.0).astype(np.float64))
    # Any ends: some repetition is normal, as after an error; below, hardly any completion should have no answer.
    return _share(run, "repeated", "more completions repeat a call", "repeat one of their calls", does, (0.05, 0.3))


def _unfinished(run: WindowedRun) -> list[Alert]:
    """Return an observation if more and more completions end without an answer.

    Its place depends on the weaker of the certainty (z from 4 to 8) and the rise of their share (from 0.02 to 0.15).
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
    text = f"the share of completions that {predicate} goes from {100 * before:.1f} % to {100 * after:.1f} %."
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
