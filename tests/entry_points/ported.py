"""Reward functions as users bring them, unchanged, with rows that they were written for.

The tests copy this file beside their data. `DELAYED` follows TRL's issue 3668 and `LETTERS` and `LENGTHS` its issue
2676; `countdown` has the form of services that call ``fn(prompt, completion, example)`` with rows of text.
"""

from typing import Any


def delayed(completions: Any, sources: Any, trainer_state: Any, **kwargs: Any) -> list[float]:
    """Wait for the first 30 % of training, then compare the messages with their sources."""
    if trainer_state.global_step / trainer_state.max_steps < 0.3:
        return [0.0] * len(completions)
    said = [completion[0]["content"] for completion in completions]
    return [1.0 if source in text else min(len(text), 50) / 100 for text, source in zip(said, sources, strict=True)]


def letters(completions: Any, **kwargs: Any) -> list[float]:
    return [float(len(set(text(completion)))) for completion in completions]


def lengths(completions: Any, **kwargs: Any) -> list[float]:
    return [-abs(4 - len(text(completion))) / 4 for completion in completions]


def text(completion: Any) -> str:
    return str(completion if isinstance(completion, str) else completion[0]["content"])


def countdown(prompt: str, completion: str, example: dict[str, str]) -> float:
    import ast

    numbers = ast.literal_eval(example["numbers"])
    assert isinstance(numbers, list)
    bonus = 2.0 if bool(example["hint"]) else 1.0
    return bonus * (str(numbers[0]) in completion) + float(example["target"]) / 100


def judged_as_text(prompt, completion, example):  # type: ignore[no-untyped-def]
    assert all(isinstance(cell, str) for cell in example.values())
    return len(example["numbers"]) / 10 + 0.1 * (completion == "7")


both = [letters, lengths]
hosted = [countdown, judged_as_text]
