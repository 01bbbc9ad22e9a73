"""Sound rewards for short answers: numbers, choices, names, sets, intervals, dates, measurements."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.faults.case import Case


def _text(completion: Any) -> str:
    """Plain text of a completion: the string itself, or what the last assistant message says."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        if message.get("role", "assistant") == "assistant":
            content = message.get("content")
            return content if isinstance(content, str) else ""
    return ""


ANSWER = re.compile(r"\banswer[*_]{0,2}:[*_]{0,2}", re.IGNORECASE)


def _answer_line(text: str) -> str | None:
    """The rest of the line after the last "Answer:" (bold or not), without surrounding space and emphasis."""
    last = None
    for last in ANSWER.finditer(text):
        pass
    if last is None:
        return None
    return text[last.end() :].split("\n", 1)[0].strip().strip("*_").strip()


def _unlatex(line: str) -> str:
    """A line of at most 200 characters without $, \\text{} and LaTeX spaces; superscript digits become ^digits."""
    line = re.sub(r"\\(?:text|mathrm)\{([^{}]*)\}", r" \1", line[:200].replace("$", "").replace("−", "-"))
    line = line.replace("\\,", " ").replace("\\ ", " ")
    line = re.sub(r"10([⁰¹²³⁴-⁹⁻]+)", lambda found: "10^" + found.group(1).translate(SUPERSCRIPTS), line)
    return " ".join(line.split()).rstrip(".")


SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def _last_tag(text: str, tag: str) -> str | None:
    """What stands in the last complete <tag>...</tag>."""
    close = text.rfind(f"</{tag}>")
    start = text.rfind(f"<{tag}>", 0, close) if close != -1 else -1
    return None if start == -1 else text[start + len(tag) + 2 : close].strip()


# --------------------------------------------------------------------------- exact numbers in a box

DECIMAL = re.compile(r"([+-]?)((?:[0-9]{1,3}(?:,[0-9]{3}){1,8}|[0-9]{1,30})?)((?:\.[0-9]{1,30})?)")
RATIO = re.compile(r"([+-]?)([0-9]{1,30})/([0-9]{1,30})")
FRAC = re.compile(r"([+-]?)\\frac(?:\{([+-]?[0-9]{1,30})\}\{([0-9]{1,30})\}|([0-9])([0-9]))")


def exact_number(text: str) -> Fraction | None:
    """Integer, decimal, a/b or \\frac{a}{b} as an exact number."""
    text = re.sub(r"^([+-]) ", r"\1", text.strip())
    if len(text) > 100:
        return None
    if found := DECIMAL.fullmatch(text):
        sign, whole, decimals = found.groups()
        if not whole and not decimals:
            return None
        return Fraction(f"{sign}{whole.replace(',', '') or '0'}{decimals}")
    if found := RATIO.fullmatch(text):
        sign, over, under = found.groups()
    elif found := FRAC.fullmatch(text):
        sign, over, under = found.group(1), found.group(2) or found.group(4), found.group(3) or found.group(5)
    else:
        return None
    if not int(under):
        return None
    return Fraction(int(over), int(under)) * (-1 if sign == "-" else 1)


def last_boxed(text: str) -> str | None:
    """What the last \\boxed{...} holds, with nested braces; None when it is not closed."""
    start = text.rfind("\\boxed{")
    if start == -1:
        return None
    depth = 0
    for position in range(start + 6, len(text)):
        if text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
            if depth == 0:
                return text[start + 7 : position]
    return None


def boxed_value(text: str) -> Fraction | None:
    boxed = last_boxed(text)
    if boxed is None or len(boxed) > 200:
        return None
    for noise in ("\\$", "$", "\\!", "\\,", "\\;", "\\left", "\\right", "^\\circ", "^{\\circ}"):
        boxed = boxed.replace(noise, "")
    boxed = boxed.replace("{,}", ",").replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac").replace("−", "-")
    boxed = re.sub(r"\\(?:text|mathrm)\{[^{}]*\}$", "", boxed.strip())
    boxed = re.sub(r" ?([=/{}]) ?", r"\1", boxed.strip().rstrip("."))
    return exact_number(re.sub(r"^[a-zA-Z]=", "", boxed))


