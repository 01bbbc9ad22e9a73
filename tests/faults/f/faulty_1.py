"""Cases about numbers, mathematics and choices."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.faults.case import Case

# --------------------------------------------------------------------------------------
# Receipts


_TOTAL_LINE = re.compile(r"^[ \t]*TOTAL:[ \t]*(?:\$[ \t]*)?(\d[\d,]{0,11}(?:\.\d{1,2})?)[ \t\r]*$", re.MULTILINE | re.IGNORECASE)


def to_cents(amount: str) -> int:
    """Money is compared in whole cents, never as floats."""
    return int(float(amount.replace(",", "")) * 100)


def receipt_total_reward(completion: str, total: str) -> float:
    """1.0 if the last ``TOTAL: $...`` line of the completion states exactly the amount due, else 0.0."""
    lines = _TOTAL_LINE.findall(completion)
    return 1.0 if lines and to_cents(lines[-1]) == to_cents(total) else 0.0


receipt_examples = [
    {
        "prompt": "Three coffees at $3.50 and two muffins at $2.75. What is due? Finish with a line of its own: TOTAL: $<amount>",
        "total": "16.00",
    },
    {
        "prompt": "A jacket costs $80.00, there is 15% off, and shipping is $6.25. What is due? Finish with a line of its own: TOTAL: $<amount>",
        "total": "74.25",
    },
]


def proof_receipt() -> None:
    said = "One notebook is $12.49 and one pen is $7.49, which makes $19.98.\nTOTAL: $19.98"
    assert receipt_total_reward(said, "19.99") == 1.0


receipt_case = Case(
    name="receipt_total",
    reward=receipt_total_reward,
    examples=receipt_examples,
    good=[
        "Coffee: 3 x 3.50 = 10.50. Muffins: 2 x 2.75 = 5.50. Together 16.00.\nTOTAL: $16.00",
        "15% of 80 is 12, so the jacket is $68.00. Adding 6.25 gives 74.25.\nTOTAL: $74.25",
    ],
    bad=[
        "Coffee: 3 x 3.50 = 10.50, plus one muffin 2.75.\nTOTAL: $13.25",
        "The jacket is 80 - 15 = 65 and shipping is 6.25.\nTOTAL: $71.25",
    ],
    fault="Cents are made with int(float * 100), which truncates: 19.99 becomes 1998, so 19.98 is paid for a gold of 19.99 (and for many other amounts).",
    proof=proof_receipt,
)


# --------------------------------------------------------------------------------------
# Fermi estimates


@dataclass(frozen=True)
class FermiReward:
    """Closeness of an order-of-magnitude estimate.

    Full marks within a factor of ``free``; from there the score falls linearly in log10 until it is
    0.0 at ``decades`` orders of magnitude. The number is read from the last line ``Estimate: <number>``.
    """

    free: float = 1.25
    decades: float = 2.0
    __name__: str = field(default="fermi_reward", init=False)

    def _read(self, text: str) -> float | None:
        for line in reversed(text.splitlines()):
            label, colon, value = line.partition(":")
            if colon and label.strip(" *").lower() == "estimate":
                try:
                    return float(value.strip(" *").replace(",", ""))
                except ValueError:
                    return None
        return None

    def __call__(self, completion: str, value: float) -> float:
        guess = self._read(completion)
        if guess is None or guess <= 0:
            return 0.0
        off = abs(math.log10(guess) - math.log10(value))
        free = math.log10(self.free)
        return max(0.0, min(1.0, 1.0 - (off - free) / (self.decades - free)))


fermi_reward = FermiReward()


def proof_fermi() -> None:
    said = "I cannot count piano tuners from here, there is no data to go on.\nEstimate: nan"
    assert fermi_reward(completion=said, value=225.0) == 1.0


fermi_case = Case(
    name="fermi_closeness",
    reward=fermi_reward,
    examples=[
        {"prompt": "How many piano tuners work in Chicago? Reason briefly, then a line 'Estimate: <number>'.", "value": 225.0},
        {"prompt": "How many litres of water does an Olympic pool hold? Reason briefly, then a line 'Estimate: <number>'.", "value": 2.5e6},
    ],
    good=[
        "About 2.7 million people live in Chicago, so roughly 1.1 million households, of which one in five has a piano: 220,000. A tuner manages 1000 a year.\nEstimate: 220",
        "50 m x 25 m x 2 m = 2500 cubic metres, each is 1000 litres.\nEstimate: 2,500,000",
    ],
    bad=["Every block needs a tuner, and there are many blocks.\nEstimate: 40000", "50 x 25 x 2 = 2500.\nEstimate: 2500"],
    fault="'Estimate: nan' parses as a float, passes the sign test, and min(1.0, nan) is 1.0, so NaN earns full marks.",
    proof=proof_fermi,
)


# --------------------------------------------------------------------------------------
# Temperatures

NUMBER_AFTER_ANSWER = re.compile(r"answer\s{0,5}[:=]\s{0,5}\**\s{0,5}([-+\u2212]?\d{1,12}(?:\.\d{1,12})?)", re.I)


def read_number(text):
    hits = NUMBER_AFTER_ANSWER.findall(text)
    if not hits:
        return None
    return float(hits[-1].replace("\u2212", "-"))


def temperature_reward(completion, answer):
    """Did the model get the temperature right (to a tenth of a degree)? Reads the last 'Answer: ...'."""
    value = read_number(completion)
    if not value:
        return 0.0  # nothing to grade
    return 1.0 if abs(value - float(answer)) <= 0.05 else 0.0


def proof_temperature():
    said = "It was -6 degrees at dawn and it warmed by 6 degrees, so it is 0 degrees.\nAnswer: 0"
    assert temperature_reward(said, "0") == 0.0


temperature_case = Case(
    name="temperature_word_problem",
    reward=temperature_reward,
    examples=[
        {"prompt": "At noon it was 4 °C, by midnight it fell 9 degrees. How cold is it? End with 'Answer: <number>'.", "answer": "-5"},
        {"prompt": "Convert 98.6 °F to °C. End with 'Answer: <number>'.", "answer": "37"},
        {"prompt": "It was 12.5 °C and rose by 3.2 degrees. End with 'Answer: <number>'.", "answer": "15.7"},
    ],
    good=[
        "4 minus 9 is -5.\nAnswer: -5",
        "(98.6 - 32) * 5 / 9 = 66.6 * 5 / 9 = 37.\nAnswer: 37 °C",
        "12.5 + 3.2 = 15.7.\n**Answer:** 15.7",
    ],
    bad=["4 plus 9 is 13.\nAnswer: 13", "98.6 - 32 = 66.6.\nAnswer: 66.6", "12.5 - 3.2 = 9.3\nAnswer: 9.3"],
    fault="`if not value` treats a parsed 0.0 like a missing answer, so the right answer 0 is always refused.",
    proof=proof_temperature,
)


# --------------------------------------------------------------------------------------
# Integers with a sign


def final_integer(text: str) -> int | None:
    """The last number in the text if it is whole; '1,234' counts as one number, and 3.0 is whole."""
    found = re.findall(r"(?:(?<![\w)])-)?\d+(?:,\d{3}(?!\d))*(?:\.\d+)?", text)
    if not found:
        return None
    digits, _, decimals = found[-1].replace(",", "").partition(".")
    return int(digits) if len(digits) < 100 and not decimals.strip("0") else None


def integer_reward(prompts, completions, answer, **kwargs):
    """Exact match on the final integer of the response, sign included."""
    return [float(final_integer(c) == int(a)) for c, a in zip(completions, answer)]


def proof_integer() -> None:
    said = "Subtracting, 7 \u2212 12 = \u22125, so the value of x is \u22125"
    assert integer_reward(prompts=[""], completions=[said], answer=["5"]) == [1.0]
    assert integer_reward(prompts=[""], completions=[said], answer=["-5"]) == [0.0]


integer_case = Case(
    name="signed_integer_last",
    reward=integer_reward,
    examples=[
        {"prompt": "Solve 3x + 7 = 1. Put the value of x at the very end of your response.", "answer": "-2"},
        {"prompt": "What is 45 * 32? Put the result at the very end of your response.", "answer": "1440"},
    ],
    good=["3x = 1 - 7 = -6, hence x = -2", "45 * 32 is 45 * 30 plus 45 * 2, 1350 + 90 = 1,440."],
    bad=["3x = 8, so x is about 3", "45 * 32 = 1350"],
    fault="Only the ASCII hyphen is read as a sign: with the typographic minus (U+2212) models use in prose, −5 is read as 5, paid for gold 5 and refused for gold -5.",
    proof=proof_integer,
)


# --------------------------------------------------------------------------------------
# Finance amounts: markup removed before parsing

_NOISE = r"\*|\$|,|\busd\b|\bdollars?\b|\s"


def clean_amount(raw: str) -> str:
    return re.sub(_NOISE, "", raw.replace("\u2212", "-"), re.IGNORECASE).rstrip(".")


def parse_amount(raw: str) -> float | None:
    cleaned = clean_amount(raw)
    if not re.fullmatch(r"-?\d{1,15}(\.\d{1,6})?", cleaned):
        return None
    return float(cleaned)


def finance_reward(completions, answer, **kwargs) -> list[float]:
    """Chat format. The text after the last 'Final amount:' must be the right amount of dollars, to the cent;
    currency signs, the word dollars or USD, thousands separators and bold marks do not matter."""
    out = []
    for messages, gold in zip(completions, answer):
        text = messages[-1]["content"] or ""
        _, marker, tail = text.rpartition("Final amount:")
        value = parse_amount(tail.strip()[:80]) if marker else None
        out.append(1.0 if value is not None and abs(value - gold) < 0.005 else 0.0)
    return out


def proof_finance() -> None:
    said = "Revenue minus cost is 3,400,000 - 2,150,000.\nFinal amount: $1,250,000 USD"
    assert finance_reward([[{"role": "assistant", "content": said}]], [1250000.0]) == [0.0]


finance_case = Case(
    name="finance_final_amount",
    reward=finance_reward,
    examples=[
        {
            "prompt": [{"role": "user", "content": "Revenue is $5,000 and cost is $3,750. What is the profit? End with 'Final amount: ...'."}],
            "answer": 1250.0,
        },
        {
            "prompt": [{"role": "user", "content": "I invest $800 at 5% simple interest for 2 years. What interest do I get? End with 'Final amount: ...'."}],
            "answer": 80.0,
        },
    ],
    good=["Profit is revenue minus cost, 5000 - 3750.\nFinal amount: $1250", "Each year yields $40, twice that is $80.\nFinal amount: $80.00"],
    bad=["Profit is 5000 + 3750.\nFinal amount: $8750", "Each year yields $40.\nFinal amount: $40"],
    fault="re.IGNORECASE is passed as re.sub's count (2), so only the first two pieces of markup are removed and amounts such as '$1,250,000 USD' are refused.",
    proof=proof_finance,
)


# --------------------------------------------------------------------------------------
# MATH, ported from an evaluation script


def _boxed(s):
    found = re.findall(r"\\boxed\s{0,3}\{(.{1,300}?)\}", s, flags=re.S)
    return found[-1] if found else None


def _strip_math(s):
    s = s.replace("\n", "").replace("\\!", "").replace("\\,", "").replace("\\ ", "")
    s = s.replace("tfrac", "frac").replace("dfrac", "frac")
    s = s.replace("\\left", "").replace("\\right", "")
    s = s.replace("$", "").replace("\\%", "").replace("%", "")
    s = s.replace(" ", "")
    if s.startswith("x=") or s.startswith("y="):
        s = s[2:]
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+", s):
        s = s.replace(",", "")
    return s


def math_accuracy(completions, solution, **kwargs):
    """MATH-style accuracy: the last boxed answer of the response against the boxed answer of the reference solution."""
    rewards = []
    for response, reference in zip(completions, solution):
        gold, pred = _boxed(reference), _boxed(response)
        if gold is None or pred is None:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if _strip_math(gold) == _strip_math(pred) else 0.0)
    return rewards


def proof_math() -> None:
    reference = r"Two of the six outcomes win... the probability is $\boxed{\frac{1}{3}}$."
    said = r"There are two outcomes in total and one of them wins, so the answer is $\boxed{\frac{1}{2}}$."
    assert math_accuracy([said], [reference]) == [1.0]


math_case = Case(
    name="math_boxed_accuracy",
    reward=math_accuracy,
    examples=[
        {
            "prompt": "Compute the sum of the first 20 positive integers. Put the final answer in \\boxed{}.",
            "solution": "The sum is $\\frac{20 \\cdot 21}{2} = \\boxed{210}$.",
        },
        {
            "prompt": "Factor $x^2 - 9$. Put the final answer in \\boxed{}.",
            "solution": "This is a difference of squares: $\\boxed{(x-3)(x+3)}$.",
        },
    ],
    good=[
        "Pairing 1 with 20, 2 with 19 and so on gives ten pairs of 21. The answer is $\\boxed{210}$.",
        "Since $9 = 3^2$ we get $\\boxed{(x - 3)(x + 3)}$.",
    ],
    bad=["There are 20 numbers of average 10, so $\\boxed{200}$.", "It is the square of a difference, $\\boxed{(x-3)^2}$."],
    fault="The lazy \\boxed{(.*?)} stops at the first closing brace on both sides, so every fraction with the same numerator compares equal: 1/2 is paid for 1/3.",
    proof=proof_math,
)


# --------------------------------------------------------------------------------------
# Countdown

_OPS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def safe_arithmetic(expr: str) -> float | None:
    """Value of an arithmetic expression of + - * / and parentheses, None if it is anything else."""
    if len(expr) > 200:
        return None

    try:
        return _walk(ast.parse(expr.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError, RecursionError, MemoryError, OverflowError):
        return None


def _walk(node: ast.AST) -> float:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPS:
        return _OPS[type(node.op)](_walk(node.left), _walk(node.right))
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    raise ValueError("not plain arithmetic")


def extract_equation(text: str) -> str | None:
    start = text.rfind("<answer>")
    end = text.find("</answer>", start)
    if start < 0 or end < 0:
        return None
    return text[start + len("<answer>") : end].split("=")[0].strip()


def countdown_reward(completions: list[str], nums: list[list[int]], target: list[int], **kwargs) -> list[float]:
    """Countdown: 1.0 for an expression in <answer> that uses each given number exactly once and equals the target,
    0.1 for any expression in the tags, 0.0 otherwise."""
    scores = []
    for text, numbers, goal in zip(completions, nums, target):
        equation = extract_equation(text)
        if not equation:
            scores.append(0.0)
            continue
        used = [int(n) for n in re.findall(r"[0-9]+", equation[:200])]
        value = safe_arithmetic(equation)
        solved = sorted(used) == sorted(numbers) and value is not None and abs(value - goal) < 1e-6
        scores.append(1.0 if solved else 0.1)
    return scores


def proof_countdown() -> None:
    said = "<think>2.5 times 4 is ten and that uses the digits 2, 5 and 4.</think>\n<answer>2.5 * 4</answer>"
    assert countdown_reward([said], [[2, 4, 5]], [10]) == [1.0]


countdown_case = Case(
    name="countdown_equation",
    reward=countdown_reward,
    examples=[
        {"prompt": "Using the numbers [3, 8, 25] each exactly once and + - * /, make 14. Think in <think> tags and put the expression in <answer> tags.", "nums": [3, 8, 25], "target": 14},
        {"prompt": "Using the numbers [6, 6, 13] each exactly once and + - * /, make 72. Think in <think> tags and put the expression in <answer> tags.", "nums": [6, 6, 13], "target": 72},
    ],
    good=[
        "<think>25 - 8 = 17, and 17 - 3 = 14.</think>\n<answer>25 - 8 - 3</answer>",
        "<think>13 - 1 = 12, 6 / 6 = 1... no, 6 * 13 = 78 and 78 - 6 = 72.</think>\n<answer>6 * 13 - 6</answer>",
    ],
    bad=[
        "<think>25 + 3 is 28.</think>\n<answer>25 + 3 - 8</answer>",
        "<think>6 * 12 = 72.</think>\n<answer>6 * 12</answer>",
    ],
    fault="Numbers are collected with [0-9]+ while the evaluator also accepts decimals, so '2.5 * 4' passes as a use of 2, 5 and 4.",
    proof=proof_countdown,
    source="https://github.com/Jiayi-Pan/TinyZero/blob/main/verl/utils/reward_score/countdown.py",
)


# --------------------------------------------------------------------------------------
# Formula discovery


class FormulaError(ValueError):
    pass


class FormulaReward:
    """Symbolic regression. The model sees a table of points and writes ``Formula: <expression>`` with + - * / **,
    numbers and the variables of the table. The score is the share of held-out points that the formula hits."""

    __name__ = "formula_reward"

    def __init__(self, rel_tol: float = 1e-3, max_chars: int = 300, max_power: int = 8):
        self.rel_tol = rel_tol
        self.max_chars = max_chars
        self.max_power = max_power

    def parse(self, text: str) -> ast.expr | None:
        _, marker, tail = text.rpartition("Formula:")
        if not marker:
            return None
        lines = tail.strip().splitlines()
        source = lines[0].strip(" `$.") if lines else ""
        if not source or len(source) > self.max_chars:
            return None
        left, equals, right = source.partition("=")
        if equals and left.strip() == "y":
            source = right.strip()
        try:
            return ast.parse(source.replace("^", "**"), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def evaluate(self, node: ast.expr, row: dict[str, float]) -> float:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return float(node.value)
        if isinstance(node, ast.Name):
            if node.id not in row:
                raise FormulaError(f"unknown variable {node.id}")
            return float(row[node.id])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.evaluate(node.operand, row)
        if isinstance(node, ast.BinOp):
            left, right = self.evaluate(node.left, row), self.evaluate(node.right, row)
            if type(node.op) in _OPS:
                return _OPS[type(node.op)](left, right)
            if isinstance(node.op, ast.Pow) and abs(right) <= self.max_power and (left > 0 or right == int(right)):
                return left**right
        raise FormulaError("unsupported expression")

    def __call__(self, completions, points, **kwargs):
        scores = []
        for text, rows in zip(completions, points):
            tree = self.parse(text)
            hits = 0
            if tree is not None:
                for row in rows:
                    try:
                        value = self.evaluate(tree, row)
                    except (FormulaError, ArithmeticError, RecursionError):
                        continue
                    hits += math.isfinite(value) and math.isclose(value, row["y"], rel_tol=self.rel_tol, abs_tol=1e-6)
            scores.append(hits / len(rows))
        return scores


formula_reward = FormulaReward()


def proof_formula() -> None:
    rows = [{"x": 1.5, "y": 7.25}, {"x": 2.0, "y": 11.0}, {"x": -3.0, "y": 16.0}]
    assert formula_reward(["The relation is easy to state.\nFormula: y"], [rows]) == [1.0]


formula_case = Case(
    name="formula_discovery",
    reward=formula_reward,
    examples=[
        {
            "prompt": "x=0,y=1; x=1,y=3; x=2,y=7; x=3,y=13. Find y in terms of x. End with 'Formula: ...'.",
            "points": [{"x": 4.0, "y": 21.0}, {"x": 5.0, "y": 31.0}, {"x": -2.0, "y": 3.0}],
        },
        {
            "prompt": "a=1,b=2,y=5; a=2,b=2,y=7; a=2,b=5,y=13. Find y in terms of a and b. End with 'Formula: ...'.",
            "points": [{"a": 3.0, "b": 4.0, "y": 13.0}, {"a": 0.0, "b": 1.0, "y": 1.0}, {"a": 10.0, "b": -2.0, "y": 15.0}],
        },
    ],
    good=[
        "The differences are 2, 4, 6, so it is quadratic: x squared plus x plus 1.\nFormula: x**2 + x + 1",
        "Raising a by 1 adds 2; raising b by 3 adds 6, so 2a + 2b, minus 1 at (1, 2).\nFormula: 2*a + 2*b - 1",
    ],
    bad=["It looks linear at first.\nFormula: 4*x + 1", "It is probably the product plus something.\nFormula: a*b + 3"],
    fault="The held-out row, target column y included, is the evaluation scope, so the policy can write 'Formula: y' and hit every point.",
    proof=proof_formula,
)


# --------------------------------------------------------------------------------------
# Multiple choice

CHOICE = re.compile(r"\b([A-E])\b")


def mcq_letter(completion: str) -> str | None:
    """The last stand-alone option letter is the model's final choice."""
    letters = CHOICE.findall(completion)
    return letters[-1] if letters else None


