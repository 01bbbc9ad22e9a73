"""The report on a replay. Call ``report.add(scores)`` for each batch; ``report.text()`` returns a table of
components."""

from __future__ import annotations

import math
import re
import textwrap
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, final

import numpy as np

from rewardkit.batch.column import Codes, Floats
from rewardkit.batch.score import Outcome
from rewardkit.batch.table_text import render_text, visible
from rewardkit.errors import shorten_line
from rewardkit.scoring.scores import Scores

# Faults: the reasons why rows could not be scored, grouped. 1,203 rows with the same fault are one entry, even if the
# values in their messages differ.


# Arbitrary limits that keep a report readable: kinds of errors (_SHOWN), the width of a line (_WIDTH), and the
# characters of a reason (_LIMIT).
_SHOWN = 10
_MOST = 1_000
"""The maximum number of kinds that are counted separately; additional kinds are counted together. The limit is
arbitrary and saves memory, because all messages may differ."""
_WIDTH = 110
_LIMIT = 3_000
_VALUES = re.compile(
    r"\b(?:column|reward|judge) '[^']*'"  # a name, which is kept
    r"|(?<!\w)'(?:[^'\\]|\\.)*(?:'|$)"
    r'|(?<!\w)"(?:[^"\\]|\\.)*(?:"|$)'
    r"|\d[\d.,]*",
    re.DOTALL,
)
# Matches "reward 'a' raised ValueError" in "reward 'a' raised ValueError: at 0x7f", because messages may contain
# values.
_RAISED = re.compile(r".*? raised \w+(?=:)|.*?: raised \w+(?=:)")


@dataclass
class _Kind:
    """Rows with the same kind of fault.

    Attributes:
        reason, row: the first such row's reason and number.
        differ: whether other rows have a different reason: different values, or a different message for the same
            exception.
    """

    reason: str
    row: int
    count: int = 0
    differ: bool = False

    def add(self, reason: str, row: int, count: int = 1, differ: bool = False) -> None:
        if row < self.row:
            self.reason, self.row = reason, row
        self.differ |= differ or reason != self.reason
        self.count += count

    def text(self) -> str:
        rows = f"{self.count:,} row{'' if self.count == 1 else 's'}"
        location = f"row {self.row:,}" if self.count == 1 else f"first: row {self.row:,}"
        remark = "; the other rows have different values" if self.differ else ""
        lines = shorten_line(self.reason, _LIMIT).split("\n")
        reason = "; ".join(visible(line.strip()) for line in lines)
        return textwrap.fill(
            f"{rows}: {reason} ({location}{remark})",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )


@final
class Faults:
    """The faults in all rows, grouped by kind, with bounded memory use."""

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}

    def add(self, row: int, reason: str) -> None:
        """Record the reason why a row could not be scored."""
        name = _kind(reason)
        if name not in self._kinds and len(self._kinds) >= _MOST:
            name = _broad(name)
        self._kinds.setdefault(name, _Kind(reason, row)).add(reason, row)

    def extend(self, other: Faults, start: int) -> None:
        """Add the faults in later rows, which start at row `start`."""
        for name, kind in other._kinds.items():
            if name not in self._kinds and len(self._kinds) >= _MOST:
                name = _broad(name)
            own_kind = self._kinds.setdefault(name, _Kind(kind.reason, start + kind.row))
            own_kind.add(kind.reason, start + kind.row, kind.count, kind.differ)

    def state(self) -> dict[str, Any]:
        """Return the state of this object as JSON values."""
        return {name: asdict(kind) for name, kind in self._kinds.items()}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Faults:
        """Return the faults restored from `state`."""
        faults = cls()
        faults._kinds = {name: _Kind(**kind) for name, kind in state.items()}
        return faults

    def lines(self) -> Iterator[str]:
        """Yield one paragraph for each kind, starting with the most frequent."""
        kinds = self._kinds
        if len(kinds) > _SHOWN:  # messages with unquoted values: count each exception type as one kind
            kinds = _merged(kinds.items())
        order = sorted(kinds.values(), key=lambda kind: (-kind.count, kind.row))
        yield from (kind.text() for kind in order[:_SHOWN])
        if rest := order[_SHOWN:]:
            yield f"  ... and {sum(kind.count for kind in rest):,} rows with {len(rest):,} other kinds of errors"


def _kind(reason: str) -> str:
    """Return the first line of `reason` without values."""
    return _VALUES.sub(lambda match: match[0] if match[0][0].isalpha() else "_", reason.partition("\n")[0])


def _broad(name: str) -> str:
    match = _RAISED.match(name)
    return name[: match.end()] if match else ""


