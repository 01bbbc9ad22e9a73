"""The text of a report: broken and held laws, each finding with its completion, and a verdict.

A sound reward takes a few lines. A finding has everything you need to reproduce it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rewardkit.core.batch.table_text import visible
from rewardkit.testing.findings import Finding, LawResult
from rewardkit.testing.output import Printed
from rewardkit.testing.reports.sections import (
    Section,
    Unchecked,
    distinct,
    families_of,
    kind_of,
    middle_cut,
    score_of,
    shown,
)

_WIDTH = 112
_LONGEST = 300
"""Characters of a completion or a cell; longer ones lose their middle."""


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
    lines = [f"{visible(reward)} breaks {result.law}{count}", *_findings(result)]
    return "\n".join(lines).rstrip()


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
    for result in section.broken:
        if result.findings:
            yield from _broken(result, "")
    for part in section.parts:
        for result in part.broken:
            if result.findings:
                yield from _broken(result, f"{visible(part.title)} by itself: ")
    if section.calibration is not None:
        yield from ("", "Agreement with the labels", "", *_indented(str(section.calibration)))
    if section.signal is not None:
        yield from ("", "Learning signal", "", *_indented(str(section.signal)))
    yield ""
    for remark in section.notes:
        yield from _wrapped(remark, "  ")
    yield f"  {section.verdict}"


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


def _broken(result: LawResult, title: str) -> Iterator[str]:
    yield ""
    yield f"{title}{visible(result.law)}"
    yield from _findings(result)


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


def _findings(result: LawResult) -> Iterator[str]:
    """Show once why the law matters, then each finding."""
    reasons = list(dict.fromkeys(finding.matters for finding in result.findings if finding.matters))
    if len(reasons) == 1:
        yield from _wrapped(reasons[0], "  ")
    for number, finding in enumerate(distinct(result.findings), start=1):
        yield ""
        yield from _finding(finding, number, result.law, matters=len(reasons) > 1)


def _finding(finding: Finding, number: int, law: str, matters: bool) -> Iterator[str]:
    kind = kind_of(finding, law)
    yield from _wrapped(f"{number}. {f'{kind}: ' if kind else ''}{finding.why}", "  ", "     ")
    rows = [("completion", shown(finding.completion, _LONGEST))]
    rows += [(visible(str(name)), _cell(str(name), value)) for name, value in finding.columns.items()]
    rows.append((visible(finding.component), f"{score_of(finding)}{_note(finding)}"))
    if matters and finding.matters:
        rows.append(("matters", visible(finding.matters)))
    if finding.trace:
        rows.append(("raised", visible(middle_cut(finding.trace.strip().splitlines()[-1], _LONGEST))))
        place = _place(finding.trace)
        if place:
            rows.append(("at", visible(place)))
    if finding.source:
        rows.append(("seen in", visible(finding.source)))
    rows.append(("reproduce", _reproduce(finding)))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        yield f"     {name:<{width}}  {value}"
    if finding.advice:
        yield from _wrapped(finding.advice, f"     {'next':<{width}}  ", " " * (width + 7))


def _cell(name: str, value: Any) -> str:
    """Show a cell; of a chat prompt, the role and the text of each message."""
    chat = name == "prompt" and isinstance(value, (list, tuple)) and all(isinstance(one, Mapping) for one in value)
    if not chat:
        return shown(value, _LONGEST)
    share = max(60, _LONGEST // max(1, len(value)) - 20)
    said = "; ".join(f"{one.get('role', 'message')}: {shown(one.get('content'), share)}" for one in value)
    return visible(middle_cut(said, _LONGEST))


def _note(finding: Finding) -> str:
    return f"   {visible(middle_cut(finding.note, _LONGEST))}" if finding.note else ""


def _place(trace: str) -> str:
    """Return the last place in a traceback."""
    places = [line.strip() for line in trace.splitlines() if line.strip().startswith('File "')]
    return places[-1].removeprefix("File ") if places else ""


def _reproduce(finding: Finding) -> str:
    """Return a line that can be run, or where to find it if it is too long."""
    line = visible(finding.reproduce)
    if len(line) <= 4 * _LONGEST:
        return line
    return f"too long to show ({len(line):,} characters): see finding.reproduce, or `reproduce` in the JSON report"


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