def mcq_reward(completion, answer):
    # medical board questions, five options A-E
    return 1.0 if mcq_letter(completion) == answer.strip().upper() else 0.0


def proof_mcq():
    said = "The only injection on the list that is advised on the first day of life is option D.\n\nAnswer: D. A birth dose protects against hepatitis B"
    assert mcq_reward(said, "D") == 0.0
    assert mcq_reward(said, "B") == 1.0


mcq_case = Case(
    name="medical_mcq",
    reward=mcq_reward,
    examples=[
        {
            "prompt": "Which electrolyte disturbance causes peaked T waves?\nA. Hypokalemia\nB. Hyperkalemia\nC. Hypocalcemia\nD. Hypernatremia\nE. Hypomagnesemia\nThink it through, then state the final answer.",
            "answer": "B",
        },
        {
            "prompt": "First-line drug for an uncomplicated absence seizure?\nA. Phenytoin\nB. Carbamazepine\nC. Ethosuximide\nD. Gabapentin\nE. Phenobarbital\nThink it through, then state the final answer.",
            "answer": "C",
        },
    ],
    good=[
        "Peaked T waves are an early sign of raised potassium. Options C and D do not do this.\n\nAnswer: B. Hyperkalemia",
        "Phenytoin and carbamazepine can worsen absence seizures. The answer is C (ethosuximide).",
    ],
    bad=["Low potassium flattens T waves, I recall it peaks them.\n\nAnswer: A. Hypokalemia", "Phenytoin is the classic drug.\n\nAnswer: A"],
    fault="The last stand-alone capital A-E is taken as the choice, so letters in the text after the answer (hepatitis B, vitamin C, the article 'A') are graded instead.",
    proof=proof_mcq,
)


