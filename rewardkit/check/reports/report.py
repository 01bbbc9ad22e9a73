"""Report, the results of all laws for one reward; and Section, a report with results from labels and samples.

``print(check_reward(reward, examples=[...]))`` shows a table of laws, then every finding with the completion, its
score, the reason that the finding matters, and a line of Python to reproduce it.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rewardkit.batch.table_text import visible
from rewardkit.check.findings import REFUSED, Finding, LawResult, Share, expression_of, severity_of
from rewardkit.check.laws.base import NO_GOOD, OVER
from rewardkit.check.reward_under_test.whole import COVERED
from rewardkit.check.run.output import Printed
from rewardkit.check.run.scratch import Effects
from rewardkit.report.document import (
    Bar,
    Block,
    Card,
    Cell,
    Code,
    Document,
    Facts,
    Fold,
    Kind,
    Mark,
    Name,
    Paragraph,
    Part,
    Quote,
    Table,
    Verdict,
    text_of as blocks_as_text,
)
from rewardkit.report.values import counted, middle_cut, quoted
from rewardkit.workers import effects

if TYPE_CHECKING:
    from rewardkit.analyze.calibration import Calibration
    from rewardkit.analyze.readiness import Signal
    from rewardkit.check.reviewer import Review


_NAMED = 4
"""The maximum number of laws to name in a verdict or a list of untried laws. Arbitrary: it keeps the text on one
line."""


@dataclass(frozen=True)
class Report:
    """The results of checking one reward.

    Attributes:
        reward: the repr of the reward.
        results: one result per law, in the order in which the laws ran.
        components: for a list or sum, the reports on the addends, each checked separately, without findings that are
            already in `results`.
        seed: the random seed. The same seed repeats the same check.
        seconds: the duration of the check.
        fingerprint: the reward's fingerprint.
        budget: the time limit for the check, in seconds.
        remarks: facts about the examples for the reader.
        unjudged: what to pass to `check_reward` so that more is judged, or "" if an incorrect completion was observed
            to score below a correct one.
        printed: the output that the reward printed during the check, or None if there was none.
        review: the leads of the reviewer, or None if there was no reviewer.
        effects: the files that the reward wrote during the check, and the network connections that it tried.
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
    unjudged: str = field(default="", compare=False)
    review: Review | None = field(default=None, compare=False)
    effects: Effects = field(default=Effects(), compare=False)

    @property
    def findings(self) -> list[Finding]:
        """All faults found, including those in components."""
        own_findings = [finding for result in self.results for finding in result.findings]
        return [*own_findings, *(finding for part in self.components for finding in part.findings)]

    @property
    def merged(self) -> tuple[LawResult, ...]:
        """One result per law, including the findings of components."""
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
        """Faults in the data (`of_data`), and faults that no model and trainer can reach with the given data."""
        return [aside for result in self.results for aside in result.asides]

    @property
    def leads(self) -> list[Finding]:
        """Evidence that a person must judge, including that of components. Leads are not faults."""
        own_leads = [lead for result in self.results for lead in result.leads]
        return [*own_leads, *(lead for part in self.components for lead in part.leads)]

    @property
    def shares(self) -> tuple[Share, ...]:
        """The share of a correct completion's score that each lazy policy gets, and the share of those refused."""
        return tuple(share for result in self.results for share in result.shares)

    @property
    def ok(self) -> bool | None:
        """True if no fault was found and every law that applies was finished, and False if there are findings.

        None if no fault was found, but some laws were not finished, for example on a busy machine.
        """
        if self.findings:
            return False
        return True if self.complete else None

    @property
    def complete(self) -> bool:
        """Whether every law that applies was checked to the end."""
        is_complete = all(result.outcome != "unfinished" for result in self.results)
        return is_complete and all(part.complete for part in self.components)

    @property
    def needs(self) -> int:
        """The estimated budget, in seconds, to finish the laws that ran out of time, or 0 if none did."""
        return budget_for(self)

    def __getitem__(self, law: str) -> LawResult:
        for result in self.results:
            if result.law == law:
                return result
        raise KeyError(f"this report has no law {law!r}. Laws: {', '.join(result.law for result in self.results)}")

    def raise_if_broken(self) -> None:
        """Raise an AssertionError that explains every finding. Unfinished laws raise nothing."""
        if self.findings:
            raise AssertionError(str(self))

    def shown_as(self, title: str) -> Report:
        """Return the same report with another title."""
        return replace(self, title=title)

    def __str__(self) -> str:

        return text_of([Section(self)])

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "reward": self.reward,
            "title": self.title,
            "fingerprint": self.fingerprint,
            "ok": self.ok,
            "complete": self.complete,
            "unjudged": self.unjudged,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "budget": self.budget,
            "needs": self.needs,
            "remarks": list(self.remarks),
            "shares": [asdict(share) for share in self.shares],
            "printed": None if self.printed is None else self.printed.to_dict(),
            "review": None if self.review is None else self.review.to_dict(),
            "effects": self.effects.to_dict(),
            "laws": [
                {
                    "law": result.law,
                    "outcome": result.outcome,
                    "tries": result.tries,
                    "reason": result.reason,
                    "seconds": round(result.seconds, 3),
                    "findings": [finding.to_dict() for finding in result.findings],
                    "asides": [aside.to_dict() for aside in result.asides],
                    "leads": [lead.to_dict() for lead in result.leads],
                }
                for result in self.results
            ],
            "components": [part.to_dict() for part in self.components],
        }

    def to_json(self, path: str | Path) -> None:
        """Write the report to a JSON file."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="ascii")

    def to_html(self, path: str | Path) -> None:
        """Write the report as a self-contained HTML page without scripts or external resources. All text is escaped."""

        Path(path).write_text(page_of([Section(self)]), encoding="utf-8")


class Unchecked(Protocol):
    """A potential reward that was not checked."""

    @property
    def name(self) -> str: ...

    @property
    def reason(self) -> str: ...


@dataclass(frozen=True)
class Section:
    """The section of a report about one reward.

    Attributes:
        report: the results of the laws.
        data: the file with the examples and the amount of it that was used, or "" if there is none.
        calibration: the reward's agreement with labels.
        signal: the reward's learning signal.
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
        """The components of a sum, each checked separately."""
        return [Section(report) for report in self.report.components]

    @property
    def faulty(self) -> bool:
        """Whether the reward breaks a law, as a whole or in a component."""
        return bool(self.broken) or any(part.broken for part in self.parts)

    @property
    def findings(self) -> int:
        """The number of distinct findings, not counting components."""
        return sum(len(distinct(result.findings)) for result in self.broken)

    @cached_property
    def _repeated(self) -> set[str]:
        return laws_without_findings(self.report.results)

    @property
    def broken(self) -> list[LawResult]:
        """The broken laws, the worst faults first."""
        broken = (
            result for result in self.report.results if result.outcome == "broken" and result.law not in self._repeated
        )
        return sorted(broken, key=lambda result: min(map(severity_of, result.findings), default=3))

    @property
    def held(self) -> list[LawResult]:
        return [result for result in self.report.results if result.outcome == "held"]

    @property
    def unfinished(self) -> list[LawResult]:
        """Laws that may apply, but whose check was cut short or ended because the process crashed again."""
        return [
            result for result in self.report.results if result.outcome == "unfinished" or result.law in self._repeated
        ]

    @property
    def inapplicable(self) -> list[LawResult]:
        """Laws that do not apply to this reward."""
        return [result for result in self.report.results if result.outcome == "skipped"]

    @property
    def _untried(self) -> list[str]:
        """A note on the laws that were skipped because no correct completions were given."""
        laws = [result.law for result in self.report.results if result.reason == NO_GOOD]
        if not laws:
            return []
        names = ", ".join(laws) if len(laws) <= _NAMED else f"{len(laws)} laws"
        return [
            f"Not tried, because no correct completions are known: {names}. Pass good=[...] with one completion "
            "for each example, write GOOD = [...] next to the reward, or put them into a file for --examples."
        ]

    @property
    def _covered(self) -> list[str]:
        """A note that a component accepts incorrect completions that the sum rejects."""
        laws = [result.law for result in self.report.results if result.reason == COVERED]
        if not laws:
            return []
        return [f"It also scores some incorrect completions high. The sum of the rewards does not ({', '.join(laws)})."]

    @property
    def _cut(self) -> list[str]:
        """A note on the budget that would suffice."""
        needed = budget_for(self.report)
        if not needed:
            return []
        return [f"It needs about {needed} s to finish: budget={needed}, or --budget {needed} on the command line."]

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks, the faults in the data, and one line about faults that no run on the given data can reach."""
        everything = [aside for result in self.report.results for aside in result.asides]
        asides = [aside for aside in everything if not aside.of_data]
        of_data = [f"About the data ({aside.law}): {aside.why}" for aside in everything if aside.of_data]
        remarks = (*self.remarks, *self.report.remarks, *of_data, *self._untried, *self._covered, *self._cut)
        if not asides:
            return remarks
        laws = ", ".join(dict.fromkeys(aside.law for aside in asides))
        names = "; ".join(dict.fromkeys(aside.unreachable for aside in asides))
        return (*remarks, f"Not counted, because no run on this data has it ({laws}): {names}.")

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
            elif self._untried:
                word = "no fault found, but no correct completions were given"
            elif self.report.unjudged:
                word = f"no fault found, but little was judged ({self.report.unjudged})"
            else:
                word = "sound"
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


def cut_short(results: Iterable[LawResult]) -> list[LawResult]:
    """Return the laws that ran out of time."""
    return [result for result in results if result.outcome == "unfinished" and (result.count or result.reason == OVER)]


def budget_for(report: Report) -> int:
    """Estimate the budget, in seconds, to finish the laws that ran out of time, or 0 if none did or it is unknown."""
    everything = [report, *report.components]
    results = [result for entry in everything for result in entry.results]
    durations = [result.seconds for result in results if result.outcome in ("held", "broken")]
    late = cut_short(results)
    if not late or not report.budget:
        return 0
    # The first laws take less time than the later ones, which take 0.3 s on average for a reward of usual speed.
    usual = max(0.5, sum(durations) / max(1, len(durations)))
    more = sum(entry.seconds * (entry.count / max(1, entry.reached) - 1) if entry.count else usual for entry in late)
    # Half more than measured, rounded up to tens of seconds, so that the budget suffices even on a busier machine.
    return math.ceil(max(report.budget + more * 1.5, report.budget * 1.5) / 10) * 10


def distinct(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings without repetitions of the same law, component, completion, and columns."""
    by_key: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        by_key.setdefault(_key(finding), finding)
    return list(by_key.values())