def _merged(kinds: Iterable[tuple[str, _Kind]]) -> dict[str, _Kind]:
    """Merge the kinds that have the same exception and component and differ only in the message."""
    merged: dict[str, _Kind] = {}
    for name, kind in kinds:
        broad = merged.setdefault(_broad(name) or name, _Kind(kind.reason, kind.row))
        broad.add(kind.reason, kind.row, kind.count, kind.differ)
    return merged


@dataclass
class _Line:
    """The statistics for one component or for the total."""

    sum: float = 0.0
    count: int = 0
    low: float = math.inf
    high: float = -math.inf
    outcomes: list[int] = field(default_factory=lambda: [0] * len(Outcome))
    seconds: float = 0.0

    def add(self, values: Floats, codes: Codes | None) -> None:
        scored = values[~np.isnan(values)]
        if len(scored):
            self.sum += float(scored.sum())
            self.count += len(scored)
            self.low, self.high = min(self.low, float(scored.min())), max(self.high, float(scored.max()))
        if codes is not None:
            counts = np.bincount(codes, minlength=len(Outcome)).tolist()
            self.outcomes = [count + other for count, other in zip(self.outcomes, counts, strict=True)]

    def extend(self, other: _Line) -> None:
        self.sum += other.sum
        self.count += other.count
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.outcomes = [count + more for count, more in zip(self.outcomes, other.outcomes, strict=True)]
        self.seconds += other.seconds

    def cells(self) -> list[str]:
        if not self.count:
            return ["-"] * 3
        return [f"{number:.4g}" for number in (self.sum / self.count, self.low, self.high)]


_EPSILON = 1e-4
"""Totals that differ by at most this number count as equal, as in `rewardkit.analyze.signal`: GRPO adds it to the
standard deviation. It is not imported from there, so that `rewardkit score` loads few modules."""


@dataclass(frozen=True)
class _Group:
    """Consecutive completions for the same prompt: their number, and their lowest and highest total (NaN if none)."""

    key: int
    rows: int
    low: float
    high: float

    def followed_by(self, other: _Group) -> _Group:
        low, high = float(np.fmin(self.low, other.low)), float(np.fmax(self.high, other.high))
        return _Group(self.key, self.rows + other.rows, low, high)


@dataclass
class Groups:
    """Groups of several consecutive completions for the same prompt, counted with bounded memory use.

    Attributes:
        inner, silent_inner: the number of groups, and of groups without variance, that other rows cannot change.
        edges: the first and the last group, which may continue in the rows before or after; just one if there is only
            one group.
    """

    inner: int = 0
    silent_inner: int = 0
    edges: list[_Group] = field(default_factory=list)

    @classmethod
    def of(cls, keys: Sequence[Any], totals: Floats) -> Groups:
        """Return the groups in consecutive rows.

        Args:
            keys: (n,) values that are equal for completions of the same prompt.
            totals: (n,) the totals, NaN for a row without a total.
        """
        groups = cls()
        if not len(keys):
            return groups
        starts = [0, *(row for row in range(1, len(keys)) if keys[row] != keys[row - 1])]
        sizes = np.diff([*starts, len(keys)]).tolist()
        lows, highs = np.fmin.reduceat(totals, starts).tolist(), np.fmax.reduceat(totals, starts).tolist()
        for number, start in enumerate(starts):
            # A part of a file is scored in another process, where hash() of the same string differs.
            key = zlib.crc32(repr(keys[start]).encode(errors="replace")) if number in (0, len(starts) - 1) else 0
            groups._append(_Group(key, sizes[number], lows[number], highs[number]))
        return groups

    def extend(self, other: Groups) -> None:
        """Add the groups in the following rows."""
        first, last = other.edges[:1], other.edges[1:]
        if first and self.edges and self.edges[-1].key == first[0].key:
            self.edges[-1] = self.edges[-1].followed_by(first.pop())
        for group in (*first, *last):
            self._append(group)
        self.inner += other.inner
        self.silent_inner += other.silent_inner

    def _append(self, group: _Group) -> None:
        if len(self.edges) > 1:
            last = self.edges.pop()
            self.inner += last.rows > 1
            self.silent_inner += _is_silent(last)
        self.edges.append(group)

    @property
    def count(self) -> int:
        """The number of groups."""
        return self.inner + sum(group.rows > 1 for group in self.edges)

    @property
    def silent(self) -> int:
        """The number of groups without variance: GRPO learns nothing from them."""
        return self.silent_inner + sum(map(_is_silent, self.edges))

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Groups:
        """Return the groups restored from `state`, the result of `asdict`."""
        return cls(**{**state, "edges": [_Group(**edge) for edge in state["edges"]]})

    def text(self) -> str:
        """Return a sentence about the groups."""
        share = f"{self.silent:,} of {self.count:,} ({self.silent / self.count:.0%})"
        return f"Groups without variance: {share}. All completions of the prompt have the same total."


