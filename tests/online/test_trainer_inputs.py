"""A reward that needs what a trainer does not hand over is refused when it is made, with the reason."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given

import rewardkit as rk
from rewardkit.combine.curriculum import Stage
from rewardkit.errors import RewardDefinitionError
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.tree.evaluation.scorer import Scorer
from tests import trees

ALL = TrainerInputs("all", step=True, groups=True, ids=True)


@rk.reward
def right(completion: str) -> float:
    return 1.0


@rk.reward
def asks(completion: str, prompt: str) -> float:
    return 1.0


@rk.reward
def may_ask(completion: str, prompt: str = "") -> float:
    return 1.0


@rk.reward
def counts(completion: str, completion_ids: list[int]) -> float:
    return 1.0


@rk.reward
def waits(completion: str, progress: rk.Progress) -> float:
    return 1.0


@rk.reward(scope="group")
def first(completion: list[str]) -> list[float]:
    return [1.0 for _ in completion]


def trl(prompts: Sequence[Any], completions: Sequence[Any], **kwargs: Any) -> list[float]:
    return [1.0 for _ in completions]


def trl_ids(completions: Sequence[Any], completion_ids: Sequence[Any], **kwargs: Any) -> list[float]:
    return [1.0 for _ in completions]


def trl_state(completions: Sequence[Any], trainer_state: Any, **kwargs: Any) -> list[float]:
    return [1.0 for _ in completions]


LINEAR = rk.schedules.linear(0.0, 1.0)
REFUSED: dict[str, tuple[rk.Reward, str]] = {
    "prompt": (asks, "asks for 'prompt', which does not arrive"),
    "prompt in a gate": (rk.gate(asks, right), "'asks' asks for 'prompt'"),
    "monitored prompt": (right + rk.monitor(asks), "'asks' asks for 'prompt'"),
    "prompts of TRL": (rk.from_trl(trl), "'trl' asks for 'prompt'"),
    "ids": (counts, "asks for 'completion_ids'"),
    "ids of TRL": (rk.from_trl(trl_ids), "'trl_ids' asks for 'completion_ids'"),
    "schedule": (
        LINEAR * right,
        r"follows training progress \(linear\(0, 1\)\), but the trainer "
        r"does not pass the step",
    ),
    "curriculum": (rk.curriculum([Stage("a", right, until=0.5), Stage("b", waits)]), "follows training progress"),
    "progress": (waits, r"follows training progress \('waits' reads it\)"),
    "state of TRL": (rk.from_trl(trl_state), r"follows training progress \('trl_state' reads it\)"),
    "group": (right + first, "any: 'first' compares completions, but completions arrive one at a time"),
    "rank": (rk.rank_in_group(right), "compares completions"),
    "batch": (
        right + rk.normalize(may_ask, by="batch"),
        "compares completions, but the trainer's batch never arrives as a whole",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_arrive_is_refused(name: str) -> None:
    reward, said = REFUSED[name]
    with pytest.raises(RewardDefinitionError, match=said) as refused:
        TrainerInputs("any", prompt=False, instead="Do this.").check(Scorer(reward))
    assert str(refused.value).startswith("any: ")
    assert str(refused.value).endswith(" Do this.")


@pytest.mark.parametrize("name", [name for name in REFUSED if name != "batch"])
def test_what_arrives_is_scored(name: str) -> None:
    ALL.check(Scorer(REFUSED[name][0]))


def test_schedules_that_follow_the_scores_are_refused() -> None:
    follower = rk.schedules.when_reached(right, 0.5) * asks
    with pytest.raises(RewardDefinitionError, match=r"follows earlier scores of the reward, but .* several processes"):
        ALL.check(Scorer(right + follower))


def test_a_batch_of_the_trainer_never_arrives() -> None:
    with pytest.raises(RewardDefinitionError, match=r"all: .* compares completions, but the trainer's batch"):
        ALL.check(Scorer(rk.normalize(right, by="batch")))


def test_a_prompt_that_is_optional_is_missed_with_a_warning() -> None:
    with pytest.warns(
        rk.errors.RewardKitWarning,
        match="'may_ask' asks for 'prompt', which does not arrive .* scores completions without it",
    ):
        TrainerInputs("any", prompt=False).check(Scorer(may_ask))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ALL.check(Scorer(may_ask))


@given(trees.trees(groups=True))
def test_trees_are_refused_if_and_only_if_they_compare_or_follow(reward: rk.Reward) -> None:
    scorer = Scorer(reward)
    needs = scorer.together != "sample" or scorer.scheduled
    try:
        TrainerInputs("any").check(scorer)
    except RewardDefinitionError:
        assert needs
    else:
        assert not needs
    ALL.check(scorer)


def test_a_function_of_the_whole_batch_needs_the_batch() -> None:
    @rk.reward(scope="batch")
    def longest(completion: list[str]) -> list[float]:
        return [float(len(one) == max(map(len, completion))) for one in completion]

    with pytest.raises(rk.RewardDefinitionError, match="'longest' compares completions, but the trainer's batch"):
        TrainerInputs("any").check(rk.Scorer(longest))
    TrainerInputs("any", batch=True).check(rk.Scorer(longest))
