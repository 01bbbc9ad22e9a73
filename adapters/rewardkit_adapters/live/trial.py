"""Try a reward on the last training batch, and compare it with the active reward.

A new reward runs in a separate process with limits on time and memory. It can raise an exception, hang, draw random
numbers, or exhaust the memory without affecting training. Changes to numbers do not run new code, so they are tried in
this process.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rewardkit.analyze.advantages import GroupStats, Way, moments_of
from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Floats, Numbers
from rewardkit.batch.score import ERRORED, FAILED
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import CoercionError, RewardFailure, RewardKitError, WorkerDied, shorten
from rewardkit.online.breaker import tolerant
from rewardkit.online.faults import fault_counts, unparsable_golds
from rewardkit.progress import states
from rewardkit.progress.progress import Progress
from rewardkit.tree.evaluation.scorer import Scorer, require_float32
from rewardkit.tree.reward import Reward
from rewardkit.workers.limits import free_bytes, limit_memory
from rewardkit.workers.random_state import preserved_rng
from rewardkit.workers.worker import Launch, run_in_process
from rewardkit_adapters.live.sources import MODULES, Code
from rewardkit_adapters.trl.layout import Columns, RewardColumns, successor

SECONDS = 60.0
"""The time limit for a trial in seconds, including imports. The limit is arbitrary, but short because the user who sent
the update waits for the result."""
MEMORY: int | None = None
"""The memory limit for a trial in bytes, excluding Python and this library. None means half of the free memory."""
_OF_A_LAUNCHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT")
"""The environment variables that a launcher sets in distributed training processes."""


@dataclass(frozen=True)
class Sample:
    """A batch of n completions on which to try rewards.

    Attributes:
        states: the states of the active reward's schedules, as JSON values.
        groups: (n,) the group of each row, or None if groups are split over processes.
        way: the method that the trainer uses to compute advantages from totals, or None if unknown.
        processes: the number of processes over which the batch is distributed. The sample contains one process's rows.
    """

    completions: Any
    prompts: Any
    completion_ids: Any
    columns: Mapping[str, Any]
    progress: Progress | None = None
    states: Mapping[str, Any] = field(default_factory=dict)
    num_generations: int | None = None
    groups: Numbers | None = None
    way: Way | None = None
    processes: int = 1

    def batch(self, reward: Reward) -> Batch:
        """Return the sample as a batch.

        `reward`'s schedules adopt the states of the same schedules in the active reward."""
        progress = self.progress
        if progress is not None:
            follower_states = states.restored(states.initial(Scorer(reward).followers), self.states)
            progress = replace(progress, states=follower_states)
        return Batch(
            self.completions,
            prompts=self.prompts,
            completion_ids=self.completion_ids,
            columns=self.columns,
            progress=progress,
            num_generations=self.num_generations,
        )


@dataclass(frozen=True)
class TrialScores:
    """A reward's scores on a sample.

    Attributes:
        names: the names of the columns for the trainer.
        means: component -> mean, or None if the component did not score any rows.
        totals: (n,) the sums that the trainer computes, with NaN for unscorable rows.
        warnings: likely mistakes in the reward tree.
    """

    names: tuple[str, ...]
    means: Mapping[str, float | None]
    totals: Floats
    warnings: tuple[str, ...] = ()


def run_trial(layout: RewardColumns, sample: Sample, *, strict: bool = True) -> TrialScores:
    """Score `sample` with a reward in this process.

    Args:
        strict: whether to raise an exception if the reward has a bug or a component fails on more than half of its
            rows.

    Raises:
        RewardKitError: the reward cannot score the sample, or its scores are invalid for the trainer.
    """
    scorer = Scorer(layout.scored)
    table, totals = score_sample(scorer, layout, sample, strict=strict)
    late = [] if sample.progress is None else scorer.late(sample.progress.max_steps)
    return TrialScores(layout.names, means_of(table), totals, (*scorer.traps(), *late))


