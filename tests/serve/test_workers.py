"""Rows that harm their worker process, and files that do not load: no other row notices."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve import hostile
from tests.serve.served import Served, serving
from tests.serve.test_serving import meter
from tests.waiting import until

DIED = ["its worker process crashed 3 times while the row was scored"]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving(file=hostile.__file__, REWARDKIT_TOKEN="") as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize(
    ("completion", "total", "reasons"),
    [
        ("interrupt", None, ["the reward could not be run: KeyboardInterrupt: "]),
        ("close", None, DIED),
        ("exit", None, DIED),
        ("leave a child", None, DIED),
        ("fork", 0.5, []),
    ],
)
def test_what_a_reward_does_to_its_process_costs_only_its_row(
    server: Served, completion: str, total: float | None, reasons: list[str]
) -> None:
    began = time.monotonic()
    found = server.score("1", completion, "2")
    assert [row["total"] for row in found] == [0.5, total, 0.5]
    assert found[1]["reasons"] == reasons
    assert server.score("3", "4", "5")[2]["total"] == 0.5
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("depth", [500, 900, 100_000])
def test_json_that_is_nested_too_deeply_costs_only_its_row(server: Served, depth: int) -> None:
    deep = "[" * depth + "]" * depth
    body = '{"rows": [{"completion": "1"}, {"completion": "2", "columns": {"answer": ' + deep + "}}]}"
    status, said = server.post("/score", body.encode())
    if status == 200:
        assert [row["total"] for row in said["rows"]] == [0.5, None]
        assert "RecursionError" in said["rows"][1]["reasons"][0]
    else:
        assert (status, "recursion" in json.dumps(said)) == (400, True)
    assert server.score("3")[0]["total"] == 0.5


@pytest.mark.slow
def test_a_slow_row_is_not_blamed_for_what_others_do_beside_it() -> None:
    with serving("reward", "--workers", "1", file=hostile.__file__) as running:
        found = running.score(*[f"die {place}" for place in range(2)], "sleep 0.3", "sleep 0.31")
        assert [row["total"] for row in found] == [None] * 2 + [0.5] * 2


@pytest.mark.slow
def test_many_rows_that_hang_cost_no_other_row_its_score() -> None:
    with serving("reward", "--deadline", "30", file=hostile.__file__) as running:
        found = running.score(*[f"sleep 4{place}" for place in range(8)], *map(str, range(40)))
        assert [row["total"] for row in found] == [None] * 8 + [0.5] * 40


@pytest.mark.slow
def test_a_request_with_a_short_deadline_kills_no_worker(server: Served) -> None:
    before = meter(server, "rewardkit_worker_batches_lost_total")
    assert server.score("sleep 0.8", deadline=0.1)[0]["reasons"] == ["no score within the deadline of 0.1 s"]
    assert server.score("sleep 0.8")[0]["total"] == 0.5  # begun later: the first one is over, or was killed
    assert meter(server, "rewardkit_worker_batches_lost_total") == before


SCORES = """
import os
import rewardkit as rk

@rk.reward
def reward(completion: str) -> float:
    if completion == "die":
        os._exit(1)
    return {value}
"""


@pytest.mark.slow
def test_a_file_that_changes_meanwhile_is_not_scored_with(tmp_path: Path) -> None:
    file = tmp_path / "reward.py"
    file.write_text(SCORES.format(value=0.5), encoding="utf-8")
    with serving(file=str(file)) as running:
        assert running.score("1")[0]["total"] == 0.5
        file.write_text(SCORES.format(value=0.25), encoding="utf-8")
        fatal = {"rows": [{"completion": "die"}], "deadline": 2}
        until(lambda: running.post("/score", fatal)[0] != 200)  # each worker has died and found the other file
        status, said = running.post("/score", fatal)
        assert (status, "has changed since the server started" in json.dumps(said)) == (503, True)
        assert running.get("/readyz")[0] == 503
        file.write_text(SCORES.format(value=0.5), encoding="utf-8")
        assert scored_again(running)


@pytest.mark.parametrize("line", [pytest.param("os._exit(1)", marks=pytest.mark.slow), "raise SystemExit(1)"])
def test_a_file_whose_import_ends_the_process_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "reward.py"
    file.write_text(SCORES.format(value=0.5) + line + "\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"reward\.py"), serving(file=str(file)):
        pass


@pytest.mark.slow
def test_a_worker_that_cannot_load_its_reward_tries_again(tmp_path: Path) -> None:
    file, broken = tmp_path / "reward.py", tmp_path / "broken"
    file.write_text(SCORES.format(value=0.5) + f"assert not os.path.exists({str(broken)!r})\n", encoding="utf-8")
    with serving("reward", "--workers", "1", file=str(file)) as running:
        broken.touch()
        assert running.score("die", deadline=0.5)[0]["total"] is None
        until(lambda: running.get("/readyz")[0] == 503)
        broken.unlink()
        assert scored_again(running)


def scored_again(running: Served) -> bool:
    until(lambda: running.get("/readyz")[0] == 200)
    total: float | None = running.score("1")[0]["total"]
    return total == 0.5
