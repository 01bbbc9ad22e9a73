"""Ranks that share a cache, and runs that are killed: nothing is paid for twice, and nothing is lost."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from tests.rewards.judges.server import JudgeServer, Request, slowly, verdict

pytest.importorskip("openai")

RUN = """
import json, sys
import rewardkit as rk
base_url, path, first, last = sys.argv[1:]
reward = rk.judge("Is it good?", model=rk.Endpoint("m", base_url, concurrency=4), cache=path)
table = rk.score(reward, [f"completion {number}" for number in range(int(first), int(last))])
print(json.dumps(table.total.tolist()))
"""


def run(server: JudgeServer, path: str, first: int, last: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, server.base_url, path, str(first), str(last)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def scores(process: subprocess.Popen[str]) -> list[float]:
    said = process.communicate()[0]
    assert process.returncode == 0
    return list(json.loads(said))


def moody() -> Any:
    """A different score each time, so that two runs only agree because of the cache."""
    number = itertools.count()
    return verdict(lambda request: next(number) % 11)


@pytest.mark.slow
def test_two_ranks_on_one_cache(tmp_path: Path) -> None:
    path = str(tmp_path / "judged.sqlite")
    with JudgeServer(moody()) as server:
        ranks = [run(server, path, 0, 40), run(server, path, 20, 60)]
        assert all(np.isfinite(scores(rank)).all() for rank in ranks)
        assert 60 <= len(server.requests) <= 80
        server.requests.clear()
        again = [scores(run(server, path, 0, 60)) for _ in range(2)]
        assert again[0] == again[1]
        assert not server.requests


@pytest.mark.slow
def test_a_later_rank_asks_for_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "judged.sqlite")
    with JudgeServer(moody()) as server:
        first = scores(run(server, path, 0, 40))
        assert len(server.requests) == 40
        assert scores(run(server, path, 0, 40)) == first
        assert len(server.requests) == 40


@pytest.mark.slow
def test_a_run_that_was_killed_pays_only_for_the_rest(tmp_path: Path) -> None:
    path = str(tmp_path / "judged.sqlite")
    with JudgeServer(slowly(moody(), mean=0.02, spread=0.0)) as server:
        killed = run(server, path, 0, 200)
        while len(server.requests) < 60:
            time.sleep(0.005)
            assert killed.poll() is None
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        asked = len(server.requests)
        assert asked < 200
        resumed = scores(run(server, path, 0, 200))
        assert np.isfinite(resumed).all()
        more = len(server.requests) - asked
        assert more <= 200 - asked + 2 * 4  # what was under way, and what had just been answered, is asked again
        assert server.most_at_once <= 8


def test_a_replay_needs_no_server(tmp_path: Path) -> None:
    path = str(tmp_path / "judged.sqlite")
    with JudgeServer(moody()) as server:
        first = scores(run(server, path, 0, 10))
        base_url = server.base_url
    cache = rk.Cache(path, replay=True)
    replayed = rk.judge("Is it good?", model=rk.Endpoint("m", base_url), cache=cache)
    table = rk.score(replayed, [f"completion {number}" for number in range(11)])
    assert table.total[:10].tolist() == first
    assert np.isnan(table.total[10])
    assert "replay" in table.notes["judge"][10]


def test_the_cache_holds_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-this-must-stay-here")
    path = tmp_path / "judged.sqlite"

    def answer(request: Request) -> int:
        assert request.headers["authorization"] == "Bearer sk-this-must-stay-here"
        return 5

    with JudgeServer(verdict(answer)) as server:
        rk.score(rk.judge("Is it good?", model=rk.Endpoint("m", server.base_url), cache=str(path)), ["yes"])
    kept = b"".join(part.read_bytes() for part in tmp_path.glob("judged.sqlite*"))
    assert b"because" in kept
    assert b"sk-this" not in kept
