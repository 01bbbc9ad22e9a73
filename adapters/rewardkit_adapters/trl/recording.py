"""A run's record: ``rk.to_trl(reward, record="runs/x")`` writes every scored batch to the folder ``runs/x``.

Recording does not affect training. Errors are logged, and scores do not change.
"""

from __future__ import annotations

import json
import logging
import math
import os
import threading
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from rewardkit.batch.table import ScoreTable
from rewardkit.errors import RewardTypeError, shorten
from rewardkit.online.versions import version_of
from rewardkit.record.capture import FaultLines
from rewardkit.record.guard import Guard
from rewardkit.record.parts import Files
from rewardkit.record.recorder import PATIENCE, Recorder, next_attempt
from rewardkit.record.records import Line, Logged, Record, Version
from rewardkit.record.schema import COMMITTING
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward
from rewardkit_adapters.trl.scored import Prepared, Scored
from rewardkit_adapters.trl.trainer import Trainer

_LOG = logging.getLogger("rewardkit")
_FLUSH_SECONDS = 60.0
"""The number of seconds to wait for the writer at the end of a run. The limit is arbitrary. A disk that takes longer is
considered lost."""
_MOST_PROMPTS = 100_000
"""The maximum number of prompts whose lengths are cached. The limit is arbitrary. A larger cache would use more memory,
but tokenizing a prompt again takes little time."""
_NOTHING = ScoreTable((), {}, {}, np.empty(0))


