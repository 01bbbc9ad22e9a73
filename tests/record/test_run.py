"""Reading a run: the rows that count, the rows that are hidden, and the errors if there is nothing to read."""

from __future__ import annotations

import json
import sys
import threading
import time
import uuid
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as parquet
import pytest

import rewardkit as rk
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import MissingExtraError, NotARun, RewardKitError, RewardKitWarning, RunError
from rewardkit.record.recorder import Recorder
from rewardkit.record.records import Record, Version
from rewardkit.record.run import open_run
from tests.record.batches import VERSION, batch, files, rows, written


def test_open_run_is_public(tmp_path: Path) -> None:
    written(tmp_path, batch())
    assert rk.open_run(str(tmp_path)).scores().count("*").fetchall() == [(4,)]


def test_evaluations_are_separate_from_training(tmp_path: Path) -> None:
    run = written(tmp_path, batch(1), batch(1, n=2, training=False))
    assert len(run.scores().fetchall()) == 4
    assert len(run.scores(training=False).fetchall()) == 2
    assert len(run.scores(training=None).fetchall()) == 6
    assert run.steps == [1]
    assert len(run.metrics(training=None).fetchall()) == 8


def test_completions_of_a_prompt_and_of_a_step(tmp_path: Path) -> None:
    run = written(tmp_path, batch(1), batch(2))
    prompt = rows(run.scores(), "prompt_id")[0]
    assert rows(run.completions(prompt), "completion") == [
        f"step {step} row {row}" for step in (1, 2) for row in (0, 1)
    ]
    assert rows(run.completions(prompt, step=2), "completion") == ["step 2 row 0", "step 2 row 1"]
    with pytest.raises(RunError, match=r"has no prompt with the id .it"):
        run.completions("it's not there")
    with pytest.raises(RunError, match=f"Did you mean '{prompt}'"):
        run.completions(prompt[:-1])
    with pytest.raises(RunError, match=f"the text of a prompt, .* id: pass '{prompt}'"):
        run.completions("prompt 0")
    with pytest.raises(RunError, match=r"one step, got \[1, 2\]"):
        run.completions(step=[1, 2])  # type: ignore[arg-type]
    assert len(run.completions(step=np.int64(2)).fetchall()) == 4  # type: ignore[arg-type]


