"""The document of a check: broken and held laws, each finding with its completion, and a verdict.

On a terminal a sound reward takes a few lines, and each cause is shown once, with the components that it concerns. The
page has every finding in full.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.batch.table_text import visible
from rewardkit.check.findings import Finding, LawResult, expression_of
from rewardkit.check.reports.report import Section, Unchecked, by_cause, cause_of, distinct, families_of, kind_of
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

_LINE = 300
"""Characters of a completion, a note or an error on a terminal; longer ones lose their middle."""
_LONGEST = 4_000
"""The same on the page."""
_CELL = 80
"""Characters of a cell on a terminal. Any limits of a line."""
_WHY = 80
"""Characters of the reason of a further finding. Any limit of a line."""
_SHORT = 300
"""Characters of a line that reproduces a finding; longer ones are left to the other reports, never cut."""
_MARKS: dict[Kind, str] = {"broken": "broken", "unfinished": "not done", "held": "held", "skipped": "n/a"}


def text_of(sections: Sequence[Section], left_out: Sequence[Unchecked] = ()) -> str:
    """Show rewards one after the other; if there are several candidates, all verdicts are repeated at the end."""
    blocks: list[Block] = [Part(section.title, list(_in_short(section))) for section in sections]
    verdicts = [[section.title, section.verdict] for section in sections]
    verdicts += [[candidate.name, f"not checked: {candidate.reason}"] for candidate in left_out]
    if len(verdicts) > 1:
        blocks.append(Table(verdicts, left=2))
    return blocks_as_text(blocks)


def page_of(sections: Sequence[Section], left_out: Sequence[Unchecked] = ()) -> str:
    """Return a whole page with a section for each reward."""
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
    """Show all findings of one broken law, for a failing test."""
    findings = distinct(result.findings)
    count = "" if len(findings) == 1 else f" in {len(findings)} ways"
    cards = _findings_in_short(_Shown(), result.law, findings, {})
    return blocks_as_text([Part(f"{reward} breaks {result.law}{count}", list(cards))])


def _kind(section: Section) -> Kind:
    return "broken" if section.faulty else "unfinished" if section.unfinished else "held"


def _summary(result: LawResult) -> str:
    """Return the number of findings of a broken law, or the reason why it has none."""
    findings = distinct(result.findings)
    if not findings:
        return result.reason
    families = ", ".join(families_of(findings))
    return counted(len(findings), "finding") + (f": {families}" if families else "")


def _reason(result: LawResult) -> str:
    """Return the reason why a law is unfinished."""
    return "the process died again" if result.findings else result.reason


# On a terminal.


@dataclass
class _Shown:
    """The data that a section has shown already, so that it is not repeated."""

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
        yield Part("Each component by itself", [Table([[part.title, part.verdict] for part in section.parts], left=2)])
    state = _Shown()
    for law, titled in by_cause(section):
        concerned: dict[str, list[str]] = {}
        for title, finding in titled:
            titles = concerned.setdefault(cause_of(finding), [])
            titles += [title] if title not in titles else []
        findings = [finding for title, finding in titled if concerned[cause_of(finding)][0] == title]
        yield Part(law, list(_findings_in_short(state, law, findings, concerned)))
    if section.calibration is not None:
        yield Part("Agreement with the labels", section.calibration.document.blocks)
    if section.signal is not None:
        yield Part("Learning signal", section.signal.document.blocks)
    if state.cut:
        yield Paragraph("The lines that reproduce longer findings: finding.reproduce, --json, --html.")
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
        yield "n/a", ", ".join(result.law for result in section.inapplicable)
    if (printed := section.report.printed) is not None:
        yield "printed", f"{printed} while it was checked. The output begins:"
        yield from (("", f"| {middle_cut(line, _LINE)}") for line in printed.sample)


def _findings_in_short(
    state: _Shown, law: str, findings: Sequence[Finding], concerned: Mapping[str, Sequence[str]]
) -> Iterator[Block]:
    """Show each kind of fault once in full, and others of that kind in one line each."""
    reasons = dict.fromkeys(finding.matters for finding in findings if finding.matters)
    if len(reasons) == 1:
        yield from map(Paragraph, reasons)
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(_similarity(finding), []).append(finding)
    for number, (first, *repeats) in enumerate(kinds.values(), start=1):
        rows = _rows(first, _LINE, matters=len(reasons) > 1, previous_columns=state.columns)
        state.columns = first.columns
        if names := [name for name in concerned.get(cause_of(first), ()) if name]:
            rows.append(("concerns", ", ".join(names)))
        if len(first.reproduce) <= _SHORT:
            rows.append(("reproduce", Quote(first.reproduce, line=first.reproduce)))
        else:
            state.cut = True
        rows += [("also", _further(first, finding, concerned)) for finding in repeats]
        if first.advice:
            rows.append(("next", first.advice))
        yield Card(f"{number}. {_title(first, law)}", [Facts(rows)])


def _similarity(finding: Finding) -> str:
    """Return the common part of findings if only the first of them is shown in full."""
    if finding.line and finding.law == "exploits":
        return repr((finding.law, finding.line))
    return repr((finding.law, finding.family, finding.matters, _raised(finding), finding.advice))


def _further(first: Finding, finding: Finding, concerned: Mapping[str, Sequence[str]]) -> str:
    """Show another finding of a kind in a few words."""
    names = [name for name in concerned.get(cause_of(finding), ()) if name]
    where = f" ({', '.join(names)})" if names and names != list(concerned.get(cause_of(first), ())) else ""
    return f"{middle_cut(finding.why.split('; so does')[0], _WHY)}: {quoted(finding.completion, 60)}{where}"


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
    yield from _findings_in_full(section, anchor)
    for number, part in enumerate(section.parts):
        part_anchor = f"{anchor}-{number}"
        laws = [*_laws_in_full(part, part_anchor), *_findings_in_full(part, part_anchor)]
        yield Part(f"{part.title} by itself", [Verdict(part.verdict, _kind(part)), *laws])
    if section.calibration is not None:
        yield Part("Agreement with the labels", list(_calibration(section)))
    if section.signal is not None:
        yield Part("Learning signal", section.signal.document.blocks)
    yield Paragraph(f"Fingerprint of the reward: {report.fingerprint}", "note")


def _laws_in_full(section: Section, anchor: str) -> Iterator[Block]:
    rows = [_law(result, "broken", _summary(result), f"{anchor}-{result.law}") for result in section.broken]
    rows += [_law(result, "unfinished", _reason(result)) for result in section.unfinished]
    if rows:
        yield _law_table(rows)
    if section.held:
        rows = [_law(result, "held", result.why) for result in section.held]
        # Broken laws come first, so this list is open only if there are none.
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
    for result in section.broken:
        if result.findings:
            reasons = dict.fromkeys(finding.matters for finding in result.findings if finding.matters)
            blocks: list[Block] = list(map(Paragraph, reasons)) if len(reasons) == 1 else []
            for finding in distinct(result.findings):
                blocks.append(_card(finding, result.law, matters=len(reasons) > 1))
            yield Part(result.law, blocks, f"{anchor}-{result.law}")


def _card(finding: Finding, law: str, *, matters: bool) -> Card:
    rows = _rows(finding, _LONGEST, matters=matters)
    if finding.advice:
        rows.append(("next", finding.advice))
    blocks: list[Block] = [Facts(rows)]
    if finding.trace:
        blocks.append(Fold("traceback", [Code(middle_cut(finding.trace.strip(), _LONGEST))]))
    return Card(_title(finding, law), [*blocks, Fold("reproduce", [Code(finding.reproduce)])])


def _calibration(section: Section) -> Iterator[Block]:
    assert section.calibration is not None
    yield Paragraph(
        "Of two completions of one prompt, the better one should score higher. A tied pair teaches nothing, and a "
        "wrong pair teaches the opposite.",
        "soft",
    )
    rows: list[list[Cell]] = []
    for component in (*section.calibration.components, section.calibration.total):
        pairs = component.within if component.within.count else component.overall
        counts = {"right": pairs.right, "tied": pairs.tied, "wrong": pairs.wrong}
        auc = "" if component.auc is None else f"{component.auc:.3f}"
        rows.append([component.name, Bar(list(counts.items())), auc, *(f"{count:,}" for count in counts.values())])
    yield Table(rows, ["Component", "Pairs", "AUC", "right", "tied", "wrong"], left=2)
    yield Fold("thresholds, reliability and misjudged completions", section.calibration.document.blocks)


# A finding, on both.


def _title(finding: Finding, law: str) -> str:
    kind = kind_of(finding, law)
    return f"{kind}: {finding.why}" if kind else finding.why


def _rows(
    finding: Finding, limit: int, *, matters: bool, previous_columns: Mapping[str, Any] | None = None
) -> list[tuple[str, str | Quote]]:
    """Return the facts of a finding.

    Args:
        limit: the most characters of a text.
        matters: whether to say why it matters.
        previous_columns: the columns of the finding before.
    """
    rows: list[tuple[str, str | Quote]] = [("completion", Quote(finding.completion, limit, _expression(finding)))]
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
    rows += [("at", frame.removeprefix("File ")) for frame in frames[-1:]]
    if finding.line:
        rows.append(("line", middle_cut(finding.line, limit)))
    if finding.source:
        rows.append(("seen in", finding.source))
    return rows


def _raised(finding: Finding) -> str:
    """Return the last line of the traceback."""
    return finding.trace.strip().splitlines()[-1] if finding.trace.strip() else ""


def _expression(finding: Finding) -> str | None:
    """Return the expression of a long completion that repeats a piece many times."""
    long = isinstance(finding.completion, str) and len(finding.completion) > _LINE
    text = expression_of(finding.completion) if long else ""
    return text if 0 < len(text) <= _LINE else None


def _chat(name: str, value: Any) -> str | None:
    """Return the role and the text of each message of a chat prompt on one line; None for another cell."""
    if (
        name != "prompt"
        or not isinstance(value, (list, tuple))
        or not all(isinstance(entry, Mapping) for entry in value)
    ):
        return None
    # The cell is shared among the messages; 15 characters are for the role, and below 30 a text says nothing.
    share = max(30, _CELL // max(1, len(value)) - 15)
    messages = (f"{message.get('role', 'message')}: {quoted(message.get('content'), share)}" for message in value)
    return visible(middle_cut("; ".join(messages), _CELL + 30))
