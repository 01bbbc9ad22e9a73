"""Changes: the same reward for data that calls its columns otherwise."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.examples import Example
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.tree.algebra import changed
from rewardkit.tree.evaluation.scorer import Scorer


@rk.reward
def closeness(completion: str, answer: float, scale: float = 10.0) -> float:
    return max(0.0, 1.0 - abs(float(completion) - answer) / scale)


@rk.reward
def whole_example(completion: str, example: dict[str, Any]) -> float:
    return float(sorted(example) == ["answer", "scale"] and str(example["answer"]) == completion)


def trl_function(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    assert "solution" not in kwargs
    return [float(text == gold) for text, gold in zip(completions, answer, strict=True)]


async def trl_async(completions: list[str], answer: list[str]) -> list[float]:
    return trl_function(completions, answer)


@pytest.mark.parametrize(
    "reward",
    [
        closeness, rk.number("answer"), rk.exact("answer"), rk.choice("answer", options=["41", "42"]),
        whole_example, rk.from_trl(trl_function), rk.from_trl(trl_async),
        rk.rank_in_group(rk.number("answer")), rk.gate(rk.exact("answer"), 0.5 * closeness),
        rk.route({"42": closeness}, by="answer", default=rk.number("answer")).named("by_answer"),
        rk.number("answer").named("x") + rk.schedules.when_reached("x", 0.5) * closeness,
    ],
    ids=repr,
)  # fmt: skip
def test_a_reward_reads_the_column_that_the_data_has(reward: rk.Reward) -> None:
    mapped = reward.with_columns(answer="solution")
    completions, golds, scale = ["42", "41"], ["42", "42"], [10.0, 10.0]
    ours = rk.score(reward, completions, answer=golds, scale=scale)
    theirs = rk.score(mapped, completions, solution=golds, scale=scale)
    assert theirs.total.tolist() == ours.total.tolist()
    assert list(theirs.components) == list(ours.components)
    assert repr(reward) != repr(mapped)
    assert mapped != reward
    assert mapped == reward.with_columns(answer="solution")
    assert hash(mapped) == hash(reward.with_columns(answer="solution"))
    assert mapped.fingerprint != reward.fingerprint
    again = mapped.with_columns(solution="gold")
    assert rk.score(again, completions, gold=golds, scale=scale).total.tolist() == ours.total.tolist()


def test_it_is_the_reward_that_names_the_column_itself() -> None:
    assert rk.number("answer").with_columns(answer="solution") == rk.number("solution")
    assert (
        repr(rk.number("answer").with_columns(answer="solution")) == "number('answer').with_columns(answer='solution')"
    )
    both = rk.number("answer") + rk.number("answer").with_columns(answer="solution")
    assert Scorer(both).components == ["number", "number_answer_solution"]
    odd = rk.number("answer").with_columns(**{"answer": "the solution"})
    assert rk.score(odd, ["4"], **{"the solution": [4]}).total.tolist() == [1.0]  # type: ignore[arg-type]


def test_only_the_columns_that_are_named_change() -> None:
    tree = closeness + rk.exact("other")
    mapped = tree.with_columns(answer="solution")
    assert mapped.children[1] is tree.children[1]
    assert rk.score(mapped, ["4"], solution=[4], other=["4"], answer=["not read"]).total.tolist() == [2.0]
    swapped = closeness.with_columns(answer="scale", scale="answer")
    assert rk.score(swapped, ["4"], answer=[10], scale=[4]).total.tolist() == [1.0]


def test_errors_name_the_column_of_the_data() -> None:
    mapped = closeness.with_columns(answer="solution")
    with pytest.raises(rk.errors.BindingError, match="'solution'"):
        rk.score(mapped, ["4"], answer=[4])
    with pytest.raises(rk.errors.CoercionError, match="column 'solution', row 0"):
        rk.score(mapped, ["4"], solution=["four"])
    with pytest.raises(rk.errors.BindingError, match="'solution'"):
        rk.score(rk.from_trl(trl_function).with_columns(answer="solution"), ["4"], answer=["4"])


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: closeness.with_columns(solution="answer"), "reads no column 'solution'"),
        (lambda: closeness.with_columns(anwser="solution"), "'answer'"),
        (lambda: closeness.with_columns(completion="text"), "reads no column 'completion'"),
        (lambda: closeness.with_columns(answer="prompt"), "answer="),
        (lambda: closeness.with_columns(answer=3), "answer="),  # type: ignore[arg-type]
        (lambda: rk.tags("a").with_columns(answer="solution"), "none"),
    ],
)
def test_columns_that_cannot_be_mapped_are_refused(make: Callable[[], rk.Reward], match: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=match):
        make()


def test_a_mapped_reward_can_be_sent_to_another_process() -> None:
    for reward in (closeness, whole_example, rk.number("answer"), rk.from_trl(trl_function)):
        mapped = reward.with_columns(answer="solution")
        again = pickle.loads(pickle.dumps(mapped))
        columns = {"solution": ["4"], "scale": [10]}
        assert rk.score(again, ["4"], **columns).total.tolist() == [1.0]  # type: ignore[arg-type]
        assert again.fingerprint == mapped.fingerprint


def test_nothing_changes_without_a_change() -> None:
    tree = 0.5 * closeness + rk.gate(rk.tags("a"), rk.number("answer"))
    assert changed(tree, lambda node: node) is tree


@pytest.mark.parametrize("reward", [closeness, rk.number("answer"), rk.from_trl(trl_function)], ids=repr)
def test_the_check_finds_the_mapped_column(reward: rk.Reward) -> None:
    subject = RewardUnderTest(reward.with_columns(answer="solution"), [Example(None, {"solution": "4", "other": 1})])
    assert subject.columns_read >= {"solution"}
    assert "answer" not in subject.columns_read


def test_a_schedule_follows_the_mapped_reward() -> None:
    right = rk.number("answer")
    mapped = (right + rk.schedules.when_reached(right, 0.5) * closeness).with_columns(answer="solution")
    assert rk.score(mapped, ["4"], solution=["4"]).total.tolist() == [2.0]
