"""Formats: any completion in the right form earns full marks, right or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages, text_of

whole = rk.extract.whole()
TAGS = ("<think>", "</think>", "<answer>", "</answer>")


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)


def think_answer_reward(completions: Sequence[str | Messages], **kwargs: Any) -> list[float]:
    """1.0 for one thinking part and one answer part, both filled, in this order, and nothing else."""
    scores = []
    for completion in completions:
        text = text_of(completion).strip()
        thought, _, rest = text.removeprefix("<think>").partition("</think>")
        rest = rest.strip()
        answer = rest.removeprefix("<answer>").removesuffix("</answer>")
        once = all(text.count(tag) == 1 for tag in TAGS)
        framed = text.startswith("<think>") and rest.startswith("<answer>") and rest.endswith("</answer>")
        scores.append(1.0 if once and framed and _says_something(thought) and _says_something(answer) else 0.0)
    return scores


@rk.reward
def bullet_list(completion: str, count: int) -> float:
    """1.0 where the answer is a list of exactly `count` different items, and nothing besides; no gold answer."""
    lines = [line.strip() for line in (whole(completion) or "").split("\n") if line.strip()]
    items = [line.removeprefix("- ").strip().casefold() for line in lines if line.startswith("- ")]
    if len(lines) != len(items) or not all(map(_says_something, items)):
        return 0.0
    return 1.0 if len(items) == count == len(set(items)) else 0.0


@rk.reward
def haiku_lines(completion: str) -> float:
    """A third for each of three different lines; 0.0 for an extra or repeated line."""
    lines = [line for line in (whole(completion) or "").split("\n") if line.strip()]
    if not 1 <= len(lines) <= 3 or len({line.strip() for line in lines}) < len(lines):
        return 0.0
    return sum(map(_says_something, lines)) / 3


CASES = [
    Case(
        "think_then_answer",
        think_answer_reward,
        [{"prompt": "What is 6 * 7?"}, {"prompt": "What is 9 * 9?"}],
        ["<think>6 * 7 < 50</think>\n<answer>42</answer>", "<think>9 * 9</think><answer>81</answer>"],
        ["The answer is 42.", "<think>9 * 9</think> 81"],
    ),
    Case(
        "tags_partial",
        rk.tags("think", "answer", partial=True),
        [{"prompt": "What is 6 * 7?"}, {"prompt": "What is 9 * 9?"}],
        ["<think>6 * 7</think>\n<answer>42</answer>", "<think>9 * 9</think><answer>81</answer>"],
        ["<answer>42</answer>", "It is 81."],
    ),
    Case(
        "list_of_so_many",
        bullet_list,
        [{"prompt": "List three fruits.", "count": 3}, {"prompt": "List two metals.", "count": "2"}],
        ["- apple\n- pear\n- plum", "<think>Heavy ones.</think>\n- iron\n- lead"],
        ["apple, pear, plum", "- iron\n- lead\n- tin"],
    ),
    Case(
        "three_lines",
        haiku_lines,
        [{"prompt": "Write a haiku about rain."}, {"prompt": "Write a haiku about snow."}],
        ["Rain on the tin roof\na cat looks up from its sleep\nand closes its eyes", "White field\none crow\nsilence"],
        ["Rain falls on the roof.", "Snow\nis\nwhite\nand\ncold"],
    ),
    Case(
        "fenced_program",
        rk.fenced("python"),
        [{"prompt": "Write a program that prints 42."}, {"prompt": "Write a program that prints its input."}],
        ["So:\n```python\nprint(42)\n```", "```python\nprint(input())\n```"],
        ["print(42)", "```\nprint(input())\n```"],
    ),
]
