"""Several attempts, and several runs, in one folder: which rows count."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rewardkit.record.records import Logged, Record
from rewardkit.record.run import Run, open_run
from tests.record.batches import batch, rows, written


def evaluations(run: Run) -> list[set[tuple[int, int]]]:
    """Return attempt and step of the evaluation rows in each table (in logs, of steps without training)."""
    tables = [run.scores(training=False), run.metrics(training=False), run.completions(), run.logs()]
    found = [set(rows(table, "attempt", "step", "part")) for table in tables]
    parts = set(rows(run.scores(training=None, superseded=True).filter("not training"), "attempt", "step", "part"))
    return [{row[:2] for row in table & parts} for table in found]


def evaluation(step: int) -> Record:
    return batch(step, training=False)


def test_the_evaluation_at_the_checkpoint_stays(tmp_path: Path) -> None:
    """An evaluation after step 2 has step 2, where the resumed training begins."""
    written(tmp_path, batch(0), batch(1), evaluation(2), batch(2), batch(3), evaluation(4))
    run = written(tmp_path, batch(2), batch(3), evaluation(4), attempt=2)
    assert evaluations(run) == [{(1, 2), (2, 4)}] * 4
    for relation in (run.scores(), run.metrics()):
        assert set(rows(relation, "attempt", "step")) == {(1, 0), (1, 1), (2, 2), (2, 3)}
    assert len(run.completions(step=2).fetchall()) == 8


def test_a_repeated_evaluation_is_hidden(tmp_path: Path) -> None:
    written(tmp_path, evaluation(0), batch(0), batch(1), evaluation(2))
    run = written(tmp_path, evaluation(0), batch(0), attempt=2)
    assert evaluations(run) == [{(2, 0)}] * 4


def test_the_earliest_of_later_attempts_decides(tmp_path: Path) -> None:
    written(tmp_path, *map(batch, range(4)), evaluation(2), evaluation(3))
    written(tmp_path, batch(2), batch(3), evaluation(3), attempt=2)
    run = written(tmp_path, batch(3), attempt=3)
    assert evaluations(run) == [{(1, 2), (2, 3)}] * 4


def test_metrics_of_the_trainer_follow_their_own_step(tmp_path: Path) -> None:
    late = batch(3, logged=[Logged(2, False, {"trainer/eval_loss": 0.5}), Logged(2, True, {"trainer/loss": 0.5})])
    written(tmp_path, *map(batch, range(3)), late)
    run = written(tmp_path, batch(2), attempt=2)
    shown = run.sql("select name from metrics where name like 'trainer/%'").fetchall()
    assert shown == [("trainer/eval_loss",)]


@pytest.mark.parametrize("every", [0, 4])
def test_another_run_in_the_same_folder_is_read_correctly(tmp_path: Path, every: int) -> None:
    path = tmp_path / "run"
    run = written(path, *(batch(step, texts=["old", "old"]) for step in range(4)), compact_every=every)
    before = run.info["id"]
    shutil.rmtree(path)
    written(path, *(batch(step, texts=["new", "new"]) for step in range(4)), compact_every=every)
    run.refresh()
    assert run.info["id"] != before
    assert set(rows(run.completions(), "completion")) == {"new"}


def test_a_part_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    run = written(tmp_path / "run", batch(texts=["old", "old"]))
    written(tmp_path / "other", batch(texts=["new", "new"]))
    shutil.copy(next((tmp_path / "other" / "completions").iterdir()), tmp_path / "run" / "completions")
    run.refresh()
    assert rows(run.completions(), "completion") == ["new", "new"]


def test_a_step_can_exceed_32_bits(tmp_path: Path) -> None:
    written(tmp_path, *(batch(2**31 + step) for step in range(5)), compact_every=3)
    run = open_run(tmp_path)
    assert run.steps == [2**31 + step for step in range(5)]
    assert run.versions().select("first_step").fetchall() == [(2**31,)]
