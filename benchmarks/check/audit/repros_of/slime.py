"""Faults of slime's built-in scorers (slime/rollout/rm_hub)."""

from __future__ import annotations

from importlib import import_module

from repros_outcome import unfinished
from subjects import slime

next(slime.subjects())  # loads the hub, without its services
gpqa, deepscaler, dapo, math_utils = (
    import_module(f"slime.rollout.rm_hub.{name}") for name in ("gpqa", "deepscaler", "math_dapo_utils", "math_utils")
)
NUMBERS = {"choices": ["8", "9", "11", "13"]}


def gpqa_letter_in_word() -> None:
    """Any text with the letter in one of its words earns 1 if no option is named."""
    assert gpqa.compute_gpqa_reward("label", "B") == 1.0


def gpqa_first_letter() -> None:
    """The first letter of the word after "answer is" counts as the option."""
    assert gpqa.compute_gpqa_reward("The answer is because", "B") == 1.0


def gpqa_parentheses() -> None:
    """The right option in parentheses earns nothing: the I of "is" is read as the option."""
    assert gpqa.compute_gpqa_reward("The answer is (B)", "B") == 0.0
    assert gpqa.compute_gpqa_reward("The answer is B", "B") == 1.0


def gpqa_text_in_number() -> None:
    """28 earns what 8 earns: the right text is looked for inside longer ones."""
    assert gpqa.compute_gpqa_reward("28", "8", NUMBERS) == 1.0


def dapo_pair() -> None:
    """The pair 4,2 earns what the number 42 earns."""
    assert dapo.compute_score("Answer: 4,2", "42")["score"] == 1.0


def deepscaler_hang() -> None:
    """A tower of powers is computed, without a time limit."""
    text = r"</think>\boxed{9**9**9**9}"
    assert unfinished(lambda: deepscaler.get_deepscaler_rule_based_reward(text, r"\frac{1}{3}"), 20)


def math_hang() -> None:
    """A tower of powers is computed, without a time limit."""
    assert unfinished(lambda: math_utils.grade_answer_verl(r"\boxed{9**9**9**9}", r"\frac{1}{3}"), 20)
