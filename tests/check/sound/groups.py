"""Sound rewards over whole groups or batches."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages, number_in, tagged, text_of

answer_tag = rk.extract.tag("answer")

SUMS = [
    {"prompt": "What is 12 + 30?", "answer": "42"},
    {"prompt": "What is 50 + 31?", "answer": "81"},
    {"prompt": "What is 7 - 8?", "answer": "-1"},
]
SUMS_GOOD = ["<answer>42</answer>", "<answer>81</answer>", "<answer>-1</answer>"]
SUMS_BAD = ["<answer>40</answer>", "<answer>91</answer>", "<answer>1</answer>"]


def _right(text: str, gold: float) -> float:
    value = number_in(answer_tag(text))
    return 1.0 if value is not None and value == gold else 0.0


@rk.reward(scope="group", bounds=(-4.0, 4.0))
def relative_correctness(completion: list[str], answer: list[float]) -> list[float]:
    """Correctness in standard deviations from the mean of the group; 0.0 if all are equal."""
    raw = [_right(text, gold) for text, gold in zip(completion, answer, strict=True)]
    mean, deviation = statistics.fmean(raw), statistics.pstdev(raw)
    return [0.0 if deviation == 0 else max(-4.0, min(4.0, (score - mean) / deviation)) for score in raw]


@rk.reward(scope="group")
def rare_and_right(completion: list[str], answer: list[float]) -> list[float]:
    """1.0 for the right answer where the group seldom finds it, 0.5 where all do: hard prompts count for more."""
    raw = [_right(text, gold) for text, gold in zip(completion, answer, strict=True)]
    share = statistics.fmean(raw)
    return [score * (1.0 - 0.5 * share) for score in raw]


@rk.reward(scope="batch")
def batch_lookup(completion: list[str], answer: list[float]) -> list[float]:
    """Scores the batch at once, as a vectorized service would, every row for itself."""
    return [_right(text, gold) for text, gold in zip(completion, answer, strict=True)]


def group_share_reward(
    prompts: list[Any], completions: Sequence[str | Messages], answer: list[str], **kwargs: Any
) -> list[float]:
    """Correctness minus its mean over the completions of the same prompt and gold answer."""
    raw = []
    groups: dict[tuple[str, str], list[float]] = {}
    for prompt, completion, gold in zip(prompts, completions, answer, strict=True):
        value = number_in(tagged(text_of(completion)))
        score = 1.0 if value is not None and value == float(gold) else 0.0
        raw.append(score)
        groups.setdefault((repr(prompt), str(gold)), []).append(score)
    return [
        score - statistics.fmean(groups[repr(prompt), str(gold)])
        for score, prompt, gold in zip(raw, prompts, answer, strict=True)
    ]


CASES = [
    Case("group_deviations", relative_correctness, SUMS, SUMS_GOOD, SUMS_BAD),
    Case("group_rarity", rare_and_right, SUMS, SUMS_GOOD, SUMS_BAD),
    Case("batch_at_once", batch_lookup, SUMS, SUMS_GOOD, SUMS_BAD),
    Case("group_mean_plain", group_share_reward, SUMS, SUMS_GOOD, SUMS_BAD),
    Case(
        "ranked_similarity",
        rk.rank_in_group(rk.similarity("answer", extract=rk.extract.tag("answer"))),
        [
            {"prompt": "A color of the flag of Japan?", "answer": "red"},
            {"prompt": "Color of ice?", "answer": "white"},
        ],
        ["<answer>red</answer>", "<answer>white</answer>"],
        ["<answer>blue</answer>", "<answer>brown</answer>"],
    ),
    Case(
        "shortest_right_one",
        rk.length.shortest_correct(rk.number("answer", extract=rk.extract.tag("answer")), unit="words"),
        SUMS,
        SUMS_GOOD,
        SUMS_BAD,
    ),
]
