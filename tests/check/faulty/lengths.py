"""Lengths and repetition: bonuses and penalties on how much is said."""

from __future__ import annotations

from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import visible

whole = rk.extract.whole()

LONG = (
    "Tides rise and fall because the Moon pulls more strongly on the near side of the Earth than on its center, and "
    "more strongly on the center than on the far side. The water is therefore drawn into two bulges, one towards the "
    "Moon and one away from it, and as the Earth turns beneath them each coast passes through both every day. The Sun "
    "adds a smaller pull of its own, which makes the spring tides of the new and the full Moon."
)
NOTE = (
    "The council met on Tuesday for three hours. Members argued about parking fees, about the leaking roof of the "
    "library, and about the date of the summer fair, which in the end was moved to the second weekend of July so that "
    "the school choir can take part in it. "
)


def detail_reward(completions: list[str], **kwargs: Any) -> list[float]:
    """Explanations should be thorough: full marks from 300 characters on, less for shorter ones."""
    scores = []
    for completion in completions:
        length = len(completion.rpartition("</think>")[2])
        scores.append(min(1.0, length / 300))
    return scores


def concise_reward(completions: list[str], **kwargs: Any) -> list[float]:
    """Summaries of at most 30 words get full marks; from there it falls to nothing at 60 words."""
    scores = []
    for completion in completions:
        words = len(visible(completion).split())
        if words <= 30:
            scores.append(1.0)
        else:
            scores.append(max(0.0, 1.0 - (words - 30) / 30))
    return scores


@rk.reward
def vocabulary(completion: str) -> float:
    """The share of different words: 1.0 where none is repeated."""
    words = [word.strip(".,;:!?").lower() for word in (whole(completion) or "").split()]
    return len(set(words)) / len(words)


fluent_answer = rk.exact("answer", extract=rk.extract.tag("answer")) - 0.5 * rk.repetition_penalty(
    ngram=2, unit="words"
)


@rk.reward
def right_and_brief(completion: str, answer: str) -> float:
    """1.0 for the right answer, and a bonus for saying it briefly."""
    said = rk.extract.tag("answer")(completion)
    if said is None or said.strip().lower() != answer.strip().lower():
        return 0.0
    score = 1.0
    if len(completion) < 60:
        score += 0.1
    return score


CASES = [
    Case(
        "padding_is_detail",
        detail_reward,
        [{"prompt": "Explain the tides in detail."}, {"prompt": "Why are there two high tides a day? Be thorough."}],
        [LONG, "Good question. " + LONG],
        ["The Moon does it.", "Because the Earth turns."],
        "Characters are counted, so blanks, full stops or one word over and over are as good as an explanation.",
        "len(completion) rewards in first notebooks",
    ),
    Case(
        "empty_is_concise",
        concise_reward,
        [{"prompt": "Summarize in at most 30 words: " + NOTE}, {"prompt": "Shorten to 30 words: " + NOTE}],
        [
            "The council discussed parking and the library roof, and moved the summer fair to the second July weekend.",
            "Parking, the roof, and a new date for the fair: the second weekend of July.",
        ],
        [NOTE * 2, NOTE + "All of this took a long time, and not all of the members were content with how it went."],
        "The empty completion is the most concise one and earns full marks.",
        "length penalties used as rewards",
    ),
    Case(
        "no_words_divide",
        vocabulary,
        [{"prompt": "Describe the sea without repeating a word."}, {"prompt": "Name five colors."}],
        ["Gray waves roll slowly towards an empty shore.", "Red, blue, green, white, black."],
        ["The sea is the sea and the sea is wide.", "Red, red, blue, red, blue."],
        "The empty completion, or one that only thinks, raises ZeroDivisionError.",
        "distinct-word ratios",
    ),
    Case(
        "penalty_subtracted",
        fluent_answer,
        [
            {"prompt": "What is the capital of France?", "answer": "Paris"},
            {"prompt": "What is the capital of Japan?", "answer": "Tokyo"},
        ],
        ["It is the largest city. <answer>Paris</answer>", "It was once called Edo. <answer>Tokyo</answer>"],
        ["It is in the south. <answer>Lyon</answer>", "It was once the capital. <answer>Kyoto</answer>"],
        "The penalty is negative already; subtracted, it pays up to 0.5 for repetition.",
        "mixing TRL's negative penalties with own weights",
    ),
    Case(
        "bonus_beyond_bounds",
        right_and_brief,
        [
            {"prompt": "What is the capital of France?", "answer": "Paris"},
            {"prompt": "What is the capital of Japan?", "answer": "Tokyo"},
        ],
        [
            "<think>The seat of government has been there for centuries, so:</think><answer>Paris</answer>",
            "<think>Kyoto was the capital until 1868, and then it moved.</think><answer>Tokyo</answer>",
        ],
        ["<think>A large city.</think><answer>Lyon</answer>", "<think>An old capital.</think><answer>Kyoto</answer>"],
        "A brief right answer scores 1.1, outside the declared bounds (0, 1), and is an error.",
        "bonuses on top of full marks",
    ),
]
