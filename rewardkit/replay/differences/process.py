"""A process for each reward: the modules of two versions of one file have the same name, and must not meet.

``scored_elsewhere([job, other])`` runs both at the same time and returns their sides.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit.core.errors import RewardKitError, shorten
from rewardkit.core.processes.limits import end_with_parent
from rewardkit.data.files import Row
from rewardkit.data.regressions import Regression
from rewardkit.replay.differences.side import Side, scored
from rewardkit.replay.differences.targets import Place
from rewardkit.replay.sources import Saved, saved

_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from rewardkit.replay.differences.process import main
main(*sys.argv[2:])
"""


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


@dataclass(frozen=True)
class Job:
    """What a process does.

    Attributes:
        name: of the reward, as the user wrote it.
    """

    name: str
    place: Place
    data: Data
    leave_out: tuple[str, ...] = ()
    exploits: tuple[Regression, ...] = ()


def scored_elsewhere(jobs: Sequence[Job]) -> list[Side]:
    """Score all jobs at the same time, each in a process of its own.

    Raises:
        RewardKitError: a reward cannot be loaded or cannot score the data, or its process dies.
    """
    with tempfile.TemporaryDirectory(prefix="rewardkit-", ignore_cleanup_errors=True) as place:
        files = [(Path(place) / f"{number}.job", Path(place) / f"{number}.side") for number in range(len(jobs))]
        children = []
        try:
            for job, (question, answer) in zip(jobs, files, strict=True):
                question.write_bytes(pickle.dumps(job))
                children.append(_started(job, question, answer))
            return [_answer(job, child, answer) for job, child, (_, answer) in zip(jobs, children, files, strict=True)]
        finally:
            for child in children:
                with suppress(OSError):
                    child.kill()
                child.wait()


def _started(job: Job, question: Path, answer: Path) -> subprocess.Popen[bytes]:
    # Sets of strings have the same order in both processes, so a reward that depends on it is compared fairly.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.Popen(
        [sys.executable, "-c", _CHILD, json.dumps(job.place.path), str(question), str(answer)],
        cwd=job.place.cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno() if _has_number(sys.stderr) else subprocess.DEVNULL,
    )


def _has_number(stream: Any) -> bool:
    try:
        stream.fileno()
    except (OSError, ValueError, AttributeError):  # captured by a notebook
        return False
    return True


def _answer(job: Job, child: subprocess.Popen[bytes], answer: Path) -> Side:
    code = child.wait()
    if not answer.is_file():
        raise RewardKitError(f"{job.name}: the process that scored with it ended with exit code {code}")
    found: Side | RewardKitError = pickle.loads(answer.read_bytes())
    if isinstance(found, RewardKitError):
        raise found
    return found


def main(question: str, answer: str) -> None:
    """Do a job and write the answer: a `Side`, or an error."""
    end_with_parent()
    job: Job = pickle.loads(Path(question).read_bytes())
    found: Side | RewardKitError
    try:
        reward = job.place.source.load()
        found = scored(
            job.name,
            reward,
            job.data.open(),
            sources=job.data.sources,
            leave_out=job.leave_out,
            exploits=job.exploits,
        )
    except RewardKitError as error:
        found = RewardKitError(f"{job.name}: {error}")
    except Exception as error:
        found = RewardKitError(f"{job.name}: {type(error).__name__}: {shorten(str(error))}")
    made = Path(answer).with_suffix(".tmp")
    made.write_bytes(pickle.dumps(found))
    made.replace(answer)
    sys.stdout.flush()
    os._exit(0)  # do not wait for threads of the reward
