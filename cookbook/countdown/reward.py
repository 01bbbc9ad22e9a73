"""Countdown: make a target from given numbers, each used exactly once, with ``+ - * /``; with partial credit.

``<think>...</think><answer>(7 - 1) * (3 + 1)</answer>`` makes 24 from 7, 3, 1, 1 and earns 1.0. ``7 * 3 + 1 + 1`` makes
23 from the same numbers, which earns 0.3; ``(7 + 1) * 3`` makes 24, but leaves a 1 out: 0.1, as for any other answer.
"""

from __future__ import annotations

import rewardkit as rk


@rk.reward(pure=True)
def legal(completion: str, numbers: list[int]) -> rk.Score:
    """Score 1.0 if the answer is an expression that uses every given number once, whatever its value."""
    try:
        rk.arithmetic(_answer(completion), numbers=numbers)
    except ValueError as error:
        return rk.Score(0.0, str(error))
    return rk.Score(1.0)


@rk.reward(pure=True)
def solved(completion: str, numbers: list[int], target: int) -> rk.Score:
    """Score 1.0 if that expression makes the target."""
    try:
        value = rk.arithmetic(_answer(completion), numbers=numbers)
    except ValueError as error:
        return rk.Score(0.0, str(error))
    return rk.Score(1.0) if value == target else rk.Score(0.0, f"makes {value}, not {target}")


def _answer(completion: str) -> str:
    return rk.extract.tag("answer")(completion) or ""


form = rk.tags("think", "answer")

# A model that never makes the target uses the right numbers now and then: partial credit for that helps it improve.
# Credit for being near the target would not help: the way to 24 does not lead through 23.
reward = 0.1 * form + rk.gate(when=form, then=0.2 * legal + 0.7 * solved)

EXAMPLES = [
    {"prompt": "Make 24 from 7, 3, 1, 1.", "numbers": [7, 3, 1, 1], "target": 24},
    {"prompt": "Make 10 from 4, 5, 2.", "numbers": [4, 5, 2], "target": 10},
]
GOOD = [
    "<think>6 times 4</think><answer>(7 - 1) * (3 + 1)</answer>",
    "<think>twice 5, and 4 is 2 twice</think><answer>4 * 5 / 2</answer>",
]
BAD = [
    "<think>21 and 2</think><answer>7 * 3 + 1 + 1</answer>",
    "<think>sum</think><answer>4 + 5 + 2</answer>",
]
