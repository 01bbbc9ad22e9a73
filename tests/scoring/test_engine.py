"""The engine: the same bytes from any number of processes and any batches, also when it is interrupted and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, strategies as st

from rewardkit.errors import DataError
from rewardkit.scoring import engine, output, parts as survey
from rewardkit.scoring.columns import Columns
from rewardkit.scoring.datasets import TableScorer
from rewardkit.scoring.engine import score_saved
from rewardkit.scoring.output import resumable
from rewardkit.scoring.processes import Workers, one_reward
from rewardkit.scoring.report import ReplayReport
from rewardkit.scoring.sources import saved
from tests.scoring import replayed as rewards
from tests.waiting import until

ENDINGS = (".jsonl", ".csv", ".parquet")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small parts, each in the manifest."""
    monkeypatch.setattr(survey, "_LEAST_BYTES", 200)
    monkeypatch.setattr(engine, "_FIRST_ROWS", 3)
    monkeypatch.setattr(output, "_SECONDS", -1.0)


def written(folder: Path, rows: Sequence[dict[str, Any]], ending: str = ".jsonl") -> Path:
    path = folder / f"data{ending}"
    if ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        parquet.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=7)
    return path


def score(name: str, data: Path, out: Path | None, processes: int = 1, **options: Any) -> ReplayReport:
    target, found = rewards.TARGET + name, saved(data)
    return score_saved(
        target, found, Columns.of_saved(one_reward(target), found), out, workers=Workers(processes), **options
    )


def rows(size: int) -> list[dict[str, Any]]:
    said = ("<answer>{0}</answer>", "{0}", "so", "<answer>many</answer> é\u2028")
    answers = [*["{0}"] * 8, "many"]
    return [
        {"prompt": f"p{n // 4}", "completion": said[n % 4].format(n), "answer": answers[n % 9].format(n - n % 3)}
        for n in range(size)
    ]


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("source", [".jsonl", ".parquet"])
@pytest.mark.parametrize("name", ["both", "ranked"])
def test_processes_and_batches_make_no_difference(tmp_path: Path, source: str, name: str, processes: int) -> None:
    data = written(tmp_path, rows(61), source)
    for ending in ENDINGS:
        one, two = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
        reports = [score(name, data, one), score(name, data, two, processes, batch=5)]
        assert one.read_bytes() == two.read_bytes()
        assert len({report.text() for report in reports}) == 1
    assert score(name, data, None).text() == reports[0].text()
    assert len(list(saved(data).parts())) > 4
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def test_the_table_of_a_scorer_is_the_table_of_the_engine(tmp_path: Path) -> None:
    data = written(tmp_path, rows(61), ".parquet")
    score("ranked", data, tmp_path / "out.parquet")
    table = TableScorer(one_reward(rewards.TARGET + "ranked"))(parquet.read_table(data))
    assert table.equals(parquet.read_table(tmp_path / "out.parquet"))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", ["both", "ranked"])
def test_what_is_interrupted_anywhere_is_resumed(tmp_path: Path, ending: str, name: str) -> None:
    data, whole, out = written(tmp_path, rows(40)), tmp_path / f"whole{ending}", tmp_path / f"out{ending}"
    expected = score(name, data, whole)
    for stop in range(1, 40, 6):

        def tick(done: int) -> None:
            if done >= stop:  # noqa: B023
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            score(name, data, out, tick=tick)
        assert not out.exists()
        before = resumable(out)
        seen: list[int] = []
        report = score(name, data, out, resume=True, batch=512, tick=seen.append)
        assert seen[0] == before
        assert out.read_bytes() == whole.read_bytes()
        assert report.text() == expected.text()
        assert resumable(out) == 0
        out.unlink()


def test_prompts_that_come_again_in_another_part_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_FIRST_ROWS", 60)
    data = written(tmp_path, [{"prompt": f"p{n % 25}", "completion": "x", "answer": "1"} for n in range(50)])
    with pytest.raises(DataError, match="Sort the rows by prompt"):
        score("ranked", data, None)


def interrupted(data: Path, out: Path) -> None:
    def tick(done: int) -> None:
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score("both", data, out, tick=tick, options={"--limit": 7})
    assert resumable(out) > 0