def _is_silent(group: _Group) -> bool:
    return group.rows > 1 and not group.high - group.low > _EPSILON


class ReplayReport:
    """The means, extremes, outcomes, groups, and kinds of faults for all scores, with bounded memory use."""

    def __init__(self) -> None:
        self.rows = 0
        self.without_total = 0
        self.faulty = 0
        self.groups = Groups()
        self._faults = Faults()
        self._total = _Line()
        self._components: dict[str, _Line] = {}

    @property
    def mean(self) -> float:
        """The mean total, or NaN if there are no totals."""
        return self._total.sum / self._total.count if self._total.count else math.nan

    def add(self, scores: Scores, keys: Sequence[Any] = ()) -> None:
        """Add the scores for the next rows; `keys` are equal for completions of the same prompt, empty if unknown."""
        self.groups.extend(Groups.of(keys, scores.total))
        self._total.add(scores.total, None)
        for name, values in scores.components.items():
            line = self._components.setdefault(name, _Line())
            line.add(values, scores.codes[name])
            line.seconds += scores.seconds.get(name, 0.0)
        for row, reasons in scores.errors.items():
            for reason in reasons:
                self._faults.add(self.rows + row, reason)
        self.faulty += len(scores.errors)
        self.rows += len(scores.total)
        self.without_total += int(np.isnan(scores.total).sum())

    def extend(self, other: ReplayReport) -> None:
        """Add the report on the following rows."""
        self._total.extend(other._total)
        for name, line in other._components.items():
            self._components.setdefault(name, _Line()).extend(line)
        self._faults.extend(other._faults, self.rows)
        self.groups.extend(other.groups)
        self.faulty += other.faulty
        self.rows += other.rows
        self.without_total += other.without_total

    def state(self) -> dict[str, Any]:
        """Return the state of this object as JSON values."""
        lines = {name: asdict(line) for name, line in self._components.items()}
        counts = {"rows": self.rows, "without_total": self.without_total, "faulty": self.faulty}
        totals = {"total": asdict(self._total), "components": lines, "groups": asdict(self.groups)}
        return {**counts, **totals, "faults": self._faults.state()}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> ReplayReport:
        """Return the report restored from `state`."""
        report = cls()
        report.rows, report.without_total, report.faulty = state["rows"], state["without_total"], state["faulty"]
        report._total = _Line(**state["total"])
        report._components = {name: _Line(**line) for name, line in state["components"].items()}
        report.groups, report._faults = Groups.restored(state["groups"]), Faults.restored(state["faults"])
        return report

    def rates(self) -> str:
        """Return a table with the components' seconds and scores per second, starting with the slowest component."""
        slowest = sorted(self._components.items(), key=lambda item: -item[1].seconds)
        cells = [
            [name, f"{line.count:,}", f"{line.seconds:,.1f}", f"{line.count / line.seconds:,.0f}"]
            for name, line in slowest
            if line.count and line.seconds
        ]
        return render_text(["component", "scores", "seconds", "scores a second"], cells, left=0)

    def text(self) -> str:
        """Return the table and, by kind, the reasons why rows could not be scored; rows are numbered from 0."""
        outcomes = [outcome for outcome in Outcome if any(line.outcomes[_code(outcome)] for line in self._lines)]
        header = ["component", "mean", "lowest", "highest", *(str(outcome) for outcome in outcomes)]
        cells = [
            [name, *line.cells(), *(f"{line.outcomes[_code(outcome)]:,}" for outcome in outcomes)]
            for name, line in self._components.items()
        ]
        cells.append(["total", *self._total.cells(), *([""] * len(outcomes))])
        lines = [render_text(header, cells, left=0)]
        if self.groups.count:
            lines += ["", self.groups.text()]
        if self.without_total:
            lines += ["", f"{self.without_total:,} of {self.rows:,} rows have no total"]
        if self.faulty:
            rows = "row has an error" if self.faulty == 1 else "rows have errors"
            lines += ["", f"{self.faulty:,} {rows} (rows are numbered from 0):", *self._faults.lines()]
        return "\n".join(lines)

    @property
    def _lines(self) -> list[_Line]:
        return list(self._components.values())


def _code(outcome: Outcome) -> int:
    return list(Outcome).index(outcome)
