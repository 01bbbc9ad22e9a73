"""Run each reward in a separate process, because the modules of two versions of a file have the same name.

``done_elsewhere([task, other])`` runs both tasks in parallel and returns their results. A `Job` is a task that scores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from rewardkit.differences.side import Side, score_side
from rewardkit.differences.targets import Location
from rewardkit.errors import RewardKitError, WorkerDied, shorten
from rewardkit.scoring.files import Row
from rewardkit.scoring.regressions import Regression
from rewardkit.scoring.runs import Until
from rewardkit.scoring.sources import Saved, saved
from rewardkit.workers.worker import Call, Launch, run_in_process

_POLL = 0.2
"""The number of seconds between two checks for cancellation. Arbitrary: a user does not notice this delay."""


@dataclass(frozen=True)
class Data:
    """Completions that several processes can open.

    Attributes:
        name: the name that the user wrote.
        address: a URL, or a file or folder as an absolute path, because a revision has another working directory.
        rows: a function that returns the rows if they cannot be read from `address`.
        sources: name in the reward -> column in the data.
        limit: the number of rows to read from the start, or None for all rows.
        until: the last batches of a recorded run to read, or None for all batches.
    """

    name: str
    address: str
    rows: Callable[[], Iterator[Row]] | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None
    until: Until | None = None

    @classmethod
    def at(cls, address: str, **options: Any) -> Data:
        """Return the completions in a file or folder."""
        return cls(address, address if "://" in address else os.path.abspath(address), **options)

    def open(self) -> Saved:
        """Open the completions for reading.

        Raises:
            DataError: there are no completions, or they cannot be read.
        """
        completion = self.sources.get("completion")
        return saved(self.address, limit=self.limit, completion=completion, rows=self.rows, until=self.until)

    def fixed(self, saved: Saved) -> Data:
        """Return this data without rows written after it was opened as `saved`: a training run may be in progress."""
        return replace(self, limit=saved.size, until=saved.until)


class Task(Protocol):
    """The work of one process. A task and its result must be picklable."""

    @property
    def name(self) -> str:
        """The reward's name, for messages."""

    @property
    def place(self) -> Location:
        """The location from which the process loads code."""

    def run(self) -> Any: ...


@dataclass(frozen=True)
class Job:
    """A task that scores completions with one reward.

    Attributes:
        name: the reward's name, as the user wrote it.
    """

    name: str
    place: Location
    data: Data
    leave_out: tuple[str, ...] = ()
    exploits: tuple[Regression, ...] = ()

    def run(self) -> Side:
        """Load the reward, score all completions, and return the scores."""
        return score_side(
            self.name,
            self.place.source.load(),
            self.data.open(),
            sources=self.data.sources,
            leave_out=self.leave_out,
            exploits=self.exploits,
        )


@dataclass(frozen=True)
class Several:
    """Several jobs for one process, which runs at the location of the first job."""

    jobs: tuple[Job, ...]

    @property
    def name(self) -> str:
        return self.jobs[0].name

    @property
    def place(self) -> Location:
        return self.jobs[0].place

    def run(self) -> list[Side]:
        return [job.run() for job in self.jobs]


def score_in_children(jobs: Sequence[Job]) -> list[Side]:
    """Run all jobs in parallel, each in a separate process, and return the scores of each.

    Raises:
        RewardKitError: a reward cannot be loaded or cannot score the data, or its process crashes.
    """
    outcomes = run_in_children(jobs)
    for outcome in outcomes:
        if isinstance(outcome, RewardKitError):
            raise outcome
    return outcomes


def run_in_children(
    tasks: Sequence[Task], timeout: float | None = None, cancelled: Callable[[], bool] | None = None
) -> list[Any]:
    """Run all tasks in parallel, each in a separate process, and return the result or error of each task.

    Args:
        timeout: the number of seconds after which processes that are still running are terminated.
        cancelled: a function that is called several times a second. Once it returns True, all running processes are
            terminated.
    """
    calls: list[Call] = []
    try:
        for task in tasks:
            # With a fixed hash seed, sets of strings have the same order in all processes, so a reward that depends on
            # the order is compared fairly. The processes are quiet, because output for thousands of completions would
            # bury the report.
            seed = {"PYTHONHASHSEED": "0"}
            launch = Launch(path=task.place.path, folder=task.place.cwd, environment=seed, quiet=True)
            calls.append(run_in_process(_run_task, (task,), timeout, launch))
        while wait(calls, _POLL).not_done:
            if cancelled is not None and cancelled():
                break
        return [_result(task, call) for task, call in zip(tasks, calls, strict=True)]
    finally:
        for call in calls:
            call.stop()
        wait(calls)  # their working folder may be removed next


def _result(task: Task, call: Call) -> Any:
    if not call.done():
        return RewardKitError(f"{task.name}: it was cancelled")
    try:
        return call.result()
    except TimeoutError:
        return RewardKitError(f"{task.name}: it took too long and was stopped")
    except WorkerDied as error:
        return RewardKitError(f"{task.name}: the scoring process {error}")


def _run_task(task: Task) -> Any:
    """Run a task in this process, and return its result or an error."""
    try:
        return task.run()
    except RewardKitError as error:
        return _failed(task, str(error))
    except Exception as error:
        return _failed(task, f"{type(error).__name__}: {shorten(str(error))}")


def _failed(task: Task, message: str) -> RewardKitError:
    """Return an error whose message does not name the temporary folder of a revision."""
    folder = task.place.folder
    return RewardKitError(f"{task.name}: {message.replace(f'{folder}{os.sep}', '') if folder else message}")
