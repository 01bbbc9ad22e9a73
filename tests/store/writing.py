"""What the processes of test_crashes.py do: write until they are killed, read until they are told to end."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rewardkit.store.recorder import Recorder
from rewardkit.store.run import open_run
from tests.store.batches import batch


def write(path: Path, first: int, said: Connection[Any, Any]) -> None:
    """Records batch after batch and says the step of each once it must be there."""
    recorder = Recorder(path, compact_every=5)
    for step in range(first, 10**9):
        recorder.record(batch(step))
        assert recorder.flush()
        said.send(step)


def read(path: Path, asked: Connection[Any, Any]) -> None:
    """Reads each time it is asked, and says how many completions there are in all tables alike."""
    run = open_run(path)
    asked.send(0)
    while asked.recv():
        run.refresh()
        counts = "select (select count(*) from scores), (select count(*) from completions)"
        scores, completions = run.sql(counts).fetchall()[0]
        joined = run.sql("select count(*) from scores join completions using (attempt, rank, part, row)")
        assert scores == completions == joined.fetchall()[0][0] == len(run.completions().fetchall())
        asked.send(scores)
