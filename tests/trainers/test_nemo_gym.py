"""NeMo Gym's own servers, agent and rollout collection with `rk.to_nemo_gym` and with `rewardkit serve`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

import rewardkit as rk
from rewardkit.online.exports import Target, export_to
from tests.serve.served import Served, serving
from tests.trainers import nemo_gym_rewards, reward as shared
from tests.trainers.nemo_gym_rollouts import published
from tests.trainers.nemo_gym_servers import CHECKOUT, REWARDS, gym, resources_server, rollout, task
from tests.trainers.reward import agrees, expected, rows

from nemo_gym import rollout_collection, rollout_reverification  # isort: skip
from nemo_gym.config_types import maybe_get_server_instance_config  # isort: skip
from nemo_gym.reward_profile import compute_aggregate_metrics  # isort: skip
from omegaconf import OmegaConf  # isort: skip
from resources_servers.mcqa.app import MCQAResourcesServer  # isort: skip

SERVERS = sorted(
    name
    for name, value in vars(nemo_gym_rewards).items()
    if isinstance(value, rk.Reward) and (CHECKOUT / "resources_servers" / name).is_dir()
)
DIFFERENT = {
    ("mcqa", 2): 1.0,  # \boxed{C: An individual ...}; the server of today gives 1.0, too
    ("google_search", 4): 1.0,  # \boxed{\text{B}}: its pattern stops at the first brace
    ("math_with_code", 4): 1.0,  # \boxed{\sqrt{2}}: the same
    ("math_with_judge", 1): 0.0,  # equal powers beyond 4,000, which rk.math_equal does not compute
    ("physics_judge", 4): 0.0,  # rk.math_equal reads nRT as a word
    ("graphwalks", 1): None,  # rk.set_match takes no empty gold list: the row has failed
}
"""(server, row) -> our reward where it is not the published one; None for a rollout without a score."""


@pytest.mark.parametrize("server", SERVERS)
def test_published_rollouts_are_verified_again(server: str) -> None:
    given = published(CHECKOUT, server)
    with serving(server, file=nemo_gym_rewards.__file__, REWARDKIT_TOKEN="") as running:
        answers = [running.post("/verify", request) for request, _ in given]
    assert {status for status, _ in answers} == {200}
    found = {row: None if "_ng_failure_class" in said else said["reward"] for row, (_, said) in enumerate(answers)}
    assert found == {row: DIFFERENT.get((server, row), theirs) for row, (_, theirs) in enumerate(given)}
    assert all(said["reward"] == pytest.approx(sum(said["reward_components"].values())) for _, said in answers)
    assert len({frozenset(said["reward_components"]) for _, said in answers}) == 1


def test_the_multiple_choice_server_of_today_agrees_with_us() -> None:
    request, theirs = published(CHECKOUT, "mcqa")[2]
    app = resources_server(MCQAResourcesServer)
    assert theirs == 0.0
    assert asyncio.run(posted(app, [request]))[0]["reward"] == 1.0


async def posted(app: Any, requests: list[Any], path: str = "/verify") -> list[Any]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test", timeout=600) as client:
        answers = await asyncio.gather(*[client.post(path, json=request) for request in requests])
    assert {answer.status_code for answer in answers} == {200}
    return [answer.json() for answer in answers]


def test_totals_are_those_of_score() -> None:
    given = [(text.encode(errors="replace").decode(), gold) for text, gold in rows()]  # JSON has no half pairs
    app = resources_server(rk.to_nemo_gym(shared.reward, limits=rk.Limits(max_failure_rate=1.0)))
    said = asyncio.run(posted(app, [rollout(text, answer=gold) for text, gold in given]))
    totals = [None if "_ng_failure_class" in one else one["reward"] for one in said]
    wrong = [
        place for place, (own, total) in enumerate(zip(totals, expected(given), strict=True)) if not agrees(own, total)
    ]
    assert wrong == [], [(given[place], said[place]) for place in wrong[:3]]
    assert 100 < totals.count(None) < 2_000
    assert all(one["reward"] == 0.0 for one, total in zip(said, totals, strict=True) if total is None)
    assert len({frozenset(one) for one, total in zip(said, totals, strict=True) if total is not None}) == 1
    assert len({frozenset(one["reward_components"]) for one in said}) == 1


@pytest.fixture(scope="module")
def server() -> Any:
    with serving("reward", REWARDKIT_TOKEN="") as running:
        yield running


@pytest.fixture(params=["class", "served"])
def rewards(request: pytest.FixtureRequest, server: Served) -> Any:
    """The reward of `tests.serve.served`, in NeMo Gym's own server and in ours."""
    if request.param == "served":
        return server.url
    from tests.serve.served import reward

    return resources_server(rk.to_nemo_gym(reward, patience=0.0, limits=rk.Limits(max_failure_rate=1.0)))


