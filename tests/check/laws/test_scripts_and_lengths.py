"""Laws of curves for texts: long ones are like short ones, and words may be repeated in any script."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from tests.check.rewards import assert_held, assert_skipped, broken, form, number

TEXTS: dict[str, Any] = {
    "examples": [
        {"prompt": "Correct: the man go home in the evening", "answer": "the man goes home in the evening"},
        {"prompt": "Correct: a cat sit on the warm stove", "answer": "a cat sits on the warm stove"},
    ],
    "good": ["the man goes home in the evening", "a cat sits on the warm stove"],
    "bad": ["no idea what that is about", "no idea what that is about"],
}
POEMS: dict[str, Any] = {
    "examples": [{"prompt": "写一首诗", "answer": "山"}, {"prompt": "A poem, please.", "answer": "hill"}],
    "good": ["山高水长，云淡风轻", "a hill so high, a brook so long"],
    "bad": ["好好好好好好好好好好好好", "so so so so so so so so so so"],
}


def ratio(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """From 200 letters on, frequent ones do not count."""
    return [SequenceMatcher(None, gold, text).ratio() for text, gold in zip(completions, answer, strict=True)]


def ratio_of_all(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    rows = zip(completions, answer, strict=True)
    return [SequenceMatcher(None, gold, text, autojunk=False).ratio() for text, gold in rows]


def distinct_words(completions: list[str], **kwargs: Any) -> list[float]:
    """A text without spaces is one word, which is never repeated."""
    words = [text.split() for text in completions]
    return [len(set(one)) / max(1, len(one)) for one in words]


def distinct_pairs(completions: list[str], **kwargs: Any) -> list[float]:
    """Pairs of letters, in any script."""
    pairs = [[text[place : place + 2] for place in range(len(text) - 1)] for text in completions]
    return [len(set(one)) / max(1, len(one)) for one in pairs]


def test_letters_that_are_dropped_from_long_texts() -> None:
    (found,) = broken(ratio, "long_texts_like_short_ones", **TEXTS)
    assert len(found.columns["answer"]) > 200
    assert found.completion == found.columns["answer"].split(" ", 1)[1]
    assert_held(ratio_of_all, "long_texts_like_short_ones", **TEXTS)


def test_repetition_without_spaces() -> None:
    (found,) = broken(distinct_words, "repetition_in_any_script", **POEMS)
    assert found.completion == "天空是蓝色的海水也是" * 40
    assert_held(distinct_pairs, "repetition_in_any_script", **POEMS)


def test_a_column_with_a_language_is_enough() -> None:
    english = {
        "examples": [{"prompt": "A poem, please.", "language": "en"}],
        "good": ["a hill so high, a brook so long"],
        "bad": ["so so so so so so so so"],
    }
    broken(distinct_words, "repetition_in_any_script", **english)
    rows = [{"prompt": "A poem, please.", "style": "short"}]
    assert_skipped(
        distinct_words, "repetition_in_any_script", "the examples are in English", **{**english, "examples": rows}
    )


def test_where_they_do_not_apply() -> None:
    assert_skipped(number, "long_texts_like_short_ones", "no gold answer is text with partial credit")
    assert_skipped(form, "long_texts_like_short_ones", "no correct completions", good=[])
    assert_skipped(form, "repetition_in_any_script", "no correct completions", good=[])

    def mountains(completions: list[str], **kwargs: Any) -> list[float]:
        return [float(not text.startswith(("so", "好"))) for text in completions]

    assert_skipped(mountains, "repetition_in_any_script", "no trial showed that repetition lowers the score", **POEMS)
