"""``suspicious(evidence)``: all leads of all kinds, strongest first, then the facts."""

from __future__ import annotations

from dataclasses import replace

from rewardkit.alerts.calls import call_leads
from rewardkit.alerts.copies import copy_leads
from rewardkit.alerts.diversity import diversity_leads
from rewardkit.alerts.evidence import LOST_SIGNAL, Evidence, Lead
from rewardkit.alerts.foreign import foreign_leads
from rewardkit.alerts.forms import form_leads
from rewardkit.alerts.golds import gold_leads
from rewardkit.alerts.jumps import gate_leads, jump_leads
from rewardkit.alerts.lengths import length_leads
from rewardkit.alerts.outcomes import outcome_leads
from rewardkit.alerts.phrases import phrase_leads
from rewardkit.alerts.proxy import proxy_leads
from rewardkit.alerts.saturation import saturation_leads, variance_leads
from rewardkit.alerts.texts import sampled
from rewardkit.alerts.windowed_run import WindowedRun

_FROM_SCORES = (
    proxy_leads,
    foreign_leads,
    form_leads,
    jump_leads,
    gate_leads,
    length_leads,
    call_leads,
    saturation_leads,
    variance_leads,
    outcome_leads,
)
_FROM_TEXTS = (gold_leads, phrase_leads, copy_leads, diversity_leads)
_ONLY_FACTS = (
    call_leads,
    jump_leads,
    gate_leads,
    phrase_leads,
    diversity_leads,
    saturation_leads,
    variance_leads,
)


def suspicious(evidence: Evidence, *, facts: bool = True) -> list[Lead]:
    """Return the suspicious patterns of a run, strongest first, then facts about it: leads, not verdicts.

    All scores are read, and a sample of the texts: whole groups, drawn with `evidence.seed`. The same evidence gives
    the same leads, in any order of its rows. A lead of 0.8 or more is rare in healthy runs (docs/suspicious.md has the
    measured rates and explains each kind). Facts (`Lead.is_fact`) have a strength of 0 and come last, the clearest
    first, and those about lost signal at the end.

    Args:
        evidence: the data of the run.
        facts: False looks for leads alone, in about a quarter of the time.
    """
    unwanted = () if facts else _ONLY_FACTS
    run = WindowedRun(evidence)
    if not len(run.rows):
        return []
    leads = [lead for look in _FROM_SCORES if look not in unwanted for lead in look(run)]
    sample = sampled(run)
    if sample is not None:
        leads += [lead for look in _FROM_TEXTS if look not in unwanted for lead in look(sample)]
    leads.sort(key=_place)
    return [replace(lead, strength=0.0) if lead.is_fact else lead for lead in leads if facts or not lead.is_fact]


def _place(lead: Lead) -> tuple[bool, bool, float, str, str, str]:
    is_about_signal = lead.kind in LOST_SIGNAL
    return lead.is_fact, is_about_signal, -round(lead.strength, 6), lead.kind, lead.component or "", lead.title
