"""Laws of promises: scores outside the range of the docstring, and limits of length that never act."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.check.rewards import EXAMPLES, GOOD, assert_held, assert_skipped, broken, number

WORDS: dict[str, Any] = {
    "examples": [
        {"prompt": "Name both.", "wanted": ["iron", "copper"]},
        {"prompt": "Both?", "wanted": ["tin", "lead"]},
    ],
    "good": ["They are iron and copper.", "They are tin and lead."],
    "bad": ["They are wood and glass.", "They are wood and glass."],
}
CHAT: dict[str, Any] = {
    "examples": EXAMPLES,
    "good": [[{"role": "assistant", "content": text}] for text in GOOD],
    "bad": [[{"role": "assistant", "content": "I cannot say."}]] * 2,
}


def mentioned(completions: list[str], wanted: list[list[str]], **kwargs: Any) -> list[float]:
    """Return the share of the wanted words."""
    pairs = zip(completions, wanted, strict=True)
    return [sum(text.count(word) for word in words) / len(words) for text, words in pairs]


def mentioned_once(completions: list[str], wanted: list[list[str]], **kwargs: Any) -> list[float]:
    """Return the share of the wanted words."""
    pairs = zip(completions, wanted, strict=True)
    return [sum(word in text for word in words) / len(words) for text, words in pairs]


def near(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Score in [-1, 1], by the distance from the answer."""
    found = [re.search(r"<answer>(-?\d{1,9})</answer>", text) for text in completions]
    pairs = zip(found, answer, strict=True)
    return [1 - abs(int(one[1]) - int(gold)) / 10 if one else -1.0 for one, gold in pairs]


def near_enough(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Score in [-1, 1], by the distance from the answer."""
    return [max(-1.0, score) for score in near(completions, answer)]


def rated(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """The judge rates from 1 to 5; the rating is divided by 5."""
    return [0.2 + 0.8 * score for score in map(float, near_enough(completions, answer))]


def _right(text: str, gold: str) -> float:
    return float(f"<answer>{gold}</answer>" in text)


def counts_messages(completions: list[Any], answer: list[str], **kwargs: Any) -> list[float]:
    pairs = zip(completions, answer, strict=True)
    return [
        _right(completion[-1]["content"], gold) - (0.5 if len(completion) > 2_000 else 0.0)
        for completion, gold in pairs
    ]


def counts_letters(completions: list[Any], answer: list[str], **kwargs: Any) -> list[float]:
    """Pays the right answer, less if the text is too long."""
    pairs = zip(completions, answer, strict=True)
    return [
        _right(completion[-1]["content"], gold) - (0.5 if len(completion[-1]["content"]) > 2_000 else 0.0)
        for completion, gold in pairs
    ]


def length_penalty(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """The limit is that of a line, but the text is split at spaces, and only its first word is measured."""
    pairs = zip(completions, answer, strict=True)
    return [_right(text, gold) - 0.5 * (len(text.split(" ")[0]) > 2_000) for text, gold in pairs]


def without_limit(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Pays the right answer. There is no length penalty, and nothing is cut without a word budget."""
    return [_right(text, gold) for text, gold in zip(completions, answer, strict=True)]


def test_a_share_that_is_more_than_one() -> None:
    (found,) = broken(mentioned, "within_documented_range", **WORDS)
    assert found.score is not None
    assert found.score > 1
    assert "its docstring promises 0 to 1" in found.why
    assert_held(mentioned_once, "within_documented_range", **WORDS)


def test_a_score_below_its_range() -> None:
    (found,) = broken(near, "within_documented_range")
    assert found.score is not None
    assert found.score < -1
    assert "its docstring promises -1 to 1" in found.why
    assert_held(near_enough, "within_documented_range")


def test_a_range_of_something_else_is_no_promise() -> None:
    assert_skipped(rated, "within_documented_range", "score outside the range in its docstring")


@pytest.mark.parametrize(
    ("text", "low"),
    [
        ("Score in [-2, 1].", -2),
        ("Returns a value between -2 and 1.", -2),
        ("The reward, from -2 to 1", -2),
        ("Penalty (-2 to 1)", -2),
        ("The score is within [-2.0, 1.0].", -2),
    ],
)
def test_ranges_are_read_from_docstrings(text: str, low: float) -> None:
    def distance(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        return near(completions, answer)

    distance.__doc__ = text
    (found,) = broken(distance, "within_documented_range")
    assert f"promises {low:g} to 1" in found.why


def test_the_number_of_messages_is_not_the_length_of_the_text() -> None:
    (found,) = broken(counts_messages, "length_is_of_the_text", **CHAT)
    assert "scores 1 with 50,000 more words, the same as without them" in found.why
    assert_held(counts_letters, "length_is_of_the_text", **CHAT)


def test_a_limit_that_never_acts_is_found_by_its_name() -> None:
    (found,) = broken(length_penalty, "length_is_of_the_text")
    assert len(found.completion.split()) >= 1_000


@pytest.mark.parametrize("limit", [2_000, 20_480, 32_768])
def test_limits_of_long_contexts_act(limit: int) -> None:
    def soft_overlong_punishment(
        completions: list[str], answer: list[str], completion_ids: list[list[int]], **kwargs: Any
    ) -> list[float]:
        rows = zip(completions, answer, completion_ids, strict=True)
        return [_right(text, gold) - min(1.0, max(0, len(ids) - limit) / 4_096) for text, gold, ids in rows]

    assert_held(soft_overlong_punishment, "length_is_of_the_text")


def test_where_they_do_not_apply() -> None:
    assert_skipped(number, "within_documented_range", "its docstring states no range")
    assert_skipped(number, "length_is_of_the_text", "no name, docstring, or declaration mentions the length")
    assert_skipped(near, "within_documented_range", "no correct completions", good=[])
    assert_skipped(length_penalty, "length_is_of_the_text", "no correct completions", good=[])


def test_a_docstring_that_rules_out_a_penalty_promises_none() -> None:
    assert_skipped(without_limit, "length_is_of_the_text", "no name, docstring, or declaration mentions the length")
