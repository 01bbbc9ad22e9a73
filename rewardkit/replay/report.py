"""The report of a replay: ``report.add(scores)`` batch by batch; ``report.text()`` is a table of the components."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from rewardkit.core.batch.column import Codes, Floats
from rewardkit.core.batch.score import Outcome
from rewardkit.core.batch.table_text import render_text
from rewardkit.replay.faults import Faults
from rewardkit.replay.scores import Scores


@dataclass
class _Line:
    """The statistics of one component, or of the total."""

    sum: float = 0.0
    count: int = 0
    low: float = math.inf
    high: float = -math.inf
    outcomes: list[int] = field(default_factory=lambda: [0] * len(Outcome))
    seconds: float = 0.0

    def add(self, values: Floats, codes: Codes | None) -> None:
        there = values[~np.isnan(values)]
        if len(there):
            self.sum += float(there.sum())
            self.count += len(there)
            self.low, self.high = min(self.low, float(there.min())), max(self.high, float(there.max()))
        if codes is not None:
            counts = np.bincount(codes, minlength=len(Outcome)).tolist()
            self.outcomes = [one + other for one, other in zip(self.outcomes, counts, strict=True)]

    def extend(self, other: _Line) -> None:
        self.sum += other.sum
        self.count += other.count
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.outcomes = [one + more for one, more in zip(self.outcomes, other.outcomes, strict=True)]
        self.seconds += other.seconds

    def cells(self) -> list[str]:
        if not self.count:
            return ["-"] * 3
        return [f"{number:.4g}" for number in (self.sum / self.count, self.low, self.high)]


class ReplayReport:
    """Means, extremes, outcomes and kinds of faults of all scores; its size does not depend on the number of rows."""

    def __init__(self) -> None:
        self.rows = 0
        self.without_total = 0
        self.faulty = 0
        self._faults = Faults()
        self._total = _Line()
        self._components: dict[str, _Line] = {}

    @property
    def mean(self) -> float:
        """The mean of the totals; NaN if there are none."""
        return self._total.sum / self._total.count if self._total.count else math.nan

    def add(self, scores: Scores) -> None:
        """Add the scores of the next rows."""
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
        """Add the report of the next rows."""
        self._total.extend(other._total)
        for name, line in other._components.items():
            self._components.setdefault(name, _Line()).extend(line)
        self._faults.extend(other._faults, self.rows)
        self.faulty += other.faulty
        self.rows += other.rows
        self.without_total += other.without_total

    def state(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        lines = {name: asdict(line) for name, line in self._components.items()}
        counts = {"rows": self.rows, "without_total": self.without_total, "faulty": self.faulty}
        return {**counts, "total": asdict(self._total), "components": lines, "faults": self._faults.state()}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> ReplayReport:
        """Return the report with this `state`."""
        found = cls()
        found.rows, found.without_total, found.faulty = state["rows"], state["without_total"], state["faulty"]
        found._total = _Line(**state["total"])
        found._components = {name: _Line(**line) for name, line in state["components"].items()}
        found._faults = Faults.restored(state["faults"])
        return found

    def rates(self) -> str:
        """Return a table of how long the components took, the slowest first, and their scores in a second."""
        slowest = sorted(self._components.items(), key=lambda item: -item[1].seconds)
        cells = [
            [name, f"{line.count:,}", f"{line.seconds:,.1f}", f"{line.count / line.seconds:,.0f}"]
            for name, line in slowest
            if line.count and line.seconds
        ]
        return render_text(["component", "scores", "seconds", "scores a second"], cells, left=0)

    def text(self) -> str:
        """Return the table, and below it why rows could not be scored, by kind; rows are numbered from 0."""
        others = [outcome for outcome in Outcome if any(line.outcomes[_code(outcome)] for line in self._lines)]
        header = ["component", "mean", "lowest", "highest", *(str(outcome) for outcome in others)]
        cells = [
            [name, *line.cells(), *(f"{line.outcomes[_code(outcome)]:,}" for outcome in others)]
            for name, line in self._components.items()
        ]
        cells.append(["total", *self._total.cells(), *([""] * len(others))])
        lines = [render_text(header, cells, left=0)]
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
