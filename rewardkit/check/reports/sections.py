"""Section: one reward in a report, with the results of the laws and measurements on data."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from rewardkit.batch.table_text import visible
from rewardkit.check.findings import Finding, LawResult
from rewardkit.check.laws.base import NO_GOOD, OVER
from rewardkit.check.reward_under_test.whole import COVERED
from rewardkit.check.run.output import Printed

if TYPE_CHECKING:
    from rewardkit.analyze.calibration import Calibration
    from rewardkit.analyze.readiness import Signal


_NAMED = 4
"""Laws that a verdict names."""


class Checked(Protocol):
    """The part of a report that a section reads."""

    @property
    def reward(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def results(self) -> tuple[LawResult, ...]: ...

    @property
    def seed(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def ok(self) -> bool: ...

    @property
    def complete(self) -> bool: ...

    @property
    def printed(self) -> Printed | None: ...

    @property
    def components(self) -> Sequence[Checked]: ...

    @property
    def budget(self) -> float: ...

    @property
    def remarks(self) -> tuple[str, ...]: ...

    def to_dict(self) -> dict[str, Any]: ...


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
        data: the file of the examples, and how much of it was used; empty for none.
        calibration: its agreement with labels.
        signal: its learning signal.
        remarks: other notes for the reader.
    """

    report: Checked
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
        """Say what only right completions can show, if there are none."""
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
        return [f"It pays some wrong completions, too; the sum of the rewards does not ({', '.join(laws)})."]

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
        own = [result for result in self.broken if result.findings]
        found = [f"{_counted(self.findings, 'finding')} in {_counted(len(own), 'law')}"] if own else []
        if len(own) < len(self.broken):
            found.append(f"{_counted(len(self.broken) - len(own), 'law')} as shown before")
        if parts:
            where = parts[0].title if len(parts) == 1 else f"{len(parts)} components"
            found.append(f"{_counted(sum(part.findings for part in parts), 'finding')} in {where}")
        return f"BROKEN: {', '.join([*found, *counts])}; {spent}"


def budget_for(report: Checked) -> int:
    """Estimate the budget that would finish the laws that ran out of time; 0 if none did, or none is known."""
    everything = [report, *report.components]
    results = [result for one in everything for result in one.results]
    done = [result.seconds for result in results if result.outcome in ("held", "broken")]
    late = [one for one in results if one.outcome == "unfinished" and (one.count or one.reason == OVER)]
    if not late or not report.budget:
        return 0
    usual = max(1.0, sum(done) / max(1, len(done)))
    more = sum(one.seconds * (one.count / max(1, one.reached) - 1) if one.count else usual for one in late)
    return math.ceil(max(report.budget + more * 1.5, report.budget * 1.5) / 10) * 10


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def distinct(findings: Sequence[Finding]) -> list[Finding]:
    """Return each fault once: the first finding with a given completion and columns."""
    found: dict[str, Finding] = {}
    for finding in findings:
        found.setdefault(_key(finding), finding)
    return list(found.values())


def cause_of(finding: Finding) -> str:
    """Return the cause of a finding: equal for the same fault of several components, or at several places."""
    raised = finding.trace.strip().splitlines()[-1] if finding.trace.strip() else ""
    why = re.split(r": earns|; so d", finding.why)[0]
    return repr((finding.law, finding.family, raised, re.sub(r"-?\d[\d.,]*(?:e[-+]?\d+)?", "#", why)))


def by_cause(section: Section) -> list[tuple[str, list[tuple[str, Finding]]]]:
    """Return the findings of a reward and its components by law, each with the name of its component, if it has one.

    Laws without findings of their own are left out.
    """
    found: dict[str, list[tuple[str, Finding]]] = {}
    for title, one in [("", section), *((part.title, part) for part in section.parts)]:
        for result in one.broken:
            if result.findings:
                found.setdefault(result.law, []).extend((title, finding) for finding in distinct(result.findings))
    return list(found.items())


def _key(finding: Finding) -> str:
    return repr((finding.law, finding.component, finding.completion, sorted(finding.columns.items(), key=repr)))


def repeated(results: Sequence[LawResult]) -> set[str]:
    """Return laws without findings of their own: a completion that kills the process does so in every law.

    Such a finding names the law that it breaks. It is shown there, or else where it occurs first.
    """
    own = {result.law for result in results if any(finding.law == result.law for finding in result.findings)}
    known: set[str] = set()
    found = set()
    for result in results:
        keys = {_key(finding) for finding in result.findings}
        foreign = {finding.law for finding in result.findings}
        if foreign and result.law not in own and (foreign <= own or keys <= known):
            found.add(result.law)
        known |= keys
    return found


def kind_of(finding: Finding, law: str) -> str:
    """Return the kind of a fault, if it is not the law itself: the family, or another law."""
    kind = finding.family or finding.law
    return "" if kind == law else kind


def families_of(findings: Sequence[Finding]) -> list[str]:
    """Return the exploit families of the findings."""
    return list(dict.fromkeys(one.family for one in findings if one.family and one.family != one.law))


def middle_cut(text: str, limit: int) -> str:
    """Cut the middle of a text longer than `limit`, and say how much is missing."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]} [... {len(text) - head - tail:,} characters ...] {text[-tail:]}"


def shown(value: Any, limit: int) -> str:
    """Return the repr of a value on one line, with control characters spelled out."""
    if isinstance(value, str):
        return visible(repr(middle_cut(value, limit)))
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return visible(middle_cut(text, limit))


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
        "left_out": [{"name": one.name, "reason": one.reason} for one in left_out],
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
