"""A real GRPO run, judged by a real language model behind a real OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from tests.rewards.judges.server import JudgeServer, verdict

pytest.importorskip("trl")
pytest.importorskip("openai")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from tests.adapters.trl import tiny
from tests.rewards.judges import tiny_judge

pytestmark = pytest.mark.slow

RUBRIC = "How late in the alphabet are these letters? Zero if all are early."


def judge(base_url: str, model: str, **options: Any) -> rk.Reward:
    return rk.judge(RUBRIC, model=rk.Endpoint(model, base_url, concurrency=4, deadline=120.0), scale=(0, 8), **options)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A judge trained on the requests that it will get."""
    texts = list(dict.fromkeys(tiny_judge.some_texts(600)))
    with JudgeServer(verdict(0)) as server:
        rk.score(judge(server.base_url, "any"), texts)
        asked = {request.messages[-1]["content"]: request.messages for request in server.requests}
    by_text = [next(each for said, each in asked.items() if f"\n{text}\n" in said) for text in texts]
    return tiny_judge.taught(tmp_path_factory.mktemp("judge"), by_text, texts)


@pytest.fixture(scope="module")
def endpoint(model: str) -> Iterator[str]:
    with tiny_judge.served(model) as base_url:
        yield base_url


def test_its_verdicts_are_those_it_was_trained_on(endpoint: str, model: str) -> None:
    texts = tiny_judge.some_texts(24, seed=1)
    table = rk.score(judge(endpoint, model), texts)
    assert not np.isnan(table.total).any()
    right = np.array([tiny_judge.late(text) / 4 for text in texts])
    assert (table.total == right).mean() > 0.7
    assert "late letters" in table.notes["judge"][0]


def test_a_training_that_it_judges(endpoint: str, model: str, tmp_path: Path) -> None:
    def rewards(reward: rk.Reward) -> list[dict[str, float]]:
        trainer = tiny.trainer(tmp_path, rk.to_trl(reward), max_steps=40, learning_rate=2e-2)
        trainer.train()
        return [entry for entry in trainer.state.log_history if "reward" in entry]

    kept = str(tmp_path / "judged.sqlite")
    logged = rewards(judge(endpoint, model, cache=kept))
    assert len(logged) == 40
    assert sum(entry["judge_calls/judge"] for entry in logged) > 0
    assert all(entry["judge_failures/judge"] == 0.0 == entry["unscorable"] for entry in logged)
    first, last = (np.mean([entry["reward"] for entry in part]) for part in (logged[:10], logged[-10:]))
    assert last > first + 0.1  # the policy writes later letters, which is what the judge asks for

    nobody = "http://127.0.0.1:9/v1"
    replayed = rewards(judge(nobody, model, cache=rk.Cache(kept, replay=True)))
    assert [entry["reward"] for entry in replayed] == [entry["reward"] for entry in logged]
    assert sum(entry["judge_calls/judge"] for entry in replayed) == 0
