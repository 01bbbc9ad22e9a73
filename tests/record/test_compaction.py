"""Compaction keeps the same rows in fewer files, even if it is interrupted."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings, strategies as st

from rewardkit.record.parts import Files
from rewardkit.record.recorder import Recorder
from rewardkit.record.run import Run, open_run
from rewardkit.record.schema import TABLES
from tests.record.batches import batch, files, written

WIDE = "a001-r000-00000000-00000003.parquet"


class Killed(BaseException):
    """Takes the place of a kill signal."""


def everything(run: Run) -> list[Any]:
    tables = (run.scores(training=None), run.completions(), run.metrics(training=None), run.logs(), run.prompts())
    return [sorted(map(repr, table.select(*sorted(table.columns)).fetchall())) for table in tables]


def test_parts_are_joined_and_the_rest_at_the_end_of_the_run(tmp_path: Path) -> None:
    written(tmp_path, *map(batch, range(10)), compact_every=4)
    expected = [WIDE, "a001-r000-00000004-00000007.parquet", "a001-r000-00000008-00000009.parquet"]
    for table in ("scores", "completions", "metrics", "logs"):
        assert files(tmp_path, table) == expected
    assert files(tmp_path, "prompts") == [WIDE]


@pytest.mark.slow
@given(st.integers(1, 12), st.integers(0, 5))
@settings(max_examples=15)
def test_compaction_does_not_change_the_rows(
    tmp_path_factory: pytest.TempPathFactory, batches: int, every: int
) -> None:
    records = [batch(step, training=bool(step % 3), time=1e9 + step) for step in range(batches)]
    loose = written(tmp_path_factory.mktemp("loose"), *records, compact_every=0)
    tight = written(tmp_path_factory.mktemp("tight"), *records, compact_every=every)
    assert everything(loose) == everything(tight)


def test_completions_are_sorted_by_prompt(tmp_path: Path) -> None:
    written(tmp_path, *map(batch, range(4)), compact_every=4)
    prompts = parquet.read_table(tmp_path / "completions" / WIDE)["prompt_id"].to_pylist()
    assert prompts == sorted(prompts)
    assert parquet.read_table(tmp_path / "scores" / WIDE)["step"].to_pylist() == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4


def test_large_batches_are_joined_earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit.record.recorder._BYTES", 600_000)
    records = [batch(step, texts=["x" * 50_000] * 4) for step in range(20)]  # of which little is left on disk
    written(tmp_path, *records, compact_every=100)
    assert len(files(tmp_path)) == 7


def test_parts_of_a_killed_process_are_joined_within_the_same_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rewardkit.record.recorder._BYTES", 600_000)
    written(tmp_path, *(batch(step, texts=["x" * 50_000] * 4) for step in range(20)), compact_every=0)
    written(tmp_path, attempt=2)
    assert len(files(tmp_path)) == 7


@pytest.mark.parametrize("doing", ["put", "delete"])
@pytest.mark.parametrize("table", TABLES)
def test_an_interruption_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, doing: str) -> None:
    records = [batch(step, time=1e9 + step) for step in range(4)]
    expected = everything(written(tmp_path / "whole", *records, compact_every=0))
    run = tmp_path / "cut"
    original = getattr(Files, doing)

    def interrupted(self: Files, name: str, *arguments: Any, **options: Any) -> None:
        first = name == f"{table}/{WIDE}" if doing == "put" else name == f"{table}/a001-r000-00000000.parquet"
        if first:
            raise OSError("interrupted")
        original(self, name, *arguments, **options)

    monkeypatch.setattr(Files, doing, interrupted)
    assert everything(written(run, *records, compact_every=4)) == expected
    monkeypatch.undo()
    tidied = written(run, attempt=2)
    assert everything(tidied) == expected
    assert files(run) == [WIDE], "the next start goes on where it ended"
    assert files(run, "completions") == [WIDE]


def test_the_next_attempt_cleans_up_after_a_killed_process(tmp_path: Path) -> None:
    written(tmp_path, *map(batch, range(3)), compact_every=0)
    (tmp_path / "scores" / "a001-r000-00000001.parquet").unlink()
    left = tmp_path / "logs" / ".a001-r000-00000002.parquet.4711.tmp"
    other = tmp_path / "logs" / ".a001-r001-00000002.parquet.4711.tmp"
    for path in (left, other):
        path.write_bytes(b"half")
    run = written(tmp_path, batch(3), attempt=2)
    assert not left.exists()
    assert other.exists(), "that rank may still be writing"
    assert files(tmp_path, "completions") == ["a001-r000-00000000-00000002.parquet", "a002-r000-00000000.parquet"]
    assert run.steps == [0, 2, 3]


def test_an_unreadable_part_stops_the_compaction_and_nothing_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Recorder(tmp_path, attempt=1, patience=math.inf, compact_every=4) as recorder:
        for step in range(3):
            recorder.record(batch(step))
        assert recorder.flush()
        (tmp_path / "scores" / "a001-r000-00000001.parquet").write_bytes(b"PAR1")
        for step in range(3, 9):
            recorder.record(batch(step))
    with pytest.warns(UserWarning, match="00000001.parquet cannot be read"):
        assert open_run(tmp_path).steps == [0, 2, 3, 4, 5, 6, 7, 8]
    assert "recording failed" in caplog.text
