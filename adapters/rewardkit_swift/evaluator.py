"""The evaluator behind the reward functions of one reward: it scores each batch once."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from rewardkit.core.batch.column import Floats
from rewardkit.core.errors import RewardDefinitionError, RewardFailure, warn
from rewardkit.core.progress.progress import Progress
from rewardkit.online.rows import COMPONENTS, RowScore
from rewardkit.online.scorer import RowScorer
from rewardkit.online.shared_tables import SharedTables
from rewardkit.online.special_tokens import SpecialTokens
from rewardkit_swift.calls import OrmCall
from rewardkit_swift.checks import check_trainer
from rewardkit_swift.neutral import neutral
from rewardkit_swift.trainer import Trainer

_WHOLE_GROUPS = (
    "Make per_device_train_batch_size * steps_per_generation a multiple of num_generations, so that each process has "
    "all completions of its prompts"
)


@final
class Evaluator:
    """Scores batches for the reward functions of all terms.

    Args:
        scorer: scores rows.
        finds_tokens: remove the special tokens of the trainer's tokenizer from completions.
    """

    def __init__(self, scorer: RowScorer, *, finds_tokens: bool) -> None:
        self.scorer = scorer
        self.terms = scorer.scorer.terms
        self._finds_tokens = finds_tokens
        self._tables: SharedTables[OrmCall] = SharedTables(readers=len(self.terms))
        self._trainers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._strict = True  # a bug raises until the first training batch is scored

    def column(self, term: str, call: OrmCall) -> list[float | None]:
        """Return one term of a batch, one value per row.

        Raises:
            RewardDefinitionError: the trainer's settings change what the reward means.
            RewardFailure: a row has no score and cannot be left out; too many rows have failed or errored.
        """
        values: list[float] = self._tables.get(term, call, self._table)[term].tolist()
        return [None if value != value else value for value in values]

    def _table(self, call: OrmCall) -> Mapping[str, Floats]:
        trainer = Trainer.calling(call.orm)
        self._meet(trainer)
        progress = self._progress(call, trainer)
        arguments = getattr(call.orm, "args", None)
        size = call.group_size(_num_generations(arguments, trainer))
        together = self.scorer.scorer.together == "group"
        if together and size is None:
            raise RewardFailure(
                "ms-swift: this reward compares the completions of a prompt, but this process has only a part of "
                f"them. {_WHOLE_GROUPS}"
            )
        scores = self.scorer.score(
            call.rows(),
            progress=progress,
            num_generations=size if together else None,
            step=None if progress is None else progress.step,
            training=trainer.training,
            strict=self._strict,
        )
        self._strict = self._strict and not trainer.training
        trainer.log(_measured(scores))
        terms = np.array([[score.terms[name] for name in self.terms] for score in scores], dtype=np.float64)
        scored = np.array([score.scored for score in scores], dtype=np.bool_)
        if size is None and trainer.training:
            if lost := [score for score in scores if not (score.scored or score.unparsable)]:
                raise RewardFailure(_stranded(lost, len(scores)))
            # The same in all processes, for all completions of a prompt whose gold cannot be read: no advantage.
            terms[~scored] = 0.0
        elif not scored.all():
            each = getattr(arguments, "scale_rewards", None) == "gdpo"
            terms = neutral(terms, scored, size or len(scores), each=each)
        return dict(zip(self.terms, terms.T, strict=True))

    def _meet(self, trainer: Trainer) -> None:
        """Check a trainer at its first call, and look at its tokenizer."""
        if trainer.instance is None or trainer.instance in self._trainers:
            return
        check_trainer(trainer, self.terms, self)
        self._trainers.add(trainer.instance)
        if self._finds_tokens and trainer.tokenizer is not None:
            self.scorer.special_tokens = SpecialTokens.of(trainer.tokenizer)

    def _progress(self, call: OrmCall, trainer: Trainer) -> Progress | None:
        """Return the training progress; None if unknown."""
        progress = call.progress(trainer.training)
        if progress is None and self.scorer.scorer.scheduled:
            raise RewardDefinitionError(
                "ms-swift: the reward follows training progress, but this trainer passes no trainer_state, as with "
                "Ray. Put plain numbers in place of schedules"
            )
        if progress is not None and trainer.training and self._strict:
            for late in self.scorer.scorer.late(progress.max_steps):
                warn(late)
        return progress


def _num_generations(arguments: Any, trainer: Trainer) -> Any:
    held = getattr(arguments, "num_generations", None)
    return held if trainer.training else getattr(arguments, "num_generations_eval", None) or held


def _measured(scores: Sequence[RowScore]) -> dict[str, float]:
    """Return what is logged of a batch: the means of the components, and the shares of rows without a score."""
    means = {}
    for name in scores[0].components if scores else ():
        values = [value for score in scores if (value := score.components[name]) is not None]
        if values:
            means[f"{COMPONENTS}{name}"] = sum(values) / len(values)
    rows = max(len(scores), 1)
    unparsable = sum(score.unparsable for score in scores) / rows
    return {**means, "unscorable": sum(not score.scored for score in scores) / rows, "unparsable_gold": unparsable}


def _stranded(lost: Sequence[RowScore], rows: int) -> str:
    return (
        f"ms-swift: {len(lost)} of {rows} completions have no score ({lost[0].why}). ms-swift would count "
        "them as 0, and they cannot get the mean of their group, because this process has only a part of it. "
        f"{_WHOLE_GROUPS}"
    )