def test_superseded_steps_of_a_resumed_run_are_hidden(tmp_path: Path) -> None:
    written(tmp_path, *map(batch, range(1, 6)))
    written(tmp_path, *map(batch, (4, 5, 6)), attempt=2)
    run = written(tmp_path, batch(6), batch(7), attempt=3)
    shown = {(1, 1), (1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (3, 7)}
    for relation in (run.scores(), run.completions(), run.metrics(), run.logs()):
        assert set(rows(relation, "attempt", "step")) == shown
    assert len(set(rows(run.scores(superseded=True), "attempt", "step"))) == 10
    assert run.sql("select count(distinct step) from everything.logs where attempt = 1").fetchall() == [(5,)]
    assert run.prompts().count("*").fetchall() == [(2,)]


def test_an_attempt_with_only_evaluations_hides_nothing(tmp_path: Path) -> None:
    written(tmp_path, *map(batch, range(1, 4)))
    run = written(tmp_path, batch(0, training=False), attempt=2)
    assert run.steps == [1, 2, 3]


def test_tables_are_joined_by_their_keys(tmp_path: Path) -> None:
    run = written(tmp_path, batch(1), batch(2))
    found = run.sql(
        "select step, total, completion from scores join completions using (attempt, rank, part, row, step) "
        "where total > ? order by step, row",
        [2.0],
    )
    assert found.fetchall() == [(1, 2.5, "step 1 row 2"), (2, 2.5, "step 2 row 2")]


def test_a_run_is_read_only(tmp_path: Path) -> None:
    run = written(tmp_path, batch())
    for statement in ("drop view scores", "select 1; select 2", "copy scores to 'x.csv'", "", "set threads = 1"):
        with pytest.raises(RunError, match="read-only"):
            run.sql(statement)


def test_a_mistake_in_a_query_raises_duckdbs_error(tmp_path: Path) -> None:
    with pytest.raises(duckdb.Error, match="totl"):
        written(tmp_path, batch()).sql("select totl from scores")


def test_rewards_with_different_components_are_joined_by_name(tmp_path: Path) -> None:
    first = batch(1)
    second = batch(2).table
    other = ScoreTable(second.completions, {"new": second.components["form"]}, {"new": second.total}, second.total)
    run = written(tmp_path, first, Record(other, VERSION, step=2))
    assert run.components == ["form", "right", "new"]
    assert rows(run.scores(), "components/form", "components/new")[3:5] == [(0.75, None), (None, 0.0)]


@pytest.mark.slow
def test_a_run_is_followed_by_refreshing(tmp_path: Path) -> None:
    with Recorder(tmp_path, attempt=1, compact_every=3) as recorder:
        run = open_run(tmp_path)
        assert (run.steps, run.state, run.components) == ([], "running", [])
        for step in range(8):
            recorder.record(batch(step))
            assert recorder.flush()
            before = run.scores()
            run.refresh()
            assert run.steps == list(range(step + 1))
            assert len(rows(before, "row")) >= 4 * step
    assert run.state == "running"
    run.refresh()
    assert run.state == "finished"


def test_parts_can_be_read_after_they_were_joined(tmp_path: Path) -> None:
    with Recorder(tmp_path, attempt=1, compact_every=4) as recorder:
        for step in range(3):
            recorder.record(batch(step))
        assert recorder.flush()
        run = open_run(tmp_path)
        texts = run.completions()
        recorder.record(batch(3))
        assert recorder.flush()
        assert files(tmp_path) == ["a001-r000-00000000-00000003.parquet"]
        assert len(texts.fetchall()) == 12
        assert run.steps == [0, 1, 2]


def test_a_run_that_stopped_writing_has_stopped(tmp_path: Path) -> None:
    for attempt, age, state in ((1, 10.0, "running"), (2, 1e5, "stopped")):
        path = tmp_path / str(attempt)
        now = time.time() - age
        run = written(path, *(batch(step, time=now + step) for step in range(3)))
        info = json.loads((path / "run.json").read_text())
        del info["finished"]
        (path / "run.json").write_text(json.dumps(info))
        run.refresh()
        assert run.state == state


def test_a_slow_run_counts_as_running_for_longer(tmp_path: Path) -> None:
    now = time.time() - 1000
    run = written(tmp_path, *(batch(step, time=now - 300 * (5 - step)) for step in range(5)))
    del run.info["finished"]
    assert run.state == "running"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, "nothing is there"),
        ({"model.safetensors": "x", "config.json": "{}"}, "it contains config.json, model.safetensors"),
        ({"run.json": "[1]"}, "does not describe a recorded run"),
        ({"run.json": "{"}, "it contains run.json"),
        ({"run.json": "[" * 100_000}, "it contains run.json"),
        ({"run.json": '{"schema": true}'}, "does not describe a recorded run"),
    ],
)
def test_a_folder_without_a_run_is_described(tmp_path: Path, content: dict[str, str], said: str) -> None:
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(NotARun, match=said):
        open_run(tmp_path)
    with pytest.raises(NotARun, match="nothing is there"):
        open_run(tmp_path / "absent")


def test_runs_below_a_folder_are_suggested(tmp_path: Path) -> None:
    written(tmp_path / "demo" / "record", batch())
    with pytest.raises(NotARun, match=r"Did you mean \S+/demo/record\?"):
        open_run(tmp_path / "demo")
    with pytest.raises(NotARun, match=r"Did you mean \S+/record\?"):
        open_run(tmp_path / "demo" / "record" / "run.json")
    written(tmp_path / "other", batch())
    with pytest.raises(NotARun, match=r"2 runs in subfolders: \S+/demo/record, \S+/other$"):
        open_run(tmp_path)


def test_a_missing_package_for_an_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fsspec\[s3\]'"):
        open_run("s3://bucket/run")
    with pytest.raises(RewardKitError, match="fsspec cannot open"):
        open_run("nowhere://bucket/run")


