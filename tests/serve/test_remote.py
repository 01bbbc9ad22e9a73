"""rk.remote against a real server: the same numbers, failed rows, retries."""

from __future__ import annotations

import math
import pickle
import signal
import socket
import threading
import time
from collections.abc import Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.analyze.permuted_golds import PermutedGolds
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.online.faults import fault_counts
from rewardkit.serve.remote import Server, rows_scored
from rewardkit.workers.background import in_background
from tests.serve import hostile, served
from tests.serve.served import Served, serving

TEXTS = ["42", "41", "", "skip", "fail", "a\ud800b"]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("reward", "--deadline", "4", REWARDKIT_TOKEN="") as running:
        yield running


@pytest.fixture(scope="module")
def remote(server: Served) -> rk.Reward:
    return rk.remote(server.url, deadline=20)


def test_it_is_the_served_reward(remote: rk.Reward) -> None:
    here = rk.score(served.reward, TEXTS, answer=["42"] * 6)
    there = rk.score(remote, TEXTS, answer=["42"] * 6)
    assert np.array_equal(here.total, there.total, equal_nan=True)
    assert list(here.terms) == list(there.terms)
    for name, values in here.terms.items():
        assert np.array_equal(values, there.terms[name], equal_nan=True)
    assert there.notes["short"][0] == "2 characters"
    assert there.parts["acts"]["raw"][0] == 1.0
    assert [str(one) for one in there.outcomes["acts"]] == ["scored"] * 3 + ["abstained", "failed", "scored"]
    assert [(fault.component, fault.reason) for fault in there.faults] == [("acts", "the judge is down")]
    assert [str(one) for one in there.outcomes["short"]] == ["scored"] * 4 + ["abstained", "scored"]


@given(texts=st.lists(st.text(max_size=20), min_size=1, max_size=8), answers=st.text(max_size=3))
def test_any_texts(remote: rk.Reward, texts: list[str], answers: str) -> None:
    given_answers = [answers] * len(texts)
    here, there = (rk.score(one, texts, answer=given_answers).total for one in (served.reward, remote))
    assert np.array_equal(here, there, equal_nan=True)


def test_a_bug_raises_as_it_does_here(remote: rk.Reward) -> None:
    with pytest.raises(rk.errors.RewardBug, match="the served reward has a bug: it failed on row 1"):
        rk.score(remote, ["42", "raise"], answer=["42"] * 2)


def test_later_a_bug_counts_as_one_and_scores_the_lowest_bound(remote: rk.Reward) -> None:
    batch = rk.Batch(["42", "raise"], columns={"answer": ["42"] * 2})
    here, there = (rk.Scorer(one).score(batch, strict=False) for one in (served.reward, remote))
    assert here.total.tolist() == there.total.tolist()
    assert [str(one) for one in there.outcomes["acts"]] == ["scored", "errored"]
    assert fault_counts(there).tolist() == fault_counts(here).tolist()


def test_it_is_composed_trained_and_pickled_like_any_other(remote: rk.Reward) -> None:
    assert pickle.loads(pickle.dumps(remote)) == remote
    gated = rk.gate(when=rk.contains(all="4"), then=remote)
    assert rk.score(gated, ["42", "x"], answer=["42"] * 2).total[1] == 0.0
    acts, short = rk.to_trl(remote)
    assert (acts.__name__, short.__name__) == ("acts", "short")
    assert acts(completions=["42", "fail"], prompts=["", ""], answer=["42"] * 2) == [0.75, None]


def test_columns_that_json_lacks_are_sent_as_texts(remote: rk.Reward) -> None:
    answers = [np.int64(42), float("nan"), {"a": (1, 2)}]
    table = rk.score(remote, ["42", "nan", "x"], other=answers, answer=["42", "nan", "y"])
    assert table.terms["acts"].tolist() == [0.75, 0.75, 0.0]


@pytest.mark.slow
def test_the_server_is_told_that_the_trainer_runs_calls(tmp_path: Path) -> None:
    file = tmp_path / "calls.py"
    file.write_text("import rewardkit as rk\n\nreward = rk.agents.calls_between(1, 1)\n")
    with serving(file=str(file)) as running:
        totals = [
            rk.Scorer(rk.remote(running.url)).score(rk.Batch(["[look()]"], rollouts=RolloutInfo(runs_calls=run))).total
            for run in (False, True)
        ]
    assert [total.tolist() for total in totals] == [[1.0], [0.0]]


def test_cells_arrive_as_they_are() -> None:
    cells = [math.nan, math.inf, -0.0, 1, 1.0, True, None, [1, [2.0]], {"b": 1, "a": {}}, "\ud800", np.float32(0.5)]
    arrays = [np.arange(3), np.array([[0.5]]), np.int8(3)]
    with serving(file=hostile.__file__) as running:
        there = rk.score(rk.remote(running.url), ["x"] * 14, answer=[*cells, *arrays])
    plain = [*cells[:-1], 0.5, [0, 1, 2], [[0.5]], 3]
    here = rk.score(hostile.reward, ["x"] * 14, answer=plain)
    assert there.notes["reward"] == here.notes["reward"]


@pytest.mark.slow
def test_a_row_that_cannot_be_sent_costs_no_other_row_its_score() -> None:
    with serving("reward", "--max-body", "1", "--queue", "20", REWARDKIT_TOKEN="") as running:
        texts = ["42"] * 30 + ["x" * (1 << 21), *map(str, range(100))]
        other = [1] * 70 + [10**6_000] + [1] * 60
        table = rk.score(rk.remote(running.url, deadline=20), texts, answer=["42"] * 131, other=other)
    assert np.flatnonzero(np.isnan(table.total)).tolist() == [30, 70]
    assert "at most 1,048,576" in table.faults[0].reason
    assert "cannot be sent as JSON" in table.faults[1].reason


