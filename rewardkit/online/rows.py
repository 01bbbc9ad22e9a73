"""A row to score and its scores, without arrays, for trainers that pass one row at a time.

``RowScorer(reward, "verl").score([Row("42", columns={"answer": "42"})])[0].total`` is 1.0.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rewardkit.batch.column import Rows
from rewardkit.batch.score import FAILED, Fault, Outcome
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import RewardFailure
from rewardkit.progress.progress import Progress

_OUTCOMES = [str(outcome) for outcome in Outcome]
COMPONENTS = "components/"
"""The prefix for component names in a trainer's log, as in TRL's log."""


@dataclass(frozen=True, slots=True)
class Row:
    """One completion with its prompt and its columns.

    Attributes:
        completion: a string or a list of messages. It never contains the prompt.
        prompt: a string or a list of messages, or None if the trainer does not pass the prompt.
        columns: column -> cell, for the dataset row.
        completion_ids: the completion's token ids, if known.
        cut: whether the completion was cut off at the token limit, or None if unknown.
        runs_calls: whether the trainer runs the calls in messages; if so, calls that remain in the text do not count.
    """

    completion: Any
    prompt: Any = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    completion_ids: Sequence[int] | None = None
    cut: bool | None = None
    runs_calls: bool = False

    def __reduce__(self) -> tuple[Any, ...]:  # four times as fast as the default of dataclasses
        return Row, (self.completion, self.prompt, self.columns, self.completion_ids, self.cut, self.runs_calls)


@dataclass(frozen=True, slots=True)
class Moment:
    """The point in training at which rows are scored, and their grouping.

    Attributes:
        progress: the training progress, or None if unknown.
        step: the training step, for the record.
        training: False for evaluation.
        num_generations: the number of completions per group if the rows are whole groups, or None if the rows are
            independent.
    """

    progress: Progress | None = None
    step: int | None = None
    training: bool = True
    num_generations: int | None = None


@dataclass(frozen=True, slots=True)
class RowScore:
    """The scores for one row. Every row has the same names: all terms and components of the reward.

    Attributes:
        total: None if the row is unscorable: a component failed, or all of them abstained.
        terms: name -> the share of the total, or None if the reward abstained or the row is unscorable.
        components: name -> the raw value, or None if the component was not scored.
        outcomes: component -> ``scored``, ``abstained``, ``failed``, ``errored``, or ``skipped``.
        notes: component -> the reason for its value; components without a note are omitted.
        reasons: the reasons why components failed or errored: ``"judge: no answer within 30 s"``.
        unparsable: whether an unreadable gold answer is the only reason why the row does not have a total.
    """

    total: float | None
    terms: Mapping[str, float | None]
    components: Mapping[str, float | None]
    outcomes: Mapping[str, str]
    notes: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    unparsable: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        numbers = (self.total, self.terms, self.components)
        return RowScore, (*numbers, self.outcomes, self.notes, self.reasons, self.unparsable)

    @property
    def scored(self) -> bool:
        """Whether the row has a total."""
        return self.total is not None

    @property
    def failed(self) -> bool:
        """Whether the row lacks a total because a component failed, so that a retry may succeed."""
        return not (self.scored or self.unparsable) and _OUTCOMES[FAILED] in self.outcomes.values()

    @property
    def why(self) -> str:
        """The reason why the row lacks a total, on one line, or an empty string if it has a total."""
        if self.scored:
            return ""
        return "; ".join(self.reasons) or "every component abstained, so no reward applies to this row"

    def value(self) -> float:
        """Return the total.

        Raises:
            RewardFailure: the row lacks a total; the message explains why.
        """
        if self.total is None:
            raise RewardFailure(f"this completion has no score: {self.why}")
        return self.total

    def numbers(self, reserved: Container[str] = ()) -> dict[str, float | None]:
        """Return the numbers for a trainer's log: the terms by name, and the components as ``components/<name>``.

        Args:
            reserved: names that already have a meaning in the log. Terms with these names get the prefix ``terms/``.
        """
        terms = {f"terms/{name}" if name in reserved else name: value for name, value in self.terms.items()}
        return terms | {f"{COMPONENTS}{name}": value for name, value in self.components.items()}


def row_scores(table: ScoreTable) -> list[RowScore]:
    """Return a table's scores, row by row."""
    faults: dict[int, list[Fault]] = {}
    for fault in table.faults:
        faults.setdefault(fault.row, []).append(fault)
    totals = _cells(table.total)
    terms = {name: _cells(values) for name, values in table.terms.items()}
    raw = {name: _cells(column.scored) for name, column in table.components.items()}
    codes = {name: column.codes.tolist() for name, column in table.components.items()}
    unparsable = {fault.row for fault in table.faults if fault.unparsable and totals[fault.row] is None}
    unparsable -= set(np.flatnonzero(failed_rows(table)).tolist()) if unparsable else set()
    return [
        RowScore(
            totals[row],
            {name: values[row] for name, values in terms.items()},
            {name: values[row] for name, values in raw.items()},
            {name: _OUTCOMES[row_codes[row]] for name, row_codes in codes.items()},
            {name: column.notes[row] for name, column in table.components.items() if row in column.notes},
            tuple(dict.fromkeys(fault.explanation for fault in faults.get(row, ()))),
            row in unparsable,
        )
        for row in range(len(table))
    ]


def failed_rows(table: ScoreTable) -> Rows:
    """Return a mask (n,) of the rows that lack a total because a component failed, so that a retry may succeed."""
    failed = np.zeros(len(table), dtype=np.bool_)
    for name, column in table.components.items():
        failed |= (column.codes == FAILED) & ~table.unparsable(name)
    return failed & np.isnan(table.total)


def unscored(terms: Sequence[str], components: Sequence[str], reason: str) -> RowScore:
    """Return the scores for a row that could not be scored at all."""
    return RowScore(
        None,
        dict.fromkeys(terms),
        dict.fromkeys(components),
        dict.fromkeys(components, _OUTCOMES[FAILED]),
        {},
        (reason,),
    )


def _cells(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
