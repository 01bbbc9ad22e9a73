"""Trials of a reward on the open runs: a separate process scores completions while the page remains responsive.

``Trials("new.py:reward").of(watched)`` starts immediately. The results are in ``watched.scores.tried``. Whenever the
reward's file is saved, all completions are rescored.
"""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from rewardkit.differences.advantages import gradients
from rewardkit.differences.process import run_in_children
from rewardkit.differences.record import Recorded
from rewardkit.differences.targets import Placed, Target, split_named, target_of
from rewardkit.differences.trial import Trial as Scoring, TriedPart, read_parts
from rewardkit.errors import DataError, RewardKitError
from rewardkit.page.scores import Floats, Integers, RowIndex, Rows, Scores
from rewardkit.tree.evaluation.omission import EXPENSIVE
from rewardkit.tree.loading import is_file

# The scores of the reward on trial: its totals compared with the recorded ones, and the advantages that flip.


NEW, CHANGE, FLIP, ADVANTAGE = "new", "change", "flip", "new_advantage"
"""The column names for the new total, its difference from the recorded total, whether the advantage's sign flips, and
the new advantage."""


@dataclass(frozen=True)
class TrialScores:
    """A trial's results for a run's n completions.

    Attributes:
        columns: (n,) each, or NaN for completions that have not been scored.
        done: (n,) whether the reward has already been run on the completion.
        errors: row -> the reason why it could not be scored.
        scheduled: whether the reward has schedules, which have their end value in a trial.
        omitted: the omitted components.
        inside: the omitted components that are not terms. They cannot be subtracted from the recorded totals, so
            changes and flips would be incorrect and are not shown.
    """

    columns: dict[str, Floats]
    done: Rows
    errors: dict[int, str] = field(default_factory=dict)
    scheduled: bool = False
    omitted: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()

    @property
    def flips(self) -> int:
        """The number of completions whose advantage changes its sign."""
        return int(np.nansum(self.columns[FLIP]))


class Results:
    """A trial's incomplete results in the order of `scores`, compared with each group's recorded totals."""

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        size = len(scores)
        unknown = {name: np.full(size, np.nan) for name in (NEW, CHANGE, FLIP, ADVANTAGE)}
        self.found = TrialScores(unknown, np.zeros(size, dtype=np.bool_))
        # A group: the same batch, the same group, the same prompt.
        groups = RowIndex([scores.attempt, scores.rank, scores.part, scores.group, scores.prompt])
        _, self._groups = np.unique(groups.numbers, return_inverse=True)
        self._sizes = np.bincount(self._groups)
        self._before: Floats | None = None

    def with_parts(self, parts: Sequence[TriedPart]) -> TrialScores:
        """Add new results, and return all results.

        Components that the trial omits are also subtracted from the recorded totals.
        """
        if not parts:
            return self.found
        rows = self.scores.index.places(np.concatenate([part.keys for part in parts]))
        is_current = rows >= 0
        columns = {name: values.copy() for name, values in self.found.columns.items()}
        is_scored, errors = self.found.done.copy(), dict(self.found.errors)
        columns[NEW][rows[is_current]] = np.concatenate([part.totals for part in parts])[is_current]
        is_scored[rows[is_current]] = True
        start = 0
        for part in parts:
            part_errors = {int(rows[start + row]): reason for row, reason in part.errors.items()}
            errors |= {row: reason for row, reason in part_errors.items() if row >= 0}
            start += len(part.totals)
        scores, omitted = self.scores, parts[0].omitted
        inside = tuple(name for name in omitted if name in scores.components and name not in scores.terms)
        if not inside:
            self._compare(columns, is_scored, rows[is_current], omitted)
        self.found = TrialScores(columns, is_scored, errors, parts[0].scheduled, omitted, inside)
        return self.found

    def _compare(self, columns: dict[str, Floats], is_scored: Rows, rows: Integers, omitted: tuple[str, ...]) -> None:
        """Compare the new and recorded totals for `rows`, and the advantages in groups that are now scored."""
        if self._before is None:
            terms = [self.scores.terms[name] for name in omitted if name in self.scores.terms]
            self._before = self.scores.total - sum(map(np.nan_to_num, terms), start=np.zeros(len(self.scores)))
        before, new = self._before, columns[NEW]
        columns[CHANGE][rows] = new[rows] - before[rows]
        touched = np.zeros(len(self._sizes), dtype=np.bool_)
        touched[self._groups[rows]] = True
        is_complete = touched & (np.bincount(self._groups, is_scored) == self._sizes) & (self._sizes > 1)
        members = np.flatnonzero(is_complete[self._groups])
        comparison = gradients(before[members], new[members], self._groups[members]) if len(members) else None
        if comparison is not None:
            columns[FLIP][members] = comparison.flipped
            columns[ADVANTAGE][members] = comparison.after


