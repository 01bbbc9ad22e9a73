"""Explanation of a completion's advantage: the steps from its terms to the number, and its group as dots on a line.

``explained(watched, row).steps[-1].text`` is ``"+1.250"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rewardkit.analyze.advantages import Derivation, derive
from rewardkit.page.escapes import one_line
from rewardkit.page.scores import Floats, Integers, Scores, key_text
from rewardkit.page.style import color_of
from rewardkit.page.watcher import Watched

# Arbitrary limits that keep the derivation readable: lines of terms, and dots of a group.
MAX_TERMS = 24
MAX_DOTS = 256
_KEPT = 32
"""The maximum number of batches whose derivations are cached. The limit is arbitrary: a user steps through completions
in only a few batches."""
_EPSILON = "0.0001"
_NOTHING = 1e-9
"""Numbers below this limit are treated as rounding errors and count as 0."""
_UNRECORDED = (
    "No advantage is recorded, because the trainer does not report how it computes advantages. The steps end at the "
    "difference from the group's mean."
)
_UNEXPLAINED = (
    "None of TRL's methods (divided by the spread of the group or of the batch, not divided, GDPO) gives the "
    "recorded advantages of this batch, so the steps end at the difference from the group's mean."
)
_UNSCORABLE = "The completion could not be scored. It has the advantage 0 and does not count in its group's mean."
_HOW = {
    "group": "Divided by the spread of the group",
    "batch": "Divided by the spread of the batch",
    "none": "Not divided (Dr. GRPO)",
    "each": "Each column normalized in the group, their sum in the batch (GDPO)",
}


@dataclass(frozen=True)
class Step:
    """A line with a label, a number, and a bar from `low` to `high` on a scale of 0 to 1; no bar if both are 0."""

    label: str
    text: str
    low: float = 0.0
    high: float = 0.0
    color: str = ""
    kind: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Dot:
    """A completion in the group, at position `place` (0 to 1) on the line."""

    key: str
    place: float
    text: str
    chosen: bool


@dataclass(frozen=True)
class Explained:
    """The steps to an advantage, the calculation on one line, and the group."""

    steps: Sequence[Step]
    how: str
    equation: str
    note: str
    zero: float
    dots: Sequence[Dot]
    ends: tuple[str, str]
    without: int

    @property
    def props(self) -> dict[str, Any]:
        """This object as plain lists and dicts for the browser."""
        return asdict(self)


def explain_advantage(watched: Watched, row: int, *, by: str = "") -> Explained:
    """Explain the advantage of a completion.

    Args:
        row: the completion's row in the scores.
        by: the component that positions the group's dots; empty for the total.
    """
    scores = watched.scores
    batch, derivation = _derived(watched, row)
    index = int(np.flatnonzero(batch == row)[0])
    group = batch[(scores.group[batch] == scores.group[row]) & (scores.rank[batch] == scores.rank[row])]
    lines = _Lines(watched)
    if np.isnan(scores.total[row]):
        how, equation, note = "", "", _UNSCORABLE
    elif derivation is None:
        note = _UNRECORDED if np.isnan(scores.advantage[row]) else _UNEXPLAINED
        how = equation = ""
        _add_terms(lines, {name: float(term[row]) for name, term in scores.terms.items()})
        lines.sum("total", float(scores.total[row]))
        lines.minus(f"mean of the group ({len(group):,})", float(np.nanmean(scores.total[group])))
    else:
        note, how = _note(derivation, group, scores), _HOW[derivation.way]
        equation = _add_steps(lines, derivation, index, len(group), len(batch))
    if np.isfinite(scores.advantage[row]):
        lines.result("advantage", float(scores.advantage[row]))
    steps, zero = lines.placed()
    return Explained(steps, how, equation, note, zero, *_dots(scores, group, row, by))


def _derived(watched: Watched, row: int) -> tuple[Integers, Derivation | None]:
    """Return the rows in a completion's batch, over all processes, and the derivation of their advantages."""
    scores = watched.scores
    derivations: dict[tuple[int, int], tuple[Integers, Derivation | None]] = watched.cached("derivations", dict)
    key = int(scores.attempt[row]), int(scores.part[row])
    if key not in derivations:
        rows = np.flatnonzero((scores.attempt == key[0]) & (scores.part == key[1]))
        _, groups = np.unique(np.stack([scores.rank[rows], scores.group[rows]]), axis=1, return_inverse=True)
        derivation = derive(
            scores.advantage[rows],
            scores.total[rows],
            {name: term[rows] for name, term in scores.terms.items()},
            groups.reshape(-1),
            {name: values[rows] for name, values in scores.components.items()},
        )
        if len(derivations) >= _KEPT:
            derivations.clear()
        derivations[key] = rows, derivation
    return derivations[key]


def _add_terms(lines: _Lines, terms: dict[str, float], details: dict[str, str] | None = None) -> None:
    finite_terms = {name: value for name, value in terms.items() if not np.isnan(value)}
    for name, value in list(finite_terms.items())[:MAX_TERMS]:
        lines.plus(name, value, (details or {}).get(name, ""))
    rest = list(finite_terms.values())[MAX_TERMS:]
    if rest:
        lines.plus(f"{len(rest)} more terms", sum(rest))


