"""Rewards for mathematics, numbers and exact text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from tests.faults.case import Case


def _last_between(text: str, opening: str, closing: str) -> str | None:
    """The text of the last complete opening...closing pair."""
    end = text.rfind(closing)
    start = text.rfind(opening, 0, end) if end >= 0 else -1
    return text[start + len(opening) : end] if start >= 0 else None


def _last_boxed(text: str) -> str | None:
    """The content of the last \\boxed{...}, with balanced braces; None if there is none or it is not closed."""
    start = text.rfind("\\boxed")
    if start < 0:
        return None
    rest = text[start + len("\\boxed") :].lstrip(" ")
    if not rest.startswith("{"):
        return None
    depth = 0
    for position, character in enumerate(rest):
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return rest[1:position]
    return None


# --- competition integers ---------------------------------------------------------

_AIME = re.compile(r"(?:\\(?:text|mathbf|textbf|mathrm)\{)?\s?\$?([0-9]{1,3})\$?\s?\}?\.?")


def aime_integer_reward(completion: str, answer: str) -> float:
    """AIME: 1.0 if the last \\boxed{} contains the right integer from 0 to 999 (leading zeros allowed) and nothing else.

    An earlier box does not count, whatever is in it.
    """
    content = _last_boxed(completion)
    match = _AIME.fullmatch(content.strip()) if content is not None and len(content) < 60 else None
    return float(match is not None and int(match.group(1)) == int(answer))


# --- the last number in the text ------------------------------------------------------

_NUMBER = re.compile(
    r"(?<![0-9A-Za-z_])([-\u2212]?)(?:\\?[$€£])?([-\u2212]?)"
    r"((?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
)
_UNIT_EXPONENT = re.compile(r"(?<=[A-Za-z}])\^\{?-?[0-9]\}?")
_THOUSANDS = re.compile(r"(?<=[0-9])(?:\{,\}|\\,|[\u00a0\u2009\u202f])(?=[0-9]{3}(?![0-9]))")


def _last_number(text: str) -> Decimal | None:
    last = None
    for last in _NUMBER.finditer(_THOUSANDS.sub(",", _UNIT_EXPONENT.sub("", text))):
        pass
    if last is None or len(last.group(3)) > 60:
        return None
    value = Decimal(last.group(3).replace(",", ""))
    return -value if last.group(1) or last.group(2) else value


def last_number_reward(completions, answer, **kwargs) -> list[float]:
    """Word problems: the last number in the completion is taken as its answer and compared exactly.

    Currency signs, thousands separators (commas, thin spaces), a trailing .00 and what follows the number (a unit, %, a full stop)
    don't matter. Digits glued to the end of a letter and exponents of units (m2, cm^2) are not numbers.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        said = _last_number(completion)
        rewards.append(1.0 if said is not None and said == _last_number(gold) else 0.0)
    return rewards


# --- fractions --------------------------------------------------------------------------

_ANSWER_LINE = re.compile(r"answer[ *]*:([^\n]*)", re.IGNORECASE)
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\{(-?[0-9]{1,9})\}\{([0-9]{1,9})\}")
_RATIONAL = re.compile(
    r"(?P<sign>[-\u2212]?)(?:(?P<whole>[0-9]{1,9}) (?P<part>[0-9]{1,9})/(?P<parts>[0-9]{1,9})"
    r"|(?P<num>[0-9]{1,9}) ?/ ?(?P<den>[0-9]{1,9})"
    r"|(?P<decimal>[0-9]{1,9}(?:\.[0-9]{1,9})?))"
)


def _rational(text: str) -> Fraction | None:
    """Integers, decimals, a/b and mixed numbers; None for anything else."""
    match = _RATIONAL.fullmatch(text.strip())
    if not match:
        return None
    if match["whole"] is not None:
        if int(match["parts"]) == 0:
            return None
        value = int(match["whole"]) + Fraction(int(match["part"]), int(match["parts"]))
    elif match["num"] is not None:
        if int(match["den"]) == 0:
            return None
        value = Fraction(int(match["num"]), int(match["den"]))
    else:
        value = Fraction(match["decimal"])
    return -value if match["sign"] else value


