"""Tries a reward on the runs that are open: a process scores their completions while the page stays usable.

``Trials("new.py:reward").of(watched)`` starts at once. The results are in ``watched.scores.tried``. When the file of
the reward is saved, all completions are scored again.
"""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from pathlib import Path
from typing import Protocol

from rewardkit.core.errors import DataError, RewardKitError
from rewardkit.core.evaluation.omission import EXPENSIVE
from rewardkit.data.reward_names import is_file
from rewardkit.replay.differences.process import done_elsewhere
from rewardkit.replay.differences.record import Recorded
from rewardkit.replay.differences.targets import Placed, Target, split_named, target_of
from rewardkit.replay.differences.trial import Trial as Scoring, TriedPart, read_parts
from rewardkit.viewer.scores import Floats, Scores
from rewardkit.viewer.tried import Results, Tried

_LOG = logging.getLogger("rewardkit")
_SECONDS = 1.0
_REST = 2.0
"""The least seconds between two updates of the page."""
_PATIENCE = 5.0
"""The most seconds to wait for the end of a trial."""
_PAUSE = 20.0
"""The least seconds between two processes for a run that is still being written."""


class OpenRun(Protocol):
    """A run whose completions are scored; its scores may grow."""

    path: Path
    scores: Scores

    def show_tried(self, scores: Scores, columns: dict[str, Floats]) -> bool:
        """Show results beside `scores`. Return whether these are still the scores of this run."""


class Trials:
    """A reward, and its trial on each run.

    Args:
        reward: as in `rewardkit diff`: ``file.py:reward``, ``module:reward``, ``HEAD~1:file.py:reward``, or an object
            that `placed` describes.
        expensive: whether judges, reward models and tested programs are asked, too.

    Raises:
        DataError: `reward` is the folder of a run.
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
        """Start the trial on a run."""
        return Trial(self, watched)

    def saved(self) -> tuple[int, int] | None:
        """Return a value that changes when the file of the reward is saved; None if there is no such file."""
        try:
            status = None if self._file is None else self._file.stat()
        except OSError:  # an editor replaces the file at this moment
            return None
        return None if status is None else (status.st_mtime_ns, status.st_size)


def _file_of(target: Placed) -> Path | None:
    """Return the file to watch; None for a module or a revision."""
    if not isinstance(target, Target) or target.revision:
        return None
    source, _ = split_named(target.name)
    return Path(source).absolute() if is_file(source) else None


class Trial:
    """The trial of a reward on one run.

    Attributes:
        number: increases whenever there is something new to show.
        problem: why nothing can be scored; "" if it works.
        found: the results so far; None until the first ones are there.
    """

    def __init__(self, trials: Trials, watched: OpenRun) -> None:
        self.trials = trials
        self.number = 0
        self.problem = ""
        self.found: Tried | None = None
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
        """Stop scoring, and wait until the process has ended."""
        self._ended.set()
        self._thread.join(_PATIENCE)

    @property
    def text(self) -> str:
        """The progress, in a few words."""
        found = self.found
        if self.problem:
            return "failed"
        if found is None:
            return "starting …"
        done, size = sum(len(part.totals) for part in self._parts), int(self._watched.scores.training.sum())
        said = f"{done:,} of {size:,} completions" if self._busy else f"{done:,} completions"
        failed = f" · {len(found.errors):,} failed" if found.errors else ""
        flips = "" if found.inside else f" · {found.flips:,} sign flip{'' if found.flips == 1 else 's'}"
        return said + failed + flips

    @property
    def notes(self) -> list[str]:
        """What limits the trial, in sentences."""
        found = self.found
        said = [self.problem] if self.problem else []
        if found is not None and found.scheduled:
            said.append("Its schedules have their end value, as in evaluation.")
        if found is not None and found.inside:
            said.append(
                f"{', '.join(found.inside)} was left out, but is no term of its own, so it cannot be subtracted from "
                "the recorded totals. Changes and sign flips are not shown. Pass --expensive to score it, too."
            )
        elif found is not None and found.omitted:
            said.append(
                f"Left out: {', '.join(found.omitted)}, also from the recorded totals that the new ones are compared "
                "with. Pass --expensive to score them, too."
            )
        return said

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
            except Exception as error:  # otherwise the page would say "scoring" forever
                _LOG.debug("%s", self._watched.path, exc_info=True)
                self._fail(f"{type(error).__name__}: {error}")
            self._ended.wait(_SECONDS)

    def _restart(self) -> int:
        """Forget what the reward in the file as it was gave."""
        self._saved, self._parts, self._results, self._placed = self.trials.saved(), [], None, 0
        self.problem, self.found = "", None
        self.number += 1
        return -1

    def _is_saved(self) -> bool:
        """Whether the file of the reward was saved since it was loaded."""
        return self.trials.saved() not in (self._saved, None)

    def _score(self) -> None:
        """Score the completions that were not scored, in a process."""
        self._place()
        scores = self._watched.scores
        left = scores.training if self.found is None else scores.training & ~self.found.done
        if not left.any():
            return
        self._busy, self.problem, self._started = True, "", time.monotonic()
        self.number += 1
        try:
            with (
                tempfile.TemporaryDirectory(prefix="rewardkit-", ignore_cleanup_errors=True) as folder,
                self.trials.target.placed() as place,
            ):
                since = int(scores.step[left].min())
                trials, address = self.trials, str(self._watched.path.absolute())
                task = Scoring(trials.name, place, address, folder, trials.leave_out, since)
                reader = _Reader(Path(folder))
                (answer,) = done_elsewhere([task], cancelled=lambda: self._heard(reader))
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
                self._place()
            self.number += 1

    def _heard(self, reader: _Reader) -> bool:
        """Take the results that the process wrote; return whether it is no longer needed."""
        self._parts += reader.new()
        if time.monotonic() > self._next:
            started = time.monotonic()
            self._place()
            now = time.monotonic()
            # The longer it takes, the rarer the updates: what a page shows costs more than what a trial adds to it.
            self._next = now + max(_REST, 10.0 * (now - started), 0.1 * (now - self._started))
        return self._is_over()

    def _is_over(self) -> bool:
        return self._ended.is_set() or self._is_saved()

    def _fail(self, why: str) -> None:
        self.problem = why
        self.number += 1

    def _place(self) -> None:
        """Put the results beside the recorded scores."""
        scores = self._watched.scores
        if self._results is None or self._results.scores.total is not scores.total:
            self._results, self._placed = Results(scores), 0
        new = self._parts[self._placed :]
        if new:
            found = self._results.with_parts(new)
            self._placed += len(new)
            if self._watched.show_tried(scores, found.columns):
                self.found = found
                self.number += 1


class _Reader:
    """Reads the files of a process in turn."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0

    def new(self) -> list[TriedPart]:
        """Return the parts that were written since the last call."""
        files = list(read_parts(self._folder, self._number))
        self._number += len(files)
        return [part for parts in files for part in parts]
