"""Workers: what may hang is killed, and its row alone failed."""

from __future__ import annotations

import os
import sys
import time

import pytest

import rewardkit as rk
from rewardkit.core import worker

pytest.importorskip("pebble", reason="killable workers need pebble: pip install 'rewardkit-sdk[worker]'")


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
        with pytest.raises(rk.RewardFailure, match="'fate'"):
            rk.score(fate, [completion])


def test_defaults_and_group_scope_work_in_a_worker() -> None:
    assert rk.score(fate, ["a"]).total[0] == pytest.approx(0.3)
    assert rk.score(fate, ["a"], scale=["0.2"]).total[0] == pytest.approx(0.6)
    assert rk.score(group_of, ["a", "b"], prompts=["p", "p"]).total.tolist() == [0.5, 0.5]


def test_a_closure_with_a_timeout_says_why_it_cannot_be() -> None:
    @rk.reward(timeout=1.0)
    def inner(completion: str) -> float:
        return 0.5

    with pytest.raises(rk.RewardDefinitionError, match=r"has a timeout.*must be picklable.*top level"):
        rk.score(inner, ["a"])


def test_submit_gives_a_future() -> None:
    assert worker.submit(abs, (-3,), timeout=20.0).result(timeout=30) == 3