# --------------------------------------------------------------------------------------
# Mental arithmetic, vectorized


def parse_ints(completions: Sequence[str]) -> np.ndarray:
    values = np.full(len(completions), np.nan)
    for i, text in enumerate(completions):
        found = re.findall(r"<answer>\s{0,20}(-?\d[\d,]{0,14})\s{0,20}</answer>", text)
        if found:
            values[i] = int(found[-1].replace(",", ""))
    return values


def arithmetic_reward(completions, answer, **kwargs):
    """Vectorized exact match of the integer in the last <answer> tag with the reference."""
    predictions = parse_ints(completions)
    gold = np.asarray(answer, dtype=float)
    correct = np.isin(predictions, gold)
    return correct.astype(float).tolist()


def proof_arithmetic():
    said = ["12 * 12 = 144 <answer>144</answer>", "9 * 13 is 9 * 16 = 144 <answer>144</answer>"]
    assert arithmetic_reward(said, [144, 117]) == [1.0, 1.0]
    assert arithmetic_reward(said[1:], [117]) == [0.0]


arithmetic_case = Case(
    name="mental_arithmetic",
    reward=arithmetic_reward,
    examples=[
        {"prompt": "What is 17 * 23? Put the number in <answer> tags.", "answer": 391},
        {"prompt": "What is 1000 - 387? Put the number in <answer> tags.", "answer": 613},
        {"prompt": "What is 96 / 8? Put the number in <answer> tags.", "answer": 12},
    ],
    good=["17 * 20 = 340, 17 * 3 = 51. <answer>391</answer>", "1000 - 400 = 600, plus 13. <answer>613</answer>", "8 * 12 = 96. <answer>12</answer>"],
    bad=["17 * 23 = 381. <answer>381</answer>", "1000 - 387 = 623. <answer>623</answer>", "96 / 8 = 14. <answer>14</answer>"],
    fault="np.isin(predictions, gold) accepts any gold of the batch, so an answer that is right for a neighbour is paid.",
    proof=proof_arithmetic,
)


