"""Faults of reasoning-gym's tasks: what ``score_answer`` gives an answer to the first entry of a data set."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import reasoning_gym
from repros_outcome import raised


def _score(task: str, answer: str, place: int = 0) -> Any:
    data = reasoning_gym.create_dataset(task, size=40, seed=7)
    return data.score_answer(answer, data[place])


def _gold(task: str, place: int = 0) -> str:
    return str(reasoning_gym.create_dataset(task, size=40, seed=7)[place]["answer"])


def _runs(task: str) -> bool:
    """Say whether an answer can make a folder."""
    with tempfile.TemporaryDirectory() as folder:
        _score(task, f"__import__('os').mkdir({folder + '/made'!r})")
        return Path(folder, "made").exists()


def binary_matrix_runs_code() -> None:
    """The answer is run as Python; 9**9**9**9 never ends."""
    assert _runs("binary_matrix")


def countdown_runs_code() -> None:
    """The answer is run as Python; 9**9**9**9 never ends."""
    assert _runs("countdown")


def intermediate_integration_runs_code() -> None:
    """The answer is run as Python."""
    assert _runs("intermediate_integration")


def n_queens_runs_code() -> None:
    """The answer is run as Python; 9**9**9**9 never ends."""
    assert _runs("n_queens")


def polynomial_multiplication_runs_code() -> None:
    """The answer is run as Python, and an object that equals everything earns 1."""
    assert _runs("polynomial_multiplication")
    assert _score("polynomial_multiplication", "__import__('unittest.mock').mock.ANY") == 1.0


def puzzle24_runs_code() -> None:
    """The answer is run as Python; 9**9**9**9 never ends."""
    assert _runs("puzzle24")


def simple_integration_runs_code() -> None:
    """The answer is run as Python; 9**9**9**9 never ends."""
    assert _runs("simple_integration")


def spiral_matrix_runs_code() -> None:
    """The answer is run as Python; 9**9**9**9 never ends."""
    assert _runs("spiral_matrix")


def string_insertion_runs_code() -> None:
    """The answer is run as Python; 9**9**9**9 never ends."""
    assert _runs("string_insertion")


def game_of_life_halting_any_text() -> None:
    """Every text earns 1, the wrong answer too: bool("False") is true."""
    assert _gold("game_of_life_halting") == "True"
    assert _score("game_of_life_halting", "False") == _score("game_of_life_halting", "I do not know") == 1.0


def puzzle24_other_numbers() -> None:
    """Any four numbers that make 24 earn 1, not only the given ones (7, 4, 4 and 1)."""
    assert "7, 4, 4, 1" in reasoning_gym.create_dataset("puzzle24", size=1, seed=7)[0]["question"]
    assert _score("puzzle24", "6+6+6+6") == 1.0


def puzzle24_rounds_down() -> None:
    """An expression that makes 24.5 earns 1."""
    assert _score("puzzle24", "5*5 - 1/2") == 1.0


def coin_flip_zero() -> None:
    """The probability 0 earns 1 whatever the right one is, since its only digit is the first of every other."""
    assert float(_gold("coin_flip")) > 0.1
    assert _score("coin_flip", "0") == 1.0


def complex_arithmetic_nan() -> None:
    """The answer nan earns 1."""
    assert _score("complex_arithmetic", "nan") == 1.0


def gsm_symbolic_sign() -> None:
    """The sign is not read: the negative of the right number earns 1."""
    assert _score("gsm_symbolic", f"-{_gold('gsm_symbolic')}") == 1.0


def game_of_life_object() -> None:
    """An object of JSON raises an exception."""
    assert raised(lambda: _score("game_of_life", "{}")) == "KeyError"


def prime_factorization_text() -> None:
    """Any text that is not a number raises an exception."""
    assert raised(lambda: _score("prime_factorization", "a")) == "ValueError"


def word_sorting_more_words() -> None:
    """Words after the sorted ones cost nothing."""
    assert _score("word_sorting", f"{_gold('word_sorting')}, banana") == 1.0
