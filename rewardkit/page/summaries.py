"""Summaries for the list of runs: state, steps, and last rewards. They need only a few queries and do not load
scores."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rewardkit.errors import RewardKitError
from rewardkit.page.curves import Line
from rewardkit.page.scores import Floats
from rewardkit.record.queries import last_written, mean_components, mean_totals
from rewardkit.record.run import Run, open_run

LAST = 10
"""The number of last steps to average. The number is arbitrary: a single step is noisy."""
_KEPT = 30
"""The maximum number of active runs to keep open, so that only new parts are read. The limit is arbitrary."""


@dataclass(frozen=True, eq=False)
class Summary:
    """A run's summary. `problem` is the reason why the run cannot be read, or an empty string if it can be read."""

    problem: str = ""
    state: str = ""
    title: str = ""
    last_step: int | None = None
    completions: int = 0
    written: str = "never"
    total: Line | None = None
    last_total: float | None = None
    components: tuple[tuple[str, float | None], ...] = ()


class Summaries:
    """A cache of run summaries. A summary is read again if its run has changed."""

    def __init__(self) -> None:
        self._by_path: dict[Path, tuple[object, Summary]] = {}
        self._open: dict[Path, Run] = {}
        self._lock = threading.Lock()

    def of(self, path: Path) -> Summary:
        """Return a run's summary. If the run is damaged, the summary describes the problem."""
        with self._lock:
            signature = _signature(path)
            cached = self._by_path.get(path)
            # A running run becomes "stopped" without any new files.
            if cached is not None and cached[0] == signature and cached[1].state != "running":
                return cached[1]
            try:
                with warnings.catch_warnings():  # a problem of the record is shown in its row of the table
                    warnings.simplefilter("ignore")
                    summary = self._read(path)
            except RewardKitError as error:
                summary = Summary(problem=str(error))
            except Exception as error:
                summary = Summary(problem=f"Cannot read this run: {type(error).__name__}: {error}")
            self._by_path[path] = signature, summary
            return summary

    def _read(self, path: Path) -> Summary:
        run = self._open.get(path)
        if run is None:
            run = open_run(path)
        else:
            run.refresh()
        summary = _summary(run)
        if summary.state == "running" and len(self._open) < _KEPT:
            self._open[path] = run
        else:
            self._open.pop(path, None)
        return summary


def _summary(run: Run) -> Summary:
    count, last_step, written_at = last_written(run)
    means = mean_totals(run)
    steps = np.array([step for step, _ in means], dtype=np.float64)
    totals = np.array([np.nan if total is None else total for _, total in means], dtype=np.float64)
    return Summary(
        state=run.state,
        title=str(run.info.get("title") or ""),
        last_step=last_step,
        completions=count,
        written=written_at.strftime("%Y-%m-%d %H:%M") if written_at is not None else "never",
        total=Line("total", steps, totals) if len(steps) else None,
        last_total=_mean(totals[-LAST:]),
        components=tuple(mean_components(run, means[-LAST:][0][0])) if means else (),
    )


def _mean(values: Floats) -> float | None:
    finite = values[~np.isnan(values)]
    return float(finite.mean()) if len(finite) else None


def _signature(path: Path) -> object:
    """Return a value that changes whenever something is written to the run."""
    signature = []
    for name in ("run.json", "scores", "versions"):
        try:
            status = (path / name).stat()
        except OSError:
            signature.append((name, 0, 0))
        else:
            signature.append((name, status.st_mtime_ns, status.st_size))
    return signature
