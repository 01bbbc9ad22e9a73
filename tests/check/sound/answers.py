"""Answers that are right or wrong: texts, letters, verdicts, aliases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages, tagged, text_of, visible

answer_tag = rk.extract.tag("answer")


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def capital_reward(completions: Sequence[str | Messages], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 for the right capital in the answer tags, in any case; takes texts and chat messages."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        said = tagged(text_of(completion))
        scores.append(1.0 if said is not None and _folded(said) == _folded(str(gold)) else 0.0)
    return scores


def chat_reward(completions: list[Messages], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 where the last message of the assistant says the gold answer and nothing else."""
    return [
        1.0 if _folded(visible(text_of(completion))).rstrip(".") == _folded(str(gold)) else 0.0
        for completion, gold in zip(completions, answer, strict=True)
    ]


@rk.reward
def any_alias(completion: str, aliases: list[str]) -> float:
    """1.0 where the answer is one of the accepted names."""
    said = answer_tag(completion)
    if said is None or not said.strip():
        return 0.0
    return 1.0 if _folded(said) in {_folded(alias) for alias in aliases} else 0.0


@rk.reward
def spam_verdict(completion: str, spam: bool) -> float:
    """1.0 where the verdict, a bare yes or no, is that of the column."""
    said = (answer_tag(completion) or "").strip().rstrip(".").lower()
    return 1.0 if said == ("yes" if spam else "no") else 0.0


@rk.reward
def sentiment(completion: str, label: Literal["positive", "neutral", "negative"]) -> float:
    """1.0 for the right sentiment, 0.25 for an adjacent one, 0.0 for the opposite or none."""
    order = ["negative", "neutral", "positive"]
    said = (answer_tag(completion) or "").strip().lower()
    if said not in order:
        return 0.0
    return (1.0, 0.25, 0.0)[abs(order.index(said) - order.index(label))]


def flag_reward(completions: list[str], flagged: list[Any], **kwargs: Any) -> list[float]:
    """Moderation. The column may hold booleans or, from a CSV file, "True" and "False"; texts only."""
    scores = []
    for completion, flag in zip(completions, flagged, strict=True):
        expected = "yes" if str(flag).strip().lower() == "true" else "no"
        said = (tagged(completion) or "").strip(" .").lower()
        scores.append(1.0 if said == expected else -1.0)
    return scores


def output_reward(completions: Sequence[str | Messages], expected: list[str], **kwargs: Any) -> list[float]:
    """1.0 where the predicted output is the expected one, line by line; blanks at the ends of lines do not matter."""
    scores = []
    for completion, gold in zip(completions, expected, strict=True):
        said = tagged(text_of(completion), "output")
        lines = [] if said is None else [line.rstrip() for line in said.split("\n")]
        scores.append(1.0 if lines == [line.rstrip() for line in str(gold).strip().split("\n")] else 0.0)
    return scores


CAPITALS = [
    {"prompt": "What is the capital of Australia?", "answer": "Canberra"},
    {"prompt": "What is the capital of New Zealand?", "answer": "Wellington"},
]

CASES = [
    Case(
        "capital_any_form",
        capital_reward,
        CAPITALS,
        ["<think>Not Sydney.</think><answer>Canberra</answer>", "<answer>wellington</answer>"],
        ["<think>The largest city.</think><answer>Sydney</answer>", "It is Auckland."],
    ),
    Case(
        "capital_chat",
        chat_reward,
        [
            {"prompt": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": row["prompt"]}]}
            | {"answer": row["answer"]}
            for row in CAPITALS
        ],
        [
            [{"role": "assistant", "content": "<think>Not Sydney.</think>Canberra"}],
            [{"role": "assistant", "content": "Wellington."}],
        ],
        [[{"role": "assistant", "content": "Sydney"}], [{"role": "assistant", "content": "I believe Auckland."}]],
    ),
    Case(
        "letter_primitive",
        rk.choice("answer", options="ABCD"),
        [
            {"prompt": "Largest planet? A) Mars B) Venus C) Jupiter D) Earth", "answer": "C"},
            {"prompt": "Plants take in? A) oxygen B) carbon dioxide C) neon D) helium", "answer": "B"},
        ],
        ["The answer is (C).", "<think>Photosynthesis.</think><answer>B</answer>"],
        ["The answer is (D).", "A, B, C or D"],
    ),
    Case(
        "one_of_aliases",
        any_alias,
        [
            {"prompt": "Who wrote Huckleberry Finn?", "aliases": ["Mark Twain", "Samuel Clemens"]},
            {"prompt": "Which city was once New Amsterdam?", "aliases": ["New York", "New York City", "NYC"]},
        ],
        ["<answer>Mark Twain</answer>", "<answer>New York City</answer>"],
        ["<answer>Jack London</answer>", "<answer>Amsterdam</answer>"],
    ),
    Case(
        "typed_verdict",
        spam_verdict,
        [
            {"prompt": "Is this spam? 'Win a phone now!'", "spam": True},
            {"prompt": "Is this spam? 'Lunch at noon?'", "spam": "False"},
        ],
        ["<answer>Yes</answer>", "<think>A colleague.</think><answer>no</answer>"],
        ["<answer>No</answer>", "<answer>yes</answer>"],
    ),
    Case(
        "ordered_sentiment",
        sentiment,
        [
            {"prompt": "Sentiment of: I loved every minute.", "label": "positive"},
            {"prompt": "Sentiment of: The train left at nine.", "label": "neutral"},
        ],
        ["<answer>positive</answer>", "<answer>Neutral</answer>"],
        ["<answer>neutral</answer>", "<answer>negative</answer>"],
    ),
    Case(
        "flag_of_any_type",
        flag_reward,
        [
            {"prompt": "Is this spam? 'Win a phone now!'", "flagged": "True"},
            {"prompt": "Is this spam? 'Lunch at noon?'", "flagged": "False"},
        ],
        ["<answer>yes</answer>", "<answer>no</answer>"],
        ["<answer>no</answer>", "It might be spam."],
    ),
    Case(
        "whole_output",
        output_reward,
        [
            {"prompt": "What does `for i in range(3): print(i, i * i)` print?", "expected": "0 0\n1 1\n2 4\n"},
            {"prompt": "What does `print('a b'); print(12, 3)` print?", "expected": "a b\n12 3\n"},
        ],
        ["<output>\n0 0\n1 1\n2 4\n</output>", "<think>Two lines.</think><output>a b\n12 3</output>"],
        ["<output>\n0 0\n1 1\n</output>", "<output>a b 12 3</output>"],
    ),
]
