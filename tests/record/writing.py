"""The processes of test_crashes.py: one writes until it is killed, others read until they are asked to stop."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rewardkit.record.recorder import Recorder
from rewardkit.record.run import open_run
from tests.record.batches import batch


def write(path: Path, first: int, said: Connection[Any, Any]) -> None:
    """Record batch after batch, and send the step of each once it is on disk."""
    recorder = Recorder(path, compact_every=5)
    for step in range(first, 10**9):
        recorder.record(batch(step))
        assert recorder.flush()
        said.send(step)


def read(path: Path, asked: Connection[Any, Any]) -> None:
    """On each request, read the run and send the number of completions that all tables agree on."""
    run = open_run(path)
    asked.send(0)
    while asked.recv():
        run.refresh()
        counts = "select (select count(*) from scores), (select count(*) from completions)"
        scores, completions = run.sql(counts).fetchall()[0]
        joined = run.sql("select count(*) from scores join completions using (attempt, rank, part, row)")
        assert scores == completions == joined.fetchall()[0][0] == len(run.completions().fetchall())
        asked.send(scores)