_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8"}


def _without_unit(text: str, unit: str) -> str:
    """Drops the unit at the end; words (not symbols) may be in the singular or the plural."""
    spellings = {unit, unit + "s", unit.removesuffix("s")} if len(unit) > 2 else {unit}
    for spelling in sorted(spellings, key=len, reverse=True):
        if text.lower().endswith(spelling.lower()):
            return text[: len(text) - len(spelling)].strip()
    return text


def fraction_reward(completion: str, answer: str, unit: str) -> float:
    """1.0 if the last line 'Answer: ...' is exactly the reference, as a fraction, a mixed number (1 1/2) or a decimal.

    The unit may follow the number and need not. Nothing else may, so two candidates are no answer.
    """
    lines = _ANSWER_LINE.findall(completion)
    if not lines or len(lines[-1]) > 100:
        return 0.0
    said = lines[-1].replace("*", "").replace("$", "").strip().rstrip(".").strip()
    said = re.sub(r"\\(?:text|mathrm)\{([^{}]*)\}", r" \1", said)
    said = _LATEX_FRACTION.sub(r" \1/\2", said)
    said = "".join(f" {_VULGAR[character]}" if character in _VULGAR else character for character in said)
    said = _without_unit(" ".join(said.split()), unit)
    value = _rational(said.replace("- ", "-"))
    return float(value is not None and value == _rational(answer))


# --- sets of solutions --------------------------------------------------------------------

_SIGNED = re.compile(r"(?P<pm>\\pm)?(?P<sign>[-\u2212+]?)(?:\\[dt]?frac\{(?P<a>[0-9]{1,9})\}\{(?P<b>[0-9]{1,9})\}|(?P<v>[0-9]{1,9}(?:/[0-9]{1,9}|\.[0-9]{1,9})?))")
_NO_SOLUTION = {"\\emptyset", "\\varnothing", "\\{\\}", "nosolution", "nosolutions", "norealsolution", "norealsolutions", "∅"}
_VARIABLE = re.compile(r"x(?:_\{?[0-9]\}?)?=")


def _solutions(latex: str) -> frozenset[Fraction] | None:
    text = re.sub(r"\\(?:left|right|quad|qquad)(?![A-Za-z])|\\[,;!]", "", latex.replace("\\lor", ","))
    text = re.sub(r"\\text\{([^{}]*)\}", r"\1", text).replace("$", "")
    text = "".join(text.split())
    if text.lower() in _NO_SOLUTION:
        return frozenset()
    text = _VARIABLE.sub("", text).removeprefix("x\\in")
    if text.startswith("\\{") and text.endswith("\\}"):
        text = text[2:-2]
    values: set[Fraction] = set()
    for part in re.split(r"[,;]|and|or", text):
        match = _SIGNED.fullmatch(part)
        if not match:
            return None
        try:
            value = Fraction(int(match["a"]), int(match["b"])) if match["a"] else Fraction(match["v"])
        except ZeroDivisionError:
            return None
        values.add(-value if match["sign"] in ("-", "\u2212") else value)
        if match["pm"]:
            values.add(-value)
    return frozenset(values)


