"""The calls and costs of a judge in a training are in its record, step by step."""

from __future__ import annotations

from pathlib import Path

import pytest

import rewardkit as rk
from tests.rewards.judges.server import JudgeServer, verdict

pytest.importorskip("trl")
pytest.importorskip("apsw")
from tests.adapters.trl import tiny


@pytest.mark.slow
def test_calls_cost_and_hit_rate_of_each_step_are_recorded(tmp_path: Path) -> None:
    with JudgeServer(verdict(lambda request: len(request.text) % 11)) as server:
        judge = rk.judge(
            "Good?",
            model=rk.Endpoint("m", server.base_url),
            cache=str(tmp_path / "judged.sqlite"),
            budget=rk.Budget(money=1e6, prices={"m": (1e6, 1e6)}),
        )
        tiny.trainer(tmp_path, rk.to_trl(judge, record=tmp_path / "record"), max_steps=2).train()
    run = rk.open_run(tmp_path / "record")
    recorded: dict[str, list[float]] = {}
    for name, value in run.sql("SELECT name, value FROM metrics WHERE name LIKE 'judge%' ORDER BY step").fetchall():
        recorded.setdefault(name, []).append(value)
    calls, cost, rate = (recorded[f"judge_{what}/judge"] for what in ("calls", "cost", "cache_hit_rate"))
    assert len(calls) == len(cost) == len(rate) == 2
    assert sum(calls) == len(server.requests) > 0
    assert cost == recorded["judge_tokens/judge"]
    assert sum(cost) > 0
    assert all(0.0 <= share < 1.0 for share in rate)
