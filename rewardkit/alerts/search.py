"""``suspicious(evidence)``, which returns the alerts of all kinds, strongest first, and then the observations."""

from __future__ import annotations

from dataclasses import replace

from rewardkit.alerts.calls import call_alerts
from rewardkit.alerts.copies import copy_alerts
from rewardkit.alerts.diversity import diversity_alerts
from rewardkit.alerts.evidence import LOST_SIGNAL, Alert, Evidence
from rewardkit.alerts.foreign import foreign_alerts
from rewardkit.alerts.forms import form_alerts
from rewardkit.alerts.golds import gold_alerts
from rewardkit.alerts.jumps import gate_alerts, jump_alerts
from rewardkit.alerts.lengths import length_alerts
from rewardkit.alerts.outcomes import outcome_alerts
from rewardkit.alerts.phrases import phrase_alerts
from rewardkit.alerts.proxy import proxy_alerts
from rewardkit.alerts.saturation import saturation_alerts, variance_alerts
from rewardkit.alerts.texts import sampled
from rewardkit.alerts.windowed_run import WindowedRun

_FROM_SCORES = (
    proxy_alerts,
    foreign_alerts,
    form_alerts,
    jump_alerts,
    gate_alerts,
    length_alerts,
    call_alerts,
    saturation_alerts,
    variance_alerts,
    outcome_alerts,
)
_FROM_TEXTS = (gold_alerts, phrase_alerts, copy_alerts, diversity_alerts)
_ONLY_OBSERVATIONS = (
    call_alerts,
    jump_alerts,
    gate_alerts,
    phrase_alerts,
    diversity_alerts,
    saturation_alerts,
    variance_alerts,
)


def suspicious(evidence: Evidence, *, observations: bool = True) -> list[Alert]:
    """Return a run's suspicious patterns (strongest first) and then observations about the run.

    The results are alerts, not verdicts. All scores are read, but only a sample of the completions: whole groups, drawn
    with `evidence.seed`. The same evidence always results in the same alerts, regardless of the row order. In healthy
    runs, an alert with a strength of 0.8 or more is rare (docs/suspicious.md shows the measured rates and explains each
    kind). Observations (`Alert.is_observation`) have a strength of 0 and come after the alerts. The clearest
    observations come first, and observations about lost signal come last.

    Args:
        evidence: the run's data.
        observations: whether to also return observations. Without them, the search takes about a quarter of the time.
    """
    unwanted = () if observations else _ONLY_OBSERVATIONS
    run = WindowedRun(evidence)
    if not len(run.rows):
        return []
    alerts = [alert for look in _FROM_SCORES if look not in unwanted for alert in look(run)]
    sample = sampled(run)
    if sample is not None:
        alerts += [alert for look in _FROM_TEXTS if look not in unwanted for alert in look(sample)]
    alerts.sort(key=_sort_key)
    return [
        replace(alert, strength=0.0) if alert.is_observation else alert
        for alert in alerts
        if observations or not alert.is_observation
    ]


def _sort_key(alert: Alert) -> tuple[bool, bool, float, str, str, str]:
    is_about_signal = alert.kind in LOST_SIGNAL
    return (
        alert.is_observation,
        is_about_signal,
        -round(alert.strength, 6),
        alert.kind,
        alert.component or "",
        alert.title,
    )
