"""The recorder writes its batches to disk, and its errors never reach the training."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import multiprocessing
import os
import stat
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import NotAFolder, RewardKitError, RewardTypeError
from rewardkit.record.parts import Files
from rewardkit.record.recorder import Recorder, next_attempt
from rewardkit.record.records import Version
from rewardkit.record.run import open_run
from rewardkit.record.schema import SCHEMA
from rewardkit.record.tables import tables_of
from tests.record.batches import batch, files, rows, written


def test_a_recorded_batch_can_be_read(tmp_path: Path) -> None:
    run = written(tmp_path, batch(1), batch(2), title="mine")
    assert rows(run.scores(), "step") == [1] * 4 + [2] * 4
    assert rows(run.completions(step=2), "completion") == [f"step 2 row {row}" for row in range(4)]
    assert rows(run.logs(), "message", "component", "row") == [("printed", "right", 0)] * 2
    assert run.metrics().filter("name = 'weights/right'").order("step").to_arrow_table()["value"].to_pylist() == [2, 2]
    assert run.versions().fetchall()[0][1] == "form + 2 * right"
    assert (run.components, run.terms, run.steps) == (["form", "right"], ["form", "right"], [1, 2])
    assert (run.info["title"], run.info["schema"], run.state) == ("mine", SCHEMA, "finished")


def test_later_changes_by_the_caller_are_not_recorded(tmp_path: Path) -> None:
    conversation = [{"role": "assistant", "content": "42"}]
    completions: list[Any] = [conversation, "7"]
    columns: dict[str, list[Any]] = {"answer": [1, 2]}
    with Recorder(tmp_path, compact_every=0) as recorder:
        block(recorder)
        recorder.record(batch(texts=["42", "7"], completions=completions, columns=columns))
        conversation[0]["content"] = "changed"
        completions[1] = columns["answer"][1] = "changed"
        release(recorder)
    run = open_run(tmp_path)
    assert "changed" not in str(run.completions().fetchall() + run.prompts().fetchall())


def test_each_start_is_a_new_attempt(tmp_path: Path) -> None:
    assert [next_attempt(tmp_path) for _ in range(3)] == [1, 2, 3]
    with Recorder(tmp_path) as recorder:
        assert recorder.attempt == 4


def test_processes_that_start_at_once_get_different_attempts(tmp_path: Path) -> None:
    attempts: list[int] = []
    threads = [threading.Thread(target=lambda: attempts.append(next_attempt(tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(attempts) == list(range(1, 9))


def test_ranks_write_side_by_side(tmp_path: Path) -> None:
    written(tmp_path, batch(1), rank=1)
    run = written(tmp_path, batch(1), rank=0)
    assert rows(run.scores(), "rank", "row") == [(rank, row) for rank in (0, 1) for row in range(4)]
    assert len(rows(run.completions(), "row")) == 8


def test_a_slow_disk_drops_batches_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder(tmp_path, patience=0.0)
    block(recorder)
    for step in range(30):
        recorder.record(batch(step))
    said = [record.getMessage() for record in caplog.records]
    assert [message.split(" batches have")[0].split()[-1] for message in said] == ["1", "10"]
    release(recorder)
    recorder.record(batch(99))
    recorder.close()
    run = open_run(tmp_path)
    assert len(run.steps) + recorder.dropped == 31
    assert run.metrics().filter("name = 'recorder/dropped'").max("value").fetchall() == [(recorder.dropped,)]


def test_a_batch_without_completions_is_not_recorded(tmp_path: Path) -> None:
    assert written(tmp_path, batch(n=0)).steps == []


def test_mistakes_of_the_caller_raise_errors(tmp_path: Path) -> None:
    with pytest.raises(RewardKitError, match="a record of 4 completions has 3 prompts"):
        batch(prompts=["a"] * 3)
    with pytest.raises(RewardKitError, match="the fingerprint is used as a file name"):
        Version("../../etc")
    with Recorder(tmp_path / "run") as recorder, pytest.raises(RewardTypeError, match="expected a Record"):
        recorder.record({"total": 1.0})  # type: ignore[arg-type]


def test_recording_to_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("x = 1")
    for attempt in (None, 1):
        with pytest.raises(NotAFolder, match=r"own\.py is a file"):
            Recorder(tmp_path / "own.py", attempt=attempt)


def test_closing_twice_and_recording_afterwards_does_nothing(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    recorder.close()
    recorder.close()
    recorder.record(batch())
    assert recorder.flush()
    assert open_run(tmp_path).steps == []


def test_flush_waits_until_everything_is_written(tmp_path: Path) -> None:
    with Recorder(tmp_path, patience=math.inf) as recorder:
        for step in range(5):
            recorder.record(batch(step))
        assert recorder.flush()
        assert open_run(tmp_path).steps == [0, 1, 2, 3, 4]
        block(recorder)
        recorder.record(batch(5))
        assert not recorder.flush(timeout=0.05)
        release(recorder)


def test_a_continued_run_is_not_finished(tmp_path: Path) -> None:
    assert written(tmp_path, batch()).state == "finished"
    with Recorder(tmp_path) as recorder:
        recorder.record(batch(2))
        assert recorder.flush()
        assert open_run(tmp_path).state == "running"
    assert open_run(tmp_path).state == "finished"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_the_copy_in_a_forked_child_does_nothing(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)

    def child() -> None:
        recorder.record(batch(66))
        recorder.flush()
        recorder.close()

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)
    assert process.exitcode == 0
    recorder.record(batch(1))
    recorder.close()
    assert open_run(tmp_path).steps == [1]


@pytest.mark.slow
def test_queued_batches_are_written_when_the_process_ends(tmp_path: Path) -> None:
    code = """
        import sys
        from rewardkit.record.recorder import Recorder
        from tests.record.batches import batch
        recorder = Recorder(sys.argv[1])
        for step in range(5):
            recorder.record(batch(step))
    """
    child(code, tmp_path)
    assert open_run(tmp_path).steps == [0, 1, 2, 3, 4]
    assert open_run(tmp_path).state == "stopped"


def test_a_training_that_raises_is_stopped(tmp_path: Path) -> None:
    def training() -> None:
        with Recorder(tmp_path) as recorder:
            recorder.record(batch(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        training()
    assert open_run(tmp_path).state == "stopped"


def test_a_finished_training_can_be_evaluated(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    recorder.record(batch(1))
    recorder.finish()
    assert open_run(tmp_path).state == "finished"
    recorder.record(batch(2))
    recorder.close(finished=False)  # as the end of the process does
    assert open_run(tmp_path).state == "finished"
    assert open_run(tmp_path).steps == [1, 2]


def test_a_full_disk_loses_only_the_batches_that_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    put = Files.put

    def full(self: Files, name: str, data: bytes, **options: Any) -> None:
        if name in ("metrics/a001-r000-00000001.parquet", "scores/a001-r000-00000002.parquet"):
            raise OSError(errno.ENOSPC, "No space left on device")
        put(self, name, data, **options)

    monkeypatch.setattr(Files, "put", full)
    run = written(tmp_path, *map(batch, range(4)), compact_every=0)
    assert run.steps == [0, 3]
    assert "Free some space, or fix the disk" in caplog.text
    assert "Traceback" not in caplog.text
    assert {name for table in ("completions", "prompts", "logs") for name in files(tmp_path, table)} == {
        "a001-r000-00000000.parquet",
        "a001-r000-00000003.parquet",
    }, "nothing of a failed batch stays"
    assert len(rows(run.prompts(), "prompt")) == 2


@pytest.mark.slow
def test_a_file_size_limit_acts_like_a_full_disk(tmp_path: Path) -> None:
    code = """
        import resource, signal, sys
        from rewardkit.record.recorder import Recorder
        from tests.record.batches import batch
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        recorder = Recorder(sys.argv[1], compact_every=0)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        import random
        for step in range(3):
            many = 40_000 if step == 1 else 10
            recorder.record(batch(step, texts=["".join(random.choices("abcdefgh0123456789", k=many)), "b"]))
            recorder.flush()
        recorder.close()
    """
    said = child(code, tmp_path)
    assert "File too large" in said
    assert "Training continues" in said
    assert open_run(tmp_path).steps == [0, 2]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 kB, if this user may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("may not mount a small disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_disk_that_is_actually_full(small_disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Recorder(small_disk / "run", patience=math.inf, compact_every=0) as recorder:
        recorder.record(batch(0))
        assert recorder.flush()
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as opened, contextlib.suppress(OSError):
            while True:
                opened.write(b"x" * 4096)
        for step in (1, 2):
            recorder.record(batch(step))
        assert recorder.flush()
        assert "No space left on device" in caplog.text
        filler.unlink()
        recorder.record(batch(3))
    run = open_run(small_disk / "run")
    assert run.steps == [0, 3]
    assert run.state == "finished"
    assert not [name for name in files(small_disk / "run") if name.endswith(".tmp")]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Recorder(tmp_path) as recorder:
        tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
        recorder.record(batch(1))
        recorder.flush()
        tmp_path.chmod(stat.S_IRWXU)
    assert "Give this user permission to write to the folder" in caplog.text


def test_a_bug_of_ours_is_reported_and_the_thread_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(record: Any, **options: Any) -> Any:
        if record.step == 1:
            raise ZeroDivisionError("ours")
        return tables_of(record, **options)

    monkeypatch.setattr("rewardkit.record.recorder.tables_of", faulty)
    assert written(tmp_path, *map(batch, range(3))).steps == [0, 2]
    assert "ZeroDivisionError: ours" in caplog.text
    assert "please report" in caplog.text


class Panic(BaseException):
    """An exception as libraries in Rust raise it."""

    def __str__(self) -> str:
        raise Panic


def test_a_panic_loses_only_its_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def panicking(record: Any, **options: Any) -> Any:
        if record.step == 1:
            raise Panic
        return tables_of(record, **options)

    monkeypatch.setattr("rewardkit.record.recorder.tables_of", panicking)
    assert written(tmp_path, *map(batch, range(3))).steps == [0, 2]
    assert "Panic" in caplog.text


def test_an_interrupt_in_the_main_thread_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with Recorder(tmp_path) as recorder:
        monkeypatch.setattr("rewardkit.record.recorder._mark", interrupted)
        with pytest.raises(KeyboardInterrupt):
            recorder.finish()


@pytest.mark.parametrize("said", ["[]", "5", "null"])
def test_a_foreign_run_json_is_not_changed(tmp_path: Path, said: str) -> None:
    (tmp_path / "run.json").write_text(said)
    with Recorder(tmp_path) as recorder:
        recorder.record(batch())
    assert (tmp_path / "run.json").read_text() == said


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    code = """
        import sys
        sys.modules["pyarrow.parquet"] = None
        import rewardkit as rk
        try:
            rk.open_run("x")
        except rk.errors.MissingExtraError as error:
            print(error, file=sys.stderr)
    """
    assert "[store]'" in child(code, tmp_path)


def test_run_json_describes_the_run(tmp_path: Path) -> None:
    written(tmp_path, batch())
    info = json.loads((tmp_path / "run.json").read_text())
    assert info.keys() == {"schema", "id", "created", "title", "by", "finished"}
    (version,) = (tmp_path / "versions").iterdir()
    said = json.loads(version.read_text())
    assert said["components"][1] == {"name": "right", "bounds": [None, None], "kind": "", "reads": []}


def test_the_id_is_the_same_for_all_attempts(tmp_path: Path) -> None:
    first = written(tmp_path, batch(), title="mine").info["id"]
    again = written(tmp_path, batch(2), attempt=2).info
    assert (again["id"], again["title"]) == (first, "mine")


def block(recorder: Recorder) -> None:
    """Block the thread before its next batch, as a slow disk would."""
    gate = threading.Event()
    began = threading.Event()
    write = recorder._write_batch

    def waiting(*arguments: Any) -> None:
        began.set()
        gate.wait(30)
        write(*arguments)

    recorder._write_batch = waiting  # type: ignore[assignment, method-assign]
    recorder.__dict__["gate"] = gate


def release(recorder: Recorder) -> None:
    recorder.__dict__["gate"].set()


def child(code: str, path: Path) -> str:
    """Run `code` in another process and return its stderr."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(path)], capture_output=True, text=True, env=environment
    )
    assert result.returncode == 0, result.stderr
    return result.stderr
