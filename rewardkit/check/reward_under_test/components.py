"""Components: the addends of a sum, each checked separately.

A sum hides the faults of its addends. If one of five functions accepts an incorrect answer, the correct answer still
scores higher.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rewardkit.check.findings import Finding, LawResult
from rewardkit.check.reports.report import Report
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.errors import shorten
from rewardkit.progress.schedule import weight_bounds
from rewardkit.tree.algebra import summands, weighted_sum_of
from rewardkit.tree.names import terms_of


def components_of(subject: RewardUnderTest) -> list[RewardUnderTest]:
    """Return each addend that counts, as a `RewardUnderTest`, or an empty list if fewer than two count."""
    counting = (
        (weight, reward) for weight, reward in summands(subject.reward) if next(terms_of(reward), None) is not None
    )
    items = [(weight, reward) for weight, reward in counting if weight != 0.0]
    if len(items) < 2:
        return []
    declarations = replace(subject.declarations, margin=0.0, rankings=())  # margin and rankings are about the sum
    parts = []
    for weight, reward in items:
        # Keep a negative weight, as in -0.1 * repetition, so that a penalty is judged as a penalty.
        part = reward if weight_bounds(weight)[0] >= 0 else weighted_sum_of([(weight, reward)])
        parts.append(subject.addend(part, name=reward.name or shorten(reward), declarations=declarations))
    return parts


def unrepeated(report: Report, earlier: Iterable[Report], reason: str) -> Report:
    """Return the report without findings and leads of `earlier` reports. A law without other findings gets `reason`."""
    reports = list(earlier)
    faults = {fault for other in reports for finding in other.findings for fault in _faults(finding)}
    all_faults = faults | {fault for other in reports for lead in other.leads for fault in _faults(lead)}

    def own(result: LawResult) -> LawResult:
        new = tuple(candidate for candidate in result.findings if faults.isdisjoint(_faults(candidate)))
        leads = tuple(lead for lead in result.leads if all_faults.isdisjoint(_faults(lead)))
        repeats = result.findings and not new
        return replace(result, findings=new, leads=leads, reason=reason if repeats else result.reason)

    return replace(report, results=tuple(map(own, report.results)))


def _faults(finding: Finding) -> Iterator[tuple[str, ...]]:
    """Yield keys that are equal for a fault in a sum and the same fault in a component."""
    raised = finding.trace.strip().splitlines()[-1] if finding.trace.strip() else ""
    yield finding.law, repr(finding.completion), raised
    if finding.family:
        yield finding.law, finding.family, finding.why.split(": scores")[0]
    if raised:
        yield finding.law, finding.component, raised