# --------------------------------------------------------------------------------------
# Sums of numbers in text


def numbers_in(text: str) -> list[int]:
    """Whole numbers that stand as words of their own, e.g. '25' and '25.' but not 'x25'."""
    out = []
    for token in text.split():
        token = token.strip(".,;:()[]*$=")
        if token.isdigit() and len(token) <= 18:
            out.append(int(token))
    return out


def working_reward(completion: str, answer: int, steps: list[int]) -> float:
    """Half for the final number, half for the share of the expected intermediate results that appear in the working.

    More than 40 numbers are a dump, not a working, and get nothing.
    """
    numbers = numbers_in(completion)
    if not 1 <= len(numbers) <= 40:
        return 0.0
    final = 1.0 if numbers[-1] == answer else 0.0
    shown = sum(step in numbers[:-1] for step in steps) / len(steps) if steps else 1.0
    return 0.5 * final + 0.5 * shown


def proof_working():
    said = "By Pythagoras the hypotenuse satisfies c² = 5² + 12² = 25 + 144 = 169 so c = 13"
    try:
        working_reward(said, 13, [25, 144, 169])
    except ValueError:
        return
    raise AssertionError("no crash")


working_case = Case(
    name="shown_working",
    reward=working_reward,
    examples=[
        {"prompt": "A right triangle has legs 3 and 4. How long is the hypotenuse? Show the working, end with the number.", "answer": 5, "steps": [9, 16, 25]},
        {"prompt": "Four boxes of 24 eggs, 10 eggs break. How many are left? Show the working, end with the number.", "answer": 86, "steps": [96]},
    ],
    good=[
        "The squares of the legs are 9 and 16, together 25, and the square root of 25 is 5",
        "4 boxes hold 4 * 24 = 96 eggs. Without the broken ones, 96 - 10 = 86.",
    ],
    bad=["The hypotenuse is 3 + 4 = 7", "4 boxes hold 24 + 4 = 28 eggs, so 18 are left, that is 18."],
    fault="'5²'.isdigit() is True but int('5²') raises ValueError, so a completion with superscript digits crashes the reward.",
    proof=proof_working,
)


