"""Laws of curves: damage that pays, lengths at which a score turns, and curves that are sound."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import rewardkit as rk
from tests.check.rewards import EXAMPLES, GOOD, assert_held, assert_skipped, broken, form, number

ORDERS: dict[str, Any] = {
    "examples": [{"gold": '{"item": "lamp", "count": 3, "paid": true}'}],
    "good": ['{"item": "lamp", "count": 3, "paid": true}'],
    "bad": ['{"item": "desk", "count": 1, "paid": false}'],
}


def marks(completions: list[str], **kwargs: Any) -> list[float]:
    """A quarter for each mark."""
    return [
        sum(text.count(mark) == 1 for mark in ("<think>", "</think>", "<answer>", "</answer>")) / 4
        for text in completions
    ]


def upside_down(completions: list[str], **kwargs: Any) -> list[float]:
    """All marks count most, but none of them counts more than one."""
    found = [sum(mark in text for mark in ("<think>", "</think>", "<answer>", "</answer>")) for text in completions]
    return [1.0 if count == 4 else (3 - count) / 4 for count in found]


def fields(completions: list[str], gold: list[str], **kwargs: Any) -> list[float]:
    """The share of right fields."""
    return [_share(text, json.loads(cell)) for text, cell in zip(completions, gold, strict=True)]


def wrong_fields(completions: list[str], gold: list[str], **kwargs: Any) -> list[float]:
    """Like `fields`, but nothing right is better than something right."""
    shares = fields(completions, gold)
    return [share if share in (0.0, 1.0) else 0.5 - share / 2 for share in shares]


def _share(text: str, wanted: dict[str, Any]) -> float:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(found, dict):
        return 0.0
    right: int = sum(found.get(name) == value for name, value in wanted.items())
    return right / len(wanted)


def window(completions: list[str], **kwargs: Any) -> list[float]:
    """Best from 10 to 100 words, then less and less."""
    sizes = [len(text.split()) for text in completions]
    return [min(1.0, size / 10) if size <= 100 else max(0.0, 1.0 - (size - 100) / 100) for size in sizes]


def turning(completions: list[str], **kwargs: Any) -> list[float]:
    """A penalty whose progress is not limited to 1, so that the square turns up again."""
    return [max(-1.0, min(1.0, (1.0 - len(text.split()) / 400) ** 2)) for text in completions]


def only_text(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """The answer in tags, or nothing but the answer: removing all tags is no damage."""
    bare = [re.sub(r"</?answer>", "", text) if text.count("answer>") in (0, 2) else "" for text in completions]
    return [float(text.strip() == gold) for text, gold in zip(bare, answer, strict=True)]


@pytest.mark.parametrize("reward", [marks, form])
def test_partial_credit_for_form_that_falls_is_sound(reward: Any) -> None:
    assert_held(reward, "damage_never_pays")


def test_fewer_marks_that_earn_more_are_found() -> None:
    (found,) = broken(upside_down, "damage_never_pays")
    assert "tag marks removed" in found.why
    assert found.score == 0.25


def test_values_that_are_replaced_one_after_the_other() -> None:
    assert_held(fields, "damage_never_pays", **ORDERS)
    (found,) = broken(wrong_fields, "damage_never_pays", **ORDERS)
    assert "values replaced" in found.why


def test_bare_answers_are_no_damage() -> None:
    texts = {
        "good": ["<answer>42</answer>", "<answer>7</answer>"],
        "bad": ["<answer>41</answer>", "<answer>8</answer>"],
    }
    assert_skipped(only_text, "damage_never_pays", "whose parts change the score", **texts)
    assert_skipped(number, "damage_never_pays", "whose parts change the score")


@pytest.mark.parametrize(
    "reward", [window, rk.length.overlong(60, 30, unit="words"), rk.repetition_penalty(unit="words")]
)
def test_one_best_length_is_sound(reward: Any) -> None:
    assert_held(reward, "one_best_length")


@pytest.mark.parametrize("reward", [rk.number("answer"), rk.exact("answer")])
def test_words_before_an_answer_without_marks_do_not_deny_it(reward: Any) -> None:
    answers = {"examples": [{"answer": "42"}, {"answer": "17"}], "good": ["Answer: 42", "Answer: 17"]}
    assert_skipped(reward, "one_best_length", "does not change its score", **answers, bad=["Answer: 43"] * 2)


def test_a_length_at_which_the_score_turns_is_found() -> None:
    (found,) = broken(turning, "one_best_length")
    assert len(found.completion.split()) > 400
    assert found.completion.startswith("<think>")


def test_a_reward_that_ignores_lengths_is_skipped() -> None:
    assert_skipped(number, "one_best_length", "the length of a correct completion does not change its score")
    assert_skipped(number, "one_best_length", "no correct completions", examples=EXAMPLES, good=())
    assert GOOD


def scored_with(bonus: float, limit: int, penalty: float) -> Any:
    """A function that pays correct answers, with a bonus for each word and a penalty for each word above a limit."""

    def reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        right = [f"<answer>{gold}</answer>" in text for text, gold in zip(completions, answer, strict=True)]
        words = [len(text.split()) for text in completions]
        bonuses = [bonus * count - penalty * max(0, count - limit) for count in words]
        return [float(one) + (extra if bonus or one else 0.0) for one, extra in zip(right, bonuses, strict=True)]

    return reward


def test_length_that_outweighs_correctness() -> None:
    (paid,) = broken(scored_with(0.001, 0, 0.0), "correctness_outweighs_length")
    assert "an incorrect answer with 3200 more words scores 3." in paid.why
    (refused,) = broken(scored_with(0.0, 100, 0.002), "correctness_outweighs_length")
    assert "a correct completion with 3200 more words scores -5." in refused.why
    assert_held(scored_with(0.0001, 0, 0.0), "correctness_outweighs_length")
    assert_held(scored_with(0.0, 0, 0.0), "correctness_outweighs_length")
    assert_skipped(form, "correctness_outweighs_length", "set by its options")
