"""Plain functions where a reward is needed: what counts as one, what it gets, and what its errors say."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer


def right(completion: str, answer: float, worth: float = 2.0) -> float:
    return worth * (float(completion) == answer)


def batched(prompts: list[str], completions: list[str], **kwargs: Any) -> list[float]:
    """`completions` is not its first argument."""
    return [float(len(prompt)) for prompt in prompts]


def service(prompt: str, completion: str, example: dict[str, str]) -> float:
    return float(completion == example["answer"]) + len(example)


def unannotated(prompt, completion, example):  # type: ignore[no-untyped-def]
    assert example == {"answer": "1", "choices": "[1, 2]", "none": ""}
    return 1.0


def at_least(completions: list[str], length: int, **kwargs: Any) -> list[float]:
    return [float(len(text) >= length) for text in completions]


TEXTS, COLUMNS = ["1", "2"], {"answer": ["1", "3"]}
PROMPTS = ["p", "qq"]
FUNCTIONS: list[tuple[Callable[..., Any], list[float]]] = [
    (right, [2.0, 0.0]),
    (batched, [1.0, 2.0]),
    (service, [2.0, 1.0]),
    (functools.partial(right, worth=4.0), [4.0, 0.0]),
    (lambda messages: float(messages[0]["content"]), [1.0, 2.0]),
]
TAKERS: list[tuple[str, Callable[[Any], Any]]] = [
    ("score", lambda function: function),
    ("list", lambda function: [function]),
    ("from_trl", rk.from_trl),
    ("to_trl", lambda function: rk.to_trl([function]).reward),
    ("weighted_sum", lambda function: rk.weighted_sum(function)),
    ("weights", lambda function: rk.weighted_sum([(0.5, function), (0.5, rk.from_trl(function))])),
    ("gate", lambda function: rk.gate(when=rk.contains(none="z"), then=function)),
    ("fallback", lambda function: rk.fallback(function, function)),
    ("sum", lambda function: 2 * rk.from_trl(function) - rk.from_trl(function)),
    ("scorer", lambda function: Scorer(function).reward),
]


@pytest.mark.parametrize(("name", "taken"), TAKERS)
@pytest.mark.parametrize(("function", "scores"), FUNCTIONS)
def test_all_take_the_same_functions(function: Any, scores: list[float], name: str, taken: Any) -> None:
    table = rk.score(taken(function), TEXTS, prompts=PROMPTS, **COLUMNS)  # type: ignore[arg-type]
    np.testing.assert_allclose(table.total, scores)


def test_a_row_holds_texts_without_an_annotation() -> None:
    columns: dict[str, Any] = {"answer": [1], "choices": [[1, 2]], "none": [None]}
    assert rk.score(unannotated, ["a"], prompts=["p"], **columns).total.tolist() == [1.0]


@pytest.mark.parametrize(
    ("annotation", "cell"),
    [(dict[str, str], "[1, 2]"), (dict[str, Any], [1, 2]), (dict, [1, 2]), (None, [1, 2])],
)
def test_a_decorated_function_gets_texts_only_if_it_says_so(annotation: Any, cell: Any) -> None:
    def seen(prompt: str, completion: str, example: Any) -> float:
        return float(example["choices"] == cell)

    if annotation is None:
        del seen.__annotations__["example"]
    else:
        seen.__annotations__["example"] = annotation
    assert rk.score(rk.reward(seen), ["a"], prompts=["p"], choices=[[1, 2]]).total.tolist() == [1.0]


def test_a_group_of_rows_holds_texts_too() -> None:
    @rk.reward(scope="group")
    def seen(completion: list[str], example: list[dict[str, str]]) -> list[float]:
        return [float(row["number"] == "7") for row in example]

    assert rk.score(seen, ["a", "b"], number=[7, 7]).total.tolist() == [1.0, 1.0]


def test_they_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(rk.from_trl(right))) == rk.from_trl(right)


@pytest.mark.parametrize("value", ["a", 1.0, None, rk.exact, rk.Reward, rk.extract.boxed(), rk.schedules.linear(0, 1)])
def test_anything_else_is_refused(value: Any) -> None:
    for take in (lambda: rk.score(value, ["a"]), lambda: rk.score([value], ["a"]), lambda: rk.weighted_sum(value)):
        with pytest.raises(rk.errors.RewardTypeError):
            take()


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="empty"):
        rk.score([], ["a"])


def test_arguments_that_say_nothing_are_explained() -> None:
    with pytest.raises(rk.errors.BindingError, match=r"`completions`.*`completion`"):
        rk.score(lambda text: 1.0, ["a"])


# Bugs


def test_a_bug_in_a_batch_is_not_blamed_on_its_first_row() -> None:
    def crashes(completions: list[str], **kwargs: Any) -> list[float]:
        return [1.0 / len(text) for text in completions]

    with pytest.raises(rk.errors.RewardBug) as raised:
        rk.score(crashes, ["a", "b", ""])
    said = str(raised.value)
    assert "ZeroDivisionError" in said
    assert f"{__file__}, line {crashes.__code__.co_firstlineno + 1}" in said
    assert "all 3 completions" in said
    assert "row 0" not in said
    assert "rk.from_trl(crashes, on_error=0.0)" in said
    assert "max_error_rate" in said
    assert rk.score(rk.from_trl(crashes, on_error=0.0), ["a", ""]).total.tolist() == [0.0, 0.0]


def test_a_bug_in_one_row_names_that_row() -> None:
    with pytest.raises(rk.errors.RewardBug, match="row 1, completion 'x'"):
        rk.score(right, ["1", "x"], answer=["1", "1"])
    with pytest.raises(rk.errors.RewardBug, match="row 1, completion 'b'"):
        rk.score(lambda completions, **kwargs: [1.0, "no"], ["a", "b"])


def test_a_failure_is_no_bug() -> None:
    def down(completion: str) -> float:
        raise rk.RewardFailure("the service is down")

    assert rk.score(down, ["a"]).outcomes["down"].tolist() == [rk.Outcome.FAILED]


def test_two_partials_of_one_function_clash_with_a_hint_that_works() -> None:
    partial = functools.partial
    with pytest.raises(rk.RewardDefinitionError) as raised:
        rk.to_trl([partial(at_least, length=1), partial(at_least, length=2)])
    hint = str(raised.value).partition("Rename one of them: ")[2]
    renamed = eval(hint, {"rk": rk, "partial": partial, "at_least": at_least})
    functions = rk.to_trl([partial(at_least, length=1), renamed])
    assert [function.__name__ for function in functions] == ["at_least", "another name"]
    assert rk.score(functions.reward, ["a", "bb"]).total.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("on_error", ["ignore", float("nan"), True])
def test_on_error_is_a_number(on_error: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="on_error"):
        rk.from_trl(right, on_error=on_error)
