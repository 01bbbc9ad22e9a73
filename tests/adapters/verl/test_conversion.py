"""from_verl: the function gets what verl passes, and what it returns becomes scores, parts and notes."""

from __future__ import annotations

import asyncio
import functools
import json
import pickle
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.testing import check_reward

TEXTS = ["#### 4", "#### 5", "none"]


def compute_score(data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None) -> float:
    assert data_source == "openai/gsm8k"
    assert extra_info == {"split": "train"}
    extra_info["num_turns"] = 3  # as verl's own loops do
    return float(solution_str == f"#### {ground_truth}")


def scored(function: Any, **columns: Any) -> rk.ScoreTable:
    given = {
        "data_source": ["openai/gsm8k"] * 3,
        "reward_model": [{"style": "rule", "ground_truth": "4"}] * 3,
        "extra_info": [{"split": "train"}] * 3,
    }
    return rk.score(rk.from_verl(function), TEXTS, **{**given, **columns})


def test_the_function_gets_what_verl_passes() -> None:
    extra = [{"split": "train"} for _ in range(3)]
    assert scored(compute_score, extra_info=extra).total.tolist() == [1.0, 0.0, 0.0]
    assert extra == [{"split": "train"}] * 3


def test_data_may_be_text_or_a_column() -> None:
    as_text = [json.dumps({"ground_truth": "4"})] * 3
    assert scored(compute_score, reward_model=as_text).total.tolist() == [1.0, 0.0, 0.0]
    plain = rk.score(rk.from_verl(short), TEXTS, ground_truth=["4", "5", "6"])
    assert plain.total.tolist() == [1.0, 1.0, 0.0]


def short(solution_str: str, ground_truth: str) -> float:
    return float(ground_truth in solution_str)


def test_functions_with_some_of_the_arguments_are_taken() -> None:
    assert scored(short).total.tolist() == [1.0, 0.0, 0.0]
    assert scored(functools.partial(weighted, scale=0.5)).total.tolist() == [0.5, 0.0, 0.0]
    assert scored(starred).total.tolist() == [4.0] * 3


def weighted(solution_str: str, ground_truth: str, scale: float) -> float:
    return scale * short(solution_str, ground_truth)


def starred(solution_str: str, **kwargs: Any) -> float:
    return float(len({*kwargs, "solution_str"}))


def test_a_dict_has_a_score_parts_and_a_note() -> None:
    def detailed(solution_str: str, ground_truth: str) -> dict[str, Any]:
        return {"score": 0.5, "acc": True, "length": 6, "pred": solution_str, "nothing": None}

    table = scored(detailed)
    assert table.total.tolist() == [0.5] * 3
    assert {name: values.tolist() for name, values in table.parts["detailed"].items()} == {
        "acc": [1.0] * 3,
        "length": [6.0] * 3,
    }
    assert table.notes["detailed"][0] == "pred: '#### 4'"


def test_async_functions_are_awaited() -> None:
    async def later(solution_str: str, ground_truth: str) -> float:
        await asyncio.sleep(0.001)
        return short(solution_str, ground_truth)

    assert scored(later).total.tolist() == [1.0, 0.0, 0.0]


def test_rows_without_a_gold_answer_abstain() -> None:
    table = scored(short, reward_model=[{"ground_truth": "4"}, {"ground_truth": None}, None])
    assert [str(outcome) for outcome in table.outcomes["short"]] == ["scored", "abstained", "abstained"]


def test_what_is_raised_or_returned_wrong_is_an_error() -> None:
    def broken(solution_str: str, ground_truth: str) -> float:
        return 1.0 / (len(solution_str) - 6)

    def without_score(solution_str: str, ground_truth: str) -> dict[str, float]:
        return {"acc": 1.0}

    with pytest.raises(rk.errors.RewardBug, match="ZeroDivisionError"):
        scored(broken)
    with pytest.raises(rk.errors.RewardBug, match="without the key 'score'"):
        scored(without_score)


def test_no_error_advises_an_argument_that_from_verl_lacks() -> None:
    for function in (lambda solution_str: 1 / 0, lambda solution_str: (1.0, {"exact": True})):
        with pytest.raises(rk.errors.RewardBug) as caught:
            scored(function)
        assert "on_error" not in str(caught.value)


def contains(solution_str: str, ground_truth: str) -> float:
    return float(ground_truth in solution_str)


def test_the_check_reads_the_gold_answer_in_reward_model() -> None:
    """The same hacks are found as with a column of its own."""
    good, bad = ["<think>6*7</think><answer>42</answer>"], ["<think>6*7</think><answer>41</answer>"]
    kinds = []
    for gold in ({"ground_truth": "42"}, {"reward_model": {"style": "rule", "ground_truth": "42"}}):
        laws = ["gold_above_perturbed_gold", "exploits"]
        report = check_reward(rk.from_verl(contains), examples=[gold], good=good, bad=bad, laws=laws, isolate=False)
        kinds.append([(finding.law, finding.why, finding.completion) for finding in report.findings])
    assert kinds[0] == kinds[1]
    assert len(kinds[0]) > 5


def test_what_is_missing_is_said() -> None:
    with pytest.raises(rk.errors.BindingError, match="reads the gold answer from the column reward_model"):
        rk.score(rk.from_verl(short), TEXTS, answer=["4"] * 3)
    with pytest.raises(rk.errors.RewardTypeError, match=r"functools.partial\(weighted, scale=...\)"):
        rk.from_verl(weighted)
    with pytest.raises(rk.errors.RewardTypeError, match=r"has no argument solution_str.*rk\.from_trl"):
        rk.from_verl(lambda completions, **kwargs: [0.0])
    with pytest.raises(rk.errors.RewardTypeError, match="expected a reward function from verl"):
        rk.from_verl("my_rewards.py")  # type: ignore[arg-type]


def test_it_composes_pickles_and_has_a_name() -> None:
    reward = 0.5 * rk.from_verl(short, name="gsm8k") + rk.from_verl(compute_score)
    again = pickle.loads(pickle.dumps(reward))
    assert again == reward
    assert repr(again) == "0.5*from_verl(gsm8k) + from_verl(compute_score)"
    functions = rk.to_trl(again)
    batch: dict[str, Any] = {"completions": TEXTS, "prompts": ["2+2?"] * 3, "ground_truth": ["4"] * 3}
    batch |= {"data_source": ["openai/gsm8k"] * 3, "extra_info": [{"split": "train"}] * 3}
    assert [function(**batch) for function in functions] == [[0.5, 0.0, 0.0], [1.0, 0.0, 0.0]]