def combine_parts(scores: Scores, parts: Sequence[TriedPart]) -> TrialScores:
    """Return the results of all `parts` at once."""
    return Results(scores).with_parts(parts)


_LOG = logging.getLogger("rewardkit")
_SECONDS = 1.0
"""The seconds between file checks. The value is arbitrary: an editor saves less often."""
_REST = 2.0
"""The minimum seconds between page updates. The value is arbitrary: each update redraws the page."""
_PATIENCE = 5.0
"""The maximum seconds to wait for a trial to end before it is killed. The limit is arbitrary."""
_PAUSE = 20.0
"""The minimum seconds between processes for a run that is still being written. The value is arbitrary: each process
imports the reward again."""


class OpenRun(Protocol):
    """A run whose completions are scored. New scores may be added to it."""

    path: Path
    scores: Scores

    def show_tried(self, scores: Scores, columns: dict[str, Floats]) -> bool:
        """Show results next to `scores`; return whether `scores` are still this run's current scores."""


class Trials:
    """A reward to test on runs.

    Args:
        reward: as for `rewardkit diff`: ``file.py:reward``, ``module:reward``, ``HEAD~1:file.py:reward``, or an object
            that `placed` describes.
        expensive: whether to also score with judges, reward models, and tested programs.

    Raises:
        DataError: `reward` is a run's folder.
    """

    def __init__(self, reward: str | Placed, *, expensive: bool = False) -> None:
        self.name = str(reward)
        target = target_of(reward) if isinstance(reward, str) else reward
        if isinstance(target, Recorded):
            raise DataError(
                f"--reward {reward} is a run: pass a reward, such as file.py:reward, or RUN@3 for version 3"
            )
        self.target = target
        self.leave_out = () if expensive else (EXPENSIVE,)
        self._file = _file_of(target)

    def of(self, watched: OpenRun) -> Trial:
        """Start a trial of the reward on a run."""
        return Trial(self, watched)

    def saved(self) -> tuple[int, int] | None:
        """Return a value that changes whenever the reward's file is saved, or None if there is no file."""
        try:
            status = None if self._file is None else self._file.stat()
        except OSError:  # an editor may be replacing the file right now
            return None
        return None if status is None else (status.st_mtime_ns, status.st_size)


def _file_of(target: Placed) -> Path | None:
    """Return the file to watch for the reward, or None for a module or a revision."""
    if not isinstance(target, Target) or target.revision:
        return None
    source, _ = split_named(target.name)
    return Path(source).absolute() if is_file(source) else None


