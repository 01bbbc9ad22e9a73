"""from_eval_protocol: reasons become notes, metrics parts, and what is raised an error."""

from __future__ import annotations

import functools
import pickle
from types import SimpleNamespace
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.errors import RewardTypeError

TEXTS = ["4", "five", ""]
COLUMNS: dict[str, Any] = {"prompts": ["2+2?"] * 3, "ground_truth": ["4"] * 3}


def result(score: Any, reason: str | None = None, error: str | None = None, **metrics: float) -> Any:
    """An EvaluateResult."""
    named = {name: SimpleNamespace(score=value, reason="", is_score_valid=True) for name, value in metrics.items()}
    return SimpleNamespace(score=score, reason=reason, metrics=named, error=error, is_score_valid=False)


def exact(messages: Any, ground_truth: str, **kwargs: Any) -> Any:
    right = messages[-1].content == ground_truth
    return result(float(right), None if right else "not the same", length=len(messages[-1]["content"]))


def scored(function: Any, **columns: Any) -> rk.ScoreTable:
    return rk.score(rk.from_eval_protocol(function), TEXTS, **{**COLUMNS, **columns})


def test_score_reason_and_metrics() -> None:
    table = scored(exact)
    assert table.total.tolist() == [1.0, 0.0, 0.0]
    assert table.notes["exact"] == ["", "not the same", "not the same"]
    assert table.parts["exact"]["length"].tolist() == [1.0, 4.0, 0.0]


@pytest.mark.parametrize(
    "returned",
    [0.5, {"score": 0.5, "reason": "half", "metrics": {"a": 1.0}}, {"score": 0.5, "metrics": {"a": {"score": 1.0}}}],
    ids=["number", "dict", "nested dict"],
)
def test_other_forms_of_results(returned: Any) -> None:
    assert scored(lambda messages, **kwargs: returned).total.tolist() == [0.5] * 3


async def later(messages: Any, ground_truth: str, **kwargs: Any) -> Any:
    return result(1.0, "later")


def test_async_functions() -> None:
    assert scored(later).notes["later"] == ["later"] * 3


def test_the_conversation_is_the_prompt_and_the_completion() -> None:
    def turns(messages: Any, **kwargs: Any) -> float:
        assert messages[0] == {"role": "user", "content": "2+2?"}
        assert messages[1].role == "assistant"
        assert messages[1].tool_calls is None
        with pytest.raises(AttributeError, match="has no 'contents'"):
            messages[1].contents  # noqa: B018
        return float(len(messages))

    assert scored(turns).total.tolist() == [2.0] * 3
    assert rk.score(rk.from_eval_protocol(lambda messages, **_: float(len(messages))), ["a"]).total.tolist() == [1.0]


def test_columns_go_by_name_and_the_others_to_the_keywords() -> None:
    def keywords(messages: Any, ground_truth: str, level: int = 0, **kwargs: Any) -> float:
        return level + float(kwargs == {"other": "x"})

    assert scored(keywords, other=["x"] * 3).total.tolist() == [1.0] * 3
    assert scored(keywords, other=["x"] * 3, level=[1, 2, 3]).total.tolist() == [2.0, 3.0, 4.0]


def test_a_function_without_keywords_gets_what_it_names() -> None:
    def strict(messages: Any, ground_truth: str) -> float:
        return 1.0

    assert scored(strict, other=["x"] * 3).total.tolist() == [1.0] * 3


def test_options_are_set_with_partial() -> None:
    def at_most(messages: Any, max_length: int = 0, **kwargs: Any) -> float:
        return float(len(messages[-1].content) <= max_length)

    reward = rk.from_eval_protocol(functools.partial(at_most, max_length=3))
    assert reward.name == "at_most"
    assert rk.score(reward, TEXTS).total.tolist() == [1.0, 0.0, 1.0]


# Faults


def test_an_exception_is_an_error_not_a_zero() -> None:
    def broken(messages: Any, **kwargs: Any) -> float:
        return 1.0 / len(messages[-1].content)

    with pytest.raises(rk.errors.RewardBug, match=r"reward 'broken' raised ZeroDivisionError[\s\S]*row 2"):
        scored(broken)


def test_a_result_with_an_error_has_failed() -> None:
    def judged(messages: Any, **kwargs: Any) -> Any:
        return result(0.0, "judge", error="503" if messages[-1].content == "five" else None)

    table = scored(judged)
    assert table.outcomes["judged"].tolist() == ["scored", "failed", "scored"]
    assert table.notes["judged"][1] == "503"


@pytest.mark.parametrize("returned", [None, "1", {}, {"reason": "no score"}, result("1"), result(float("nan"))])
def test_results_without_a_score_are_errors(returned: Any) -> None:
    def strange(messages: Any, **kwargs: Any) -> Any:
        return returned

    with pytest.raises(rk.errors.RewardBug, match="returned"):
        scored(strange)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(rk.errors.BindingError, match=r"'exact' needs the column 'ground_truth'.*answer"):
        rk.score(rk.from_eval_protocol(exact), ["4"], answer=["4"])


def test_a_row_without_ground_truth_abstains() -> None:
    table = scored(exact, ground_truth=["4", None, "4"])
    assert table.outcomes["exact"].tolist() == ["scored", "abstained", "scored"]


def batch(rollouts_messages: Any, **kwargs: Any) -> list[Any]:
    return []


def evaluation(row: Any) -> Any:
    return row


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (batch, "scores a batch of rollouts at once"),
        (evaluation, "Pass the function that the test calls"),
        (rk.number("answer"), "expected a @reward_function"),
        (SimpleNamespace, "expected a @reward_function"),
        ("exact", "expected a @reward_function"),
    ],
)
def test_other_values_are_refused(function: Any, message: str) -> None:
    with pytest.raises(RewardTypeError, match=message):
        rk.from_eval_protocol(function)


# In a tree


def test_it_is_weighted_named_and_pickled() -> None:
    both = 0.5 * rk.from_eval_protocol(exact) + rk.from_eval_protocol(exact, name="again")
    assert repr(both) == "0.5*from_eval_protocol(exact) + from_eval_protocol(again)"
    table = rk.score(pickle.loads(pickle.dumps(both)), TEXTS, **COLUMNS)
    assert table.total.tolist() == [1.5, 0.0, 0.0]
    assert rk.from_eval_protocol(exact) == rk.from_eval_protocol(exact)


def test_their_own_wrapper_is_called_after_its_function() -> None:
    class RewardFunction:
        def __init__(self, func: Any) -> None:
            self.func = func

        def __call__(self, messages: Any, ground_truth: Any = None, **kwargs: Any) -> Any:
            return self.func(messages=messages, ground_truth=ground_truth, **kwargs)

    table = scored(RewardFunction(exact))
    assert table["exact"].tolist() == [1.0, 0.0, 0.0]