def cause_of(finding: Finding) -> str:
    """Return a key for the cause of a finding, equal for the same fault in several components or places."""
    raised = finding.trace.strip().splitlines()[-1] if finding.trace.strip() else ""
    # Drop the scores (": scores ...") and further cases (", as does ..."), which differ from finding to finding.
    why = re.split(r": scores|, as d", finding.why)[0]
    # Numbers also differ from finding to finding.
    return repr((finding.law, finding.family, raised, re.sub(r"-?\d[\d.,]*(?:e[-+]?\d+)?", "#", why)))


def by_cause(section: Section) -> list[tuple[str, list[tuple[str, Finding]]]]:
    """Return the findings by law, each with the name of the component ("" for the whole reward).

    Laws whose findings all belong to other laws are omitted.
    """
    by_law: dict[str, list[tuple[str, Finding]]] = {}
    for title, owner in [("", section), *((part.title, part) for part in section.parts)]:
        for result in owner.broken:
            if result.findings:
                by_law.setdefault(result.law, []).extend((title, finding) for finding in distinct(result.findings))
    return sorted(by_law.items(), key=lambda item: min(severity_of(finding) for _, finding in item[1]))


def one_per_cause(
    by_law: Sequence[tuple[str, Sequence[Finding]]],
) -> tuple[list[tuple[str, list[Finding]]], dict[tuple[str, ...], list[Finding]]]:
    """Return the findings by law without those of a cause that another law shows, and these by the key of the first.

    Incorrect completions that score like correct ones have the same cause if they are the same completion, or if the
    reward decides at the same line, for the same component and example.
    """
    causes: dict[tuple[str, ...], tuple[str, Finding]] = {}
    cards: list[tuple[str, list[Finding]]] = []
    same_cause: dict[tuple[str, ...], list[Finding]] = {}
    for law, findings in by_law:
        cards.append((law, []))
        for finding in findings:
            keys = _causes(finding)
            first_law, first = next((causes[key] for key in keys if key in causes), (law, finding))
            if first_law != law:
                same_cause.setdefault(_key(first), []).append(finding)
            else:
                cards[-1][1].append(finding)
            for key in keys:
                causes.setdefault(key, (first_law, first))
    return [(law, findings) for law, findings in cards if findings], same_cause


