"""Running runs."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from rewardkit.page.library import Library
from rewardkit.page.summaries import Summaries
from rewardkit.page.watcher import Watched, Watcher
from rewardkit.record.queries import LogQuery, completions, excerpts, log_page, log_rates, log_size
from rewardkit.record.recorder import Recorder
from rewardkit.record.run import open_run
from tests.page.recorded import GENERATIONS, hostile, ordinary, record


def test_a_live_run_grows(tmp_path: Path) -> None:
    with Recorder(tmp_path, patience=math.inf, compact_every=3) as recorder:
        recorder.record(record(1))
        recorder.flush()
        watched = Watched.open("run", tmp_path)
        assert (len(watched.scores), watched.state, watched.number) == (3 * GENERATIONS, "running", 1)
        for step in range(2, 9):
            recorder.record(record(step))
            recorder.flush()
            assert watched.refresh()
            assert len(watched.scores) == step * 3 * GENERATIONS
            assert len(watched.panels[0].lines[0].x) == step
        assert not watched.refresh()
    assert watched.refresh()
    assert watched.state == "finished"


def test_a_single_run_is_read_before_a_page_asks_for_it(tmp_path: Path) -> None:
    ordinary(tmp_path / "first", 2)
    watcher = Watcher(Library([tmp_path]))
    watcher.prepare()
    assert watcher.opened("first") is not None
    watcher.end()
    ordinary(tmp_path / "second", 2)
    watcher = Watcher(Library([tmp_path]))
    watcher.prepare()
    assert watcher.opened("first") is None
    watcher.end()


def test_a_second_attempt_replaces_the_steps_it_repeats(tmp_path: Path) -> None:
    with Recorder(tmp_path, patience=math.inf) as recorder:
        for step in (1, 2, 3):
            recorder.record(record(step))
    watched = Watched.open("run", tmp_path)
    with Recorder(tmp_path, patience=math.inf) as recorder:
        recorder.record(record(3))
    assert watched.refresh()
    assert len(watched.scores) == 3 * 3 * GENERATIONS
    assert set(watched.scores.attempt[watched.scores.step == 3].tolist()) == {2}


def test_a_run_can_be_replaced_by_another(tmp_path: Path) -> None:
    path = ordinary(tmp_path / "run", 3)
    watched, summaries = Watched.open("run", path), Summaries()
    total, summary = watched.scores.total, summaries.of(path)
    alerts = watched.cached_for_run("alerts", object)
    shutil.rmtree(path)
    with Recorder(path, patience=math.inf) as recorder:
        for step in (1, 2, 3):
            recorder.record(record(step + 3))
    assert watched.refresh()
    assert watched.scores.step.min() == 4
    assert len(watched.scores) == len(total)
    assert watched.cached_for_run("alerts", object) is not alerts
    assert summaries.of(path).last_total != summary.last_total


def test_a_restarted_running_run_is_noticed(tmp_path: Path) -> None:
    path, summaries = tmp_path / "run", Summaries()
    for first in (1, 4):
        shutil.rmtree(path, ignore_errors=True)
        with Recorder(path, patience=math.inf) as recorder:
            for step in range(first, first + 3):
                recorder.record(record(step))
            recorder.flush()
            assert summaries.of(path).last_step == first + 2
            found = open_run(path).sql("select avg(total) from scores where step >= ?", [first]).fetchall()[0][0]
            assert summaries.of(path).last_total == pytest.approx(found)


def test_cached_values_are_recomputed_for_new_data(tmp_path: Path) -> None:
    watched = Watched.open("run", ordinary(tmp_path / "run", 2))
    made: list[int] = []
    for _ in range(2):
        watched.cached("x", lambda: made.append(1))
    assert made == [1]
    watched.number += 1
    watched.cached("x", lambda: made.append(2))
    assert made == [1, 2]


def test_a_truncated_part_is_reported(tmp_path: Path) -> None:
    path = ordinary(tmp_path / "run", 3)
    part = next((path / "scores").glob("*.parquet"))
    part.write_bytes(part.read_bytes()[:100])
    assert part.name in Watched.open("run", path).problem


def test_completions_come_with_notes_and_parts(tmp_path: Path) -> None:
    watched = Watched.open("run", ordinary(tmp_path / "run", 3))
    key = watched.scores.key(1)
    prompt = watched.scores.prompt_ids[watched.scores.prompt[1]]
    found = completions(watched.run, prompt, [key], longest=9)[key]
    assert found.text == "Step 1 sa"
    assert found.characters > 9
    assert found.notes == {"answer": "expected 7, found 8"}
    assert found.parts == {"answer": {"distance": 1.0}}
    assert excerpts(watched.run, [(key, prompt)], 6) == {key: "Step 1"}
    assert completions(watched.run, prompt, []) == {}


def test_the_log_is_searched(tmp_path: Path) -> None:
    run = Watched.open("run", ordinary(tmp_path / "run", 5)).run
    assert log_size(run, LogQuery()) == 10
    assert [line["step"] for line in log_page(run, LogQuery(), 0, 3)] == [5, 5, 4]
    versions = dict(run.sql("select distinct step, version from scores where rank = 0").fetchall())
    assert all(line["version"] == versions[line["step"]] for line in log_page(run, LogQuery(), 0, 9))
    assert log_size(run, LogQuery(words="HELLO step 3")) == 1
    assert log_size(run, LogQuery(level="error")) == 5
    assert log_size(run, LogQuery(component="form")) == 0
    assert log_size(run, LogQuery(words="' or 1=1 --")) == 0
    assert log_rates(run)["answer"]["fault"] == 5


def test_summaries_report_broken_runs(tmp_path: Path) -> None:
    summaries = Summaries()
    found = summaries.of(ordinary(tmp_path / "run", 3))
    assert (found.state, found.last_step, found.completions) == ("finished", 3, 9 * GENERATIONS)
    assert found.last_total is not None
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    assert "run.json" in summaries.of(tmp_path / "broken").problem
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "run.json").write_text('{"schema": 99}')
    assert "Upgrade" in summaries.of(tmp_path / "newer").problem


@pytest.mark.slow
def test_hostile_names_work(tmp_path: Path) -> None:
    watched = Watched.open("run", hostile(tmp_path / "run"))
    assert len(watched.panels) > 3
    assert Summaries().of(tmp_path / "run").completions == len(watched.scores)
