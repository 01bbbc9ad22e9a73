"""Held-out completions and their scores, before and after a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.column import Column
from rewardkit.core.batch.score import SKIPPED
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree.reward import Reward


@dataclass(frozen=True)
class Evaluation:
    """Each completion with its total, and the means of the total and of every component.

    Attributes:
        totals: NaN if a completion could not be scored; means skip these.
        total: the mean of the totals; NaN if no completion could be scored.
    """

    completions: list[str]
    totals: list[float]
    means: dict[str, float]
    total: float

    @property
    def unscorable(self) -> int:
        """How many completions could not be scored."""
        return int(np.isnan(self.totals).sum())


def scored(
    reward: Reward,
    completions: Sequence[Any],
    *,
    prompts: Sequence[Any],
    columns: Mapping[str, Sequence[Any]],
    completion_ids: Sequence[Sequence[int]] | None = None,
    generations: int = 1,
) -> Evaluation:
    """Score completions, with the schedules at their final values. An error in one row does not affect the others.

    Args:
        completions: texts or lists of messages, `generations` in a row for each prompt.
        prompts, columns: one value per completion.
        completion_ids: the token ids of each, for rewards that count tokens.

    Raises:
        BindingError: a column that the reward reads is missing.
    """
    batch = Batch(
        completions,
        prompts=prompts,
        completion_ids=completion_ids,
        columns=columns,
        num_generations=generations,
    )
    table = Scorer(reward).score(batch, strict=False, on_unparsable_gold="fail")
    return Evaluation(
        completions=batch.texts,
        totals=table.total.tolist(),
        means={name: mean_where_it_applies(column) for name, column in table.components.items()},
        total=_mean(table.total),
    )


def mean_where_it_applies(column: Column) -> float:
    """Return the mean over the rows that a component applies to; a row behind a closed gate counts as 0.

    The mean over scored rows only would be highest if only the easiest completion reached the component.
    """
    applies = column.contributing | (column.codes == SKIPPED)
    return _mean(np.nan_to_num(column.values, nan=0.0)[applies])


def _mean(values: Any) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
