"""The open runs, kept in memory and up to date: ``Watcher(library).get("first").scores``.

One thread checks all open runs every two seconds. An update replaces arrays but never modifies them, so pages can read
arrays without a lock.
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
"""The pause between checks for new data, in seconds. The value is arbitrary: training steps take longer, and each check
lists files."""
_FORGOTTEN = 120.0
"""The seconds after which a run that no page requests is no longer checked. After ten times as long, the run is closed.
The value is arbitrary."""

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
        """Read new data; return whether there was any."""
        with self._lock, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.run.refresh()
            replaced = self.run.info["id"] != self._id
            changed = self.load(first=replaced)
            _ = self.prompts  # read them now, so that no page has to wait
        self.problem = _messages(caught) or ("" if replaced else self.problem)
        return changed

    def load(self, first: bool = False) -> bool:
        """Read all changed data (if `first`, all data); return whether anything changed."""
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
        """Add a trial's results, (n,) each, to `scores`; return whether `scores` are still the current scores."""
        with self._lock:
            if self.scores.total is not scores.total:
                return False
            self.scores = self.scores.with_tried(columns)
            return True

    def cached(self, name: str, make: Callable[[], T]) -> T:
        """Return the result of `make`, cached until there is new data."""
        number, value = self._cached.get(name, (-1, None))
        if number != self.number:
            now = self.number
            value = make()
            self._cached[name] = now, value
        result: T = value
        return result

    def cached_for_run(self, name: str, make: Callable[[], T]) -> T:
        """Return the result of `make`, cached while the run is open."""
        result: T = self._lasting.setdefault(name, make()) if name not in self._lasting else self._lasting[name]
        return result

    @property
    def stamp(self) -> tuple[int, int, int]:
        """A value that changes when there is something new to show: data, trial results, or a label."""
        trial = 0 if self.trial is None else self.trial.number
        return self.number, trial, 0 if self.labels is None else self.labels.file.number

    @property
    def prompts(self) -> Prompts:
        """The current scores' prompts, which are read on first use because the first graphs do not need them."""
        scores = self.scores
        with self._reading:
            if self._prompts is None or self._prompts[0] is not scores:
                read = Prompts.of(self.run, scores, None if self._prompts is None else self._prompts[1])
                self._prompts = scores, read.with_tried(scores) if NEW in scores.tried else read
            return self._prompts[1]

    @property
    def panels(self) -> list[Panel]:
        """This run's graphs."""
        return self.cached("panels", lambda: panels(self.scores, self.metrics, self.components))

    @property
    def declared(self) -> dict[str, dict[str, Any]]:
        """Component -> its bounds, kind, and columns, from the newest version that contains the component."""
        return {part["name"]: part for version in self.versions for part in json.loads(version["components"])}


class Watcher:
    """The open runs. If `trials` is given, each run has a trial of the reward."""

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
        """Return a run, opening it if necessary.

        Raises:
            NotARun: no run has this name.
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
        """Import the packages for reading runs and, if there is only one run, open it before a page requests it."""
        import duckdb  # noqa: F401
        import pyarrow as pa
        import pyarrow.parquet

        pa.array([""])  # pyarrow imports pandas, if it is installed, with the first list
        names = self.library.names()
        if len(names) == 1:
            with suppress(Exception):  # the page will show the problem
                self.get(names[0])

    def opened(self, name: str) -> Watched | None:
        """Return a run if it is already open; otherwise, None."""
        return self._open.get(name)

    def end(self) -> None:
        self._ended.set()
        for watched in list(self._open.values()):
            _close(watched)

    def _check(self) -> None:
        while not self._ended.wait(SECONDS):
            if self.labels is not None:
                with suppress(RewardKitError):  # the error is in `problem`
                    self.labels.refresh()
            for name, watched in list(self._open.items()):
                unasked = time.monotonic() - watched.asked
                being_drawn = time.monotonic() - watched.opened < SECONDS
                # Arbitrary factor: a browser that wakes from sleep should still find its run open.
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
