"""Try a reward on the last training batch, and compare it with the one in force.

Another reward runs in a separate process with limits on time and memory: it may raise, hang, draw random numbers or
fill the memory without affecting the training. Other numbers run no new code, so they are tried in this process.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import random
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rewardkit.analyze.advantages import Spread, Way, moments_of
from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Floats, Numbers
from rewardkit.batch.score import ERRORED, FAILED
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import CoercionError, RewardFailure, RewardKitError, shorten
from rewardkit.online.breaker import tolerant
from rewardkit.online.faults import fault_counts, unparsable_golds
from rewardkit.progress import states
from rewardkit.progress.progress import Progress
from rewardkit.tree.evaluation.scorer import Scorer, require_float32
from rewardkit.tree.reward import Reward
from rewardkit_adapters.live.sources import Code
from rewardkit_adapters.trl.layout import Layout

SECONDS = 60.0
"""Time limit of a trial, including its imports."""
MEMORY: int | None = None
"""Memory limit of a trial in bytes, not counting Python and this library; None: half of the free memory."""
_PAUSE = 0.02
"""Seconds between two checks whether a trial has ended."""
_HEARD = 4_000
"""How many bytes of a trial's output are kept, from its end."""

_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from rewardkit_adapters.live.trial_process import main
main(*sys.argv[2:])
"""
_LAUNCHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT")
"""Variables that tell a process that it is part of a distributed training."""


@dataclass(frozen=True)
class Sample:
    """A batch of n completions to try rewards on.

    Attributes:
        states: the states of the schedules in force, as JSON values.
        groups: (n,) the group of each row; None if groups are split over processes.
        way: how the trainer computes advantages from totals; None if unknown.
        processes: the number of processes that share the batch; this is the share of one.
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
        """Return the batch; schedules of `reward` get the states of the same schedules in force."""
        progress = self.progress
        if progress is not None:
            known = states.restored(states.initial(Scorer(reward).followers), self.states)
            progress = replace(progress, states=known)
        return Batch(
            self.completions,
            prompts=self.prompts,
            completion_ids=self.completion_ids,
            columns=self.columns,
            progress=progress,
            num_generations=self.num_generations,
        )


@dataclass(frozen=True)
class Tried:
    """The scores of a reward on a sample.

    Attributes:
        names: of the trainer's columns.
        means: component -> mean; None if it scored no rows.
        totals: (n,) the sums that the trainer makes; NaN for unscorable rows.
        warnings: traps in the tree.
    """

    names: tuple[str, ...]
    means: Mapping[str, float | None]
    totals: Floats
    warnings: tuple[str, ...] = ()


def tried(layout: Layout, sample: Sample, *, strict: bool = True) -> Tried:
    """Score `sample` with a reward in this process.

    Args:
        strict: raise if the reward has a bug, or if a component fails on more than half of its rows.

    Raises:
        RewardKitError: the reward cannot score the sample, or its scores are invalid for the trainer.
    """
    scorer = Scorer(layout.scored)
    table, totals = scored(scorer, layout, sample, strict=strict)
    late = [] if sample.progress is None else scorer.late(sample.progress.max_steps)
    return Tried(layout.names, means_of(table), totals, (*scorer.traps(), *late))


def scored(scorer: Scorer, layout: Layout, sample: Sample, *, strict: bool) -> tuple[ScoreTable, Floats]:
    """Score `sample`; return the scores, and the (n,) sums that the trainer makes. Arguments as in `tried`."""
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
    """Raise if a component fails on more than half of the rows, or if no gold answer of its column can be read.

    Raises:
        RewardFailure, CoercionError: it does.
    """
    golds = sorted(unparsable_golds(table))
    for (name, column), (evaluated, *_, unparsable, read) in zip(
        table.components.items(), fault_counts(table), strict=True
    ):
        reasons = [reason for component, reason in golds if component == name]
        if reasons and not read and name not in tolerant(scorer):
            raise CoercionError(f"reward {name!r} reads no gold answer of the last batch: {reasons[0]}")
        lost = int(((column.codes == FAILED) | (column.codes == ERRORED)).sum() - unparsable)
        if 2 * lost > evaluated - unparsable:
            reasons = [fault.reason for fault in table.faults if fault.component == name and not fault.unparsable]
            raise RewardFailure(
                f"reward {name!r} failed on {lost} of {int(evaluated)} completions: {shorten(reasons[:1])}"
            )


def means_of(table: ScoreTable) -> dict[str, float | None]:
    """Return the mean of each component."""
    return {
        name: None if np.isnan(column.values).all() else float(np.nanmean(column.values))
        for name, column in table.components.items()
    }


