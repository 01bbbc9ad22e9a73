"""A process for each reward: the modules of two versions of one file have the same name, and must not meet.

``done_elsewhere([task, other])`` runs both at the same time and returns their results; `Job` is the task that scores.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from rewardkit.differences.side import Side, scored
from rewardkit.differences.targets import Place
from rewardkit.errors import RewardKitError, shorten
from rewardkit.scoring.files import Row
from rewardkit.scoring.regressions import Regression
from rewardkit.scoring.sources import Saved, saved
from rewardkit.workers.limits import end_with_parent

_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from rewardkit.differences.process import main
main(*sys.argv[2:])
"""


_HEARD = 4_000
"""How many bytes of a process's output are read if it dies, from its end."""
_POLL = 0.2
"""Seconds between two questions whether it was cancelled."""


@dataclass(frozen=True)
class Data:
    """Completions that several processes can open.

    Attributes:
        name: as the user wrote it.
        address: of a file or folder, absolute, since a revision has another working directory.
        rows: yields the rows, if only this function can read them.
        sources: our name -> the column of the data.
        limit: how many rows from the start are read; None: all.
    """

    name: str
    address: str
    rows: Callable[[], Iterator[Row]] | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None

    @classmethod
    def at(cls, address: str, **options: Any) -> Data:
        """Return the completions in a file or folder."""
        return cls(address, address if "://" in address else os.path.abspath(address), **options)

    def open(self) -> Saved:
        """Open the completions.

        Raises:
            DataError: there are none, or they cannot be read.
        """
        return saved(self.address, limit=self.limit, completion=self.sources.get("completion"), rows=self.rows)


class Task(Protocol):
    """What a process does. Picklable, as is its result."""

    @property
    def name(self) -> str:
        """The reward, for messages."""

    @property
    def place(self) -> Place:
        """Where the process runs."""

    def run(self) -> Any: ...


@dataclass(frozen=True)
class Job:
    """Score completions.

    Attributes:
        name: of the reward, as the user wrote it.
    """

    name: str
    place: Place
    data: Data
    leave_out: tuple[str, ...] = ()
    exploits: tuple[Regression, ...] = ()

    def run(self) -> Side:
        """Load the reward and score."""
        return scored(
            self.name,
            self.place.source.load(),
            self.data.open(),
            sources=self.data.sources,
            leave_out=self.leave_out,
            exploits=self.exploits,
        )


@dataclass(frozen=True)
class Several:
    """Jobs that one process does, in the place of the first."""

    jobs: tuple[Job, ...]

    @property
    def name(self) -> str:
        return self.jobs[0].name

    @property
    def place(self) -> Place:
        return self.jobs[0].place

    def run(self) -> list[Side]:
        return [job.run() for job in self.jobs]


def scored_elsewhere(jobs: Sequence[Job]) -> list[Side]:
    """Score all jobs at the same time, each in a process of its own.

    Raises:
        RewardKitError: a reward cannot be loaded or cannot score the data, or its process dies.
    """
    found = done_elsewhere(jobs)
    for one in found:
        if isinstance(one, RewardKitError):
            raise one
    return found


def done_elsewhere(
    tasks: Sequence[Task], timeout: float | None = None, cancelled: Callable[[], bool] | None = None
) -> list[Any]:
    """Do all tasks at the same time, each in a process of its own; return results, or errors in their places.

    Args:
        timeout: seconds, after which the processes that still run are ended.
        cancelled: called several times a second; once it returns True, the processes that still run are ended.
    """
    ends = None if timeout is None else time.monotonic() + timeout
    with tempfile.TemporaryDirectory(prefix="rewardkit-", ignore_cleanup_errors=True) as place:
        files = [(Path(place) / f"{number}.task", Path(place) / f"{number}.result") for number in range(len(tasks))]
        children = []
        try:
            for task, (question, answer) in zip(tasks, files, strict=True):
                question.write_bytes(pickle.dumps(task))
                # What a reward prints for each of many thousand completions would bury the report.
                with open(_output(answer), "wb") as said:
                    children.append(_started(task, question, answer, said))
            return [
                _answer(task, child, answer, ends, cancelled)
                for task, child, (_, answer) in zip(tasks, children, files, strict=True)
            ]
        finally:
            for child in children:
                with suppress(OSError):
                    child.kill()
                child.wait()


def _started(task: Task, question: Path, answer: Path, said: IO[bytes]) -> subprocess.Popen[bytes]:
    # Sets of strings have the same order in both processes, so a reward that depends on it is compared fairly.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.Popen(
        [sys.executable, "-c", _CHILD, json.dumps(task.place.path), str(question), str(answer)],
        cwd=task.place.cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=subprocess.STDOUT,
    )


def _answer(
    task: Task,
    child: subprocess.Popen[bytes],
    answer: Path,
    ends: float | None,
    cancelled: Callable[[], bool] | None,
) -> Any:
    while True:
        left = None if ends is None else max(0.0, ends - time.monotonic())
        try:
            code = child.wait(left if cancelled is None else _POLL if left is None else min(left, _POLL))
            break
        except subprocess.TimeoutExpired:
            if ends is not None and time.monotonic() >= ends:
                return RewardKitError(f"{task.name}: it takes too long, and was ended")
            if cancelled is not None and cancelled():
                return RewardKitError(f"{task.name}: it was cancelled")
    if not answer.is_file():
        last = _output(answer).read_bytes()[-_HEARD:].decode(errors="replace").strip().splitlines()[-1:]
        said = f": {shorten(last[0])}" if last else ""
        return RewardKitError(f"{task.name}: the process that scored with it ended with exit code {code}{said}")
    return pickle.loads(answer.read_bytes())


def _failed(task: Task, said: str) -> RewardKitError:
    """Return an error that does not name the temporary folder of a revision."""
    folder = task.place.folder
    return RewardKitError(f"{task.name}: {said.replace(f'{folder}{os.sep}', '') if folder else said}")


def _output(answer: Path) -> Path:
    """Return the file with what a process printed."""
    return answer.with_suffix(".said")


def main(question: str, answer: str) -> None:
    """Do a task and write the answer: its result, or an error."""
    end_with_parent()
    task: Task = pickle.loads(Path(question).read_bytes())
    found: Any
    try:
        found = task.run()
    except RewardKitError as error:
        found = _failed(task, str(error))
    except Exception as error:
        found = _failed(task, f"{type(error).__name__}: {shorten(str(error))}")
    made = Path(answer).with_suffix(".tmp")
    made.write_bytes(pickle.dumps(found))
    made.replace(answer)
    sys.stdout.flush()
    os._exit(0)  # do not wait for threads of the reward
