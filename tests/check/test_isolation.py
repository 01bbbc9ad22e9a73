"""Isolation: the parent knows what happens in the child, and nothing of it remains."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rewardkit.check.check import check_reward
from rewardkit.check.declarations import Declarations
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.check.run.isolation import Lost, Note, can_isolate, run_in_child

pytestmark = pytest.mark.skipif(not can_isolate(), reason="this system cannot fork")

Send = Callable[[Any], None]
state = {"touched": False}


def said(
    work: Callable[[Send], None], *, note: Note | None = None, patience: float = 5.0, limit: float = 20.0
) -> list[Any]:
    return list(run_in_child(work, note or Note(), patience, limit))


def test_messages_arrive_in_order() -> None:
    def work(send: Send) -> None:
        for number in range(1_000):
            send(number)
        send(("x" * 300_000, None))

    assert said(work) == [*range(1_000), ("x" * 300_000, None)]


def test_results_arrive_while_the_child_works() -> None:
    def work(send: Send) -> None:
        send("first")
        time.sleep(30)

    coming = run_in_child(work, Note(), 60.0, 60.0)
    started = time.monotonic()
    assert next(coming) == "first"
    coming.close()  # type: ignore[attr-defined]
    assert time.monotonic() - started < 5.0


def test_a_child_that_sends_nothing_is_not_lost() -> None:
    assert said(lambda send: None) == []


def test_the_child_does_not_read_the_input_of_its_parent() -> None:
    reading, writing = os.pipe()
    before = os.dup(0)
    os.dup2(reading, 0)
    try:
        os.write(writing, b"for the parent")
        assert said(lambda send: send(os.read(0, 100))) == [b""]
        assert os.read(0, 100) == b"for the parent"
    finally:
        os.dup2(before, 0)
        for descriptor in (reading, writing, before):
            os.close(descriptor)


def test_the_child_has_closures_and_changes_nothing_here() -> None:
    here = {"number": 1}
    directory = Path.cwd()

    def work(send: Send) -> None:
        here["number"] = 2
        state["touched"] = True
        os.environ["REWARDKIT_TOUCHED"] = "1"
        os.chdir("/")
        sys.path.clear()
        send((os.getpid(), here["number"]))

    path = list(sys.path)
    ((child, number),) = said(work)
    assert (number, here) == (2, {"number": 1})
    assert child != os.getpid()
    assert not state["touched"]
    assert "REWARDKIT_TOUCHED" not in os.environ
    assert (Path.cwd(), sys.path) == (directory, path)


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (lambda: os._exit(3), "it exited"),
        (lambda: sys.exit(1), "it exited"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "signal SIGKILL"),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), "signal SIGTERM"),
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), "signal SIGSEGV"),
        (lambda: os.abort(), "signal SIGABRT"),
    ],
    ids=["exit", "sys.exit", "killed", "terminated", "segmentation fault", "abort"],
)
def test_a_dead_child_is_lost_with_its_trials(
    end: Callable[[], None], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    note = Note()
    trials = [Trial("deadly", 1, {"answer": "42"})]

    def work(send: Send) -> None:
        faulthandler.disable()  # its output would not be captured
        send("before")
        note.write(trials)
        end()

    assert said(work, note=note) == ["before", Lost(tuple(trials), f"ended the whole process ({reason})")]


def test_a_child_that_raises_is_lost_and_prints_why(capfd: pytest.CaptureFixture[str]) -> None:
    def work(send: Send) -> None:
        raise ValueError("a bug of the harness")

    assert said(work) == [Lost((), "ended the whole process (it exited)")]
    assert "a bug of the harness" in capfd.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_unlimited_memory_is_an_error_in_the_child() -> None:
    def work(send: Send) -> None:
        try:
            b"x" * (1 << 34)
        except MemoryError:
            send("no memory")

    assert said(work) == ["no memory"]


def test_a_completion_that_takes_too_long_is_lost() -> None:
    note = Note()

    def work(send: Send) -> None:
        send("before")
        note.write([Trial("slow")])
        time.sleep(60)

    started = time.monotonic()
    assert said(work, note=note, patience=0.3) == ["before", Lost((Trial("slow"),), "took more than 0.3 s")]
    assert time.monotonic() - started < 5.0


def test_a_child_that_ignores_signals_is_lost() -> None:
    note = Note()

    def work(send: Send) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note.write([Trial("deaf")])
        while True:
            pass

    assert said(work, note=note, patience=0.3) == [Lost((Trial("deaf"),), "took more than 0.3 s")]


@pytest.mark.slow
def test_patience_applies_to_each_completion() -> None:
    note = Note()

    def work(send: Send) -> None:
        for number in range(8):
            note.write([Trial(str(number))])
            time.sleep(0.15)
            note.write(None)
        send("done")

    assert said(work, note=note, patience=0.8) == ["done"]


def test_work_without_scoring_may_take_longer() -> None:
    def work(send: Send) -> None:
        time.sleep(0.6)
        send("done")

    assert said(work, patience=0.2) == ["done"]


def test_the_total_time_limit() -> None:
    started = time.monotonic()
    assert said(lambda send: time.sleep(60), patience=0.2, limit=0.3) == [Lost((), "ran out of time")]
    assert 0.4 < time.monotonic() - started < 5.0


@pytest.mark.slow
def test_no_child_is_left() -> None:
    def children() -> str:
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(os.getpid())], capture_output=True, text=True)
        return "\n".join(line for line in found.stdout.splitlines() if line.strip() != str(os.getpid()))

    before = len(children().splitlines())
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        said(lambda send: send(1))
        said(lambda send: time.sleep(60), patience=0.05, limit=0.05)
    assert len(children().splitlines()) == before
    assert len(os.listdir("/proc/self/fd")) == files


def beside(started: Path) -> None:
    """Starts another process, as a sandbox or a pool of workers does, and hangs."""
    other = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL)
    started.with_suffix(".new").write_text(f"{os.getpid()} {other.pid}", encoding="ascii")
    started.with_suffix(".new").rename(started)
    while True:
        pass


def processes(started: Path) -> list[int]:
    """The child and what it has started, once it has."""
    end = time.monotonic() + 30
    while not started.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    return [int(number) for number in started.read_text(encoding="ascii").split()]


def gone(numbers: list[int]) -> bool:
    """Whether none of them runs, soon."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        asked = ["ps", "-o", "stat=", "-p", ",".join(map(str, numbers))]
        states = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split()
        if all(state.startswith("Z") for state in states):  # an orphan may not be reaped yet
            return True
        time.sleep(0.05)
    return False


