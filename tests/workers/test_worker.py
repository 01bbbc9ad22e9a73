"""Workers: a function that hangs is killed, and only its row fails."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.workers import worker
from tests.waiting import until


@rk.reward(timeout=20.0)
def fate(completion: str, answer: int = 3, *, scale: float = 0.1) -> float:
    if completion == "die":
        os._exit(7)
    if completion == "exit":
        sys.exit(1)
    if completion == "raise":
        raise ValueError("bug")
    return answer * scale


@rk.reward(timeout=1.0)
def hangs(completion: str) -> float:
    if completion == "hang":
        while True:
            pass
    return 0.5


@rk.reward(timeout=20.0, scope="group")
def group_of(completion: list[str]) -> list[float]:
    return [1.0 / len(completion)] * len(completion)


@rk.reward(timeout=20.0, on_error=0.0)
def process(completion: str) -> float:
    return float(os.getpid() != int(completion))


@pytest.mark.slow
def test_a_function_that_hangs_is_killed_and_its_row_failed() -> None:
    rk.score(process, [str(os.getpid())])  # the workers are up
    started = time.monotonic()
    table = rk.score(hangs, ["a", "hang", "b"])
    assert table.outcomes["hangs"].tolist() == ["scored", "failed", "scored"]
    assert "worker was killed" in table.notes["hangs"][1]
    assert time.monotonic() - started < 30


def test_it_runs_in_another_process() -> None:
    assert rk.score(process, [str(os.getpid())]).total.tolist() == [1.0]


def test_a_worker_that_dies_is_a_failure_and_one_that_raises_is_the_functions_bug() -> None:
    table = rk.score(fate, ["a", "die"], answer=["4", "4"])
    assert table.outcomes["fate"].tolist() == ["scored", "failed"]
    assert table["fate"][0] == pytest.approx(0.4)
    for completion in ("raise", "exit"):
        with pytest.raises(rk.errors.RewardBug, match="'fate'"):
            rk.score(fate, [completion])


def test_defaults_and_group_scope_work_in_a_worker() -> None:
    assert rk.score(fate, ["a"]).total[0] == pytest.approx(0.3)
    assert rk.score(fate, ["a"], scale=["0.2"]).total[0] == pytest.approx(0.6)
    assert rk.score(group_of, ["a", "b"], prompts=["p", "p"]).total.tolist() == [0.5, 0.5]


def test_a_closure_with_a_timeout_is_refused() -> None:
    @rk.reward(timeout=1.0)
    def inner(completion: str) -> float:
        return 0.5

    with pytest.raises(rk.RewardDefinitionError, match=r"has a timeout.*must be picklable.*top level"):
        rk.score(inner, ["a"])


def test_submit_gives_a_future() -> None:
    assert worker.submit(abs, (-3,), timeout=20.0).result(timeout=30) == 3


def test_an_exception_in_the_function_is_not_a_dead_worker() -> None:
    with pytest.raises(FileNotFoundError):
        worker.submit(open, ("/no/such/file",), timeout=20.0).result(timeout=30)
    with pytest.raises(RuntimeError, match="worker process"):
        worker.submit(threading.Lock, (), timeout=20.0).result(timeout=30)


def test_memory_beyond_the_limit_is_an_error_of_that_call_alone() -> None:
    limit = 64 * 1024 * 1024
    greedy = worker.submit(bytearray, (10 * limit,), timeout=20.0, memory=limit)
    modest = worker.submit(bytearray, (10,), timeout=20.0, memory=limit)
    with pytest.raises((MemoryError, rk.errors.WorkerDied)):
        greedy.result(timeout=30)
    assert modest.result(timeout=30) == bytearray(10)


@pytest.mark.slow
def test_a_process_that_keeps_memory_is_replaced() -> None:
    limit = 32 * 1024 * 1024
    pids = {worker.submit(hoard, (limit // 2,), timeout=20.0, memory=limit).result(timeout=30) for _ in range(12)}
    assert len(pids) > (os.cpu_count() or 1)


def hoard(size: int, kept: list[bytes] = []) -> int:  # noqa: B006
    kept.append(b"x" * size)
    return os.getpid()


def test_then_follows_a_future_and_its_error() -> None:
    length = worker.chain(worker.submit(str, (12345,), timeout=20.0), lambda done: len(done.result()))
    assert length.result(timeout=30) == 5
    with pytest.raises(TimeoutError):
        worker.chain(worker.submit(time.sleep, (60,), timeout=0.2), lambda done: done.result()).result(timeout=30)


def _in_child(queue: Any) -> None:
    queue.put(worker.submit(abs, (-3,), timeout=20.0).result(timeout=60))


def test_it_works_in_threads_and_in_daemonic_processes() -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(worker.submit(abs, (-3,), timeout=20.0).result(timeout=30)))
    thread.start()
    thread.join(60)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_in_child, args=(queue,), daemon=True)
    process.start()
    found.append(queue.get(timeout=60))
    process.join(60)
    assert found == [3, 3]


SCRIPT = """
import rewardkit as rk
from rewardkit.workers import worker

