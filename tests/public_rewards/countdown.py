"""The reward list of the countdown game: make an equation of the given numbers that equals the target.

Source: Mini-R1 by Philipp Schmid (github.com/philschmid/deep-learning-pytorch-huggingface,
training/mini-deepseek-r1-aha-grpo.ipynb, MIT), after TinyZero (github.com/Jiayi-Pan/TinyZero, Apache-2.0). The
functions are written again from what they do: the same names, signatures, numbers and bugs. Prompts are texts that end
with the opening ``<think>``, so completions begin inside it.
"""

from __future__ import annotations

import re
from typing import Any


def format_reward_func(completions: Any, target: Any, **kwargs: Any) -> list[float]:
    rewards: list[float] = []
    for completion, _ in zip(completions, target, strict=False):
        try:
            text = "<think>" + completion
            pattern = r"^<think>([^<]*(?:<(?!/?think>)[^<]*)*)<\/think>\n<answer>([\s\S]*?)<\/answer>$"
            match = re.search(pattern, text, re.DOTALL)
            if match is None or len(match.groups()) != 2:
                rewards.append(0.0)
            else:
                rewards.append(1.0)
        except Exception:
            rewards.append(0.0)
    return rewards


def equation_reward_func(completions: Any, target: Any, nums: Any, **kwargs: Any) -> list[float]:
    """Score 1.0 for an equation that equals the target: no re.DOTALL, ``**`` is allowed, and eval has no limit."""
    rewards: list[float] = []
    for completion, gold, numbers in zip(completions, target, nums, strict=False):
        try:
            text = "<think>" + completion
            match = re.search(r"<answer>(.*?)<\/answer>", text)
            if match is None:
                rewards.append(0.0)
                continue
            equation = match.group(1).strip()
            used = [int(number) for number in re.findall(r"\d+", equation)]
            if sorted(used) != sorted(numbers):
                rewards.append(0.0)
                continue
            if not re.match(r"^[\d+\-*/().\s]+$", equation):
                rewards.append(0.0)
                continue
            result = eval(equation, {"__builtins__": None}, {})
            if abs(float(result) - float(gold)) < 1e-5:
                rewards.append(1.0)
            else:
                rewards.append(0.0)
        except Exception:
            rewards.append(0.0)
    return rewards


FUNCTIONS = (format_reward_func, equation_reward_func)


def _row(nums: list[int], target: int) -> dict[str, Any]:
    prompt = (
        f"User: Using the numbers {nums}, create an equation that equals {target}. Use each number once, with + - * /. "
        "Show your work in <think> </think> tags and the equation in <answer> </answer> tags.\n"
        "Assistant: Let me solve this step by step.\n<think>"
    )
    return {"prompt": prompt, "target": target, "nums": nums}


EXAMPLES = [_row([19, 36, 55, 7], 65), _row([3, 5, 2], 13), _row([44, 19, 35], 98)]
GOOD = [
    "55 + 36 is 91, less 7 is 84, less 19 is 65.</think>\n<answer>55 + 36 - 7 - 19</answer>",
    "3 times 5 is 15, less 2 is 13.</think>\n<answer>3 * 5 - 2</answer>",
    "All three add up to 98.</think>\n<answer>44 + 19 + 35</answer>",
]
BAD = [
    "55 + 36 is 91, and 7 less is 84.</think>\n<answer>55 + 36 + 7 - 19</answer>",
    "3 and 5 and 2.</think>\n<answer>3 + 5 + 2</answer>",
    "Take 19 away from 44.</think>\n<answer>44 - 19 + 35</answer>",
]