class Recording:
    """The record of the rows that one evaluator scores, opened at its first batch. Thread-safe.

    Args:
        path: the run's folder, or an fsspec URL.
        reward: the reward to record.

    Raises:
        RewardTypeError: `path` is not a path.
        MissingExtraError: the extra ``store`` is not installed.
    """

    def __init__(self, path: str | os.PathLike[str], reward: Reward) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise RewardTypeError(f'record must be the folder of the run, such as record="runs/x", got {shorten(path)}')
        self.path = Files.at(path).location
        self._scorer = Scorer(reward)
        self._lock = threading.RLock()
        self._faults = FaultLines()
        self._attempt: int | None = None
        self._recorder: Recorder | None = None
        self._last_step = -1  # the last training step in this attempt
        self._trained = False  # whether this attempt has trained
        self._new_attempt = False
        self._alone = True  # True until a trainer calls
        self._logged: list[Logged] = []
        self._own_metrics: set[str] = set()
        self._lines: list[Line] = []
        self._prompt_lengths: dict[str, int] | None = {}  # None if the trainer cannot provide them
        self._guard = Guard(self.path, "these batches")

    @property
    def folder(self) -> str | None:
        """The local folder with the record, or None for a remote URL."""
        return self.path if Files.at(self.path).local else None

    def use(self, reward: Reward) -> None:
        """Switch to another version of the reward."""
        with self._lock:
            self._scorer = Scorer(reward)
            self.__dict__.pop("_version", None)

    def say(self, message: str, level: str = "info", kind: str = "log") -> None:
        """Add a log line, which is written with the next batch."""
        with self._lock:
            self._lines.append(Line(message, kind, level, time=time.time()))

    def add(self, prepared: Prepared, scored: Scored, measured: Mapping[str, float]) -> None:
        """Record a batch from this process.

        Args:
            prepared: the trainer's call.
            scored: the batch's scores.
            measured: the metrics across all processes.
        """
        call, trainer, state = prepared.call, prepared.trainer, prepared.state
        spread, normalization = scored.spread, trainer.way
        with self._lock:
            step = getattr(state, "global_step", None)
            self._alone = not trainer.known and state is None
            self._open(trainer, step)
            with self._guard():
                self._own_metrics |= measured.keys()
                self._hand_over(
                    table=scored.table,
                    step=step,
                    epoch=getattr(state, "epoch", None),
                    training=trainer.training,
                    max_steps=getattr(state, "max_steps", None),
                    prompts=call.prompts,
                    completions=call.completions,
                    completion_ids=call.completion_ids,
                    columns=call.columns,
                    groups=scored.groups - scored.groups[:1],
                    advantages=None
                    if spread is None or normalization is None
                    else spread.advantages(normalization, scored.tally.moments),
                    foreign=scored.foreign,
                    prompt_lengths=self._lengths_of(call.prompts, trainer),
                    trajectories=scored.trajectories,
                    durations=scored.durations,
                    metrics=_metrics(scored, {**measured, **trainer.limits} if trainer.is_main else {}),
                    lines=[*self._take_lines(), *scored.lines, *self._faults.of(scored.table.faults)],
                )

    def log(self, logs: Mapping[str, Any], step: int) -> None:
        """Record the trainer's log entry after `step` steps (loss, KL, learning rate, ...) as ``trainer/<name>``.

        The entry is written with the next batch, but assigned to its own step. Metrics that rewardkit logged are
        skipped, because they are already recorded.
        """
        training = not any(name.startswith("eval_") for name in logs)
        with self._lock, self._guard():
            numbers = {
                f"trainer/{name}": float(value)
                for name, value in logs.items()
                if isinstance(value, (int, float)) and name.removeprefix("eval_") not in self._own_metrics
            }
            self._logged.append(Logged(max(0, step - 1) if training else step, training, numbers))

    def training_begins(self) -> None:
        """Start a new attempt if these functions have already been used for training."""
        with self._lock:
            self._new_attempt = self._trained

    def flush(self, *, finished: bool = False) -> None:
        """Write the remaining entries.

        Args:
            finished: whether training is complete. Without a trainer, every flush marks the run as finished.
        """
        with self._lock, self._guard():
            if self._recorder is not None:
                if self._logged:
                    last = self._logged[-1]
                    self._hand_over(table=_NOTHING, step=last.step, training=last.training, lines=self._take_lines())
                if finished or self._alone:
                    self._recorder.finish(_FLUSH_SECONDS)
                else:
                    self._recorder.flush(_FLUSH_SECONDS)

    def _lengths_of(self, prompts: Any, trainer: Trainer) -> list[int | None] | None:
        """Return the number of tokens in each prompt, as tokenized by the trainer, or None if unknown."""
        lengths_by_prompt = self._prompt_lengths
        if lengths_by_prompt is None or prompts is None or not trainer.known:
            return None
        keys = [value if isinstance(value, str) else json.dumps(value, default=repr) for value in prompts]
        new_prompts = {key: prompt for key, prompt in zip(keys, prompts, strict=True) if key not in lengths_by_prompt}
        if new_prompts:
            lengths = trainer.prompt_lengths(list(new_prompts.values()))
            if lengths is None:
                self._prompt_lengths = None
                return None
            if len(lengths_by_prompt) > _MOST_PROMPTS:
                lengths_by_prompt.clear()
            lengths_by_prompt.update(zip(new_prompts, lengths, strict=True))
        return [lengths_by_prompt.get(key) for key in keys]

    def _take_lines(self) -> list[Line]:
        lines, self._lines = self._lines, []
        return lines

    def _open(self, trainer: Trainer, step: int | None) -> None:
        """Start an attempt at the first batch, and when training restarts or resumes from an earlier step.

        All processes start the attempt at the same batch. The main process chooses the attempt number.
        """
        is_earlier = trainer.training and step is not None and step < self._last_step
        if self._new_attempt or is_earlier:
            self.flush()
            with self._guard():
                if self._recorder is not None:
                    self._recorder.close()
            self._attempt = self._recorder = None
            self._prompt_lengths = {}
            self._new_attempt = self._trained = False
        if not self._attempt:
            self._attempt = trainer.on_main(self._next_attempt)
        if self._attempt and self._recorder is None:
            with self._guard():
                self._recorder = Recorder(self.path, attempt=self._attempt, rank=trainer.rank)
        if self._recorder is not None:  # without a trainer, no one waits for the recorder
            self._recorder.patience = math.inf if self._alone else PATIENCE
        if trainer.training:
            if not self._trained and not step and trainer.is_main:
                self._warn_of_earlier_training()
            self._trained, self._last_step = True, -1 if step is None else step

    def _warn_of_earlier_training(self) -> None:
        """Warn if a training run that starts from step 0 hides an earlier run in the same folder."""
        with self._guard():
            if not any(part.attempt < (self._attempt or 0) for part in Files.at(self.path).parts(COMMITTING)):
                return
            message = (
                f"{self.path}: another training run was recorded here before, and this run starts from step 0. The "
                "earlier run is still on disk, but rk.open_run(...).scores() and `rewardkit view` no longer show it. "
                "To read it, call .scores(superseded=True). Record each training run in its own folder, or resume "
                "from a checkpoint"
            )
            _LOG.warning("%s", message)
            self.say(message, "warning")

    def _next_attempt(self) -> int:
        """Return the number of the next attempt, or 0 if the folder cannot be read, so that the next batch retries."""
        attempt = 0
        with self._guard():
            attempt = next_attempt(self.path)
        return attempt

    def _hand_over(self, **values: Any) -> None:
        if self._recorder is not None:
            logged, self._logged = self._logged, []
            self._recorder.record(Record(version=self._version, logged=logged, **values))

    @cached_property
    def _version(self) -> Version:
        return version_of(self._scorer)


def _metrics(scored: Scored, measured: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics across all processes and two metrics for this process: seconds and completion diversity."""
    metrics = {**measured}
    for name, (_, failed, errored, _, unparsable, _) in zip(scored.table.components, scored.tally.faults, strict=True):
        if any(f"{kind}/{name}" in measured for kind in ("failed", "errored", "unparsable_gold")):
            metrics[f"faults/{name}"] = float(failed + errored + unparsable)
    metrics |= {f"seconds/{name}": seconds for name, seconds in scored.table.timings.items() if seconds}
    metrics["seconds/scoring"] = scored.seconds
    starts = np.flatnonzero(np.diff(scored.groups)) + 1
    if len(scored.table):
        members = np.split(np.array(scored.table.completions, dtype=object), starts)
        metrics["diversity/distinct"] = float(np.mean([len(set(texts)) / len(texts) for texts in members]))
    return metrics
