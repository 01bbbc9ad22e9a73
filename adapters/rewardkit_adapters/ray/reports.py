"""Reports on parts: count the finished rows, measure the speed, and combine the reports in the order of the data."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import final

from rewardkit.scoring.report import ReplayReport
from rewardkit_adapters.ray.folder import Folder, part_name

_SECONDS = 5.0
"""The number of seconds between checks for finished parts. The interval is arbitrary, but not shorter because each
check lists a folder, which may be in a bucket."""


@final
@dataclass(frozen=True)
class Progress:
    """A run's progress.

    Attributes:
        parts: the number of finished parts.
        of: the total number of parts.
        rows: the number of rows in the finished parts.
        seconds: the number of seconds since the start of this run.
        scored: the number of rows in the parts that this run finished.
    """

    parts: int
    of: int
    rows: int
    seconds: float
    scored: int


@final
class Reports:
    """The reports for the parts in a folder."""

    def __init__(self, folder: Folder, size: int) -> None:
        self._folder = folder
        self._size = size
        self._read_names: set[str] = set()
        self._by_part: dict[int, ReplayReport] = {}
        self._started = time.monotonic()
        self._before = 0

    def missing(self) -> list[int]:
        """Return the unfinished parts, which lack a report or a file."""
        self._look()
        present = self._folder.parts()
        return [part for part in range(self._size) if part not in self._by_part or part_name(part) not in present]

    def lost(self) -> list[int]:
        """Return the parts that have a report but whose file is missing."""
        present = self._folder.parts()
        return [part for part in sorted(self._by_part) if part_name(part) not in present]

    def joined(self) -> ReplayReport:
        """Return the combined report for all rows."""
        report = ReplayReport()
        for part in range(self._size):
            report.extend(self._by_part[part])
        return report

    def progress(self) -> Progress:
        """Read new reports, and return the progress."""
        self._look()
        rows = sum(report.rows for report in self._by_part.values())
        return Progress(len(self._by_part), self._size, rows, time.monotonic() - self._started, rows - self._before)

    def start(self) -> None:
        """Start the clock. Parts that finish after this call count as scored by this run."""
        self._started = time.monotonic()
        self._before = self.progress().rows

    def _look(self) -> None:
        for name, table in self._folder.reports(self._read_names):
            self._read_names.add(name)
            for part, report in zip(table["part"].to_pylist(), table["report"].to_pylist(), strict=True):
                self._by_part[part] = pickle.loads(report)


@contextmanager
def show_progress(reports: Reports, show: Callable[[Progress], None]) -> Iterator[None]:
    """Show the progress inside the `with` block."""
    reports.start()
    finished = threading.Event()

    def watch() -> None:
        while not finished.wait(_SECONDS):
            with suppress(OSError):  # a file may still be incomplete
                show(reports.progress())

    thread = threading.Thread(target=watch, name="rewardkit progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()
