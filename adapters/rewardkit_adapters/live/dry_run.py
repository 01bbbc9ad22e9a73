"""Try a reward on recorded batches in this process. No request is sent, and training does not need to be running."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from rewardkit.batch.column import Floats
from rewardkit.differences.differences import Differences, compare_sides as differences_of
from rewardkit.differences.record import side_of
from rewardkit.differences.side import Side
from rewardkit.errors import RewardKitError
from rewardkit.progress.progress import Progress
from rewardkit.record.queries import last_training_rows, text_or_messages
from rewardkit.record.run import Run, open_run
from rewardkit.scoring.scores import Scores
from rewardkit.scoring.sources import saved
from rewardkit.tree.evaluation.omission import EXPENSIVE, omit_components
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.loading import load
from rewardkit_adapters.live.mailbox import Mailbox
from rewardkit_adapters.live.trial import Sample, TrialScores, compare_trials, run_trial, score_sample
from rewardkit_adapters.trl.layout import RewardColumns


@dataclass(frozen=True)
class _Steps:
    """The last recorded steps in a run.

    Attributes:
        rows: the rows from all steps, in order.
        samples: one sample per step.
    """

    run: Run
    rows: Sequence[Mapping[str, Any]]
    samples: Sequence[Sample]

    def column(self, name: str) -> Floats:
        """Return the (n,) values of a column, with NaN for missing values."""
        return np.array([np.nan if row[name] is None else row[name] for row in self.rows], dtype=np.float64)

    def texts(self) -> Iterator[dict[str, Any]]:
        """Yield the rows in the format that `saved` expects."""
        for row in self.rows:
            yield {**json.loads(row["columns"] or "{}"), "prompt": row["prompt"], "completion": row["completion"]}


def dry_run(run: str, target: str) -> dict[str, Any]:
    """Compare the old and the new reward on the last recorded training step, as `trial.compare_trials` does.

    Args:
        run: the folder with the record.
        target: ``path.py:name`` or ``module:name``.

    Raises:
        RewardKitError: there is no record, or the reward cannot be loaded or cannot score the batch.
    """
    from rewardkit_adapters.trl.layout import successor

    steps = _read_steps(run, 1)
    (sample,) = steps.samples
    means = {
        name: values
        for name in steps.run.components
        if not np.isnan(values := steps.column(f"components/{name}")).all()
    }
    before = TrialScores((), {name: float(np.nanmean(values)) for name, values in means.items()}, steps.column("total"))
    after = run_trial(RewardColumns.of(successor(_load_target(target), _trainer_weights(run)), "terms"), sample)
    return compare_trials(before, after, sample)


def dry_run_on(run: str, target: str, steps: int) -> Differences:
    """Compare the recorded scores of the last `steps` training steps with the scores of another reward.

    For each step, schedules use their values at that step. Judges and other components that are declared expensive are
    excluded from both rewards.

    Raises:
        RewardKitError: as in `dry_run`; also if a judge is not a separate term, so that it cannot be excluded from the
            recorded scores.
    """
    from rewardkit_adapters.trl.layout import successor

    record = _read_steps(run, steps)
    reward, _, omitted = omit_components(successor(_load_target(target), _trainer_weights(run)), [EXPENSIVE])
    layout = RewardColumns.of(reward, "terms")
    scorer = Scorer(layout.scored)
    parts = []
    for sample in record.samples:
        table, totals = score_sample(scorer, layout, sample, strict=False)
        parts.append(replace(Scores.of(table), total=totals))
    scores = Scores.joined(parts)
    after = Side(
        target,
        scores.total,
        scores.components,
        scores.codes,
        {row: "; ".join(why) for row, why in scores.errors.items()},
        omitted=omitted,
        columns=tuple(dict.fromkeys(name for sample in record.samples for name in sample.columns)),
    )
    texts = {name: [row[name] for row in record.rows] for name in record.rows[0]}
    before = side_of(record.run, run, texts, omitted)
    starts = {key: number for number, key in enumerate(dict.fromkeys(map(_group, record.rows)))}
    groups = np.array([starts[_group(row)] for row in record.rows])
    data = saved(f"the last {len(record.samples)} steps of {run}", rows=record.texts)
    return differences_of(before, after, data, name=data.name, groups=groups)


def _load_target(target: str) -> Any:
    rewards = load(target)
    if len(rewards) != 1:
        raise RewardKitError(
            f"{target} has several rewards: {', '.join(candidate.name for candidate in rewards)}. Pass one of them as "
            f"{target}:NAME"
        )
    return rewards[0].reward


def _trainer_weights(run: str) -> Any:
    """Return the weights that the trainer itself applies, or None if there are none."""
    return (Mailbox(run).current() or {}).get("held")


def _read_steps(folder: str, steps: int) -> _Steps:
    run = open_run(folder)
    rows = last_training_rows(run, steps)
    if not rows:
        raise RewardKitError(f"{folder} has no recorded training batch yet. Wait for the first step")
    max_steps = (Mailbox(folder).current() or {}).get("max_steps")
    step_rows = [list(part) for _, part in groupby(rows, lambda row: row["step"])]
    return _Steps(run, rows, [_sample(part, max_steps) for part in step_rows])


def _sample(rows: Sequence[Mapping[str, Any]], most: Any) -> Sample:
    examples = [json.loads(row["columns"] or "{}") for row in rows]
    names = list(dict.fromkeys(name for example in examples for name in example))
    starts = {key: number for number, key in enumerate(dict.fromkeys(map(_group, rows)))}
    return Sample(
        [text_or_messages(row, "completion") for row in rows],
        [text_or_messages(row, "prompt") for row in rows],
        None if rows[0]["length"] is None else [[0] * row["length"] for row in rows],
        {name: [example.get(name) for example in examples] for name in names},
        progress=Progress(int(rows[0]["step"]), most) if isinstance(most, int) and most >= 1 else None,
        groups=np.array([starts[_group(row)] for row in rows]),
        way="group",
    )


def _group(row: Mapping[str, Any]) -> tuple[int, int, int, int]:
    return row["step"], row["rank"], row["part"], row["group"]
