"""Numbers, expressions, intervals and quantities."""

from __future__ import annotations

import ast
import math
import operator
import re
from fractions import Fraction
from functools import lru_cache

from tests.faults.case import Case

MAX_NUMBER_CHARS = 40


def tagged(text: str, tag: str) -> list[str]:
    """The contents of all <tag>...</tag> blocks, left to right, in one pass. A block starts at the opening tag nearest to its end."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    found, at = [], 0
    while (end := text.find(closing, at)) >= 0:
        start = text.rfind(opening, at, end)
        if start >= 0:
            found.append(text[start + len(opening) : end].strip())
        at = end + len(closing)
    return found


PLAIN_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")


def exact(text: str) -> Fraction | None:
    """A plain decimal with or without thousands separators as an exact number; None for anything else."""
    text = text.strip().replace("\u2212", "-")
    if len(text) > MAX_NUMBER_CHARS or not PLAIN_DECIMAL.fullmatch(text):
        return None
    return Fraction(text.replace(",", ""))


# --- 1. GSM8K, strict marker ----------------------------------------------------------------------------------


def after_marker(text: str) -> Fraction | None:
    """The number that fills the rest of the line after the last '####', wherever in the text that is."""
    start = text.rfind("####")
    if start < 0:
        return None
    line = text[start + 4 :].split("\n", 1)[0].strip().removesuffix(".")
    return exact(re.sub(r"^(-?)\$", r"\1", line))


def gsm8k_marker_reward(completions, answer, **kwargs):
    """GSM8K, strict: the last '####' must be followed by the gold number and nothing else on its line.

    The `answer` column holds the dataset's worked solution, which ends in the same way.
    """
    rewards = []
    for completion, solution in zip(completions, answer):
        said, gold = after_marker(completion), after_marker(solution)
        rewards.append(1.0 if said is not None and said == gold else 0.0)
    return rewards


# --- 2. Bare integers -----------------------------------------------------------------------------------------


def bare_integer_reward(completion: str, answer: str) -> float:
    """Strict: the whole completion, blank space around it aside, is the integer in plain ASCII digits. No words, no separators."""
    said = completion.strip()
    if len(said) > MAX_NUMBER_CHARS or not re.fullmatch(r"-?[0-9]+", said):
        return 0.0
    return 1.0 if int(said) == int(answer) else 0.0


# --- 3. Numbers on an answer line -----------------------------------------------------------------------------


def answer_line(text: str) -> str | None:
    """What the last line that begins with 'Answer:' says, markdown stars aside."""
    for line in reversed(text.split("\n")):
        line = line.strip(" \t\r*_")
        if line[:7].casefold() == "answer:":
            return line[7:].strip(" \t*_")
    return None


def answer_line_number_reward(completions, answer, **kwargs):
    """Reads the last 'Answer: <number>' line: thousands separators, a currency sign, a Unicode minus and a final dot are fine.

    A relative error up to 1e-4 is forgiven, since the problems ask for four digits.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        line = answer_line(completion)
        if line is not None:
            line = re.sub(r"^([-\u2212]?)[$\u20ac] ?", r"\1", line.removesuffix(".")).rstrip(" $\u20ac")
        said = exact(line) if line is not None else None
        right = said is not None and math.isclose(float(said), float(gold), rel_tol=1e-4, abs_tol=1e-9)
        rewards.append(1.0 if right else 0.0)
    return rewards


# --- 4. Countdown by syntax tree ------------------------------------------------------------------------------

BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def evaluate(node: ast.AST, used: list[int]) -> Fraction:
    """The exact value of an expression of + - * / over integer literals, which are collected in `used`."""
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        return BINARY[type(node.op)](evaluate(node.left, used), evaluate(node.right, used))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -evaluate(node.operand, used)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return Fraction(node.value)
    raise ValueError("not allowed in the game")


