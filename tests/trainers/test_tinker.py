"""The page about Tinker with the cookbook: the totals of `rk.score`, and a failed completion is as if left out."""

from __future__ import annotations

import asyncio
import math
import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import rewardkit as rk
from tests.trainers.pages import load
from tests.trainers.reward import agrees, expected, rows
from tests.trainers.stubs import stub

stub("blobfile")

import tinker  # noqa: E402
from tinker_cookbook.completers import TokensWithLogprobs  # noqa: E402
from tinker_cookbook.renderers.role_colon import RoleColonRenderer  # noqa: E402
from tinker_cookbook.rl.data_processing import compute_advantages, trajectory_to_data  # noqa: E402
from tinker_cookbook.rl.metric_util import compute_trajectory_metrics  # noqa: E402
from tinker_cookbook.rl.rollouts import do_group_rollout  # noqa: E402
from tinker_cookbook.rl.types import TrajectoryGroup  # noqa: E402

PROMPT = [{"role": "user", "content": "2+2?"}]


class Letters:
    """A renderer whose tokens are characters."""

    def build_generation_prompt(self, messages: list[dict[str, str]]) -> Any:
        return tinker.ModelInput.from_ints([ord(letter) for message in messages for letter in message["content"]])

    def get_stop_sequences(self) -> list[str]:
        return []

    def parse_response(self, action: list[int]) -> tuple[dict[str, str], str]:
        return {"role": "assistant", "content": "".join(map(chr, action))}, "stop"


class Saying:
    """A policy that says one text after another."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = iter(texts)

    async def __call__(self, *_: Any, **__: Any) -> Any:
        tokens = [ord(letter) for letter in next(self._texts)]
        return TokensWithLogprobs(tokens=tokens, maybe_logprobs=[-0.1] * len(tokens))


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("tinker", tmp_path, monkeypatch)["my_envs"]


def rolled_out(page: ModuleType, texts: list[str], gold: str) -> Any:
    group = page.Group(Letters(), PROMPT, {"answer": gold}, len(texts))
    return asyncio.run(do_group_rollout(pickle.loads(pickle.dumps(group)), Saying(texts)))


def test_totals_are_those_of_score(page: ModuleType) -> None:
    given = sorted(rows(), key=lambda row: row[1])  # so that groups have one gold answer
    found: list[float] = []
    failed: list[bool] = []
    start = 0
    while start < len(given):
        gold = given[start][1]
        texts = [text for text, own in given[start : start + 16] if own == gold]
        group = rolled_out(page, texts, gold)
        found += group.get_total_rewards()
        failed += [metrics["failed"] == 1.0 for metrics in group.metrics_G]
        start += len(texts)
    totals = expected(given)
    assert failed == np.isnan(totals).tolist()
    assert 100 < sum(failed) < 2_000
    scored = [None if out else own for own, out in zip(found, failed, strict=True)]
    wrong = [place for place, (own, total) in enumerate(zip(scored, totals, strict=True)) if not agrees(own, total)]
    assert wrong == [], [(given[place], found[place]) for place in wrong[:3]]


TEXTS = ["It is 4", "x" * 32, "It is 5", "So it is 6"]


def data_of(group: Any) -> list[dict[str, list[float]]]:
    """Return the advantages and the masks of the tokens that each completion trains on."""
    (advantages,) = compute_advantages([group])
    return [
        {
            name: [one for datum in data for one in datum.loss_fn_inputs[name].to_torch().tolist()]
            for name in ("advantages", "mask")
        }
        for data in (
            trajectory_to_data(one, float(own)) for one, own in zip(group.trajectories_G, advantages, strict=True)
        )
    ]


def test_a_failed_completion_is_exactly_as_if_left_out(page: ModuleType) -> None:
    group = rolled_out(page, TEXTS, "4")
    (advantages,) = compute_advantages([group])
    (left_out,) = compute_advantages([rolled_out(page, [TEXTS[0], *TEXTS[2:]], "4")])
    assert abs(float(advantages[1])) < 1e-6
    torch.testing.assert_close(advantages[[0, 2, 3]], left_out, atol=1e-6, rtol=0)
    data = data_of(group)
    assert [max(one["mask"]) for one in data] == [1.0, 0.0, 1.0, 1.0]
    assert set(data[1]["advantages"]) == {0.0}


def test_the_table_of_what_a_failed_row_can_become(page: ModuleType) -> None:
    trajectories = rolled_out(page, TEXTS, "4").trajectories_G

    def advantages(*rewards: float) -> list[float]:
        (found,) = compute_advantages([TrajectoryGroup(trajectories, list(rewards), [{}] * 4)])
        return [round(one, 3) for one in found.tolist()]

    assert advantages(1.0, 1 / 3, 0.0, 0.0) == [0.667, 0.0, -0.333, -0.333]
    assert advantages(1.0, 0.0, 0.0, 0.0) == [0.75, -0.25, -0.25, -0.25]  # 0 punishes
    assert all(map(math.isnan, advantages(1.0, math.nan, 0.0, 0.0)))


def test_a_group_that_fails_as_a_whole_has_no_signal(page: ModuleType) -> None:
    group = rolled_out(page, ["x" * 32, "y" * 61], "4")
    assert group.get_total_rewards() == [0.0, 0.0]
    assert [max(one["mask"]) for one in data_of(group)] == [0.0, 0.0]


def test_a_renderer_of_the_cookbook_reads_the_answer(page: ModuleType) -> None:
    class Tokenizer:
        bos_token, eos_token_id = "", 3

        def encode(self, text: str, **_: Any) -> list[int]:
            return [ord(letter) for letter in text]

        def decode(self, ids: Any, **_: Any) -> str:
            return "".join(map(chr, ids))

    group = page.Group(RoleColonRenderer(Tokenizer()), PROMPT, {"answer": "4"}, 2)
    found = asyncio.run(do_group_rollout(group, Saying([" It is 4\n\nUser:", " It is 5\n\nUser:"])))
    assert found.get_total_rewards() == rk.score(page.reward, ["It is 4", "It is 5"], answer=["4", "4"]).total.tolist()


def test_terms_are_in_the_log(page: ModuleType) -> None:
    metrics = compute_trajectory_metrics([rolled_out(page, TEXTS, "4")], [[]])
    assert metrics["env/all/failed"] == 0.25
    assert {f"env/all/{name}" for name in page.SCORER.terms} <= set(metrics)
    assert all(math.isfinite(value) for value in metrics.values())


def test_rewards_that_compare_completions_work(page: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def shortest(completion: list[str]) -> list[float]:
        return [float(len(text) == min(map(len, completion))) for text in completion]

    monkeypatch.setattr(page, "SCORER", rk.Scorer(rk.reward(scope="group")(shortest)))
    assert rolled_out(page, ["4", "four"], "4").get_total_rewards() == [1.0, 0.0]
