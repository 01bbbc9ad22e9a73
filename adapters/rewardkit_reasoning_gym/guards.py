"""Refuse answers that a task's own scorer pays by mistake, or would run as code: ``refusal("puzzle24", text, entry)``.

`refusal` returns why an answer earns nothing whatever the scorer says; "" if the scorer decides. Several tasks' scorers
pass the answer to ``eval`` or to SymPy's ``parse_expr``, which is ``eval`` too: they get only literals and formulas.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from rewardkit.core.errors import shorten
from rewardkit.primitives.arithmetic import arithmetic

LONGEST = 20_000
"""Characters of an answer; the longest right ones have about 2,000."""

_FORMULA = re.compile(r"[A-Za-z0-9_\s+\-*/^().]*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_LONG_NUMBER = re.compile(r"\d{16}")
_POWER = re.compile(r"\*\*\s*\(*\s*-?\s*\d{4}|\d\s*\)*\s*\*\*\s*\(*\s*\d+\s*\)*\s*\*\*")
_FUNCTIONS = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "sec",
        "csc",
        "cot",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "exp",
        "log",
        "ln",
        "sqrt",
        "abs",
        "Abs",
        "pi",
    ]
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?|-?\.\d+")
_DURATION = re.compile(r"(?i)\d+ days?|(?:\d+ days?,? *)?\d+:\d+(?::\d+(?:\.\d+)?)?")
_COMPLEX = re.compile(r"[0-9ij\s+\-*.()]*")


def refusal(task: str, answer: str, entry: Mapping[str, Any]) -> str:
    """Return why `answer` earns nothing, or ""."""
    if len(answer) > LONGEST:
        return f"the answer is longer than {LONGEST:,} characters"
    guard = _GUARDS.get(task)
    return guard(answer, entry) if guard else ""


def _formula(answer: str, entry: Mapping[str, Any]) -> str:
    """Admit arithmetic with variables and elementary functions."""
    if not _FORMULA.fullmatch(answer) or re.search(r"\.\s*[A-Za-z_]|[A-Za-z_]\s*\.|__", answer):
        return "the answer is not a plain formula"
    strange = [word for word in _WORD.findall(answer) if len(word) > 1 and word not in _FUNCTIONS]
    if strange:
        return f"the answer has the name {shorten(strange[0], 40)}"
    if _LONG_NUMBER.search(answer) or _POWER.search(answer):
        return "the answer has too large numbers"
    return ""


def _literal(answer: str, entry: Mapping[str, Any]) -> str:
    """Admit what ``eval`` cannot run: literals, single names, and text that is not an expression."""
    try:
        tree = ast.parse(answer.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if isinstance(tree.body, ast.Name):
        return ""
    try:
        ast.literal_eval(tree)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return "the answer is code, not a literal"
    return ""


def _puzzle24(answer: str, entry: Mapping[str, Any]) -> str:
    """The scorer pays any four numbers that make 24."""
    return _arithmetic(answer, entry["metadata"]["numbers"], 24)


def _countdown(answer: str, entry: Mapping[str, Any]) -> str:
    return _arithmetic(answer, entry["metadata"]["numbers"], entry["metadata"]["target"])


def _arithmetic(answer: str, numbers: list[int], target: float) -> str:
    try:
        value = arithmetic(answer, numbers=numbers)
    except ValueError as error:
        return str(error)
    return "" if value == target else f"makes {shorten(value, 40)}, not {target}"


def _halting(answer: str, entry: Mapping[str, Any]) -> str:
    """The scorer compares the truth of two texts, and every text that is not empty is true."""
    same = answer.strip().lower().rstrip(".") == str(entry["answer"]).strip().lower()
    return "" if same else f"the answer is not {entry['answer']}"


def _complex(answer: str, entry: Mapping[str, Any]) -> str:
    """The scorer pays NaN in full."""
    return "" if _COMPLEX.fullmatch(answer) else "the answer is not a complex number"


def _probability(answer: str, entry: Mapping[str, Any]) -> str:
    """The scorer allows an absolute error of 0.0001, more than some of the probabilities."""
    try:
        value, right = (float(Fraction(text.replace(",", "").strip())) for text in (answer, entry["answer"]))
    except (ValueError, ZeroDivisionError, OverflowError):
        return "the answer is not a number"
    return "" if math.isclose(value, right, rel_tol=1e-3) else f"{value:.6g} is not {right:.6g}"


def _same_words(answer: str, entry: Mapping[str, Any]) -> str:
    """The scorer pays the right words with others after them."""
    found, right = (re.split(r"[\s,]+", text.strip().lower()) for text in (answer, entry["answer"]))
    return "" if found == right else "other words"


def _same_number(answer: str, entry: Mapping[str, Any]) -> str:
    """The scorer allows an error, where the question asks for all digits."""
    try:
        found, right = (Decimal(text.replace(",", "").strip()) for text in (answer, entry["answer"]))
    except ArithmeticError:
        return "the answer is not a number"
    return "" if found == right else f"{shorten(answer, 40)} is not {entry['answer']}"


def _same_numbers(answer: str, entry: Mapping[str, Any]) -> str:
    """The scorer allows an error of one number in a list of them."""
    found, right = (sorted(map(float, _NUMBER.findall(text))) for text in (answer, entry["answer"]))
    return "" if found == right else "other numbers"


def _as_many_numbers(answer: str, entry: Mapping[str, Any]) -> str:
    """The scorer reads the first of several answers."""
    found, right = (len(_NUMBER.findall(text)) for text in (answer, entry["answer"]))
    return "" if found == right else f"{found} numbers in the answer, not {right}"


def _duration(answer: str, entry: Mapping[str, Any]) -> str:
    """The scorer reads the first number of a number of days, and ignores the rest."""
    return "" if _DURATION.fullmatch(answer.strip()) else "the answer is not one duration"


_GUARDS: dict[str, Callable[[str, Mapping[str, Any]], str]] = {
    **dict.fromkeys(("simple_integration", "intermediate_integration", "polynomial_multiplication"), _formula),
    **dict.fromkeys(("string_insertion", "spiral_matrix", "binary_matrix", "n_queens"), _literal),
    **dict.fromkeys(("spell_backward", "letter_jumble", "word_sorting"), _same_words),
    **dict.fromkeys(("number_format", "decimal_arithmetic"), _same_number),
    **dict.fromkeys(("gsm_symbolic", "fraction_simplification", "advanced_geometry"), _as_many_numbers),
    "number_sorting": _same_numbers,
    "time_intervals": _duration,
    "puzzle24": _puzzle24,
    "countdown": _countdown,
    "game_of_life_halting": _halting,
    "complex_arithmetic": _complex,
    "coin_flip": _probability,
}
