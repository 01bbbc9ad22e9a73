"""Runs of older versions are migrated while they are read; their files do not change."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from rewardkit.store import run as reading
from rewardkit.store.migrations import MIGRATIONS, Info, Tables, migrated
from rewardkit.store.run import open_run
from rewardkit.store.schema import SCHEMA
from tests.store.batches import batch, rows, written


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
    monkeypatch.setattr(reading, "MIGRATIONS", {0: from_0})
    run = open_run(tmp_path)
    assert sorted(map(repr, run.scores().fetchall())) == sorted(map(repr, expected))
    assert (run.info["schema"], run.info["title"]) == (SCHEMA, "old")
    assert len(rows(run.completions(), "row")) == 20
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_migrations_run_in_order() -> None:
    def renamed(number: int) -> object:
        return lambda tables, info: (tables, {**info, "path": f"{info.get('path', '')}{number}"})

    steps = {number: renamed(number) for number in range(3)}
    assert migrated({}, {"schema": 0}, steps, to=3)[1] == {"schema": 3, "path": "012"}  # type: ignore[arg-type]
    assert migrated({}, {"schema": 2}, steps, to=3)[1] == {"schema": 3, "path": "2"}  # type: ignore[arg-type]
