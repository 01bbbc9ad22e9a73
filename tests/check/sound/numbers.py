"""Numbers: exact, tolerant, with partial credit, with penalties, with negative bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages, number_in, tagged, text_of, visible

answer_tag = rk.extract.tag("answer")

CLIPS = [
    {"prompt": "Natalia sold 48 clips in April and half as many in May. How many in all?", "answer": "72"},
    {"prompt": "A robe takes 2 bolts of blue and half that much white fiber. How many bolts?", "answer": "3"},
    {"prompt": "What is left of 5 apples when 5 are eaten?", "answer": "0"},
]
CLIPS_GOOD = [
    "<think>48 + 24</think><answer>72</answer>",
    "<think>2 + 1</think><answer>3</answer>",
    "<think>5 - 5</think><answer>0</answer>",
]
CLIPS_BAD = [
    "<think>48 + 48</think><answer>96</answer>",
    "<think>2 + 2</think><answer>4</answer>",
    "<think>5 + 5</think><answer>10</answer>",
]


@rk.reward
def within_one_percent(completion: str, answer: float) -> float:
    """1.0 within a hundredth of the gold number, or half a unit where that is more."""
    value = number_in(answer_tag(completion))
    if value is None:
        return 0.0
    return 1.0 if abs(value - answer) <= max(0.5, 0.01 * abs(answer)) else 0.0


@rk.reward
def linear_closeness(completion: str, answer: float) -> float:
    """1.0 at the gold number, falling with the relative error to 0.0."""
    value = number_in(answer_tag(completion))
    if value is None:
        return 0.0
    return max(0.0, 1.0 - abs(value - answer) / max(1.0, abs(answer)))


@rk.reward(bounds=(-1.0, 1.0))
def signed_number(completion: str, answer: float) -> float:
    """1.0 for the right number, -0.5 for a wrong one, -1.0 where none can be read."""
    value = number_in(answer_tag(completion))
    if value is None:
        return -1.0
    return 1.0 if value == answer else -0.5


@rk.reward(bounds=(-4.0, 0.0))
def negative_error(completion: str, answer: float) -> float:
    """Minus the relative error, at worst -3; -4 without a number. The maximum is 0."""
    value = number_in(answer_tag(completion))
    if value is None:
        return -4.0
    return 0.0 - min(3.0, abs(value - answer) / max(1.0, abs(answer)))


def gsm8k_reward(completions: Sequence[str | Messages], answer: list[str], **kwargs: Any) -> list[float]:
    """2.0 where the last line is `#### ` and the gold number, which is given as in GSM8K ("... #### 72") or bare."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        text = visible(text_of(completion))
        last = text.rpartition("\n")[2]
        target = number_in(str(gold).rpartition("####")[2])
        value = number_in(last.removeprefix("####")) if last.startswith("####") and text.count("####") == 1 else None
        scores.append(2.0 if value is not None and value == target else 0.0)
    return scores


@rk.reward
def countdown(completion: str, numbers: list[int], target: int) -> float:
    """1.0 where the expression uses every given number once and is worth the target."""
    try:
        value = rk.arithmetic(answer_tag(completion) or "", numbers=numbers)
    except ValueError:
        return 0.0
    return 1.0 if value == target else 0.0


def bracket_reward(completions: list[str], answer: list[float], **kwargs: Any) -> list[float]:
    """Estimates in brackets: within 1 % is worth 1.0, within 10 % 0.5, within 25 % 0.2; texts only."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        value, target = number_in(tagged(completion)), float(gold)
        error = 1e9 if value is None else abs(value - target) / max(1e-9, abs(target))
        scores.append(next((credit for limit, credit in ((0.01, 1.0), (0.1, 0.5), (0.25, 0.2)) if error <= limit), 0.0))
    return scores


CASES = [
    Case("one_percent", within_one_percent, CLIPS, CLIPS_GOOD, CLIPS_BAD),
    Case("falls_with_error", linear_closeness, CLIPS, CLIPS_GOOD, CLIPS_BAD),
    Case("negative_for_wrong", signed_number, CLIPS, CLIPS_GOOD, CLIPS_BAD),
    Case("zero_is_the_best", negative_error, CLIPS, CLIPS_GOOD, CLIPS_BAD),
    Case(
        "gsm8k_plain",
        gsm8k_reward,
        [
            {"prompt": CLIPS[0]["prompt"], "answer": "48 / 2 = 24, 48 + 24 = 72\n#### 72"},
            {"prompt": "What do 12 tickets at $100 cost?", "answer": "#### 1,200"},
        ],
        ["She sold 24 in May, 72 in all.\n#### 72", "12 * 100 = 1200\n#### 1200"],
        ["She sold 48 in May, 96 in all.\n#### 96", "1200"],
    ),
    Case(
        "countdown_expression",
        countdown,
        [
            {"prompt": "Make 98 of 44, 19, 35, each once.", "numbers": [44, 19, 35], "target": 98},
            {"prompt": "Make 25 of 75, 25, 4, 2, each once.", "numbers": [75, 25, 4, 2], "target": 25},
        ],
        ["<think>44 + 19 is 63</think><answer>44 + 19 + 35</answer>", "<answer>(75 - 25) / 4 * 2</answer>"],
        ["<answer>44 + 19 - 35</answer>", "<answer>25</answer>"],
    ),
    Case(
        "credit_in_brackets",
        bracket_reward,
        [
            {"prompt": "How high is Mont Blanc in metres?", "answer": 4808.0},
            {"prompt": "How deep is Lake Baikal in metres?", "answer": 1642.0},
        ],
        ["<answer>4808</answer>", "<answer>1,642</answer>"],
        ["<answer>4300</answer>", "<answer>Very deep.</answer>"],
    ),
    Case(
        "number_primitive_raw_gold",
        rk.gate(
            when=rk.tags("think", "answer"),
            then=rk.number("answer", thousands=True, gold=rk.extract.after("####")),
        ),
        [
            {"prompt": CLIPS[0]["prompt"], "answer": "48 / 2 = 24, 48 + 24 = 72\n#### 72"},
            {"prompt": "What do 12 tickets at $100 cost?", "answer": "12 * 100\n#### 1,200"},
        ],
        ["<think>48 + 24</think><answer>72</answer>", "<think>12 * 100</think><answer>1,200</answer>"],
        ["<think>48 + 48</think><answer>96</answer>", "1200"],
    ),
    Case(
        "boxed_with_tolerance",
        rk.number("answer", tolerance=0.01, credit="linear", extract=rk.extract.boxed()),
        [{"prompt": "Pi to two places?", "answer": "3.14"}, {"prompt": "Half of 5?", "answer": "2.5"}],
        ["It is \\boxed{3.14}.", "<think>5 / 2</think>\\boxed{2.5}"],
        ["It is \\boxed{3}.", "About two."],
    ),
]
