"""Learning signal before training: ``print(estimate_signal(reward, "samples.jsonl", num_generations=8))``.

GRPO learns only from prompts whose completions score differently. From samples of the model that you will train,
estimate how many prompts that is, which gates nothing passes, and what the calls to a judge will cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rewardkit.analysis.readiness import Signal, signal_of
from rewardkit.core.batch.score import ERRORED, FAILED, SCORED
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.errors import DataError, RewardDefinitionError
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.progress.progress import Progress
from rewardkit.core.tree.conversion import RewardLike
from rewardkit.data.samples import Data, arranged, read


def estimate_signal(
    reward: RewardLike | Sequence[Any],
    data: Data,
    *,
    num_generations: int | None = None,
    steps: int | None = None,
    completions_per_step: int | None = None,
    price_per_call: float | Mapping[str, float] | None = None,
    completion: str = "completion",
    prompt: str = "prompt",
    group_by: str | Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Signal:
    """Estimate the learning signal of `reward` from samples of the model that you will train.

    ::

        found = estimate_signal(reward, "samples.jsonl", num_generations=8, steps=500, completions_per_step=256,
                                price_per_call={"judge": 0.002})
        print(found)
        found.varying          # the share of prompts that will have a learning signal
        found.calls[0].cost    # the cost for the whole run

    Args:
        reward: a reward, a plain function, or a list of them.
        data: the path of a .jsonl, .json, .csv or .parquet file, or records: mappings with a completion, a prompt, and
            the columns that `reward` reads; several samples per prompt, in any order.
        num_generations: completions per prompt in the run; by default, the number of samples.
        steps: optimizer steps of the run, to estimate calls and costs. Needs `completions_per_step`.
        completions_per_step: completions scored per step over all processes. Needs `steps`.
        price_per_call: the price of a call of an expensive component, in any currency; or a mapping by component.
        completion: the column of the completions, texts or lists of messages.
        prompt: the column of the prompts.
        group_by: the columns in which completions of one group agree; by default the prompt and the columns that
            `reward` names.
        progress: the training progress; by default the first step, where the sampled model is.

    Raises:
        DataError: the data cannot be read, or has no prompts.
        BindingError: `reward` reads a column that the data does not have, or no prompt has two samples.
        CoercionError: a column's value does not fit its annotation.
        RewardDefinitionError: `num_generations` is below 2, or `steps` comes without `completions_per_step`.
        RewardFailure: a function without a lower bound raised (others score their lowest bound and are reported).
    """
    if (steps is None) != (completions_per_step is None):
        raise RewardDefinitionError(
            "estimate_signal: pass both steps= and completions_per_step=, whose product is the number of completions"
        )
    scorer = Scorer(reward)
    found = read(data)
    if group_by is None and prompt not in found.columns:
        raise DataError(
            f"the data has no column {prompt!r} to group completions by. Name the column with prompt= or group_by=. "
            f"Columns: {', '.join(map(str, found.columns))}."
        )
    samples = arranged(
        scorer.reward,
        found,
        completion=completion,
        prompt=prompt,
        group_by=group_by,
        progress=progress or Progress(0, steps or 1),
    )
    table = scorer.score(samples.batch, strict=False)
    return signal_of(
        table,
        samples.groups,
        gates={name: (passed, reached & ~passed) for name, (reached, passed) in table.passed.items()},
        calls=_calls(scorer, table, samples.groups),
        num_generations=num_generations,
        completions_in_run=None if steps is None or completions_per_step is None else steps * completions_per_step,
        price_per_call=price_per_call,
    )


def _calls(
    scorer: Scorer, table: ScoreTable, groups: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> dict[str, int]:
    """Count the calls of each expensive component: one per row that reached it, or one per group."""
    found = {}
    for name, node in scorer.names.components:
        binding = node.facts.binding
        if binding is not None and binding.expensive and binding.scope != "batch":
            called = np.isin(table.components[name].codes, (SCORED, FAILED, ERRORED))
            found[name] = len(np.unique(groups[called])) if binding.scope == "group" else int(called.sum())
    return found
