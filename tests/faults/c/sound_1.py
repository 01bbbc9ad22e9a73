"""Numbers, mathematics, multiple choice, dates, places, chemistry: 14 sound reward functions."""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import lru_cache

from tests.faults.case import Case

LABELS = {"answer", "final answer"}


def answer_line(text: str, labels: set[str] = LABELS) -> str | None:
    """What follows the last 'Answer:' (or the line below, if nothing follows); None without such a line."""
    below = ""
    for line in reversed(text.splitlines()):
        head, colon, tail = line.partition(":")
        if colon and head.strip(" \t*#_>-").lower() in labels:
            tail = tail.strip(" \t*_`$")
            return tail or below
        if line.strip():
            below = line.strip(" \t*_`$")
    return None


# 1 ------------------------------------------------------------------------------------

_STRICT = re.compile(r"ANSWER: (-?[0-9]{1,18})")


def strict_integer_line(completion: str, answer: str) -> float:
    """Strict protocol. The last line is exactly 'ANSWER: <integer>' in plain digits, and no other line starts with 'ANSWER:'.

    Everything else is 0: commas, units, bold type, an explanation after the line, or a second ANSWER line. The parser
    downstream is just as strict, so a right number in another form is no use to us.
    """
    lines = completion.rstrip().split("\n")
    if sum(line.startswith("ANSWER:") for line in lines) != 1:
        return 0.0
    match = _STRICT.fullmatch(lines[-1])
    return 1.0 if match and int(match.group(1)) == int(answer) else 0.0


# 2 ------------------------------------------------------------------------------------

_METERS = {
    "km": 1000.0, "kilometer": 1000.0, "kilometers": 1000.0, "kilometre": 1000.0, "kilometres": 1000.0,
    "m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0,
    "cm": 0.01, "centimeter": 0.01, "centimeters": 0.01, "centimetre": 0.01, "centimetres": 0.01,
    "mm": 0.001, "millimeter": 0.001, "millimeters": 0.001, "millimetre": 0.001, "millimetres": 0.001,
    "ft": 0.3048, "foot": 0.3048, "feet": 0.3048,
    "mi": 1609.344, "mile": 1609.344, "miles": 1609.344,
}  # fmt: skip
_QUANTITY = re.compile(r"(?:(?:about|approximately|approx\.|≈|~)\s{0,3})?((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(?:\.[0-9]{1,15})?)\s{0,3}([A-Za-z]{1,12})\.?")


def _meters(text: str) -> float | None:
    text = re.sub(r"\\(?:text|mathrm)\{([^{}]*)\}", r" \1", text).replace("\\,", " ").replace("\\ ", " ")
    match = _QUANTITY.fullmatch(" ".join(text.replace("$", " ").split()))
    if match is None:
        return None
    unit = match.group(2) if len(match.group(2)) <= 2 else match.group(2).lower()  # Mm is not mm, but Meters are meters
    return float(match.group(1).replace(",", "")) * _METERS[unit] if unit in _METERS else None


def length_any_unit(completions, answer, **kwargs):
    """A length in any common unit; the 'Answer:' line holds the number and the unit and nothing else. 0.5 % tolerance.

    If there are several 'Answer:' lines, the last one counts.
    """
    rewards = []
    for text, gold in zip(completions, answer):
        line = answer_line(text)
        got = _meters(line) if line and len(line) <= 200 else None
        rewards.append(1.0 if got is not None and math.isclose(got, _meters(gold), rel_tol=0.005) else 0.0)
    return rewards