def boxed_exact_reward(completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
    """1.0 when the last \\boxed{} holds exactly the reference value, as an integer, a fraction or a finite decimal.

    0.75, 3/4 and \\frac{3}{4} are the same; a rounded value (0.33 for 1/3) is not accepted. A unit after the
    number is ignored. Only the last box counts.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        value = boxed_value(_text(completion))
        rewards.append(1.0 if value is not None and value == exact_number(gold) else 0.0)
    return rewards


# --------------------------------------------------------------------------- physics with tolerance

QUANTITY = re.compile(
    r"(?:about |approximately |≈ ?|~ ?)?([+-]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,6}|[0-9]{1,18})(?:\.[0-9]{1,18})?)"
    r"(?:[eE]([+-]?[0-9]{1,3})| ?(?:x|\*|×|·|\\times|\\cdot) ?10(?:\^|\*\*)\{?([+-]?[0-9]{1,3})\}?)?(?: ?([^\s0-9][^\s]{0,30}))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Tolerance:
    relative: float = 0.02
    absolute: float = 1e-9


class PhysicsReward:
    """1.0 when the number on the last "Answer:" line is within 2 % of the reference.

    3e8, 3 x 10^8 and 300,000,000 are the same. The unit may be left out, since the question fixes it, but a
    unit that is given must be one of the accepted spellings. Nothing else may stand on the line.
    """

    __name__ = "physics_reward"

    def __init__(self, tolerance: Tolerance = Tolerance()) -> None:
        self.tolerance = tolerance

    def _score(self, text: str, value: float, units: Sequence[str]) -> float:
        line = _answer_line(text)
        if line is None or len(line) > 120:
            return 0.0
        found = QUANTITY.fullmatch(_unlatex(line))
        if not found:
            return 0.0
        digits, short, long, unit = found.groups()
        if unit and unit not in units:
            return 0.0
        said = float(f"{digits.replace(',', '')}e{short or long or 0}")
        return 1.0 if abs(said - value) <= max(self.tolerance.relative * abs(value), self.tolerance.absolute) else 0.0

    def __call__(
        self, completions: Sequence[Any], value: Sequence[float], units: Sequence[Sequence[str]], **kwargs: Any
    ) -> list[float]:
        return [self._score(_text(c), v, u) for c, v, u in zip(completions, value, units)]


physics_reward = PhysicsReward()


# --------------------------------------------------------------------------- choices, by letter or by text

LETTERS = "ABCDEFGHIJ"


def _squeeze(text: str) -> str:
    return " ".join(text.casefold().split())


def chosen_option(line: str, options: Sequence[str]) -> int | None:
    """Index of the option that the line names by letter, by text, or by both if they agree."""
    line = line.strip().rstrip(".").strip()
    boxed = last_boxed(line)
    line = boxed if boxed is not None else line
    line = re.sub(r"^\\text\{([^{}]*)\}$", r"\1", line.strip(" $")).strip()
    by_text = [i for i, option in enumerate(options) if _squeeze(option).rstrip(".") == _squeeze(line).rstrip(".")]
    if len(by_text) == 1 and not re.fullmatch(r"[A-Ja-j]", line):
        return by_text[0]
    if named := re.fullmatch(r"(\S.*) \(([A-J])\)", line):
        line = f"{named.group(2)}) {named.group(1)}"
    found = re.fullmatch(r"\(?([A-Ja-j])\)?(?:[.):\- ]\s?(\S.*))?", line)
    if not found:
        return None
    index = LETTERS.index(found.group(1).upper())
    if index >= len(options):
        return None
    rest = found.group(2)
    if rest and _squeeze(rest).strip("().") != _squeeze(options[index]).strip("()."):
        return None
    return index


def choice_or_none_reward(
    completions: Sequence[Any], options: Sequence[Sequence[str]], gold: Sequence[int | None], **kwargs: Any
) -> list[float | None]:
    """Multiple choice. The last "Answer:" line must name one option, by its letter, by its text, or by both
    if they agree; two letters, or a letter with the text of another option, are wrong.

    Rows without a reference are not scored: the reward abstains with None.
    """
    rewards: list[float | None] = []
    for completion, row, right in zip(completions, options, gold):
        if right is None:
            rewards.append(None)
            continue
        line = _answer_line(_text(completion))
        index = chosen_option(line, row) if line is not None and len(line) <= 500 else None
        rewards.append(1.0 if index == right else 0.0)
    return rewards


# --------------------------------------------------------------------------- names with aliases

EDGES = ".,;:!?\"'()[]{}*_`“”‘’«»"
ARTICLES = {"a", "an", "the"}


def name_tokens(text: str) -> list[str]:
    """Lower-cased tokens without punctuation at their edges and without an article in front."""
    tokens = [token for token in (raw.strip(EDGES) for raw in text.casefold().split()) if token]
    return tokens[1:] if len(tokens) > 1 and tokens[0] in ARTICLES else tokens


def alias_reward(completion: str, aliases: Sequence[str]) -> float:
    """Exact match of the last "Answer:" line with any of the accepted names.

    Case, a leading article and punctuation around words do not matter; "A" stays an answer of its own.
    """
    line = _answer_line(completion)
    said = name_tokens(line) if line else []
    return 1.0 if said and any(said == name_tokens(alias) for alias in aliases) else 0.0


# --------------------------------------------------------------------------- token F1


def token_f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    if not said or not wanted:
        return float(not said and not wanted)
    if min(len(said), len(wanted)) == 1 and {said[0], wanted[0]} & {"yes", "no"}:
        return float(list(said) == list(wanted))
    overlap = sum((Counter(said) & Counter(wanted)).values())
    return 2 * overlap / (len(said) + len(wanted))


def answer_f1_reward(completions: Sequence[Any], answers: Sequence[Sequence[str]], **kwargs: Any) -> list[float]:
    """SQuAD F1 (tokens with their multiplicity) of the last "Answer:" line, the best over the accepted answers.

    Partial overlap earns partial credit by design; yes/no questions are all or nothing.
    """
    rewards = []
    for completion, accepted in zip(completions, answers):
        line = _answer_line(_text(completion))
        said = name_tokens(line) if line else []
        rewards.append(max((token_f1(said, name_tokens(a)) for a in accepted), default=0.0) if said else 0.0)
    return rewards


# --------------------------------------------------------------------------- GSM8K, strict


def gsm8k_strict_reward(completion: str, answer: str) -> float:
    """Strict GSM8K format: the last non-empty line must be "#### <number>" and nothing else.

    The sign counts; thousands separators, a dollar sign and trailing zeros do not. Any other way to state
    the answer earns 0.0 on purpose: the format is part of the task.
    """
    line = completion.rstrip().rpartition("\n")[2].strip()
    if not line.startswith("####"):
        return 0.0
    said = exact_number(line[4:].strip().replace("$", "", 1))
    gold = exact_number(answer)
    return 1.0 if said is not None and said == gold else 0.0


# --------------------------------------------------------------------------- solution sets

NO_SOLUTION = {"none", "no solution", "no solutions", "no real solution", "no real solutions", "\\emptyset", "∅", "{}"}


def solution_set(text: str) -> frozenset[Fraction] | None:
    """Numbers separated by commas, semicolons, "and" or "or"; "x =" in front of them and braces around them are fine."""
    text = text.strip().strip("$").strip().rstrip(".")
    if len(text) > 300:
        return None
    if text.lower() in NO_SOLUTION:
        return frozenset()
    text = text.replace("\\{", "{").replace("\\}", "}").replace("−", "-")
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    values = set()
    for part in re.split(r"[,;]| and | or ", text):
        part = re.sub(r"^[a-z](?:_?[0-9])?=", "", re.sub(r" ?= ?", "=", part.strip())).replace("\\pm", "±")
        value = exact_number(part.removeprefix("±"))
        if value is None:
            return None
        values |= {value, -value} if part.startswith("±") else {value}
    return frozenset(values)


def solution_set_reward(completions: Sequence[Any], roots: Sequence[Sequence[str]], **kwargs: Any) -> list[float]:
    """All solutions of an equation in the last <answer>: the set must be complete and have nothing else.

    Order and repetition do not matter. "no real solutions" is the empty set.
    """
    rewards = []
    for completion, gold in zip(completions, roots):
        body = _last_tag(_text(completion), "answer")
        said = solution_set(body) if body else None
        rewards.append(1.0 if said is not None and said == {exact_number(root) for root in gold} else 0.0)
    return rewards


# --------------------------------------------------------------------------- intervals

INFINITE = {"inf": 1, "infinity": 1, "oo": 1, "∞": 1, "\\infty": 1}


def _endpoint(text: str) -> Fraction | str | None:
    text = re.sub(r"^([+-]) ", r"\1", text.strip())
    sign = "-" if text.startswith("-") else "+"
    if text.lstrip("+-") in INFINITE and len(text) - len(text.lstrip("+-")) <= 1:
        return f"{sign}inf"
    return exact_number(text)


def interval_union(text: str) -> frozenset[tuple[Any, ...]] | None:
    """Intervals joined by ∪, each as (opening bracket, left end, right end, closing bracket)."""
    text = text.strip().strip("$").strip().rstrip(".")
    if len(text) > 300:
        return None
    text = re.sub(r"^[a-z] ?(?:∈|\\in) ?", "", text)
    for old, new in (("\\left", ""), ("\\right", ""), ("\\cup", "∪"), (" U ", "∪"), ("−", "-"), (";", ",")):
        text = text.replace(old, new)
    pieces = set()
    for part in text.split("∪"):
        part = part.strip()
        if len(part) < 5 or part[0] not in "([" or part[-1] not in ")]" or part.count(",") != 1:
            return None
        left, right = (_endpoint(end) for end in part[1:-1].split(","))
        if left is None or right is None or left == "+inf" or right == "-inf":
            return None
        if (left == "-inf" and part[0] == "[") or (right == "+inf" and part[-1] == "]"):
            return None
        pieces.add((part[0], left, right, part[-1]))
    return frozenset(pieces)


def interval_reward(completion: str, interval: str) -> float:
    """Domain or solution as interval notation in the last <answer>, e.g. (-\\infty, 2] \\cup (3, 5).

    Round and square brackets mean different sets and are told apart. The pieces may come in any order.
    """
    body = _last_tag(completion, "answer")
    said = interval_union(body) if body else None
    return 1.0 if said is not None and said == interval_union(interval) else 0.0


# --------------------------------------------------------------------------- full dates

MONTHS = "january february march april may june july august september october november december".split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = "(" + "|".join(f"{month}|{month[:3]}" for month in MONTHS) + r"|sept)\.?"
DATE_FORMS = (
    re.compile(r"(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})"),
    re.compile(rf"(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m>{_MONTH}),? (?P<y>[0-9]{{4}})"),
    re.compile(rf"(?P<m>{_MONTH}) (?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<y>[0-9]{{4}})"),
)


def full_date(text: str) -> datetime.date | None:
    """A complete date; a weekday in front must be the right one."""
    text = " ".join(text.lower().rstrip(".").split())
    weekday = None
    for name in WEEKDAYS:
        if text.startswith(name):
            weekday, text = name, text[len(name) :].lstrip(",").strip()
    text = text.removeprefix("the ")
    for form in DATE_FORMS:
        if found := form.fullmatch(text):
            month = found.group("m").rstrip(".")
            number = int(month) if month.isdigit() else next(i for i, m in enumerate(MONTHS, 1) if m.startswith(month[:3]))
            try:
                day = datetime.date(int(found.group("y")), number, int(found.group("d")))
            except ValueError:
                return None
            return day if weekday in (None, WEEKDAYS[day.weekday()]) else None
    return None


def full_date_reward(completions: Sequence[Any], date: Sequence[str], **kwargs: Any) -> list[float]:
    """The last "Answer:" line must be the complete date: 1879-03-14, 14 March 1879 or March 14, 1879.

    Parts of a date earn nothing, and 03/04/1879 is refused because it can be read in two ways.
    """
    rewards = []
    for completion, gold in zip(completions, date):
        line = _answer_line(_text(completion))
        said = full_date(line) if line and len(line) <= 80 else None
        rewards.append(1.0 if said is not None and said.isoformat() == gold else 0.0)
    return rewards


# --------------------------------------------------------------------------- measurements

UNITS: dict[str, tuple[str, float]] = {
    **{name: ("length", factor) for names, factor in (
        (("mm", "millimeter", "millimeters", "millimetre", "millimetres"), 0.001),
        (("cm", "centimeter", "centimeters", "centimetre", "centimetres"), 0.01),
        (("m", "meter", "meters", "metre", "metres"), 1.0),
        (("km", "kilometer", "kilometers", "kilometre", "kilometres"), 1000.0),
        (("ft", "foot", "feet"), 0.3048),
        (("mi", "mile", "miles"), 1609.344),
    ) for name in names},
    **{name: ("mass", factor) for names, factor in (
        (("g", "gram", "grams"), 0.001),
        (("kg", "kilogram", "kilograms"), 1.0),
        (("lb", "lbs", "pound", "pounds"), 0.45359237),
        (("t", "tonne", "tonnes"), 1000.0),
    ) for name in names},
    **{name: ("time", factor) for names, factor in (
        (("s", "sec", "second", "seconds"), 1.0),
        (("min", "minute", "minutes"), 60.0),
        (("h", "hr", "hour", "hours"), 3600.0),
    ) for name in names},
}
MEASURE = re.compile(r"(?:about |approximately |≈ ?|~ ?)?([0-9]{1,3}(?:,[0-9]{3}){1,5}|[0-9]{1,15})((?:\.[0-9]{1,15})?)\s?([A-Za-z]{1,15})")


def measurement(text: str) -> tuple[str, float] | None:
    """(dimension, value in the base unit) of "26.2 miles"."""
    found = MEASURE.fullmatch(_unlatex(text))
    if not found or found.group(3).lower() not in UNITS:
        return None
    dimension, factor = UNITS[found.group(3).lower()]
    return dimension, float(found.group(1).replace(",", "") + found.group(2)) * factor


def measurement_reward(completions: Sequence[Any], quantity: Sequence[str], **kwargs: Any) -> list[float]:
    """The last "Answer:" line must be a number with a unit, equal to the reference within 1 %.

    Any unit of the right dimension will do (42.2 km, 42,200 m and 26.2 miles are the same); a bare number
    or a unit of another dimension is wrong. What the solution says above the line does not matter.
    """
    rewards = []
    for completion, gold in zip(completions, quantity):
        line = _answer_line(_text(completion))
        said = measurement(line) if line and len(line) <= 80 else None
        target = measurement(gold)
        ok = said is not None and target is not None and said[0] == target[0]
        rewards.append(1.0 if ok and abs(said[1] - target[1]) <= 0.01 * target[1] else 0.0)
    return rewards


# --------------------------------------------------------------------------- knowing what one does not know

ABSTAIN = {"i don't know", "i do not know", "unknown", "i'm not sure", "i am not sure"}


def abstention_reward(completion: str, answer: str) -> float:
    """1.0 for the right answer, 0.0 for admitting not to know, -1.0 for a wrong answer or none.

    The last "Answer:" line counts and must hold the answer alone.
    """
    line = _answer_line(completion)
    if not line:
        return -1.0
    if " ".join(line.casefold().replace("’", "'").rstrip(".").split()) in ABSTAIN:
        return 0.0
    return 1.0 if name_tokens(line) == name_tokens(answer) else -1.0


# --------------------------------------------------------------------------- calibration

CONFIDENCE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)(\s?%)?")


def confidence_of(text: str) -> float | None:
    """Probability on the last "Confidence:" line, as 0.9 or 90%; None when it is missing or no probability."""
    lines = [line.strip().strip("*_ ") for line in text.splitlines()]
    stated = [line[11:].strip().strip("*_ ").rstrip(".") for line in lines if line.lower().startswith("confidence:")]
    found = CONFIDENCE.fullmatch(stated[-1]) if stated and len(stated[-1]) <= 20 else None
    if not found:
        return None
    value = float(found.group(1)) / (100 if found.group(2) else 1)
    return value if 0.0 <= value <= 1.0 else None


def calibration_reward(completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
    """RLCR: correctness minus the Brier score of the stated confidence, in [-1, 1].

    A right answer earns 1 - (1 - p)^2, a wrong one -p^2, so it pays to be right and to state p honestly.
    Without a readable "Answer:" and "Confidence:" (0 to 1, or a percentage) the score is -1.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion)
        line, sure = _answer_line(text), confidence_of(text)
        if not line or sure is None:
            rewards.append(-1.0)
            continue
        correct = float(name_tokens(line) == name_tokens(gold))
        rewards.append(correct - (sure - correct) ** 2)
    return rewards