def _causes(finding: Finding) -> list[tuple[str, ...]]:
    if severity_of(finding) != 0:
        return []
    _, component, completion, columns = _key(finding)
    return [(component, columns, completion), *([(component, columns, "", finding.line)] if finding.line else [])]


def _key(finding: Finding) -> tuple[str, ...]:
    """Return a key that is equal for findings of the same law, component, completion, and columns, in this order."""
    return finding.law, finding.component, repr(finding.completion), repr(sorted(finding.columns.items(), key=repr))


def laws_without_findings(results: Sequence[LawResult]) -> set[str]:
    """Return the laws that only repeat findings of other laws.

    A completion that crashes the process does so in every law. The finding names the law that the completion breaks,
    and is shown under that law, or otherwise under the first law in which it occurs.
    """
    own_laws = {result.law for result in results if any(finding.law == result.law for finding in result.findings)}
    earlier_keys: set[tuple[str, ...]] = set()
    repeated_laws = set()
    for result in results:
        keys = {_key(finding) for finding in result.findings}
        foreign = {finding.law for finding in result.findings}
        if foreign and result.law not in own_laws and (foreign <= own_laws or keys <= earlier_keys):
            repeated_laws.add(result.law)
        earlier_keys |= keys
    return repeated_laws


def kind_of(finding: Finding, law: str) -> str:
    """Return the kind of a fault (the exploit family or another law), or "" if it is just `law`."""
    kind = finding.family or finding.law
    return "" if kind == law else kind


