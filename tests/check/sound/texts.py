"""Texts and lists with partial credit: overlap, similarity, sets, orders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages, tagged, text_of
from tests.check.tasks import FACTS, FACTS_BAD, FACTS_GOOD

answer_tag = rk.extract.tag("answer")


def _bag(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.casefold()))


@rk.reward
def word_f1(completion: str, answer: str) -> float:
    """F1 over words with their counts: neither listing everything nor one safe word pays."""
    said, gold = _bag(answer_tag(completion) or ""), _bag(answer)
    shared = (said & gold).total()
    return 2 * shared / (said.total() + gold.total()) if shared else 0.0


def shopping_reward(completions: Sequence[str | Messages], items: list[list[str]], **kwargs: Any) -> list[float]:
    """The items in common over all items named on either side: 1.0 for the whole list, in any order."""
    scores = []
    for completion, wanted in zip(completions, items, strict=True):
        said = [item.strip().casefold() for item in (tagged(text_of(completion)) or "").split(",") if item.strip()]
        gold = {item.strip().casefold() for item in wanted}
        right = len(gold & set(said))
        scores.append(right / (len(said) + len(gold) - right) if said else 0.0)
    return scores


CASES = [
    Case("words_f1", word_f1, FACTS, FACTS_GOOD, FACTS_BAD),
    Case(
        "items_in_any_order",
        shopping_reward,
        [
            {"prompt": "What does an omelette need?", "items": ["eggs", "butter", "salt"]},
            {"prompt": "What does toast need?", "items": ["bread", "butter"]},
        ],
        ["<answer>salt, eggs, butter</answer>", "<answer>Bread, butter</answer>"],
        ["<answer>eggs, flour, milk</answer>", "bread and butter"],
    ),
    Case("f1_primitive", rk.token_f1("answer", extract=rk.extract.tag("answer")), FACTS, FACTS_GOOD, FACTS_BAD),
    Case("similarity_primitive", rk.similarity("answer"), FACTS, FACTS_GOOD, FACTS_BAD),
    Case(
        "order_primitive",
        rk.sequence_match("answer", metric="kendall"),
        [
            {"prompt": "Order by size: Earth, Mars, Jupiter.", "answer": ["Mars", "Earth", "Jupiter"]},
            {"prompt": "Order by age: Rome, Berlin, Memphis.", "answer": ["Memphis", "Rome", "Berlin"]},
        ],
        ["<answer>Mars, Earth, Jupiter</answer>", "<answer>Memphis, Rome, Berlin</answer>"],
        ["<answer>Mars, Jupiter, Earth</answer>", "<answer>Berlin</answer>"],
    ),
    Case(
        "product_of_answer_and_fluency",
        rk.product([rk.token_f1("answer", extract=rk.extract.tag("answer")), rk.contains(none=rk.REFUSALS)]),
        FACTS,
        FACTS_GOOD,
        FACTS_BAD,
    ),
]