# 3 ------------------------------------------------------------------------------------


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .*`")


def choice_with_text(completions, answer, choices, **kwargs):
    """Multiple choice. The last 'Answer:' line is the letter, '(B)' or 'B.' or 'B', which may be followed by the text of the option.

    A letter with the text of another option is contradictory and wrong; so is naming two letters.
    """
    rewards = []
    for text, gold, options in zip(completions, answer, choices):
        line = answer_line(text) or ""
        match = re.match(r"(?i)(?:option\s)?\(?([A-J])(?![A-Za-z0-9'’])[).:*]{0,4}", line)
        if match is None:
            rewards.append(0.0)
            continue
        letter, rest = match.group(1).upper(), _plain(line[match.end() :].lstrip(" -–—"))
        index = ord(gold) - ord("A")
        rewards.append(1.0 if letter == gold and rest in {"", _plain(options[index])} else 0.0)
    return rewards


# 4 ------------------------------------------------------------------------------------


def bare_letter(completion: str, answer: str) -> float:
    """No-reasoning track: the whole completion is one capital letter (blanks around it are ignored). Explanations score 0 by design."""
    return float(completion.strip() == answer)


# 5 ------------------------------------------------------------------------------------

_CLOCK = re.compile(r"([0-9]{1,2})(?:[:.h]([0-9]{2}))?\s?(?:([ap])\.?\s?m\.?)?", re.IGNORECASE)


def _minute_of_day(text: str) -> int | None:
    text = text.strip().rstrip(".").lower().replace("\u202f", " ").replace("\xa0", " ")
    if text in {"noon", "12 noon"}:
        return 720
    if text in {"midnight", "12 midnight"}:
        return 0
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hour, minute, half = int(match.group(1)), int(match.group(2) or 0), match.group(3)
    if minute > 59 or (half is None and match.group(2) is None):
        return None
    if half is None:
        return 60 * hour + minute if hour < 24 else None
    if not 1 <= hour <= 12:
        return None
    return 60 * (hour % 12 + (12 if half == "p" else 0)) + minute


def clock_time(completions, answer, **kwargs):
    """Time of day on the 'Answer:' line, on the 24-hour clock (15:40) or with am / pm (3:40 pm, 9 am); noon and midnight are understood.

    A time without am or pm is read on the 24-hour clock. `answer` is HH:MM.
    """
    scores = []
    for text, gold in zip(completions, answer):
        line = answer_line(text)
        got = _minute_of_day(line) if line is not None and len(line) < 40 else None
        scores.append(float(got is not None and got == _minute_of_day(gold)))
    return scores


# 6 ------------------------------------------------------------------------------------

_MONTHS = {m: i for i, m in enumerate(("january february march april may june july august september october november december").split(), 1)}
_MONTHS.update({m[:3]: i for m, i in list(_MONTHS.items())} | {"sept": 9})
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def read_date(text: str) -> date | None:
    words = text.lower().replace(",", " ").rstrip(". ").split()
    weekday = _WEEKDAYS.index(words.pop(0)) if words and words[0] in _WEEKDAYS else None
    words = [w for w in words if w not in {"the", "of"}]
    year = month = day = None
    if len(words) == 1 and re.fullmatch(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}", words[0]):
        year, month, day = map(int, words[0].split("-"))
    elif len(words) == 3 and re.fullmatch(r"[0-9]{4}", words[2]):
        first, second = words[0].rstrip("."), words[1].rstrip(".")
        if first in _MONTHS:
            first, second = second, first
        number = re.fullmatch(r"([0-9]{1,2})(?:st|nd|rd|th)?", first)
        if second in _MONTHS and number:
            year, month, day = int(words[2]), _MONTHS[second], int(number.group(1))
    if year is None:
        return None
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return None if weekday is not None and found.weekday() != weekday else found


def calendar_date(completion: str, answer: str) -> float:
    """A date on the 'Answer:' line: 2021-04-03, 3 April 2021, or April 3, 2021. A weekday may precede it, and must then be the right one.

    Forms such as 03/04/2021 mean different days in different countries; they are refused on purpose, as the prompt says.
    """
    line = answer_line(completion)
    if line is None or len(line) > 60:
        return 0.0
    return float(read_date(line) == date.fromisoformat(answer))


# 7 ------------------------------------------------------------------------------------


def _boxes(text: str, longest: int = 200) -> list[str | None]:
    """Contents of all \\boxed{...}, up to the first that is not closed within `longest` characters (None)."""
    found, at = [], text.find("\\boxed{")
    while at >= 0:
        start, depth, content = at + 7, 1, None
        for i in range(start, min(len(text), start + longest)):
            if text[i] == "{":
                depth += 1
            elif text[i] == "}":
                depth -= 1
                if depth == 0:
                    content = text[start:i]
                    break
        found.append(content)
        if content is None:
            break
        at = text.find("\\boxed{", start)
    return found


_FRAC = re.compile(r"([-+]?)\\[dt]?frac(?:\{([-+]?[0-9]{1,30})\}|([0-9]))(?:\{([0-9]{1,30})\}|([0-9]))")
_RATIO = re.compile(r"([-+]?[0-9]{1,30})/([0-9]{1,30})")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})")


def read_rational(latex: str) -> Fraction | None:
    """An integer, a decimal, a/b or \\frac{a}{b} with an optional 'x =', thousands separators, degrees, percent sign, or \\text unit; else None."""
    s = latex.replace("−", "-").replace("\\!", "").replace("\\$", "").replace("$", "").strip()
    s = re.sub(r"\\(?:text|mathrm)\{[^{}]*\}(?:\^\{?[23]\}?)?$", "", s)
    s = s.removesuffix("^\\circ").removesuffix("^{\\circ}").rstrip(" .").removesuffix("%").rstrip("\\ ")
    s = re.sub(r"^[A-Za-z]\s*=\s*", "", s)
    s = re.sub(r"(?<=[0-9])(?:,|\{,\}|\\,| )(?=[0-9]{3}(?![0-9]))", "", s)
    s = re.sub(r" ?([-+/{}]) ?", r"\1", s)
    try:
        if match := _FRAC.fullmatch(s):
            sign, n, n1, d, d1 = match.groups()
            return Fraction(int(n or n1), int(d or d1)) * (-1 if sign == "-" else 1)
        if match := _RATIO.fullmatch(s):
            return Fraction(int(match.group(1)), int(match.group(2)))
        return Fraction(s) if _DECIMAL.fullmatch(s) else None
    except (ZeroDivisionError, ValueError):
        return None


def boxed_rational(completions, answer, **kwargs):
    """Exact rational answers in \\boxed{}. One box, or several that agree: boxing two different values is wrong, whichever is last.

    0.5, 1/2 and \\frac{2}{4} are the same number; 0.33 is not 1/3. A percent sign is dropped (50\\% reads as 50).
    """
    rewards = []
    for text, gold in zip(completions, answer):
        values = {None if box is None else read_rational(box) for box in _boxes(text)}
        want = read_rational(gold)
        rewards.append(1.0 if want is not None and values == {want} else 0.0)
    return rewards


# 8 ------------------------------------------------------------------------------------

_REAL = re.compile(r"([-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})(?:\.[0-9]{1,15})?(?:[eE][-+]?[0-9]{1,2})?)(?:\s?[a-zA-Z°%/²³]{1,12}){0,3}\.?")


def measured_value(completions, answer, tolerance, **kwargs):
    """A measured value on the 'Answer:' line (a unit behind it is not looked at), within the absolute tolerance of its row.

    Rows that are not labelled yet (answer None) get None: the trainer then takes no gradient from this reward.
    """
    rewards = []
    for text, gold, allowed in zip(completions, answer, tolerance):
        if gold is None:
            rewards.append(None)
            continue
        match = _REAL.fullmatch((answer_line(text) or "").replace("−", "-"))
        error = abs(float(match.group(1).replace(",", "")) - gold) if match else math.inf
        rewards.append(1.0 if error <= allowed * (1 + 1e-9) else 0.0)
    return rewards


# 9 ------------------------------------------------------------------------------------

_BINARY = {ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__"}


def _compute(node: ast.expr, used: list[int]) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return Fraction(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = _compute(node.left, used), _compute(node.right, used)
        return getattr(left, _BINARY[type(node.op)])(right)
    raise ValueError("only + - * / on the given numbers")


def countdown_expression(completion: str, numbers: list[int], target: int) -> float:
    """Countdown: the last <answer> holds an expression that uses each given number exactly once, with + - * / and parentheses, and equals the target.

    Exact arithmetic. ' = target' may follow the expression.
    """
    _, tag, tail = completion.rpartition("<answer>")
    body, closing, _ = tail.partition("</answer>")
    if not tag or not closing or len(body) > 200:
        return 0.0
    body = body.replace("×", "*").replace("÷", "/").replace("−", "-").strip()
    left, equals, right = body.partition("=")
    if equals and right.strip() != str(target):
        return 0.0
    if not re.fullmatch(r"[0-9+\-*/() ]+", left):
        return 0.0
    used: list[int] = []
    try:
        value = _compute(ast.parse(left.strip(), mode="eval").body, used)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return 0.0
    return 1.0 if value == target and Counter(used) == Counter(numbers) else 0.0


# 10 -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class BrierReward:
    """Accuracy minus the Brier penalty, y - (c - y)^2, in [-1, 1] (as in RLCR): the honest confidence is the best one to state.

    Right means equal to `answer`, apart from case. Last lines: 'Answer: ...' and 'Confidence: NN%'. A missing or impossible confidence costs -1, as much as being wrong and sure.
    """

    floor: float = -1.0
    __name__ = "brier_reward"

    def __call__(self, completion: str, answer: str) -> float:
        stated = answer_line(completion, {"confidence"})
        match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,4})?)\s?%\.?", stated or "")
        if match is None or float(match.group(1)) > 100:
            return self.floor
        confidence = float(match.group(1)) / 100
        said = answer_line(completion)
        right = float(said is not None and _plain(said) == _plain(answer))
        return right - (confidence - right) ** 2


# 11 -----------------------------------------------------------------------------------


def cosine_length_reward(completions, answer, **kwargs):
    """Cosine-scaled accuracy (Demystifying Long Chain-of-Thought). Length in characters, the schedule ends at 4000.

    Right: from 1.0 (short) down to 0.5 (4000 and more). Wrong: from -1.0 (short) up to -0.5 (4000 and more), so that
    giving up early on a hard problem is the worst thing to do. Any right answer beats any wrong one.
    """
    rewards = []
    for text, gold in zip(completions, answer):
        line = answer_line(text)
        right = line is not None and _plain(line) == _plain(gold)
        wave = (1 + math.cos(math.pi * min(1.0, len(text) / 4000))) / 2
        rewards.append(0.5 + 0.5 * wave if right else -0.5 - 0.5 * wave)
    return rewards


# 12 -----------------------------------------------------------------------------------


def _group_key(prompt) -> str:
    return prompt if isinstance(prompt, str) else json.dumps(prompt, sort_keys=True, default=str)


def right_then_short(prompts, completions, answer, **kwargs):
    """Group-relative on purpose: 1.0 for a right answer, plus up to 0.5 for brevity compared with the other right completions of the same prompt.

    The shortest right one gets 0.5, the longest 0, those between in proportion; if all are equally long (or there is one only) each gets 0.5.
    Wrong ones get 0 and play no part.
    """
    lines = [answer_line(text) for text in completions]
    right = [line is not None and _plain(line) == _plain(gold) for line, gold in zip(lines, answer)]
    lengths = defaultdict(list)
    for prompt, text, ok in zip(prompts, completions, right):
        if ok:
            lengths[_group_key(prompt)].append(len(text))
    rewards = []
    for prompt, text, ok in zip(prompts, completions, right):
        if not ok:
            rewards.append(0.0)
            continue
        low, high = min(lengths[_group_key(prompt)]), max(lengths[_group_key(prompt)])
        rewards.append(1.0 + 0.5 * ((high - len(text)) / (high - low) if high > low else 1.0))
    return rewards


# 13 -----------------------------------------------------------------------------------

_COORDINATES = re.compile(r"\(?([-+]?[0-9]{1,3}(?:\.[0-9]{1,12})?)°?\s{0,3},\s{0,3}([-+]?[0-9]{1,3}(?:\.[0-9]{1,12})?)°?\)?\.?")


def great_circle_km(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    p1, p2, dl = math.radians(lat1), math.radians(lat2), math.radians(lon2 - lon1)
    h = math.sin((p2 - p1) / 2) ** 2 + math.cos(p1) * math.cos(p2) * math.sin(dl / 2) ** 2
    return 2 * 6371.0 * math.asin(min(1.0, math.sqrt(h)))


def location_guess(completion: str, latitude: float, longitude: float) -> float:
    """Geolocation: 'Location: <latitude>, <longitude>' in signed decimal degrees. exp(-distance / 500 km): 1 on the spot, 0.37 at 500 km.

    Impossible coordinates score 0. The last 'Location:' line counts.
    """
    line = answer_line(completion, {"location"})
    match = _COORDINATES.fullmatch((line or "").replace("−", "-"))
    if match is None:
        return 0.0
    lat, lon = float(match.group(1)), float(match.group(2))
    if abs(lat) > 90 or abs(lon) > 180:
        return 0.0
    return math.exp(-great_circle_km(lat, lon, latitude, longitude) / 500.0)


# 14 -----------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def atoms(formula: str) -> tuple[tuple[str, int], ...]:
    """Atoms of a formula from the data set, e.g. Ca(OH)2. Raises ValueError for one that is malformed."""
    stack = [Counter()]
    for element, count, opening, closing, factor in re.findall(r"([A-Z][a-z]?)(\d*)|(\()|(\))(\d*)", formula):
        if element:
            stack[-1][element] += int(count or 1)
        elif opening:
            stack.append(Counter())
        elif closing:
            group = stack.pop()
            for name, n in group.items():
                stack[-1][name] += n * int(factor or 1)
    if len(stack) != 1:
        raise ValueError(formula)
    return tuple(sorted(stack[0].items()))


_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_TERM = re.compile(r"(?:([1-9][0-9]{0,2})\s?)?([A-Z][A-Za-z0-9()]{0,30})")


def _side(text: str) -> dict[str, int] | None:
    coefficients = {}
    for term in text.split("+"):
        match = _TERM.fullmatch(term.strip())
        if match is None or match.group(2) in coefficients:
            return None
        coefficients[match.group(2)] = int(match.group(1) or 1)
    return coefficients


def balanced_equation(completions, reactants, products, **kwargs):
    """Balancing: the 'Equation:' line has the given species (as written in the prompt) with the smallest whole coefficients that balance.

    1.0 for that; 0.5 if it is balanced, but by a multiple of the smallest coefficients; else 0.
    """
    rewards = []
    for text, before, after in zip(completions, reactants, products):
        line = (answer_line(text, {"equation"}) or "")[:400].translate(_SUBSCRIPTS)
        sides = re.split(r"-{1,2}>|=>|→|⟶|=", line)
        left, right = (_side(sides[0]), _side(sides[1].rstrip(" ."))) if len(sides) == 2 else (None, None)
        if left is None or right is None or set(left) != set(before) or set(right) != set(after):
            rewards.append(0.0)
            continue
        balance = Counter()
        for side, sign in ((left, 1), (right, -1)):
            for formula, coefficient in side.items():
                for element, n in atoms(formula):
                    balance[element] += sign * coefficient * n
        if any(balance.values()):
            rewards.append(0.0)
        else:
            rewards.append(1.0 if math.gcd(*left.values(), *right.values()) == 1 else 0.5)
    return rewards


def cases() -> list[Case]:
    return [
        Case(
            name="strict_integer_line",
            reward=strict_integer_line,
            examples=[
                {"prompt": "How many days are there in 7 weeks? The last line must be exactly 'ANSWER: <integer>'.", "answer": "49"},
                {"prompt": "What is 12 - 30? The last line must be exactly 'ANSWER: <integer>'.", "answer": "-18"},
            ],
            good=["A week has 7 days, so 7 weeks have 7 * 7 days.\nANSWER: 49", "30 is larger than 12 by 18, so the difference is negative.\nANSWER: -18"],
            bad=["A week has 7 days, so I add 7 and 7.\nANSWER: 14", "30 is larger than 12 by 18.\nANSWER: 18"],
        ),
        Case(
            name="length_any_unit",
            reward=length_any_unit,
            examples=[
                {"prompt": "A runner does 8 laps of 400 m. How far is that? End with 'Answer: <number> <unit>'.", "answer": "3200 m"},
                {"prompt": "A book has 250 sheets of 0.1 mm. How thick is it? End with 'Answer: <number> <unit>'.", "answer": "2.5 cm"},
            ],
            good=["8 laps of 400 m make 3200 m, which is 3.2 km.\nAnswer: 3.2 km", "250 sheets of 0.1 mm make 25 mm.\nAnswer: 25 mm"],
            bad=["8 laps of 400 m make 3600 m.\nAnswer: 3.6 km", "250 sheets of 0.1 mm make 25.\nAnswer: 25 cm"],
        ),
        Case(
            name="choice_with_text",
            reward=choice_with_text,
            examples=[
                {"prompt": "Which planet is the largest? A) Mars B) Jupiter C) Venus. End with 'Answer: <letter>'.", "answer": "B", "choices": ["Mars", "Jupiter", "Venus"]},
                {"prompt": "What do bees make? A) honey B) silk C) vitamin A. End with 'Answer: <letter>'.", "answer": "A", "choices": ["honey", "silk", "vitamin A"]},
            ],
            good=["Jupiter has more mass than all other planets together.\nAnswer: B", "Silk is made by caterpillars, honey by bees.\n**Answer:** (A) Honey"],
            bad=["Venus is the brightest one.\nAnswer: C", "Insects make silk.\nAnswer: B) silk"],
        ),
        Case(
            name="bare_letter",
            reward=bare_letter,
            examples=[
                {"prompt": "Is the sun a star? A) yes B) no. Reply with the letter only.", "answer": "A"},
                {"prompt": "Which is a mammal? A) trout B) eagle C) whale. Reply with the letter only.", "answer": "C"},
            ],
            good=["A", "C\n"],
            bad=["B", "A"],
        ),
        Case(
            name="clock_time",
            reward=clock_time,
            examples=[
                {"prompt": "The train leaves at 11:50 and takes 45 minutes. When does it arrive? End with 'Answer: ...'.", "answer": "12:35"},
                {"prompt": "The guard's shift ends an hour and a half before 1:45 am. When? End with 'Answer: ...'.", "answer": "00:15"},
            ],
            good=["After 10 minutes it is noon, and 35 minutes remain.\nAnswer: 12:35 pm", "An hour before 1:45 is 0:45, and half an hour before that is a quarter past midnight.\nAnswer: 12:15 a.m."],
            bad=["45 minutes after 11:50 it is half past midnight.\nAnswer: 12:35 am", "An hour and a half earlier is a quarter past twelve.\nAnswer: 12:15"],
        ),
        Case(
            name="calendar_date",
            reward=calendar_date,
            examples=[
                {"prompt": "What is the date 10 days after 26 February 2024? Write it as YYYY-MM-DD or with the month in words. End with 'Answer: ...'.", "answer": "2024-03-07"},
                {"prompt": "When did Apollo 11 land on the moon (UTC)? Write the date as YYYY-MM-DD or with the month in words. End with 'Answer: ...'.", "answer": "1969-07-20"},
            ],
            good=["2024 is a leap year, so three days remain in February, and seven more lead to March 7.\nAnswer: March 7, 2024", "The landing was on a Sunday in July 1969.\nAnswer: 20 July 1969"],
            bad=["Two days remain in February, and eight more lead to March 8.\nAnswer: March 8, 2024", "The landing was in July 1969.\nAnswer: 16 July 1969"],
        ),
        Case(
            name="boxed_rational",
            reward=boxed_rational,
            examples=[
                {"prompt": "What is the probability of drawing an ace from 52 cards? Put it in \\boxed{}.", "answer": "1/13"},
                {"prompt": "What is 15 % of 1400? Put it in \\boxed{}.", "answer": "210"},
            ],
            good=["There are 4 aces among 52 cards, so the probability is \\(\\boxed{\\frac{4}{52}}\\), in other words \\(\\boxed{\\dfrac{1}{13}}\\).", "0.15 * 1400 = 210, hence $\\boxed{210}$."],
            bad=["There are 4 aces among 52 cards, so the probability is \\(\\boxed{\\frac{1}{4}}\\).", "1.5 * 1400 = 2100, hence $\\boxed{2100}$."],
        ),
        Case(
            name="measured_value",
            reward=measured_value,
            examples=[
                {"prompt": "[image of a thermometer] What does it show? End with 'Answer: ...'.", "answer": 21.5, "tolerance": 0.5},
                {"prompt": "[image of a scale] What does it show, in grams? End with 'Answer: ...'.", "answer": 1480.0, "tolerance": 10.0},
            ],
            good=["The column ends between 21 and 22.\nAnswer: 21.4 °C", "The needle is just before 1,500.\nAnswer: 1,485 g"],
            bad=["The column ends at 24.\nAnswer: 24 °C", "The needle is just after 1,500.\nAnswer: 1,520 g"],
        ),
        Case(
            name="countdown_expression",
            reward=countdown_expression,
            examples=[
                {"prompt": "Use 3, 5 and 7, each once, to make 22. Give the expression in <answer> tags.", "numbers": [3, 5, 7], "target": 22},
                {"prompt": "Use 8, 3, 3 and 8, each once, to make 24. Give the expression in <answer> tags.", "numbers": [8, 3, 3, 8], "target": 24},
            ],
            good=["3 * 5 is 15, and 7 more are 22. <answer>3 * 5 + 7</answer>", "8/3 is a third less than 3, so dividing 8 by a third gives 24. <answer>8 / (3 - 8 / 3) = 24</answer>"],
            bad=["5 + 7 is 12, and 3 more are 15. <answer>3 + 5 + 7</answer>", "3 times 8 is 24. <answer>3 * 8</answer>"],
        ),
        Case(
            name="accuracy_minus_brier",
            reward=BrierReward(),
            examples=[
                {"prompt": "What is the capital of Canada? End with 'Answer: ...' and 'Confidence: NN%'.", "answer": "Ottawa"},
                {"prompt": "Who painted 'The Night Watch'? One name is enough. End with 'Answer: ...' and 'Confidence: NN%'.", "answer": "Rembrandt"},
            ],
            good=["Toronto is larger, but the parliament sits elsewhere.\nAnswer: Ottawa\nConfidence: 95%", "The painting hangs in Amsterdam.\nAnswer: Rembrandt\nConfidence: 90%"],
            bad=["Toronto is the largest city.\nAnswer: Toronto\nConfidence: 80%", "It is a Dutch painting.\nAnswer: Vermeer\nConfidence: 40%"],
        ),
        Case(
            name="cosine_length_clamped",
            reward=cosine_length_reward,
            examples=[
                {"prompt": "What is 13 * 13? End with 'Answer: ...'.", "answer": "169"},
                {"prompt": "How many edges has a cube? End with 'Answer: ...'.", "answer": "12"},
            ],
            good=["13 * 13 = 130 + 39.\nAnswer: 169", "There are four at the bottom, four at the top, and four uprights.\nAnswer: 12"],
            bad=["13 * 13 = 130 + 36.\nAnswer: 166", "There are four at the bottom and four at the top.\nAnswer: 8"],
        ),
        Case(
            name="right_then_short_in_group",
            reward=right_then_short,
            examples=[
                {"prompt": "What is 64 / 4? End with 'Answer: ...'.", "answer": "16"},
                {"prompt": "What is the square root of 256? End with 'Answer: ...'.", "answer": "16"},
            ],
            good=["64 / 2 = 32, and 32 / 2 = 16.\nAnswer: 16", "16 * 16 = 256, so this is the root.\nAnswer: 16"],
            bad=["64 / 2 = 32, and 32 / 2 = 18.\nAnswer: 18", "128 * 2 = 256, so this is the root.\nAnswer: 128"],
        ),
        Case(
            name="location_guess_km",
            reward=location_guess,
            examples=[
                {"prompt": "[photo] Where was this taken? End with 'Location: <latitude>, <longitude>' in signed decimal degrees.", "latitude": -16.5004, "longitude": 179.99},
                {"prompt": "[photo] Where was this taken? End with 'Location: <latitude>, <longitude>' in signed decimal degrees.", "latitude": 48.8584, "longitude": 2.2945},
            ],
            good=["Palms and a Fijian road sign, close to the date line.\nLocation: -16.52, -179.98", "This is the Eiffel Tower.\nLocation: 48.86, 2.29"],
            bad=["Palms, so perhaps Hawaii.\nLocation: 20.8, -156.3", "The iron lattice could be the Blackpool Tower.\nLocation: 53.8159, -3.0551"],
        ),
        Case(
            name="balanced_equation",
            reward=balanced_equation,
            examples=[
                {"prompt": "Balance: H2 + O2 -> H2O. End with 'Equation: ...'.", "reactants": ["H2", "O2"], "products": ["H2O"]},
                {"prompt": "Balance: Ca(OH)2 + HCl -> CaCl2 + H2O. End with 'Equation: ...'.", "reactants": ["Ca(OH)2", "HCl"], "products": ["CaCl2", "H2O"]},
            ],
            good=["Oxygen comes in pairs, so two molecules of water are formed.\nEquation: 2 H2 + O2 -> 2 H2O", "Two chlorine atoms are needed for each calcium atom.\nEquation: Ca(OH)2 + 2HCl → CaCl2 + 2H2O"],
            bad=["Hydrogen burns to water.\nEquation: H2 + O2 -> H2O", "Two chlorine atoms are needed.\nEquation: Ca(OH)2 + 2HCl -> CaCl2 + H2O"],
        ),
    ]
