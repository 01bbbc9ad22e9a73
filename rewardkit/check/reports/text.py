"""The text of a report: broken and held laws, each finding with its completion, and a verdict.

A sound reward takes a few lines. Each cause is shown once, with the components that it concerns; the JSON and HTML
reports have every finding in full.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.batch.table_text import visible
from rewardkit.check.findings import Finding, LawResult, expression_of
from rewardkit.check.reports.sections import (
    Section,
    Unchecked,
    by_cause,
    cause_of,
    distinct,
    families_of,
    kind_of,
    middle_cut,
    shown,
)
from rewardkit.check.run.output import Printed

_WIDTH = 112
_LONGEST = 300
"""Characters of a completion; longer ones lose their middle."""
_CELL = 80
"""Characters of a cell."""
_SHORT = 300
"""Characters of a line that reproduces a finding; longer ones are left to the other reports, never cut."""


def text_of(sections: Sequence[Section], left_out: Sequence[Unchecked] = ()) -> str:
    """Show rewards one after the other; if there are several candidates, all verdicts are repeated at the end."""
    texts = ["\n".join(_section(section)) for section in sections]
    verdicts = [(visible(section.title), section.verdict) for section in sections]
    verdicts += [(visible(one.name), f"not checked: {visible(one.reason)}") for one in left_out]
    if len(verdicts) > 1:
        width = max(len(title) for title, _ in verdicts)
        texts.append("\n".join(f"{title:<{width}}  {verdict}" for title, verdict in verdicts))
    return "\n\n\n".join(texts)


def law_as_text(result: LawResult, reward: str) -> str:
    """Show all findings of one broken law, for a failing test."""
    found = distinct(result.findings)
    count = "" if len(found) == 1 else f" in {len(found)} ways"
    lines = [f"{visible(reward)} breaks {result.law}{count}", *_findings(_Shown(), result.law, found)]
    return "\n".join(lines).rstrip()


@dataclass
class _Shown:
    """What a section has shown already, so that it is not shown again."""

    columns: Mapping[str, Any] | None = None
    cut: bool = False


def _section(section: Section) -> Iterator[str]:
    yield visible(section.title)
    if section.title != section.report.reward:
        yield from _wrapped(section.report.reward, "  ")
    if section.data:
        yield f"  {visible(section.data)}"
    yield ""
    yield from _laws(section)
    if section.report.printed is not None:
        yield from _printed(section.report.printed)
    yield from _parts(section.parts)
    said = _Shown()
    for law, found in by_cause(section):
        yield from ("", visible(law))
        concerned = _concerned(found)
        yield from _findings(
            said, law, [one for title, one in found if concerned[cause_of(one)][0] == title], concerned
        )
    if section.calibration is not None:
        yield from ("", "Agreement with the labels", "", *_indented(str(section.calibration)))
    if section.signal is not None:
        yield from ("", "Learning signal", "", *_indented(str(section.signal)))
    yield ""
    if said.cut:
        yield "  The lines that reproduce longer findings: finding.reproduce, --json, --html."
    for remark in section.notes:
        yield from _wrapped(remark, "  ")
    yield f"  {section.verdict}"


def _concerned(found: Sequence[tuple[str, Finding]]) -> dict[str, list[str]]:
    """Return the components that each cause concerns."""
    concerned: dict[str, list[str]] = {}
    for title, finding in found:
        names = concerned.setdefault(cause_of(finding), [])
        names += [title] if title not in names else []
    return concerned


def _laws(section: Section) -> Iterator[str]:
    width = max((len(result.law) for result in section.broken), default=0)
    for result in section.broken:
        yield f"  BROKEN    {result.law:<{width}}  {_said(result)}".rstrip()
    yield from _named("held", section.held)
    yield from _not_done(section.unfinished)
    yield from _named("n/a", section.inapplicable)


def _parts(parts: Sequence[Section]) -> Iterator[str]:
    """List the components of a sum with their verdicts."""
    if not parts:
        return
    yield from ("", "  Each component by itself")
    width = max(len(visible(part.title)) for part in parts)
    for part in parts:
        yield f"    {visible(part.title):<{width}}  {part.verdict}"


def _said(result: LawResult) -> str:
    return _summary(distinct(result.findings)) if result.findings else visible(result.reason)


def _summary(found: Sequence[Finding]) -> str:
    families = families_of(found)
    count = f"{len(found)} finding{'' if len(found) == 1 else 's'}"
    return f"{count}: {visible(', '.join(families))}" if families else count


def _named(label: str, results: Iterable[LawResult]) -> Iterator[str]:
    names = ", ".join(result.law for result in results)
    if names:
        yield from textwrap.wrap(
            names, _WIDTH, initial_indent=f"  {label:<8}  ", subsequent_indent=" " * 12, break_on_hyphens=False
        )


def _not_done(results: Iterable[LawResult]) -> Iterator[str]:
    """List the unfinished laws, grouped by reason."""
    reasons: dict[str, list[str]] = {}
    for result in results:
        reasons.setdefault("the process died again" if result.findings else result.reason, []).append(result.law)
    for reason, laws in reasons.items():
        yield from _wrapped(f"{', '.join(laws)}: {reason}", "  not done  ", " " * 12)


def _printed(printed: Printed) -> Iterator[str]:
    yield f"  printed   {printed} while it was checked. The output begins:"
    for line in printed.sample:
        yield f"            | {visible(middle_cut(line, _WIDTH - 14))}"


def _findings(
    said: _Shown, law: str, found: Sequence[Finding], concerned: Mapping[str, Sequence[str]] | None = None
) -> Iterator[str]:
    """Show each kind of fault once in full, and others of that kind in one line each."""
    reasons = list(dict.fromkeys(finding.matters for finding in found if finding.matters))
    if len(reasons) == 1:
        yield from _wrapped(reasons[0], "  ")
    kinds: dict[str, list[Finding]] = {}
    for finding in found:
        kinds.setdefault(_kind(finding), []).append(finding)
    for number, similar in enumerate(kinds.values(), start=1):
        yield ""
        yield from _finding(said, similar, number, law, concerned or {}, matters=len(reasons) > 1)


def _kind(finding: Finding) -> str:
    """Return what findings have in common if only the first of them is shown in full."""
    if finding.line and finding.law == "exploits":
        return repr((finding.law, finding.line))
    raised = finding.trace.strip().splitlines()[-1] if finding.trace.strip() else ""
    return repr((finding.law, finding.family, finding.matters, raised, finding.advice))


def _finding(
    said: _Shown,
    similar: Sequence[Finding],
    number: int,
    law: str,
    concerned: Mapping[str, Sequence[str]],
    *,
    matters: bool,
) -> Iterator[str]:
    finding = similar[0]
    kind = kind_of(finding, law)
    yield from _wrapped(f"{number}. {f'{kind}: ' if kind else ''}{finding.why}", "  ", "     ")
    rows = [("completion", _completion(finding.completion))]
    if finding.columns != said.columns:
        rows += [(visible(str(name)), _cell(str(name), value)) for name, value in finding.columns.items()]
    elif finding.columns:
        rows.append(("example", "as above"))
    said.columns = finding.columns
    rows += [(visible(name), score) for name, score in finding.scores]
    if finding.note:
        rows[-1] = (rows[-1][0], f"{rows[-1][1]}   {visible(middle_cut(finding.note, _LONGEST))}")
    names = [name for name in concerned.get(cause_of(finding), ()) if name]
    if matters and finding.matters:
        rows.append(("matters", visible(finding.matters)))
    if names:
        rows.append(("concerns", visible(", ".join(names))))
    if finding.trace:
        rows.append(("raised", visible(middle_cut(finding.trace.strip().splitlines()[-1], _LONGEST))))
        place_of = _place(finding.trace)
        if place_of:
            rows.append(("at", visible(place_of)))
    if finding.line:
        rows.append(("line", visible(middle_cut(finding.line, _LONGEST))))
    if finding.source:
        rows.append(("seen in", visible(finding.source)))
    line = visible(finding.reproduce)
    if len(line) <= _SHORT:
        rows.append(("reproduce", line))
    said.cut = said.cut or len(line) > _SHORT
    rows += [("also", _in_short(finding, other, concerned)) for other in similar[1:]]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        yield f"     {name:<{width}}  {value}"
    if finding.advice:
        yield from _wrapped(finding.advice, f"     {'next':<{width}}  ", " " * (width + 7))


def _in_short(first: Finding, finding: Finding, concerned: Mapping[str, Sequence[str]]) -> str:
    """Show another finding of a kind on one line."""
    names = [name for name in concerned.get(cause_of(finding), ()) if name]
    where = f" ({', '.join(names)})" if names and names != list(concerned.get(cause_of(first), ())) else ""
    why = visible(middle_cut(finding.why.split("; so does")[0], _WIDTH - 30))
    return f"{why}: {shown(finding.completion, 60)}{visible(where)}"


def _completion(value: Any) -> str:
    """Show a completion; one that repeats a piece many times as an expression, others without their middle."""
    said = expression_of(value) if isinstance(value, str) and len(value) > _LONGEST else ""
    return visible(said) if 0 < len(said) <= _LONGEST else shown(value, _LONGEST)


def _cell(name: str, value: Any) -> str:
    """Show a cell on one line; of a chat prompt, the role and the text of each message."""
    chat = name == "prompt" and isinstance(value, (list, tuple)) and all(isinstance(one, Mapping) for one in value)
    if not chat:
        return shown(value, _CELL)
    share = max(30, _CELL // max(1, len(value)) - 15)
    said = "; ".join(f"{one.get('role', 'message')}: {shown(one.get('content'), share)}" for one in value)
    return visible(middle_cut(said, _CELL + 30))


def _place(trace: str) -> str:
    """Return the last place in a traceback."""
    places = [line.strip() for line in trace.splitlines() if line.strip().startswith('File "')]
    return places[-1].removeprefix("File ") if places else ""


def _wrapped(text: str, first: str, then: str | None = None) -> list[str]:
    return textwrap.wrap(
        visible(text),
        _WIDTH,
        initial_indent=first,
        subsequent_indent=first if then is None else then,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _indented(text: str) -> list[str]:
    return [f"  {line}".rstrip() for line in text.splitlines()]