def countdown_tree_reward(completion: str, target: int, numbers: list[int]) -> float:
    """Countdown: 1.0 if the last <answer> is an expression of + - * / and parentheses that uses each number once and hits the target.

    '= 24' after the expression is ignored: only the left side is evaluated.
    """
    answers = tagged(completion, "answer")
    if not answers:
        return 0.0
    text = answers[-1].split("=", 1)[0].strip().replace("\u00d7", "*").replace("\u00f7", "/").replace("\u2212", "-")
    if len(text) > 150 or not re.fullmatch(r"[0-9+\-*/() ]+", text):
        return 0.0
    used: list[int] = []
    try:
        value = evaluate(ast.parse(text, mode="eval").body, used)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return 0.0
    return 1.0 if sorted(used) == sorted(numbers) and value == target else 0.0


# --- 5. Boxed answers with brace matching ---------------------------------------------------------------------


def last_boxed(text: str) -> str | None:
    r"""The content of the last \boxed{...}, with nested braces; None if it is missing or not closed."""
    start = text.rfind(r"\boxed{")
    if start < 0:
        return None
    start += len(r"\boxed{")
    depth = 1
    for at in range(start, len(text)):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return text[start:at]
    return None


def normal_latex(text: str) -> str:
    text = text.replace(r"\dfrac", r"\frac").replace(r"\tfrac", r"\frac").replace("{,}", ",").replace("\u2212", "-")
    text = re.sub(r"\\(?:left|right)(?![A-Za-z])", "", text)
    text = re.sub(r"\\[,;:! ]", "", text)
    text = re.sub(r"\\(?:text|mathrm|textbf)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"([\^_])\{([A-Za-z0-9])\}", r"\1\2", text)
    text = re.sub(r"\\frac ?([0-9])([0-9])", r"\\frac{\1}{\2}", text)
    return "".join(text.replace("$", "").split()).removesuffix(".")


def latex_number(text: str) -> Fraction | None:
    match = re.fullmatch(r"(-?)\\frac\{(-?[0-9]{1,15})\}\{([0-9]{1,15})\}", text) or re.fullmatch(r"(-?)([0-9]{1,15})/([0-9]{1,15})", text)
    if match:
        sign, above, below = match.groups()
        return Fraction(int(sign + "1") * int(above), int(below)) if int(below) else None
    return exact(text)


@lru_cache(maxsize=4096)
def same_latex(said: str, gold: str) -> bool:
    """Equal as normalized text or as numbers. Cached by both of its arguments, which decide the result alone."""
    one, two = normal_latex(said), normal_latex(gold)
    if not one or one == two:
        return bool(one)
    first, second = latex_number(one), latex_number(two)
    return first is not None and first == second


def boxed_latex_reward(completions, solution, **kwargs):
    r"""MATH style: the last \boxed{} must equal the last one of the reference solution.

    Same form up to spacing and notation, or the same number. The value alone: no unit and no 'x =' in the box.
    """
    rewards = []
    for completion, reference in zip(completions, solution):
        said, gold = last_boxed(completion[-1]["content"] or ""), last_boxed(reference)
        right = said is not None and gold is not None and len(said) <= 300 and same_latex(said, gold)
        rewards.append(1.0 if right else 0.0)
    return rewards


# --- 6. One answer only ---------------------------------------------------------------------------------------


def rational(text: str) -> Fraction | None:
    """'3/4', '75%', '0.75', '$\\frac{3}{4}$' -> 3/4"""
    text = text.replace("$", "").replace("\\%", "%").replace("\\dfrac", "\\frac").replace("\u2212", "-").strip().removesuffix(".")
    text = re.sub(r"(?<![0-9])\\frac\{([0-9]{1,15})\}\{([0-9]{1,15})\}", r"\1/\2", text)
    match = re.fullmatch(r"([+-]?[0-9]{1,15})\s?/\s?([0-9]{1,15})", text)
    if match:
        return Fraction(int(match.group(1)), int(match.group(2))) if int(match.group(2)) else None
    if text.endswith("%"):
        value = exact(text[:-1])
        return None if value is None else value / 100
    return exact(text)


def single_rational_reward(completion: str, answer: str) -> float:
    """Fractions, decimals and percentages by value. Two <answer> blocks with different values are a hedge and score 0, even if one is right."""
    values = [rational(text) for text in tagged(completion, "answer")]
    if not values or len(set(values)) > 1:
        return 0.0
    return 1.0 if values[0] is not None and values[0] == rational(answer) else 0.0


# --- 7. Quantities --------------------------------------------------------------------------------------------

UNITS: dict[str, tuple[str, float]] = {
    "mm": ("length", 1e-3), "cm": ("length", 1e-2), "m": ("length", 1.0), "km": ("length", 1e3), "mi": ("length", 1609.344), "ft": ("length", 0.3048),
    "mg": ("mass", 1e-6), "g": ("mass", 1e-3), "kg": ("mass", 1.0), "t": ("mass", 1e3), "lb": ("mass", 0.45359237),
    "ms": ("time", 1e-3), "s": ("time", 1.0), "min": ("time", 60.0), "h": ("time", 3600.0), "day": ("time", 86400.0),
    "m/s": ("speed", 1.0), "km/h": ("speed", 1 / 3.6), "mph": ("speed", 0.44704),
    "mL": ("volume", 1e-6), "L": ("volume", 1e-3), "m3": ("volume", 1.0), "cm3": ("volume", 1e-6),
    "J": ("energy", 1.0), "kJ": ("energy", 1e3), "N": ("force", 1.0), "W": ("power", 1.0), "kW": ("power", 1e3),
}  # fmt: skip
SPELLED = {
    "meter": "m", "metre": "m", "kilometer": "km", "kilometre": "km", "centimeter": "cm", "centimetre": "cm", "millimeter": "mm", "millimetre": "mm",
    "mile": "mi", "foot": "ft", "feet": "ft", "gram": "g", "kilogram": "kg", "milligram": "mg", "tonne": "t", "pound": "lb",
    "second": "s", "sec": "s", "minute": "min", "hour": "h", "hr": "h", "millisecond": "ms", "day": "day",
    "liter": "L", "litre": "L", "milliliter": "mL", "millilitre": "mL", "ml": "mL", "l": "L", "joule": "J", "kilojoule": "kJ", "newton": "N", "watt": "W", "kilowatt": "kW",
    "kph": "km/h", "kmh": "km/h",
}  # fmt: skip
QUANTITY = re.compile(r"([+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?(?:e[+-]?[0-9]{1,2})?) ?([A-Za-z/]{1,30}3?)")


def unit_symbol(unit: str) -> str:
    """'kilometers/hour' -> 'km/h'; a symbol stays as it is."""
    if unit in UNITS:
        return unit
    parts = []
    for part in unit.split("/"):
        spelled = part.casefold()
        parts.append(part if part in UNITS else SPELLED.get(spelled) or SPELLED.get(spelled.removesuffix("s"), ""))
    return "/".join(parts)


def read_quantity(text: str) -> tuple[str, float] | None:
    """Kind and value in SI units: '2.5 km' -> ('length', 2500.0)."""
    text = text.strip().removesuffix(".").replace("\u2212", "-").replace("\u00b3", "3").replace("{", "").replace("}", "")
    text = re.sub(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", "", text)
    text = re.sub(r" ?[\u00d7x*] ?10\^", "e", text).replace("m^3", "m3").replace(" per ", "/")
    match = QUANTITY.fullmatch(text)
    unit = unit_symbol(match.group(2)) if match else ""
    if unit not in UNITS:
        return None
    kind, factor = UNITS[unit]
    return kind, float(match.group(1)) * factor


def quantity_si_reward(completions, answer, **kwargs):
    """Physics: the last <answer> is 'number unit'. Any unit of the right kind will do; 1 % of rounding is forgiven."""
    rewards = []
    for completion, gold in zip(completions, answer):
        answers = tagged(completion, "answer")
        said = read_quantity(answers[-1]) if answers and len(answers[-1]) <= 80 else None
        wanted = read_quantity(gold)
        right = said is not None and wanted is not None and said[0] == wanted[0] and math.isclose(said[1], wanted[1], rel_tol=0.01)
        rewards.append(1.0 if right else 0.0)
    return rewards


# --- 8. Negative marking --------------------------------------------------------------------------------------

ABSTENTIONS = {"i don't know", "i do not know", "unknown", "not sure", "i'm not sure", "i am not sure"}


def plain_name(text: str) -> str:
    text = " ".join(text.replace("\u2019", "'").casefold().split()).strip(" .,;:!?\"'`*_")
    return text.removeprefix("the ")


def negative_marking_reward(completions, answers, **kwargs):
    """Trivia with negative marking, from the last 'Answer:' line: right +1, an honest "I don't know" 0, wrong or no answer line -1."""
    rewards = []
    for completion, accepted in zip(completions, answers):
        line = answer_line(completion)
        said = plain_name(line) if line is not None else ""
        if said in ABSTENTIONS:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if said and said in {plain_name(name) for name in accepted} else -1.0)
    return rewards


# --- 9. Calibration next to correctness -----------------------------------------------------------------------


def calibrated_reward(completion: str, answer: str) -> float:
    """Correctness less the Brier penalty: c - (p - c)^2, with c = 1 for a right answer and p the stated confidence in [0, 1].

    A right answer earns 0 to 1, a wrong one -1 to 0, and in expectation the honest confidence is best.
    No readable answer or confidence: -1.
    """
    said, stated = tagged(completion, "answer"), tagged(completion, "confidence")
    if not said or not stated or not re.fullmatch(r"(?:0?\.[0-9]{1,6}|[01](?:\.[0-9]{1,6})?)", stated[-1]):
        return -1.0
    confidence = float(stated[-1])
    if confidence > 1.0:
        return -1.0
    correct = 1.0 if plain_name(said[-1]) and plain_name(said[-1]) == plain_name(answer) else 0.0
    return correct - (confidence - correct) ** 2


# --- 10. Intervals --------------------------------------------------------------------------------------------

INTERVAL = re.compile(r"([\[(])([^,;\[\]()]{1,30})[,;]([^,;\[\]()]{1,30})([\])])")


def end_point(text: str) -> Fraction | float | None:
    text = text.removeprefix("+")
    if text in ("inf", "-inf"):
        return math.inf if text == "inf" else -math.inf
    return rational(text)


def read_intervals(text: str) -> list[tuple] | None:
    """'[2, 5) U (7, oo)' -> its intervals in ascending order, or None if it is anything else."""
    text = "".join(text.split()).replace("$", "").replace(r"\left", "").replace(r"\right", "").replace("\u2212", "-")
    for name in (r"\infty", "infinity", "\u221e", "oo"):
        text = text.replace(name, "inf")
    text = text.replace(r"\cup", "\u222a").replace("U", "\u222a").replace(r"\in", "\u2208").removeprefix("x\u2208")
    found = []
    for part in text.removesuffix(".").split("\u222a"):
        match = INTERVAL.fullmatch(part)
        if not match:
            return None
        low, high = end_point(match.group(2)), end_point(match.group(3))
        if low is None or high is None or low > high:
            return None
        found.append((low, high, match.group(1), match.group(4)))
    return sorted(found)


def interval_reward(completion: str, answer: str) -> float:
    """Solution sets in interval notation in <answer> tags: the ends and the kind of each bracket must agree.

    A union is written with disjoint intervals that do not touch, in any order.
    """
    answers = tagged(completion, "answer")
    if not answers or len(answers[-1]) > 300:
        return 0.0
    said = read_intervals(answers[-1])
    return 1.0 if said is not None and said == read_intervals(answer) else 0.0


def cases() -> list[Case]:
    return [
        Case(
            name="gsm8k_marker",
            reward=gsm8k_marker_reward,
            examples=[
                {"prompt": "Natalia sold 48 clips in April and half as many in May. How many in all? End with a line '#### number' and nothing else on it.", "answer": "Natalia sold 48/2 = <<48/2=24>>24 clips in May.\nNatalia sold 48+24 = <<48+24=72>>72 clips altogether.\n#### 72"},
                {"prompt": "A car costs $18,500 and is sold at a loss of $1,250. What is the selling price? End with a line '#### number' and nothing else on it.", "answer": "It is sold for 18500-1250 = <<18500-1250=17250>>17250.\n#### 17250"},
            ],
            good=[
                "In May she sold 48 / 2 = 24 clips, so in April and May together 48 + 24 = 72.\n\n#### 72",
                "The loss is taken from the price: 18,500 - 1,250 = 17,250.\n#### $17,250",
            ],
            bad=[
                "In May she sold 96 clips, so 144 in all.\n#### 144",
                "The loss is added to the price: 18,500 + 1,250 = 19,750.\n#### 19,750",
            ],
        ),
        Case(
            name="bare_integer",
            reward=bare_integer_reward,
            examples=[
                {"prompt": "Reply with the integer alone: 17 * 23", "answer": "391"},
                {"prompt": "Reply with the integer alone: 40 - 65", "answer": "-25"},
            ],
            good=["391", "-25\n"],
            bad=["381", "25"],
        ),
        Case(
            name="answer_line_number",
            reward=answer_line_number_reward,
            examples=[
                {"prompt": "A population of 1,200,000 grows by 2 %. How large is it then? End with 'Answer: number'.", "answer": 1224000},
                {"prompt": "It is -3 degrees and gets 4.5 degrees colder. What is the temperature? End with 'Answer: number'.", "answer": -7.5},
                {"prompt": "Three shirts at $19.99 each: what do they cost? End with 'Answer: number'.", "answer": 59.97},
            ],
            good=[
                "Two percent of 1,200,000 are 24,000, which are added.\n\nAnswer: 1,224,000",
                "From -3 it goes down by another 4.5.\n**Answer:** \u22127.5",
                "3 * 19.99 is 60 less 3 cents.\nAnswer: $59.97.",
            ],
            bad=[
                "Two percent of 1,200,000 are 240,000.\nAnswer: 1,440,000",
                "From -3 it goes up by 4.5.\nAnswer: 1.5",
                "3 * 19.99 is about 60.\nAnswer: $60",
            ],
        ),
        Case(
            name="countdown_tree",
            reward=countdown_tree_reward,
            examples=[
                {"prompt": "Use each of [25, 4, 3, 9] once with + - * / to make 94. Answer in <answer> tags.", "target": 94, "numbers": [25, 4, 3, 9]},
                {"prompt": "Use each of [8, 3, 8, 3] once with + - * / to make 24. Answer in <answer> tags.", "target": 24, "numbers": [8, 3, 8, 3]},
            ],
            good=[
                "<think>25 * 4 = 100, and 9 - 3 = 6, so 100 - 6.</think>\n<answer>25 * 4 - (9 - 3)</answer>",
                "<think>8 / (3 - 8/3): 8/3 is 2.667, 3 less that is 1/3, and 8 over 1/3 is 24.</think>\n<answer>8 / (3 - 8 / 3) = 24</answer>",
            ],
            bad=[
                "<think>25 * 4 = 100, minus 6.</think>\n<answer>25 * 4 - 6</answer>",
                "<think>8 * 3 = 24.</think>\n<answer>8 * 3</answer>",
            ],
        ),
        Case(
            name="boxed_latex",
            reward=boxed_latex_reward,
            examples=[
                {"prompt": [{"role": "user", "content": "What is the probability of at least one six in two throws of a die? Put it in \\boxed{}."}], "solution": "The complement has probability $(5/6)^2$, so it is $1 - \\frac{25}{36} = \\boxed{\\frac{11}{36}}$."},
                {"prompt": [{"role": "user", "content": "Expand (x+1)^2. Put it in \\boxed{}."}], "solution": "$(x+1)^2 = \\boxed{x^{2}+2x+1}$"},
                {"prompt": [{"role": "user", "content": "What is 3/4 as a decimal? Put it in \\boxed{}."}], "solution": "It is $\\boxed{0.75}$."},
            ],
            good=[
                "No six at all happens with probability $\\frac{25}{36}$. Therefore the answer is $\\boxed{\\dfrac{11}{36}}$.",
                "By the binomial formula, $(x+1)^2 = \\boxed{x^{2} + 2x + 1}$.",
                "Three quarters are $\\boxed{0.750}$.",
            ],
            bad=[
                "One six in two throws: $\\frac16 + \\frac16$. Therefore the answer is $\\boxed{\\frac{11}{30}}$.",
                "Squaring each term, $(x+1)^2 = \\boxed{x^{2} + 1}$.",
                "Three quarters are $\\boxed{0.34}$.",
            ],
        ),
        Case(
            name="single_rational",
            reward=single_rational_reward,
            examples=[
                {"prompt": "Out of 40 pupils 30 take the bus. What share is that? Use <answer> tags.", "answer": "3/4"},
                {"prompt": "What is one third of one half? Use <answer> tags.", "answer": "1/6"},
            ],
            good=[
                "30 out of 40 are three quarters, or 75 percent.\n<answer>75%</answer>",
                "One third times one half is one over six.\n<answer>1/6</answer>",
            ],
            bad=[
                "30 out of 40, that is 30 percent.\n<answer>30%</answer>",
                "One third plus one half is five sixths.\n<answer>5/6</answer>",
            ],
        ),
        Case(
            name="quantities_si",
            reward=quantity_si_reward,
            examples=[
                {"prompt": "A train runs 150 km in 1.25 h. What is its mean speed? Use <answer> tags.", "answer": "120 km/h"},
                {"prompt": "A stone falls for 3 s (g = 9.81 m/s2). How far? Use <answer> tags.", "answer": "44.1 m"},
                {"prompt": "How much heat warms 2 kg of water by 10 K (4.19 kJ per kg and K)? Use <answer> tags.", "answer": "83.8 kJ"},
            ],
            good=[
                "150 km over 1.25 h is 120 km/h, or in SI units:\n<answer>33.3 m/s</answer>",
                "The distance is g t^2 / 2 = 9.81 * 9 / 2.\n<answer>44.1 meters</answer>",
                "Q = m c dT = 2 * 4.19 * 10.\n<answer>8.38 x 10^4 J</answer>",
            ],
            bad=[
                "150 times 1.25 is 187.5.\n<answer>187.5 km/h</answer>",
                "The distance is g t^2 = 88.3.\n<answer>88.3 m</answer>",
                "Q = m c = 2 * 4.19.\n<answer>8.38 kJ</answer>",
            ],
        ),
        Case(
            name="negative_marking",
            reward=negative_marking_reward,
            examples=[
                {"prompt": "Which river flows through Vienna? A wrong answer costs a point. End with 'Answer: ...' or 'Answer: I don't know'.", "answers": ["Danube", "Donau"]},
                {"prompt": "Which scientist discovered polonium? A wrong answer costs a point. End with 'Answer: ...' or 'Answer: I don't know'.", "answers": ["Marie Curie", "Curie", "Marie and Pierre Curie"]},
            ],
            good=[
                "The city lies on the longest river of the European Union.\nAnswer: the Danube.",
                "She named the element after her native country.\nAnswer: Marie Curie",
            ],
            bad=[
                "The city lies in the east of Austria.\nAnswer: the Rhine",
                "It is a radioactive element.\nAnswer: Ernest Rutherford",
            ],
        ),
        Case(
            name="calibrated_answers",
            reward=calibrated_reward,
            examples=[
                {"prompt": "What is the capital of Bhutan? Use <answer> and <confidence> (0 to 1) tags.", "answer": "Thimphu"},
                {"prompt": "Which metal is liquid at room temperature? Use <answer> and <confidence> (0 to 1) tags.", "answer": "Mercury"},
            ],
            good=[
                "It lies in the west of the country, in a high valley.\n<answer>Thimphu</answer>\n<confidence>1.0</confidence>",
                "It was used in thermometers.\n<answer>mercury</answer>\n<confidence>1</confidence>",
            ],
            bad=[
                "It has the only airport.\n<answer>Paro</answer>\n<confidence>0.7</confidence>",
                "It melts in the hand.\n<answer>gallium</answer>\n<confidence>0.9</confidence>",
            ],
        ),
        Case(
            name="intervals",
            reward=interval_reward,
            examples=[
                {"prompt": "Solve x^2 < 9. Give the solution set in interval notation in <answer> tags.", "answer": "(-3, 3)"},
                {"prompt": "Solve |x - 1| >= 2. Give the solution set in interval notation in <answer> tags.", "answer": "(-inf, -1] U [3, inf)"},
            ],
            good=[
                "The parabola is below 9 between its two intersections, which are not included.\n<answer>(-3, 3)</answer>",
                "Either x - 1 >= 2 or x - 1 <= -2, so x >= 3 or x <= -1.\n<answer>$(-\\infty, -1] \\cup [3, \\infty)$</answer>",
            ],
            bad=[
                "The parabola meets 9 at -3 and 3.\n<answer>[-3, 3]</answer>",
                "x - 1 >= 2 means x >= 3.\n<answer>[3, inf)</answer>",
            ],
        ),
    ]