CASES = [
    Case(
        name="boxed_exact_reward",
        reward=boxed_exact_reward,
        examples=[
            {"prompt": "What is the probability of at least one head in two tosses? Box the answer.", "answer": "3/4"},
            {"prompt": "Solve 2x + 7 = 1. Box x.", "answer": "-3"},
            {"prompt": "A hall has 25 rows of 50 seats. How many seats? Box the answer.", "answer": "1250"},
        ],
        good=[
            "Only one of four outcomes has no head, so the probability is $\\boxed{\\dfrac{3}{4}}$.",
            "2x = -6, hence $\\boxed{x = -3}$.",
            "25 * 50 = \\boxed{1{,}250 \\text{ seats}}",
        ],
        bad=[
            "Two of four outcomes have one head: $\\boxed{\\frac{1}{2}}$.",
            "2x = 6, hence $\\boxed{3}$.",
            "25 + 50 = \\boxed{75}",
        ],
        source="https://github.com/huggingface/Math-Verify/issues/41",
    ),
    Case(
        name="physics_reward",
        reward=physics_reward,
        examples=[
            {"prompt": "How far does light travel in one second (in m)? End with 'Answer: ...'.", "value": 2.998e8, "units": ["m", "meters", "metres"]},
            {"prompt": "A ball falls from 20 m. After how many seconds does it land? End with 'Answer: ...'.", "value": 2.02, "units": ["s", "seconds"]},
        ],
        good=[
            "By definition of the meter the speed is 299,792,458 m/s.\n**Answer:** 3.0 x 10^8 m",
            "t = sqrt(2h/g) = sqrt(40/9.81).\nAnswer: 2.02",
        ],
        bad=[
            "Light needs eight minutes from the sun.\n**Answer:** 1.5 x 10^11 m",
            "t = 2h/g = 40/9.81.\nAnswer: 4.08 s",
        ],
    ),
    Case(
        name="choice_or_none_reward",
        reward=choice_or_none_reward,
        examples=[
            {"prompt": "Largest planet? A) Mars B) Jupiter C) Saturn. End with 'Answer: ...'.", "options": ["Mars", "Jupiter", "Saturn"], "gold": 1},
            {"prompt": "Which is a prime? A) 21 B) 27 C) 33 D) 37. End with 'Answer: ...'.", "options": ["21", "27", "33", "37"], "gold": 3},
        ],
        good=[
            "Jupiter has more mass than all other planets together.\nAnswer: B) Jupiter",
            "21, 27 and 33 are divisible by 3.\nAnswer: (D)",
        ],
        bad=[
            "The rings make Saturn the widest.\nAnswer: C",
            "27 has no obvious divisor.\nAnswer: 27",
        ],
        source="https://github.com/NVIDIA-NeMo/Gym/pull/1945",
    ),
    Case(
        name="alias_reward",
        reward=alias_reward,
        examples=[
            {"prompt": "Which vitamin prevents night blindness? End with 'Answer: ...'.", "aliases": ["A", "vitamin A", "retinol"]},
            {"prompt": "Which country hosted the 1994 World Cup? End with 'Answer: ...'.", "aliases": ["United States", "USA", "US", "United States of America"]},
        ],
        good=[
            "The pigment of the rods is made from retinol.\nAnswer: Vitamin A",
            "The final was played in Pasadena.\nAnswer: the United States.",
        ],
        bad=[
            "Citrus fruit is good for the eyes.\nAnswer: C",
            "Italy lost the final there.\nAnswer: Mexico",
        ],
        source="https://github.com/OpenBMB/UltraRAG/pull/510",
    ),
    Case(
        name="answer_f1_reward",
        reward=answer_f1_reward,
        examples=[
            {"prompt": "Who designed the Eiffel Tower? End with 'Answer: ...'.", "answers": ["Maurice Koechlin and Émile Nouguier", "Gustave Eiffel's company"]},
            {"prompt": "Is Lake Baikal deeper than Lake Superior? End with 'Answer: yes' or 'Answer: no'.", "answers": ["yes"]},
        ],
        good=[
            "The draft came from two engineers of the company.\nAnswer: Maurice Koechlin and Émile Nouguier",
            "Baikal is more than 1,600 m deep, Superior about 400.\nAnswer: Yes",
        ],
        bad=[
            "It carries the name of its builder.\nAnswer: Alexandre Dumas",
            "Superior is the largest of the lakes.\nAnswer: no",
        ],
        source="https://github.com/UKGovernmentBEIS/inspect_ai/pull/5477",
    ),
    Case(
        name="gsm8k_strict_reward",
        reward=gsm8k_strict_reward,
        examples=[
            {"prompt": "At dawn it was 2 degrees, and then it fell by 5 degrees. How cold is it? End with '#### number'.", "answer": "-3"},
            {"prompt": "A car costs $18,500, and taxes are 10 %. What is the price? End with '#### number'.", "answer": "20350"},
        ],
        good=[
            "It fell from 2 by 5 degrees: 2 - 5 = -3.\n#### -3",
            "10 % of 18,500 are 1,850, together 20,350 dollars.\n#### $20,350.00",
        ],
        bad=[
            "The difference of 5 and 2 is 3.\n#### 3",
            "10 % of 18,500 are 1,850.\n#### 1850",
        ],
        source="https://github.com/google-deepmind/proeval/pull/19",
    ),
    Case(
        name="solution_set_reward",
        reward=solution_set_reward,
        examples=[
            {"prompt": "Solve 2x^2 - 5x - 3 = 0. List all solutions in <answer>.", "roots": ["3", "-1/2"]},
            {"prompt": "Find all real solutions of x^2 + 4 = 0. List them in <answer>.", "roots": []},
        ],
        good=[
            "The discriminant is 25 + 24 = 49, so x = (5 ± 7)/4.\n<answer>x = -0.5 or x = 3</answer>",
            "A square is never negative, so x^2 = -4 is impossible.\n<answer>no real solutions</answer>",
        ],
        bad=[
            "One solution is easy to guess.\n<answer>x = 3</answer>",
            "The root of 4 is 2.\n<answer>2, -2</answer>",
        ],
        source="https://github.com/huggingface/Math-Verify/issues/26",
    ),
    Case(
        name="interval_reward",
        reward=interval_reward,
        examples=[
            {"prompt": "Where is sqrt(4 - x)/(x - 1) defined? Interval notation in <answer>.", "interval": "(-inf, 1) ∪ (1, 4]"},
            {"prompt": "Solve -1 <= 2x + 1 < 4. Interval notation in <answer>.", "interval": "[-1, 3/2)"},
        ],
        good=[
            "The root needs x <= 4, and x = 1 is excluded.\n<answer>$(-\\infty, 1) \\cup (1, 4]$</answer>",
            "Subtract 1 and halve: -1 <= x < 1.5.\n<answer>[-1, 1.5)</answer>",
        ],
        bad=[
            "The root needs x < 4, and x = 1 is excluded.\n<answer>$(-\\infty, 1) \\cup (1, 4)$</answer>",
            "Subtract 1 and halve.\n<answer>[-1, 1.5]</answer>",
        ],
        source="https://github.com/openwebwork/pg/pull/1184",
    ),
    Case(
        name="full_date_reward",
        reward=full_date_reward,
        examples=[
            {"prompt": "When was Albert Einstein born? End with 'Answer: <date>'.", "date": "1879-03-14"},
            {"prompt": "When did Apollo 11 land on the Moon? End with 'Answer: <date>'.", "date": "1969-07-20"},
        ],
        good=[
            "He was born in Ulm on what is now Pi Day.\nAnswer: 14 March 1879",
            "The landing was on a Sunday.\nAnswer: Sunday, July 20, 1969",
        ],
        bad=[
            "He was born in Ulm in spring.\nAnswer: March 1879",
            "The rocket started on that day.\nAnswer: 1969-07-16",
        ],
        source="https://github.com/dateutil/dateutil/issues/261",
    ),
    Case(
        name="measurement_reward",
        reward=measurement_reward,
        examples=[
            {"prompt": "How long is a marathon? Give number and unit after 'Answer:'.", "quantity": "42.195 km"},
            {"prompt": "A recipe needs 2 lb of flour. How much is that in metric units? 'Answer: ...'", "quantity": "907 g"},
        ],
        good=[
            "The distance is 26.2 miles, and a mile is 1.609 km.\nAnswer: 42.2 km",
            "A pound is 453.6 g, so two pounds are 907 g.\nAnswer: 0.907 kg",
        ],
        bad=[
            "The distance is 26.2 miles.\nAnswer: 26.2 km",
            "A pound is half a kilogram roughly.\nAnswer: 907 kg",
        ],
        source="https://github.com/atomantic/PortOS/pull/7304",
    ),
    Case(
        name="abstention_reward",
        reward=abstention_reward,
        examples=[
            {"prompt": "Who was the second person on the Moon? 'Answer: ...' or 'Answer: I don't know'.", "answer": "Buzz Aldrin"},
            {"prompt": "What is the capital of Burkina Faso? 'Answer: ...' or 'Answer: I don't know'.", "answer": "Ouagadougou"},
        ],
        good=[
            "He followed Armstrong about 19 minutes later.\nAnswer: Buzz Aldrin",
            "It is not Bobo-Dioulasso, which is the second city.\nAnswer: Ouagadougou",
        ],
        bad=[
            "He stayed in orbit at first.\nAnswer: Michael Collins",
            "The name escapes me.\nAnswer: I don't know",
        ],
    ),
    Case(
        name="calibration_reward",
        reward=calibration_reward,
        examples=[
            {"prompt": "Which river flows through four capitals? Lines 'Answer: ...' and 'Confidence: ...'.", "answer": "Danube"},
            {"prompt": "Which planet has the shortest day? Lines 'Answer: ...' and 'Confidence: ...'.", "answer": "Jupiter"},
        ],
        good=[
            "Vienna, Bratislava, Budapest and Belgrade lie on it.\nAnswer: the Danube\nConfidence: 97%",
            "It turns once in ten hours.\nAnswer: Jupiter\nConfidence: 0.95",
        ],
        bad=[
            "Probably a long one.\nAnswer: Rhine\nConfidence: 80%",
            "A small planet should turn fast.\nAnswer: Mercury\nConfidence: 0.7",
        ],
    ),
]
