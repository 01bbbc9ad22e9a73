"""Recording of rows that arrive one at a time in several processes.

Rows are written in batches of a few hundred. All processes in a training job write to the same attempt of the run, each
with a separate rank. The first process begins the attempt.
"""

from __future__ import annotations

import atexit
import itertools
import json
import math
import os
import socket
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from rewardkit.batch.column import Column, Rows, add_by_name
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import RewardTypeError, shorten
from rewardkit.online.batches import batch_of
from rewardkit.online.rows import Moment, Row
from rewardkit.online.versions import version_of
from rewardkit.record.capture import FaultLines
from rewardkit.record.guard import Guard
from rewardkit.record.parts import Files
from rewardkit.record.recorder import Recorder, next_attempt
from rewardkit.record.records import Record
from rewardkit.record.trajectories import Trajectories
from rewardkit.tree.evaluation.scorer import Scorer

# Join the tables of several batches: ``joined([first, second]).total`` has the rows of both.


def join_tables(tables: Sequence[ScoreTable]) -> ScoreTable:
    """Join one or more tables for the same reward. Each weight is averaged over the rows in which it counts.

    Values that functions logged for a whole batch are also averaged over the rows. Values that were logged for each
    completion are omitted.
    """
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    starts = list(itertools.accumulate((len(table) for table in tables), initial=0))
    return replace(
        first,
        completions=[text for table in tables for text in table.completions],
        components={
            name: _join_columns([table.components[name] for table in tables], starts) for name in first.components
        },
        terms={name: np.concatenate([table.terms[name] for table in tables]) for name in first.terms},
        total=np.concatenate([table.total for table in tables]),
        weights={name: _averaged(tables, name) for name in _names(table.weights for table in tables)},
        reached=add_by_name(table.reached for table in tables),
        passed={name: _passed(tables, name) for name in _names(table.passed for table in tables)},
        gauges=tables[-1].gauges,
        measures=add_by_name(table.measures for table in tables),
        timings=add_by_name(table.timings for table in tables),
        faults=tuple(
            replace(fault, row=fault.row + start)
            for table, start in zip(tables, starts, strict=False)
            for fault in table.faults
        ),
        metrics={name: _mean(tables, name) for name in _names(table.metrics for table in tables)},
        extras={},
    )


def _join_columns(columns: Sequence[Column], starts: Sequence[int]) -> Column:
    names = _names(column.parts for column in columns)
    placed = list(zip(columns, starts, strict=False))
    return Column(
        np.concatenate([column.values for column in columns]),
        np.concatenate([column.codes for column in columns]),
        {start + row: note for column, start in placed for row, note in column.notes.items()},
        {
            name: np.concatenate([column.parts.get(name, np.full(len(column.values), np.nan)) for column in columns])
            for name in names
        },
        turns={start + row: turns for column, start in placed for row, turns in column.turns.items()},
    )


def _names(name_lists: Iterable[Iterable[str]]) -> dict[str, None]:
    """Return all distinct names in the lists. Rows that could not be scored lack some names."""
    return dict.fromkeys(name for names in name_lists for name in names)


def _passed(tables: Sequence[ScoreTable], name: str) -> tuple[Rows, Rows]:
    masks = []
    for table in tables:
        nowhere = np.zeros(len(table), dtype=np.bool_)
        masks.append(table.passed.get(name, (nowhere, nowhere)))
    return np.concatenate([reached for reached, _ in masks]), np.concatenate([passed for _, passed in masks])


def _averaged(tables: Sequence[ScoreTable], name: str) -> float:
    counts = [table.reached.get(name, 0) for table in tables]
    weights = [table.weights.get(name, 0.0) for table in tables]
    total = sum(counts)
    return sum(count * weight for count, weight in zip(counts, weights, strict=True)) / total if total else max(weights)


def _mean(tables: Sequence[ScoreTable], name: str) -> float:
    means = [(table.metrics[name], len(table)) for table in tables if name in table.metrics]
    return float(np.average([mean for mean, _ in means], weights=[rows for _, rows in means]))


_ROWS, _SECONDS = 256, 5.0
"""Pending rows are written when there are this many, or when the first row has waited this long. The values are
arbitrary."""
_MOST = 10_000
"""The maximum number of rows of one kind that wait for a slow disk; additional rows are dropped. The limit is arbitrary
and saves memory."""
_PATIENCE = 0.05
"""The share of the time between two batches that training may wait for the disk. The value is arbitrary and has almost
no effect on training speed."""
# Seconds. Arbitrary: a disk that needs more than a minute at the end of a run will not recover, and a process begins
# its attempt within seconds.
_FLUSH_SECONDS = 60.0
_CLAIM_SECONDS = 30.0


@dataclass
class _Waiting:
    """Pending rows with the same step and columns."""

    max_steps: int | None
    tables: list[ScoreTable] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


_Kind = tuple[int | None, bool, int | None, frozenset[str], bool, bool]


