"""Keeps the open runs in memory and up to date: ``Watcher(library).get("first").scores``.

One thread checks all open runs every two seconds. Pages read arrays that never change: an update replaces them.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rewardkit.errors import RewardKitError
from rewardkit.page.curves import Metrics, Panel, panels
from rewardkit.page.label_file import LabelFile
from rewardkit.page.labels import Labels
from rewardkit.page.library import Library
from rewardkit.page.prompts import Prompts
from rewardkit.page.scores import Floats, Scores
from rewardkit.page.summaries import Summaries
from rewardkit.page.trials import NEW
from rewardkit.record.queries import Extent, extent_of, new_scores
from rewardkit.record.run import Run, open_run

if TYPE_CHECKING:
    from rewardkit.page.trials import Trial, Trials

_LOG = logging.getLogger("rewardkit")
SECONDS = 2.0
"""The pause between checks of a run for new data. Any number: steps of a training take longer, and each check lists
files."""
_FORGOTTEN = 120.0
"""A run that no page has asked for in this time is no longer checked. After ten times as long it is closed."""

T = TypeVar("T")


@dataclass
class Watched:
    """A run in memory. `number` increases whenever there is new data."""

    name: str
    path: Path
    run: Run
    number: int = 0
    scores: Scores = field(init=False)
    metrics: Metrics = field(init=False)
    versions: list[dict[str, Any]] = field(init=False)
    components: list[str] = field(init=False)
    state: str = field(init=False)
    problem: str = ""
    trial: Trial | None = None
    labels: Labels | None = None
    asked: float = field(default_factory=time.monotonic)
    opened: float = field(default_factory=time.monotonic)
    _id: str = ""
    _extent: Extent = field(default_factory=Extent)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _cached: dict[str, tuple[int, Any]] = field(default_factory=dict)
    _lasting: dict[str, Any] = field(default_factory=dict)
    _reading: threading.Lock = field(default_factory=threading.Lock)
    _prompts: tuple[Scores, Prompts] | None = None

    @classmethod
    def open(cls, name: str, path: Path) -> Watched:
        """Read a run for the first time."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            watched = cls(name, path, open_run(path))
            watched.load(first=True)
        watched.problem = _messages(caught)
        return watched

    def refresh(self) -> bool:
        """Read new data. Return whether there was any."""
        with self._lock, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.run.refresh()
            replaced = self.run.info["id"] != self._id
            changed = self.load(first=replaced)
            _ = self.prompts  # so that no page has to wait for them
        self.problem = _messages(caught) or ("" if replaced else self.problem)
        return changed

    def load(self, first: bool = False) -> bool:
        """Update all changed data, or everything if `first`. Return whether anything changed."""
        run = self.run
        extent, state = extent_of(run), run.state
        if not first and extent == self._extent and state == self.state:
            return False
        attempts, before = ({attempt for attempt, _ in snapshot.batches} for snapshot in (extent, self._extent))
        scores = (
            None
            if first or attempts != before
            else self.scores.joined(Scores.of(new_scores(run, extent, self._extent)))
        )
        if scores is None or len(scores) != extent.completions:  # or a part arrived late, or was skipped
            scores = Scores.of(run.scores(training=None).to_arrow_table())
        if first:
            self._lasting.clear()
            self._prompts = None
        self.metrics = Metrics.of(run)
        self.versions = _versions(run)
        self.components = run.components
        self.scores, self.state, self._extent = scores, state, extent
        self._id = run.info["id"]
        self.number += 1
        return True

    def show_tried(self, scores: Scores, columns: dict[str, Floats]) -> bool:
        """Put the (n,) results of a trial next to `scores`. Return whether these are still the scores of this run."""
        with self._lock:
            if self.scores.total is not scores.total:
                return False
            self.scores = self.scores.with_tried(columns)
            return True

    def cached(self, name: str, make: Callable[[], T]) -> T:
        """Return the result of `make`, computed once until there is new data."""
        number, value = self._cached.get(name, (-1, None))
        if number != self.number:
            now = self.number
            value = make()
            self._cached[name] = now, value
        result: T = value
        return result

    def cached_for_run(self, name: str, make: Callable[[], T]) -> T:
        """Return the result of `make`, computed once for this run."""
        result: T = self._lasting.setdefault(name, make()) if name not in self._lasting else self._lasting[name]
        return result

    @property
    def stamp(self) -> tuple[int, int, int]:
        """A value that changes when there is something new to show: data, results of a trial, or a label."""
        trial = 0 if self.trial is None else self.trial.number
        return self.number, trial, 0 if self.labels is None else self.labels.file.number

    @property
    def prompts(self) -> Prompts:
        """The prompts of these scores. They are read when they are needed: the first graphs come without them."""
        scores = self.scores
        with self._reading:
            if self._prompts is None or self._prompts[0] is not scores:
                read = Prompts.of(self.run, scores, None if self._prompts is None else self._prompts[1])
                self._prompts = scores, read.with_tried(scores) if NEW in scores.tried else read
            return self._prompts[1]

    @property
    def panels(self) -> list[Panel]:
        """The graphs of this run."""
        return self.cached("panels", lambda: panels(self.scores, self.metrics, self.components))

    @property
    def declared(self) -> dict[str, dict[str, Any]]:
        """The bounds, the kind and the columns of a component, from the newest version that has it."""
        return {part["name"]: part for version in self.versions for part in json.loads(version["components"])}


