"""Faults of open-r1's reward functions (src/open_r1/rewards.py)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from repros_outcome import unfinished
from subjects import open_r1

next(open_r1.subjects())  # loads the file, without its services
rewards = import_module("open_r1.rewards")


def _chats(*texts: str) -> list[list[dict[str, str]]]:
    return [[{"role": "assistant", "content": text}] for text in texts]


def _tested(program: str, output: str) -> Any:
    tests = {"language": "python", "test_cases": [{"input": "", "output": output}]}
    return rewards.code_reward(_chats(f"```python\n{program}\n```"), verification_info=[tests])[0]


def cosine_scaled_reward_unclamped() -> None:
    """Past max_len the reward rises again: at twice max_len a right answer earns the most, a wrong one the least."""
    reward = rewards.get_cosine_scaled_reward(max_len=1000)
    right, wrong = (text.ljust(2000) for text in (r"\boxed{42}", r"\boxed{41}"))
    assert reward(_chats(right, wrong), ["$42$"] * 2) == [1.0, -1.0]


def reasoning_steps_reward_numbered() -> None:
    """A numbered list of three steps earns a third: only its first line is counted."""
    assert rewards.reasoning_steps_reward(_chats("1. Add.\n2. Check.\n3. Answer.")) == [1 / 3]


def code_reward_first_line() -> None:
    """Only as many lines are compared as the shorter output has."""
    assert _tested("print(6)", "6\n7\n8") == 1.0
    assert _tested("print(6)\nprint('Banana')", "6") == 1.0


def len_reward_neighbors() -> None:
    """The reward depends on the completions of other prompts in the batch."""
    mine, other = _chats("\\boxed{42}", "Thus \\boxed{42}"), _chats("It is a long story: \\boxed{7}")
    alone = rewards.len_reward(mine, ["$42$"] * 2)
    assert rewards.len_reward(mine + other, ["$42$", "$42$", "$7$"])[:2] != alone == [0.5, -0.5]


def code_format_reward_time() -> None:
    """A form that is repeated 200 times, 8,000 characters, takes over 20 s."""
    text = "<think>\n\n</think>\n<answer>\n```python```\n" * 200
    assert unfinished(lambda: rewards.get_code_format_reward()(_chats(text)), 20)
