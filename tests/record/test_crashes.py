"""A training killed at any moment loses at most the current batch, and the next start continues."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from rewardkit.record.run import open_run
from tests.record.batches import rows
from tests.record.writing import read, write

KILLS = int(os.environ.get("REWARDKIT_KILLS", "12"))
"""How often to kill a training; set REWARDKIT_KILLS=50 for a longer test."""
PATIENCE = 60


def started(target: Callable[..., None], *arguments: object) -> tuple[BaseProcess, Connection[Any, Any]]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["tests.record.writing", "duckdb", "fsspec.implementations.local", "pandas", "pyarrow.parquet"]
    )
    here, there = context.Pipe()
    process = context.Process(target=target, args=(*arguments, there), daemon=True)
    process.start()
    there.close()
    return process, here


def heard(connection: Connection[Any, Any]) -> Any:
    assert connection.poll(PATIENCE)
    return connection.recv()


def rest(connection: Connection[Any, Any]) -> list[int]:
    """Return the steps that a process reported before it was killed."""
    said = []
    try:
        while connection.poll():
            said.append(connection.recv())
    except (EOFError, OSError):
        pass
    return said


@pytest.mark.slow
def test_a_killed_training_loses_only_the_current_batch(tmp_path: Path) -> None:
    moments = random.Random(0)
    step, said = 0, 0
    for _ in range(KILLS):
        writer, connection = started(write, tmp_path, step)
        confirmed = [heard(connection)]
        time.sleep(moments.uniform(0, 0.15))
        writer.kill()
        writer.join()
        confirmed += rest(connection)
        said += len(confirmed)
        run = open_run(tmp_path)
        steps = run.steps
        assert steps in (list(range(confirmed[-1] + 1)), list(range(confirmed[-1] + 2)))
        assert len(rows(run.completions(), "row")) == len(rows(run.scores(), "row")) == 4 * len(steps)
        step = steps[-1] + 1
    assert said > 2 * KILLS


@pytest.mark.slow
def test_two_processes_can_read_while_one_writes(tmp_path: Path) -> None:
    writer, said = started(write, tmp_path, 0)
    heard(said)
    readers = [started(read, tmp_path) for _ in range(2)]
    seen = [[heard(connection)] for _, connection in readers]
    while len(seen[0]) < 20 or seen[0][-1] < seen[0][1] + 80:
        for _, connection in readers:
            connection.send(True)
        for counts, (_, connection) in zip(seen, readers, strict=True):
            counts.append(heard(connection))
        rest(said)
    for reader, connection in readers:
        connection.send(False)
        reader.join(PATIENCE)
    writer.kill()
    writer.join()
    assert [reader.exitcode for reader, _ in readers] == [0, 0]
    assert all(counts == sorted(counts) and counts[-1] > counts[1] for counts in seen)
