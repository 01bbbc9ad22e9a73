"""What the functions read from the trainer that calls them, and what they refuse or warn about."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.online.trainers import progress_of
from rewardkit_adapters.trl.trainer import Trainer
from tests.adapters.trl.stand_ins import StandInTrainer, call, plain, polite, short

pytest.importorskip("trl")


@rk.reward(scope="group")
def best(completion: list[str]) -> list[float]:
    """1 for the longest of a group."""
    longest = max(map(len, completion))
    return [float(len(text) == longest) for text in completion]


# Training or evaluation


def test_schedules_have_their_end_value_in_evaluation() -> None:
    functions = rk.to_trl(short * rk.schedules.linear(0.0, 1.0) + polite)
    trainer = StandInTrainer(functions, step=5)
    assert trainer.rewards([""]).tolist() == [0.5 - 1.0]
    trainer.model.training = False
    assert trainer.rewards([""]).tolist() == [1.0 - 1.0]
    trainer.model.training = True
    assert trainer.rewards([""]).tolist() == [0.5 - 1.0]


def test_trainer_weights_have_their_end_value_in_evaluation() -> None:
    functions = rk.to_trl(short * rk.schedules.linear(0.0, 1.0) + polite, outputs="components")
    trainer = StandInTrainer(functions, reward_weights=functions.reward_weights, step=5)
    for training, weight in ((True, 0.5), (False, 1.0), (True, 0.5)):
        trainer.model.training = training
        assert trainer.rewards([""]).tolist() == [weight - 1.0]


def test_a_reward_function_sees_progress_of_training_and_none_of_evaluation() -> None:
    seen: list[tuple[int, bool]] = []

    @rk.reward
    def watching(completion: str, progress: rk.Progress) -> float:
        seen.append((progress.step, progress.training))
        return 0.0

    trainer = StandInTrainer(rk.to_trl(watching), step=3)
    trainer.rewards(["a"])
    trainer.model.training = False
    trainer.rewards(["a"])
    assert seen == [(3, True), (3, False)]


# Groups


def test_groups_are_cut_by_the_generations_of_the_mode() -> None:
    trainer = StandInTrainer(rk.to_trl(best), num_generations=3, num_generations_eval=2)
    texts = ["a", "bbb", "cc", "d", "ee", "f"]
    assert trainer.rewards(texts).tolist() == [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    trainer.model.training = False
    assert trainer.rewards(texts).tolist() == [0.0, 1.0, 1.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("reward", [best, rk.fallback(short, polite), rk.product(short, best)], ids=repr)
def test_a_part_of_a_group_is_an_error_for_rewards_that_compare(reward: rk.Reward) -> None:
    trainer = StandInTrainer(rk.to_trl(reward), num_generations=4)
    with pytest.raises(rk.errors.BindingError, match="a multiple of num_generations"):
        trainer.rewards(["a", "b"])


def test_a_part_of_a_group_is_fine_for_all_others() -> None:
    assert StandInTrainer(rk.to_trl(short), num_generations=4).rewards(["", ""]).tolist() == [1.0, 1.0]


# The weights that the trainer holds


@pytest.mark.parametrize(
    ("columns", "held", "hint"),
    [
        ("components", None, r"pass GRPOConfig\(reward_weights=funcs.reward_weights\)$"),
        (
            "components",
            [2.0, 0.5],
            r"\{'short': 2.0, 'polite': 0.5\}, but the reward needs \{'short': 0.5, 'polite': 2.0\}",
        ),
        ("terms", [0.5, 2.0], r"rk\.to_trl\(0\.25 \* short \+ 4\.0 \* polite\), and remove reward_weights"),
    ],
)
def test_wrong_weights_are_an_error_at_the_first_call(columns: Any, held: list[float] | None, hint: str) -> None:
    functions = rk.to_trl(0.5 * short + 2.0 * polite, outputs=columns)
    trainer = StandInTrainer(functions, reward_weights=held)
    for _ in range(2):  # a caught error must not open the way
        with pytest.raises(rk.RewardFailure, match=hint):
            trainer.rewards(["a"])


@pytest.mark.parametrize(
    "copied", [list, copy.copy, copy.deepcopy, lambda functions: pickle.loads(pickle.dumps(functions))]
)
def test_wrong_weights_of_a_copied_list_are_an_error_too(copied: Callable[[Any], Any]) -> None:
    functions = copied(rk.to_trl(0.5 * short + 2.0 * polite, outputs="components"))
    with pytest.raises(rk.RewardFailure, match="reward weights"):
        StandInTrainer(functions).rewards(["a"])
    scheduled = copied(rk.to_trl(short * rk.schedules.linear(0.0, 1.0) + polite, outputs="components"))
    trainer = StandInTrainer(scheduled, reward_weights=[0.0, 1.0], step=5)
    assert trainer.rewards([""]).tolist() == [0.5 - 1.0]


def test_wrong_weights_of_a_second_trainer_are_an_error_too() -> None:
    functions = rk.to_trl(0.5 * short + 2.0 * polite, outputs="components")
    StandInTrainer(functions, reward_weights=[0.5, 2.0]).rewards(["a"])
    with pytest.raises(rk.RewardFailure, match="reward weights"):
        StandInTrainer(functions).rewards(["a"])


def test_weights_are_compared_as_float32() -> None:
    weights = [0.1, 1 / 3, 1e-4, 123456.789]
    rewards = [rk.from_trl(plain, name=f"plain{number}") for number in range(4)]
    functions = rk.to_trl(rk.weighted_sum(list(zip(weights, rewards, strict=True))), outputs="components")
    StandInTrainer(functions, reward_weights=functions.reward_weights).rewards(["a"])


@pytest.mark.parametrize("part", [slice(0, 1), slice(1, 2)])
def test_a_part_of_the_list_is_an_error(part: slice) -> None:
    functions = rk.to_trl(0.5 * short + polite)
    with pytest.raises(rk.RewardFailure, match="to_trl returned, exactly once"):
        StandInTrainer(functions[part]).rewards(["a"])


def test_the_list_twice_is_an_error() -> None:
    functions = rk.to_trl(0.5 * short + polite)
    with pytest.raises(rk.RewardFailure, match="once"):
        StandInTrainer([*functions, *functions]).rewards(["a"])


def test_the_order_and_other_functions_do_not_matter() -> None:
    first, second = rk.to_trl(0.5 * short + 2.0 * polite, outputs="components")
    trainer = StandInTrainer([second, plain, first], reward_weights=[2.0, 3.0, 0.5])
    with pytest.warns(rk.errors.RewardKitWarning, match="has a learning signal"):
        assert trainer.rewards(["a"]).tolist() == [-2.0 + 3.0 + 0.25]
    trainer.rewards(["a"])  # a second warning would be an error here


# GDPO


def test_weights_that_normalization_of_each_column_cancels_are_warned_of() -> None:
    trainer = StandInTrainer(rk.to_trl(0.5 * short + polite), aggregation="normalize_then_sum")
    with pytest.warns(rk.errors.RewardKitWarning, match='outputs="components"'):
        trainer.rewards(["a"])
    trainer.rewards(["a"])  # a second warning would be an error here


@pytest.mark.parametrize("columns", ["terms", "components"])
def test_weights_of_one_are_fine_when_each_column_is_normalized(columns: Any) -> None:
    StandInTrainer(rk.to_trl(short + polite, outputs=columns), aggregation="normalize_then_sum").rewards(["a"])


def test_components_with_weights_are_fine_when_each_column_is_normalized() -> None:
    functions = rk.to_trl(0.5 * short + polite, outputs="components")
    StandInTrainer(functions, reward_weights=[0.5, 1.0], aggregation="normalize_then_sum").rewards(["a"])


def test_a_total_is_not_taken_apart_when_each_column_is_normalized() -> None:
    functions = rk.to_trl(rk.gate(when=short, then=polite, otherwise=-1.0) + short, outputs="components")
    trainer = StandInTrainer(functions, reward_weights=functions.reward_weights, aggregation="normalize_then_sum")
    with pytest.warns(rk.errors.RewardKitWarning, match="plain weighted sum"):
        trainer.rewards(["a"])


# Without a trainer in sight


class Patched:
    """A trainer without any attributes."""

    def log_metric(self, name: str, value: float) -> None: ...


def test_an_unknown_trainer_counts_as_training() -> None:
    for log_metric in (None, print, Patched().log_metric, lambda name, value: None):
        trainer = Trainer.behind(log_metric)
        assert not trainer.known
        assert trainer.training
        assert trainer.num_generations is None
        assert trainer.weights() == []
    assert call(rk.to_trl(short), ["a"], log_metric=Patched().log_metric)["short"].tolist() == [0.5]


def test_progress_of_a_state() -> None:
    state = type("State", (), {"global_step": 3, "max_steps": 0})()
    assert progress_of(state, True) == rk.Progress(3, 1)
    state.max_steps = None
    assert progress_of(state, True) is None
    assert progress_of(None, True) is None


def test_a_schedule_without_a_known_trainer_warns_once_that_it_assumes_training() -> None:
    functions = rk.to_trl(short * rk.schedules.linear(0.0, 1.0) + polite)
    state = type("State", (), {"global_step": 5, "max_steps": 10})()
    with pytest.warns(rk.errors.RewardKitWarning, match="counts as training"):
        assert call(functions, [""], trainer_state=state)["short"].tolist() == [0.5]
    call(functions, [""], trainer_state=state)  # a second warning would be an error here


@pytest.mark.parametrize(("epoch", "known"), [(0.5, 0.5), (None, 0.25), (0, 0.0)])
def test_progress_knows_the_epoch_of_the_trainer(epoch: Any, known: float) -> None:
    progress = progress_of(SimpleNamespace(global_step=1, max_steps=4, epoch=epoch), True)
    assert progress is not None
    assert progress.epoch == known


# Prompts in tokens


def test_each_prompt_is_tokenized_once_by_the_trainer(tmp_path: Path) -> None:
    functions = rk.to_trl(short, record=tmp_path)
    trainer: Any = StandInTrainer(functions)
    asked: list[Any] = []

    def tokenize(prompts: list[Any]) -> tuple[list[list[int]], None, dict[str, Any]]:
        asked.extend(prompts)
        return [[0] * len(str(prompt)) for prompt in prompts], None, {}

    trainer._tokenize_prompts = tokenize
    chat = [{"role": "user", "content": "hi"}]
    trainer.rewards(["a"] * 4, ["one", "one", "three", "three"])
    trainer.rewards(["a"] * 4, ["one", "one", "five", "five"])
    trainer.rewards([[{"role": "assistant", "content": "a"}]] * 2, [chat, copy.deepcopy(chat)])
    functions.flush()
    assert asked == ["one", "three", "five", chat]
    found = rk.open_run(tmp_path).sql("select prompt_length from scores order by part, row").fetchall()
    assert [length for (length,) in found] == [3, 3, 5, 5, 3, 3, 4, 4, len(str(chat)), len(str(chat))]


@pytest.mark.parametrize(
    "held",
    [
        {},
        {"_tokenize_prompts": lambda prompts: 1 / 0},
        {"_tokenize_prompts": lambda prompts: ([[1]], ["an image"], {})},
        {"_tokenize_prompts": lambda prompts: ([[1]], None, {"pixel_values": [1]})},
        {"_tokenize_prompts": lambda prompts: ([[1]], None, {}), "environment_factories": {None: object}},
        {"_tokenize_prompts": lambda prompts: ([[1]], None, {}), "rollout_func": print},
    ],
)
def test_where_prompts_may_have_other_tokens_none_are_counted(held: dict[str, Any]) -> None:
    assert Trainer(SimpleNamespace(reward_funcs=[], **held)).prompt_lengths(["p"]) is None
    assert Trainer(None).prompt_lengths(["p"]) is None