@rk.reward(timeout=20.0)
def mine(completion: str) -> float:
    return 0.25

{run}
"""


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("print(worker.submit(abs, (-3,), timeout=20.0).result())", "3"),
        ("if __name__ == '__main__': print(rk.score(mine, ['a']).total)", "[0.25]"),
        ("print('once', rk.score(mine, ['a']).total)", "once [0.25]"),
    ],
    ids=["a function of a module", "a function of the script, guarded", "unguarded"],
)
def test_scripts(tmp_path: Path, run: str, said: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(run=run))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.stderr) == (said, "")


@pytest.mark.slow
def test_no_worker_outlives_its_parent(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal, time\nfrom rewardkit.workers import worker\n"
        "print(worker.submit(os.getpid, (), timeout=20.0).result(), flush=True)\n"
        "worker.submit(pow, (7, 10**9), timeout=60.0)\ntime.sleep(1)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    child = int(done.stdout)
    until(lambda: not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2])


def scribbles() -> None:
    """Writes half a message to whatever it can, then hangs."""
    for descriptor in range(3, 1_000):
        with suppress(OSError):
            os.write(descriptor, b"\0\0\xff\xff")
    time.sleep(60)


def forges() -> None:
    verdict = pickle.dumps((True, False, "forged"))
    for descriptor in range(3, 1_000):
        with suppress(OSError):
            os.write(descriptor, len(verdict).to_bytes(8, "big") + verdict)


def forks() -> str:
    return "child" if os.fork() == 0 else "parent"


def leaves_a_child(seconds: float) -> int:
    child = subprocess.Popen(["sleep", str(seconds)])
    time.sleep(60)
    return child.pid


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


def deep() -> Any:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


def raises_mute() -> None:
    raise Mute


@pytest.mark.slow
def test_a_broken_or_forged_answer_does_not_block_the_pool() -> None:
    for _ in range(3):
        with pytest.raises((TimeoutError, rk.errors.WorkerDied)):
            worker.submit(scribbles, (), timeout=1.0).result(timeout=60)
    with pytest.raises(rk.errors.WorkerDied):
        worker.submit(forges, (), timeout=20.0).result(timeout=60)
    assert [worker.submit(forks, (), timeout=20.0).result(timeout=60) for _ in range(3)] == ["parent"] * 3
    assert worker.submit(abs, (-3,), timeout=20.0).result(timeout=60) == 3


@pytest.mark.slow
def test_children_of_a_killed_function_are_killed_too() -> None:
    with pytest.raises(TimeoutError):
        worker.submit(leaves_a_child, (4711.25,), timeout=1.0).result(timeout=60)
    until(lambda: not any(b"4711.25" in line for line in command_lines()))


def command_lines() -> Iterator[bytes]:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            yield file.read_bytes()


@pytest.mark.slow
def test_a_call_that_is_stopped_makes_room() -> None:
    calls = [worker.submit(time.sleep, (60.0,), timeout=60.0) for _ in range(8)]
    time.sleep(1.0)
    for call in calls:
        call.stop()
    assert worker.submit(abs, (-3,), timeout=20.0).result(timeout=30) == 3
    assert all(call.done() for call in calls)


@pytest.mark.slow
def test_ctrl_c_stops_running_calls(tmp_path: Path) -> None:
    module = tmp_path / "slow.py"
    module.write_text(
        "import os, signal, threading, time\nimport rewardkit as rk\n\n"
        "@rk.reward(timeout=50.0)\ndef slow(completion: str) -> float:\n"
        "    time.sleep(40 if completion else 0)\n    return 0.5\n\n"
        "if __name__ == '__main__':\n    import slow\n"
        "    threading.Timer(4.0, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    started = time.monotonic()\n"
        "    try:\n        rk.score(slow.slow, ['a', 'b', 'c', 'd', 'e'])\n"
        "    except KeyboardInterrupt:\n        print('stopped')\n"
        "    print(rk.score(slow.slow, ['']).total, time.monotonic() - started < 35)\n"
    )
    done = subprocess.run(
        [sys.executable, "slow.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.split("\n")[:2] == ["stopped", "[0.5] True"], done.stderr
    assert done.stderr == ""


@pytest.mark.slow
def test_exiting_with_waiting_calls_prints_nothing(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import time\nfrom rewardkit.workers import worker\n"
        "calls = [worker.submit(time.sleep, (30.0,), timeout=40.0) for _ in range(20)]\ntime.sleep(2)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_very_long_timeout_works() -> None:
    assert worker.submit(abs, (-3,), timeout=1e300).result(timeout=60) == 3


@pytest.mark.slow
def test_the_end_of_a_fork_leaves_the_workers_alone(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys, time\nfrom rewardkit.workers import worker\n"
        "call = worker.submit(time.sleep, (2.0,), timeout=20.0)\ntime.sleep(1)\n"
        "child = os.fork()\nif child == 0:\n    sys.exit(0)\nos.waitpid(child, 0)\nprint(call.result())\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "None\n", done.stderr


def test_a_stop_while_the_process_starts_is_not_lost() -> None:
    for _ in range(4):
        with pytest.raises(rk.errors.WorkerDied):
            worker.submit(os._exit, (1,), timeout=20.0).result(timeout=60)
        call = worker.submit(time.sleep, (50.0,), timeout=60.0)
        time.sleep(0.002)
        call.stop()
        assert call.cancelled() or isinstance(call.exception(timeout=30), rk.errors.WorkerDied)


def test_renewed_workers_are_other_processes() -> None:
    before = worker.submit(os.getpid, (), 20.0).result()
    worker.renew()
    worker.renew()
    assert worker.submit(os.getpid, (), 20.0).result() != before


def test_a_process_of_its_own_ends_with_its_call_and_says_why_it_died(tmp_path: Path) -> None:
    path = [str(tmp_path), *sys.path]
    launch = worker.Launch(path=path, folder=tmp_path, environment={"COLOR": "red", "HOME": None}, quiet=True)
    code = "[__import__('os').getcwd(), *map(os.environ.get, ('COLOR', 'HOME')), os.getpid()]"
    found = worker.run_in_process(eval, (code, {"os": os}), launch=launch).result(timeout=60)
    assert found[:3] == [str(tmp_path), "red", None]
    assert not Path(f"/proc/{found[3]}").exists()
    with pytest.raises(rk.errors.WorkerDied, match=r"^ended with exit code 5: 'last words'$"):
        worker.run_in_process(last_words, (), launch=worker.Launch(quiet=True)).result(timeout=60)


def last_words() -> None:
    os.write(1, b"first\n" + b"x" * 100_000 + b"\nlast words\n")
    os._exit(5)


def test_a_process_that_dies_is_noticed_although_a_fork_of_it_lives() -> None:
    with pytest.raises(rk.errors.WorkerDied):
        worker.run_in_process(leaves_a_fork, ()).result(timeout=60)


def leaves_a_fork() -> None:
    if os.fork() == 0:
        time.sleep(1_000)
    os._exit(1)