@final
class RowRecording:
    """The thread-safe recording of rows that a `RowScorer` scores. Errors are logged and never reach the training code.

    Args:
        path: the run's folder, or an fsspec address.
        scorer: the recorded reward's scorer.

    Raises:
        RewardTypeError: `path` is not a path.
        MissingExtraError: the extra ``store`` is not installed.
    """

    def __init__(self, path: str | os.PathLike[str], scorer: Scorer) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise RewardTypeError(
                f'record= must be the folder of the run, such as record="runs/x", got {shorten(path)}'
            )
        self.path = Files.at(path).location
        self._version = version_of(scorer)
        self._faults = FaultLines()
        self._lock = threading.RLock()
        self._recorder: Recorder | None = None
        self._process = os.getpid()
        self._waiting: dict[_Kind, _Waiting] = {}
        self._timer: threading.Timer | None = None
        self._guard = Guard(self.path, "these rows")

    def add(self, table: ScoreTable, rows: Sequence[Row], moment: Moment) -> None:
        """Record the scores for `rows`."""
        kind: _Kind = (
            moment.step,
            moment.training,
            moment.num_generations,
            frozenset(rows[0].columns),
            rows[0].prompt is None,
            rows[0].completion_ids is None,
        )
        with self._lock, self._guard():
            if os.getpid() != self._process:  # a fork: pending rows belong to the parent
                self._process, self._recorder, self._waiting, self._timer = os.getpid(), None, {}, None
            recorder = self._open()
            waiting = self._waiting.setdefault(
                kind, _Waiting(None if moment.progress is None else moment.progress.max_steps)
            )
            waiting.tables.append(table)
            waiting.rows += [_readable(row, text) for row, text in zip(rows, table.completions, strict=True)]
            for pending_kind, pending in list(self._waiting.items()):
                full = len(pending.rows) >= _ROWS or _is_past(pending_kind, kind)
                if (full and recorder.ready) or len(pending.rows) >= _MOST:
                    self._write(pending_kind)
            self._start_timer()

    def flush(self) -> None:
        """Write all pending rows to disk."""
        with self._lock, self._guard():
            if os.getpid() != self._process:
                return
            if self._recorder is not None:
                self._recorder.patience = math.inf  # the flush may take as long as it needs
                for kind in list(self._waiting):
                    self._write(kind)
                self._recorder.patience = _PATIENCE
                self._recorder.flush(_FLUSH_SECONDS)

    def _open(self) -> Recorder:
        """Return the recorder. It must be created before the process exits, because it starts a thread."""
        if self._recorder is None:
            attempt, rank = attempt_and_rank(self.path)
            self._recorder = Recorder(self.path, attempt=attempt, rank=rank, patience=_PATIENCE)
            atexit.register(self.flush)  # runs before the recorder's exit handler, which was registered earlier
        return self._recorder

    def _start_timer(self) -> None:
        # With the timer, a killed process loses only the rows of a few seconds.
        if self._waiting and self._timer is None:
            self._timer = threading.Timer(_SECONDS, self._late)
            self._timer.daemon = True
            self._timer.start()

    def _late(self) -> None:
        with self._lock, self._guard():
            self._timer = None
            for kind in list(self._waiting):
                if self._open().ready:
                    self._write(kind)
            self._start_timer()

    def _write(self, kind: _Kind) -> None:
        pending, (step, training, num_generations, *_) = self._waiting.pop(kind), kind
        with self._guard():
            table, batch = join_tables(pending.tables), batch_of(pending.rows, None, num_generations)
            self._open().record(
                Record(
                    table,
                    self._version,
                    step=step,
                    training=training,
                    max_steps=pending.max_steps,
                    prompts=batch.prompts,
                    completions=batch.completions,
                    completion_ids=batch.completion_ids,
                    columns=batch.columns,
                    groups=batch.groups,
                    metrics={
                        **table.metrics,
                        **table.measured,
                        **{f"seconds/{name}": seconds for name, seconds in table.timings.items() if seconds},
                    },
                    lines=self._faults.of(table.faults),
                    trajectories=Trajectories.of(batch),
                )
            )


def _is_past(kind: _Kind, now: _Kind) -> bool:
    """Return whether `kind` belongs to an earlier step than `now`, so that no more rows of that kind will arrive."""
    return kind[0] is not None and now[0] is not None and kind[0] < now[0]


def _readable(row: Row, text: str) -> Row:
    """Return `row` with a completion that can be written: its text or messages if possible; otherwise, `text`."""
    return row if isinstance(row.completion, (str, list, tuple)) else replace(row, completion=text)


def attempt_and_rank(path: str) -> tuple[int, int]:
    """Claim an attempt and a rank with which this process writes to the run, and return both.

    Processes from the same launch (the same Ray job, torchrun, or process group) share an attempt.
    """
    files = Files.at(path)
    attempt = _attempt(files, f"launches/{_launch()}")
    content = json.dumps({"host": socket.gethostname(), "process": os.getpid()}).encode()
    rank = 0
    while not files.claim(f"launches/a{attempt:03d}-r{rank:03d}.json", content):
        rank += 1
    return attempt, rank


def _attempt(files: Files, launch: str) -> int:
    """Return the launch's attempt. The launch's first process begins the attempt."""
    if os.path.basename(launch) not in files.names("launches") and files.claim(launch, b""):
        attempt = next_attempt(files.location)
        files.put(launch, str(attempt).encode())
        return attempt
    until = time.monotonic() + _CLAIM_SECONDS
    while not (content := files.get(launch)) and time.monotonic() < until:
        time.sleep(0.01)  # another process is beginning the attempt
    return int(content) if content.isdigit() else next_attempt(files.location)


def _launch() -> str:
    """Return a name for the launch that started this process, which is the same in all processes of the launch."""
    variable = os.environ.get
    if launch := variable("REWARDKIT_LAUNCH"):
        return launch
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized():
        here = ray.get_runtime_context()  # job ids alone are not unique: every cluster counts from 1
        return f"ray-{here.get_session_name()}-{here.get_job_id()}"
    host = socket.gethostname()
    if variable("RANK") and variable("MASTER_PORT"):
        if variable("LOCAL_WORLD_SIZE") == variable("WORLD_SIZE"):
            return f"torch-{host}-{os.getppid()}"
        return f"torch-{variable('MASTER_ADDR')}-{variable('MASTER_PORT')}-{variable('TORCHELASTIC_RUN_ID', '')}"
    return f"group-{host}-{os.getpgrp()}"
