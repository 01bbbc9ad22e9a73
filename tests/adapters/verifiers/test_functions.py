"""A single function of verifiers gets what verifiers binds, and its faults are faults."""

from __future__ import annotations

import asyncio
import functools
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.errors import RewardTypeError
from rewardkit_adapters.verifiers.conversion import run_here
from tests.adapters.verifiers.stand_ins import Parser, Rubric

TEXTS = ["#### 4", "five", ""]
PROMPTS = ["2+2?"] * 3
ANSWERS = ["4"] * 3


def exact(completion: Any, answer: str) -> float:
    return float(completion[-1]["content"].endswith(answer))


def score(function: Any, **columns: Any) -> list[float]:
    total: list[float] = rk.score(rk.from_verifiers(function), TEXTS, prompts=PROMPTS, **columns).total.tolist()
    return total


def test_arguments_are_bound_by_name() -> None:
    seen: list[dict[str, Any]] = []

    def everything(completion: Any, prompt: Any, answer: Any, info: Any, task: Any, state: Any, level: int) -> float:
        seen.append({"answer": answer, "info": info, "task": task, "level": level})
        assert state["completion"] is completion
        assert state["prompt"] is prompt
        assert prompt == [{"role": "user", "content": "2+2?"}]
        return float(len(completion[0].content))

    columns = {"answer": ANSWERS, "info": ['{"a": 1}'] * 3, "task": ["sums"] * 3, "level": [1, 2, 3]}
    assert score(everything, **columns) == [6.0, 4.0, 0.0]
    assert [each["level"] for each in seen] == [1, 2, 3]
    assert seen[0] == {"answer": "4", "info": {"a": 1}, "task": "sums", "level": 1}


def test_missing_columns_are_empty_as_in_verifiers() -> None:
    def of_defaults(answer: str, info: Any) -> float:
        return float(answer == "" and info == {})

    assert score(of_defaults) == [1.0, 1.0, 1.0]


def test_keywords_take_everything() -> None:
    def of_keywords(completion: Any, **kwargs: Any) -> float:
        return float({"prompt", "answer", "info", "state", "task", "level"} <= kwargs.keys())

    assert score(of_keywords, level=[1, 2, 3]) == [1.0, 1.0, 1.0]


