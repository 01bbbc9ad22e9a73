"""Components: the addends of a sum, each checked by itself.

A sum hides the faults of its addends: where one of five functions pays a wrong answer, the right one still earns more.
"""

from __future__ import annotations

from dataclasses import replace

from rewardkit.core.errors import shorten
from rewardkit.core.progress.schedule import weight_bounds
from rewardkit.core.tree.algebra import summands, weighted_sum_of
from rewardkit.core.tree.reward import Reward, bindings
from rewardkit.testing.findings import Finding, LawResult
from rewardkit.testing.reports.report import Report
from rewardkit.testing.subject import Promises, Subject


def components_of(subject: Subject) -> list[tuple[str, Subject]]:
    """Return the name and the subject of each addend that counts; none if the reward is not a sum of several."""
    items = [(weight, reward) for weight, reward in summands(subject.reward) if weight != 0.0]
    if len(items) < 2:
        return []
    promises = Promises(  # margins and chains are about the sum
        indifferent=subject.promises.indifferent,
        right=subject.promises.right,
        distractors=subject.promises.distractors,
    )
    found = []
    for weight, reward in items:
        # A penalty, -0.1 * repetition, is judged as such.
        part = reward if weight_bounds(weight)[0] >= 0 else weighted_sum_of([(weight, reward)])
        own = Subject(part, subject.examples, plain=is_foreign(part), seed=subject.seed, promises=promises)
        found.append((reward.name or shorten(reward), own))
    return found


def of_component(report: Report, name: str, whole: Report) -> Report:
    """Return the report of a component under its name, without the findings that the whole shows already."""
    known = {_fault(one, name) for one in whole.findings}

    def own(result: LawResult) -> LawResult:
        new = tuple(_renamed(one, name) for one in result.findings if _fault(one, name) not in known)
        if result.findings and not new:
            return replace(result, findings=(), reason="as shown above, for the sum")
        return replace(result, findings=new)

    return replace(report, results=tuple(map(own, report.results)), title=name)


def _fault(finding: Finding, component: str) -> tuple[str, ...]:
    """Return what tells faults apart: an exploit is the same in a sum, and so is an error of one component."""
    if finding.family:
        return finding.law, finding.family, finding.why.split(": earns")[0]
    named = component if finding.component == "total" else finding.component
    return finding.law, named, "" if finding.trace else finding.why


def _renamed(finding: Finding, name: str) -> Finding:
    return replace(finding, component=name, of=name) if finding.component == "total" else replace(finding, of=name)


def is_foreign(tree: Reward) -> bool:
    """Return whether any function in the tree was written for a trainer."""
    return any(binding.foreign for _, binding in bindings(tree))
