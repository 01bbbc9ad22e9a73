"""to_trl: a list of functions that TRL accepts, in this process, in another one, and joined with others."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.errors import RewardTypeError
from tests.adapters.trl.stand_ins import (
    StandInTrainer,
    call,
    close,
    plain,
    polite,
    short,
    slow,
    unjudged,
    without_trainer,
)

TEXTS = ["", "please", "a longer text, please", "no"]
PLAIN: list[Any] = [plain]


def scored_elsewhere(pickled: bytes, completions: list[str]) -> list[Any]:
    return list(pickle.loads(pickled)(completions=completions))


def all_scored_elsewhere(pickled: bytes, completions: list[str]) -> dict[str, list[float]]:
    return {name: values.tolist() for name, values in call(pickle.loads(pickled), completions).items()}


def weights_and_names_elsewhere(pickled: bytes) -> tuple[list[float], list[str]]:
    functions = pickle.loads(pickled)
    return functions.reward_weights, [function.__name__ for function in functions]


def test_is_a_real_list_with_unique_names() -> None:
    functions = rk.to_trl(0.5 * short + polite + rk.product(short, polite))
    assert isinstance(functions, list)
    assert [function.__name__ for function in functions] == ["short", "polite", "product"]


@pytest.mark.parametrize("reward", [short, short + slow, rk.from_trl(plain) + slow], ids=repr)
def test_trl_treats_every_function_as_synchronous_and_knows_its_name(reward: rk.Reward) -> None:
    utils = pytest.importorskip("trl.trainer.utils")
    for function in rk.to_trl(reward):
        assert not utils.is_async_callable(function)
        assert utils.get_callable_name(function) == function.__name__
        assert not hasattr(function, "parameters")  # else the trainer takes it for a model


def test_async_rewards_score_without_an_event_loop_of_the_caller() -> None:
    columns = call(rk.to_trl(short + slow), ["a", "bb"])
    assert columns["slow"].tolist() == [1.0, 0.0]


def test_making_the_list_imports_neither_torch_nor_trl() -> None:
    script = """
import json, pickle, sys
import rewardkit as rk

def old(completions, **kwargs):
    return [0.0] * len(completions)

