"""Runs of older versions are migrated while they are read; their files do not change."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest

from rewardkit.batch.batch import Batch
from rewardkit.record import run as reading
from rewardkit.record.recorder import Recorder
from rewardkit.record.records import FOREIGN
from rewardkit.record.run import open_run
from rewardkit.record.schema import MIGRATIONS, SCHEMA, Info, Tables, migrated
from rewardkit.record.trajectories import Trajectories
from tests.record.batches import batch, rows, written
from tests.record.conversations import OPENED

VERSION_1 = Path(__file__).parent / "recorded" / "version_1"
"""A run of two attempts, one of them joined, that the last rewardkit with version 1 of the format wrote."""
VERSION_2 = VERSION_1.with_name("version_2")
"""The same of version 2, with trajectories."""


def from_0(tables: Tables, info: Info) -> tuple[Tables, Info]:
    """Version 0 called the total "reward" and the title "name"."""
    for table in ("scores",):
        names = ["total" if name == "reward" else name for name in tables[table].column_names]
        tables[table] = tables[table].rename_columns(names)
    return tables, {**info, "title": info["name"]}


def test_every_older_version_has_a_migration() -> None:
    assert set(MIGRATIONS) == set(range(1, SCHEMA))


def test_an_older_run_is_migrated_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = written(tmp_path, *map(batch, range(5)), compact_every=3).scores().fetchall()
    for path in (tmp_path / "scores").iterdir():
        table = parquet.read_table(path)
        names = ["reward" if name == "total" else name for name in table.column_names]
        parquet.write_table(table.rename_columns(names), path)
    (tmp_path / "run.json").write_text(json.dumps({"schema": 0, "name": "old"}))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    monkeypatch.setattr(reading, "MIGRATIONS", {0: from_0, **MIGRATIONS})
    run = open_run(tmp_path)
    assert sorted(map(repr, run.scores().fetchall())) == sorted(map(repr, expected))
    assert (run.info["schema"], run.info["title"]) == (SCHEMA, "old")
    assert len(rows(run.completions(), "row")) == 20
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_a_run_without_trajectories_is_read_as_it_is() -> None:
    before = {path: path.read_bytes() for path in VERSION_1.rglob("*") if path.is_file()}
    run = open_run(VERSION_1)
    assert (run.info["schema"], run.state, run.steps) == (SCHEMA, "finished", [1, 2, 3, 4, 5])
    assert rows(run.scores(), "turns", "stop", "broken") == [(None, None, None)] * 10
    assert rows(run.scores(), "total")[0] == 2.0
    assert [bool(said) for said in rows(run.completions(), "messages")] == [True, False] * 5
    assert (rows(run.completions(), "rollout"), run.turns().fetchall()) == ([None] * 10, [])
    assert before == {path: path.read_bytes() for path in VERSION_1.rglob("*") if path.is_file()}


def test_a_run_without_durations_is_read_and_continued(tmp_path: Path) -> None:
    run = open_run(VERSION_2)
    assert (run.info["schema"], run.state, run.steps) == (SCHEMA, "finished", [1, 2, 3, 4, 5])
    assert rows(run.scores(), "turns", "prompt_length") == [(2, None)] * 10
    assert run.durations().fetchall() == []
    assert [version["sources"] for version in run.versions().to_arrow_table().to_pylist()] == ["{}"]
    assert run.packed("0123456789abcdef") is None
    shutil.copytree(VERSION_2, tmp_path / "run")
    run = written(tmp_path / "run", batch(6, n=2, prompt_lengths=[5, None], durations={"form": [0.1]}), attempt=3)
    assert rows(run.scores(), "prompt_length") == [None] * 10 + [5, None]
    assert len(run.durations().fetchall()) == 1


def test_a_run_without_trajectories_is_continued(tmp_path: Path) -> None:
    shutil.copytree(VERSION_1, tmp_path / "run")
    more = batch(6, n=2, completions=[OPENED, OPENED])
    known = Trajectories.of(Batch([OPENED, OPENED]))
    run = written(tmp_path / "run", replace(more, trajectories=known), attempt=3)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["schema"] == SCHEMA
    assert rows(run.scores(), "turns") == [None] * 10 + [2, 2]
    assert run.steps == [1, 2, 3, 4, 5, 6]


def test_a_run_of_another_format_is_not_continued(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"schema": 99}')
    with Recorder(tmp_path, attempt=1, patience=math.inf) as recorder:
        recorder.record(batch())
    assert json.loads((tmp_path / "run.json").read_text())["schema"] == 99


def test_migrations_run_in_order() -> None:
    def renamed(number: int) -> object:
        return lambda tables, info: (tables, {**info, "path": f"{info.get('path', '')}{number}"})

    steps = {number: renamed(number) for number in range(3)}
    assert migrated({}, {"schema": 0}, steps, to=3)[1] == {"schema": 3, "path": "012"}  # type: ignore[arg-type]
    assert migrated({}, {"schema": 2}, steps, to=3)[1] == {"schema": 3, "path": "2"}  # type: ignore[arg-type]


def test_a_run_without_foreign_scores_is_read_and_continued(tmp_path: Path) -> None:
    written(tmp_path, batch(1, n=2))
    for path in (tmp_path / "scores").iterdir():
        parquet.write_table(parquet.read_table(path).drop_columns(list(FOREIGN)), path)
    info = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**info, "schema": 3}))
    assert rows(open_run(tmp_path).scores(), *FOREIGN) == [(None, None, None)] * 2
    foreign = np.array([1.0, np.nan]), np.array([0.25, np.nan]), np.array([0.125, np.nan])
    run = written(tmp_path, batch(2, n=2, foreign=foreign), attempt=2)
    assert run.info["schema"] == SCHEMA
    unknown = None, None, None
    assert rows(run.scores(), *FOREIGN) == [unknown, unknown, (1.0, 0.25, 0.125), unknown]
