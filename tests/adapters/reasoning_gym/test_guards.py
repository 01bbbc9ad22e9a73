"""Guards refuse what a scorer pays by mistake or would run, and admit right answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit_adapters.reasoning_gym import _GUARDS, LONGEST, refusal

NUMBERS = {"answer": "", "metadata": {"numbers": [8, 2, 4, 6], "target": 24}}
CODE = [
    "__import__('os').system('true')",
    "exec('x')",
    "open('/etc/passwd').read()",
    "(lambda: 5)()",
    "[x for x in range(10 ** 9)]",
    "x.__class__",
    "().__class__.__bases__",
    "print(1)",
    "'a' * 10 ** 9",
    "9**9**9",
    "(9**999)**999",
    "x**99999",
    "99999999999999999999999",
    "Integral(x, x)",
    "nan",
    "zoo",
    "S('x')",
]
FORMULAS = ("simple_integration", "intermediate_integration", "polynomial_multiplication")
LITERALS = ("string_insertion", "spiral_matrix", "binary_matrix", "n_queens")


@pytest.mark.parametrize("task", [*FORMULAS, "puzzle24", "countdown", "coin_flip"])
@pytest.mark.parametrize("answer", CODE)
def test_code_is_refused(task: str, answer: str) -> None:
    assert refusal(task, answer, {**NUMBERS, "answer": "0.5"})


@pytest.mark.parametrize("task", LITERALS)
def test_code_is_no_literal(task: str) -> None:
    for answer in CODE:
        if answer not in ("nan", "zoo", "99999999999999999999999"):
            assert refusal(task, answer, {})
    for answer in ("ABCDE", "[[0, 1], [1, 0]]", "['A', 'B']", "1 2 3 6 9 8", "_ Q _ _\n_ _ _ Q", "0 0\n0 1", ""):
        assert not refusal(task, answer, {})


@pytest.mark.parametrize(
    ("task", "answer", "right", "admitted"),
    [
        ("simple_integration", "x**5 + x**4 - 3*x**2/2 + C", "", True),
        ("intermediate_integration", "-sin(3*x - 10)**3/3 + exp(2*x)*log(x) + C", "", True),
        ("polynomial_multiplication", "-336600*y**9 - 185688*y**7 + x", "", True),
        ("puzzle24", "8 * (6 - 4) + 8", "", False),
        ("puzzle24", "8 * 4 - 6 - 2", "", True),
        ("puzzle24", "6 * 4 * 1 * 1", "", False),
        ("countdown", "8*4-6-2", "", True),
        ("countdown", "24", "", False),
        ("game_of_life_halting", "banana", "False", False),
        ("game_of_life_halting", "true", "False", False),
        ("game_of_life_halting", "false.", "False", True),
        ("complex_arithmetic", "8.0 + 3.0i", "8.0 + 3.0i", True),
        ("coin_flip", "0", "3.05e-05", False),
        ("coin_flip", "11/64", "0.171875", True),
        ("coin_flip", "0.1719", "0.171875", True),
        ("coin_flip", "1/0", "0.171875", False),
        ("spell_backward", "olleholleh", "olleh", False),
        ("spell_backward", "OLLEH ", "olleh", True),
        ("letter_jumble", "all of which or 5", "all of which", False),
        ("word_sorting", "a,b,  c", "a, b, c", True),
        ("number_format", "865742426.64", "865742426.645", False),
        ("number_format", "865,742,426.6450", "865742426.645", True),
        ("decimal_arithmetic", "5.285981", "5.28598", False),
        ("gsm_symbolic", "405 or 5", "405", False),
        ("gsm_symbolic", "405", "405", True),
        ("fraction_simplification", "$\\frac{1}{2}$ or $\\frac{1}{3}$", "$\\frac{1}{2}$", False),
        ("number_sorting", "['-46.6', '2']", "['-46.2', '2']", False),
        ("number_sorting", "[-46.2, 2.0]", "['-46.2', '2']", True),
        ("time_intervals", "99 days99 days", "99 days", False),
        ("time_intervals", "67 days, 01:04:00", "67 days, 01:04:00", True),
        ("time_intervals", "10:35:12.085", "10:35:12.085", True),
        ("leg_counting", "anything", "5", True),
    ],
)
def test_what_is_admitted(task: str, answer: str, right: str, admitted: bool) -> None:
    assert (refusal(task, answer, {**NUMBERS, "answer": right}) == "") is admitted


def test_what_is_long_is_refused() -> None:
    assert refusal("leg_counting", "1" * (LONGEST + 1), {})


@given(st.sampled_from(sorted(_GUARDS)), st.text(max_size=60) | st.text("0123456789./*+-()[]{}'\" \nixe,", max_size=60))
def test_any_text_is_admitted_or_refused(task: str, text: str) -> None:
    entry: dict[str, Any] = {**NUMBERS, "answer": "0.5"}
    assert isinstance(refusal(task, text, entry), str)


@pytest.mark.parametrize(
    "text", ["1" * LONGEST, "(" * LONGEST, "x**" * 6_000, "[1," * 6_000, "- " * 9_000, "1e9" * 6_000]
)
@pytest.mark.parametrize("task", sorted(_GUARDS))
def test_no_text_takes_long(task: str, text: str) -> None:
    assert isinstance(refusal(task, text, {**NUMBERS, "answer": "0.5"}), str)
