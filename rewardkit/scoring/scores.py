"""Scores of saved completions in a compact form that can be sent between processes.

``score(Scorer(reward), Work(["<answer>42</answer>"], None, None, {"answer": ["42"]})).total`` is ``array([1.])``.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Codes, Floats
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.score import FAILED, Outcome
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import BindingError, CoercionError, RewardBug, RewardFailure, RunStopped
from rewardkit.tree.evaluation.scorer import Scorer

_ROW = re.compile(r"(, |(?<=\n  )|(?<=: ))row \d+(?=:|, completion| has )")
"""A reference to a row in the batch in an error message."""


@dataclass(frozen=True)
class Scores:
    """The scores of n completions.

    Attributes:
        total: (n,) the totals, or NaN for a row without a total.
        components: name -> (n,) raw values, NaN if not scored.
        codes: name -> (n,) indices into ``list(rk.Outcome)``.
        notes: name -> row -> note.
        errors: row -> the reasons why the row could not be scored, or the bugs that caused rewards to use their lowest
            bounds.
        seconds: name -> the duration of the calls, including waiting.
    """

    total: Floats
    components: Mapping[str, Floats]
    codes: Mapping[str, Codes]
    notes: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    errors: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, table: ScoreTable) -> Scores:
        reasons_by_row: dict[int, list[str]] = {}
        for fault in table.faults:
            if np.isnan(table.total[fault.row]) or fault.outcome is Outcome.ERRORED:
                reasons_by_row.setdefault(fault.row, []).append(fault.explanation)
        return cls(
            table.total,
            {name: column.scored for name, column in table.components.items()},
            {name: column.codes for name, column in table.components.items()},
            {name: dict(column.notes) for name, column in table.components.items() if column.notes},
            {row: tuple(dict.fromkeys(reasons)) for row, reasons in reasons_by_row.items()},
            table.timings,
        )

    @classmethod
    def none(cls, names: Iterable[str], size: int, reason: str) -> Scores:
        """Return Scores for `size` rows that could not be scored because of `reason`."""
        absent, listed = np.full(size, np.nan), list(names)
        codes = np.full(size, FAILED, dtype=np.int8)
        errors = dict.fromkeys(range(size), (reason,))
        return cls(absent, dict.fromkeys(listed, absent), dict.fromkeys(listed, codes), {}, errors)

    @classmethod
    def joined(cls, parts: Sequence[Scores]) -> Scores:
        """Join the scores for consecutive rows."""
        if len(parts) == 1:
            return parts[0]
        starts = list(itertools.accumulate((len(part.total) for part in parts), initial=0))
        notes: dict[str, dict[int, str]] = {}
        seconds: Counter[str] = Counter()
        for part, start in zip(parts, starts, strict=False):
            seconds.update(part.seconds)
            for name, row_notes in part.notes.items():
                notes.setdefault(name, {}).update({start + row: note for row, note in row_notes.items()})
        return cls(
            np.concatenate([part.total for part in parts]),
            {name: np.concatenate([part.components[name] for part in parts]) for name in parts[0].components},
            {name: np.concatenate([part.codes[name] for part in parts]) for name in parts[0].codes},
            notes,
            {
                start + row: reasons
                for part, start in zip(parts, starts, strict=False)
                for row, reasons in part.errors.items()
            },
            seconds,
        )


@dataclass(frozen=True)
class Work:
    """The rows for a process to score.

    Attributes:
        completions, prompts, completion_ids, columns: as in a `Batch`.
        sizes: the group sizes, or None if rows are independent.
        cut: whether each completion reached the token limit, or None if unknown.
    """

    completions: list[Any]
    prompts: list[Any] | None
    completion_ids: list[Any] | None
    columns: Mapping[str, list[Any]]
    sizes: tuple[int, ...] | None = None
    cut: list[bool] | None = None

    @property
    def units(self) -> int:
        """The number of units into which the work can be split: rows or whole groups."""
        return len(self.completions) if self.sizes is None else len(self.sizes)

    def part(self, first: int, last: int) -> Work:
        """Return the units from `first` to `last` (excluded)."""
        sizes = None if self.sizes is None else self.sizes[first:last]
        start, stop = (first, last) if self.sizes is None else (sum(self.sizes[:first]), sum(self.sizes[:last]))
        return Work(
            self.completions[start:stop],
            None if self.prompts is None else self.prompts[start:stop],
            None if self.completion_ids is None else self.completion_ids[start:stop],
            {name: values[start:stop] for name, values in self.columns.items()},
            sizes,
            None if self.cut is None else self.cut[start:stop],
        )

    def halves(self) -> tuple[Work, Work]:
        middle = self.units // 2
        return self.part(0, middle), self.part(middle, self.units)


def score(scorer: Scorer, work: Work) -> Scores:
    """Score `work`. A row that cannot be scored does not affect the other rows.

    Raises:
        RunStopped: every other row would also fail, for example, because of an invalid key or an exhausted quota.
    """
    try:
        return Scores.joined([_score_work(scorer, part) for part in _even(work)])
    except RunStopped:
        raise
    except (BindingError, CoercionError, RewardBug, RewardFailure) as error:
        if work.units == 1:
            return Scores.none(
                scorer.components, len(work.completions), _locate_message(str(error), len(work.completions))
            )
    return Scores.joined([score(scorer, half) for half in work.halves()])


def _locate_message(message: str, size: int) -> str:
    """Return an error message without the row number if the batch has one row; otherwise, add "of its group"."""
    if size > 1:
        return _ROW.sub(r"\g<0> of its group", message)
    return _ROW.sub(lambda match: "" if match[1] else "this row", message)


def _even(work: Work) -> Iterator[Work]:
    """Split `work` into batches of consecutive groups of equal size."""
    if work.sizes is None:
        yield work
        return
    cuts = [0, *(np.flatnonzero(np.diff(work.sizes)) + 1).tolist(), len(work.sizes)]
    for first, last in pairwise(cuts):
        yield work.part(first, last)


def _score_work(scorer: Scorer, work: Work) -> Scores:
    if any(completion is None for completion in work.completions):
        raise BindingError("this row has no completion")
    batch = Batch(
        work.completions,
        prompts=work.prompts,
        completion_ids=work.completion_ids,
        columns=work.columns,
        num_generations=work.sizes[0] if work.sizes else None,
        rollouts=RolloutInfo(cut=work.cut),
    )
    return Scores.of(scorer.score(batch, strict=False, on_unparsable_gold="fail"))
