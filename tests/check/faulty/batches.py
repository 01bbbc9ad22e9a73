"""Batches and groups: how the rows of a batch are matched and compared."""

from __future__ import annotations

import statistics
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import number_in, tagged, visible

answer_tag = rk.extract.tag("answer")

SUMS = [
    {"prompt": "What is 12 + 30?", "answer": "42"},
    {"prompt": "What is 50 + 31?", "answer": "81"},
    {"prompt": "What is 7 + 8?", "answer": "15"},
]
SUMS_GOOD = ["<answer>42</answer>", "<answer>81</answer>", "<answer>15</answer>"]
SUMS_BAD = ["<answer>40</answer>", "<answer>91</answer>", "<answer>56</answer>"]


def normalized_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Correctness, normalized to mean 0 and deviation 1 so that it mixes well with the other rewards."""
    raw = []
    for completion, gold in zip(completions, answer, strict=True):
        value = number_in(tagged(completion))
        raw.append(1.0 if value is not None and value == float(gold) else 0.0)
    if not raw:
        return []
    mean, deviation = statistics.fmean(raw), statistics.pstdev(raw)
    return [(score - mean) / (deviation + 1e-4) for score in raw]


def sum_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 for the right sum in the answer tags."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        said = tagged(completion)
        if said is None:
            continue
        value = number_in(said)
        scores.append(1.0 if value is not None and value == float(gold) else 0.0)
    return scores


def group_answer_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 for the gold answer; the column repeats it for every completion of the prompt."""
    if not completions:
        return []
    gold = float(answer[0])
    scores = []
    for completion in completions:
        value = number_in(tagged(completion))
        scores.append(1.0 if value is not None and value == gold else 0.0)
    return scores


@rk.reward(scope="group")
def closest_first(completion: list[str], answer: list[float]) -> list[float]:
    """The rank within the group: 1.0 for the completion that comes closest, 0.0 for the farthest."""
    errors = []
    for text, gold in zip(completion, answer, strict=True):
        value = number_in(answer_tag(text))
        errors.append(1e30 if value is None else abs(value - gold))
    if len(errors) == 1:
        return [1.0 if errors[0] == 0 else 0.0]
    order = sorted(range(len(errors)), key=lambda row: errors[row])
    scores = [0.0] * len(errors)
    for place, row in enumerate(order):
        scores[row] = 1.0 - place / (len(order) - 1)
    return scores


def brevity_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Right answers earn from 0.5 (the longest) to 1.0 (the shortest), wrong ones nothing (Kimi k1.5)."""
    lengths = [len(visible(completion)) for completion in completions]
    shortest, longest = min(lengths, default=0), max(lengths, default=0)
    scores = []
    for completion, gold, length in zip(completions, answer, lengths, strict=True):
        value = number_in(tagged(completion))
        if value is None or value != float(gold):
            scores.append(0.0)
        elif longest == shortest:
            scores.append(1.0)
        else:
            scores.append(1.0 - 0.5 * (length - shortest) / (longest - shortest))
    return scores


@rk.reward(scope="group", bounds=(-3.0, 3.0))
def advantage(completion: list[str], answer: list[float]) -> list[float]:
    """Correctness relative to the group, in standard deviations."""
    raw = []
    for text, gold in zip(completion, answer, strict=True):
        value = number_in(answer_tag(text))
        raw.append(1.0 if value is not None and value == gold else 0.0)
    if len(raw) < 2:
        return [0.0] * len(raw)
    mean, deviation = statistics.fmean(raw), statistics.stdev(raw)
    return [max(-3.0, min(3.0, (score - mean) / deviation)) for score in raw]


CASES = [
    Case(
        "batch_normalized",
        normalized_reward,
        SUMS,
        SUMS_GOOD,
        SUMS_BAD,
        "Mean and deviation are those of the whole batch, so the score depends on how other prompts were answered.",
        "rewards that normalize over `completions`, which holds several groups",
    ),
    Case(
        "rows_left_out",
        sum_reward,
        SUMS,
        SUMS_GOOD,
        SUMS_BAD,
        "A completion without tags gets no score at all, so the list is too short and the rest is shifted.",
        "`continue` in the loop over completions",
    ),
    Case(
        "first_gold_for_all",
        group_answer_reward,
        SUMS,
        SUMS_GOOD,
        SUMS_BAD,
        "The gold answer of the first row is used for the whole batch, which holds several prompts.",
        "`answer[0]`, which the first TRL notebooks print and others then compare with",
    ),
    Case(
        "ties_by_position",
        closest_first,
        SUMS,
        SUMS_GOOD,
        SUMS_BAD,
        "Equal completions get different ranks, by their place in the batch.",
        "ranks by sorted(range(n))",
    ),
    Case(
        "shortest_of_the_batch",
        brevity_reward,
        SUMS,
        SUMS_GOOD,
        ["<answer>40</answer>", "<answer>91</answer>", "<answer>56</answer>"],
        "Shortest and longest are taken over the batch, so a long answer to another prompt changes the score.",
        "len_reward of open-r1",
    ),
    Case(
        "group_of_equals_divides",
        advantage,
        SUMS,
        SUMS_GOOD,
        SUMS_BAD,
        "Where all completions of a group are right, or all wrong, the deviation is 0 and ZeroDivisionError is raised.",
        "hand-written advantages",
    ),
]
