"""Faults of verl's built-in scorers (verl/utils/reward_score)."""

from __future__ import annotations

from importlib import import_module

from repros_outcome import raised, unfinished
from subjects import verl

next(verl.subjects())  # loads the package, without its trainer
gsm8k, math_dapo, prime_math, geo3k = (
    import_module(f"verl.utils.reward_score.{name}") for name in ("gsm8k", "math_dapo", "prime_math", "geo3k")
)


def gsm8k_full_stop() -> None:
    """The right answer earns nothing if a full stop or a dollar sign is next to it."""
    assert gsm8k.compute_score("#### 42.", "42") == 0
    assert gsm8k.compute_score("#### $42", "42") == 0
    assert gsm8k.compute_score("#### 42", "42") == 1


def gsm8k_flexible_full_stop() -> None:
    """The right answer earns nothing at the end of a sentence."""
    assert gsm8k.compute_score("It is 42.", "42", method="flexible") == 0
    assert gsm8k.compute_score("It is 42", "42", method="flexible") == 1


def gsm8k_flexible_comma() -> None:
    """The flexible method refuses a thousands comma that the strict one accepts."""
    assert gsm8k.compute_score("1,135", "1135", method="flexible") == 0
    assert gsm8k.compute_score("#### 1,135", "1135", method="strict") == 1


def math_dapo_pair() -> None:
    """The pair 4,2 earns what the number 42 earns."""
    assert math_dapo.compute_score("Answer: 4,2", "42")["score"] == 1.0


def prime_math_runs_code() -> None:
    """The answer is evaluated as Python: a completion can end the process that scores it."""
    assert raised(lambda: prime_math.compute_score(r"\boxed{exit()+\pi}", "42")) == "SystemExit"


def geo3k_hang() -> None:
    """A tower of powers is computed, without a time limit."""
    assert unfinished(lambda: geo3k.compute_score(r"\boxed{9**9**9**9}", r"\frac{1}{3}"), 20)