class Trial:
    """The trial of a reward on one run.

    Attributes:
        number: a counter that increases whenever there is something new to show.
        problem: the reason why completions cannot be scored, or "" if there is no problem.
        found: the results so far; None until the first results arrive.
    """

    def __init__(self, trials: Trials, watched: OpenRun) -> None:
        self.trials = trials
        self.number = 0
        self.problem = ""
        self.found: TrialScores | None = None
        self._watched = watched
        self._parts: list[TriedPart] = []
        self._results: Results | None = None
        self._placed = 0
        self._saved = trials.saved()
        self._busy = False
        self._started = self._next = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="rewardkit-trial", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop scoring and wait until the process has ended."""
        self._ended.set()
        self._thread.join(_PATIENCE)

    @property
    def text(self) -> str:
        """The trial's progress in a few words."""
        scores = self.found
        if self.problem:
            return "failed"
        if scores is None:
            return "starting …"
        scored_count, size = sum(len(part.totals) for part in self._parts), int(self._watched.scores.training.sum())
        progress = f"{scored_count:,} of {size:,} completions" if self._busy else f"{scored_count:,} completions"
        failed = f" · {len(scores.errors):,} failed" if scores.errors else ""
        flips = "" if scores.inside else f" · {scores.flips:,} sign flip{'' if scores.flips == 1 else 's'}"
        return progress + failed + flips

    @property
    def notes(self) -> list[str]:
        """The trial's limitations, in sentences."""
        scores = self.found
        sentences = [self.problem] if self.problem else []
        if scores is not None and scores.scheduled:
            sentences.append("Its schedules have their end value, as in evaluation.")
        if scores is not None and scores.inside:
            sentences.append(
                f"{', '.join(scores.inside)} was not scored, but is not a separate term, so it cannot be subtracted "
                "from "
                "the recorded totals. Changes and sign flips are not shown. Pass --expensive to score it as well."
            )
        elif scores is not None and scores.omitted:
            sentences.append(
                f"Excluded: {', '.join(scores.omitted)}, also from the recorded totals with which the new "
                "ones are compared. Pass --expensive to score them as well."
            )
        return sentences

    def _work(self) -> None:
        tried_at = -1
        while not self._ended.is_set():
            try:
                if self._is_saved():
                    tried_at = self._restart()
                size = len(self._watched.scores)
                if size != tried_at and (tried_at < 0 or time.monotonic() > self._next):
                    tried_at = size
                    self._score()
            except Exception as error:  # without this, the page would say "scoring" forever
                _LOG.debug("%s", self._watched.path, exc_info=True)
                self._fail(f"{type(error).__name__}: {error}")
            self._ended.wait(_SECONDS)

    def _restart(self) -> int:
        """Drop all results because the reward's file has changed; return -1, which means "nothing scored yet"."""
        self._saved, self._parts, self._results, self._placed = self.trials.saved(), [], None, 0
        self.problem, self.found = "", None
        self.number += 1
        return -1

    def _is_saved(self) -> bool:
        """Return whether the reward's file has been saved since it was loaded."""
        return self.trials.saved() not in (self._saved, None)

    def _score(self) -> None:
        """Score the remaining completions in a separate process."""
        self._align_results()
        scores = self._watched.scores
        remaining = scores.training if self.found is None else scores.training & ~self.found.done
        if not remaining.any():
            return
        self._busy, self.problem, self._started = True, "", time.monotonic()
        self.number += 1
        try:
            with (
                tempfile.TemporaryDirectory(prefix="rewardkit-", ignore_cleanup_errors=True) as folder,
                self.trials.target.placed() as location,
            ):
                since = int(scores.step[remaining].min())
                trials, address = self.trials, str(self._watched.path.absolute())
                task = Scoring(trials.name, location, address, folder, trials.leave_out, since)
                reader = _Reader(Path(folder))
                (answer,) = run_in_children([task], cancelled=lambda: self._take_results(reader))
                if not self._is_over():
                    self._parts += reader.new()
                    if isinstance(answer, RewardKitError):
                        self._fail(str(answer))
        except RewardKitError as error:
            self._fail(str(error))
        finally:
            self._busy = False
            self._next = time.monotonic() + _PAUSE
            if not self._is_over():
                self._align_results()
            self.number += 1

    def _take_results(self, reader: _Reader) -> bool:
        """Collect the results that the process has written; return whether the process should be canceled."""
        self._parts += reader.new()
        if time.monotonic() > self._next:
            started = time.monotonic()
            self._align_results()
            now = time.monotonic()
            # Update less often the longer it takes: drawing a page costs more than the new results are worth.
            self._next = now + max(_REST, 10.0 * (now - started), 0.1 * (now - self._started))
        return self._is_over()

    def _is_over(self) -> bool:
        return self._ended.is_set() or self._is_saved()

    def _fail(self, reason: str) -> None:
        self.problem = reason
        self.number += 1

    def _align_results(self) -> None:
        """Show the collected results next to the recorded scores."""
        scores = self._watched.scores
        if self._results is None or self._results.scores.total is not scores.total:
            self._results, self._placed = Results(scores), 0
        new = self._parts[self._placed :]
        if new:
            trial_scores = self._results.with_parts(new)
            self._placed += len(new)
            if self._watched.show_tried(scores, trial_scores.columns):
                self.found = trial_scores
                self.number += 1


class _Reader:
    """A reader for the result files that the process writes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0

    def new(self) -> list[TriedPart]:
        """Return the parts written since the last call."""
        files = list(read_parts(self._folder, self._number))
        self._number += len(files)
        return [part for parts in files for part in parts]