def _add_steps(lines: _Lines, derivation: Derivation, index: int, members: int, size: int) -> str:
    """Add all lines except the result, and return the calculation as an equation."""
    per_column = derivation.way == "each"
    details = {
        name: f"{_weight(column.weight)}({_number(column.scores[index])} − {_subtrahend(column.spread.means[index])}) "
        f"÷ ({_spread(column.spread.deviations[index])})"
        for name, column in derivation.columns.items()
    }
    _add_terms(lines, {name: float(addend[index]) for name, addend in derivation.addends.items()}, details)
    value, mean = float(derivation.values[index]), float(derivation.means[index])
    lines.sum("sum of normalized columns" if per_column else "total", value)
    lines.minus(f"mean of the batch ({size:,})" if per_column else f"mean of the group ({members:,})", mean)
    equation = f"{_number(value)} − {_subtrahend(mean)}"
    if derivation.deviations is not None:
        spread = float(derivation.deviations[index])
        is_batch_spread = derivation.way != "group"
        lines.divide(f"spread of the {'batch' if is_batch_spread else 'group'}", spread)
        equation = f"({equation}) ÷ ({_spread(spread)})"
    return f"{equation} = {_number(float(derivation.advantages[index]), sign=True)}"


def _note(derivation: Derivation, group: Integers, scores: Scores) -> str:
    totals = scores.total[group]
    finite_totals = totals[~np.isnan(totals)]
    if derivation.way != "each" and len(finite_totals) and (finite_totals == finite_totals[0]).all():
        return (
            "All completions of the group have the same total, so training neither reinforces nor "
            "discourages any of them."
        )
    return ""


class _Lines:
    """The lines of a calculation. Each bar begins at the end of the previous bar."""

    def __init__(self, watched: Watched) -> None:
        self._components = watched.components
        self._steps: list[Step] = []
        self._at = 0.0

    def plus(self, name: str, value: float, detail: str = "") -> None:
        color, end = color_of(name, self._components), self._at + value
        self._steps.append(Step(one_line(name, 40), _number(value, sign=True), self._at, end, color, "term", detail))
        self._at = end

    def sum(self, label: str, value: float, *, sign: bool = False) -> None:
        self._at = value
        self._steps.append(Step(label, _number(value, sign=sign), 0.0, value, "var(--soft)", "sum"))

    def minus(self, label: str, value: float) -> None:
        end = self._at - value
        self._steps.append(Step(f"− {label}", _number(value), self._at, end, "var(--rule)", "minus"))
        self.sum("difference", end, sign=True)

    def divide(self, label: str, value: float) -> None:
        self._steps.append(Step(f"÷ {label}", _spread(value), kind="divide"))

    def result(self, label: str, value: float) -> None:
        self._steps.append(Step(label, _number(value, sign=True), kind="result"))

    def placed(self) -> tuple[list[Step], float]:
        """Return the lines with their bars on a common scale, and the position of zero on that scale."""
        ends = [end for step in self._steps for end in (step.low, step.high) if np.isfinite(end)]
        low, high = min([0.0, *ends]), max([0.0, *ends])

        def at(value: float) -> float:
            return (value - low) / (high - low or 1.0) if np.isfinite(value) else 0.0

        def scaled(step: Step) -> Step:
            return replace(step, low=at(min(step.low, step.high)), high=at(max(step.low, step.high)))

        return [scaled(step) if step.color else step for step in self._steps], at(0.0)


def _dots(scores: Scores, group: Integers, row: int, by: str) -> tuple[list[Dot], tuple[str, str], int]:
    values: Floats = scores.components.get(by, scores.total)[group]
    finite = values[np.isfinite(values)]
    if not len(finite):
        return [], ("", ""), len(values)
    low, high = float(finite.min()), float(finite.max())
    dots = [
        Dot(
            key_text(scores.key(int(member))),
            (float(value) - low) / (high - low) if high > low else 0.5,
            _number(float(value)),
            int(member) == row,
        )
        for member, value in zip(group.tolist(), values.tolist(), strict=True)
        if np.isfinite(value)
    ]
    return dots[:MAX_DOTS], (_number(low), _number(high)), len(values) - len(finite)


def _weight(weight: float) -> str:
    return "" if weight == 1.0 else f"{weight:g} × "


def _number(value: float, *, sign: bool = False) -> str:
    """Format a number as ``0.500`` or ``-0.500``. Small numbers keep three digits."""
    if np.isnan(value):
        return "–"
    size = abs(value)
    if size < _NOTHING:
        return "+0.000" if sign else "0.000"
    # Three decimals, unless they would be long or all zero.
    digits = f"{size:.3g}" if size >= 1e6 or size < 0.001 else f"{size:.3f}"
    return f"{'-' if value < 0.0 else '+' if sign else ''}{digits}"


def _spread(value: float) -> str:
    return f"{value:.4f} + {_EPSILON}"  # as many digits as _EPSILON


def _subtrahend(value: float) -> str:
    return f"({_number(value)})" if value <= -_NOTHING else _number(value)
