"""The page of a report: a section for each reward. Text that a policy wrote is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.analyze.page import escaped, page
from rewardkit.check.findings import Finding, LawResult
from rewardkit.check.reports.sections import Section, Unchecked, distinct, families_of, kind_of, middle_cut

if TYPE_CHECKING:
    from rewardkit.analyze.calibration import Calibration
    from rewardkit.analyze.readiness import Signal

_LONGEST = 4_000
_MARKS = {"broken": "broken", "unfinished": "not done", "held": "held", "skipped": "n/a"}


def page_of(sections: Sequence[Section], left_out: Sequence[Unchecked] = ()) -> str:
    """Return a whole page with a section for each reward."""
    names = ", ".join(section.title for section in sections)
    body = "\n".join(line for number, section in enumerate(sections) for line in _section(section, number))
    return page(f"{middle_cut(names, 80)}: laws and exploits", f"{_head(sections, left_out)}\n{body}")


def _head(sections: Sequence[Section], left_out: Sequence[Unchecked]) -> str:
    broken = sum(section.faulty for section in sections)
    if len(sections) == 1:
        said = "One reward, checked against the laws and the known exploits."
    else:
        said = f"{len(sections)} rewards checked, {broken or 'none'} with findings."
    rows = "".join(
        f'<tr><td><a href="#reward-{number}">{_text(section.title)}</a></td><td>{_verdict(section)}</td></tr>'
        for number, section in enumerate(sections)
    )
    rows += "".join(
        f'<tr><td>{_text(one.name)}</td><td class="soft">not checked: {_text(one.reason)}</td></tr>' for one in left_out
    )
    table = f"<table><tbody>{rows}</tbody></table>" if len(sections) + len(left_out) > 1 else ""
    return f'<h1>Reward check</h1>\n<p class="soft">{said}</p>\n{table}'


def _section(section: Section, number: int) -> Iterator[str]:
    report = section.report
    yield f'<section id="reward-{number}">'
    yield f"<h2>{_text(section.title)}</h2>"
    if report.reward != section.title:
        yield f'<p class="soft"><code>{_text(report.reward)}</code></p>'
    yield f"<p>{_verdict(section)}</p>"
    for line in (section.data, *section.notes):
        if line:
            yield f'<p class="soft small">{_text(line)}</p>'
    place = f"reward-{number}"
    yield from _laws(section, place)
    if report.printed is not None:
        sample = "\n".join(_text(line) for line in report.printed.sample)
        yield f'<p class="soft small">The reward printed {report.printed} while it was checked. The output begins:</p>'
        yield f"<pre>{sample}</pre>"
    yield from _broken(section, place, "h3")
    for number_of_part, part in enumerate(section.parts):
        yield f"<h3>{_text(part.title)} by itself</h3>"
        yield f"<p>{_verdict(part)}</p>"
        own = f"{place}-{number_of_part}"
        yield from _laws(part, own)
        yield from _broken(part, own, "h4")
    if section.calibration is not None:
        yield from _calibration(section.calibration)
    if section.signal is not None:
        yield from _signal(section.signal)
    yield f'<p class="soft small">Fingerprint of the reward: <code>{_text(report.fingerprint)}</code></p>'
    yield "</section>"


def _broken(section: Section, place: str, heading: str) -> Iterator[str]:
    for result in section.broken:
        if result.findings:
            yield f'<{heading} id="{_anchor(place, result)}">{_text(result.law)}</{heading}>'
            yield from _findings(result)


def _verdict(section: Section) -> str:
    kind = "broken" if section.faulty else "unfinished" if section.unfinished else "held"
    return f'<span class="verdict {kind}">{_text(section.verdict)}</span>'


def _laws(section: Section, place: str) -> Iterator[str]:
    if section.broken or section.unfinished:
        yield from _table(
            [
                *(_law(result, "broken", _link(result, place), _counted(result)) for result in section.broken),
                *(_law(result, "unfinished", _text(result.law), _not_run(result)) for result in section.unfinished),
            ]
        )
    if section.held:
        # Broken laws come first, so this list is open only if there are none.
        yield f"<details{'' if section.broken else ' open'}><summary>{len(section.held)} laws held</summary>"
        yield from _table(_law(result, "held", _text(result.law), _text(result.why)) for result in section.held)
        yield "</details>"
    if section.inapplicable:
        yield f"<details><summary>{len(section.inapplicable)} laws do not apply</summary>"
        yield from _table(
            _law(result, "skipped", _text(result.law), _text(result.reason)) for result in section.inapplicable
        )
        yield "</details>"


def _table(rows: Iterable[str]) -> Iterator[str]:
    yield '<table><thead><tr><th>Law</th><th></th><th></th><th class="number">Completions</th>'
    yield '<th class="number">Seconds</th></tr></thead><tbody>'
    yield from rows
    yield "</tbody></table>"


def _law(result: LawResult, kind: str, name: str, said: str) -> str:
    tries = f"{result.tries:,}" if result.tries else ""
    return (
        f'<tr><td class="name">{name}</td><td><span class="mark {kind}">{_MARKS[kind]}</span></td>'
        f'<td class="soft">{said}</td><td class="number">{tries}</td><td class="number">{result.seconds:.1f}</td></tr>'
    )


def _link(result: LawResult, place: str) -> str:
    if not result.findings:
        return _text(result.law)
    return f'<a href="#{_anchor(place, result)}">{_text(result.law)}</a>'


def _counted(result: LawResult) -> str:
    found = distinct(result.findings)
    if not found:
        return _text(result.reason)
    families = _text(", ".join(families_of(found)))
    count = f"{len(found)} finding{'' if len(found) == 1 else 's'}"
    return f"{count}: {families}" if families else count


def _not_run(result: LawResult) -> str:
    return "the process died again" if result.findings else _text(result.reason)


def _findings(result: LawResult) -> Iterator[str]:
    reasons = list(dict.fromkeys(finding.matters for finding in result.findings if finding.matters))
    if len(reasons) == 1:
        yield f"<p>{_text(reasons[0])}</p>"
    for finding in distinct(result.findings):
        yield _finding(finding, result.law, matters=len(reasons) > 1)


def _finding(finding: Finding, law: str, matters: bool) -> str:
    kind = kind_of(finding, law)
    rows = [("completion", _pre(finding.completion))]
    rows += [(str(name), _pre(value)) for name, value in finding.columns.items()]
    note = f' <span class="soft">{_text(finding.note)}</span>' if finding.note else ""
    rows += [(name, f"<strong>{score}</strong>") for name, score in finding.scores]
    rows += [("note", note)] if note else []
    if matters and finding.matters:
        rows.append(("matters", _text(finding.matters)))
    if finding.line:
        rows.append(("line", _text(finding.line)))
    if finding.source:
        rows.append(("seen in", _text(finding.source)))
    if finding.trace:
        trace = _lines(middle_cut(finding.trace.strip(), _LONGEST))
        rows.append(("raised", f"{_text(finding.trace.strip().splitlines()[-1])}{_more('traceback', trace)}"))
    if finding.advice:
        rows.append(("next", _text(finding.advice)))
    listed = "".join(f"<dt>{_text(name)}</dt><dd>{value}</dd>" for name, value in rows)
    again = _more("reproduce", escaped(finding.reproduce))
    why = f"{kind}: {finding.why}" if kind else finding.why
    return f'<div class="finding"><p>{_text(why)}</p><dl>{listed}</dl>{again}</div>'


def _calibration(found: Calibration) -> Iterator[str]:
    yield "<h3>Agreement with the labels</h3>"
    yield (
        '<p class="soft small">Of two completions of one prompt, the better one should score higher. '
        "A tied pair teaches nothing, and a wrong pair teaches the opposite.</p>"
    )
    yield '<table><thead><tr><th>Component</th><th class="number">AUC</th><th>Pairs</th>'
    yield '<th class="number">right</th><th class="number">tied</th><th class="number">wrong</th></tr></thead><tbody>'
    for one in (*found.components, found.total):
        pairs = one.within if one.within.count else one.overall
        auc = "" if one.auc is None else f"{one.auc:.3f}"
        counts = "".join(f'<td class="number">{count:,}</td>' for count in (pairs.right, pairs.tied, pairs.wrong))
        bar = _bar([("right", pairs.right), ("tied", pairs.tied), ("wrong", pairs.wrong)])
        yield f'<tr><td class="name">{_text(one.name)}</td><td class="number">{auc}</td><td>{bar}</td>{counts}</tr>'
    yield "</tbody></table>"
    yield from _warnings(found.warnings)
    yield _more("thresholds, reliability and misjudged completions", _lines(str(found)), "wide")


def _signal(found: Signal) -> Iterator[str]:
    yield "<h3>Learning signal</h3>"
    yield (
        f"<p>{found.varying:.1%} of the prompts have a learning signal: their completions score differently. "
        f"{found.silent:.1%} of the prompts have samples that all score the same.</p>"
    )
    yield from _warnings(found.warnings)
    yield _more("components, gates and calls", _lines(str(found)), "wide")


def _warnings(warnings: Iterable[str]) -> Iterator[str]:
    for warning in warnings:
        yield f'<p><span class="mark unfinished">note</span> {_text(warning)}</p>'


def _bar(shares: Sequence[tuple[str, int]]) -> str:
    """Draw shares side by side; widths are attributes because the page's policy forbids styles in tags."""
    whole = sum(count for _, count in shares)
    if not whole:
        return ""
    parts, start = [], 0.0
    for kind, count in shares:
        width = 100.0 * count / whole
        parts.append(f'<rect class="{kind}" x="{start:.2f}" y="0" width="{width:.2f}" height="10"/>')
        start += width
    return f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'


def _more(name: str, escaped: str, kind: str = "") -> str:
    opened = f'<pre class="{kind}">' if kind else "<pre>"
    return f"<details><summary>{name}</summary>{opened}{escaped}</pre></details>"


def _pre(value: Any) -> str:
    """Show a completion or a cell: text with its lines, anything else as its repr."""
    if isinstance(value, str):
        return f"<pre>{_lines(middle_cut(value, _LONGEST)) or '<span class=soft>(empty)</span>'}</pre>"
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return f"<pre>{_text(text)}</pre>"


def _lines(text: str) -> str:
    return "\n".join(map(escaped, text.split("\n")))


def _text(text: str, limit: int = _LONGEST) -> str:
    return escaped(middle_cut(text, limit))


def _anchor(place: str, result: LawResult) -> str:
    return f"{place}-{''.join(letter if letter.isalnum() else '-' for letter in result.law)}"
