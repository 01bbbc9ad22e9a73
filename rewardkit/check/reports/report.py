"""Report: the results of all laws for one reward. Section: a report with the results from labels and samples.

``print(check_reward(reward, examples=[...]))`` shows a table of laws, then every finding: the completion, its score,
why it matters, and a line of Python that reproduces it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rewardkit.check.findings import Finding, LawResult
from rewardkit.check.laws.base import NO_GOOD, OVER
from rewardkit.check.reward_under_test.whole import COVERED
from rewardkit.check.run.output import Printed
from rewardkit.report.values import counted

if TYPE_CHECKING:
    from rewardkit.analyze.calibration import Calibration
    from rewardkit.analyze.readiness import Signal

_NAMED = 4
"""Laws that a verdict names. Any number, so that a verdict is one line."""


@dataclass(frozen=True)
class Report:
    """All results of a check of one reward.

    Attributes:
        reward: the repr of the reward.
        results: one per law, in the order in which the laws ran.
        components: of a list or sum, the reports of its addends, each checked by itself; they lack the findings that
            `results` has.
        seed: repeats the same check.
        seconds: the duration.
        fingerprint: the fingerprint of the reward.
        budget: the seconds that it was given.
        remarks: facts about the examples for the reader.
        printed: the output of the reward during the check; None if nothing.
    """

    reward: str
    results: tuple[LawResult, ...]
    seed: int = 0
    seconds: float = 0.0
    fingerprint: str = ""
    title: str = field(default="", compare=False)
    printed: Printed | None = field(default=None, compare=False)
    components: tuple[Report, ...] = ()
    budget: float = field(default=0.0, compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)

    @property
    def findings(self) -> list[Finding]:
        """All faults found, also in its components."""
        own_findings = [finding for result in self.results for finding in result.findings]
        return [*own_findings, *(finding for part in self.components for finding in part.findings)]

    @property
    def merged(self) -> tuple[LawResult, ...]:
        """One result per law, with the findings of the components."""
        results = []
        for result in self.results:
            parts = [
                part_result for part in self.components for part_result in part.results if part_result.law == result.law
            ]
            findings = (*result.findings, *(finding for part_result in parts for finding in part_result.findings))
            results.append(replace(result, findings=findings, outcome="broken" if findings else result.outcome))
        return tuple(results)

    @property
    def asides(self) -> list[Finding]:
        """Faults that no model and trainer of the given data can reach, and faults of the data (`of_data`)."""
        return [aside for result in self.results for aside in result.asides]

    @property
    def ok(self) -> bool:
        """Whether no law is broken and no exploit was found; see `complete` for whether everything was tried."""
        return not self.findings

    @property
    def complete(self) -> bool:
        """Whether the check of every law that applies was finished."""
        is_complete = all(result.outcome != "unfinished" for result in self.results)
        return is_complete and all(part.complete for part in self.components)

    @property
    def needs(self) -> int:
        """The budget, in seconds, that would finish the laws that ran out of time; 0 if none did."""
        return budget_for(self)

    def __getitem__(self, law: str) -> LawResult:
        for result in self.results:
            if result.law == law:
                return result
        raise KeyError(f"this report has no law {law!r}; it has: {', '.join(result.law for result in self.results)}")

    def raise_if_broken(self) -> None:
        """Raise an AssertionError that explains every finding."""
        if not self.ok:
            raise AssertionError(str(self))

    def shown_as(self, title: str) -> Report:
        """Return the same report under another title."""
        return replace(self, title=title)

    def __str__(self) -> str:
        from rewardkit.check.reports.document import text_of

        return text_of([Section(self)])

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values that JSON can hold."""
        return {
            "reward": self.reward,
            "title": self.title,
            "fingerprint": self.fingerprint,
            "ok": self.ok,
            "complete": self.complete,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "budget": self.budget,
            "needs": self.needs,
            "remarks": list(self.remarks),
            "printed": None if self.printed is None else self.printed.to_dict(),
            "laws": [
                {
                    "law": result.law,
                    "outcome": result.outcome,
                    "tries": result.tries,
                    "reason": result.reason,
                    "seconds": round(result.seconds, 3),
                    "findings": [finding.to_dict() for finding in result.findings],
                    "asides": [aside.to_dict() for aside in result.asides],
                }
                for result in self.results
            ],
            "components": [part.to_dict() for part in self.components],
        }

    def to_json(self, path: str | Path) -> None:
        """Write `to_dict` to a file."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="ascii")

    def to_html(self, path: str | Path) -> None:
        """Write a self-contained page: no scripts, nothing fetched, everything escaped."""
        from rewardkit.check.reports.document import page_of

        Path(path).write_text(page_of([Section(self)]), encoding="utf-8")


class Unchecked(Protocol):
    """A candidate that was not checked."""

    @property
    def name(self) -> str: ...

    @property
    def reason(self) -> str: ...


@dataclass(frozen=True)
class Section:
    """Everything shown about one reward.

    Attributes:
        report: the results of the laws.
        data: the file of the examples, and the part of it that was used; empty for none.
        calibration: its agreement with labels.
        signal: its learning signal.
        remarks: other notes for the reader.
    """

    report: Report
    data: str = ""
    calibration: Calibration | None = None
    signal: Signal | None = None
    remarks: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.report.title or self.report.reward

    @cached_property
    def parts(self) -> list[Section]:
        """The components of a sum, each checked by itself."""
        return [Section(report) for report in self.report.components]

    @property
    def faulty(self) -> bool:
        """Whether it breaks a law, as a whole or in a component."""
        return bool(self.broken) or any(part.broken for part in self.parts)

    @property
    def findings(self) -> int:
        """The number of different findings, without those of its components."""
        return sum(len(distinct(result.findings)) for result in self.broken)

    @cached_property
    def _repeated(self) -> set[str]:
        return repeated(self.report.results)

    @property
    def broken(self) -> list[LawResult]:
        return [
            result for result in self.report.results if result.outcome == "broken" and result.law not in self._repeated
        ]

    @property
    def held(self) -> list[LawResult]:
        return [result for result in self.report.results if result.outcome == "held"]

    @property
    def unfinished(self) -> list[LawResult]:
        """Laws that may apply but whose check was cut short, or in which the process died again."""
        return [
            result for result in self.report.results if result.outcome == "unfinished" or result.law in self._repeated
        ]

    @property
    def inapplicable(self) -> list[LawResult]:
        """Laws that do not apply to this reward."""
        return [result for result in self.report.results if result.outcome == "skipped"]

    @property
    def _untried(self) -> list[str]:
        """Name the results that need right completions, if there are none."""
        laws = [result.law for result in self.report.results if result.reason == NO_GOOD]
        if not laws:
            return []
        return [
            f"Not tried, since no right completions are known: {', '.join(laws)}. Pass good=[...] with one for each "
            "example, write GOOD = [...] beside the reward, or put them into a file for --examples."
        ]

    @property
    def _covered(self) -> list[str]:
        """Say that a component pays wrong completions that the others reject."""
        laws = [result.law for result in self.report.results if result.reason == COVERED]
        if not laws:
            return []
        return [f"It also pays some wrong completions; the sum of the rewards does not ({', '.join(laws)})."]

    @property
    def _cut(self) -> list[str]:
        """Say which budget would do."""
        needed = budget_for(self.report)
        if not needed:
            return []
        return [f"It needs about {needed} s to finish: budget={needed}, or --budget {needed} on the command line."]

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks, faults of the data, and one line about faults that no run on the given data reaches."""
        everything = [aside for result in self.report.results for aside in result.asides]
        asides = [aside for aside in everything if not aside.of_data]
        of_data = [f"About the data ({aside.law}): {aside.why}" for aside in everything if aside.of_data]
        remarks = (*self.remarks, *self.report.remarks, *of_data, *self._untried, *self._covered, *self._cut)
        if not asides:
            return remarks
        laws = ", ".join(dict.fromkeys(aside.law for aside in asides))
        names = "; ".join(dict.fromkeys(aside.unreachable for aside in asides))
        return (*remarks, f"Not counted, since no run on this data has it ({laws}): {names}.")

    @property
    def verdict(self) -> str:
        """The verdict in one line."""
        counts = [f"{len(self.held)} held"]
        if self.unfinished:
            counts.append(f"{len(self.unfinished)} not done")
        spent = f"{self.report.seconds:.1f} s, seed {self.report.seed}"
        parts = [part for part in self.parts if part.findings]
        if not self.broken and not parts:
            if self.unfinished and not self.held:
                return f"NOT CHECKED: nothing was finished, {', '.join(counts)}; {spent}"
            late = [*self.unfinished, *(result for part in self.parts for result in part.unfinished)]
            if late:
                laws = list(dict.fromkeys(result.law for result in late))
                names = ", ".join(laws[:_NAMED]) + (f" and {len(laws) - _NAMED} more" if len(laws) > _NAMED else "")
                word = f"INCOMPLETE: no fault found, but some laws were not finished ({names})"
            else:
                word = "no fault found, but no right completions were given" if self._untried else "sound"
            return f"{word}: {', '.join(counts)}; {spent}"
        broken_laws = [result for result in self.broken if result.findings]
        fault_counts = (
            [f"{counted(self.findings, 'finding')} in {counted(len(broken_laws), 'law')}"] if broken_laws else []
        )
        if len(broken_laws) < len(self.broken):
            fault_counts.append(f"{counted(len(self.broken) - len(broken_laws), 'law')} as shown before")
        if parts:
            where = parts[0].title if len(parts) == 1 else f"{len(parts)} components"
            fault_counts.append(f"{counted(sum(part.findings for part in parts), 'finding')} in {where}")
        return f"BROKEN: {', '.join([*fault_counts, *counts])}; {spent}"


