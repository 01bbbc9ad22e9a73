"""The paths of a resources server, with a stand-in for the workers and as a real process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rewardkit.online.rows import Row, RowScore
from rewardkit.serve.dialects import Answer, BadRequest
from rewardkit_adapters.nemo_gym import PATIENCE, aggregated, dialect
from tests.adapters.nemo_gym.test_rollouts import rollout, said
from tests.serve.served import serving

NAMES = ("right", "short")


def score_of(total: float | None, terms: Sequence[float | None], outcomes: Sequence[str], why: str = "") -> RowScore:
    values = dict(zip(NAMES, terms, strict=True))
    return RowScore(total, values, values, dict(zip(NAMES, outcomes, strict=True)), {}, (why,) if why else ())


RIGHT = score_of(0.8, (0.75, 0.05), ("scored", "scored"))
PARTLY = score_of(0.05, (None, 0.05), ("abstained", "scored"))
FAILED = score_of(None, (None, None), ("failed", "scored"), "right: the judge is down")
ABSTAINED = score_of(None, (None, None), ("abstained", "abstained"))


class Workers:
    """Gives out one score, and remembers how long it was to try."""

    def __init__(self, score: RowScore) -> None:
        self.score = score
        self.patience = -1.0

    async def __call__(self, rows: Sequence[Row], *, patience: float = 0.0, **_: Any) -> list[RowScore]:
        assert len(rows) == 1
        self.patience = patience
        return [self.score]


def verified(score: RowScore, **fields: Any) -> Answer:
    return asked(Workers(score), answer="4", **fields)


def asked(workers: Workers, **fields: Any) -> Answer:
    async def answered() -> Answer:
        return await dialect["/verify"](rollout([said("4")], **fields), workers)

    return asyncio.run(answered())


def test_a_rollout_comes_back_with_its_reward() -> None:
    answer = verified(RIGHT)
    request = rollout([said("4")], answer="4")
    assert answer.status == 200
    assert answer.content == {
        **request,
        "reward": 0.8,
        "reward_components": {"right": 0.75, "short": 0.05},
        "terms/right": 0.75,
        "terms/short": 0.05,
        "components/right": 0.75,
        "components/short": 0.05,
    }


def test_what_abstained_adds_nothing_and_is_not_counted() -> None:
    said = verified(PARTLY).content
    assert said["reward_components"] == {"right": 0.0, "short": 0.05}
    assert said["terms/right"] is None
    assert said.keys() == verified(RIGHT).content.keys()


def test_a_rollout_without_a_score_is_marked_for_both_readers() -> None:
    said = verified(FAILED, instance_config={"image": "x"}).content
    assert said["reward"] == 0.0
    assert set(said["reward_components"].values()) == {0.0}
    assert said["_ng_failure_class"] == "judge_failed"
    assert said["_ng_failure_judge_error"] == "right: the judge is down"
    assert said["instance_config"] == {"image": "x", "mask_sample": True}
    assert "_ng_failure_terminal" not in said


def test_a_rollout_that_no_reward_applies_to_is_not_tried_again() -> None:
    assert verified(ABSTAINED).content["_ng_failure_terminal"] is True


def test_marks_of_an_earlier_try_are_removed() -> None:
    assert "_ng_failure_class" not in verified(RIGHT, _ng_failure_class="judge_failed").content


@pytest.mark.parametrize("score", [FAILED, ABSTAINED])
def test_nemo_rl_gets_an_error_instead_of_a_0(score: RowScore) -> None:
    answer = verified(score, _rowidx=0)
    assert answer.status == 503
    assert "this rollout has no score: " in answer.content["error"]
    assert verified(RIGHT, _rowidx=0).content["reward"] == 0.8


def test_only_nemo_rl_has_to_wait() -> None:
    for fields, patience in (({}, 0.0), ({"_rowidx": 3}, PATIENCE)):
        workers = Workers(RIGHT)
        asked(workers, **fields)
        assert workers.patience == patience


@pytest.mark.slow
def test_the_other_paths() -> None:
    with serving("reward", REWARDKIT_TOKEN="") as running:
        assert running.get("/reverify_mode") == (200, "stateless")
        assert running.post("/seed_session", {}) == (200, {})
        assert running.post("/ng-rollout/0-1-a2/seed_session", {}) == (200, {})
        status, reply = running.post("/ng-rollout/0-1/verify", rollout([said("42")], answer="42"))
        assert (status, reply["reward"]) == (200, 0.75 + 0.25 / 3)
        reply |= {"_ng_task_index": 0, "_ng_rollout_index": 0}
        metrics = running.post("/aggregate_metrics", {"verify_responses": [reply]})[1]
        assert metrics["key_metrics"]["mean/terms/acts"] == 0.75
        assert running.post("/verify", {})[0] == 422
        assert running.post("/reverify_mode", {})[0] == 405


def reply(task: int, rollout: int, **numbers: Any) -> dict[str, Any]:
    return {"_ng_task_index": task, "_ng_rollout_index": rollout, **numbers}


def test_statistics_of_tasks_and_of_all_rollouts() -> None:
    usage = {"response": {"usage": {"output_tokens": 7, "input_tokens_details": {}}}}
    found = aggregated(
        [
            reply(1, 0, reward=0.5, **{"terms/right": None}),
            reply(0, 1, reward=0.0, passed=False, text="x", **{"terms/right": 0.0}),
            reply(0, 0, reward=1.0, passed=True, **{"terms/right": 1.0}, **usage),
        ]
    )
    first, second = found["group_level_metrics"]
    assert found["key_metrics"] == {
        "mean/reward": 0.5, "mean/passed": 0.5, "mean/terms/right": 0.5, "mean/output_tokens": 7.0,
    }  # fmt: skip
    assert found["agent_metrics"]["std/reward"] == 0.5
    assert (first["mean/reward"], first["std/reward"], first["num_rollouts"]) == (0.5, pytest.approx(0.5**0.5), 2)
    assert "std/output_tokens" not in first  # one number among two rollouts
    assert (second["median/reward"], second["std/reward"]) == (0.5, 0.0)
    assert [one["rollout_id"] for one in first["rollout_infos"]] == ["0:0", "0:1"]
    assert first["rollout_infos"][0]["output_tokens"] == 7


def test_nothing_has_no_statistics() -> None:
    assert aggregated([]) == {"group_level_metrics": [], "agent_metrics": {}, "key_metrics": {}}


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        ([{"reward": 1.0}], "each item of verify_responses must be an object with the numbers '_ng_task_index'"),
        ([reply(0, 1), reply(0, 1)], "two verify responses have the same _ng_task_index 0 and _ng_rollout_index 1"),
    ],
)
def test_replies_that_are_no_rollouts_are_refused(replies: list[Any], why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        aggregated(replies)


def test_a_rollout_whose_gold_cannot_be_read_is_masked_and_not_asked_for_again() -> None:
    answer = verified(replace(FAILED, unparsable=True), _rowidx=0)
    assert (answer.status, answer.content["reward"]) == (200, 0.0)
    assert answer.content["instance_config"] == {"mask_sample": True}
    assert answer.content["_ng_failure_terminal"] is True
    assert verified(FAILED, _rowidx=0).status == 503