def test_processes_started_by_the_child_end_with_it(tmp_path: Path) -> None:
    note = Note()

    def hangs(send: Send) -> None:
        note.write([Trial("slow")])
        beside(tmp_path / "hangs")

    def dies(send: Send) -> None:
        other = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL)
        (tmp_path / "dies").write_text(f"{other.pid}", encoding="ascii")
        os._exit(3)

    assert said(hangs, note=note, patience=0.5) == [Lost((Trial("slow"),), "took more than 0.5 s")]
    assert gone(processes(tmp_path / "hangs"))
    assert said(dies) == [Lost((), "ended the whole process (it exited)")]
    assert gone(processes(tmp_path / "dies"))


def test_processes_of_a_reward_that_hangs_end_with_the_check(tmp_path: Path) -> None:
    def hanging(completions: list[str], **kwargs: Any) -> list[float]:
        if "hang" in completions:
            beside(tmp_path / str(time.monotonic_ns()))
        return [0.0 for _ in completions]

    report = check_reward(
        hanging, examples=[{}], good=["hang"], laws=["total"], declarations=Declarations(seconds_per_completion=0.3)
    )
    assert "took more than 0.3 s" in report["total"].findings[0].why
    found = list(tmp_path.iterdir())
    assert found
    assert all(gone(processes(one)) for one in found)


SCRIPT = """
import fcntl, sys, termios
from pathlib import Path
from rewardkit.check.run.isolation import Note, run_in_child
from tests.check.test_isolation import beside
if sys.stdin.isatty():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
print(list(run_in_child(lambda send: beside(Path(sys.argv[1])), Note(), 60.0, 60.0)))
"""


def test_ctrl_c_in_a_terminal_ends_everything(tmp_path: Path) -> None:
    started = tmp_path / "started"
    terminal, inside = os.openpty()
    command = [sys.executable, "-c", SCRIPT, str(started)]
    process = subprocess.Popen(command, stdin=inside, stderr=subprocess.PIPE, start_new_session=True)
    try:
        running = processes(started)
        os.write(terminal, b"\x03")
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        os.close(terminal)
        os.close(inside)
    assert errors.decode().count("KeyboardInterrupt") == 1
    assert gone(running)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a busy child")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_a_parent_that_is_killed_takes_everything_with_it(number: signal.Signals, tmp_path: Path) -> None:
    if number != signal.SIGKILL and signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the signal is ignored here: the tests run under nohup")
    started = tmp_path / "started"
    with subprocess.Popen([sys.executable, "-c", SCRIPT, str(started)], stdin=subprocess.DEVNULL) as process:
        running = processes(started)
        process.send_signal(number)
    assert process.returncode == -number
    assert gone(running)


def test_a_note_has_the_trials_and_the_start_time() -> None:
    note = Note()
    assert note.read() == (0.0, ())
    started = time.monotonic()
    note.write([Trial("a"), Trial([{"role": "assistant", "content": "b"}], 2)])
    since, trials = note.read()
    assert started <= since <= time.monotonic()
    assert trials == (Trial("a"), Trial([{"role": "assistant", "content": "b"}], 2))
    note.write(None)
    assert note.read() == (0.0, ())


@pytest.mark.parametrize("completion", ["x" * 3_000_000, lambda: None], ids=["too long", "not picklable"])
def test_a_note_too_large_still_has_the_time(completion: Any) -> None:
    note = Note()
    note.write([Trial("a" * 1_000)])
    note.write([Trial(completion)])
    since, trials = note.read()
    assert since > 0
    assert trials == ()
