"""Comparison of two runs."""

from __future__ import annotations

from pathlib import Path

import rewardkit as rk
from rewardkit.batch.batch import Batch
from rewardkit.record.trajectories import Trajectories
from tests.record.batches import batch, written
from tests.record.conversations import OPENED, PENDING


def test_means_of_two_runs_per_step(tmp_path: Path) -> None:
    left = written(tmp_path / "left", batch(1), batch(2))
    written(tmp_path / "right", batch(2, n=2), batch(3, training=False))
    found = left.compare(tmp_path / "right").filter("name = 'components/form'")
    assert found.fetchall() == [(1, "components/form", 0.375, None, 4, None), (2, "components/form", 0.375, 0.25, 4, 2)]
    names = {name for (name,) in left.compare(left).select("name").fetchall()}
    assert names == {"total", "characters", "components/form", "components/right", "terms/form", "terms/right"}


def test_evaluations_are_compared_with_evaluations(tmp_path: Path) -> None:
    run = written(tmp_path, batch(1), batch(1, n=2, training=False))
    found = rk.open_run(tmp_path).compare(run, training=False).filter("name = 'total'")
    assert found.fetchall() == [(1, "total", 2.0, 2.0, 1, 1)]


def test_a_component_of_only_one_run_is_null_in_the_other(tmp_path: Path) -> None:
    from rewardkit.batch.table import ScoreTable

    record = batch(1)
    table = record.table
    only = ScoreTable(table.completions, {'it\'s "new"': table.components["form"]}, {}, table.total)
    right = written(tmp_path / "right", type(record)(only, record.version, step=1))
    found = written(tmp_path / "left", batch(1)).compare(right).filter("name like 'components/%'")
    assert [row[1:4] for row in found.fetchall()] == [
        ("components/form", 0.375, None),
        ('components/it\'s "new"', None, 0.375),
        ("components/right", 1.0, None),
    ]


def test_turns_and_calls_of_conversations_are_compared(tmp_path: Path) -> None:
    said = [OPENED, PENDING]
    talking = batch(1, n=2, completions=said, trajectories=Trajectories.of(Batch(said)))
    found = written(tmp_path / "left", talking).compare(written(tmp_path / "right", batch(1, n=2)))
    rows = {name: (left, right) for _, name, left, right, *_ in found.fetchall()}
    assert (rows["turns"], rows["calls"], rows["tool_errors"]) == ((2.0, None), (1.5, None), (0.5, None))
