"""Compare what the tools say about the same cases: per tool, and with our check at the same number of calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rivals_real import DOUBTFUL, READ, REAL

OURS = "rewardkit"
WARM_UP = 110
"""Completions that our check scores outside of its laws, which no law counts: 11 to 106 where we counted them."""
SHOWN = 8
"""Findings of a case that are printed."""


@dataclass(frozen=True)
class Line:
    """What a tool says about one case.

    Attributes:
        package: the package of the case.
        kind: ``"faulty"`` or ``"sound"``.
        name: of the case.
        calls: how often the reward was called; a batch counts as one call per completion.
        seconds: how long it took.
        findings: each with the tool's probe and the completion; ours with the calls made until then.
        stopped: why there was no end: the reward hung or died.
        not_checked: why the tool cannot check the case.
    """

    package: str
    kind: str
    name: str
    calls: int
    seconds: float
    findings: list[dict[str, Any]]
    stopped: str = ""
    not_checked: str = ""

    @property
    def case(self) -> tuple[str, str]:
        return self.package.removeprefix("tests.faults."), self.name

    @property
    def lost(self) -> bool:
        """Whether a faulty reward hung or died, which shows by itself; a sound one may just be slow."""
        return bool(self.stopped) and self.kind == "faulty"

    @property
    def alerts(self) -> bool:
        """Whether the tool says anything."""
        return self.lost or bool(self.findings)

    @property
    def fails(self) -> bool:
        """Whether the tool's own command fails."""
        return self.lost or any(one.get("gate", True) for one in self.findings)

    def real(self, tool: str) -> bool:
        """Tell whether a person found an alert of this tool to be real."""
        return self.alerts and self.case not in DOUBTFUL if tool == OURS else self.case in REAL[tool]

    def within(self, calls: int) -> bool:
        """Tell whether our check finds something in its first `calls` calls."""
        return any(one["calls"] + WARM_UP <= calls for one in self.findings)


def read(file: Path, package: str, kind: str) -> list[Line]:
    """Read the lines that a tool printed about the cases of one kind."""
    rows = [json.loads(row) for row in file.read_text(encoding="utf-8").splitlines()]
    return [
        Line(
            package,
            kind,
            row["name"],
            row["calls"],
            row["seconds"],
            row["findings"],
            row.get("stopped", ""),
            row.get("not_checked", ""),
        )
        for row in rows
    ]


def table(tools: dict[str, list[Line]]) -> Iterator[str]:
    """Yield the rows of a table: each tool, and our check at the calls of that tool."""
    yield (
        "| tool | faulty: any alert | real | its command fails | sound: any alert | its command fails "
        "| not checked | median calls | median seconds |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    ours = {(*line.case, line.kind): line for line in tools[OURS]}
    for tool, lines in tools.items():
        faulty, sound = _of_kind(lines, "faulty"), _of_kind(lines, "sound")
        checked = [line for line in lines if line.calls]
        cells = [
            _share(line.alerts for line in faulty),
            f"{sum(line.real(tool) for line in faulty)}"
            if all(line.case[0] in READ for line in faulty)
            else "not read",
            _share(line.fails for line in faulty),
            _share(line.alerts for line in sound),
            _share(line.fails for line in sound),
            f"{sum(bool(line.not_checked) for line in lines)}",
            f"{median(line.calls for line in checked):,.0f}",
            f"{median(line.seconds for line in checked):.2f}",
        ]
        yield f"| {tool} | {' | '.join(cells)} |"
        if tool != OURS:
            same = {
                kind: _share(ours[(*line.case, kind)].within(line.calls) for line in each)
                for kind, each in (("faulty", faulty), ("sound", sound))
            }
            yield f"| {OURS}, as many calls | {same['faulty']} | | | {same['sound']} | | | | |"


def missed(tools: dict[str, list[Line]]) -> Iterator[tuple[str, Line]]:
    """Yield the faulty cases, with the tool, on which an alert of the tool is real and none of our check."""
    ours = {line.case for line in _of_kind(tools[OURS], "faulty") if line.real(OURS)}
    for tool, lines in tools.items():
        yield from ((tool, line) for line in _of_kind(lines, "faulty") if line.case not in ours and line.real(tool))


def unfounded(tools: dict[str, list[Line]]) -> Iterator[tuple[str, Line]]:
    """Yield the faulty cases, with the tool, on which only the tool says something that is not known to be real."""
    silent = {line.case for line in _of_kind(tools[OURS], "faulty") if not line.alerts}
    for tool, lines in tools.items():
        yield from (
            (tool, line)
            for line in _of_kind(lines, "faulty")
            if line.case in silent and line.alerts and not line.real(tool)
        )


def alerts_of(line: Line) -> Iterator[str]:
    """Yield a line about the first few findings."""
    if line.stopped:
        yield line.stopped
    for one in line.findings[:SHOWN]:
        mark = "!" if one.get("gate", True) else " "
        yield f"{mark} {one['probe']} ({one['kind']}): {one['completion'][:120]!r} earns {one['score']}"


def _of_kind(lines: Iterable[Line], kind: str) -> list[Line]:
    return [line for line in lines if line.kind == kind]


def _share(values: Iterable[bool]) -> str:
    counted: Sequence[bool] = list(values)
    return f"{sum(counted)} of {len(counted)}"
