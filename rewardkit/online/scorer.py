"""RowScorer, which scores rows as they arrive in any thread and raises an exception when the run must stop."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rewardkit.batch.column import Floats
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import CoercionError, RewardBug, RewardDefinitionError, RewardFailure, RewardKitError, warn
from rewardkit.online.batches import Scored, batch_of, failed, kinds, score_with_retries, tables
from rewardkit.online.breaker import LIMITS, Breaker, Limits, WrongColumns, tolerant
from rewardkit.online.faults import FaultReport, fault_counts, unparsable_golds
from rewardkit.online.rows import Moment, Row, RowScore, row_scores
from rewardkit.online.special_tokens import SpecialTokens
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.progress.progress import Progress
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import bindings

if TYPE_CHECKING:
    from rewardkit.online.recording import RowRecording

_ROWS = 64
"""The number of rows in one batch for the breaker. The number is arbitrary."""
_PROBES = ("", "probe")
_SHOWN = 10
"""The maximum number of gold answers that an error from `probe` lists. The limit is arbitrary and keeps the error
readable."""


@final
class RowScorer:
    """A thread-safe scorer for rows that arrive at any time. It is pickled without its state.

    ``RowScorer(reward, TrainerInputs("verl")).score([Row("42", columns={"answer": "42"})])``

    As in every training run, a row whose gold answer cannot be read does not get a score. If none of the first 64 rows
    has a readable gold answer, the scorer stops the run.

    Args:
        reward: the tree, a plain function, or a list of rewards and functions.
        offers: the inputs that the trainer provides.
        special_tokens: a tokenizer, or the tokens (as strings) to remove from completions.
        record: a run's folder, to which scored rows are written.
        limits: the limits for failed and errored rows at which the scorer stops the run; 64 rows in this process count
            as a batch. A bug in a reward without a lowest score stops the run immediately unless `max_error_rate` is
            1.0. A column without readable gold answers stops the run unless `max_failure_rate` is 1.0.
        examples: dataset rows on which the reward is tested immediately.

    Raises:
        RewardTypeError: `reward` is not a reward, or `special_tokens` is neither a tokenizer nor strings.
        RewardDefinitionError: the reward needs an input that the trainer does not pass.
        BindingError, CoercionError, RewardFailure: the reward cannot score `examples`.
    """

    def __init__(
        self,
        reward: Any,
        offers: TrainerInputs,
        *,
        special_tokens: Any = (),
        record: str | os.PathLike[str] | None = None,
        limits: Limits = LIMITS,
        examples: Iterable[Any] | None = None,
    ) -> None:
        self.scorer = Scorer(reward)
        self.offers = offers
        self.special_tokens = SpecialTokens.of(special_tokens)
        self._options: dict[str, Any] = {
            "special_tokens": self.special_tokens,
            "record": record,
            "limits": limits,
        }
        self._bugs_stop = limits.max_error_rate < 1.0
        self._cells_stop = any(
            parameter.on_unparsable_gold == "raise"
            for _, binding in bindings(self.scorer.reward)
            for parameter in binding.parameters
        )
        offers.check(self.scorer)
        self._recording: RowRecording | None = None
        if record is not None:
            from rewardkit.online.recording import RowRecording

            self._recording = RowRecording(record, self.scorer)
        self._lock = threading.Lock()
        self._breaker = Breaker(limits)
        self._columns = WrongColumns(self.scorer) if limits.max_failure_rate < 1.0 else None
        self._counts: Floats = np.zeros((len(self.scorer.components), 6))
        self._rows = 0
        self._golds: set[tuple[str, str]] = set()  # the unreadable ones of these rows
        self._faults = FaultReport()
        self._stopped: RewardKitError | None = None
        self._warned = False
        if examples is not None:
            self.probe(examples)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(RowScorer, **self._options), (self.scorer.reward, self.offers)

    def probe(self, examples: Iterable[Any]) -> None:
        """Score two texts for each example; raise an exception if this fails (a missing column, a bug in a reward).

        Args:
            examples: dictionaries of columns, like rows of the dataset; ``prompt`` is the prompt.

        Raises:
            BindingError: a column is missing.
            CoercionError: a cell cannot be converted. All unreadable gold answers are listed in one error.
            RewardBug: a reward function raised an exception or returned something that is not a score.
        """
        rows = [
            Row(text, example.get("prompt"), {name: cell for name, cell in example.items() if name != "prompt"})
            for example in examples
            for text in _PROBES
        ]
        if not rows:
            raise RewardDefinitionError("examples= is empty: pass rows from the dataset, such as [{'answer': '42'}]")
        unread: dict[str, int] = {}
        for positions in kinds(rows):
            batch = batch_of([rows[position] for position in positions], None)
            for fault in self.scorer.score(batch, strict=True, on_unparsable_gold="fail").faults:
                if fault.unparsable and fault.component not in tolerant(self.scorer):
                    unread.setdefault(f"{fault.component}: {fault.reason}", positions[fault.row] // len(_PROBES))
        if unread:
            listed = [f"  example {number}: {reason}" for reason, number in list(unread.items())[:_SHOWN]]
            more = [f"  ... and {len(unread) - _SHOWN:,} more"] if len(unread) > _SHOWN else []
            summary = f"{len(unread):,} gold answer{'s' * (len(unread) > 1)} in examples= cannot be read:"
            raise CoercionError("\n".join([summary, *listed, *more]))

    def score(
        self,
        rows: Sequence[Row],
        *,
        progress: Progress | None = None,
        num_generations: int | None = None,
        step: int | None = None,
        training: bool = True,
        patience: float = 0.0,
        strict: bool = False,
    ) -> list[RowScore]:
        """Return the scores for `rows`, in the same order.

        Args:
            progress: the training progress, or None if unknown.
            num_generations: the number of completions per group if the rows are whole groups. Groups are scored
                together, so an error raises an exception.
            step: the training step, for the record.
            training: False for evaluation.
            patience: the seconds during which failed rows are retried. Rows in groups are not retried.
            strict: whether to raise an exception for a missing column, a cell that cannot be converted, or a bug in a
                reward. In this case, the rows are a whole batch.

        Raises:
            RunStopped: every later row would also fail, for example, because of an invalid key or an exhausted quota.
            RewardFailure, RewardBug: too many rows failed, or too many rows triggered a bug in a reward. Every later
                call raises the same error.
            CoercionError: no gold answer in a column can be read. Every later call raises the same error.
            RewardBug: `strict` is True and a reward has a bug.
            BindingError, CoercionError: `num_generations` or `strict` is set, and a column is missing or a cell cannot
                be converted.
        """
        if self._stopped is not None:
            raise self._stopped
        clean, moment = [self._clean(row) for row in rows], Moment(progress, step, training, num_generations)
        scores: list[RowScore | None] = [None] * len(clean)
        try:
            for positions, table, _ in self._tables(clean, moment, patience, strict):
                for position, score in zip(positions, row_scores(table), strict=True):
                    scores[position] = score
                self._record(table, [clean[position] for position in positions], moment)
                self._count(table, is_complete=strict)
        except (RewardBug, CoercionError) as error:
            if not strict and (self._bugs_stop if isinstance(error, RewardBug) else self._cells_stop):
                self._stopped = self._stopped or error
            raise
        return [score for score in scores if score is not None]

    def refuse(self, row: Row, reason: str, *, recorded: bool = True) -> RowScore:
        """Count a row that failed before it could be scored, and return its scores.

        Args:
            recorded: whether to record the row.

        Raises:
            RewardFailure: as for `score`.
        """
        if self._stopped is not None:
            raise self._stopped
        table = failed(self.scorer, row, RewardFailure(reason))
        if recorded:
            self._record(table, [row], Moment())
        self._count(table)
        return row_scores(table)[0]

    def _tables(self, rows: Sequence[Row], moment: Moment, patience: float, strict: bool) -> Iterator[Scored]:
        if moment.num_generations is None and not strict:
            score = partial(
                tables,
                self.scorer,
                rows,
                progress=moment.progress,
                bugs_stop=self._bugs_stop,
                cells_stop=self._cells_stop,
            )
            for positions in kinds(rows):
                yield from score_with_retries(score, positions, patience, self._waits)
        elif rows:
            batch = batch_of(rows, moment.progress, moment.num_generations)
            yield Scored(range(len(rows)), self.scorer.score(batch, strict=strict, on_unparsable_gold="fail"))

    def _waits(self, table: ScoreTable) -> None:
        """Log the faults in rows that will be retried; raise an exception if the run was stopped in the meantime."""
        self._faults.add(table)
        if self._stopped is not None:
            raise self._stopped

    def _record(self, table: ScoreTable, rows: Sequence[Row], moment: Moment) -> None:
        if self._recording is not None:
            self._recording.add(table, rows, moment)

    def flush(self) -> None:
        """Write all pending rows in the record to disk."""
        if self._recording is not None:
            self._recording.flush()

    def _clean(self, row: Row) -> Row:
        completion = self.special_tokens.removed(row.completion)
        if token := self.special_tokens.missed(row.completion):
            if not self._warned:
                self._warned = True
                note = "only the last one is removed" if self.offers.end_token else "a reward reads them as text"
                warn(
                    f"{self.offers.trainer} passes completions with special tokens, such as {token!r}, and {note}. "
                    "Pass special_tokens=tokenizer, or a list: special_tokens=[...]"
                )
            if self.offers.end_token:
                completion = completion[: completion.rindex(token)]
        if completion is row.completion:
            return row
        return replace(row, completion=completion)

    def _count(self, table: ScoreTable, *, is_complete: bool = False) -> None:
        """Count and log the faults in scored rows.

        Args:
            is_complete: whether the rows are one of the trainer's whole batches; if so, a column without readable gold
                answers stops the run immediately.
        """
        self._faults.add(table)
        start = 0
        stop: RewardKitError | None = None
        while start < len(table) and stop is None:
            with self._lock:
                part = table.part(start, start + _ROWS - self._rows)  # the breaker counts batches of rows, not calls
                start += len(part)
                self._counts = self._counts + fault_counts(part)
                self._rows += len(part)
                self._golds |= unparsable_golds(part)
                counts, names = self._counts.tolist(), list(part.components)
                if self._columns is not None and (self._rows == _ROWS or (is_complete and start == len(table))):
                    stop = self._columns.add(counts, names, self._golds.copy)
                if self._rows == _ROWS:
                    stop = stop or self._breaker.add(counts, names)
                    self._counts, self._rows, self._golds = np.zeros_like(self._counts), 0, set()
                self._stopped = self._stopped or stop
        if stop is not None:
            raise stop