def test_a_file_is_not_a_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder" / "run.json").mkdir(parents=True)
    with pytest.raises(NotARun, match="it is a file"):
        open_run(tmp_path / "file")
    with pytest.raises(NotARun, match="nothing is there"):
        open_run(tmp_path / "file" / "below")
    with pytest.raises(NotARun, match=r"it contains run\.json"):
        open_run(tmp_path / "folder")


@pytest.mark.parametrize("schema", [0, -1, -(10**30)])
def test_a_version_that_does_not_exist_is_refused(tmp_path: Path, schema: int) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"schema": schema}))
    with pytest.raises(RunError, match=f"the format version {schema}, which does not exist"):
        open_run(tmp_path)


@pytest.mark.parametrize("said", [{}, {"created": ""}, {"created": 5}, {"created": "yesterday"}])
def test_a_minimal_run_json_is_enough(tmp_path: Path, said: dict[str, object]) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"schema": 1, **said}))
    run = open_run(tmp_path)
    assert (run.state, run.steps) == ("stopped", [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("y.json", text) for text in ("", "[]", "5", "{}", "null", '{"first_step": 1, "seen": "a"}', "[" * 100_000)),
        ("y.json", '{"fingerprint": "y", "reward": "", "components": [], "terms": [], "first_step": 0.5, "seen": ""}'),
        ("y.json", '{"fingerprint": "y", "reward": "", "components": [1], "terms": [], "first_step": 0, "seen": ""}'),
        (".y.json.12.tmp", None),
        (".y.json", None),
        ("y.txt", None),
    ],
)
def test_malformed_version_files_are_skipped(tmp_path: Path, name: str, text: str | None) -> None:
    written(tmp_path, batch())
    sound = (tmp_path / "versions" / f"{VERSION.fingerprint}.json").read_text()
    (tmp_path / "versions" / name).write_text(sound if text is None else text)
    run = open_run(tmp_path)
    assert run.components == ["form", "right"]
    assert run.versions().select("fingerprint").fetchall() == [(VERSION.fingerprint,)]


def test_a_version_can_contain_lone_surrogates(tmp_path: Path) -> None:
    run = written(tmp_path, replace(batch(), version=Version("y", "\ud800")))
    assert run.versions().select("reward").fetchall() == [("\\ud800",)]


def test_a_newer_run_asks_for_an_upgrade(tmp_path: Path) -> None:
    written(tmp_path, batch())
    (tmp_path / "run.json").write_text(json.dumps({"schema": 99, "by": "rewardkit 9.0"}))
    with pytest.raises(RunError, match=r"by rewardkit 9\.0 in format version 99, .* Upgrade: "):
        open_run(tmp_path)


def test_a_run_without_run_json_can_be_read(tmp_path: Path) -> None:
    written(tmp_path, batch())
    (tmp_path / "run.json").write_text("")
    assert open_run(tmp_path).steps == [1]


@pytest.mark.parametrize("keep", [0, 1, 100, -1], ids=["nothing", "a byte", "a piece", "all but a byte"])
@pytest.mark.parametrize("table", ["scores", "completions", "prompts", "metrics", "logs"])
def test_a_truncated_part_is_skipped_and_named(tmp_path: Path, table: str, keep: int) -> None:
    written(tmp_path, *map(batch, range(3)), compact_every=0)
    path = tmp_path / table / "a001-r000-00000000.parquet"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.warns(RewardKitWarning, match=rf"{table}/a001-r000-00000000.parquet cannot be read"):
        run = open_run(tmp_path)
    assert run.steps == ([1, 2] if table == "scores" else [0, 1, 2])
    lost = 4 if table in ("scores", "completions") else 0
    assert len(run.completions().fetchall()) == 12 - lost
    run.refresh()  # says it once


def test_a_truncated_wide_part_is_skipped(tmp_path: Path) -> None:
    written(tmp_path, *map(batch, range(5)), compact_every=3)
    path = tmp_path / "scores" / "a001-r000-00000000-00000002.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.warns(RewardKitWarning, match="00000002.parquet cannot be read"):
        assert open_run(tmp_path).steps == [3, 4]