def test_conversations_and_tool_calls_stay_what_they_are() -> None:
    def turns(completion: Any, prompt: Any) -> float:
        assert completion[0].tool_calls == [{"id": "1"}]
        assert completion[0].content is None
        assert completion[1].tool_calls is None
        with pytest.raises(AttributeError, match="has no 'contents'"):
            completion[1].contents  # noqa: B018
        return float(len(prompt) + len(completion))

    said = [{"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}, {"role": "tool", "content": "4"}]
    asked = [{"role": "system", "content": "Add."}, {"role": "user", "content": "2+2?"}]
    assert rk.score(rk.from_verifiers(turns), [said], prompts=[asked]).total.tolist() == [4.0]


def test_async_functions_run_side_by_side() -> None:
    started = 0

    async def patient(completion: Any) -> float:
        nonlocal started
        started += 1
        while started < 3:
            await asyncio.sleep(0.001)
        return 0.5

    assert score(patient) == [0.5, 0.5, 0.5]


async def where(completion: Any) -> float:
    """1 in the main thread, where alone signals can be set, as math-verify does."""
    await asyncio.sleep(0)
    return float(threading.current_thread() is threading.main_thread())


def test_async_functions_run_in_the_main_thread_if_it_is_free() -> None:
    assert score(where) == [1.0, 1.0, 1.0]
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(score, where).result() == [0.0, 0.0, 0.0]

    async def in_a_notebook() -> list[float]:
        return score(where)

    assert asyncio.run(in_a_notebook()) == [0.0, 0.0, 0.0]


def test_batches_share_a_loop_as_the_clients_of_judges_need() -> None:
    loops: list[Any] = []

    async def connected(completion: Any) -> float:
        loops.append(asyncio.get_running_loop())
        return 1.0

    score(connected)
    score(connected)
    assert len(set(loops)) == 1


def test_an_interrupt_cancels_running_tasks() -> None:
    finished: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            finished.append("canceled")

    async def interrupted() -> None:
        task = asyncio.ensure_future(slow())
        await asyncio.sleep(0)
        assert not task.done()
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        run_here(interrupted())
    assert finished == ["canceled"]


def test_plural_arguments_score_the_group_of_a_prompt() -> None:
    sizes: list[int] = []

    def longest(completions: Any, answers: Any, infos: Any, states: Any, prompts: Any, tasks: Any) -> list[float]:
        assert len(completions) == len(answers) == len(infos) == len(states) == len(prompts) == len(tasks)
        sizes.append(len(completions))
        lengths = [len(completion[-1].content) for completion in completions]
        return [float(length == max(lengths)) for length in lengths]

    reward = rk.from_verifiers(longest)
    table = rk.score(reward, ["a", "aaa", "aa", "a"], prompts=["p", "p", "q", "q"])
    assert table.total.tolist() == [0.0, 1.0, 1.0, 0.0]
    assert sizes == [2, 2]


def test_a_gate_opens_whole_groups_to_a_group_function() -> None:
    def sizes(completions: Any) -> list[float]:
        return [float(len(completions))] * len(completions)

    gated = rk.gate(when=rk.contains(all="ok"), then=rk.from_verifiers(sizes))
    assert rk.score(gated, ["ok", "no"], prompts=["p", "p"]).total.tolist() == [2.0, 0.0]


def test_an_annotated_list_makes_a_group_function() -> None:
    def listed(state: Any = None) -> list[float]:
        return [1.0, 2.0, 3.0]

    listed.__annotations__["return"] = list[float]
    assert score(listed) == [1.0, 2.0, 3.0]


# Faults


def test_an_exception_is_an_error_not_a_zero() -> None:
    def broken(completion: Any) -> float:
        return 1.0 / len(completion[-1].content)

    with pytest.raises(rk.errors.RewardBug, match=r"reward 'broken' raised ZeroDivisionError[\s\S]*row 2"):
        score(broken)


@pytest.mark.parametrize(
    ("returned", "message"),
    [(None, "returned None"), ("1", "returned '1'"), (float("nan"), "returned nan"), ({"a": "b"}, "returned {")],
)
def test_results_that_are_not_numbers_are_errors(returned: Any, message: str) -> None:
    def strange(completion: Any) -> Any:
        return returned

    with pytest.raises(rk.errors.RewardBug, match=message):
        score(strange)


def test_a_group_function_gives_one_score_each() -> None:
    def short(completions: Any) -> list[float]:
        return [1.0]

    with pytest.raises(rk.errors.RewardBug, match="returned 1 scores for 3 completions"):
        score(short)


def test_a_forgotten_async_is_an_error() -> None:
    async def later() -> float:
        return 1.0

    def forgotten(completion: Any) -> Any:
        return later()

    with pytest.raises(rk.errors.RewardBug, match="async def"):
        score(forgotten)


class RateLimitError(Exception):
    """As that of an LLM client."""


def test_an_outage_leaves_the_sample_without_a_score() -> None:
    async def judged(completion: Any) -> float:
        if completion[-1].content == "five":
            raise RuntimeError("Judge model rate limit exceeded") from RateLimitError("429")
        return 1.0

    table = rk.score(rk.from_verifiers(judged), TEXTS, prompts=PROMPTS)
    assert table.outcomes["judged"].tolist() == ["scored", "failed", "scored"]
    assert "rate limit" in table.notes["judged"][1]


def test_an_argument_that_nothing_fills_is_named() -> None:
    def misspelled(completion: Any, anwser: str) -> float:
        return 1.0

    with pytest.raises(rk.errors.BindingError, match=r"'anwser'.*answer"):
        score(misspelled)


def test_a_parser_comes_with_a_rubric() -> None:
    def parsed(parser: Any, completion: Any, answer: str) -> float:
        return float(parser.parse_answer(completion) == answer)

    with pytest.raises(rk.errors.BindingError, match="parser=parser"):
        score(parsed)
    assert score(Rubric([parsed], parser=Parser()), answer=ANSWERS) == [1.0, 0.0, 0.0]


def test_info_that_is_not_json_is_a_coercion_error() -> None:
    with pytest.raises(rk.errors.CoercionError, match=r"column 'info', row 0"):
        score(exact, answer=ANSWERS, info=["{"] * 3)


@pytest.mark.parametrize("value", [Rubric, "exact", 1.0, None, rk.number("answer")], ids=repr)
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(RewardTypeError, match="from_verifiers: expected"):
        rk.from_verifiers(value)


# In a tree


def test_names() -> None:
    assert rk.from_verifiers(exact).name == "exact"
    assert rk.from_verifiers(functools.partial(exact, answer="4")).name == "exact"
    assert rk.from_verifiers(exact, name="right").name == "right"
    assert repr(rk.from_verifiers(exact)) == "from_verifiers(exact)"


def test_it_is_weighted_gated_and_equal_to_itself() -> None:
    reward = rk.gate(when=rk.from_verifiers(exact), then=0.5 * rk.from_verifiers(exact)) + rk.from_verifiers(exact)
    table = rk.score(reward, TEXTS, prompts=PROMPTS, answer=ANSWERS)
    assert table.total.tolist() == [1.5, 0.0, 0.0]
    assert rk.from_verifiers(exact) == rk.from_verifiers(exact)
    assert reward.fingerprint == reward.fingerprint


def test_it_can_be_pickled() -> None:
    reward = pickle.loads(pickle.dumps(rk.from_verifiers(exact)))
    assert rk.score(reward, TEXTS, prompts=PROMPTS, answer=ANSWERS).total.tolist() == [1.0, 0.0, 0.0]


def test_a_function_may_change_its_inputs() -> None:
    def vandal(completion: Any, info: Any) -> float:
        completion[0]["content"] = "changed"
        info["a"] = 2
        return 0.0

    infos: list[dict[str, int]] = [{"a": 1}] * 3
    completions = [[{"role": "assistant", "content": text}] for text in TEXTS]
    both = rk.from_verifiers(vandal) + rk.from_verifiers(exact)
    table = rk.score(both, completions, prompts=PROMPTS, answer=ANSWERS, info=infos)
    assert table.total.tolist() == [1.0, 0.0, 0.0]
    assert infos == [{"a": 1}] * 3
    assert completions[0][0]["content"] == "#### 4"