def test_bytes_after_the_manifest_do_not_count(tmp_path: Path) -> None:
    data, whole, out = written(tmp_path, rows(40)), tmp_path / "whole.parquet", tmp_path / "out.parquet"
    score("both", data, whole)
    interrupted(data, out)
    folder = tmp_path / ".out.parquet.partial"
    for name in ("file", "notes"):
        with (folder / name).open("ab") as file:
            file.write(b"torn")
    (folder / "part-00000009").write_bytes(b"torn")
    (folder / "manifest.json.partial").write_bytes(b"{")
    score("both", data, out, resume=True, options={"--limit": 7})
    assert out.read_bytes() == whole.read_bytes()


def test_what_is_interrupted_while_a_part_is_added_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, whole, out = written(tmp_path, rows(40)), tmp_path / "whole.parquet", tmp_path / "out.parquet"
    score("both", data, whole)
    extend, calls = ReplayReport.extend, iter(range(99))

    def full(report: ReplayReport, other: ReplayReport) -> None:
        if next(calls) == 5:
            raise OSError(28, "No space left on device")
        extend(report, other)

    monkeypatch.setattr(ReplayReport, "extend", full)
    with pytest.raises(DataError, match=r"out.parquet cannot be written: No space left"):
        score("both", data, out)
    assert resumable(out) > 0
    score("both", data, out, resume=True)
    assert out.read_bytes() == whole.read_bytes()


def test_what_is_interrupted_after_the_file_is_in_its_place_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = written(tmp_path, rows(40))
    for ending in ENDINGS:
        whole, out = tmp_path / f"whole{ending}", tmp_path / f"out{ending}"
        score("both", data, whole)
        with monkeypatch.context() as killed:
            killed.setattr(output.Output, "_clear", interrupt)
            with pytest.raises(KeyboardInterrupt):
                score("both", data, out)
        assert resumable(out) == 40
        report = score("both", data, out, resume=True)
        assert report.rows == 40
        assert out.read_bytes() == whole.read_bytes()
        assert sorted(path.name for path in tmp_path.glob(".*")) == []


def interrupt(finished: output.Output) -> None:
    raise KeyboardInterrupt


def test_other_data_rewards_and_options_are_not_resumed(tmp_path: Path) -> None:
    data, out = written(tmp_path, rows(40)), tmp_path / "out.jsonl"
    interrupted(data, out)
    with pytest.raises(DataError, match=r"have changed: reward .*without --resume"):
        score("number", data, out, resume=True, options={"--limit": 7})
    with pytest.raises(DataError, match=r"have changed: --limit \(was 7, is None\)\. Start again"):
        score("both", data, out, resume=True, options={"--limit": None})
    with pytest.raises(DataError, match=r"have changed: batch \(was 512, is 5\)"):
        score("both", data, out, resume=True, options={"--limit": 7}, batch=5)
    before = data.read_text()
    data.write_text(before.replace("p3", "p4"))
    with pytest.raises(DataError, match="have changed: data"):
        score("both", data, out, resume=True, options={"--limit": 7})
    data.write_text(before)
    (tmp_path / ".out.jsonl.partial" / "file").write_bytes(b"")
    with pytest.raises(DataError, match="cannot resume"):
        score("both", data, out, resume=True, options={"--limit": 7})
    score("both", data, out)
    assert len(out.read_text().splitlines()) == 40


def test_two_commands_do_not_write_the_same_file(tmp_path: Path) -> None:
    data, out = written(tmp_path, rows(40)), tmp_path / "out.jsonl"

    def tick(done: int) -> None:
        if done > 20:
            score("both", data, out)

    with pytest.raises(DataError, match="another command is writing"):
        score("both", data, out, tick=tick)


@pytest.mark.slow
def test_a_reward_of_whole_batches_sees_the_same_batches_in_any_process(tmp_path: Path) -> None:
    data = written(tmp_path, rows(61))
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    score("sized", data, one, batch=8)
    score("sized", data, two, 2, batch=8)
    assert one.read_bytes() == two.read_bytes()
    assert [json.loads(line)["total"] for line in one.read_text().splitlines()] == [0.8] * 56 + [0.5] * 5


