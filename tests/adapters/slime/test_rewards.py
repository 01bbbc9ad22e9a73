"""to_slime: samples are scored without blocking the event loop, and one without a score is left out or ends the run."""

from __future__ import annotations

import asyncio
import functools
import pickle
import sys
import time
from typing import Any

import pytest

import rewardkit as rk
from tests.adapters.slime.samples import Sample, Status, bound, settings


@rk.reward
def same(completion: str, answer: str) -> float | None:
    """Return whether it is the answer; fail on "down", abstain on "none"."""
    if completion == "down":
        raise rk.RewardFailure("the judge is down")
    return None if completion == "none" else float(completion == answer)


def score(rewards: Any, sample: Any, **given: Any) -> Any:
    return asyncio.run(rewards.score(settings(**given), sample))


def test_a_sample_and_a_list_are_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = bound(monkeypatch, same)
    assert score(rewards, Sample("4")) == 1.0
    assert score(rewards, [Sample("4"), Sample("5")]) == [1.0, 0.0]
    assert score(rewards, []) == []
    assert score(rewards, [Sample("4"), Sample("5")], group_rm=True) == [1.0, 0.0]


def test_metadata_and_label_are_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    @rk.reward
    def reads(completion: str, prompt: str, answer: str, label: str, level: int, completion_ids: list[int]) -> float:
        return float([prompt, answer, label, level, completion_ids] == ["2+2=", "4", "4", 3, [2, 3]])

    sample = Sample("4", metadata={"level": 3, "answer": "other", "start_rollout_id": 1}, response_length=2)
    assert score(bound(monkeypatch, reads), sample) == 1.0
    rewards = bound(monkeypatch, same, gold="answer")
    assert score(rewards, Sample("7", label=None, metadata={"answer": "7"})) == 1.0
    assert score(rewards, Sample("7", label="7", metadata=None)) == 1.0


def test_the_usual_end_token_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(rk.errors.RewardKitWarning, match="slime passes completions with special tokens"):
        assert score(bound(monkeypatch, same), Sample("4<|im_end|>")) == 1.0
    assert score(bound(monkeypatch, same, special_tokens=["<|x|>", "<|im_end|>"]), Sample("<|x|>4<|im_end|>")) == 1.0


def test_the_event_loop_goes_on_while_a_reward_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    @rk.reward
    def slow(completion: str) -> float:
        time.sleep(0.3)
        return 1.0

    async def both() -> tuple[float, int]:
        scoring = asyncio.ensure_future(bound(monkeypatch, slow).score(settings(), Sample("4")))
        turns = 0
        while not scoring.done():
            await asyncio.sleep(0.01)
            turns += 1
        return scoring.result(), turns

    found, turns = asyncio.run(both())
    assert found == 1.0
    assert turns > 5


@pytest.mark.parametrize(("text", "why"), [("down", "the judge is down"), ("none", "every component abstained")])
def test_a_sample_without_a_score_is_masked(text: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = Sample(text)
    assert score(bound(monkeypatch, same), sample) == 0.0
    assert sample.remove_sample
    assert why in (sample.metadata or {})["rewardkit"]["unscored"]


def test_a_deadline_leaves_a_sample_without_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    @rk.reward
    def slow(completion: str) -> float:
        time.sleep(0.5)
        return 1.0

    sample = Sample("4")
    assert score(bound(monkeypatch, slow, deadline=0.05), sample) == 0.0
    assert sample.remove_sample


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"custom_reward_post_process_path": None}, r"pass --custom-reward-post-process-path my_rewards\.normalize"),
        ({"custom_reward_post_process_path": "os.path.join"}, r"Set normalize = rewards\.normalize"),
        ({"custom_convert_samples_to_train_data_path": "a.b"}, "slime would treat any number as its score"),
    ],
)
def test_without_normalize_a_sample_without_a_score_ends_the_run(
    given: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewards = bound(monkeypatch, same)
    with pytest.raises(rk.RewardFailure, match=f"same: the judge is down.*{why}"):
        score(rewards, Sample("down"), **given)
    assert score(rewards, Sample("4"), **given) == 1.0


def test_normalize_may_be_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = bound(monkeypatch, same)

    @functools.wraps(rewards.normalize)
    def own(args: Any, samples: Any) -> Any:
        return rewards.normalize(args, samples)

    monkeypatch.setattr(sys.modules["slime_rewards"], "normalize", own)
    assert score(rewards, Sample("down")) == 0.0


def test_in_evaluation_the_log_function_leaves_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = bound(monkeypatch, same)
    assert score(rewards, Sample("down", group_index=None), custom_reward_post_process_path=None) == 0.0
    with pytest.raises(rk.RewardFailure, match=r"--custom-eval-rollout-log-function-path my_rewards\.log_eval"):
        score(rewards, Sample("down", group_index=None), custom_eval_rollout_log_function_path=None)


def test_a_key_makes_dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = bound(monkeypatch, 0.5 * same + 0.5 * rk.length.between(1, 3, unit="characters").named("short"))
    found = score(rewards, Sample("4"), reward_key="score", eval_reward_key="components/same")
    names = {"same": 0.5, "short": 0.5, "components/same": 1.0, "components/short": 1.0}
    assert found == {"score": 1.0, **names}
    failed = score(rewards, Sample("down"), reward_key="score")
    assert failed.keys() == found.keys()
    with pytest.raises(rk.RewardDefinitionError, match="Pass --reward-key score"):
        score(rewards, Sample("4"), reward_key="same")
    with pytest.raises(rk.RewardDefinitionError, match="Pass --reward-key score"):
        score(rewards, Sample("4"), eval_reward_key="same")
    with pytest.raises(
        rk.RewardDefinitionError,
        match=r"the number 'right' for --eval-reward-key. Available "
        r"numbers: same",
    ):
        score(rewards, Sample("4"), reward_key="score", eval_reward_key="right")


def test_rewards_that_compare_completions_need_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = bound(monkeypatch, rk.diversity())
    group = [Sample(text) for text in ("one thing", "one thing", "something else entirely")]
    found = score(rewards, group, group_rm=True)
    assert found == rk.score(rk.diversity(), [one.response for one in group], num_generations=3).total.tolist()
    assert found[0] < found[2]
    for given in (group, group[0]):
        with pytest.raises(
            rk.RewardDefinitionError, match=r"compares the completions for each prompt\. Add --group-rm"
        ):
            score(rewards, given)


def test_a_deadline_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    @rk.reward(scope="group")
    def slow(completion: list[str]) -> list[float]:
        time.sleep(0.5)
        return [1.0 for _ in completion]

    group = [Sample("4"), Sample("5")]
    assert score(bound(monkeypatch, slow, deadline=0.05), group, group_rm=True) == [0.0, 0.0]
    assert all(sample.remove_sample for sample in group)


def test_rollouts_of_several_samples_have_no_place_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="Drop --group-rm"):
        score(bound(monkeypatch, same), [[Sample("4")], [Sample("5")]], group_rm=True)


