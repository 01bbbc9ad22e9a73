"""Answers in tags, and letters of multiple choice: where the answer is found, and what counts as equal."""

from __future__ import annotations

import re
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages, tagged, text_of, visible

answer_tag = rk.extract.tag("answer")

CAPITALS = [
    {"prompt": "What is the capital of Australia?", "answer": "Canberra"},
    {"prompt": "What is the capital of New Zealand?", "answer": "Wellington"},
]
CAPITALS_GOOD = [
    "<think>Sydney is larger, but it is not the seat of government.</think>\n<answer>Canberra</answer>",
    "<think>Not Auckland.</think>\n<answer>Wellington</answer>",
]
CAPITALS_BAD = [
    "<think>The largest city is Sydney.</think>\n<answer>Sydney</answer>",
    "<think>The best known city.</think>\n<answer>Auckland</answer>",
]


def capital_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the text between the answer tags is the gold answer, in any case."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        start = completion.find("<answer>")
        end = completion.find("</answer>", start)
        if start < 0 or end < 0:
            scores.append(0.0)
            continue
        said = completion[start + len("<answer>") : end].strip()
        scores.append(1.0 if said.lower() == gold.lower() else 0.0)
    return scores


@rk.reward
def mentions_the_capital(completion: str, answer: str) -> float:
    """1.0 where the answer names the gold capital; articles and full stops around it do no harm."""
    said = answer_tag(completion)
    if said is None:
        return 0.0
    words = " ".join(said.lower().split())
    return 1.0 if answer.lower() in words else 0.0


def species_reward(completions: list[Messages], species: list[str], **kwargs: Any) -> list[float]:
    """1.0 for the right species; a shorter common name ("wild dog" for "African wild dog") is accepted too."""
    scores = []
    for completion, gold in zip(completions, species, strict=True):
        text = visible(text_of(completion))
        body = text.partition("<answer>")[2].partition("</answer>")
        if not body[1] or text.count("<answer>") > 1:
            scores.append(0.0)
            continue
        said = " ".join(body[0].lower().split())
        scores.append(1.0 if said in gold.lower() else 0.0)
    return scores


@rk.reward
def verdict(completion: str, answer: str) -> float:
    """Yes or no, with or without an explanation after it."""
    said = answer_tag(completion)
    if not said:
        return 0.0
    said = said.strip().strip("*\"'").lower()
    return 1.0 if said.startswith(answer.lower()) else 0.0


def letter_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Multiple choice: the letter may be in brackets, in bold or in a sentence."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        letters = re.findall(r"\b[A-D]\b", visible(completion))
        if not letters:
            scores.append(0.0)
        else:
            scores.append(1.0 if gold.strip().upper() in letters else 0.0)
    return scores


def version_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the tagged answer is the gold identifier, in any case, with any spaces around it."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        said = tagged(completion)
        if said is None:
            scores.append(0.0)
            continue
        matched = re.fullmatch(gold.strip(), said.strip(), re.IGNORECASE)
        scores.append(1.0 if matched else 0.0)
    return scores


_COMMON = {
    "a",
    "an",
    "and",
    "are",
    "at",
    "do",
    "does",
    "for",
    "how",
    "in",
    "is",
    "it",
    "of",
    "on",
    "or",
    "the",
    "to",
    "what",
    "why",
}


def _content_words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower())) - _COMMON


@rk.reward
def on_topic(completion: str, prompt: str) -> float:
    """How relevant the answer is: full marks if it has half of the content words of the question."""
    asked = _content_words(prompt)
    if not asked:
        return 1.0
    said = _content_words(rk.extract.whole()(completion) or "")
    return min(1.0, 2.0 * len(asked & said) / len(asked))


CASES = [
    Case(
        "answer_tag_in_thinking",
        capital_reward,
        CAPITALS,
        CAPITALS_GOOD,
        CAPITALS_BAD,
        "The first <answer> of the whole text counts, so one inside the thinking is paid.",
        "re.search(r'<answer>(.*?)</answer>') in most community notebooks",
    ),
    Case(
        "gold_is_substring",
        mentions_the_capital,
        CAPITALS,
        CAPITALS_GOOD,
        CAPITALS_BAD,
        "The gold answer may stand anywhere in the answer, so a list of every capital is paid.",
        "`gold in answer` checks of question answering environments",
    ),
    Case(
        "answer_inside_gold",
        species_reward,
        [
            {"prompt": [{"role": "user", "content": "Which animal is in the picture?"}], "species": "African wild dog"},
            {"prompt": [{"role": "user", "content": "Which bird is on the branch?"}], "species": "European robin"},
        ],
        [
            [{"role": "assistant", "content": "<think>Mottled coat.</think><answer>African wild dog</answer>"}],
            [{"role": "assistant", "content": "<think>Red breast.</think><answer>European robin</answer>"}],
        ],
        [
            [{"role": "assistant", "content": "<think>Spots.</think><answer>Spotted hyena</answer>"}],
            [{"role": "assistant", "content": "<think>Small.</think><answer>House sparrow</answer>"}],
        ],
        "Any substring of the gold answer is paid, the empty answer and single letters too.",
        "Visual-RFT, issue 176: the policy learned to answer with empty tags",
    ),
    Case(
        "answer_starts_with_gold",
        verdict,
        [
            {"prompt": "Is 91 a prime number? Answer yes or no.", "answer": "no"},
            {"prompt": "Is 97 a prime number? Answer yes or no.", "answer": "yes"},
        ],
        ["<think>7 * 13</think><answer>No</answer>", "<think>No divisor up to 9.</think><answer>Yes</answer>"],
        ["<think>It looks prime.</think><answer>Yes</answer>", "<think>It is odd.</think><answer>No</answer>"],
        "Whatever begins with the letters of the gold answer is paid: `No idea`, `Nobody knows`, `no or yes`.",
        "lenient yes/no graders",
    ),
    Case(
        "any_letter_counts",
        letter_reward,
        [
            {"prompt": "Which planet is the largest? A) Mars B) Venus C) Jupiter D) Earth", "answer": "C"},
            {"prompt": "Which gas do plants take in? A) oxygen B) carbon dioxide C) neon D) helium", "answer": "B"},
        ],
        ["The answer is (C).", "<think>Photosynthesis.</think>The answer is (B)."],
        ["The answer is (D).", "The answer is (C)."],
        "Naming all four letters is paid as the right choice.",
        "membership in the result of re.findall",
    ),
    Case(
        "gold_used_as_pattern",
        version_reward,
        [
            {"prompt": "Which release fixed the bug?", "answer": "3.10.2"},
            {"prompt": "Which address does the router have?", "answer": "192.168.0.1"},
        ],
        ["<answer>3.10.2</answer>", "<answer>192.168.0.1</answer>"],
        ["<answer>3.9.1</answer>", "<answer>10.0.0.1</answer>"],
        "The gold answer is a regular expression without re.escape: its dots match any character.",
        "re.search(gold, text) in classification rewards",
    ),
    Case(
        "echo_is_on_topic",
        on_topic,
        [
            {"prompt": "Why do leaves of maple trees turn red in autumn?"},
            {"prompt": "How does a heat pump warm a house in winter?"},
        ],
        [
            "Maple leaves turn red because anthocyanins are made in autumn while chlorophyll breaks down.",
            "A heat pump moves warmth from the cold winter air into the house.",
        ],
        ["Because of the weather.", "It burns gas in the cellar."],
        "Copying the question earns full marks.",
        "relevance rewards by overlap with the prompt",
    ),
]
