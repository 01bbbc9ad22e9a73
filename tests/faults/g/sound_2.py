"""Reward functions: abstention, tolerance, units, dates, clock, sudoku, ranking, sorting, polynomials, boxed
fractions.
"""

from __future__ import annotations

import ast
import datetime
import math
import re
import unicodedata
from fractions import Fraction
from typing import Any

from tests.faults.case import Case


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2].strip()


def _answer(text: str) -> str | None:
    """What follows "Answer:" on the last line, or None if the last line is no answer line."""
    line = _last_line(text)
    if line.startswith("**") and line.endswith("**"):
        line = line[2:-2]
    line = line.replace("**Answer:**", "Answer:", 1).strip()
    return line.removeprefix("Answer:").strip() if line.startswith("Answer:") else None


# ---------------------------------------------------------------------------------------------------------------------
# questions that may have no answer


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return " ".join(text.strip(" .!\"'").split())


def abstention_reward(completion: str, aliases: list[str]) -> float:
    """Questions about a text that may not hold the answer. Scores: -1.0, 0.0 or 1.0.

    The last line is "Answer: ..."; "Answer: unknown" abstains. Where the text answers the question (`aliases`
    is not empty): 1.0 for any alias, 0.0 for abstaining, -1.0 for anything else. Where it does not: 1.0 for
    abstaining, else -1.0. Without an answer line: -1.0.
    """
    said = _answer(completion)
    if said is None:
        return -1.0
    said = _plain(said)
    if said == "unknown":
        return 0.0 if aliases else 1.0
    return 1.0 if said and said in {_plain(alias) for alias in aliases} else -1.0


# ---------------------------------------------------------------------------------------------------------------------
# numbers with tolerance

NUMBER = re.compile(
    r"([-+]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,6}|[0-9]{1,20})(?:\.[0-9]{1,20})?(?:[eE][-+]?[0-9]{1,3})?)(.*)"
)


def one_percent_reward(completion: str, value: float, unit: str) -> float:
    """1.0 if the last line is "Answer: <number> <unit>" and the number is within one percent of `value`, else 0.0.

    The number is a decimal (thousands commas allowed) or in e-notation. The unit may be left out, as the
    prompt fixes it, but another unit is wrong, and so is any other text. An exact zero is required where `value` is 0.
    """
    said = _answer(completion)
    match = NUMBER.fullmatch(said.replace("−", "-")) if said else None
    if match is None or match.group(2).strip().rstrip(".") not in ("", unit):
        return 0.0
    number = float(match.group(1).replace(",", ""))
    return 1.0 if math.isfinite(number) and abs(number - value) <= 0.01 * abs(value) else 0.0


# ---------------------------------------------------------------------------------------------------------------------
# masses with units

GRAMS = {"mg": 0.001, "g": 1.0, "kg": 1000.0, "t": 1_000_000.0, "oz": 28.349523125, "lb": 453.59237}
MASS = re.compile(r"([0-9]{1,3}(?:,[0-9]{3}){1,5}|[0-9]{1,15})(\.[0-9]{1,10})?\s?(mg|g|kg|t|oz|lb)\.?")


