"""Section: one reward in a report: what the laws found, and where there is data what labels and samples say."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from rewardkit.core.batch.table_text import visible
from rewardkit.testing.findings import Finding, LawResult

if TYPE_CHECKING:
    from rewardkit.analysis.calibration import Calibration
    from rewardkit.analysis.readiness import Signal


class Checked(Protocol):
    """What a section needs of a report."""

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

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Section:
    """All that is shown of one reward.

    Attributes:
        report: what the laws found.
        data: the file that the examples come from, and how much of it was used; empty for none.
        calibration: whether it agrees with labels.
        signal: what a run would learn from.
        remarks: what else the reader should know.
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
        """Laws that may apply but were not looked at to their end, or under which the process went down again."""
        return [
            result for result in self.report.results if result.outcome == "unfinished" or result.law in self._repeated
        ]

    @property
    def inapplicable(self) -> list[LawResult]:
        """Laws that say nothing about this reward."""
        return [result for result in self.report.results if result.outcome == "skipped"]

    @property
    def verdict(self) -> str:
        """In one line."""
        counts = [f"{len(self.held)} held"]
        if self.unfinished:
            counts.append(f"{len(self.unfinished)} not done")
        spent = f"{self.report.seconds:.1f} s, seed {self.report.seed}"
        if not self.broken:
            word = "no fault found, but not all was looked at" if self.unfinished else "sound"
            return f"{word}: {', '.join(counts)}; {spent}"
        found = sum(len(distinct(result.findings)) for result in self.broken)
        word = f"BROKEN: {_counted(found, 'finding')} in {_counted(len(self.broken), 'law')}"
        return f"{word}, {', '.join(counts)}; {spent}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def distinct(findings: Sequence[Finding]) -> list[Finding]:
    """Each fault once: the first of those that show it with the same completion in the same columns."""
    found: dict[str, Finding] = {}
    for finding in findings:
        found.setdefault(_key(finding), finding)
    return list(found.values())


def _key(finding: Finding) -> str:
    return repr((finding.law, finding.component, finding.completion, sorted(finding.columns.items(), key=repr)))


def repeated(results: Sequence[LawResult]) -> set[str]:
    """Laws that have no finding of their own: what takes the process down does so under every law.

    Such a finding bears the name of the law that it breaks. It is shown there, or else where it comes first.
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
    """What kind of fault it is, where the name of the broken law does not say it: the family, or another law."""
    kind = finding.family or finding.law
    return "" if kind == law else kind


def families_of(findings: Sequence[Finding]) -> list[str]:
    """The families of exploits among them."""
    return list(dict.fromkeys(one.family for one in findings if one.family and one.family != one.law))


def middle_cut(text: str, limit: int) -> str:
    """`text` without its middle where it is longer than `limit`; says how much is missing."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]} [... {len(text) - head - tail:,} characters ...] {text[-tail:]}"


def shown(value: Any, limit: int) -> str:
    """A value on one line, as Python writes it, with nothing in it that acts on the reader's screen."""
    if isinstance(value, str):
        return visible(repr(middle_cut(value, limit)))
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return visible(middle_cut(text, limit))


def score_of(finding: Finding) -> str:
    return "no score" if finding.score is None else f"{finding.score:.6g}"


def dictionary_of(sections: Sequence[Section]) -> dict[str, Any]:
    """Plain values, as JSON takes them: ``{"ok": ..., "rewards": [...]}``."""
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
    }


def json_of(sections: Sequence[Section]) -> str:
    """`dictionary_of` as strict JSON in ASCII: a lone surrogate of a completion would fit into no UTF-8 file."""
    return json.dumps(_strict(dictionary_of(sections)), indent=2, allow_nan=False) + "\n"


def _strict(value: Any) -> Any:
    """What JSON has no number for as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, Mapping):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    return value
