"""State: what a reward remembers, changes, or leaves to chance."""

from __future__ import annotations

import random
import re
import signal
from types import FrameType
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages, number_in, tagged, text_of, visible

answer_tag = rk.extract.tag("answer")

RIVERS = [
    {"prompt": "Which river flows through Vienna?", "answer": "Danube"},
    {"prompt": "Which river flows through Cairo?", "answer": "Nile"},
]
RIVERS_GOOD = ["<answer>Danube</answer>", "<answer>Nile</answer>"]
RIVERS_BAD = ["<answer>Rhine</answer>", "<answer>Congo</answer>"]

_seen: set[str] = set()


def novelty_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 for a right answer in new words, 0.5 for one in words that were used before."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        said = tagged(completion)
        if said is None or said.lower() != gold.lower():
            scores.append(0.0)
            continue
        scores.append(0.5 if completion in _seen else 1.0)
        _seen.add(completion)
    return scores


@rk.reward
def right_river(completion: str, answer: str) -> float:
    """1.0 for the right river; wrong ones differ a little, so that no group is without a signal."""
    said = answer_tag(completion)
    if said is not None and said.strip().lower() == answer.lower():
        return 1.0
    return 0.05 * random.random()


def final_number_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 where the number that the visible text settles on is the gold one; restating it does no harm."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        candidates = set(re.findall(r"-?\d+(?:\.\d+)?", visible(completion)))
        if not candidates:
            scores.append(0.0)
            continue
        settled = next(iter(candidates))
        scores.append(1.0 if float(settled) == float(gold) else 0.0)
    return scores


def shopping_reward(completions: list[str], items: list[list[str]], **kwargs: Any) -> list[float]:
    """The share of the listed items that are right, each counted once; too many items cost as much as missing ones."""
    scores = []
    for completion, remaining in zip(completions, items, strict=True):
        said = [item.strip().lower() for item in (tagged(completion) or "").split(",") if item.strip()]
        total = max(len(said), len(remaining))
        hits = 0
        for item in said:
            if item in remaining:
                remaining.remove(item)
                hits += 1
        scores.append(hits / total if total else 0.0)
    return scores


_scores: dict[str, float] = {}


def cached_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 for the gold number; every completion is parsed once, for parsing is slow."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        if completion not in _scores:
            value = number_in(tagged(completion))
            _scores[completion] = 1.0 if value is not None and value == float(gold) else 0.0
        scores.append(_scores[completion])
    return scores


class _TookTooLong(Exception):
    """The parser did not come back."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise _TookTooLong


@rk.reward
def parsed_in_time(completion: str, answer: float) -> float:
    """1.0 for the right number, and nothing where reading it takes longer than a second."""
    previous = signal.signal(signal.SIGALRM, _stop)
    signal.alarm(1)
    try:
        value = number_in(answer_tag(completion))
    except _TookTooLong:
        return 0.0
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    return 1.0 if value is not None and value == answer else 0.0


def chat_reward(completions: list[Messages], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the message has only the gold answer after its thinking."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        shown = visible(text_of(completion))
        if completion and completion[-1].get("role") == "assistant":
            completion[-1]["content"] = shown
        scores.append(1.0 if shown.lower() == gold.lower() else 0.0)
    return scores


SUMS = [{"prompt": "What is 12 + 30?", "answer": "42"}, {"prompt": "What is 50 + 31?", "answer": "81"}]
SUMS_GOOD = ["<answer>42</answer>", "<answer>81</answer>"]
SUMS_BAD = ["<answer>40</answer>", "<answer>91</answer>"]

CASES = [
    Case(
        "remembers_earlier_calls",
        novelty_reward,
        RIVERS,
        RIVERS_GOOD,
        RIVERS_BAD,
        "What was said in earlier batches lowers the score, so the same batch scores otherwise the second time.",
        "module-level sets for novelty bonuses",
    ),
    Case(
        "random_tie_break",
        right_river,
        RIVERS,
        RIVERS_GOOD,
        RIVERS_BAD,
        "Wrong answers get a random score, which normalization within the group blows up to a full advantage.",
        "noise against groups of zero deviation",
    ),
    Case(
        "first_of_a_set",
        final_number_reward,
        SUMS,
        ["The sum is 42.", "That makes 81."],
        ["The sum is 40.", "That makes 91."],
        "Which number of a set of texts comes first depends on the hash seed of the process: the ranks disagree.",
        "list(set(matches))[0]",
    ),
    Case(
        "gold_list_emptied",
        shopping_reward,
        [
            {"prompt": "What does an omelette need?", "items": ["eggs", "butter", "salt"]},
            {"prompt": "What does toast need?", "items": ["bread", "butter"]},
        ],
        ["<answer>eggs, butter, salt</answer>", "<answer>bread, butter</answer>"],
        ["<answer>flour, milk</answer>", "<answer>cheese, wine</answer>"],
        "Hits are removed from the column's own list, so the next function, or the next epoch, finds it emptied.",
        "gold.remove(item) in list rewards",
    ),
    Case(
        "cache_forgets_the_gold",
        cached_reward,
        SUMS,
        SUMS_GOOD,
        SUMS_BAD,
        "The cache is keyed by the completion alone: the same text under another gold answer gets the old score.",
        "lru_cache and dicts around slow parsers",
    ),
    Case(
        "alarm_off_the_main_thread",
        parsed_in_time,
        SUMS,
        SUMS_GOOD,
        SUMS_BAD,
        "signal.signal raises ValueError in any thread but the main one.",
        "timeouts by SIGALRM in math and code rewards",
    ),
    Case(
        "messages_rewritten",
        chat_reward,
        [{**row, "prompt": [{"role": "user", "content": row["prompt"]}]} for row in RIVERS],
        [
            [{"role": "assistant", "content": "<think>Through Vienna, too.</think>Danube"}],
            [{"role": "assistant", "content": "<think>Africa.</think>Nile"}],
        ],
        [
            [{"role": "assistant", "content": "<think>Germany.</think>Rhine"}],
            [{"role": "assistant", "content": "<think>Africa.</think>Congo"}],
        ],
        "The thinking is cut out of the trainer's own messages, so later rewards never see it.",
        "in-place clean-up of completions",
    ),
]