def score_sample(scorer: Scorer, layout: RewardColumns, sample: Sample, *, strict: bool) -> tuple[ScoreTable, Floats]:
    """Score `sample`. Return the scores and the (n,) sums that the trainer computes. `strict` is as in `run_trial`."""
    batch = sample.batch(layout.scored)
    with undisturbed():
        scores = scorer.score(batch, strict=strict, on_unparsable_gold="fail")
    if strict:
        _check_failures(scorer, scores)
    columns, table = layout.of_table(scores), layout.weighted(scores)
    require_float32(columns, table.total)
    each = sample.way == "each" and sample.groups is not None
    addends = layout.addends(columns, table, batch, batch.progress, normalizes_each=each)
    return table, np.where(np.isnan(table.total), np.nan, np.nansum(list(addends.values()), axis=0))


def _check_failures(scorer: Scorer, table: ScoreTable) -> None:
    """Check whether a component fails on more than half of its rows or cannot read any of its gold answers.

    Raises:
        RewardFailure: a component fails too often.
        CoercionError: a component cannot read any gold answers.
    """
    golds = sorted(unparsable_golds(table))
    for (name, column), (evaluated, *_, unparsable, readable) in zip(
        table.components.items(), fault_counts(table), strict=True
    ):
        reasons = [reason for component, reason in golds if component == name]
        if reasons and not readable and name not in tolerant(scorer):
            raise CoercionError(f"reward {name!r} cannot read any gold answer in the last batch: {reasons[0]}")
        failures = int(((column.codes == FAILED) | (column.codes == ERRORED)).sum() - unparsable)
        if 2 * failures > evaluated - unparsable:
            reasons = [fault.reason for fault in table.faults if fault.component == name and not fault.unparsable]
            raise RewardFailure(
                f"reward {name!r} failed on {failures} of {int(evaluated)} completions: {shorten(reasons[:1])}"
            )


def means_of(table: ScoreTable) -> dict[str, float | None]:
    """Return the mean of each component, or None for a component that did not score any rows."""
    return {
        name: None if np.isnan(column.values).all() else float(np.nanmean(column.values))
        for name, column in table.components.items()
    }


def run_trial_in_child(code: Code, folder: Path, layout: RewardColumns, sample: Sample, seconds: float) -> TrialScores:
    """Score `sample` with the reward in `folder`, in a separate process that is killed after `seconds`.

    Args:
        layout: the active reward's columns.

    Raises:
        RewardKitError: the reward cannot be imported, raises an exception, hangs, or returns scores that are invalid
            for the trainer.
    """
    progress = None if sample.progress is None else replace(sample.progress, states={})
    job = (code, folder, layout.columns, layout.held, replace(sample, progress=progress), MEMORY)
    try:
        call = run_in_process(
            _limited_answer, job, seconds, Launch(environment=dict.fromkeys(_OF_A_LAUNCHER), quiet=True)
        )
    except Exception as error:
        raise RewardKitError(f"the last batch cannot be pickled for another process: {error}") from None
    try:
        answer: TrialScores | str = call.result()
    except TimeoutError:
        raise RewardKitError(f"the reward did not finish the last batch within {seconds:g} s and was killed") from None
    except WorkerDied as error:
        raise RewardKitError(f"its process {error}") from None
    except Exception as error:
        raise RewardKitError(f"{type(error).__name__}: {shorten(str(error))}") from None
    finally:
        call.stop()
    if isinstance(answer, str):
        raise RewardKitError(answer)
    return answer


