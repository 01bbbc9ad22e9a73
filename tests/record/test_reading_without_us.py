"""A run is plain Parquet that other tools can read without rewardkit."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.record.batches import batch, written

STEPS = 7
ROWS = 4 * STEPS


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that was killed: two parts are joined, two are not."""
    written(tmp_path, *map(batch, range(5)), compact_every=5)
    written(tmp_path, *(batch(step) for step in range(5, STEPS)), attempt=2, compact_every=0)
    assert len(list((tmp_path / "scores").iterdir())) == 3
    return tmp_path


def test_pandas(run: Path) -> None:
    import pandas

    scores = pandas.read_parquet(run / "scores")
    completions = pandas.read_parquet(run / "completions")
    assert len(scores) == ROWS
    both = scores.merge(completions, on=["attempt", "rank", "part", "row"])
    assert both["completion"].str.startswith("step ").sum() == ROWS
    assert scores.groupby("step")["total"].mean().tolist() == [pytest.approx(4.75 / 3)] * STEPS
    assert str(scores["time"].dtype) == "datetime64[us, UTC]"


def test_duckdb(run: Path) -> None:
    import duckdb

    found = duckdb.sql(f"select count(*), count(distinct step) from read_parquet('{run}/scores/*.parquet')").fetchall()
    assert found == [(ROWS, STEPS)]


@pytest.mark.skipif(importlib.util.find_spec("polars") is None, reason="polars is not installed")
def test_polars(run: Path) -> None:
    import polars  # type: ignore[import-not-found, unused-ignore]

    assert polars.read_parquet(run / "scores" / "*.parquet").height == ROWS


def test_datasets(run: Path, tmp_path: Path) -> None:
    import datasets

    found = datasets.load_dataset(
        "parquet", data_files=str(run / "completions" / "*.parquet"), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert found.num_rows == ROWS
    assert found[0]["completion"].startswith("step ")


def test_arrow_joins_versions_with_different_columns(run: Path) -> None:
    from pyarrow import dataset

    assert dataset.dataset(run / "metrics").to_table().num_rows == 4 * STEPS
