"""Subject: scores of any completion, also with exceptions, but and facts known without it scoring."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.score import Outcome
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial, TrialResult, text_of, token_ids, with_text
from rewardkit.progress.progress import Progress
from rewardkit.tree.leaf import rebound
from tests.check.rewards import BAD, EXAMPLES, GOOD, awaited, naive, raises_on_empty, shortest, subject, tree

CHAT = [{"role": "user", "content": "again?"}, {"role": "assistant", "content": "42"}]
asked: list[str] = []


def counting(completions: list[str], **kwargs: Any) -> list[float]:
    asked.extend(completions)
    return [float(len(asked)) for _ in completions]


@rk.reward
def answers_alone(completion: str, answer: str) -> float:
    return float(completion == answer)


@rk.reward
def broken_on_x(completion: str) -> float:
    if "x" in completion:
        raise ValueError("an x")
    return float("y" in completion)


@rk.reward
def judge_is_down(completion: str) -> float:
    raise rk.RewardFailure("the service does not answer")


@rk.reward
def only_digits(completion: str) -> float | None:
    return 1.0 if completion.isdigit() else None


@rk.reward(bounds=(-math.inf, math.inf))
def unbounded(completion: str) -> float:
    return 1 / len(completion)


def test_scores_components_terms_and_notes_of_one_completion() -> None:
    right, wrong = subject(tree).see([Trial(GOOD[0]), Trial(BAD[0])])
    assert (right.value, right.outcome, right.scored, right.score) == (1.0, Outcome.SCORED, True, 1.0)
    assert right.components == {"tags": 1.0, "number": 1.0}
    assert sum(wrong.terms.values()) == pytest.approx(wrong.value) == pytest.approx(0.2)
    assert "number: " in wrong.note


def test_the_columns_of_the_example_count_and_may_be_replaced() -> None:
    one = subject(answers_alone)
    assert one.value("42") == 1.0
    assert one.value("42", 1) == 0.0
    assert one.value("42", 1, {"answer": "42"}) == 1.0
    assert one.value("42", 1) == 0.0


@given(st.lists(st.sampled_from(["x", "y", "a", "xy", ""]), max_size=40))
def test_an_exception_does_not_affect_other_rows(texts: list[str]) -> None:
    seen = subject(broken_on_x).see([Trial(text) for text in texts])
    assert len(seen) == len(texts)
    for text, one in zip(texts, seen, strict=True):
        if "x" in text:
            assert (one.outcome, one.component, one.scored) == (Outcome.ERRORED, "broken_on_x", False)
            assert "ValueError: an x" in one.reason
            assert "ValueError: an x" in one.trace
        else:
            assert one.value == float("y" in text)


def test_a_bug_without_a_lower_bound_is_reported() -> None:
    empty, word = subject(unbounded).see([Trial(""), Trial("ab")])
    assert (empty.outcome, empty.component, empty.score) == (Outcome.ERRORED, "unbounded", None)
    assert "ZeroDivisionError" in empty.reason
    assert "ZeroDivisionError" in empty.trace
    assert word.value == 0.5
    plain = subject(raises_on_empty).see([Trial("")])[0]
    assert (plain.outcome, plain.component) == (Outcome.ERRORED, "raises_on_empty")


def test_failures_and_abstentions_are_not_bugs() -> None:
    failed = subject(judge_is_down).see([Trial("a")])[0]
    assert (failed.outcome, failed.component, failed.score) == (Outcome.FAILED, "judge_is_down", None)
    assert "does not answer" in failed.reason
    abstained = subject(only_digits).see([Trial("a")])[0]
    assert (abstained.outcome, abstained.score) == (Outcome.ABSTAINED, None)


def test_asynchronous_rewards_are_awaited() -> None:
    assert [seen.value for seen in subject(awaited).see([Trial(GOOD[0]), Trial(BAD[0])])] == [1.0, 0.0]


def test_each_completion_is_scored_once_unless_fresh() -> None:
    asked.clear()
    one = subject(counting)
    first = one.see([Trial("a"), Trial("a"), Trial("b"), Trial("a", 1)])
    assert len(asked) == 3 == one.tries
    assert first[0] == first[1]
    assert one.see([Trial("a")]) == first[:1]
    assert len(asked) == 3
    assert one.see([Trial("a")], fresh=True) != first[:1]
    assert one.see([Trial("a")]) == first[:1]


def test_chat_and_numbers_in_columns_have_keys_of_their_own() -> None:
    asked.clear()
    one = subject(counting)
    one.see([Trial(CHAT), Trial([dict(message) for message in CHAT])])
    assert len(asked) == 1
    one.see([Trial("a", 0, {"n": 1}), Trial("a", 0, {"n": "1"}), Trial("a", 0, {"n": 1})])
    assert len(asked) == 3


def test_missing_columns_are_the_callers_fault() -> None:
    with pytest.raises(rk.errors.BindingError, match="answer"):
        subject(answers_alone, examples=[{"prompt": "a", "anser": "b"}]).see([Trial("a")])
    with pytest.raises(rk.errors.CoercionError, match="answer"):
        subject(rk.number("answer"), examples=[{"answer": [None]}]).see([Trial("a")])


def test_the_watcher_is_called_before_and_after() -> None:
    told: list[Any] = []
    one = subject(broken_on_x)
    one.watch(told.append)
    trials = [Trial("a"), Trial("x")]
    one.see(trials)
    assert told[:2] == [trials, None]
    assert told[-1] is None
    told.clear()
    one.see(trials)
    assert told == []  # nothing is scored


def test_a_reward_that_compares_gets_the_given_completions() -> None:
    one = subject(shortest, good=["aa", "bb"], bad=["cccc", "dddd"])
    assert one.scope == "group"
    assert one.beside(0) == ["aa", "cccc"]
    assert [seen.value for seen in one.see([Trial("a"), Trial("ccc"), Trial("c" * 9)])] == [
        1.0,
        pytest.approx(1 / 2),
        0.0,
    ]
    assert subject(shortest, good=[], bad=[]).beside(0) == [".", "No."]


def test_a_function_found_to_compare_is_scored_again() -> None:
    one = subject(counting)
    one.see([Trial("a")])
    asked.clear()
    one.score_in_groups()
    assert one.scope == "group"
    one.see([Trial("a")])
    assert asked == [GOOD[0], BAD[0], "a"]


def test_facts_known_without_scoring() -> None:
    assert subject(naive).columns_read == {"answer"}
    assert subject(tree).columns_read == {"answer"}
    assert subject(counting).columns_read == set()
    assert subject(tree).bounds == (0.0, 1.0)
    assert subject(tree).scope == subject(naive).scope == "sample"
    assert [leaf.name for leaf, _ in subject(0.5 * answers_alone + broken_on_x).bindings] == [
        "answers_alone",
        "broken_on_x",
    ]
    assert subject(tree).deterministic
    assert not subject(rebound(broken_on_x, deterministic=False)).deterministic


def test_the_form_of_the_given_completions_is_kept() -> None:
    assert subject(tree).formed("a") == "a"
    chat = subject(tree, good=[CHAT], bad=[])
    assert chat.conversational
    assert chat.formed("a") == [{"role": "assistant", "content": "a"}]
    assert subject(tree, good=[], bad=[], examples=[{"prompt": CHAT[:1], "answer": "1"}]).conversational
    assert not subject(tree, good=[], bad=[]).conversational


def test_a_trainers_function_gets_the_trainers_arguments() -> None:
    seen: dict[str, Any] = {}

    def nosy(completions: list[str], **kwargs: Any) -> list[float]:
        seen.update(kwargs)
        return [0.0 for _ in completions]

    subject(nosy).see([Trial("a b")])
    assert seen["answer"] == ["42"]
    assert seen["prompts"] == ["6*7?"]
    assert len(seen["completion_ids"][0]) == 2
    assert seen["trainer_state"].global_step == seen["trainer_state"].max_steps  # the end, where schedules are, too


def test_scheduled_weights_are_scored_at_a_point_of_training() -> None:
    one = subject(rk.schedules.linear(0.0, 1.0) * answers_alone)
    assert one.table([Trial("42")], Progress(25, 100)).total.tolist() == [0.25]


def test_the_affordable_number_depends_on_the_time_left() -> None:
    def slow(completions: list[str], **kwargs: Any) -> list[float]:
        time.sleep(0.01)
        return [0.0 for _ in completions]

    one = subject(slow)
    assert one.affordable(500) == 500  # nothing is known yet
    one.see([Trial("a")])
    assert one.cost >= 0.01
    one.deadline = time.monotonic() + 2.0
    assert 8 <= one.affordable(500) <= 50
    one.deadline = time.monotonic() - 1.0
    assert (one.left, one.affordable(500)) == (0.0, 8)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (TrialResult(1.0, Outcome.SCORED), TrialResult(1.0 + 1e-12, Outcome.SCORED), True),
        (TrialResult(1.0, Outcome.SCORED), TrialResult(1.001, Outcome.SCORED), False),
        (TrialResult(0.0, Outcome.SCORED), TrialResult(0.0, Outcome.ERRORED), False),
        (TrialResult(math.nan, Outcome.FAILED), TrialResult(math.nan, Outcome.FAILED), True),
        (TrialResult(math.nan, Outcome.ERRORED), TrialResult(0.0, Outcome.ERRORED), False),
    ],
)
def test_same_results(one: TrialResult, other: TrialResult, same: bool) -> None:
    assert one.same(other) is same
    assert other.same(one) is same


def test_the_text_of_a_completion_is_replaced() -> None:
    assert with_text("a", "b") == "b"
    assert with_text(CHAT, "7") == [CHAT[0], {"role": "assistant", "content": "7"}]
    assert CHAT[1]["content"] == "42"
    assert with_text([], "7") == [{"role": "assistant", "content": "7"}]
    assert with_text(CHAT[:1], "7") == [CHAT[0], {"role": "assistant", "content": "7"}]
    call = [{"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}]
    assert with_text(call, "7") == [{"role": "assistant", "content": "7"}]


@given(st.text(max_size=50))
def test_texts_round_trip_through_every_form(text: str) -> None:
    for completion in ("a", CHAT, [], CHAT[1:]):
        assert text_of(with_text(completion, text)) == text
    assert token_ids(text) == token_ids(with_text(CHAT, text))


def test_fake_token_ids_are_equal_for_equal_words() -> None:
    one, two, three = token_ids("the cat the")
    assert one == three != two
    assert token_ids("") == []


def test_the_tree_and_examples_are_kept() -> None:
    one = subject(tree)
    assert isinstance(one, RewardUnderTest)
    assert [example.shown for example in one.examples] == EXAMPLES
    assert replace(one.examples[0], good=()).good == ()