@pytest.mark.slow
def test_a_slow_row_costs_no_other_row_its_score(server: Served) -> None:
    remote = rk.remote(server.url, deadline=8)
    assert PermutedGolds(rk.exact("answer") + remote, rescore=True).left_out == ("remote",)  # never called again
    table = rk.score(remote, ["42", "sleep 60", "41"], answer=["42"] * 3)
    assert np.isnan(table.total).tolist() == [False, True, False]
    assert "no score within the deadline" in table.faults[0].reason


@pytest.mark.slow
def test_many_groups_of_different_sizes() -> None:
    prompts = [f"{size} {place}" for place in range(20) for size in (2, 3, 3) for _ in range(size)]
    texts = ["x" * (place * 7 % 11) for place in range(len(prompts))]
    answers = ["42"] * len(texts)
    with serving("grouped") as running:
        there = rk.score(rk.remote(running.url), texts, prompts=prompts, answer=answers)
    here = rk.score(served.grouped, texts, prompts=prompts, answer=answers)
    assert there.total.tolist() == here.total.tolist()


@pytest.mark.slow
def test_another_reward_at_the_same_address_stops() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with serving("reward", port=port) as first:
        remote = pickle.loads(pickle.dumps(rk.remote(first.url)))
    with (
        serving("acts", port=port),
        pytest.raises(rk.RunStopped, match="serves a different reward"),
    ):
        rk.score(remote, ["42"], answer=["42"])


def test_a_server_that_never_answers_costs_its_deadline_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        rows = [{"completion": "42"}] * (64 * 40)
        found = in_background(rows_scored(Server(url, 0.5), "", rows, {})).result()
        assert all(isinstance(one, rk.RewardFailure) for one in found)
        assert time.monotonic() - began < 4


@pytest.mark.slow
def test_groups_and_schedules_are_the_served_ones() -> None:
    with serving("grouped") as running:
        table = rk.score(rk.remote(running.url), ["1", "22", "333"], prompts=["p"] * 3, answer=["42"] * 3)
        assert table.terms["short_rank"].tolist() == [1.0, 0.5, 0.0]
    with serving("scheduled") as running:
        half = rk.score(rk.remote(running.url), ["42"], answer=["42"], progress=rk.Progress(50, 100))
        assert half.terms["acts"].tolist() == [0.5]


@pytest.mark.slow
def test_a_restart_costs_no_row_its_score() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    texts = [str(number) for number in range(300)]
    with serving("reward", port=port) as first:
        remote = rk.remote(first.url, deadline=60)
        first.process.send_signal(signal.SIGKILL)
        found: list[rk.ScoreTable] = []
        asking = threading.Thread(target=lambda: found.append(rk.score(remote, texts, answer=["42"] * 300)))
        asking.start()
        time.sleep(0.5)
    with serving("reward", port=port):
        asking.join(60)
    here = rk.score(served.reward, texts, answer=["42"] * 300)
    assert np.array_equal(found[0].total, here.total)


@pytest.mark.slow
def test_a_server_that_is_gone_fails_the_rows() -> None:
    with serving() as running:
        remote = rk.remote(running.url, deadline=1)
    table = rk.score(remote, ["42"], answer=["42"])
    assert np.isnan(table.total).all()
    assert "did not answer within 1 s" in table.faults[0].reason
    assert table.faults[0].component == ""


def test_what_cannot_be_reached_or_is_no_reward_server_is_an_error() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="Start the server first"):
        rk.remote("http://127.0.0.1:9", wait=0.3)
    with pytest.raises(rk.RewardDefinitionError, match="expects an address"):
        rk.remote("host:8000")
    with pytest.raises(rk.RewardDefinitionError, match="greater than 0"):
        rk.remote("http://127.0.0.1:9", deadline=0)
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(rk.RewardKitError, match=r"did not return JSON|rejects"):
            rk.remote(f"http://127.0.0.1:{other.server_port}", wait=2)
        other.shutdown()


@pytest.mark.slow
def test_a_wrong_token_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving("reward", REWARDKIT_TOKEN="secret") as running:
        with pytest.raises(rk.RunStopped, match="Set REWARDKIT_TOKEN"):
            rk.remote(running.url)
        monkeypatch.setenv("REWARDKIT_TOKEN", "sécret")
        with pytest.raises(rk.RunStopped, match="only printable ASCII"):
            rk.remote(running.url)
        monkeypatch.setenv("REWARDKIT_TOKEN", "secret")
        assert rk.score(rk.remote(running.url), ["42"], answer=["42"]).total[0] > 0.75


@pytest.mark.slow
def test_a_gold_that_cannot_be_read_counts_as_one_here_too() -> None:
    with serving("golds", REWARDKIT_TOKEN="") as running:
        remote = rk.remote(running.url, deadline=20)
        batch = rk.Batch(["4", "4"], columns={"answer": ["4", "N/A"]})
        table = rk.Scorer(remote).score(batch, strict=False, on_unparsable_gold="fail")
        assert np.isnan(table.total).tolist() == [False, True]
        assert [fault.unparsable for fault in table.faults] == [True]
        assert fault_counts(table)[:, 4].tolist() == [1, 0]
        with pytest.raises(rk.errors.CoercionError, match="cannot read any gold answer in its first batch"):
            rk.to_trl(remote)[0](completions=["4", "4"], prompts=["", ""], answer=["N/A", "none"])
