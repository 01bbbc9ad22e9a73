"""A second opinion on alerts: a judge reads the completions that an alert shows and decides whether they do the task.

``second_opinions(alerts, evidence, task_judge("gpt-5-mini"))[0].counts`` is ``{"does": 1, "does_not": 7, "undecided":
0}``. The second opinion is shown next to the alert and does not change the alert's strength. The judge does not see the
alert.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rewardkit.alerts.evidence import Alert, Evidence, Integers, Texts
from rewardkit.batch.batch import Batch
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import EvidenceError, RewardKitError
from rewardkit.tree.conversion import RewardLike
from rewardkit.tree.evaluation.scorer import Scorer

Verdict = Literal["does", "does_not", "undecided"]
"""The judge's verdict on whether a completion does the task."""
DOES, DOES_NOT = 2 / 3, 1 / 3
"""A completion does the task if its score is at least `DOES`, and does not do the task if it is at most `DOES_NOT`."""


@dataclass(frozen=True)
class RowVerdict:
    """The verdict on one completion.

    Attributes:
        row: the completion, as an index into the Evidence arrays.
        verdict: ``"does"``, ``"does_not"``, or ``"undecided"``.
        reason: the judge's reason, or the reason why there is no verdict. It may quote a completion, so escape it
            before you display it.
    """

    row: int
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class SecondOpinion:
    """The verdicts on an alert's completions, in the order of the alert's rows."""

    rows: tuple[RowVerdict, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The number of completions for each verdict."""
        verdicts = [row_verdict.verdict for row_verdict in self.rows]
        return {verdict: verdicts.count(verdict) for verdict in ("does", "does_not", "undecided")}

    def __str__(self) -> str:
        counts = self.counts
        return (
            f"{counts['does']} of {len(self.rows)} completions do the task, {counts['does_not']} do not, "
            f"{counts['undecided']} undecided"
        )


def second_opinions(
    alerts: Sequence[Alert],
    evidence: Evidence,
    judge: RewardLike,
    *,
    batch_of: Callable[[Integers], Batch] | None = None,
) -> list[SecondOpinion]:
    """Ask a judge about the completions for each alert, once per distinct row.

    If the judge fails in any way, the verdict is undecided and the reason describes the problem. The alerts are never
    lost.

    Args:
        alerts: the alerts that `suspicious` found in `evidence`.
        evidence: the run's data.
        judge: `rewardkit.rewards.judges.judge.task_judge`, or your own reward that scores a completion 1 if it does the
            task and 0 if it does not. A score of at least 2/3 means that the completion does the task, and a score of
            at most 1/3 means that it does not. Scores in between are undecided.
        batch_of: a function that returns the batch for given row indices, with columns and all turns, for the judge to
            score. By default, the judge gets the completions in `evidence` without columns.
    """
    rows = np.unique(np.array([row for alert in alerts for row in alert.rows], dtype=np.int64))
    verdicts = dict(zip(rows.tolist(), _verdicts(rows, evidence, judge, batch_of), strict=True)) if len(rows) else {}
    return [SecondOpinion(tuple(verdicts[row] for row in alert.rows)) for alert in alerts]


def _verdicts(
    rows: Integers, evidence: Evidence, judge: RewardLike, batch_of: Callable[[Integers], Batch] | None
) -> list[RowVerdict]:
    try:
        table = Scorer(judge).score(_of_texts(rows, evidence) if batch_of is None else batch_of(rows))
    except Exception as error:
        reason = str(error) if isinstance(error, RewardKitError) else f"{type(error).__name__}: {error}"
        return [RowVerdict(row, "undecided", f"the judge could not be asked: {reason}") for row in rows.tolist()]
    faults = {fault.row: fault.reason for fault in table.faults}
    notes = _notes(table)
    return [
        RowVerdict(row, "undecided", faults[index])
        if index in faults
        else RowVerdict(row, _verdict(float(table.total[index])), notes[index])
        for index, row in enumerate(rows.tolist())
    ]


def _verdict(score: float) -> Verdict:
    if score >= DOES:
        return "does"
    return "does_not" if score <= DOES_NOT else "undecided"


def _notes(table: ScoreTable) -> list[str]:
    """Return the judge's notes on each row; if there are several judges, the notes include their names."""
    row_notes: list[list[str]] = [[] for _ in range(len(table))]
    for name, notes in table.notes.items():
        for index, note in enumerate(notes):
            if note:
                row_notes[index].append(note if len(table.notes) == 1 else f"{name}: {note}")
    return ["; ".join(notes) for notes in row_notes]


def _of_texts(rows: Integers, evidence: Evidence) -> Batch:
    if evidence.completions is None:
        raise EvidenceError("a judge reads completions, but this evidence has none. Pass Evidence(completions=...)")
    prompts = evidence.prompt_texts
    return Batch(_read(evidence.completions, rows), prompts=None if prompts is None else _read(prompts, rows))


def _read(texts: Texts, rows: Integers) -> Sequence[str]:
    return texts(rows) if callable(texts) else [texts[row] for row in rows.tolist()]