def _limited_answer(
    code: Code, folder: Path, columns: Columns, weights: Mapping[str, float] | None, sample: Sample, memory: int | None
) -> TrialScores | str:
    """Limit this process's memory, and then call `answer_to`.

    If the system runs out of memory, Linux should kill this process first."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    if limit := free_bytes() // 2 if memory is None else memory:
        limit_memory(limit, of="data")
    warnings.simplefilter("ignore")
    return answer_to(code, folder, columns, weights, sample)


def answer_to(
    code: Code, folder: Path, columns: Columns, weights: Mapping[str, float] | None, sample: Sample
) -> TrialScores | str:
    """Return the scores that the reward in `folder` gives `sample`, or the reason why scoring failed."""
    try:
        with undisturbed():  # as in the training: an import must not change the working directory
            imported = MODULES.imported(code, folder)
        MODULES.activate(imported, MODULES)
        tree = successor(imported.reward, weights)
        return run_trial(RewardColumns.of(tree, columns, raw=weights is not None), sample)
    except RewardKitError as error:
        reason = str(error)
    except BaseException as error:  # raised by the reward, including SystemExit
        reason = f"{type(error).__name__}: {shorten(str(error))}"
    if "FileNotFoundError" in reason and str(folder) in reason:
        reason += (
            ". Only code is copied: refer to data by an absolute path, or by a path relative to the training "
            "run's working directory"
        )
    return reason


def compare_trials(before: TrialScores, after: TrialScores, sample: Sample) -> dict[str, Any]:
    """Compare the scores of two rewards. Return a dictionary of JSON values.

    ``rows`` is the number of rows, and ``processes`` is the number of processes over which the batch is distributed.
    ``components`` maps each name to the means before and after, and ``total`` contains the same values for the total.
    ``advantages`` contains the number of advantages that change sign and the largest change, or is None if groups are
    split or other reward functions contribute.
    """
    names = [*before.means, *(name for name in after.means if name not in before.means)]
    return {
        "rows": len(before.totals),
        "processes": sample.processes,
        "components": {name: [_number(before.means.get(name)), _number(after.means.get(name))] for name in names},
        "total": [_mean(before.totals), _mean(after.totals)],
        "advantages": _changes(before.totals, after.totals, sample),
    }


def _number(value: float | None) -> float | None:
    """Return `value`, or None for NaN and infinity, which JSON cannot represent."""
    return value if value is not None and math.isfinite(value) else None


def _mean(values: Floats) -> float | None:
    return None if np.isnan(values).all() else _number(float(np.nanmean(values)))


def _changes(before: Floats, after: Floats, sample: Sample) -> dict[str, Any] | None:
    normalization = sample.way
    if sample.groups is None or normalization is None:
        return None
    old, new = (
        GroupStats.of(totals, sample.groups).advantages(normalization, moments_of(totals)) for totals in (before, after)
    )  # each from a separate copy, because advantages are computed in place
    return {
        "changed_sign": int((np.sign(np.round(old, 6)) != np.sign(np.round(new, 6))).sum()),
        "largest_change": float(np.abs(new - old).max(initial=0.0)),
    }


@contextmanager
def undisturbed() -> Iterator[None]:
    """Restore the random generators and the process's state after the `with` block."""
    torch, errors = sys.modules.get("torch"), np.geterr()
    directory, recursion_limit = Path.cwd() if Path().is_dir() else None, sys.getrecursionlimit()
    in_main_thread = threading.current_thread() is threading.main_thread()
    handlers = (
        {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)} if in_main_thread else {}
    )
    torch_setters = [] if torch is None else _of_torch(torch)
    try:
        with warnings.catch_warnings(), preserved_rng():
            yield
    finally:
        np.seterr(**errors)
        with suppress(OSError):
            os.chdir(directory or ".")
        sys.setrecursionlimit(recursion_limit)
        for number, handler in handlers.items():
            if signal.getsignal(number) is not handler and handler is not None:
                signal.signal(number, handler)
        for setter in torch_setters:
            setter()


def _of_torch(torch: Any) -> list[Callable[[], Any]]:
    """Return functions that restore torch's current settings and random generators."""
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    setters: list[Callable[[], Any]] = [
        partial(torch.set_grad_enabled, torch.is_grad_enabled()),
        partial(torch.set_default_dtype, dtype),
        # Setting the same number again would start new threads.
        lambda: None if torch.get_num_threads() == threads else torch.set_num_threads(threads),
    ]
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        setters.append(partial(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))
    return setters
