"""Rows of several processes are recorded into one run, each with a rank of its own; no row is lost or doubled."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import rewardkit as rk
from rewardkit.online import recording
from rewardkit.online.recording import RowRecording, attempt_and_rank
from rewardkit.online.requests import Requests
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs
from tests.waiting import until

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

OFFERS = TrainerInputs("any", step=True, groups=True, ids=True)
SHORT = rk.length.between(1, 8, unit="characters")
_SCORING = """
import sys, time
import rewardkit as rk
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer

run, name, count, end = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
scorer = RowScorer(rk.length.between(1, 8, unit="characters"), TrainerInputs("any"), record=run)
for number in range(count):
    scorer.score([Row(f"{name}-{number}", columns={"number": number})])
if end == "kill":
    print("scored", flush=True)
    time.sleep(60)
if end == "error":
    raise SystemExit(1)
"""


def process(run: Path, name: str, count: int, end: str = "", **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _SCORING, str(run), name, str(count), end]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def ended(processes: list[subprocess.Popen[str]]) -> None:
    for one in processes:
        _, errors = one.communicate(timeout=120)
        assert errors == ""


def rows_of(run: Path) -> Any:
    return rk.open_run(run).scores(superseded=True).df()


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "_SECONDS", 0.2)


@pytest.mark.slow
def test_processes_of_one_launch_share_an_attempt_and_have_ranks_of_their_own(tmp_path: Path) -> None:
    run = tmp_path / "run"
    sizes = {"a": 1, "b": 300, "c": 40, "d": 7}
    ended([process(run, name, count) for name, count in sizes.items()])
    scores = rows_of(run)
    assert len(scores) == sum(sizes.values())
    assert scores["attempt"].unique().tolist() == [1]
    assert sorted(scores.groupby("rank").size()) == sorted(sizes.values())
    assert sorted(scores["rank"].unique()) == [0, 1, 2, 3]
    assert sorted(path.name for path in (run / "attempts").iterdir()) == ["a001.json"]


@pytest.mark.slow
def test_each_launch_is_an_attempt(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for launch in ("one", "two"):
        ended([process(run, launch, 3, env={**os.environ, "REWARDKIT_LAUNCH": launch}) for _ in range(2)])
    ended([process(run, "three", 3, start_new_session=True)])
    found = rows_of(run).groupby("attempt")["rank"].unique()
    assert {attempt: sorted(ranks) for attempt, ranks in found.items()} == {1: [0, 1], 2: [0, 1], 3: [0]}


@pytest.mark.slow
def test_a_process_that_is_killed_loses_only_the_last_seconds(tmp_path: Path) -> None:
    run = tmp_path / "run"
    killed = process(run, "a", 20, "kill")
    assert killed.stdout is not None
    assert killed.stdout.readline() == "scored\n"
    until(lambda: bool(list(run.glob("scores/*"))))
    killed.kill()
    killed.communicate()
    assert len(rows_of(run)) == 20


def test_a_process_that_fails_has_recorded_its_rows(tmp_path: Path) -> None:
    failed = process(tmp_path / "run", "a", 5, "error")
    failed.communicate(timeout=120)
    assert failed.returncode == 1
    assert len(rows_of(tmp_path / "run")) == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_records_its_own_rows(tmp_path: Path) -> None:
    own = RowScorer(SHORT, OFFERS, record=tmp_path / "run")
    own.score([Row("parent")] * 3)
    child = multiprocessing.get_context("fork").Process(target=_score_in_child, args=(own,))
    child.start()
    child.join(60.0)
    assert child.exitcode == 0
    own.flush()
    scores = rows_of(tmp_path / "run")
    assert scores.groupby("rank").size().to_dict() == {0: 3, 1: 2}
    assert scores["attempt"].unique().tolist() == [1]


def _score_in_child(own: RowScorer) -> None:
    own.score([Row("child")] * 2)
    own.flush()


row_kinds = st.sampled_from(["a", "bb", "messages", "prompt", "unit", "ids", "too long", "broken"])


def row_of(kind: str, number: int) -> Row:
    columns = {"number": number}
    if kind == "messages":
        return Row([{"role": "assistant", "content": "a"}], columns=columns)
    if kind == "prompt":
        return Row("a", prompt=[{"role": "user", "content": "?"}], columns=columns)
    if kind == "unit":
        return Row("a", columns={**columns, "unit": ["m", None]})
    if kind == "ids":
        return Row("a", completion_ids=[1, number], columns=columns)
    return Row(5, columns=columns) if kind == "broken" else Row(kind, columns=columns)


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.lists(row_kinds, min_size=1, max_size=6)), max_size=12),
    st.integers(1, 8),
)
def test_every_row_is_recorded_once_with_its_step(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[int, bool, list[str]]], written: int
) -> None:
    run = tmp_path_factory.mktemp("runs") / "run"
    own = RowScorer(SHORT, OFFERS, record=run, limits=rk.Limits(max_failure_rate=1.0))
    expected: Counter[tuple[int, bool, float]] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "_ROWS", written)
        for step, training, kinds in calls:
            rows = [row_of(kind, number) for number, kind in enumerate(kinds)]
            for found in own.score(rows, step=step, training=training):
                expected[step, training, -1.0 if found.total is None else found.total] += 1
        own.flush()
    if not calls:
        assert not run.exists()
        return
    recorded: Counter[tuple[int, bool, float]] = Counter()
    for training in (True, False):
        scores = rk.open_run(run).scores(training=training).df()
        totals = scores["total"].fillna(-1.0)
        recorded.update((int(step), training, float(total)) for step, total in zip(scores["step"], totals, strict=True))
    assert recorded == expected


@pytest.mark.usefixtures("_quick")
def test_rows_are_written_although_no_other_arrives(tmp_path: Path) -> None:
    own = RowScorer(SHORT, OFFERS, record=tmp_path / "run")
    for _ in range(2):
        before = len(list((tmp_path / "run" / "scores").glob("*")))
        own.score([Row("a")])
        until(lambda: len(list((tmp_path / "run" / "scores").glob("*"))) > before)  # noqa: B023
        assert len(list((tmp_path / "run" / "scores").glob("*"))) == before + 1


def test_threads_and_loops_record_everything(tmp_path: Path) -> None:
    own = Requests(RowScorer(SHORT, OFFERS, record=tmp_path / "run"))

    async def some() -> None:
        await asyncio.gather(*[own.score(Row(f"{number}"), step=number % 3) for number in range(200)])

    threads = [threading.Thread(target=lambda: asyncio.run(some())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    own.scorer.flush()
    assert rows_of(tmp_path / "run").groupby("step").size().to_dict() == {0: 268, 1: 268, 2: 264}


def test_what_cannot_be_recorded_is_logged_and_the_scores_are_returned(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("not a folder")
    own = RowScorer(SHORT, OFFERS, record=tmp_path / "file" / "run")
    for _ in range(3):
        assert own.score([Row("a")])[0].total == 1.0
    own.flush()
    said = [record.getMessage() for record in caplog.records if record.name == "rewardkit"]
    assert len(said) == 1
    assert "recording failed (1 times so far)" in said[0]
    assert "Training continues, but these rows are not recorded" in said[0]


def test_nothing_is_written_before_the_first_row(tmp_path: Path) -> None:
    RowRecording(tmp_path / "run", RowScorer(SHORT, OFFERS).scorer).flush()
    assert not (tmp_path / "run").exists()


def test_jobs_of_ray_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ray(session: str, job: str) -> Any:
        context = SimpleNamespace(get_session_name=lambda: session, get_job_id=lambda: job)
        return SimpleNamespace(is_initialized=lambda: True, get_runtime_context=lambda: context)

    monkeypatch.setenv("RAY_JOB_ID", "ffffffff")
    found = []
    for session, job in (("s1", "01"), ("s1", "01"), ("s1", "02"), ("s2", "01"), ("s2", "01")):
        monkeypatch.setitem(sys.modules, "ray", ray(session, job))
        found.append(attempt_and_rank(str(tmp_path / "run")))
    assert found == [(1, 0), (1, 1), (2, 0), (3, 0), (3, 1)]


def test_ranks_of_torchrun_share_an_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REWARDKIT_LAUNCH", "RAY_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    settings = {"RANK": "0", "MASTER_PORT": "1", "MASTER_ADDR": "a", "LOCAL_WORLD_SIZE": "2", "WORLD_SIZE": "4"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    found = [attempt_and_rank(str(tmp_path / "run")) for _ in range(2)]
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "another")
    assert [*found, attempt_and_rank(str(tmp_path / "run"))] == [(1, 0), (1, 1), (2, 0)]
