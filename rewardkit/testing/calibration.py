"""Calibration: ``print(calibrate(reward, "labeled.jsonl"))`` shows whether a reward agrees with labels.

The labels come from a source that you trust: human raters, an expensive judge, unit tests. Training will teach the
wrong thing wherever the reward ranks completions differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewardkit.analysis.calibration import TOTAL, Calibration, calibration_of
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.progress.progress import Progress
from rewardkit.core.tree.conversion import RewardLike
from rewardkit.data.samples import Data, arranged, read


def calibrate(
    reward: RewardLike | Sequence[Any],
    data: Data,
    *,
    label: str = "label",
    threshold: float | None = None,
    completion: str = "completion",
    prompt: str = "prompt",
    group_by: str | Sequence[str] | None = None,
    progress: Progress | None = None,
    bins: int = 10,
    cases: int = 5,
    replicates: int = 1000,
    seed: int = 0,
) -> Calibration:
    """Measure how well `reward`, and each of its components, tells good completions from bad ones.

    ::

        found = calibrate(reward, "labeled.jsonl", label="is_correct")
        print(found)               # AUC; right, tied and wrong pairs; thresholds; misjudged completions
        found.total.within.wrong   # pairs of one prompt in which the worse completion scores higher
        found.plot("reliability.png")

    Args:
        reward: a reward, a plain function, or a list of them.
        data: the path of a .jsonl, .json, .csv or .parquet file, or records: mappings with a completion, a label,
            usually a prompt, and the columns that `reward` reads.
        label: the column of the labels: true or false in any spelling (``"False"`` is False), or grades, where higher
            is better.
        threshold: also show the results for this threshold of the total.
        completion: the column of the completions, texts or lists of messages.
        prompt: the column of the prompts.
        group_by: the columns in which completions of one group agree; the order of the rows does not matter. By
            default the prompt and the columns that `reward` names.
        progress: the training progress; without it, schedules have their end values.
        bins: bins of the reliability curve.
        cases: number of misjudged completions to keep of each kind.
        replicates: bootstrap samples for the interval of the AUC; 0 for none.
        seed: the seed of the bootstrap.

    Raises:
        DataError: the data cannot be read; the message names the line.
        BindingError: `reward` reads a column that the data does not have.
        CoercionError: a column's value does not fit its annotation.
        RewardFailure: a function without a lower bound raised (others score their lowest bound and are reported).
    """
    scorer = Scorer(reward)
    found = read(data)
    labels = found.labels(label)
    samples = arranged(
        scorer.reward, found, completion=completion, prompt=prompt, group_by=group_by, label=label, progress=progress
    )
    table = scorer.score(samples.batch, strict=False)
    bounds = {name: node.bounds for name, node in scorer.names.components}
    return calibration_of(
        table,
        labels[samples.rows],
        samples.groups,
        rows=samples.rows,
        bounds=bounds | {TOTAL: scorer.reward.bounds},
        threshold=threshold,
        bins=bins,
        cases=cases,
        replicates=replicates,
        seed=seed,
    )