functions = rk.to_trl([rk.tags("answer"), old])
functions[0](completions=["x"], prompts=["p"])
pickle.loads(pickle.dumps(functions + [old]))
print(json.dumps([name for name in ("torch", "trl", "transformers", "datasets") if name in sys.modules]))
"""
    script = script.replace("functions + [old]", "functions")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


# In another process


def test_the_whole_list_works_in_a_spawned_process() -> None:
    functions = rk.to_trl(0.5 * short + 2.0 * polite) + PLAIN
    here = {name: values.tolist() for name, values in call(functions, TEXTS).items()}
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(all_scored_elsewhere, pickle.dumps(functions), TEXTS).result() == here
        names = ["short", "polite", "plain"]
        assert pool.submit(weights_and_names_elsewhere, pickle.dumps(functions)).result() == ([1.0, 1.0, 1.0], names)
        for function in functions:
            alone = pool.submit(scored_elsewhere, pickle.dumps(function), TEXTS).result()
            assert alone == here[function.__name__]


def test_unknown_weights_in_another_process_are_an_error() -> None:
    pickled = pickle.dumps(rk.to_trl(0.5 * short + 2.0 * polite, outputs="components"))
    alike = pickle.dumps(rk.to_trl(short + polite, outputs="components"))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(weights_and_names_elsewhere, pickled).result() == ([0.5, 2.0], ["short", "polite"])
        with pytest.raises(rk.RewardFailure, match=r"'short': 0\.5.*rk\.to_trl\(0\.5 \* short \+ 2\.0 \* polite"):
            pool.submit(all_scored_elsewhere, pickled, TEXTS).result()
        assert pool.submit(all_scored_elsewhere, alike, [""]).result() == {"short": [1.0], "polite": [-1.0]}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda functions: pickle.loads(pickle.dumps(functions))])
def test_a_copy_is_the_same_list_with_the_same_evaluation_behind_it(copied: Callable[[Any], Any]) -> None:
    functions = rk.to_trl(0.5 * short + 2.0 * polite, outputs="components")
    other = copied(functions)
    assert type(other) is type(functions)
    assert other.reward_weights == [0.5, 2.0]
    assert other.reward is functions.reward
    assert other[0].evaluator is functions[0].evaluator


def test_a_function_alone_keeps_its_evaluator_alive() -> None:
    alone = pickle.loads(pickle.dumps(rk.to_trl(short + polite)[1]))
    assert alone(completions=TEXTS) == [-1.0, 1.0, 1.0, -1.0]


def test_a_local_function_is_refused_when_pickled_with_the_reason() -> None:
    @rk.reward
    def local(completion: str) -> float:
        return 0.0

    with pytest.raises(RewardTypeError, match="top level of a module"):
        pickle.dumps(rk.to_trl(local))


# Joined with others


def other(completions: list[str], **kwargs: Any) -> list[float]:
    return [0.0] * len(completions)


def test_plus_keeps_the_kind_of_list_its_weights_and_its_callback() -> None:
    functions = rk.to_trl(0.5 * short + 2.0 * polite, outputs="components")
    company = [other, "org/reward-model"]
    behind, before = functions + company, company + functions
    for joined in (behind, before):
        assert type(joined) is type(functions)
        assert joined.reward is functions.reward
        joined.callback()
    assert behind.reward_weights == [0.5, 2.0, 1.0, 1.0]
    assert before.reward_weights == [1.0, 1.0, 0.5, 2.0]
    assert list(before[:2]) == [other, "org/reward-model"]


def test_changes_in_place_keep_the_weights_in_step() -> None:
    functions = rk.to_trl(0.5 * short + 2.0 * polite, outputs="components")
    functions += [other]
    functions.insert(0, "org/reward-model")
    assert functions.reward_weights == [1.0, 0.5, 2.0, 1.0]


@without_trainer
def test_two_lists_join_and_the_callback_serves_both() -> None:
    first = rk.to_trl(short * rk.schedules.linear(0.0, 1.0) + polite)
    second = rk.to_trl(close * rk.schedules.linear(0.0, 1.0) + unjudged)
    callback = (first + second).callback()
    state = type("State", (), {"global_step": 5, "max_steps": 10})()
    callback.on_train_begin(None, state, None)
    assert call(first, ["a"])["short"].tolist() == [0.25]
    assert call(second, ["a"], answer=[1.0])["close"].tolist() == [0.5]


def test_names_that_clash_across_joined_lists_are_an_error() -> None:
    functions = rk.to_trl([plain, short])
    with pytest.raises(rk.RewardDefinitionError, match="called 'short'"):
        functions + rk.to_trl(short)


def test_another_function_with_one_of_our_names_is_an_error_at_the_first_call() -> None:
    """Not earlier, because trainers also add tools to the list."""
    pytest.importorskip("trl")
    trainer = StandInTrainer(rk.to_trl([plain, short]) + PLAIN)
    with pytest.raises(rk.RewardDefinitionError, match="2 reward functions are called 'plain'"):
        trainer.rewards(["a"])


@pytest.mark.filterwarnings("ignore:.*also has reward functions")
def test_other_functions_may_share_a_name() -> None:
    pytest.importorskip("trl")
    trainer = StandInTrainer([*rk.to_trl(short), plain, plain])
    assert trainer.rewards(["a"]).tolist() == [0.5 + 1.0 + 1.0]


# What it refuses


def test_refuses_what_is_not_a_reward() -> None:
    with pytest.raises(RewardTypeError, match=r"rk.to_trl\(reward\) \+ \['org/reward-model'\]"):
        rk.to_trl([short, "org/reward-model"])
    with pytest.raises(RewardTypeError):
        rk.to_trl(3.0)  # type: ignore[arg-type]
    with pytest.raises(RewardTypeError, match="Join lists"):
        rk.to_trl(rk.to_trl(short))
    with pytest.raises(RewardTypeError, match="join its list with others"):
        rk.to_trl([*rk.to_trl(short), plain])
    with pytest.raises(rk.RewardDefinitionError, match="at least one"):
        rk.to_trl([])
    with pytest.raises(rk.RewardDefinitionError, match="there is nothing to train on"):
        rk.to_trl(rk.monitor(short))


def test_a_reward_model_must_be_added_to_the_list() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(RewardTypeError, match="reward models"):
        rk.to_trl([short, torch.nn.Linear(1, 1)])


def test_traps_are_warned_of_when_the_list_is_made() -> None:
    with pytest.warns(rk.errors.RewardKitWarning, match="normalizes within each group"):
        rk.to_trl(short * rk.schedules.linear(0.0, 1.0))


def limited(options: dict[str, Any]) -> dict[str, Any]:
    """Return `options` with their limits as an object, which checks them."""
    return {name: rk.Limits(**value) if name == "limits" else value for name, value in options.items()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limits": {"max_failure_rate": 1.5}}, "max_failure_rate"),
        ({"limits": {"max_error_rate": -0.1}}, "max_error_rate"),
        ({"limits": {"max_error_rate": float("nan")}}, "max_error_rate"),
        ({"limits": {"failure_window": 0}}, "failure_window"),
        ({"outputs": "rows"}, '"terms" or "components"'),
    ],
)
def test_refuses_impossible_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        rk.to_trl(short, **limited(options))


def test_refuses_positional_arguments_and_names_itself() -> None:
    (function,) = rk.to_trl(short)
    with pytest.raises(TypeError):
        function(["a"])
    assert repr(function) == "<reward function 'short' of short>"


# What a dataset may call its columns


@rk.reward
def odd(completion: str, self: str, function: int, name: str, func: str, call: str, cls: str) -> float:
    return float((self, function, name, func, call, cls) == ("s", 7, "n", "f", "c", "k"))


ODD: dict[str, Any] = {"self": "s", "function": "7", "name": "n", "func": "f", "call": "c", "cls": "k"}


def test_columns_may_have_odd_names() -> None:
    columns = {name: [value] * 2 for name, value in ODD.items()}
    for column in ("images", "image", "table", "key", "keywords", "reader", "args", "kwargs", "evaluator", "context"):
        columns[column] = [object(), object()]
    seen: list[set[str]] = []

    def old(completions: list[str], **kwargs: Any) -> list[float]:
        seen.append(set(kwargs))
        return [2.0] * len(completions)

    functions = rk.to_trl([odd, old])
    values = {
        function.__name__: function(**{"completions": ["a", "b"], "prompts": ["p", "q"], **columns})
        for function in functions
    }
    assert values == {"odd": [1.0, 1.0], "old": [2.0, 2.0]}
    assert seen[0] >= set(columns)


@pytest.mark.parametrize("column", ["completion", "messages", "progress", "example", "prompt"])
def test_columns_that_our_own_names_shadow_are_an_error(column: str) -> None:
    (function,) = rk.to_trl(short)
    with pytest.raises(rk.errors.BindingError, match=f"'{column}'.*Rename"):
        function(completions=["a"], prompts=["p"], **{column: ["x"]})


def test_conversations_and_tool_calls() -> None:
    completions: list[Any] = [
        [{"role": "assistant", "content": "please"}],
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"function": {"name": "add", "arguments": {"a": 1}}}],
            },
            {"role": "tool", "name": "add", "content": "please"},
            {"role": "assistant", "content": "two"},
        ],
        [{"role": "assistant", "content": [{"type": "text", "text": "please"}, {"type": "image", "image": object()}]}],
        [],
    ]
    prompts = [[{"role": "user", "content": "hi"}]] * 4

    @rk.reward
    def answers_hi(prompt: str, messages: list[Any], completion_ids: list[int]) -> float:
        return float(prompt == "hi" and len(completion_ids) == 3) * len(messages) / 3

    columns = call(rk.to_trl(polite + answers_hi), completions, prompts=prompts, completion_ids=[[1, 2, 3]] * 4)
    assert columns["polite"].tolist() == [1.0, -1.0, 1.0, -1.0]
    assert np.allclose(columns["answers_hi"], [1 / 3, 1.0, 1 / 3, 0.0])


def test_a_plain_function_keeps_working_on_columns_with_our_names() -> None:
    def long_enough(completions: list[str], messages: list[str], example: list[int], **kwargs: object) -> list[float]:
        return [float(len(message) > limit) for message, limit in zip(messages, example, strict=True)]

    (function,) = rk.to_trl([long_enough])
    assert function(completions=["a", "b"], messages=["xy", ""], example=[1, 1]) == [1.0, 0.0]


def test_a_reward_that_a_trainer_calls_directly_says_to_use_to_trl() -> None:
    for reward in (short, short + polite, rk.curriculum([rk.Stage("only", short)])):
        with pytest.raises(TypeError, match=r"pass reward_funcs=rk\.to_trl\(reward\)"):
            reward(prompts=["p"], completions=["a"], completion_ids=[[1]])
    with pytest.raises(TypeError, match=r"rk\.to_trl returns a list"):
        rk.to_trl(short)(prompts=["p"], completions=["a"])


@pytest.mark.parametrize("wrong", [rk.schedules.linear(0.0, 1.0), rk.extract.tag("answer")])
def test_schedules_and_extractors_are_not_functions(wrong: Any) -> None:
    for given in (wrong, [short, wrong]):
        with pytest.raises(TypeError, match=r"a schedule as a weight|an extractor as extract="):
            rk.to_trl(given)