@pytest.mark.slow
def test_a_completion_that_ends_its_process_loses_only_its_row(tmp_path: Path) -> None:
    listed = [{"completion": "die" if row == 25 else "x" * (row % 7)} for row in range(60)]
    data, out = written(tmp_path, listed, ".parquet"), tmp_path / "out.parquet"
    report = score("deadly", data, out, 2)
    found = parquet.read_table(out)
    ((row, error),) = [(row, error) for row, error in enumerate(found["error"].to_pylist()) if error is not None]
    assert (row, error.startswith("the process that scored it crashed")) == (25, True)
    assert found["total"].to_pylist()[:8] == [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]
    assert found["completion"].to_pylist() == [row["completion"] for row in listed]
    assert (report.rows, report.faulty) == (60, 1)


def command(data: Path, out: Path, *options: str) -> subprocess.Popen[bytes]:
    code = (
        "import sys; from rewardkit.scoring import output; from rewardkit.scoring import parts as survey\n"
        "if __name__ == '__main__':\n"
        "    output._SECONDS = 0.0; survey._LEAST_BYTES = 2000\n"
        "    from rewardkit.cli.main import main; sys.exit(main())"
    )
    given = ["score", str(data), "--reward", f"{rewards.TARGET}slowly", "--out", str(out), *options]
    return subprocess.Popen([sys.executable, "-c", code, *given], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split()
    return [int(one) for one in found]


def alive(pids: Sequence[int]) -> list[int]:
    states = subprocess.run(["ps", "-o", "stat=,pid=", "-p", ",".join(map(str, pids))], capture_output=True, text=True)
    return [int(line.split()[1]) for line in states.stdout.splitlines() if not line.startswith("Z")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "ending"),
    [*((signal.SIGKILL, ending) for ending in ENDINGS), (signal.SIGTERM, ".jsonl"), (signal.SIGINT, ".parquet")],
)
def test_a_killed_command_is_resumed_and_leaves_no_processes(tmp_path: Path, how: signal.Signals, ending: str) -> None:
    data, whole, out = written(tmp_path, rows(2000)), tmp_path / f"whole{ending}", tmp_path / f"out{ending}"
    assert command(data, whole, "--processes", "1").wait() == 1
    for processes in ("1", "2"):
        running = command(data, out, "--processes", processes)
        until(lambda: resumable(out) > 0 or running.poll() is not None)  # noqa: B023
        others = children(running.pid)
        assert processes == "1" or others
        running.send_signal(how)
        assert running.wait() != 1
        until(lambda: not others or not alive(others))  # noqa: B023
        assert 0 < resumable(out) < 2000
        assert command(data, out, "--processes", "2", "--resume").wait() == 1
        assert out.read_bytes() == whole.read_bytes()
        out.unlink()


@pytest.mark.slow
def test_a_worker_that_is_killed_from_outside_changes_nothing(tmp_path: Path) -> None:
    data, whole, out = written(tmp_path, rows(2000)), tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert command(data, whole, "--processes", "1").wait() == 1
    running = command(data, out, "--processes", "2")
    until(lambda: resumable(out) > 0 or running.poll() is not None)
    workers = [pid for pid in children(running.pid) if b"worker_child" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(workers[-1], signal.SIGKILL)
    assert running.wait() == 1
    assert out.read_bytes() == whole.read_bytes()


@given(st.lists(st.tuples(st.text(max_size=9), st.integers() | st.none()), min_size=1, max_size=40), st.integers(1, 9))
def test_parquet_of_parts_is_read_by_all_readers(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, int | None]], most: int
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    listed = [{"completion": text, "total": number if number is None else number % 99} for text, number in cells]
    parquet.write_table(pa.Table.from_pylist(listed * 20), folder / "data.parquet", row_group_size=most * 20)
    score("length", folder / "data.parquet", folder / "out.parquet")
    table = parquet.read_table(folder / "out.parquet")
    assert table["completion"].to_pylist() == [text for text, _ in cells] * 20
    assert table["input/total"].to_pylist() == [row["total"] for row in listed] * 20
    asked = f"select count(*), sum(total) from '{folder / 'out.parquet'}' where completion <> 'a'"
    counted = duckdb.sql(asked).fetchall()
    lengths = [len(text) for text, _ in cells if text != "a"]
    assert counted[0][0] == 20 * len(lengths)
    assert np.isclose(counted[0][1] or 0.0, 2 * sum(lengths))
    file = parquet.ParquetFile(folder / "out.parquet")
    groups = [file.read_row_group(number) for number in range(file.num_row_groups)]
    assert pa.concat_tables(groups).equals(table)