def solution_set_reward(completions, answer, **kwargs) -> list[float]:
    """1.0 if the last \\boxed{} lists exactly the rational solutions of the equation, in any order.

    Multiplicities don't count (2, 2 is 2); a missing or an extra solution makes it wrong. '\\pm 3' stands for
    both signs, and an empty set is written \\emptyset or 'no solution'.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        content = _last_boxed(completion)
        said = _solutions(content) if content is not None and len(content) <= 300 else None
        rewards.append(1.0 if said is not None and said == _solutions(gold) else 0.0)
    return rewards


# --- polynomials ------------------------------------------------------------------------------

Coefficients = dict[int, Fraction]


@dataclass(frozen=True)
class PolynomialLimits:
    characters: int = 200
    degree: int = 24
    size: int = 10**15


_LIMITS = PolynomialLimits()


def _checked(terms: Coefficients) -> Coefficients:
    kept = {power: value for power, value in terms.items() if value}
    for power, value in kept.items():
        if power > _LIMITS.degree or abs(value.numerator) > _LIMITS.size or value.denominator > _LIMITS.size:
            raise ValueError("out of bounds")
    return kept


def _add(a: Coefficients, b: Coefficients, sign: int) -> Coefficients:
    return _checked({power: a.get(power, Fraction()) + sign * b.get(power, Fraction()) for power in a.keys() | b.keys()})


def _times(a: Coefficients, b: Coefficients) -> Coefficients:
    product: Coefficients = {}
    for i, x in a.items():
        for j, y in b.items():
            product[i + j] = product.get(i + j, Fraction()) + x * y
    return _checked(product)


def _expand(node: ast.AST) -> Coefficients:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return _checked({0: Fraction(node.value)})
    if isinstance(node, ast.Name) and node.id == "x":
        return {1: Fraction(1)}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return _add({}, _expand(node.operand), -1 if isinstance(node.op, ast.USub) else 1)
    if isinstance(node, ast.BinOp):
        left, right = _expand(node.left), _expand(node.right)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return _add(left, right, 1 if isinstance(node.op, ast.Add) else -1)
        if isinstance(node.op, ast.Mult):
            return _times(left, right)
        constant = right.get(0, Fraction())
        if right.keys() <= {0}:
            if isinstance(node.op, ast.Div) and constant:
                return _checked({power: value / constant for power, value in left.items()})
            if isinstance(node.op, ast.Pow) and constant.denominator == 1 and 0 <= constant <= _LIMITS.degree:
                result: Coefficients = {0: Fraction(1)}
                for _ in range(int(constant)):
                    result = _times(result, left)
                return result
    raise ValueError("not a polynomial in x")


def _plain_math(text: str, variable: str) -> str | None:
    """Ordinary or LaTeX notation as a Python expression in one variable; None if anything else is in it."""
    text = text.replace("$", "").strip().strip("*").strip().rstrip(".")
    text = text.replace("\\cdot", "*").replace("\\times", "*").replace("·", "*").replace("\u2212", "-").replace("^", "**")
    text = text.replace("\\left", "").replace("\\right", "")
    text = re.sub(r"\*\*\{([^{}]*)\}", r"**(\1)", text)
    text = re.sub(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
    if len(text) > _LIMITS.characters or re.search(r"[0-9]\s+[0-9]", text):
        return None
    text = "".join(text.split())
    if not re.fullmatch(rf"[0-9{variable}+\-*/()]+", text):
        return None
    return re.sub(rf"(?<=[0-9{variable})])(?=[{variable}(])|(?<=[{variable})])(?=[0-9])", "*", text)


def _polynomial(text: str) -> Coefficients | None:
    text = _plain_math(text, "x")
    if text is None:
        return None
    try:
        return _expand(ast.parse(text, mode="eval").body)
    except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError):
        return None


def polynomial_reward(completions, answer, **kwargs) -> list[float]:
    """1.0 if the polynomial in x in the last <answer>...</answer> is the reference in any form (factored, expanded, reordered).

    Both sides are expanded to exact coefficients. Up to degree 24 and 200 characters; beyond that 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        content = _last_between(completion, "<answer>", "</answer>")
        said = _polynomial(content) if content is not None and len(content) <= 1000 else None
        rewards.append(1.0 if said is not None and said == _polynomial(gold) else 0.0)
    return rewards


# --- closed forms ---------------------------------------------------------------------------------


