"""`rewardkit serve` as a real process over real sockets."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import rewardkit as rk
from tests.serve import served
from tests.serve.served import Served, serving
from tests.waiting import until


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("reward", "--max-body", "1", REWARDKIT_TOKEN="") as running:
        yield running


def test_scores_are_those_of_score(server: Served) -> None:
    texts = ["42", "41", "", "skip"]
    table = rk.score(served.reward, texts, answer=["42"] * 4)
    found = server.score(*texts)
    assert [row["total"] for row in found] == table.total.tolist()
    assert found[0] == {
        "total": 0.75 + 0.25 / 3,
        "terms": {"acts": 0.75, "short": 0.25 / 3},
        "components": {"acts": 1.0, "short": 1 / 3},
        "outcomes": {"acts": "scored", "short": "scored"},
        "notes": {"short": "2 characters"},
        "reasons": [],
        "unparsable": False,
    }
    assert found[3]["outcomes"] == {"acts": "abstained", "short": "scored"}


def test_a_failed_row_has_no_total_and_a_bug_scores_the_lowest_bound(server: Served) -> None:
    failed, errored, right = server.score("fail", "raise", "42")
    assert failed["total"] is None
    assert failed["reasons"] == ["acts: the judge is down"]
    assert errored["total"] == 0.25 / 6
    assert errored["outcomes"]["acts"] == "errored"
    assert right["total"] > 0.75


@pytest.mark.slow
def test_a_row_that_kills_its_worker_costs_no_other_row_its_score(server: Served) -> None:
    found = server.score("42", "die", "41", *map(str, range(50)))
    assert [row["total"] is None for row in found] == [False, True] + [False] * 51
    assert found[1]["reasons"] == ["its worker process crashed 3 times while the row was scored"]


@pytest.mark.slow
def test_a_row_that_hangs_costs_no_other_row_its_score() -> None:
    with serving("reward", "--deadline", "20") as running:
        found = running.score("42", "hang", "41")
        assert [row["total"] is None for row in found] == [False, True, False]
        assert found[1]["reasons"] == ["no score within the deadline of 20 s"]
        assert running.score("42")[0]["total"] > 0.75


def test_equal_rows_in_flight_are_scored_once(server: Served) -> None:
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: server.score("sleep 0.5"), range(4)))
    assert len({json.dumps(one) for one in found}) == 1
    assert meter(server, "rewardkit_duplicate_rows_total") >= 1


def meter(server: Served, name: str) -> float:
    page = server.get("/metrics")[1]
    return sum(float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(name))


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b'{"rows": [', 400, "the body is not JSON"),
        (b"\xff\xfe", 400, "the body is not JSON"),
        (b"[" * 100_000, 400, "the body is not JSON"),
        (b"[]", 422, "the body: Input should be a valid dictionary"),
        (b'{"rows": [{"completion": 1}]}', 422, "rows.0.completion"),
        (b'{"rows": [{"completion": "x", "colums": {}}]}', 422, "rows.0.colums: Extra inputs are not permitted"),
        (b'{"rows": [{"completion": "x"}], "num_generations": 2}', 422, "1 rows are not whole groups of that size"),
        (b'{"query": ["x"], "prompts": ["x"], "labels": ["x"]}', 422, "rows: Field required"),
        (b'"' + b"x" * (1 << 20) + b'"', 413, "the body has 1,048,578 bytes, but at most 1,048,576 are accepted"),
    ],
)
def test_bad_requests_say_what_is_wrong(server: Served, body: bytes, status: int, said: str) -> None:
    found, answer = server.post("/score", body)
    assert found == status
    assert said in answer["error"]


def test_other_paths_and_methods_are_answered_with_those_that_exist(server: Served) -> None:
    assert server.post("/nope", {})[0] == 404
    status, said = server.get("/score")
    assert status == 405
    assert "Paths: " in said["error"]
    assert "/score" in said["error"]


def test_a_body_that_never_ends_holds_up_nobody(server: Served) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as half:
        half.sendall(b'POST /score HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"rows": [')
        assert server.score("42")[0]["total"] > 0.75


def test_health_description_and_documentation(server: Served) -> None:
    assert server.get("/healthz") == (200, {"status": "ok"})
    assert server.get("/readyz") == (200, {"ready": True})
    said = server.get("/reward")[1]
    assert said["terms"] == ["acts", "short"]
    assert said["fingerprint"] == served.reward.fingerprint
    paths = server.get("/openapi.json")[1]["paths"]
    assert "rows" in json.dumps(paths["/score"]["post"]["requestBody"])
    assert server.get("/docs")[0] == 200


def test_the_description_of_the_paths_is_valid(server: Served) -> None:
    described = server.get("/openapi.json")[1]
    for path, methods in described["paths"].items():
        for method in methods.values():
            given = {one["name"] for one in method.get("parameters", ()) if one["in"] == "path"}
            assert given == set(re.findall(r"{(\w+)}", path)), path
    names = re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described))
    assert names
    assert set(names) <= set(described["components"]["schemas"])


def test_completions_may_be_messages_and_odd_texts(server: Served) -> None:
    chat = [{"role": "assistant", "content": "42"}]
    odd = "half \ud800 of a pair \0 é"
    found = server.score(chat, odd)
    assert found[0]["total"] == server.score("42")[0]["total"]
    assert found[1]["notes"]["short"] == f"{len(odd)} characters"


@pytest.mark.slow
def test_groups_are_scored_together_and_refused_apart() -> None:
    with serving("grouped") as running:
        found = running.score("1", "22", "42", "333", num_generations=2)
        assert [row["terms"]["short_rank"] for row in found] == [1.0, 0.0, 1.0, 0.0]
        status, said = running.post("/score", {"rows": [{"completion": "1", "columns": {"answer": "4"}}]})
        assert status == 422
        assert "num_generations" in said["error"]


@pytest.mark.slow
def test_schedules_follow_the_progress_of_the_request() -> None:
    with serving("scheduled") as running:
        half = running.score("42", progress={"step": 50, "max_steps": 100})[0]
        end = running.score("42")[0]
        assert half["terms"]["acts"] == 0.5
        assert end["terms"]["acts"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"), [("running", "follows earlier scores of the reward"), ("nope", "has no 'nope'")]
)
def test_rewards_that_cannot_be_served_are_refused(name: str, said: str) -> None:
    with pytest.raises(RuntimeError, match=said) as refused, serving(name):
        pass
    assert "Traceback" not in str(refused.value)
    assert "WARNING" not in str(refused.value)


@pytest.mark.slow
def test_other_machines_need_a_token() -> None:
    with pytest.raises(RuntimeError, match="requests must have a token"), serving("reward", "--host", "0.0.0.0"):
        pass
    with serving("reward", REWARDKIT_TOKEN="secret") as running:
        assert running.post("/score", {"rows": []})[0] == 401
        assert running.post("/score", {"rows": []}, Authorization="Bearer wrong")[0] == 401
        assert running.post("/score", {"rows": []}, Authorization="Bearer secret")[0] == 200
        assert running.post("/score", {"rows": []}, Authorization="bearer  secret")[0] == 200
        assert running.post("/score", {"rows": []}, Authorization="Basic secret")[0] == 401
        assert running.get("/healthz")[0] == 200
        assert running.get("/metrics")[0] == 401
    with pytest.raises(RuntimeError, match="only printable ASCII"), serving("reward", REWARDKIT_TOKEN="s\u00e9cret"):
        pass


@pytest.mark.slow
def test_a_full_queue_says_when_to_come_back() -> None:
    with serving("reward", "--queue", "2") as running:
        rows = [{"completion": f"sleep 1.{place}"} for place in range(2)]
        waiting = threading.Thread(target=running.post, args=("/score", {"rows": rows}))
        waiting.start()
        until(lambda: meter(running, "rewardkit_rows_waiting") == 2)
        status, said = running.post("/score", {"rows": rows[:1]})
        waiting.join()
        assert status == 429
        assert "at most 2 may wait" in said["error"]


@pytest.mark.slow
def test_stopping_answers_what_was_taken() -> None:
    with serving() as running:
        answers: list[object] = []
        asking = threading.Thread(target=lambda: answers.append(running.score("sleep 1")))
        asking.start()
        until(lambda: meter(running, "rewardkit_rows_waiting") == 1)
        running.process.send_signal(signal.SIGTERM)
        asking.join(30)
        assert len(answers) == 1
        assert running.process.wait(30) in (0, -signal.SIGTERM)


@pytest.mark.slow
def test_killing_the_server_ends_its_workers() -> None:
    with serving() as running:
        before = children(running.process.pid)
        assert len(before) == 2
        running.process.kill()
        until(lambda: not any(map(alive, before)))


def test_killing_the_server_ends_a_busy_worker() -> None:
    with serving() as running:
        before = children(running.process.pid)
        asking = threading.Thread(target=ignored, args=(running,), daemon=True)
        asking.start()
        until(lambda: meter(running, "rewardkit_rows_waiting") == 1)
        running.process.kill()
        until(lambda: not any(map(alive, before)))


def ignored(running: Served) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        running.score("regex")


def children(process: int) -> list[int]:
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as listed:
        return list(map(int, listed.read().split()))


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat", encoding="ascii") as status:
        return status.read().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
def test_everything_is_recorded(tmp_path: os.PathLike[str]) -> None:
    with serving("reward", "--record", os.fspath(tmp_path / "run")) as running:  # type: ignore[operator]
        running.score(*map(str, range(100)))
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(30)
    rows = rk.open_run(os.fspath(tmp_path / "run")).scores().fetchall()  # type: ignore[operator]
    assert len(rows) == 100
