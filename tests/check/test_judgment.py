"""Judgment: what a reward is seen to judge."""

from __future__ import annotations

from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.reward_under_test.judgment import distinguishes, foreign_trials, is_penalty, judged, required_tags
from rewardkit.check.reward_under_test.trials import Trial
from tests.check.rewards import BAD, GOOD, closeness, form, naive, number, raises_on_empty, subject, tree


def constant(completions: list[str], **kwargs: Any) -> list[float]:
    return [0.5 for _ in completions]


def shouting(completions: list[str], **kwargs: Any) -> list[float]:
    """A penalty."""
    return [-float(text.isupper()) for text in completions]


@pytest.mark.parametrize("reward", [naive, number, tree, closeness, raises_on_empty, 0.1 * form + 0.9 * number])
def test_rewards_that_tell_right_from_wrong_judge_answers(reward: Any) -> None:
    good = ["42", "7"] if reward is raises_on_empty else GOOD
    assert [right.judges for right in judged(subject(reward, good=good))] == [True, True]


@pytest.mark.parametrize("reward", [form, rk.length.between(1, 400, unit="characters"), shouting])
def test_rewards_of_form_and_length_do_not(reward: Any) -> None:
    assert [right.judges for right in judged(subject(reward))] == [False, False]


def test_a_right_completion_comes_with_scored_wrong_ones() -> None:
    right = judged(subject(tree))[0]
    assert (right.example, right.completion, right.value) == (0, GOOD[0], 1.0)
    assert right.anatomy.gold == "42"
    assert "7" in [one.text for one in right.wrong]  # the gold of the other example
    assert {one.text for one in right.wrong} >= {"nan", ""}
    assert [text for text, _ in right.honest] == [right.anatomy.saying(one.text) for one in right.wrong if one.honest]
    assert all(seen.value == pytest.approx(0.2) for _, seen in right.honest)


def test_paid_and_more() -> None:
    one = subject(tree)
    right = judged(one)[0]
    same, wrong = one.see([Trial(GOOD[0]), Trial(BAD[0])])
    assert right.paid(same)
    assert not right.more(same)
    assert not right.paid(wrong)
    low = judged(subject(tree, good=BAD, bad=[]))[0]
    assert low.more(same)


def test_the_form_of_the_completion_stays() -> None:
    chat = [[{"role": "assistant", "content": text}] for text in GOOD]
    right = judged(subject(number, good=chat, bad=[]))[1]
    assert right.trial("a") == Trial([{"role": "assistant", "content": "a"}], 1)
    assert right.text_without("answer") == "<think>3+4</think>7"


def test_unscored_completions_are_not_judged() -> None:
    assert judged(subject(raises_on_empty, good=["", "7"])) == judged(subject(raises_on_empty, good=["", "7"]))
    assert [right.example for right in judged(subject(raises_on_empty, good=["", "7"]))] == [1]
    assert judged(subject(number, good=[], bad=[])) == []


def test_a_right_completion_with_the_lowest_score_is_not_judged() -> None:
    assert judged(subject(constant)) == []
    assert judged(subject(number, good=["42", "7"])) == []


def test_completions_that_are_right_for_others() -> None:
    assert foreign_trials(subject(number), 0, GOOD[0]) == [Trial(GOOD[1], 0)]
    same = [{"prompt": "6*7?", "answer": "42"}, {"prompt": "40+2?", "answer": "42"}]
    assert foreign_trials(subject(number, examples=same, good=[GOOD[0], GOOD[0] + " "]), 0, GOOD[0]) == []
    holding = ["<think>6*7</think><answer>42</answer>", "<think>not 42 </think><answer>7</answer>"]
    assert foreign_trials(subject(number, good=holding), 0, holding[0]) == []


def test_without_a_gold_answer_in_the_text_completions_of_other_examples_decide() -> None:
    words = {"fr": "bonjour", "de": "hallo"}

    def greets(completions: list[str], language: list[str], **kwargs: Any) -> list[float]:
        return [float(words[name] in text) for text, name in zip(completions, language, strict=True)]

    examples = [{"prompt": "say hello", "language": name} for name in words]
    assert all(right.judges for right in judged(subject(greets, examples=examples, good=list(words.values()), bad=[])))


def test_tags_that_a_reward_asks_for() -> None:
    one = subject(tree)
    assert required_tags(one, judged(one)[0]) == ["think", "answer"]
    bare = subject(number)
    assert required_tags(bare, judged(bare)[0]) == ["answer"]
    free = subject(naive)
    assert required_tags(free, judged(free)[0]) == []


def test_whether_scores_differ() -> None:
    assert distinguishes(subject(tree))
    assert not distinguishes(subject(constant))


def test_a_penalty_has_no_positive_scores() -> None:
    assert is_penalty(subject(shouting))
    assert is_penalty(subject(rk.repetition_penalty(ngram=3, unit="words")))
    assert not is_penalty(subject(naive))
    assert not is_penalty(subject(tree))