class Watcher:
    """All open runs. On each of them, a reward can be tried."""

    def __init__(self, library: Library, trials: Trials | None = None, labels: LabelFile | None = None) -> None:
        self.library = library
        self.trials = trials
        self.labels = labels
        self.summaries = Summaries()
        self._open: dict[str, Watched] = {}
        self._opening = threading.Lock()
        self._ended = threading.Event()
        threading.Thread(target=self._check, name="rewardkit-viewer", daemon=True).start()

    def get(self, name: str) -> Watched:
        """Return a run. Opens it if necessary.

        Raises:
            NotARun: there is no run of this name.
            RunError: the run cannot be read.
        """
        path = self.library.path(name)
        with self._opening:
            watched = self._open.get(name)
            if watched is None or watched.path != path:
                _close(watched)
                watched = self._open[name] = Watched.open(name, path)
                watched.trial = None if self.trials is None else self.trials.of(watched)
                watched.labels = None if self.labels is None else Labels(self.labels, watched)
        watched.asked = time.monotonic()
        return watched

    def prepare(self) -> None:
        """Load the packages that reading needs, and the run if there is only one, before a page asks for it."""
        import duckdb  # noqa: F401
        import pyarrow as pa
        import pyarrow.parquet

        pa.array([""])  # pyarrow imports pandas, if it is installed, with the first list
        names = self.library.names()
        if len(names) == 1:
            with suppress(Exception):  # the page will say what is wrong
                self.get(names[0])

    def opened(self, name: str) -> Watched | None:
        """Return a run if it is already open."""
        return self._open.get(name)

    def end(self) -> None:
        self._ended.set()
        for watched in list(self._open.values()):
            _close(watched)

    def _check(self) -> None:
        while not self._ended.wait(SECONDS):
            if self.labels is not None:
                with suppress(RewardKitError):  # `problem` has it
                    self.labels.refresh()
            for name, watched in list(self._open.items()):
                unasked = time.monotonic() - watched.asked
                being_drawn = time.monotonic() - watched.opened < SECONDS
                # Any factor: a browser that wakes up again should find its run still open.
                if unasked > 10 * _FORGOTTEN:
                    _close(self._open.pop(name, None))
                elif unasked < _FORGOTTEN and not being_drawn:
                    try:
                        watched.refresh()
                    except RewardKitError as error:
                        watched.problem = str(error)
                    except Exception as error:  # a folder that was removed, a disk that went away
                        _LOG.debug("%s", watched.path, exc_info=True)
                        watched.problem = f"Can no longer read {watched.path}: {type(error).__name__}: {error}"


def _close(watched: Watched | None) -> None:
    if watched is not None and watched.trial is not None:
        watched.trial.end()


def _messages(caught: list[warnings.WarningMessage]) -> str:
    return "\n".join(
        dict.fromkeys(str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
    )


def _versions(run: Run) -> list[dict[str, Any]]:
    relation = run.versions()
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