def test_an_agent_gets_the_reward(rewards: Any) -> None:
    async def ran() -> tuple[int, Any]:
        async with gym(rewards) as running:
            return await running.run(task("42", answer="42", verifier_metadata={"level": 1}))

    status, said = asyncio.run(ran())
    assert status == 200
    assert said["reward"] == 0.75 + 0.25 / 3
    assert said["reward_components"] == {"acts": 0.75, "short": 0.25 / 3}
    assert {name: said[name] for name in ("terms/acts", "components/acts", "answer")} == {
        "terms/acts": 0.75, "components/acts": 1.0, "answer": "42",
    }  # fmt: skip


def test_failed_rollouts_are_not_collected(
    rewards: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [task(text, answer="42", agent_ref={"name": "agent"}) for text in ("42", "fail", "41", "skip", "raise")]
    (tmp_path / "tasks.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in tasks))
    config = rollout_collection.RolloutCollectionConfig(
        input_jsonl_fpath=str(tmp_path / "tasks.jsonl"),
        output_jsonl_fpath=str(tmp_path / "rollouts.jsonl"),
        num_repeats=1,
    )

    async def collected() -> None:
        async with gym(rewards) as running:
            monkeypatch.setattr(rollout_collection, "setup_server_client_utils", lambda _=None: running.client)
            await rollout_collection.RolloutCollectionHelper().run_from_config(config)

    asyncio.run(collected())
    kept = lines(tmp_path / "rollouts.jsonl")
    [failed] = lines(tmp_path / "rollouts_failures.jsonl")
    assert sorted(one["_ng_task_index"] for one in kept) == [0, 2, 3, 4]
    assert failed["_ng_task_index"] == 1
    assert failed["_ng_failure_judge_error"] == "acts: the judge is down"
    assert rollout_reverification._is_judge_failure(failed)
    assert failed["instance_config"] == {"mask_sample": True}
    [metrics] = json.loads((tmp_path / "rollouts_aggregate_metrics.json").read_text())
    assert metrics["key_metrics"]["mean/reward"] == pytest.approx(sum(one["reward"] for one in kept) / 4)
    assert metrics["key_metrics"]["mean/components/acts"] == pytest.approx(
        1 / 2
    )  # of two: one abstained, one has a bug


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_nemo_rl_gets_an_error_for_a_failed_rollout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit_adapters.nemo_gym.PATIENCE", 0.0)
    from tests.serve.served import reward

    retrying = resources_server(rk.to_nemo_gym(reward, patience=0.0, limits=rk.Limits(max_failure_rate=1.0)))
    masking = resources_server(
        rk.to_nemo_gym(reward, on_failure="mask", patience=0.0, limits=rk.Limits(max_failure_rate=1.0))
    )

    async def ran(app: Any) -> list[tuple[int, Any]]:
        async with gym(app) as running:
            return [await running.run(task(text, answer="42", _rowidx=0)) for text in ("42", "fail")]

    right, failed = asyncio.run(ran(retrying))
    assert right[0] == 200
    assert failed[0] == 500
    assert "this rollout has no score: acts: the judge is down" in failed[1]
    right, masked = asyncio.run(ran(masking))
    assert masked[0] == 200
    assert masked[1]["instance_config"] == {"mask_sample": True}
    assert masked[1]["reward"] == 0.0


def test_it_says_that_it_may_verify_again(rewards: Any) -> None:
    async def asked() -> Any:
        async with gym(rewards) as running:
            return await rollout_reverification._check_reverify_mode(running.client, {"agent": REWARDS})

    assert asyncio.run(asked()) == []


def test_observed_rollouts_are_verified_at_their_own_paths(rewards: Any) -> None:
    async def ran() -> tuple[int, Any]:
        async with gym(rewards) as running:
            running.config["observability_enabled"] = True
            return await running.post(
                REWARDS, "/verify", rollout("42", answer="42", _ng_task_index=3, _ng_rollout_index=1)
            )

    status, said = asyncio.run(ran())
    assert status == 200
    assert said["reward"] == 0.75 + 0.25 / 3


def test_statistics_are_those_of_nemo_gym(server: Served) -> None:
    texts = ["42", "41", "skip", "1 2 3", "", "42", "42"]
    replies = [server.post("/verify", rollout(text, answer="42"))[1] for text in texts]
    for place, one in enumerate(replies):
        one.update(_ng_task_index=place // 3, _ng_rollout_index=place % 3, passed=place > 2)
    replies[-1].pop("response")
    replies[0]["only_here"] = 7
    theirs = compute_aggregate_metrics(replies).model_dump()
    status, ours = server.post("/aggregate_metrics", {"verify_responses": replies})
    assert status == 200
    assert approximate(ours) == approximate(theirs)
    assert server.post("/aggregate_metrics", {"verify_responses": []})[1] == compute_aggregate_metrics([]).model_dump()


def approximate(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: approximate(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return list(map(approximate, value))
    return round(value, 12) if isinstance(value, (int, float)) else value


def test_the_exported_configuration_is_one(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import rewardkit as rk\nreward = rk.number('answer')\n")
    export = export_to("nemo-gym", Target("own", "reward", str(tmp_path)), {"nemo-gym": "rewardkit_adapters.nemo_gym"})
    given = OmegaConf.create(export.config.format(file="", folder=""))
    for name in given:
        config, error = maybe_get_server_instance_config(name, given[name])
        assert config is not None, error
