"""Laws of slips: code that does something else than it says is reported where the repaired code scores otherwise."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any

import pytest

from tests.check.rewards import assert_held, assert_skipped, broken, tagged_number

CITIES: dict[str, Any] = {
    "examples": [
        {"prompt": "Which city lies on the Seine?", "answer": "Paris"},
        {"prompt": "Which is the capital of Australia?", "answer": "Canberra"},
    ],
    "good": ["It lies on the Seine.\nAnswer: Paris", "It was built for that.\nAnswer: Canberra"],
    "bad": ["It lies on the Seine.\nAnswer: Lyon", "It was built for that.\nAnswer: Sydney"],
}


def last_line(text: str) -> str:
    return text.strip().split("\n")[-1].lower()


def letters_stripped(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """lstrip takes letters: "answer: seoul" becomes "oul"."""
    said = [last_line(text).lstrip("answer: ") for text in completions]
    return [float(one == gold.lower()) for one, gold in zip(said, answer, strict=True)]


def prefix_removed(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    said = [last_line(text).removeprefix("answer: ") for text in completions]
    return [float(one == gold.lower()) for one, gold in zip(said, answer, strict=True)]


def articles_kept(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """The flag is the number of replacements: capital articles stay."""
    said = [re.sub(r"\b(?:a|an|the) ", "", text.split("Answer: ")[-1], re.IGNORECASE) for text in completions]  # noqa: B034
    return [float(one.strip() == gold) for one, gold in zip(said, answer, strict=True)]


def pattern_of_gold(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """ "C++" is no pattern for itself."""
    return [
        float(bool(re.search(rf"Answer: {gold}\s*$", text))) for text, gold in zip(completions, answer, strict=True)
    ]


def without_letters(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """From 200 characters on, frequent letters do not count."""
    return [
        SequenceMatcher(None, gold, text.split("Answer: ")[-1]).ratio()
        for text, gold in zip(completions, answer, strict=True)
    ]


def shouting(completions: list[str], **kwargs: Any) -> list[float]:
    """No text in capitals begins or ends with one of the letters."""
    return [float(text.upper().strip("answer").endswith("!")) for text in completions]


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (letters_stripped, "removes any of these letters"),
        (articles_kept, "interprets the flag as the maximum number of replacements"),
        (pattern_of_gold, "without re.escape()"),
        (without_letters, "ignores frequent letters"),
    ],
)
def test_a_slip_that_changes_a_score_is_reported_with_its_line(reward: Any, said: str) -> None:
    (one,) = broken(reward, "code_matches_intent", **CITIES)
    assert said in one.why
    line = int(re.findall(r"line (\d+)", one.why)[0])
    first = reward.__code__.co_firstlineno
    assert first < line < first + 8


def test_a_slip_without_effect_is_not_reported() -> None:
    assert_held(shouting, "code_matches_intent", **CITIES)


@pytest.mark.parametrize("reward", [prefix_removed, tagged_number])
def test_sound_code_is_not_blamed(reward: Any) -> None:
    assert_skipped(reward, "code_matches_intent", "no construct", **CITIES)