def budget_for(report: Report) -> int:
    """Estimate the budget that would finish the laws that ran out of time; 0 if none did, or none is known."""
    everything = [report, *report.components]
    results = [result for entry in everything for result in entry.results]
    durations = [result.seconds for result in results if result.outcome in ("held", "broken")]
    late = [entry for entry in results if entry.outcome == "unfinished" and (entry.count or entry.reason == OVER)]
    if not late or not report.budget:
        return 0
    usual = max(1.0, sum(durations) / max(1, len(durations)))
    more = sum(entry.seconds * (entry.count / max(1, entry.reached) - 1) if entry.count else usual for entry in late)
    # Half more than what was measured, in whole tens of seconds: the next run should suffice on a busier machine, too.
    return math.ceil(max(report.budget + more * 1.5, report.budget * 1.5) / 10) * 10


def distinct(findings: Sequence[Finding]) -> list[Finding]:
    """Return each fault once: the first finding with a given completion and columns."""
    by_key: dict[str, Finding] = {}
    for finding in findings:
        by_key.setdefault(_key(finding), finding)
    return list(by_key.values())


def cause_of(finding: Finding) -> str:
    """Return the cause of a finding: equal for the same fault of several components, or at several places."""
    raised = finding.trace.strip().splitlines()[-1] if finding.trace.strip() else ""
    # Up to what a completion earns, and up to "; so does": these differ from one finding to the next.
    why = re.split(r": earns|; so d", finding.why)[0]
    # Numbers differ as well.
    return repr((finding.law, finding.family, raised, re.sub(r"-?\d[\d.,]*(?:e[-+]?\d+)?", "#", why)))