@pytest.mark.parametrize("column", ["step", "total"])
def test_a_damaged_wide_part_is_found_when_it_is_read(tmp_path: Path, column: str) -> None:
    written(tmp_path, *map(batch, range(6)), compact_every=3)
    path = tmp_path / "scores" / "a001-r000-00000000-00000002.parquet"
    chunks = parquet.read_metadata(path).row_group(0)
    hole = next(chunks.column(i) for i in range(chunks.num_columns) if chunks.column(i).path_in_schema == column)
    data = bytearray(path.read_bytes())
    start = hole.dictionary_page_offset or hole.data_page_offset
    data[start : start + hole.total_compressed_size] = bytes(hole.total_compressed_size)
    path.write_bytes(data)
    with pytest.warns(RewardKitWarning, match="00000002.parquet cannot be read"):
        found = open_run(tmp_path).sql("select step, sum(total) is null from scores group by step order by step")
    assert found.fetchall() == [(step, False) for step in (3, 4, 5)]


def test_parts_without_scores_do_not_count(tmp_path: Path) -> None:
    run = written(tmp_path, *map(batch, range(3)), compact_every=0)
    (tmp_path / "scores" / "a001-r000-00000001.parquet").unlink()
    run.refresh()
    assert set(rows(run.completions(), "step")) == set(rows(run.logs(), "step")) == {0, 2}


def test_other_files_in_the_folders_are_ignored(tmp_path: Path) -> None:
    run = written(tmp_path, batch())
    for name in ("scores/.a001-r000-00000009.parquet.77.tmp", "scores/notes.txt", "completions/x.parquet", "own.txt"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "scores" / "folder.parquet").mkdir()
    run.refresh()
    assert run.steps == [1]


@pytest.mark.parametrize("name", ["it's", "a[1]*?", 'with "quotes"', "ünï cödé", "per%cent", "a;b", "{x}"])
def test_a_folder_can_have_any_name(tmp_path: Path, name: str) -> None:
    run = written(tmp_path / name, *map(batch, range(4)), compact_every=3)
    assert run.steps == [0, 1, 2, 3]
    assert len(run.completions().fetchall()) == 16


@pytest.mark.parametrize("name", ['a "quoted" one', "a/b", "it's", "ä ö", "totAL", "x;--"])
def test_components_can_have_any_name(tmp_path: Path, name: str) -> None:
    table = batch().table
    named = ScoreTable(table.completions, {name: table.components["form"]}, {name: table.total}, table.total)
    run = written(tmp_path, *(Record(named, VERSION, step=step) for step in range(3)), compact_every=2)
    assert name in run.components
    assert run.scores().to_arrow_table()[f"components/{name}"].to_pylist()[:2] == [0.0, 0.25]


def test_names_that_differ_only_in_case_are_both_kept(tmp_path: Path) -> None:
    table = batch().table
    components = {"Form": table.components["form"], "form": table.components["right"]}
    record = Record(ScoreTable(table.completions, components, {}, table.total), VERSION, step=1)
    run = written(tmp_path, record, compact_every=0)
    assert len([name for name in run.scores().columns if name.lower().startswith("components/form")]) == 2


@pytest.mark.skipif(duckdb.__version__ < "2", reason="DuckDB before 2.0 may hang on files of fsspec")
def test_a_run_on_another_file_system_can_be_read() -> None:
    address = f"memory://{uuid.uuid4().hex}/runs/x"
    run = written(address, *map(batch, range(5)), compact_every=3)
    assert run.steps == [0, 1, 2, 3, 4]
    assert len(run.completions(step=1).fetchall()) == 4
    assert run.state == "finished"
    again = written(address, batch(5), attempt=None)
    assert set(rows(again.scores(), "attempt", "step")) == {(1, step) for step in range(5)} | {(2, 5)}


@pytest.mark.slow
def test_threads_can_read_at_once(tmp_path: Path) -> None:
    run = written(tmp_path, *map(batch, range(20)), compact_every=7)
    found: list[object] = []

    def read() -> None:
        for _ in range(10):
            found.append(run.sql("select count(*) from scores").fetchall())
            run.refresh()

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(80,)]] * 40
