"""Texts and labels: overlap with a gold text, style, classification."""

from __future__ import annotations

import difflib
import re
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import tagged, visible
from tests.check.tasks import FACTS, FACTS_BAD, FACTS_GOOD

whole = rk.extract.whole()
answer_tag = rk.extract.tag("answer")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@rk.reward
def fact_overlap(completion: str, answer: str) -> float:
    """The share of the gold answer's words that the answer has."""
    gold = set(_words(answer))
    said = set(_words(answer_tag(completion) or ""))
    if not gold:
        return 0.0
    return len(gold & said) / len(gold)


def precision_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """The share of words that are in the gold answer."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        said = _words(tagged(completion) or "")
        known = set(_words(gold))
        scores.append(sum(word in known for word in said) / len(said) if said else 0.0)
    return scores


@rk.reward
def no_two_alike(completion: str) -> float:
    """1.0 where no sentence is much like another one; the share of sentences that are new otherwise."""
    text = whole(completion) or ""
    sentences = [sentence.strip().lower() for sentence in re.split(r"[.!?\n]", text) if sentence.strip()]
    if not sentences:
        return 0.0
    new = 0
    for position, sentence in enumerate(sentences):
        alike = [difflib.SequenceMatcher(None, sentence, other).ratio() for other in sentences[:position]]
        new += max(alike, default=0.0) < 0.9
    return new / len(sentences)


_STEPS = re.compile(r"\b(?:first|second|third|next|then|therefore|finally)\b", re.IGNORECASE)


def reasoning_reward(completions: list[str], **kwargs: Any) -> list[float]:
    """A third for every word that marks a step of reasoning, to encourage at least three steps."""
    scores = []
    for completion in completions:
        steps = _STEPS.findall(completion)
        scores.append(len(steps) / 3)
    return scores


@rk.reward
def graded_sentiment(completion: str, answer: str) -> float:  # type: ignore[return]
    """1.0 for the right sentiment, 0.0 for another one; with a note if it is not a sentiment."""
    said = (answer_tag(completion) or "").strip().lower()
    if said == answer.lower():
        return 1.0
    if said in ("positive", "neutral", "negative"):
        return 0.0
    note = f"no sentiment: {said[:50]!r}"
    if not said:
        note = "no answer"
    rk.Score(0.0, note=note)


def tagged_answer_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float | None]:
    """1.0 for the gold answer in the tags, 0.0 for another one."""
    scores: list[float | None] = []
    for completion, gold in zip(completions, answer, strict=True):
        said = tagged(completion)
        if said is None:
            scores.append(None)
            continue
        scores.append(1.0 if said.lower() == gold.lower() else 0.0)
    return scores


def moderation_reward(completions: list[str], flagged: list[str], **kwargs: Any) -> list[float]:
    """1.0 where the verdict, yes or no, agrees with the column."""
    scores = []
    for completion, flag in zip(completions, flagged, strict=True):
        expected = "yes" if bool(flag) else "no"
        said = (tagged(completion) or "").strip(" .").lower()
        scores.append(1.0 if said == expected else 0.0)
    return scores


def polite_reward(completions: list[str], **kwargs: Any) -> list[float]:
    """1.0 for replies that greet, 0.0 otherwise; only the first line is looked at."""
    scores = []
    for completion in completions:
        first = visible(completion).splitlines()[0].lower()
        scores.append(1.0 if first.startswith(("hello", "dear", "good morning")) else 0.0)
    return scores


CASES = [
    Case(
        "superset_is_perfect",
        fact_overlap,
        FACTS,
        FACTS_GOOD,
        FACTS_BAD,
        "Only recall counts: a list of every painter and every year earns full marks.",
        "token recall, partial and token-set ratios as rewards",
    ),
    Case(
        "one_safe_word_is_perfect",
        precision_reward,
        FACTS,
        FACTS_GOOD,
        FACTS_BAD,
        "Only precision counts: one word of the gold answer, once or a thousand times, earns full marks.",
        "faithfulness by word overlap",
    ),
    Case(
        "pairwise_difflib",
        no_two_alike,
        [{"prompt": "Write three sentences about bread."}, {"prompt": "Write two sentences about iron."}],
        [
            "Bread is baked from flour. Yeast makes the dough rise. A crust keeps it fresh.",
            "Iron rusts in wet air. Smiths heat it before they bend it.",
        ],
        ["Bread is good. Bread is good. Bread is good.", "Iron is hard. Iron is hard."],
        "Every sentence is compared with every other one by difflib: quadratic time, minutes on 20,000 characters.",
        "self-similarity penalties",
    ),
    Case(
        "keywords_without_limit",
        reasoning_reward,
        [{"prompt": "How do you boil an egg? Give your steps."}, {"prompt": "How do you make tea? Give your steps."}],
        [
            "First boil water. Then put in the egg. Finally take it out after six minutes.",
            "First boil water. Next pour it on the leaves. Finally wait for three minutes.",
        ],
        ["Boil it for six minutes.", "Pour water on the leaves."],
        "Every further `first` is paid, without limit: spam beats every honest answer.",
        "open-r1's reasoning_steps_reward without its min(1.0, ...)",
    ),
    Case(
        "forgotten_return",
        graded_sentiment,
        [
            {"prompt": "Sentiment of: I loved every minute.", "answer": "positive"},
            {"prompt": "Sentiment of: The soup was cold.", "answer": "negative"},
        ],
        ["<answer>positive</answer>", "<answer>negative</answer>"],
        ["<answer>negative</answer>", "<answer>neutral</answer>"],
        "Whatever is none of the three words falls off the end of the function, which returns None.",
        "branches without a return",
    ),
    Case(
        "malformed_abstains",
        tagged_answer_reward,
        [
            {"prompt": "Which river flows through Vienna?", "answer": "Danube"},
            {"prompt": "Which river flows through Cairo?", "answer": "Nile"},
        ],
        ["<answer>Danube</answer>", "<answer>Nile</answer>"],
        ["<answer>Rhine</answer>", "<answer>Congo</answer>"],
        "Without tags the score is None, which TRL leaves out: saying nothing readable is better than being wrong.",
        "None for `could not be parsed`, as in TRL's and open-r1's accuracy rewards",
    ),
    Case(
        "bool_of_a_string",
        moderation_reward,
        [
            {"prompt": "Is this spam? 'Win a phone now!'", "flagged": "True"},
            {"prompt": "Is this spam? 'Lunch at noon?'", "flagged": "False"},
        ],
        ["<answer>yes</answer>", "<answer>no</answer>"],
        ["<answer>no</answer>", "<answer>yes</answer>"],
        'bool("False") is True: where the column holds texts, every row expects yes.',
        "bool(column) on columns of CSV and JSON lines",
    ),
    Case(
        "no_first_line",
        polite_reward,
        [{"prompt": "Reply to Mrs Hill's question about the bill."}, {"prompt": "Reply to Tom."}],
        ["Dear Mrs Hill,\nthe bill was paid on Monday.", "Hello Tom,\nsee you there."],
        ["The bill was paid on Monday.", "See you there."],
        "The empty completion has no first line: IndexError.",
        "splitlines()[0] and findall(...)[-1]",
    ),
]
