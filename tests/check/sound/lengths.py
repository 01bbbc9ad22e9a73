"""Lengths and penalties: the maximum is often 0, and often paid for an empty text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages, text_of

whole = rk.extract.whole()

NOTE = "The council met for three hours, argued about parking, and moved the summer fair to the second weekend of July."
TALKATIVE = "The council met, and it met for a long time, and what it talked about was, all in all, mostly parking. "


@rk.reward
def summary_length(completion: str, max_words: int) -> float:
    """1.0 for 5 to `max_words` words, falling to 0.0 at twice as many; shorter ones get the share of 5 words."""
    words = len(re.findall(r"\w+", whole(completion) or ""))
    if words < 5:
        return words / 5
    return max(0.0, min(1.0, 2.0 - words / max(1, max_words)))


@rk.reward(bounds=(-0.5, 0.0))
def no_filler(completion: str) -> float:
    """-0.1 for each different filler word, down to -0.5; 0.0 is the best there is."""
    words = set(re.findall(r"[a-z]+", (whole(completion) or "").lower()))
    return 0.0 - 0.1 * len(words & {"basically", "obviously", "actually", "literally", "simply"})


def overlong_reward(completions: Sequence[str | Messages], **kwargs: Any) -> list[float]:
    """0.0 up to 400 characters, thinking included, then falling to -1.0 at 800: a penalty, to be added to others."""
    return [max(-1.0, min(0.0, (400 - len(text_of(completion))) / 400)) for completion in completions]


CASES = [
    Case(
        "between_word_counts",
        summary_length,
        [{"prompt": "Summarize: " + NOTE, "max_words": 10}, {"prompt": "In 12 words: " + NOTE, "max_words": 12}],
        ["The council moved the summer fair.", "After a long talk about parking the fair was moved to July."],
        [TALKATIVE, "Fair moved."],
    ),
    Case(
        "words_primitive",
        rk.length.between(4, 12, unit="words", margin=8),
        [{"prompt": "Summarize: " + NOTE}, {"prompt": "Shorten: " + NOTE}],
        ["The council moved the summer fair.", "After long talks the fair was moved to July."],
        [TALKATIVE, "Moved."],
    ),
    Case(
        "filler_penalty",
        no_filler,
        [{"prompt": "Why is the sky blue?"}, {"prompt": "Why is snow white?"}],
        ["Air scatters blue light more than red light.", "Its crystals scatter all colors alike."],
        ["It is basically the air, obviously.", "Snow is literally just simply white."],
    ),
    Case(
        "overlong_penalty",
        overlong_reward,
        [{"prompt": "Why is the sky blue?"}, {"prompt": "Summarize: " + NOTE}],
        ["Air scatters blue light more than red light.", "The council moved the summer fair."],
        ["Air scatters blue light, and so on. " * 20, TALKATIVE * 6],
    ),
    Case(
        "repetition_primitive",
        rk.repetition_penalty(ngram=3, unit="words"),
        [{"prompt": "Why is the sky blue?"}, {"prompt": "Why is snow white?"}],
        ["Air scatters blue light more than red light.", "Its crystals scatter all colors alike."],
        ["It is the air, it is the air, it is the air.", "so white so white so white so white"],
    ),
    Case(
        "filler_as_penalty_of_form",
        rk.exact("answer", extract=rk.extract.tag("answer"))
        + rk.penalty(rk.contains(none=["as an AI", "I cannot"]), 0.5),
        [
            {"prompt": "Which metal is liquid?", "answer": "mercury"},
            {"prompt": "Planet with rings?", "answer": "Saturn"},
        ],
        ["<answer>mercury</answer>", "<answer>Saturn</answer>"],
        ["As an AI, I say <answer>iron</answer>", "<answer>Mars</answer>"],
    ),
]
