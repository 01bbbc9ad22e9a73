"""from_trl and mixed lists: TRL functions score the same as in TRL's own list."""

from __future__ import annotations

import functools
import math
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.environments import Watch, recording_class
from rewardkit.errors import RewardTypeError
from tests.adapters.trl.stand_ins import StandInTrainer, call, plain, short
from tests.tree import trl_functions
from tests.tree.trl_functions import FUNCTIONS, TEXTS, Length, Longer, at_least, booleans, integers

torch = pytest.importorskip("torch")


def name_of(function: Any) -> str:
    from trl.trainer.utils import get_callable_name

    return str(get_callable_name(function))


def rewards_of(functions: list[Any], texts: list[str] = TEXTS) -> Any:
    return StandInTrainer(functions).rewards(texts, answer=["1.5"] * len(texts))


@pytest.mark.parametrize("function", FUNCTIONS, ids=name_of)
def test_one_function_gives_the_same_numbers_as_in_trl(function: Callable[..., Any]) -> None:
    functions = rk.to_trl([function])
    assert functions[0].__name__ == name_of(function)
    np.testing.assert_array_equal(rewards_of(functions), rewards_of([function]))


def test_a_mixed_list_gives_the_same_numbers_as_the_plain_list() -> None:
    (ours,) = rk.to_trl(short)
    functions = rk.to_trl([*FUNCTIONS, short])
    assert [function.__name__ for function in functions] == [*map(name_of, FUNCTIONS), "short"]
    with pytest.warns(rk.errors.RewardKitWarning, match="also has reward functions"):
        expected = rewards_of([*FUNCTIONS, ours])
    np.testing.assert_allclose(rewards_of(functions), expected, rtol=1e-6)