def families_of(findings: Sequence[Finding]) -> list[str]:
    """Return the distinct exploit families of the findings."""
    return list(
        dict.fromkeys(finding.family for finding in findings if finding.family and finding.family != finding.law)
    )


def dictionary_of(sections: Sequence[Section], left_out: Sequence[Unchecked] = ()) -> dict[str, Any]:
    """Return the sections as plain JSON values: ``{"ok": ..., "rewards": [...], "left_out": [...]}``.

    ``"ok"`` is False if any reward has findings, otherwise None if any check is unfinished, otherwise True.
    """
    results = [section.report.ok for section in sections]
    return {
        "ok": False if False in results else None if None in results else True,
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
    """Return the sections as strict JSON.

    The text is ASCII, because completions may contain lone surrogates, which UTF-8 cannot encode.
    """
    return json.dumps(_strict(dictionary_of(sections, left_out)), indent=2, allow_nan=False) + "\n"


def _strict(value: Any) -> Any:
    """Convert NaN and infinities to text, because JSON has no such numbers."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, Mapping):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    return value


# The document of a check: broken and held laws, every finding with its completion, and a verdict.


_LINE = 300
"""The maximum number of characters of a completion, note, or error to show on a terminal. Longer texts are cut in
the middle. Arbitrary."""
_LONGEST = 4_000
"""The maximum number of characters of a completion, note, or error to show on the page. Longer texts are cut in the
middle. Arbitrary."""
_CELL = 80
"""The maximum number of characters in a cell of the example. Arbitrary: it keeps a cell on one line."""
_WHY = 80
"""The maximum number of characters in the reason for a further finding. Arbitrary: it keeps the reason on one line."""
_SHORT = 300
"""The maximum length of the line to reproduce a finding on a terminal, in characters. Arbitrary. Longer lines are
never cut, but appear only in the other reports."""
_LEADS = 5
"""The maximum number of leads to show. Arbitrary: a person reads only a handful."""
_SKIPPED = (
    (NO_GOOD, "without correct completions"),
    (r"declar|rankings", "not declared"),
    (r"\btools?\b|environment|trajector|\bcalls\b", "about agents"),
    (r"judge that|no judge", "about judges"),
    (r"chat|prompts", "about chats"),
    (r"correct completion|no completion|gold answer|no answers", "about other kinds of answers"),
    (r"\bcode\b|docstring|function|annotated|schedule|gate\b", "about other code"),
)
"""Patterns of the reasons that laws do not apply, with words for all of them. The first that matches counts."""
_MARKS: dict[Kind, str] = {"broken": "broken", "unfinished": "not done", "held": "held", "skipped": "n/a"}


def text_of(sections: Sequence[Section], left_out: Sequence[Unchecked] = ()) -> str:
    """Return the sections as text, one after another. For several candidates, a table of all verdicts follows."""
    blocks: list[Block] = [Part(section.title, list(_in_short(section))) for section in sections]
    verdicts = [[section.title, section.verdict] for section in sections]
    verdicts += [[candidate.name, f"not checked: {candidate.reason}"] for candidate in left_out]
    if len(verdicts) > 1:
        blocks.append(Table(verdicts, left=2))
    return blocks_as_text(blocks)


def page_of(sections: Sequence[Section], left_out: Sequence[Unchecked] = ()) -> str:
    """Return an HTML page with a section for each reward."""
    broken = sum(section.faulty for section in sections)
    summary = f"{len(sections)} rewards checked, {broken or 'none'} with findings."
    if len(sections) == 1:
        summary = "One reward, checked against the laws and the known exploits."
    blocks: list[Block] = [Paragraph(summary, "soft")]
    rows: list[list[Cell]] = [
        [Name(section.title, f"reward-{number}"), Mark(section.verdict, _kind(section))]
        for number, section in enumerate(sections)
    ]
    rows += [[candidate.name, f"not checked: {candidate.reason}"] for candidate in left_out]
    if len(rows) > 1:
        blocks.append(Table(rows, left=2))
    for number, section in enumerate(sections):
        blocks.append(Part(section.title, list(_in_full(section, f"reward-{number}")), f"reward-{number}"))
    return Document("Reward check", blocks).html()


def law_as_text(result: LawResult, reward: str) -> str:
    """Return all findings of one broken law as text for a failing test."""
    findings = distinct(result.findings)
    count = "" if len(findings) == 1 else f" in {len(findings)} ways"
    cards = _findings_in_short(_Shown(), result.law, findings, {})
    return blocks_as_text([Part(f"{reward} breaks {result.law}{count}", list(cards))])


def _kind(section: Section) -> Kind:
    return "broken" if section.faulty else "unfinished" if section.unfinished or section.report.unjudged else "held"


def _summary(result: LawResult) -> str:
    """Return the number of a broken law's findings and their families, or the reason if there are none."""
    findings = distinct(result.findings)
    if not findings:
        return result.reason
    families = ", ".join(families_of(findings))
    return counted(len(findings), "finding") + (f": {families}" if families else "")


def _reason(result: LawResult) -> str:
    """Return the reason that a law is unfinished."""
    return "the process crashed again" if result.findings else result.reason


# On a terminal.


@dataclass
class _Shown:
    """The state for showing a section, so that the same example is not shown twice in a row.

    Attributes:
        same_cause: the findings of other laws with the same cause, by the key of the finding that is shown.
    """

    same_cause: Mapping[tuple[str, ...], Sequence[Finding]] = field(default_factory=dict)
    columns: Mapping[str, Any] | None = None
    cut: bool = False


def _in_short(section: Section) -> Iterator[Block]:
    if section.title != section.report.reward:
        yield Paragraph(section.report.reward)
    if section.data:
        yield Paragraph(section.data)
    if laws := list(_laws_in_short(section)):
        yield Facts(laws, width=8)
    if section.parts:
        yield Part("Each component alone", [Table([[part.title, part.verdict] for part in section.parts], left=2)])
    concerned: dict[str, list[str]] = {}
    by_law: list[tuple[str, list[Finding]]] = []
    for law, titled in by_cause(section):
        for title, finding in titled:
            titles = concerned.setdefault(cause_of(finding), [])
            titles += [title] if title not in titles else []
        by_law.append((law, [finding for title, finding in titled if concerned[cause_of(finding)][0] == title]))
    cards, same_cause = one_per_cause(by_law)
    state = _Shown(same_cause)
    for law, findings in cards:
        yield Part(law, list(_findings_in_short(state, law, findings, concerned)))
    yield from _leads(section, _LINE)
    if (review := section.report.review) is not None:
        leads = _findings_in_short(state, "reviewer", review.leads, {})
        yield Part("Leads of the reviewer", [Paragraph(str(review)), *leads])
    yield from _shares(section)
    if section.calibration is not None:
        yield Part("Agreement with the labels", section.calibration.document.blocks)
    if section.signal is not None:
        yield Part("Learning signal", section.signal.document.blocks)
    if state.cut:
        yield Paragraph("The code that reproduces longer findings: finding.reproduce, --json, --html.")
    yield from map(Paragraph, section.notes)
    yield Verdict(section.verdict, _kind(section))


def _laws_in_short(section: Section) -> Iterator[tuple[str, str]]:
    width = max((len(result.law) for result in section.broken), default=0)
    for result in section.broken:
        yield "BROKEN", f"{result.law:<{width}}  {_summary(result)}".rstrip()
    if section.held:
        yield "held", ", ".join(result.law for result in section.held)
    reasons: dict[str, list[str]] = {}
    for result in section.unfinished:
        reasons.setdefault(_reason(result), []).append(result.law)
    yield from (("not done", f"{', '.join(laws)}: {reason}") for reason, laws in reasons.items())
    if section.inapplicable:
        names = [result.law for result in section.inapplicable]
        yield "n/a", ", ".join(names) if len(names) <= _NAMED else _reasons_in_short(section.inapplicable)
    if (printed := section.report.printed) is not None:
        yield "printed", f"{printed} while it was checked. The output begins:"
        yield from (("", f"| {middle_cut(line, _LINE)}") for line in printed.sample)
    yield from section.report.effects.rows()


def _reasons_in_short(results: Sequence[LawResult]) -> str:
    """Return why laws do not apply, in a few words: ``45 laws: 15 about agents, 4 about chats, 26 others``."""
    counts = Counter(
        next((words for pattern, words in _SKIPPED if re.search(pattern, result.reason)), "others")
        for result in results
    )
    groups = [f"{count} {words}" for words, count in counts.most_common() if words != "others"]
    groups += [f"{counts['others']} others"] if counts["others"] else []
    return f"{len(results)} laws: {', '.join(groups)}"


def _findings_in_short(
    state: _Shown, law: str, findings: Sequence[Finding], concerned: Mapping[str, Sequence[str]]
) -> Iterator[Block]:
    """Yield one card per kind of fault, with the first finding in full, and the others in one line each."""
    reasons = dict.fromkeys(finding.matters for finding in findings if finding.matters)
    if len(reasons) == 1:
        yield from map(Paragraph, reasons)
    silent = {finding.component for finding in findings if finding.family == "empty"}
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(_similarity(finding, silent), []).append(finding)
    for number, (first, *repeated_findings) in enumerate(kinds.values(), start=1):
        rows = _rows(first, _LINE, matters=len(reasons) > 1, previous_columns=state.columns)
        state.columns = first.columns
        if names := [name for name in concerned.get(cause_of(first), ()) if name]:
            rows.append(("concerns", ", ".join(names)))
        if len(first.reproduce) <= _SHORT:
            rows.append(("reproduce", Quote(first.reproduce, line=first.reproduce)))
        else:
            state.cut = True
        rows += [("also", _further(first, finding, concerned)) for finding in repeated_findings]
        same_cause = [
            other for finding in (first, *repeated_findings) for other in state.same_cause.get(_key(finding), ())
        ]
        rows += [("also", f"{other.law}: {_further(first, other, concerned)}") for other in same_cause]
        if first.advice:
            rows.append(("next", first.advice))
        yield Card(f"{number}. {_title(first, law, same_cause)}", [Facts(rows)])


_NO_ANSWER = frozenset(("empty", "placeholder", "language", "length", "padding", "unicode", "injection"))
"""Families of completions without an answer. If silence scores high, all of these do for the same reason."""


def _similarity(finding: Finding, silent: Set[str] = frozenset()) -> str:
    """Return a key that is equal for findings of the same kind. Only the first of these is shown in full.

    Args:
        silent: the components for which silence scores high.
    """
    if finding.family in _NO_ANSWER and finding.component in silent:
        return repr((finding.law, finding.component))
    if finding.line and finding.law == "exploits":
        return repr((finding.law, finding.line))
    return repr((finding.law, finding.family, finding.matters, _raised(finding), finding.advice))


def _further(first: Finding, finding: Finding, concerned: Mapping[str, Sequence[str]]) -> str:
    """Return a short line for another finding of the same kind as `first`."""
    names = [name for name in concerned.get(cause_of(finding), ()) if name]
    where = f" ({', '.join(names)})" if names and names != list(concerned.get(cause_of(first), ())) else ""
    return f"{middle_cut(finding.why.split(', as does')[0], _WHY)}: {quoted(finding.completion, 60)}{where}"


# On the page.


def _in_full(section: Section, anchor: str) -> Iterator[Block]:
    report = section.report
    if report.reward != section.title:
        yield Paragraph(report.reward, "soft")
    yield Verdict(section.verdict, _kind(section))
    yield from (Paragraph(line, "note") for line in (section.data, *section.notes) if line)
    yield from _laws_in_full(section, anchor)
    if report.printed is not None:
        yield Paragraph(f"The reward printed {report.printed} while it was checked. The output begins:", "soft")
        yield Code("\n".join(report.printed.sample))
    if rows := list(report.effects.rows()):
        yield Facts(rows)
    yield from _findings_in_full(section, anchor)
    if report.review is not None:
        cards = [_card(lead, "reviewer", (), matters=False) for lead in report.review.leads]
        yield Part("Leads of the reviewer", [Paragraph(str(report.review)), *cards])
    for number, part in enumerate(section.parts):
        part_anchor = f"{anchor}-{number}"
        laws = [*_laws_in_full(part, part_anchor), *_findings_in_full(part, part_anchor)]
        yield Part(f"{part.title} alone", [Verdict(part.verdict, _kind(part)), *laws])
    yield from _leads(section, _LONGEST)
    yield from _shares(section)
    if section.calibration is not None:
        yield Part("Agreement with the labels", list(_calibration(section)))
    if section.signal is not None:
        yield Part("Learning signal", section.signal.document.blocks)
    yield Paragraph(f"Fingerprint of the reward: {report.fingerprint}", "note")


def _laws_in_full(section: Section, anchor: str) -> Iterator[Block]:
    cards, _ = one_per_cause([(result.law, distinct(result.findings)) for result in section.broken])
    anchored = {law for law, _ in cards}
    rows = [
        _law(result, "broken", _summary(result), f"{anchor}-{result.law}" if result.law in anchored else "")
        for result in section.broken
    ]
    rows += [_law(result, "unfinished", _reason(result)) for result in section.unfinished]
    if rows:
        yield _law_table(rows)
    if section.held:
        rows = [_law(result, "held", result.why) for result in section.held]
        # Broken laws matter more, so this list is open only if there are none.
        yield Fold(f"{len(section.held)} laws held", [_law_table(rows)], opened=not section.broken)
    if section.inapplicable:
        rows = [_law(result, "skipped", result.reason) for result in section.inapplicable]
        yield Fold(f"{len(section.inapplicable)} laws do not apply", [_law_table(rows)])


def _law_table(rows: Sequence[Sequence[Cell]]) -> Table:
    return Table(rows, ["Law", "", "", "Completions", "Seconds"], left=3)


def _law(result: LawResult, kind: Kind, text: str, anchor: str = "") -> list[Cell]:
    name = Name(result.law, anchor) if anchor and result.findings else result.law
    return [name, Mark(_MARKS[kind], kind), text, f"{result.tries:,}" if result.tries else "", f"{result.seconds:.1f}"]


def _findings_in_full(section: Section, anchor: str) -> Iterator[Block]:
    by_law = [(result.law, distinct(result.findings)) for result in section.broken]
    cards, same_cause = one_per_cause(by_law)
    for law, findings in cards:
        reasons = dict.fromkeys(finding.matters for finding in findings if finding.matters)
        blocks: list[Block] = list(map(Paragraph, reasons)) if len(reasons) == 1 else []
        for finding in findings:
            blocks.append(_card(finding, law, same_cause.get(_key(finding), ()), matters=len(reasons) > 1))
        yield Part(law, blocks, f"{anchor}-{law}")


def _card(finding: Finding, law: str, same_cause: Sequence[Finding], *, matters: bool) -> Card:
    rows = _rows(finding, _LONGEST, matters=matters)
    rows += [("also", f"{other.law}: {other.why}: {quoted(other.completion, _LINE)}") for other in same_cause]
    if finding.advice:
        rows.append(("next", finding.advice))
    blocks: list[Block] = [Facts(rows)]
    if finding.trace:
        blocks.append(Fold("traceback", [Code(middle_cut(finding.trace.strip(), _LONGEST))]))
    return Card(_title(finding, law, same_cause), [*blocks, Fold("reproduce", [Code(finding.reproduce)])])


def _calibration(section: Section) -> Iterator[Block]:
    assert section.calibration is not None
    yield Paragraph(
        "The better of two completions of one prompt should score higher. A tied pair gives no learning signal, "
        "and a wrong pair teaches the opposite.",
        "soft",
    )
    rows: list[list[Cell]] = []
    for component in (*section.calibration.components, section.calibration.total):
        pairs = component.within if component.within.count else component.overall
        counts = {"right": pairs.right, "tied": pairs.tied, "wrong": pairs.wrong}
        auc = "" if component.auc is None else f"{component.auc:.3f}"
        rows.append([component.name, Bar(list(counts.items())), auc, *(f"{count:,}" for count in counts.values())])
    yield Table(rows, ["Component", "Pairs", "AUC", "right", "tied", "wrong"], left=2)
    yield Fold("thresholds, reliability, and misjudged completions", section.calibration.document.blocks)


def _leads(section: Section, limit: int) -> Iterator[Block]:
    """Yield the leads, which a person must judge, for both the terminal and the page."""
    keys = {_key(finding)[1:] for finding in section.report.findings}
    leads = [lead for lead in distinct(section.report.leads) if _key(lead)[1:] not in keys]
    if not leads:
        return
    blocks: list[Block] = [Paragraph("Not counted as findings. Look at them: each may be a fault or intended.", "soft")]
    for number, lead in enumerate(leads[:_LEADS], start=1):
        rows: list[tuple[str, str | Quote]] = [
            ("completion", Quote(lead.completion, limit, _expression(lead))),
            *_correct(lead, limit),
            *lead.scores,
        ]
        blocks.append(Card(f"{number}. {lead.law}: {lead.why}", [Facts(rows)]))
    if len(leads) > _LEADS:
        blocks.append(Paragraph(f"{len(leads) - _LEADS} more are in report.leads and --json."))
    yield Part("Leads", blocks)


def _shares(section: Section) -> Iterator[Block]:
    """Yield a table of what lazy policies get. Policies that get nothing are only in the row of the best one."""
    lazy = sorted((share for share in section.report.shares if share.name != REFUSED), key=lambda share: -share.value)
    if not lazy:
        return
    rows = [[f"at most, for {lazy[0].name}", *_cells(lazy[0], "example")]]
    rows += [[share.name, *_cells(share, "example")] for share in lazy[1:] if share.value > 0]
    rows += [[share.name, *_cells(share, "completion")] for share in section.report.shares if share.name == REFUSED]
    yield Part("What lazy policies get of a correct completion's score", [Table(rows, left=1)])


def _cells(share: Share, unit: str) -> list[str]:
    return [f"{share.value:.0%}", f"95% interval {share.low:.0%} to {share.high:.0%}", counted(share.count, unit)]


# Parts of a finding, for both the terminal and the page.


def _correct(finding: Finding, limit: int) -> Iterator[tuple[str, str | Quote]]:
    """Yield the correct completion beside the wrong one, with its score."""
    if finding.correct is not None:
        yield "correct", Quote(finding.correct, limit)
        if finding.correct_score is not None:
            yield "its score", f"{finding.correct_score:.6g}"


def _title(finding: Finding, law: str, same_cause: Sequence[Finding]) -> str:
    kind = kind_of(finding, law)
    title = f"{kind}: {finding.why}" if kind else finding.why
    return f"incorrect completions score like correct ones. {title[:1].upper()}{title[1:]}" if same_cause else title


def _rows(
    finding: Finding, limit: int, *, matters: bool, previous_columns: Mapping[str, Any] | None = None
) -> list[tuple[str, str | Quote]]:
    """Return the (label, value) rows that describe a finding.

    Args:
        limit: the maximum number of characters of a text to show.
        matters: whether to include the reason that the finding matters.
        previous_columns: the columns of the previous finding.
    """
    rows: list[tuple[str, str | Quote]] = [("completion", Quote(finding.completion, limit, _expression(finding)))]
    rows += _correct(finding, limit)
    if finding.columns != previous_columns:
        rows += [(str(name), Quote(value, _CELL, _chat(str(name), value))) for name, value in finding.columns.items()]
    elif finding.columns:
        rows.append(("example", "as above"))
    *scores, (name, score) = finding.scores
    rows += [*scores, (name, f"{score}   {middle_cut(finding.note, limit)}" if finding.note else score)]
    if matters and finding.matters:
        rows.append(("matters", finding.matters))
    if raised := _raised(finding):
        rows.append(("raised", middle_cut(raised, limit)))
    frames = [line.strip() for line in finding.trace.splitlines() if line.strip().startswith('File "')]
    frames = [frame for frame in frames if effects.__file__ not in frame]  # the audit hook that refused a connection
    rows += [("at", frame.removeprefix("File ")) for frame in frames[-1:]]
    if finding.line:
        rows.append(("line", middle_cut(finding.line, limit)))
    if finding.source:
        rows.append(("seen in", finding.source))
    return rows


def _raised(finding: Finding) -> str:
    """Return the last line of a finding's traceback, or "" if there is none."""
    return finding.trace.strip().splitlines()[-1] if finding.trace.strip() else ""


def _expression(finding: Finding) -> str | None:
    """Return a short expression for a long completion that repeats a piece many times, or None for others."""
    long = isinstance(finding.completion, str) and len(finding.completion) > _LINE
    text = expression_of(finding.completion) if long else ""
    return text if 0 < len(text) <= _LINE else None


def _chat(name: str, value: Any) -> str | None:
    """Return the role and text of each message in a chat prompt, on one line, or None for other cells."""
    if (
        name != "prompt"
        or not isinstance(value, (list, tuple))
        or not all(isinstance(entry, Mapping) for entry in value)
    ):
        return None
    # Divide the cell among the messages. 15 characters are for the role; a text of fewer than 30 says nothing.
    share = max(30, _CELL // max(1, len(value)) - 15)
    messages = (f"{message.get('role', 'message')}: {quoted(message.get('content'), share)}" for message in value)
    return visible(middle_cut("; ".join(messages), _CELL + 30))