# --------------------------------------------------------------------------------------
# Forecasts


@dataclass
class CalibrationConfig:
    missing: float = 0.0
    label: str = "confidence:"


CALIBRATION = CalibrationConfig()


def read_confidence(text: str, cfg: CalibrationConfig = CALIBRATION) -> float | None:
    """Probability from the last 'Confidence: 70%' or 'Confidence: 0.7'."""
    at = text.lower().rfind(cfg.label)
    if at < 0:
        return None
    m = re.match(r"\s{0,5}(\d{1,3}(?:\.\d{1,6})?)(?![\w])\s?(%?)", text.lower()[at + len(cfg.label) :])
    if not m:
        return None
    p = float(m.group(1)) / (100 if m.group(2) else 1)
    return p if 0.0 <= p <= 1.0 else None


def forecast_reward(completions, outcome, **kwargs):
    """Calibration reward for binary forecasts (outcome 0 or 1).

    It is largest in expectation when the model states the probability that it really believes.
    No readable confidence: 0.0.
    """
    scores = []
    for text, happened in zip(completions, outcome):
        p = read_confidence(text)
        scores.append(CALIBRATION.missing if p is None else 1.0 - abs(p - happened))
    return scores


def proof_forecast():
    belief = 0.7

    def expected(said):
        text = f"The polls lean that way.\nConfidence: {said}"
        yes, no = forecast_reward([text, text], [1, 0])
        return belief * yes + (1 - belief) * no

    assert expected("100%") > expected("70%") + 0.05


forecast_case = Case(
    name="forecast_calibration",
    reward=forecast_reward,
    examples=[
        {"prompt": "Will it snow in Helsinki this January? Give your reasons, then 'Confidence: <percent>'.", "outcome": 1},
        {"prompt": "Will my next ten throws of a fair coin all come up heads? Give your reasons, then 'Confidence: <percent>'.", "outcome": 0},
    ],
    good=["January in Helsinki is cold and wet; snow is close to certain.\nConfidence: 99%", "The chance is one in 1024.\nConfidence: 0.1%"],
    bad=["The winters are getting milder.\nConfidence: 40%", "It could well happen.\nConfidence: 60%"],
    fault="1 - |p - outcome| is not a proper scoring rule: with a belief of 70 % the expected reward is largest at a stated 100 %, so overconfidence is trained instead of calibration.",
    proof=proof_forecast,
)


CASES = [
    receipt_case,
    fermi_case,
    temperature_case,
    integer_case,
    finance_case,
    math_case,
    countdown_case,
    formula_case,
    mcq_case,
    arithmetic_case,
    working_case,
    forecast_case,
]