def test_schedules_follow_the_rollouts(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = bound(monkeypatch, same * rk.schedules.linear(0.0, 1.0))
    samples = [Sample("4") for _ in range(3)]
    for sample, rollout in zip(samples, (0, 50, 100), strict=True):
        rewards.step(settings(), sample, rollout_id=rollout, evaluation=False)
    assert score(rewards, samples) == [0.0, 0.5, 1.0]
    for given in ({}, {"num_rollout": None}):
        sample = Sample("4")
        if given:
            rewards.step(settings(), sample, rollout_id=1)
        with pytest.raises(rk.RewardDefinitionError, match=r"Pass --rollout-sample-hook-path .* and --num-rollout"):
            score(rewards, sample, **given)


def test_the_step_is_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    rewards = bound(monkeypatch, same, record=tmp_path / "run")
    for rollout, evaluation in ((3, False), (4, True)):
        sample = Sample("4")
        rewards.step(settings(), sample, rollout_id=rollout, evaluation=evaluation)
        score(rewards, sample)
    rewards._requests.scorer.flush()
    found = rk.open_run(tmp_path / "run").scores(training=None).df()
    assert sorted(zip(found.step, found.training, strict=True)) == [(3, True), (4, False)]


def test_too_many_failures_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = bound(monkeypatch, same)
    for _ in range(19):
        score(rewards, [Sample("down") for _ in range(64)])
    for _ in range(2):
        with pytest.raises(rk.RewardFailure, match="'same' failed on 1,280 of 1,280"):
            score(rewards, [Sample("down") for _ in range(64)])


def test_an_errored_sample_is_the_lowest_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    @rk.reward(bounds=(-1.0, 1.0))
    def buggy(completion: str) -> float:
        raise ValueError("bug")

    sample = Sample("4")
    assert score(bound(monkeypatch, buggy), sample) == -1.0
    assert not sample.remove_sample


def test_a_sample_that_was_cut_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = bound(monkeypatch, rk.agents.finished())
    assert score(rewards, [Sample("4"), Sample("4", status=Status.TRUNCATED)]) == [1.0, 0.0]


def test_examples_are_tried_at_once() -> None:
    with pytest.raises(rk.errors.BindingError, match="answer"):
        rk.to_slime(same, examples=[{"gold": "4"}])
    rk.to_slime(same, examples=[{"answer": "4"}])


def test_the_functions_can_be_pickled() -> None:
    rewards = pickle.loads(pickle.dumps(rk.to_slime(rk.exact("answer"))))
    assert score(rewards, Sample("4")) == 1.0


def test_a_sample_whose_gold_cannot_be_read_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = bound(monkeypatch, rk.number("answer") + rk.length.between(1, 3, unit="characters"))
    sample = Sample("4", label="N/A")
    assert score(rewards, sample) == 0.0
    assert sample.remove_sample
    assert "column 'answer': 'N/A' cannot be parsed" in (sample.metadata or {})["rewardkit"]["unscored"]
    assert score(rewards, Sample("4")) == 2.0
