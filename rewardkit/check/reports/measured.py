"""Measurements of a reward on data: the reward's agreement with labels, and its learning signal.

Both measurements score every completion in a file in a child process, so that a report is written even if the reward
hangs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rewardkit.analyze.calibration import TOTAL, Calibration, calibration_of
from rewardkit.analyze.readiness import Signal, signal_of
from rewardkit.batch.score import ERRORED, FAILED, SCORED
from rewardkit.batch.table import ScoreTable
from rewardkit.check.labels import labeled
from rewardkit.check.reports.report import Report, Section
from rewardkit.check.run.isolation import Lost, Note, can_isolate, run_in_child
from rewardkit.check.run.output import Output, divert_output
from rewardkit.check.run.scratch import scratch_for
from rewardkit.errors import DataError, RewardDefinitionError, RewardKitError
from rewardkit.progress.progress import Progress
from rewardkit.scoring.samples import Data, arranged, read
from rewardkit.tree.conversion import RewardLike, tree_of
from rewardkit.tree.evaluation.scorer import Scorer

# Calibration: ``print(calibrate(reward, "labeled.jsonl"))`` shows whether a reward agrees with labels.


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
    # 10 is the usual number of bins; 1,000 resamples leave 25 beyond each end of a 95% interval.
    bins: int = 10,
    cases: int = 5,
    replicates: int = 1000,
    seed: int = 0,
) -> Calibration:
    """Measure how well a reward and each of its components distinguish good completions from bad ones.

    ::

        found = calibrate(reward, "labeled.jsonl", label="is_correct")
        print(found)               # AUC; right, tied, and wrong pairs; thresholds; misjudged completions
        found.total.within.wrong   # pairs for one prompt in which the worse completion scores higher
        found.plot("reliability.png")

    Args:
        reward: a reward, a plain function, or a list of them.
        data: the path of a .jsonl, .json, .csv, or .parquet file, or records: mappings with a completion, a label,
            usually a prompt, and the columns that `reward` reads.
        label: the column with the labels: true or false in any spelling (``"False"`` is False), or grades, for which
            higher is better.
        threshold: also show the results for this threshold on the total.
        completion: the column with the completions, which are strings or lists of messages.
        prompt: the column with the prompts.
        group_by: the columns that identify a group. The order of rows does not matter. The default is the prompt and
            the columns that `reward` names.
        progress: the training progress. If it is None, schedules have their final values.
        bins: the number of bins in the reliability curve.
        cases: the number of misjudged completions to keep for each kind.
        replicates: the number of bootstrap samples for the AUC's confidence interval, or 0 for no interval.
        seed: the random seed for the bootstrap.

    Raises:
        DataError: the data cannot be read. The message names the line.
        BindingError: `reward` reads a column that the data does not have.
        CoercionError: a column's value does not fit its annotation.
        RewardBug: a function without a lower bound raised an exception (other functions score their lowest bound and
            are reported).
    """
    scorer = Scorer(reward)
    records = read(data)
    labels = records.labels(label)
    samples = arranged(
        scorer.reward, records, completion=completion, prompt=prompt, group_by=group_by, label=label, progress=progress
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


# Learning signal before training: ``print(estimate_signal(reward, "samples.jsonl", num_generations=8))``.


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
    """Estimate a reward's learning signal from samples of the model that you will train.

    ::

        found = estimate_signal(reward, "samples.jsonl", num_generations=8, steps=500, completions_per_step=256,
                                price_per_call={"judge": 0.002})
        print(found)
        found.varying          # the share of prompts that will have a learning signal
        found.calls[0].cost    # the cost for the whole run

    Args:
        reward: a reward, a plain function, or a list of them.
        data: the path of a .jsonl, .json, .csv, or .parquet file, or records: mappings with a completion, a prompt, and
            the columns that `reward` reads. The data must have several samples per prompt, in any order.
        num_generations: the number of completions per prompt in the run. The default is the number of samples per
            prompt.
        steps: the number of optimizer steps in the run, to estimate calls and costs. Needs `completions_per_step`.
        completions_per_step: the number of completions scored per step, over all processes. Needs `steps`.
        price_per_call: the price of one call to an expensive component, in any currency, or a mapping from components
            to prices.
        completion: the column with the completions, which are strings or lists of messages.
        prompt: the column with the prompts.
        group_by: the columns that identify a group. The default is the prompt and the columns that `reward` names.
        progress: the training progress. The default is the first step, which fits samples from the untrained model.

    Raises:
        DataError: the data cannot be read, or has no prompts.
        BindingError: `reward` reads a column that the data does not have, or no prompt has two samples.
        CoercionError: a column's value does not fit its annotation.
        RewardDefinitionError: `num_generations` is below 2, or only one of `steps` and `completions_per_step` is given.
        RewardBug: a function without a lower bound raised an exception (other functions score their lowest bound and
            are reported).
    """
    if (steps is None) != (completions_per_step is None):
        raise RewardDefinitionError(
            "estimate_signal: pass both steps= and completions_per_step=, so that their product is the number of "
            "completions"
        )
    scorer = Scorer(reward)
    records = read(data)
    if group_by is None and prompt not in records.columns:
        raise DataError(
            f"the data has no column {prompt!r} to group completions by. Name the column with prompt= or group_by=. "
            f"Columns: {', '.join(map(str, records.columns))}"
        )
    samples = arranged(
        scorer.reward,
        records,
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
    """Count the calls to each expensive component: one call per row that reaches it, or one call per group."""
    counts = {}
    for name, node in scorer.names.components:
        binding = node.facts.binding
        if binding is not None and binding.expensive and binding.scope != "batch":
            called = np.isin(table.components[name].codes, (SCORED, FAILED, ERRORED))
            counts[name] = len(np.unique(groups[called])) if binding.scope == "group" else int(called.sum())
    return counts


Result = TypeVar("Result")


class _Unfinished(RewardKitError):
    """Raised if the scoring of all completions did not finish."""


_LIMIT = 120.0
"""The time limit for all completions in a file, in seconds. Arbitrary: it stops a reward that hangs on one of them."""


def measured(
    report: Report, reward: Any, data: str | Path, *, label: str = "label", seed: int = 0, network: bool = False
) -> Section:
    """Add measurements on the completions in a file to a report.

    If the file has labels, the section includes a calibration. If it has several completions per prompt, the section
    includes an estimate of the signal. If a measurement fails, a remark explains why.
    """
    dataset = labeled(reward, data, label)
    remarks: list[str] = []
    calibration = signal = None
    tree = tree_of(reward, "a reward with labels")
    rows = dataset.records.records
    unlabeled = [{name: value for name, value in row.items() if name != label} for row in rows]
    missing = ""
    output = Output()
    try:
        with scratch_for(tree, network=network):
            if dataset.has_labels:
                missing = f"agreement with {label!r} not measured"
                calibration = _measure_or_remark(
                    lambda: calibrate(tree, rows, label=label, seed=seed), missing, remarks, output
                )
            if dataset.has_groups:
                missing = "learning signal not estimated"
                signal = _measure_or_remark(lambda: estimate_signal(tree, unlabeled), missing, remarks, output)
    except _Unfinished as error:  # the second measurement would not finish either
        remarks.append(f"{missing}: {error}")
    if output.printed is not None:
        remarks.append(f"while the reward scored the file, it printed {output.printed}, not shown here")
    used = f"{dataset.used} of " if dataset.used < dataset.prompts else ""
    return Section(
        report,
        data=f"{data}: {len(rows):,} rows, laws checked on {used}{dataset.prompts:,} distinct examples",
        calibration=calibration,
        signal=signal,
        remarks=tuple(remarks),
    )


def _measure_or_remark(
    measure: Callable[[], Result], missing: str, remarks: list[str], output: Output
) -> Result | None:
    try:
        return _measure_in_child(measure, output)
    except _Unfinished:
        raise
    except RewardKitError as error:
        remarks.append(f"{missing}: {error}")
        return None


def _measure_in_child(measure: Callable[[], Result], output: Output) -> Result:
    """Call `measure` in a child process (or in this process if the system cannot fork), and return the result.

    Raises:
        RewardKitError: `measure` raised it, or did not finish.
    """
    if not can_isolate():
        with divert_output(output.hear):
            return measure()

    def work(send: Callable[[Any], None]) -> None:
        try:
            send((True, measure()))
        except Exception as error:
            send((False, str(error) if isinstance(error, RewardKitError) else f"{type(error).__name__}: {error}"))

    for message in run_in_child(work, Note(), patience=1.0, limit=_LIMIT, on_output=output.hear):
        if isinstance(message, Lost):
            raise _Unfinished(f"scoring all completions did not finish ({message.reason})")
        ended, value = message
        if ended:
            result: Result = value
            return result
        raise RewardKitError(value)
    raise RewardKitError("scoring all completions returned no result")