@given(
    st.lists(
        st.lists(
            st.none() | st.just(math.nan) | st.floats(-100, 100, width=32) | st.booleans(), min_size=3, max_size=3
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_mixture_of_values_gives_the_same_numbers(returned: list[list[Any]]) -> None:
    def returning(number: int, values: list[Any]) -> Callable[..., Any]:
        def function(completions: list[str], **kwargs: Any) -> list[Any]:
            return list(values)

        function.__name__ = f"function{number}"
        return function

    functions = [returning(number, values) for number, values in enumerate(returned)]
    texts = ["a", "b", "c"]
    np.testing.assert_allclose(
        rewards_of(rk.to_trl(functions), texts), rewards_of(functions, texts), rtol=1e-6, atol=1e-5
    )


def test_the_same_function_twice_counts_twice() -> None:
    length = Longer(6)
    assert rewards_of(rk.to_trl([length, length])).tolist() == [0.0, 2.0, 0.0, 0.0]
    assert rewards_of(rk.to_trl([length.method, length.method])).tolist() == [0.0, 0.0, 2.0, 0.0]


def test_functions_with_one_name_need_names() -> None:
    shortest, longest = functools.partial(at_least, length=2), functools.partial(at_least, length=5)
    with pytest.raises(rk.RewardDefinitionError, match="name 'at_least'"):
        rk.to_trl([shortest, longest])
    functions = rk.to_trl([rk.from_trl(shortest, name="two"), rk.from_trl(longest, name="five")])
    assert rewards_of(functions).tolist() == [0.0, 2.0, 2.0, 1.0]


# TRL's own


def test_trls_own_rewards() -> None:
    from trl import rewards

    messages = [[{"role": "assistant", "content": "<think>\na\n</think>\nb"}], [{"role": "assistant", "content": "b"}]]
    prompts = [[{"role": "user", "content": "?"}]] * 2
    functions = [
        rewards.think_format_reward,
        rewards.get_soft_overlong_punishment(max_completion_len=4, soft_punish_cache=2),
        rewards.get_repetition_penalty_reward(ngram_size=1),
    ]
    expected = StandInTrainer(functions).rewards(messages, prompts)
    ours = rk.to_trl(functions)
    assert [function.__name__ for function in ours] == [name_of(function) for function in functions]
    np.testing.assert_allclose(StandInTrainer(ours).rewards(messages, prompts), expected)
    assert expected[0] == expected[1] + 1.0


def test_trls_accuracy_reward() -> None:
    pytest.importorskip("math_verify", reason="needs pip install math-verify")
    from trl.rewards import accuracy_reward

    messages = [[{"role": "assistant", "content": r"\boxed{\frac{1}{2}}"}], [{"role": "assistant", "content": "3"}]]
    columns = call(rk.to_trl([accuracy_reward]), messages, solution=[r"$\frac{1}{2}$"] * 2)
    assert columns["accuracy_reward"].tolist() == [1.0, 0.0]


# In a tree


def test_a_wrapped_function_is_weighted_gated_and_logged_like_any_other() -> None:
    gated = rk.gate(when=rk.from_trl(booleans), then=rk.from_trl(integers)) + 0.5 * rk.from_trl(booleans)
    trainer = StandInTrainer(rk.to_trl(gated))
    assert trainer.rewards(TEXTS).tolist() == [0.0, 6.5, 21.5, 0.0]
    logged = trainer.metrics()
    assert logged["components/integers"] == pytest.approx(13.5)
    assert logged["components/booleans"] == 0.5


def test_a_wrapped_function_always_sees_the_whole_batch() -> None:
    seen: list[list[str]] = []

    def whole(completions: list[str], **kwargs: Any) -> list[float]:
        seen.append(completions)
        return [1.0] * len(completions)

    rewards_of(rk.to_trl(rk.gate(when=rk.from_trl(booleans), then=rk.from_trl(whole)) + rk.from_trl(booleans)))
    assert seen == [TEXTS]


def test_scores_outside_of_training() -> None:
    def logging_function(completions: list[str], log_metric: Any, log_extra: Any, **kwargs: Any) -> list[float]:
        log_metric("own", 1.0)
        log_extra("own", [1] * len(completions))
        state = kwargs.pop("trainer_state")
        assert state.global_step == state.max_steps  # the end of training, where schedules are, too
        assert kwargs == {"answer": ["1", "2"], "prompts": ["", ""], "completion_ids": None}
        return [1.0] * len(completions)

    table = rk.score(rk.from_trl(logging_function), ["a", "b"], answer=["1", "2"])
    assert table.total.tolist() == [1.0, 1.0]
    assert (table.metrics, table.extras) == ({"own": 1.0}, {"own": [1, 1]})


def test_functions_may_log_through_the_trainer() -> None:
    def logging_function(completions: list[str], log_metric: Any, log_extra: Any, **kwargs: Any) -> list[float]:
        log_metric("own", 2.0)
        log_extra("own", list(completions))
        return [1.0] * len(completions)

    trainer = StandInTrainer(rk.to_trl([logging_function, short]))
    trainer.rewards(TEXTS)
    assert trainer.metrics()["own"] == 2.0
    assert trainer.extras()["own"] == TEXTS


def test_functions_without_kwargs_get_what_they_name() -> None:
    def strict(completions: list[str], answer: list[str]) -> list[float]:
        return [float(value) for value in answer]

    assert call(rk.to_trl([strict]), ["a", "b"], answer=["1", "2"], other=[1, 2])["strict"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("missing", "columns", "says"),
    [
        (lambda completions, answer: [], {"anser": ["1"]}, r"'answer'.*Columns: anser\. Did you mean 'anser'\?"),
        (lambda completions, answer, **kwargs: [], {}, r"'answer'.*Columns: none\.$"),
        (
            functools.partial(lambda completions, answer, unit, step, **kwargs: [], unit="m"),
            {"gold": ["1"]},
            r"'answer'.* If it is a setting, pass functools\.partial\(asks, answer=\.\.\., step=\.\.\.\)",
        ),
    ],
)
def test_a_missing_column_is_named(missing: Any, columns: dict[str, Any], says: str) -> None:
    reward = rk.from_trl(missing, name="asks")
    for tree in (reward, 0.5 * rk.from_trl(plain) + rk.gate(when=short, then=reward)):
        with pytest.raises(rk.errors.BindingError, match=f"reward 'asks' needs the column {says}"):
            rk.score(tree, ["a"], **columns)


@dataclass
class Weighed:
    """A function of one completion with settings, and so without a hash."""

    weight: float = 0.5

    def __call__(self, completion: str, answer: str, **kwargs: Any) -> float:
        return float((completion == answer) * self.weight * kwargs["factor"])


async def awaited_one(completion: str, **kwargs: Any) -> float:
    return float((completion == kwargs["answer"]) / kwargs["factor"])


@pytest.mark.parametrize(("function", "scores"), [(Weighed(), [1.0, 0.0]), (awaited_one, [0.5, 0.0])])
def test_a_function_of_one_completion_may_take_all_columns(function: Any, scores: list[float]) -> None:
    reward = rk.from_trl(function)
    assert rk.score(reward, ["a", "b"], answer=["a", "a"], factor=[2, 2]).total.tolist() == scores
    assert rk.from_trl(function) == reward
    again = pickle.loads(pickle.dumps(reward))
    assert rk.score(again, ["a", "b"], answer=["a", "a"], factor=[2, 2]).total.tolist() == scores
    assert call(rk.to_trl([function]), ["a", "b"], answer=["a", "a"], factor=[2, 2])[reward.name].tolist() == scores


def test_trainer_arguments_and_defaults_are_not_missing_columns() -> None:
    def asks(completions: Any, prompts: Any, completion_ids: Any, log_extra: Any, unit: str = "m") -> list[float]:
        return [1.0] * len(completions)

    assert rk.score(rk.from_trl(asks), ["a"]).total.tolist() == [1.0]


def test_environments_reach_the_functions_that_ask_for_them() -> None:
    def of_environments(completions: list[str], environments: list[Any], **kwargs: Any) -> list[float]:
        return [environment["reward"] for environment in environments]

    environments = [{"reward": 0.5}, {"reward": 1.5}]
    columns = call(rk.to_trl([of_environments, short]), ["a", "b"], environments=environments)
    assert columns["of_environments"].tolist() == [0.5, 1.5]


class Counter:
    """An environment that has a count only after ``reset``, which may meet an outage."""

    def reset(self, up: bool, **row: Any) -> None:
        if not up:
            raise ConnectionError("the server is down")
        self.count = 2.0


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("up", [(True, False, True), (False, False, False)])
def test_functions_that_cannot_read_a_broken_environment_are_called_without_it(later: bool, up: Any) -> None:
    seen: list[Any] = []

    def counted(completions: list[str], environments: list[Any], answer: list[str], **kwargs: Any) -> list[float]:
        counts = [environment.count for environment in environments]
        seen.append((completions, answer, len(kwargs["prompts"]), len(kwargs["completion_ids"])))
        kwargs["log_extra"]("count", counts)
        return counts

    async def counted_later(**kwargs: Any) -> list[float]:
        return counted(**kwargs)

    environments = [recording_class(Counter, Watch())() for _ in up]
    for environment, there in zip(environments, up, strict=True):
        environment.reset(up=there)
    reward = rk.from_trl(counted_later if later else counted, "counted")
    columns = call(rk.to_trl(reward), ["a", "b", "c"], environments=environments, answer=["x", "y", "z"])
    np.testing.assert_array_equal(columns["counted"], [2.0 if there else np.nan for there in up])
    assert seen == ([(["a", "c"], ["x", "z"], 2, 2)] if any(up) else [])


def test_a_bug_beside_a_broken_environment_stays_a_bug() -> None:
    def wrong(completions: list[str], environments: list[Any], **kwargs: Any) -> list[float]:
        return [environment.amount for environment in environments]

    environments = [recording_class(Counter, Watch())() for _ in range(2)]
    for environment, there in zip(environments, (True, False), strict=True):
        environment.reset(up=there)
    with pytest.raises(rk.errors.RewardBug, match="amount"):
        call(rk.to_trl(rk.from_trl(wrong)), ["a", "b"], environments=environments)


def test_functions_that_change_their_inputs_affect_no_other() -> None:
    def vandal(completions: Any, prompts: Any, completion_ids: Any, gold: Any, **kwargs: Any) -> list[float]:
        size = len(completions)
        completions[0][0]["content"] = "changed"
        completions.reverse()
        prompts[0].clear()
        completion_ids[0].append(7)
        gold[0]["deep"].append("changed")
        gold.clear()
        return [0.0] * size

    @rk.reward
    def sees(completion: str, prompt: str, completion_ids: list[int], gold: dict[str, list[str]]) -> float:
        return float((completion, prompt, completion_ids, gold) == ("text", "hi", [1], {"deep": ["x"]}))

    def second(completions: Any, prompts: Any, completion_ids: Any, gold: Any, **kwargs: Any) -> list[float]:
        return [
            float((text[0]["content"], prompt[0]["content"], ids, value) == ("text", "hi", [1], {"deep": ["x"]}))
            for text, prompt, ids, value in zip(completions, prompts, completion_ids, gold, strict=True)
        ]

    def batch() -> dict[str, Any]:
        return {
            "completions": [[{"role": "assistant", "content": "text"}] for _ in range(2)],
            "prompts": [[{"role": "user", "content": "hi"}] for _ in range(2)],
            "completion_ids": [[1], [1]],
            "gold": [{"deep": ["x"]}, {"deep": ["x"]}],
        }

    given_lists = batch()
    functions = rk.to_trl([vandal, sees, second])
    assert [function(**given_lists) for function in functions] == [[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]
    assert given_lists == batch()


# Bugs


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([1.0], "returned 1 scores for 2 completions"),
        (None, "a list of 2 scores"),
        (1.0, "a list of 2 scores"),
        ("12", "a list of 2 scores"),
        ({0: 1.0, 1: 1.0}, "a list of 2 scores"),
        ({0.0, 1.0}, "a list of 2 scores"),
        ([1.0, "1"], "returned '1'"),
        ([1.0, [1.0]], r"returned \[1.0\](?s:.*)\nReturn only its first item"),
        ([1.0, (1.0, {"exact": True})], r"(?s:.*)\nReturn only its first item"),
        ([1.0, ({"exact": True}, 1.0)], r"(?s:.*)\nReturn a number"),
        ([1.0, math.inf], "finite"),
        (np.ones((2, 1)), r"returned \[1.0\]"),
        (np.float64(1.0), "a list of 2 scores"),
    ],
    ids=repr,
)
def test_nonsense_is_an_error_in_every_batch(returned: Any, message: str) -> None:
    def wrong(completions: list[str], **kwargs: Any) -> Any:
        return returned if "trap" in completions else [0.0] * len(completions)

    functions = rk.to_trl([wrong, short])
    call(functions, ["a", "b"])
    for _ in range(2):
        with pytest.raises(rk.errors.RewardBug, match=message):
            call(functions, ["a", "trap"])


def test_an_exception_names_the_function_and_keeps_its_cause() -> None:
    def broken(completions: list[str], **kwargs: Any) -> list[float]:
        raise KeyError("answer")

    def broken_generator(completions: list[str], **kwargs: Any) -> Iterator[float]:
        yield 1.0
        raise KeyError("answer")

    async def broken_later(completions: list[str], **kwargs: Any) -> list[float]:
        raise KeyError("answer")

    for function in (broken, broken_generator, broken_later):
        with pytest.raises(rk.errors.RewardBug, match=f"'{name_of(function)}' raised KeyError") as raised:
            call(rk.to_trl([function]), ["a"])
        assert isinstance(raised.value.__cause__, KeyError)


def test_a_failure_leaves_the_batch_without_signal() -> None:
    def judge(completions: list[str], **kwargs: Any) -> list[float]:
        raise rk.RewardFailure("the judge is down")

    columns = call(rk.to_trl([judge, short]), ["a", "b"])
    assert all(np.isnan(values).all() for values in columns.values())


def test_tensors_with_gradients_pass() -> None:
    def model_based(completions: list[str], **kwargs: Any) -> Any:
        return torch.ones(len(completions), requires_grad=True) * 2

    assert call(rk.to_trl([model_based]), ["a"])["model_based"].tolist() == [2.0]


def test_decimals_pass() -> None:
    def decimals(completions: list[str], **kwargs: Any) -> list[Decimal]:
        return [Decimal("0.5")] * len(completions)

    assert call(rk.to_trl([decimals]), ["a"])["decimals"].tolist() == [0.5]


def test_from_trl_refuses_everything_except_functions() -> None:
    for value in (short, "org/model", 3, Length, torch.nn.Linear(1, 1)):
        with pytest.raises(RewardTypeError, match="from_trl expects a TRL reward function"):
            rk.from_trl(value)  # type: ignore[arg-type]


def test_an_instance_with_a_field_called_parameters_is_a_function() -> None:
    @dataclass
    class Configured:
        parameters: dict[str, float]

        def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
            return [self.parameters["reward"]] * len(completions)

    assert call(rk.to_trl([Configured({"reward": 0.5})]), ["a"])["Configured"].tolist() == [0.5]


def test_the_fingerprint_follows_the_source_and_not_the_address() -> None:
    partial = functools.partial(at_least, length=2)
    assert rk.from_trl(partial).fingerprint == rk.from_trl(functools.partial(at_least, length=2)).fingerprint
    assert rk.from_trl(partial).fingerprint != rk.from_trl(functools.partial(at_least, length=3)).fingerprint
    assert rk.from_trl(Length(6)).fingerprint == rk.from_trl(Length(6)).fingerprint
    assert rk.from_trl(plain).fingerprint != rk.from_trl(plain, name="other").fingerprint


def test_prints_as_it_is_written() -> None:
    assert repr(rk.from_trl(plain) + 0.5 * rk.from_trl(integers)) == "from_trl(plain) + 0.5*from_trl(integers)"


def test_a_function_that_reads_chat_says_so_when_it_gets_text() -> None:
    def lengths(completions: list[Any], **_: Any) -> list[float]:
        return [float(len(completion[0]["content"])) for completion in completions]

    with pytest.raises(rk.errors.RewardBug) as found:
        rk.score([lengths], ["abc"])
    assert "chat prompts" in str(found.value)
    assert "on_error" not in str(found.value)  # the function is right: nothing is to be scored instead
    prompts = [[{"role": "user", "content": "?"}]]
    assert rk.score([lengths], ["abc"], prompts=prompts).total.tolist() == [3.0]


def test_an_undecorated_function_of_a_trajectory_is_one_of_a_completion() -> None:
    def called(trajectory: rk.Trajectory, city: str) -> float:
        return float(any(call.has(city=city) for call in trajectory.calls))

    def steps(path: rk.Trajectory) -> float:
        return 1.0 / max(1, len(path.turns))

    call = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Rome"}}}
    messages = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    assert rk.score([called, steps], [messages], city=["Rome"]).total.tolist() == [2.0]


TIMED: list[tuple[Any, list[str]]] = [
    (trl_functions.hangs, ["failed", "failed"]),  # one call for the batch
    (trl_functions.hangs_later, ["failed", "failed"]),
    (trl_functions.rebound, ["failed", "failed"]),
    (trl_functions.hangs_on_one, ["scored", "failed"]),
    (trl_functions.hangs_on_one_later, ["scored", "failed"]),
]


@pytest.mark.parametrize(("function", "outcomes"), TIMED, ids=[name_of(function) for function, _ in TIMED])
def test_a_call_beyond_its_time_limit_fails_its_rows(function: Any, outcomes: list[str]) -> None:
    reward = function if isinstance(function, rk.Reward) else rk.from_trl(function, timeout=1.0)
    assert pickle.loads(pickle.dumps(reward)) == reward
    assert rk.score(reward, ["a", "good"], answer=["1", "2"]).total.tolist() == [1.0, 4.0]
    table = rk.score(reward, ["a", "bad"], answer=["1", "2"])
    assert table.outcomes[reward.name].tolist() == outcomes
    assert "no result within 1 s" in table.notes[reward.name][1]


def test_a_time_limit_changes_no_number_in_a_training() -> None:
    functions = [function for function in FUNCTIONS if name_of(function) != "<lambda>"]
    timed = [rk.from_trl(function, timeout=60.0) for function in functions]
    np.testing.assert_array_equal(rewards_of(rk.to_trl(timed)), rewards_of(functions))


@pytest.mark.parametrize("argument", ["log_metric", "log_extra", "environments"])
def test_a_function_in_another_process_cannot_take_the_trainers_objects(argument: str) -> None:
    function = eval(f"lambda completions, {argument}=None: []")
    with pytest.raises(rk.RewardDefinitionError, match=rf"has the argument '{argument}'.*the function async"):
        rk.from_trl(function, "f", timeout=1.0)
    with pytest.raises(rk.RewardDefinitionError, match="timeout must be a number of seconds greater than 0"):
        rk.from_trl(integers, timeout=0.0)
    with pytest.raises(rk.errors.RewardBug, match="logs 'own', but with timeout= it runs in a separate process"):
        rk.score(rk.from_trl(trl_functions.logging_function, timeout=60.0), ["a"])