def tried_elsewhere(code: Code, folder: Path, layout: Layout, sample: Sample, seconds: float) -> Tried:
    """Score `sample` with the reward in `folder`, in a separate process that is killed after `seconds`.

    Args:
        layout: the columns in force.

    Raises:
        RewardKitError: the reward cannot be imported, raises, hangs, or gives scores that are invalid for the trainer.
    """
    progress = None if sample.progress is None else replace(sample.progress, states={})
    try:
        job = pickle.dumps((code, folder, layout.columns, layout.held, replace(sample, progress=progress), MEMORY))
    except Exception as error:
        raise RewardKitError(f"the last batch cannot be pickled for another process: {error}") from None
    environment = {name: value for name, value in os.environ.items() if name not in _LAUNCHER}
    with tempfile.TemporaryDirectory() as place:
        question, answer = Path(place) / "question", Path(place) / "answer"
        question.write_bytes(job)
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, json.dumps([str(path) for path in sys.path]), str(question), str(answer)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,  # so that its own processes can be killed, too
        )
        try:
            said = _heard_of(child, time.monotonic() + seconds)
        except TimeoutError:
            raise RewardKitError(f"it did not finish the last batch within {seconds:g} s and was killed") from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if child.stdout is not None:
                child.stdout.close()
        if not answer.is_file():
            last = said.decode(errors="replace").strip().splitlines()[-1:]
            raise RewardKitError(f"its process ended with exit code {child.returncode}: {shorten(' '.join(last))}")
        found: Tried | str = pickle.loads(answer.read_bytes())
    if isinstance(found, str):
        raise RewardKitError(found)
    return found


def _heard_of(child: subprocess.Popen[bytes], until: float) -> bytes:
    """Return the end of the output of `child`. Do not wait for its own processes, which may keep the output open.

    Raises:
        TimeoutError: it did not end in time.
    """
    said, pipe, ended = b"", child.stdout, False
    assert pipe is not None
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while not ended:
            ended = child.poll() is not None  # the rest of its output is read below
            if not ended and time.monotonic() > until:
                raise TimeoutError
            if selector.select(0.0 if ended else _PAUSE):
                chunk = os.read(pipe.fileno(), 1 << 16)  # the size of a pipe
                said = (said + chunk)[-_HEARD:]
                if not chunk:  # the output is closed
                    time.sleep(_PAUSE)
    return said


def compared(before: Tried, after: Tried, sample: Sample) -> dict[str, Any]:
    """Compare two rewards, in JSON values.

    ``rows``; ``processes`` that share the batch; ``components``: name -> mean before and after; ``total``;
    ``advantages``: how many change their sign, and the largest change; None if groups are split or other reward
    functions contribute.
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
    """Return None for NaN and infinity, which JSON does not have."""
    return value if value is not None and math.isfinite(value) else None


def _mean(values: Floats) -> float | None:
    return None if np.isnan(values).all() else _number(float(np.nanmean(values)))


def _changes(before: Floats, after: Floats, sample: Sample) -> dict[str, Any] | None:
    way = sample.way
    if sample.groups is None or way is None:
        return None
    old, new = (
        Spread.of(totals, sample.groups).advantages(way, moments_of(totals)) for totals in (before, after)
    )  # each from its own copy, because they are computed in place
    return {
        "changed_sign": int((np.sign(np.round(old, 6)) != np.sign(np.round(new, 6))).sum()),
        "largest_change": float(np.abs(new - old).max(initial=0.0)),
    }


@contextmanager
def undisturbed() -> Iterator[None]:
    """Restore the random generators and the state of the process after the `with` block."""
    torch = sys.modules.get("torch")
    python, array, errors = random.getstate(), np.random.get_state(), np.geterr()
    place, deepest = Path.cwd() if Path().is_dir() else None, sys.getrecursionlimit()
    main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)} if main else {}
    restore = [] if torch is None else _of_torch(torch)
    try:
        with warnings.catch_warnings():
            yield
    finally:
        random.setstate(python)
        np.random.set_state(array)
        np.seterr(**errors)
        with suppress(OSError):
            os.chdir(place or ".")
        sys.setrecursionlimit(deepest)
        for number, handler in handlers.items():
            if signal.getsignal(number) is not handler and handler is not None:
                signal.signal(number, handler)
        for one in restore:
            one()


def _of_torch(torch: Any) -> list[Callable[[], Any]]:
    """Return functions that restore the current state of torch."""
    threads, kind = torch.get_num_threads(), torch.get_default_dtype()
    found: list[Callable[[], Any]] = [
        partial(torch.set_rng_state, torch.get_rng_state()),
        partial(torch.set_grad_enabled, torch.is_grad_enabled()),
        partial(torch.set_default_dtype, kind),
        # Setting the same number again would start threads.
        lambda: None if torch.get_num_threads() == threads else torch.set_num_threads(threads),
    ]
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        found.append(partial(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))
    return found