def _value_at(node: ast.AST, n: int) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        value = Fraction(node.value)
    elif isinstance(node, ast.Name) and node.id == "n":
        value = Fraction(n)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = -_value_at(node.operand, n)
    elif isinstance(node, ast.BinOp):
        left, right = _value_at(node.left, n), _value_at(node.right, n)
        if isinstance(node.op, ast.Add):
            value = left + right
        elif isinstance(node.op, ast.Sub):
            value = left - right
        elif isinstance(node.op, ast.Mult):
            value = left * right
        elif isinstance(node.op, ast.Div):
            value = left / right
        elif isinstance(node.op, ast.Pow) and right.denominator == 1 and abs(right) <= 40:
            value = left ** int(right)
        else:
            raise ValueError("operator")
    else:
        raise ValueError("unsupported")
    if abs(value.numerator) > 10**40 or value.denominator > 10**40:
        raise ValueError("out of bounds")
    return value


_CLOSED_FORM = re.compile(r"a\(n\) ?=([^\n]*)")


def closed_form_reward(completion: str, terms: list) -> float:
    """1.0 if the formula on the last line 'a(n) = ...' gives all the terms a(1), a(2), ... of the data row.

    The row has more terms than the prompt shows. Formulas use n, integers, + - * / ^ and parentheses.
    """
    lines = _CLOSED_FORM.findall(completion)
    formula = lines[-1].rsplit("=", 1)[-1] if lines else ""
    text = _plain_math(formula, "n") if len(formula) <= 1000 else None
    if text is None:
        return 0.0
    try:
        body = ast.parse(text, mode="eval").body
        return float(all(_value_at(body, n) == term for n, term in enumerate(terms, start=1)))
    except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError):
        return 0.0


# --- measured values ---------------------------------------------------------------------------------

_JOULES = {
    "J": 1.0, "joule": 1.0, "joules": 1.0, "mJ": 1e-3, "millijoules": 1e-3, "kJ": 1e3, "kilojoules": 1e3, "MJ": 1e6,
    "megajoules": 1e6, "GJ": 1e9, "Wh": 3600.0, "kWh": 3.6e6, "kW·h": 3.6e6, "MWh": 3.6e9, "cal": 4.184, "kcal": 4184.0, "eV": 1.602176634e-19,
}  # fmt: skip
_QUANTITY = re.compile(
    r"([-\u2212+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(?:\.[0-9]{1,15})?)"
    r"(?: ?(?:×|x|·|\\times|\\cdot|\*) ?10 ?\^ ?\{?([-\u2212+]?[0-9]{1,2})\}?|[eE]([-+]?[0-9]{1,2}))? ?([A-Za-z·]{1,12})"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def _joules(text: str) -> float | None:
    text = re.sub(r"10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{1,3})", lambda match: "10^" + match.group(1).translate(_SUPERSCRIPTS), text)
    cleaned = " ".join(text.replace("**", "").replace("$", "").replace("≈", "").replace("~", "").split()).rstrip(".")
    cleaned = re.sub(r"\\(?:text|mathrm)\{ ?([A-Za-z]{1,12}) ?\}", r"\1", cleaned).replace("\\,", " ")
    match = _QUANTITY.fullmatch(" ".join(cleaned.split()))
    if not match:
        return None
    unit = match.group(4) if match.group(4) in _JOULES or len(match.group(4)) < 5 else match.group(4).lower()
    if unit not in _JOULES:
        return None
    mantissa = float(match.group(1).replace(",", "").replace("\u2212", "-"))
    exponent = int((match.group(2) or match.group(3) or "0").replace("\u2212", "-"))
    return mantissa * 10.0**exponent * _JOULES[unit]


def energy_reward(completions, energy, tolerance, **kwargs) -> list[float]:
    """1.0 if the last line 'Answer: <number> <unit>' is the energy within the row's relative tolerance.

    `energy` is {"value": ..., "unit": ...}. Any energy unit may be used, but unit symbols are case-sensitive
    as in the SI: mJ is not MJ. A bare number is no answer.
    """
    rewards = []
    for completion, gold, allowed in zip(completions, energy, tolerance):
        lines = _ANSWER_LINE.findall(completion)
        said = _joules(lines[-1]) if lines and len(lines[-1]) <= 120 else None
        expected = gold["value"] * _JOULES[gold["unit"]]
        rewards.append(1.0 if said is not None and abs(said - expected) <= allowed * abs(expected) else 0.0)
    return rewards


# --- countdown ----------------------------------------------------------------------------------------


def _leaves(node: ast.AST) -> Iterator[int]:
    for child in ast.walk(node):
        if isinstance(child, ast.Constant):
            yield child.value


def _exact(node: ast.AST) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        left, right = _exact(node.left), _exact(node.right)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        return left * right if isinstance(node.op, ast.Mult) else left / right
    raise ValueError("only + - * / on the given numbers")


def exact_countdown_reward(completions, target, numbers, **kwargs) -> list[float]:
    """Countdown: 1.0 if the expression in the last <answer> reaches the target with each number used exactly once.

    Only the binary + - * / and parentheses, calculated in exact fractions. '= target' may be added. No partial credit.
    """
    rewards = []
    for completion, goal, available in zip(completions, target, numbers):
        content = _last_between(completion, "<answer>", "</answer>")
        expression, _, result = (content or "").partition("=")
        expression = expression.replace("×", "*").replace("\\times", "*").replace("÷", "/").replace("\\div", "/").replace("\u2212", "-").strip()
        legal = len(expression) <= 200 and re.fullmatch(r"[0-9+\-*/() ]+", expression) and result.strip() in ("", str(goal))
        try:
            body = ast.parse(expression, mode="eval").body if legal else None
            solved = body is not None and sorted(_leaves(body)) == sorted(available) and _exact(body) == goal
        except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError):
            solved = False
        rewards.append(1.0 if solved else 0.0)
    return rewards