def mass_reward(completions: list[str], grams: list[float], **kwargs: Any) -> list[float]:
    """1.0 if the last line is "Answer: <mass>" with a unit (mg, g, kg, t, oz, lb) and the mass is right to 0.5 percent.

    The unit may be any of these, as the mass is converted; a number without a unit is refused.
    """
    rewards = []
    for text, want in zip(completions, grams):
        said = _answer(text)
        match = MASS.fullmatch(said) if said else None
        if match is None:
            rewards.append(0.0)
            continue
        number = float(match.group(1).replace(",", "") + (match.group(2) or ""))
        rewards.append(1.0 if abs(number * GRAMS[match.group(3)] - want) <= 0.005 * want else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# dates


def iso_date_reward(completion: str, date: str) -> float:
    """The last line has to be an ISO date (YYYY-MM-DD) and nothing else. 1.0 if it is `date`.

    Near misses earn a little, as days are easy to miscount: 0.4 for one day off, 0.2 for two days off, otherwise 0.0.
    """
    line = _last_line(completion)
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", line):
        return 0.0
    try:
        off = abs((datetime.date.fromisoformat(line) - datetime.date.fromisoformat(date)).days)
    except ValueError:
        return 0.0
    return {0: 1.0, 1: 0.4, 2: 0.2}.get(off, 0.0)


# ---------------------------------------------------------------------------------------------------------------------
# clock times

CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?(?:\s?([AaPp])\.?[Mm]\.?)?")


def _minutes(text: str) -> int | None:
    match = CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    hours, minutes, half = int(match.group(1)), int(match.group(2) or 0), (match.group(3) or "").lower()
    if match.group(2) is None and not half:
        return None
    if minutes > 59 or hours > 23 or (half and not 1 <= hours <= 12):
        return None
    if half:
        hours = hours % 12 + (12 if half == "p" else 0)
    return 60 * hours + minutes


def arrival_time_reward(completions: list[str], arrival: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the last line is "Answer: <time>" with the right time, as 00:30, as 12:30 am, as 3 pm or as 3:05 p.m.

    A time without am or pm is read on the 24-hour clock, so "3:05" is not five past three in the afternoon.
    """
    rewards = []
    for text, want in zip(completions, arrival):
        said = _minutes(_answer(text) or "")
        rewards.append(1.0 if said is not None and said == _minutes(want) else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# sudoku


def mini_sudoku_reward(completions: list[str], puzzle: list[str], **kwargs: Any) -> list[float]:
    """4x4 sudoku: the last four lines are the solved grid, four digits each (spaces between them are fine).

    1.0 if it keeps the given digits of the puzzle and each row, column and 2x2 box holds 1 to 4; else 0.0.
    """
    rewards = []
    for text, given in zip(completions, puzzle):
        lines = text.rstrip().rsplit("\n", 4)[-4:]
        cells = ["".join(line.split()) for line in lines]
        clues = given.split()
        if len(cells) != 4 or any(not re.fullmatch("[1-4]{4}", row) for row in cells):
            rewards.append(0.0)
            continue
        keeps = all(clue in (".", cell) for row, clue_row in zip(cells, clues) for cell, clue in zip(row, clue_row))
        columns = ["".join(row[index] for row in cells) for index in range(4)]
        boxes = [cells[top][left : left + 2] + cells[top + 1][left : left + 2] for top in (0, 2) for left in (0, 2)]
        filled = all(len(set(unit)) == 4 for unit in (*cells, *columns, *boxes))
        rewards.append(1.0 if keeps and filled else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# ranking


def ndcg_at_5_reward(completions: list[str], gains: list[dict[str, Any]], **kwargs: Any) -> list[float]:
    """nDCG@5 of the documents named after the last "Ranking:" (doc-ids such as doc-12, best first, in a line or
    a list).

    `gains` maps doc-ids to graded relevance (missing or None: 0). A document that is named again counts at its
    first place only, and unknown doc-ids take up their place without gain.
    """
    rewards = []
    for text, graded in zip(completions, gains):
        _, marker, rest = text.rpartition("Ranking:")
        listing = rest if marker else ""
        order = list(dict.fromkeys(re.findall(r"\bdoc-[0-9]{1,6}\b", listing)))[:5]
        relevance = {name: float(gain) for name, gain in graded.items() if gain}
        ideal = sorted(relevance.values(), reverse=True)[:5]
        best = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(ideal))
        found = sum(relevance.get(name, 0.0) / math.log2(rank + 2) for rank, name in enumerate(order))
        rewards.append(min(1.0, found / best) if best > 0 else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# sorting words


def word_sorting_reward(completion: str, words: list[str]) -> float:
    """The last line lists `words` in ascending code-point order (capitals before small letters), separated by commas.

    Partial credit: the share of places that hold the right word, relative to the longer of the two lists.
    """
    listed = [part.strip() for part in _last_line(completion).rstrip(".").split(",")]
    gold = sorted(words)
    right = sum(said == want for said, want in zip(listed, gold))
    return right / max(len(listed), len(gold))


# ---------------------------------------------------------------------------------------------------------------------
# polynomials

Poly = dict[int, Fraction]
MAX_DEGREE = 24


def _times(left: Poly, right: Poly) -> Poly:
    product: Poly = {}
    for i, a in left.items():
        for j, b in right.items():
            product[i + j] = product.get(i + j, Fraction(0)) + a * b
    return product


def _polynomial(node: ast.AST) -> Poly:
    poly: Poly
    if isinstance(node, ast.Constant) and type(node.value) is int:
        poly = {0: Fraction(node.value)}
    elif isinstance(node, ast.Name) and node.id == "x":
        poly = {1: Fraction(1)}
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        sign = -1 if isinstance(node.op, ast.USub) else 1
        poly = {power: sign * factor for power, factor in _polynomial(node.operand).items()}
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        poly = dict(_polynomial(node.left))
        sign = -1 if isinstance(node.op, ast.Sub) else 1
        for power, factor in _polynomial(node.right).items():
            poly[power] = poly.get(power, Fraction(0)) + sign * factor
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        poly = _times(_polynomial(node.left), _polynomial(node.right))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        divisor = _polynomial(node.right)
        if set(divisor) != {0}:
            raise ValueError("division by a constant only")
        poly = {power: factor / divisor[0] for power, factor in _polynomial(node.left).items()}
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        exponent = node.right
        if not isinstance(exponent, ast.Constant) or type(exponent.value) is not int or not 0 <= exponent.value <= 12:
            raise ValueError("exponents are integers from 0 to 12")
        base = _polynomial(node.left)
        poly = {0: Fraction(1)}
        for _ in range(exponent.value):
            poly = _times(poly, base)
            if max(poly, default=0) > MAX_DEGREE:
                raise ValueError("degree")
    else:
        raise ValueError("not a polynomial in x")
    poly = {power: factor for power, factor in poly.items() if factor}
    if max(poly, default=0) > MAX_DEGREE or any(
        f.numerator.bit_length() + f.denominator.bit_length() > 2000 for f in poly.values()
    ):
        raise ValueError("too big")
    return poly or {0: Fraction(0)}


def _read_polynomial(text: str) -> Poly | None:
    if len(text) > 200 or not re.fullmatch(r"[0-9x+\-*/^() .]*", text):
        return None
    text = re.sub(r"(?<=[0-9x)])\s*(?=[x(])", "*", text.strip().rstrip(".").replace("^", "**"))
    try:
        return _polynomial(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def polynomial_reward(completions: list[str], polynomial: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the last line is "Answer: <polynomial in x>" and equal to the gold one, in any form; else 0.0.

    "2x^2 - 2", "2(x-1)(x+1)" and "2*x**2-2" are the same; coefficients are integers or fractions such as x/2.
    """
    rewards = []
    for text, gold in zip(completions, polynomial):
        said = _read_polynomial((_answer(text) or "").strip("$").replace("−", "-"))
        rewards.append(1.0 if said is not None and said == _read_polynomial(gold) else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# boxed rational numbers


def _last_boxed(text: str) -> str | None:
    """Content of the last \\boxed{...}, up to the brace that closes it."""
    start = text.rfind("\\boxed{")
    if start < 0:
        return None
    depth = 0
    for position in range(start + len("\\boxed"), min(len(text), start + 120)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start + len("\\boxed{") : position]
    return None


def _rational(text: str) -> Fraction | None:
    text = "".join(text.replace("−", "-").replace("{,}", ",").replace("$", "").split())
    text = re.sub(r"\\[dt]frac", r"\\frac", text)
    match = re.fullmatch(r"([-+]?)\\frac\{(-?[0-9]{1,20})\}\{([0-9]{1,20})\}", text) or re.fullmatch(
        r"([-+]?)([0-9]{1,20})/([0-9]{1,20})", text
    )
    if match:
        sign, numerator, denominator = match.groups()
        return Fraction(int(numerator), int(denominator)) * (-1 if sign == "-" else 1) if int(denominator) else None
    if re.fullmatch(r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,6}|[0-9]{1,20})(?:\.[0-9]{1,20})?", text):
        return Fraction(text.replace(",", ""))
    return None


def boxed_rational_reward(completion: str, value: str) -> float:
    """1.0 if the last \\boxed{...} holds the rational number `value` exactly, else 0.0.

    Integers, decimals, a/b and \\frac{a}{b} (also \\dfrac) are read, and need not be in lowest terms. A rounded decimal
    (0.33 for 1/3) is wrong.
    """
    boxed = _last_boxed(completion)
    said = _rational(boxed) if boxed is not None else None
    return 1.0 if said is not None and said == Fraction(value) else 0.0


# ---------------------------------------------------------------------------------------------------------------------

CASES = [
    Case(
        name="abstention",
        reward=abstention_reward,
        examples=[
            {
                "prompt": (
                    "Text: 'The bridge opened in 1932.' When did it open? End with 'Answer: ...' or 'Answer: unknown'."
                ),
                "aliases": ["1932", "in 1932"],
            },
            {
                "prompt": (
                    "Text: 'The bridge opened in 1932.' Who designed it? End with 'Answer: ...' or 'Answer: unknown'."
                ),
                "aliases": [],
            },
        ],
        good=[
            "The text gives the year.\nAnswer: 1932",
            "The text does not say who designed the bridge.\nAnswer: unknown",
        ],
        bad=["The text speaks of the thirties.\nAnswer: 1930", "I remember that from a book.\nAnswer: John Bradfield"],
    ),
    Case(
        name="one_percent",
        reward=one_percent_reward,
        examples=[
            {
                "prompt": "How many liters fit in a cube with edges of 45 cm? End with 'Answer: <number> l'.",
                "value": 91.125,
                "unit": "l",
            },
            {
                "prompt": "Mass of an electron in kg? End with 'Answer: <number in e-notation> kg'.",
                "value": 9.109e-31,
                "unit": "kg",
            },
        ],
        good=["0.45^3 = 0.091 cubic meters.\nAnswer: 91.1 l", "It is a constant of nature.\nAnswer: 9.11e-31 kg"],
        bad=["45^3 = 91125.\nAnswer: 91125 l", "It is that of a proton.\nAnswer: 1.67e-27 kg"],
    ),
    Case(
        name="mass_with_unit",
        reward=mass_reward,
        examples=[
            {
                "prompt": (
                    "Six bags of 250 g: what do they weigh together? End with 'Answer: <mass>' in g, kg, oz or lb."
                ),
                "grams": 1500.0,
            },
            {
                "prompt": "Half a pound of butter: how much is that? End with 'Answer: <mass>' in g, kg, oz or lb.",
                "grams": 226.8,
            },
        ],
        good=["6 * 250 g is 1,500 g.\nAnswer: 1.5 kg", "A pound has 16 ounces.\nAnswer: 8 oz"],
        bad=["6 * 250 g is 1,500 g.\nAnswer: 1.5 g", "A pound is half a kilogram.\nAnswer: 250 g"],
    ),
    Case(
        name="iso_date_near_miss",
        reward=iso_date_reward,
        examples=[
            {
                "prompt": "Which date is 45 days after 2024-01-31? Last line: the date, YYYY-MM-DD.",
                "date": "2024-03-16",
            },
            {"prompt": "A week before New Year's Day 2023? Last line: the date, YYYY-MM-DD.", "date": "2022-12-25"},
        ],
        good=[
            "February 2024 has 29 days, and 45 - 29 = 16.\n2024-03-16",
            "Seven days back from 2023-01-01.\n2022-12-25",
        ],
        bad=["February has 28 days, and 45 - 28 = 17.\n2024-03-17", "It is at the end of the year.\n2023-12-25"],
    ),
    Case(
        name="arrival_time",
        reward=arrival_time_reward,
        examples=[
            {
                "prompt": (
                    "A night train leaves at 23:15 and takes 75 minutes. When does it arrive? End "
                    "with 'Answer: <time>'."
                ),
                "arrival": "00:30",
            },
            {
                "prompt": (
                    "A bus leaves at 11:50 am and takes 25 minutes. When does it arrive? End with 'Answer: <time>'."
                ),
                "arrival": "12:15",
            },
        ],
        good=[
            "75 minutes are an hour and a quarter.\nAnswer: 12:30 am",
            "Ten minutes to noon, then fifteen more.\nAnswer: 12:15 p.m.",
        ],
        bad=["75 minutes are an hour and a quarter.\nAnswer: 12:30 pm", "11:50 plus 25.\nAnswer: 11:75"],
    ),
    Case(
        name="mini_sudoku",
        reward=mini_sudoku_reward,
        examples=[
            {
                "prompt": "Solve, ending with the grid in four lines:\n.2.4\n3...\n..4.\n4..1",
                "puzzle": ".2.4 3... ..4. 4..1",
            },
            {
                "prompt": "Solve, ending with the grid in four lines:\n4...\n..4.\n.4..\n..24",
                "puzzle": "4... ..4. .4.. ..24",
            },
        ],
        good=[
            "The first row lacks 1 and 3.\n1234\n3412\n2143\n4321",
            "The last row begins with 3 or 1.\n4 2 1 3\n1 3 4 2\n2 4 3 1\n3 1 2 4",
        ],
        bad=["The first row lacks 1 and 3.\n1234\n3412\n2143\n4231", "This is a valid grid.\n1234\n3412\n2143\n4321"],
    ),
    Case(
        name="ndcg_at_5",
        reward=ndcg_at_5_reward,
        examples=[
            {
                "prompt": "Rank doc-1, doc-2 and doc-3 for 'python sort stability'. End with 'Ranking: ...'.",
                "gains": {"doc-1": 0, "doc-2": 3, "doc-3": 1},
            },
            {
                "prompt": "Rank doc-7, doc-8 and doc-9 for 'train to Oslo'. End with 'Ranking: ...'.",
                "gains": {"doc-7": 1, "doc-8": None, "doc-9": None},
            },
        ],
        good=[
            "doc-2 explains it, doc-3 mentions it.\nRanking: doc-2, doc-3, doc-1",
            "Only one is about trains.\nRanking: doc-7 > doc-9 > doc-8",
        ],
        bad=[
            "They are all about Python.\nRanking: doc-1, doc-3, doc-2",
            "Planes are faster.\nRanking: doc-8 > doc-9 > doc-7",
        ],
    ),
    Case(
        name="word_sorting",
        reward=word_sorting_reward,
        examples=[
            {
                "prompt": "Sort in ASCII order, last line with commas: pear, Quince, apple, fig",
                "words": ["pear", "Quince", "apple", "fig"],
            },
            {"prompt": "Sort in ASCII order, last line with commas: tin, iron, zinc", "words": ["tin", "iron", "zinc"]},
        ],
        good=["The capital comes first.\nQuince, apple, fig, pear", "By their first letters.\niron, tin, zinc"],
        bad=["Alphabetically.\napple, fig, pear, Quince", "From the back.\nzinc, iron, tin"],
    ),
    Case(
        name="polynomial",
        reward=polynomial_reward,
        examples=[
            {"prompt": "Differentiate x^4/4 - 3x. End with 'Answer: ...'.", "polynomial": "x^3 - 3"},
            {"prompt": "Differentiate 2x^3/3 - 2x. End with 'Answer: ...'.", "polynomial": "2(x - 1)(x + 1)"},
        ],
        good=[
            "By the power rule.\nAnswer: x^3 - 3",
            "Term by term it is 2x^2 - 2, which factors.\nAnswer: 2(x+1)(x-1)",
        ],
        bad=["By the power rule.\nAnswer: x^3 - 3x", "Term by term.\nAnswer: 2(x-1)^2"],
    ),
    Case(
        name="boxed_rational",
        reward=boxed_rational_reward,
        examples=[
            {"prompt": "Probability of at least one head in three tosses? Box it.", "value": "7/8"},
            {"prompt": "Solve 4x = -10. Box x.", "value": "-5/2"},
        ],
        good=[
            "All tails has probability 1/8, so it is \\boxed{\\dfrac{7}{8}}.",
            "Divide by four: $x = \\boxed{-2.5}$.",
        ],
        bad=["Each toss has one half: \\boxed{\\frac{3}{2}}.", "Divide by four: $x = \\boxed{-\\frac{2}{5}}$."],
    ),
]