def by_cause(section: Section) -> list[tuple[str, list[tuple[str, Finding]]]]:
    """Return the findings of a reward and its components by law, each with the name of its component, if it has one.

    Laws without their own findings are left out.
    """
    by_law: dict[str, list[tuple[str, Finding]]] = {}
    for title, owner in [("", section), *((part.title, part) for part in section.parts)]:
        for result in owner.broken:
            if result.findings:
                by_law.setdefault(result.law, []).extend((title, finding) for finding in distinct(result.findings))
    return list(by_law.items())


def _key(finding: Finding) -> str:
    return repr((finding.law, finding.component, finding.completion, sorted(finding.columns.items(), key=repr)))


def repeated(results: Sequence[LawResult]) -> set[str]:
    """Return laws without their own findings: a completion that kills the process does so in every law.

    Such a finding names the law that it breaks. It is shown there, or else where it occurs first.
    """
    own_laws = {result.law for result in results if any(finding.law == result.law for finding in result.findings)}
    earlier_keys: set[str] = set()
    repeated_laws = set()
    for result in results:
        keys = {_key(finding) for finding in result.findings}
        foreign = {finding.law for finding in result.findings}
        if foreign and result.law not in own_laws and (foreign <= own_laws or keys <= earlier_keys):
            repeated_laws.add(result.law)
        earlier_keys |= keys
    return repeated_laws


def kind_of(finding: Finding, law: str) -> str:
    """Return the kind of a fault, if it is not the law itself: the family, or another law."""
    kind = finding.family or finding.law
    return "" if kind == law else kind


def families_of(findings: Sequence[Finding]) -> list[str]:
    """Return the exploit families of the findings."""
    return list(
        dict.fromkeys(finding.family for finding in findings if finding.family and finding.family != finding.law)
    )


def dictionary_of(sections: Sequence[Section], left_out: Sequence[Unchecked] = ()) -> dict[str, Any]:
    """Return plain values that JSON can hold: ``{"ok": ..., "rewards": [...], "left_out": [...]}``."""
    return {
        "ok": all(section.report.ok for section in sections),
        "rewards": [
            {
                **section.report.to_dict(),
                "verdict": section.verdict,
                "data": section.data,
                "calibration": None if section.calibration is None else section.calibration.to_dict(),
                "signal": None if section.signal is None else section.signal.to_dict(),
                "remarks": list(section.remarks),
            }
            for section in sections
        ],
        "left_out": [{"name": unchecked.name, "reason": unchecked.reason} for unchecked in left_out],
    }


def json_of(sections: Sequence[Section], left_out: Sequence[Unchecked] = ()) -> str:
    """Return `dictionary_of` as strict JSON in ASCII, since UTF-8 cannot hold a completion's lone surrogates."""
    return json.dumps(_strict(dictionary_of(sections, left_out)), indent=2, allow_nan=False) + "\n"


def _strict(value: Any) -> Any:
    """Write NaN and infinities as text, which JSON has no numbers for."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, Mapping):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    return value