# --- multiple choice, strict last line -----------------------------------------------------------------

_LETTER_LINE = re.compile(r"[\W_]{0,8}answer[\W_]{1,8}([A-Ea-e])[\W_]{0,8}", re.IGNORECASE)


def final_letter_reward(completions, answer, **kwargs) -> list[float]:
    """1.0 if the last line that is not blank reads 'Answer: X' with the right letter, else 0.0.

    The line is strict, as the prompt says: one letter and no text. Markdown, brackets and a full stop around it,
    and the case of the letter don't matter.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        last_line = completion.rstrip().rpartition("\n")[2].strip()
        match = _LETTER_LINE.fullmatch(last_line) if len(last_line) <= 40 else None
        rewards.append(1.0 if match and match.group(1).upper() == gold else 0.0)
    return rewards


# --- copying ----------------------------------------------------------------------------------------------


def verbatim_copy_reward(completion: str, text: str) -> float:
    """Copying task: 1.0 only if the completion is the text, character for character.

    Case, spaces, quotes and line ends are what the task is about, so nothing is stripped or normalised.
    """
    return 1.0 if completion == text else 0.0


CASES = [
    Case(
        "aime_boxed_integer",
        aime_integer_reward,
        [
            {"prompt": "Find the remainder when 7^100 is divided by 1000. Put the integer (0-999) in \\boxed{}.", "answer": "1"},
            {"prompt": "How many positive integers up to 1000 are divisible by 7 but not by 5? Put the integer in \\boxed{}.", "answer": "114"},
        ],
        [
            "Since $7^4 = 2401$ and $2401^{25} \\equiv 1 \\pmod{1000}$, the remainder is $\\boxed{001}$.",
            "There are 142 multiples of 7 and 28 multiples of 35, so $142 - 28 = \\boxed{114}$.",
        ],
        [
            "The last digits of powers of 7 repeat as 7, 9, 3, 1, so the remainder is $\\boxed{401}$.",
            "There are 142 multiples of 7 and 20 of 35, so $142 - 20 = \\boxed{122}$.",
        ],
    ),
    Case(
        "last_number_exact",
        last_number_reward,
        [
            {"prompt": "A ticket costs $15. What do 80 tickets cost? Finish with the amount.", "answer": "1,200"},
            {"prompt": "The temperature was 4 degrees and fell by 9. What is it now? Finish with the number.", "answer": "-5"},
            {"prompt": "Half of 7 is? Finish with the number.", "answer": "3.5"},
        ],
        [
            "80 tickets at $15 each come to 80 * 15, so the total is $1,200.00.",
            "From 4 it goes down by 9, to 4 - 9 = -5 degrees.",
            "Dividing 7 by 2 gives **3.5**.",
        ],
        [
            "80 tickets at $15 each come to 80 + 15, so the total is $95.",
            "From 4 it goes up by 9, to 13 degrees.",
            "Half of 7 is 3, rounded down.",
        ],
    ),
    Case(
        "fraction_answer",
        fraction_reward,
        [
            {"prompt": "A recipe takes 3/4 cups of flour. How many cups for a double batch? End with 'Answer: ...'.", "answer": "1 1/2", "unit": "cups"},
            {"prompt": "A plank of 2 m is cut into 3 equal pieces. How long is a piece? End with 'Answer: ...'.", "answer": "2/3", "unit": "m"},
        ],
        [
            "Twice three quarters are six quarters.\nAnswer: 1 1/2 cups",
            "Two metres over three pieces.\nAnswer: $\\frac{2}{3}$ m",
        ],
        [
            "Twice three quarters are three eighths.\nAnswer: 3/8 cups",
            "Three pieces over two metres.\nAnswer: 1.5 m",
        ],
    ),
    Case(
        "solution_set",
        solution_set_reward,
        [
            {"prompt": "Solve x^2 - x - 6 = 0. Put all solutions in \\boxed{}.", "answer": "3, -2"},
            {"prompt": "Solve 4x^2 = 9. Put all solutions in \\boxed{}.", "answer": "3/2, -3/2"},
            {"prompt": "Solve x + 1 = x. Put all solutions in \\boxed{}.", "answer": "\\emptyset"},
        ],
        [
            "It factors as $(x - 3)(x + 2) = 0$, so the solutions are \\boxed{x = -2, x = 3}.",
            "Dividing by 4 and taking the root gives \\boxed{\\pm\\frac{3}{2}}.",
            "Subtracting x leaves 1 = 0, which is impossible: \\boxed{\\text{no solution}}.",
        ],
        [
            "It factors as $(x + 3)(x - 2) = 0$, so the solutions are \\boxed{-3, 2}.",
            "Dividing by 4 and taking the root gives \\boxed{\\frac{3}{2}}.",
            "Any x will do, for example \\boxed{0}.",
        ],
    ),
    Case(
        "polynomial_any_form",
        polynomial_reward,
        [
            {"prompt": "Differentiate (x^2 + 1)^2. Put the derivative in <answer>, in any form.", "answer": "4x(x^2 + 1)"},
            {"prompt": "Which quadratic polynomial with leading coefficient 1 has the zeros 3 and -3? Put it in <answer>, in any form.", "answer": "x^2 - 9"},
        ],
        [
            "The square is x^4 + 2x^2 + 1, and each term loses one power.\n<answer>$4x^3 + 4x$</answer>",
            "Each zero gives a linear factor.\n<answer>(x+3)(x-3)</answer>",
        ],
        [
            "The outer derivative is enough.\n<answer>2(x^2 + 1)</answer>",
            "Three is a zero, squared.\n<answer>(x-3)^2</answer>",
        ],
    ),
    Case(
        "closed_form",
        closed_form_reward,
        [
            {"prompt": "1, 2, 4, 8, 16, ... counts the regions into which n points divide a disk when all chords are drawn. End with 'a(n) = ...'.", "terms": [1, 2, 4, 8, 16, 31, 57, 99, 163]},
            {"prompt": "Find a formula for 1, 3, 6, 10, 15, ... End with 'a(n) = ...'.", "terms": [1, 3, 6, 10, 15, 21, 28, 36, 45, 55]},
        ],
        [
            "It is one, plus the pairs of points, plus the quadruples of points.\na(n) = (n^4 - 6n^3 + 23n^2 - 18n + 24)/24",
            "These are the triangular numbers.\na(n) = n(n+1)/2",
        ],
        [
            "Each term doubles.\na(n) = 2^(n-1)",
            "Each term grows by n.\na(n) = n(n-1)/2",
        ],
    ),
    Case(
        "energy_with_unit",
        energy_reward,
        [
            {"prompt": "How much heat warms 2.0 kg of water by 10 K (c = 4186 J/(kg K))? End with 'Answer: <number> <unit>'.", "energy": {"value": 83.72, "unit": "kJ"}, "tolerance": 0.01},
            {"prompt": "A 1.5 kW heater runs for 4 hours. How much energy does it use? End with 'Answer: <number> <unit>'.", "energy": {"value": 6.0, "unit": "kWh"}, "tolerance": 0.001},
        ],
        [
            "Q = m c dT = 2.0 * 4186 * 10.\nAnswer: 8.37 × 10^4 J",
            "Power times time is 1.5 kW * 4 h.\nAnswer: 6 kWh",
        ],
        [
            "Q = m c dT = 2.0 * 4186 * 10.\nAnswer: 83.72 MJ",
            "Power over time.\nAnswer: 0.375 kWh",
        ],
    ),
    Case(
        "countdown_exact",
        exact_countdown_reward,
        [
            {"prompt": "Make 24 from 3, 3, 8, 8 with + - * /, each number once. Put it in <answer>.", "target": 24, "numbers": [3, 3, 8, 8]},
            {"prompt": "Make 46 from 3, 7, 25 with + - * /, each number once. Put it in <answer>.", "target": 46, "numbers": [3, 7, 25]},
        ],
        [
            "<think>8 / 3 is a fraction, and 3 less that is a third.</think>\n<answer>8 / (3 - 8 / 3)</answer>",
            "<think>21 and 25.</think>\n<answer>25 + 3 × 7 = 46</answer>",
        ],
        [
            "<think>8 times 3 is enough.</think>\n<answer>8 * 3</answer>",
            "<think>21 and 25.</think>\n<answer>25 + 3 + 7 = 46</answer>",
        ],
    ),
    Case(
        "final_letter_line",
        final_letter_reward,
        [
            {"prompt": "Which gas do plants take up? A) oxygen B) nitrogen C) carbon dioxide D) helium. The last line must be 'Answer: X' with the letter only.", "answer": "C"},
            {"prompt": "What is the capital of Canada? A) Ottawa B) Toronto C) Montreal. The last line must be 'Answer: X' with the letter only.", "answer": "A"},
        ],
        [
            "Photosynthesis turns carbon dioxide and water into sugar.\n\n**Answer: C**",
            "Toronto is larger, but the government sits in Ottawa.\nAnswer: (A)",
        ],
        [
            "They give off what we breathe in.\n\n**Answer: A**",
            "The largest city is Toronto.\nAnswer: (B)",
        ],
    ),
    Case(
        "verbatim_copy",
        verbatim_copy_reward,
        [
            {"prompt": "Repeat exactly what is between the bars, character for character, and nothing else: |The cat  sat on the MAT.|", "text": "The cat  sat on the MAT."},
            {"prompt": "Repeat exactly what is between the bars, character for character, and nothing else: |it's 5 o'clock|", "text": "it's 5 o'clock"},
        ],
        ["The cat  sat on the MAT.", "it's 5 o'clock"],
        ["The cat sat on the mat.", "It's 5 o'clock"],
    ),
]
