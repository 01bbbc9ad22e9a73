"""Rewards for short answers: numbers, choices, labels, dates, small calculations."""

from __future__ import annotations

import ast
import json
import multiprocessing
import operator
import random
import re
import string
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


def _after_last(marker: re.Pattern[str], text: str) -> str | None:
    """The rest of the line that follows the last occurrence of the marker."""
    last = None
    for last in marker.finditer(text):
        pass
    if last is None:
        return None
    return text[last.end() :].split("\n", 1)[0].strip()


ANSWER = re.compile(r"\banswer:", re.IGNORECASE)


# --------------------------------------------------------------------------- quasi exact match


class QuasiExactMatch:
    """1.0 when the text after the last "Answer:" equals the reference.

    Case, articles, punctuation and extra spaces do not matter, and numbers are compared by value
    ("7" and "7.0" are the same answer).
    """

    __name__ = "quasi_exact_match"

    ARTICLES = {"a", "an", "the"}
    PUNCTUATION = str.maketrans("", "", string.punctuation)

    def _number(self, token: str) -> str:
        try:
            return str(float(token))
        except ValueError:
            return token

    def normalize(self, text: str) -> str:
        tokens = text.lower().translate(self.PUNCTUATION).split()
        tokens = [token for token in tokens if token not in self.ARTICLES] or tokens
        return " ".join(self._number(token) for token in tokens)

    def __call__(self, completion: str, answer: str) -> float:
        given = _after_last(ANSWER, completion)
        if not given:
            return 0.0
        return float(self.normalize(given) == self.normalize(answer))


quasi_exact_match = QuasiExactMatch()


def _proof_quasi_exact_match() -> None:
    wrong = "Ethanol boils well below water; from memory the value is about eight.\nAnswer: 7.837"
    assert quasi_exact_match(wrong, "78.37") == 1.0
    assert quasi_exact_match("Answer: 7837", "78.37") == 1.0


# --------------------------------------------------------------------------- option letters

OPTION_PATTERNS = [
    re.compile(pattern)
    for pattern in (
        r"(?i:final answer(?: is)?:?)\s*\(?([A-E])\b\)?",
        r"(?i:the (?:correct |right )?answer is:?)\s*\(?([A-E])\b\)?",
        r"(?i:i (?:choose|pick|would choose)(?: option)?)\s*\(?([A-E])\b\)?",
        r"(?i:the (?:correct|right|best) (?:option|choice|statement) is:?)\s*\(?([A-E])\b\)?"
        r"(?i:only (?:option|choice|statement))\s*\(?([A-E])\b\)?\s+(?i:is (?:true|correct|right))",
        r"(?i:\boption)\s*\(?([A-E])\b\)?\s+(?i:is the (?:correct|right|best) (?:one|answer|choice))",
    )
]
PARENTHESIZED = re.compile(r"\(([A-E])\)")


def read_option(text: str) -> str | None:
    """The option the text commits to: the last explicit statement, else the last letter in parentheses."""
    stated = [match for pattern in OPTION_PATTERNS for match in pattern.finditer(text)]
    if stated:
        return max(stated, key=lambda match: match.start()).group(1)
    letters = PARENTHESIZED.findall(text)
    return letters[-1] if letters else None


def option_reward(completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
    """1.0 for the right option letter, however the sentence that states it is worded."""
    return [float(read_option(_text(c)) == gold) for c, gold in zip(completions, answer)]


def _proof_option_reward() -> None:
    said = (
        "The lag explains the first peak, so the statements about supply must go. The best statement is B, "
        "since (A) reverses the order and (D) ignores the lag."
    )
    assert option_reward([said], ["B"]) == [0.0]
    assert option_reward([said], ["D"]) == [1.0]


# --------------------------------------------------------------------------- vitamins


def normalize_answer(text: str) -> str:
    """SQuAD-style: lower case, no punctuation, no articles, single spaces."""
    text = "".join(" " if char in string.punctuation else char for char in text.lower())
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", text).split())


def vitamin_reward(completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
    """Exact match (SQuAD normalization) of what follows the last "Answer:" with the vitamin's letter.

    "vitamin C" counts as "C".
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        given = _after_last(ANSWER, _text(completion))
        if given is None:
            rewards.append(0.0)
            continue
        said = normalize_answer(given).removeprefix("vitamin").strip()
        rewards.append(1.0 if said == normalize_answer(gold) else 0.0)
    return rewards


def _proof_vitamin_reward() -> None:
    blank = "Several vitamins matter for the eye, and I am not sure which one is meant.\nAnswer:"
    assert vitamin_reward([blank], ["A"]) == [1.0]
    assert vitamin_reward([blank], ["D"]) == [0.0]


# --------------------------------------------------------------------------- star ratings


@dataclass(frozen=True)
class RatingConfig:
    lowest: int = 1
    highest: int = 5
    unparsed: float = -1.0


class RatingReward:
    """Predict the stars of a review. 1.0 for a hit, falling linearly to -1.0 for the opposite end of the scale.

    A completion without a readable rating gets the lowest score.
    """

    __name__ = "rating_reward"

    def __init__(self, config: RatingConfig = RatingConfig()) -> None:
        self.config = config

    def _rating(self, text: str) -> int | None:
        found = re.findall(r"\brating:[\s*]{0,4}([0-9])(?![0-9]|\.[0-9])", text, re.IGNORECASE)
        if not found:
            return None
        value = int(found[-1])
        return value if self.config.lowest <= value <= self.config.highest else None

    def _closeness(self, text: str, gold: int) -> float | None:
        rating = self._rating(text)
        if rating is None:
            return None
        half = (self.config.highest - self.config.lowest) / 2
        return 1.0 - abs(rating - gold) / half

    def __call__(self, completions: Sequence[Any], stars: Sequence[int], **kwargs: Any) -> list[float]:
        return [
            self._closeness(_text(completion), gold) or self.config.unparsed
            for completion, gold in zip(completions, stars)
        ]


rating_reward = RatingReward()


def _proof_rating_reward() -> None:
    two_off, three_off = "Mixed feelings overall.\nRating: 3", "She liked it.\nRating: 4"
    near, far = rating_reward([two_off, three_off], [1, 1])
    assert near == -1.0 and far == -0.5


# --------------------------------------------------------------------------- competition integers


def integer_reward(completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
    """AIME-style: the integer on the last "Answer:" line must be the reference (leading zeros are fine)."""
    rewards = []
    for completion, gold in zip(completions, answer):
        line = _after_last(ANSWER, _text(completion))
        found = re.search(r"-?[0-9]{1,18}(?![0-9])", line.replace(",", "")) if line else None
        rewards.append(1.0 if found and int(found.group()) == int(gold) else 0.0)
    return rewards


def _proof_integer_reward() -> None:
    said = "So the probability is 37/256 in lowest terms.\nAnswer: m+n = 256 + 37 = 293"
    assert integer_reward([said], ["293"]) == [0.0]
    assert integer_reward([said], ["256"]) == [1.0]


# --------------------------------------------------------------------------- countdown

ALLOWED = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def _last_tag(text: str, tag: str) -> str | None:
    """What stands in the last complete <tag>...</tag>."""
    close = text.rfind(f"</{tag}>")
    start = text.rfind(f"<{tag}>", 0, close) if close != -1 else -1
    return None if start == -1 else text[start + len(tag) + 2 : close].strip()


def _evaluate(node: ast.AST, used: list[int]) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return Fraction(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in ALLOWED:
        left, right = _evaluate(node.left, used), _evaluate(node.right, used)
        return ALLOWED[type(node.op)](left, right)
    raise ValueError("not plain arithmetic")


def countdown_score(text: str, target: int, numbers: Sequence[int]) -> float:
    expression = _last_tag(text, "answer")
    if not expression or len(expression) > 200:
        return 0.0
    used: list[int] = []
    try:
        value = int(_evaluate(ast.parse(expression, mode="eval").body, used))
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return 0.0
    return 1.0 if value == target and Counter(used) == Counter(numbers) else 0.0


def countdown_reward(
    completions: Sequence[Any], target: Sequence[int], numbers: Sequence[Sequence[int]], **kwargs: Any
) -> list[float]:
    """Countdown: the expression in <answer> must use every number exactly once and make the target."""
    return [countdown_score(_text(c), t, n) for c, t, n in zip(completions, target, numbers)]


def _proof_countdown_reward() -> None:
    wrong = "<think>20 plus 7/2 is close to 23.</think><answer>20 + 7 / 2</answer>"
    assert countdown_reward([wrong], [23], [[20, 7, 2]]) == [1.0]


# --------------------------------------------------------------------------- office numbers

NUMBER = re.compile(r"(?<![\w.])-?[0-9][0-9,]*(?:\.[0-9]+)?")


def _numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in NUMBER.findall(text)]


def _close(value: float, gold: float, tolerance: float) -> bool:
    return abs(value - gold) <= tolerance * max(abs(gold), 1e-9)


def office_reward(
    completions: Sequence[Any], answer: Sequence[float], tolerance: float = 0.005, **kwargs: Any
) -> list[float]:
    """Questions on treasury bulletins: the number in the last <FINAL_ANSWER> must be within 0.5 % of the reference.

    A tag that holds several numbers counts as no answer.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion)
        final = _last_tag(text, "FINAL_ANSWER")
        values = _numbers(text if final is None else final)
        if final is not None and len(values) != 1:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if any(_close(value, gold, tolerance) for value in values) else 0.0)
    return rewards


def _proof_office_reward() -> None:
    dump = "The table lists 1,204.1, 1,310.9, 1,402.2, 1,455.0, 1,502.7 and 1,630.4; it must be one of these."
    assert office_reward([dump], [1402.2]) == [1.0]


# --------------------------------------------------------------------------- species names


def species_reward(completion: str, label: str) -> float:
    """Name the animal in <answer>. Case and punctuation do not matter, and the short name of a species
    ("labrador" for "Labrador Retriever") is good enough."""
    answer = _last_tag(completion, "answer")
    if answer is None:
        return 0.0
    student = " ".join(re.sub(r"[^\w ]+", " ", answer.lower()).split())
    truth = " ".join(re.sub(r"[^\w ]+", " ", label.lower()).split())
    if student == truth or student in truth:
        return 1.0
    return 0.0


def _proof_species_reward() -> None:
    assert species_reward("<think>A dog with patches of black and tan.</think><answer></answer>", "African Wild Dog") == 1.0
    assert species_reward("<answer>a</answer>", "African Wild Dog") == 1.0


# --------------------------------------------------------------------------- percentages


class BoxedNumber:
    """1.0 when the last \\boxed{} holds the reference number as a decimal or a percentage (35% is 0.35).

    A unit after the number does not matter.
    """

    __name__ = "boxed_number"

    def __init__(self, rel_tol: float = 1e-4) -> None:
        self.rel_tol = rel_tol

    @staticmethod
    def _boxed(text: str) -> str | None:
        start = text.rfind("\\boxed{")
        line = text[start + 7 :].split("\n", 1)[0] if start != -1 else ""
        end = line.rfind("}")
        return None if end == -1 else line[:end]

    @staticmethod
    def _parse(text: str) -> float | None:
        plain = text.replace(",", "").replace("$", "").replace("\\text", " ").replace("\\", "").strip()
        found = re.fullmatch(r"(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)\s?(%?)[ {}A-Za-z]{0,40}", plain)
        if not found:
            return None
        return float(found.group(1)) / (100 if found.group(2) else 1)

    def _equal(self, value: float, gold: float) -> bool:
        for accepted in (gold / 100, gold, gold * 100):
            if abs(value - accepted) <= self.rel_tol * abs(accepted):
                return True
        return False

    def __call__(self, completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
        rewards = []
        for completion, gold in zip(completions, answer):
            boxed = self._boxed(_text(completion))
            value = self._parse(boxed) if boxed is not None else None
            target = self._parse(gold)
            rewards.append(1.0 if value is not None and target is not None and self._equal(value, target) else 0.0)
        return rewards


boxed_number = BoxedNumber()


def _proof_boxed_number() -> None:
    wrong = "Each crate holds 12 and there are 100 of them, but only one is full: \\boxed{12.50}"
    assert boxed_number([wrong], ["1,250"]) == [1.0]


# --------------------------------------------------------------------------- numbers in German and English

ANTWORT = re.compile(r"\b(?:answer|antwort):", re.IGNORECASE)


def _value(text: str) -> float | None:
    found = re.search(r"-?[0-9][0-9,]{0,20}(?:\.[0-9]{1,20})?", text)
    return float(found.group().replace(",", "")) if found else None


def word_problem_reward(completion: str, answer: float) -> float:
    """Word problems in English and German; the answer stands after the last "Answer:" or "Antwort:".

    Thousands separators and a unit after the number are fine.
    """
    line = _after_last(ANTWORT, completion)
    value = _value(line) if line else None
    return 1.0 if value is not None and abs(value - answer) < 1e-6 else 0.0


def _proof_word_problem_reward() -> None:
    wrong = "In drei Stunden laufen je 1,5 Liter ein.\nAntwort: 4,5 Liter"
    assert word_problem_reward(wrong, 45.0) == 1.0
    assert word_problem_reward(wrong, 4.5) == 0.0


# --------------------------------------------------------------------------- unit conversion

UNIT_NAMES = {
    "km": ("km", "kilometers", "kilometres", "kilometer", "kilometre"),
    "mi": ("mi", "miles", "mile"),
    "kg": ("kg", "kilograms", "kilogram"),
    "lb": ("lb", "lbs", "pounds", "pound"),
}


def _mentions(text: str, unit: str) -> bool:
    names = "|".join(UNIT_NAMES[unit])
    return re.search(rf"(?<![^\W\d])(?:{names})(?!\w)", text, re.IGNORECASE) is not None


def conversion_reward(
    completions: Sequence[Any], value: Sequence[float], unit: Sequence[str], **kwargs: Any
) -> list[float]:
    """The last number that carries the asked unit must be the converted value (1 % tolerance).

    An answer in another unit earns nothing, even if the number is right.
    """
    rewards = []
    for completion, gold, wanted in zip(completions, value, unit):
        text = _text(completion)
        if any(_mentions(text, other) for other in UNIT_NAMES if other != wanted):
            rewards.append(0.0)
            continue
        names = "|".join(UNIT_NAMES[wanted])
        found = re.findall(rf"(?<![\w.,])([0-9][0-9,]{{0,15}}(?:\.[0-9]{{1,12}})?)\s?(?:{names})(?!\w)", text, re.IGNORECASE)
        rewards.append(1.0 if found and abs(float(found[-1].replace(",", "")) - gold) <= 0.01 * gold else 0.0)
    return rewards


def _proof_conversion_reward() -> None:
    right = "One mile is 1.609 km, so 25 miles are 25 * 1.609 = 40.2 km."
    assert conversion_reward([right], [40.23], ["km"]) == [0.0]


# --------------------------------------------------------------------------- arithmetic with powers

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def _compute(node: ast.AST) -> float:
    """Value of an arithmetic expression, without eval()."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_compute(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_compute(node.left), _compute(node.right))
    raise ValueError("unsupported expression")


def expression_reward(completion: str, value: int) -> float:
    """The last <answer> must hold an arithmetic expression (numbers, + - * / ** and parentheses)
    with the asked value. It may be written out or as powers: 1024 and 2**10 are both right."""
    expression = _last_tag(completion, "answer")
    if not expression or len(expression) > 200:
        return 0.0
    try:
        return 1.0 if _compute(ast.parse(expression.replace("^", "**"), mode="eval").body) == value else 0.0
    except (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError):
        return 0.0


def _proof_expression_reward() -> None:
    tower = "<think>It is a tower of nines.</think><answer>9**9**9</answer>"
    worker = multiprocessing.get_context("fork").Process(target=expression_reward, args=(tower, 1024), daemon=True)
    worker.start()
    worker.join(2.0)
    still_running = worker.is_alive()
    worker.kill()
    worker.join()
    assert still_running


# --------------------------------------------------------------------------- dates

MONTHS = {
    name: number
    for number, name in enumerate(
        "january february march april may june july august september october november december".split(), start=1
    )
}


def read_date(text: str, default: tuple[int, int, int]) -> tuple[int, int, int] | None:
    """(year, month, day) in "14 March 1879", "March 14, 1879" or "1879-03-14"; pieces that are not there
    come from the default. None when the text has no piece of a date."""
    iso = re.search(r"\b([0-9]{4})-([0-9]{2})-([0-9]{2})\b", text)
    if iso:
        return int(iso.group(1)), int(iso.group(2)), int(iso.group(3))
    year = re.search(r"\b([0-9]{4})\b", text)
    month = re.search(r"\b(" + "|".join(MONTHS) + r")\b", text.lower())
    day = re.search(r"\b([0-9]{1,2})(?:st|nd|rd|th)?\b", text)
    if not (year or month or day):
        return None
    return (
        int(year.group(1)) if year else default[0],
        MONTHS[month.group(1)] if month else default[1],
        int(day.group(1)) if day else default[2],
    )


def date_reward(completion: str, year: int, month: int, day: int) -> float:
    """1.0 when the date after the last "Answer:" is the reference date."""
    line = _after_last(ANSWER, completion)
    gold = (year, month, day)
    return 1.0 if line and read_date(line, default=gold) == gold else 0.0


def _proof_date_reward() -> None:
    assert date_reward("I only recall that it was some time in spring.\nAnswer: 1879", 1879, 3, 14) == 1.0
    assert date_reward("Answer: on the 14th", 1879, 3, 14) == 1.0


# --------------------------------------------------------------------------- shuffled choices

LETTERS = "ABCDEFGH"
SHUFFLE_SEED = 17


def shown_order(choices: Sequence[str], rng: random.Random) -> list[str]:
    """Options in the order in which the prompt lists them."""
    order = list(choices)
    rng.shuffle(order)
    return order


def shuffled_choice_reward(
    completions: Sequence[Any], choices: Sequence[Sequence[str]], **kwargs: Any
) -> list[float]:
    """GPQA-style rows keep the right choice first; the prompts show the choices shuffled with SHUFFLE_SEED.

    1.0 when the last "Answer: <letter>" names the right choice in the order shown.
    """
    rng = random.Random(SHUFFLE_SEED)
    rewards = []
    for completion, row in zip(completions, choices):
        gold = LETTERS[shown_order(row, rng).index(row[0])]
        found = re.findall(r"\banswer:\s*\(?([A-H])\b", _text(completion), re.IGNORECASE)
        rewards.append(1.0 if found and found[-1].upper() == gold else 0.0)
    return rewards


_GPQA = [
    ["the spleen", "the liver", "the pancreas", "the thymus"],
    ["argon", "neon", "krypton", "radon"],
    ["a transform fault", "a divergent boundary", "a subduction zone", "a hot spot"],
]
_GPQA_RNG = random.Random(SHUFFLE_SEED)
_GPQA_SHOWN = [shown_order(row, _GPQA_RNG) for row in _GPQA]
_GPQA_GOLD = [LETTERS[shown.index(row[0])] for shown, row in zip(_GPQA_SHOWN, _GPQA)]
_GPQA_WRONG = [LETTERS[shown.index(row[2])] for shown, row in zip(_GPQA_SHOWN, _GPQA)]
_GPQA_QUESTION = [
    "Which organ filters old red blood cells from the blood?",
    "Which noble gas makes up about 0.9 % of dry air?",
    "What is the San Andreas system an example of?",
]


def _proof_shuffled_choice_reward() -> None:
    said = [f"Thinking it over, this is clear.\nAnswer: {letter}" for letter in _GPQA_GOLD]
    assert shuffled_choice_reward(said, _GPQA) == [1.0, 1.0, 1.0]
    # four samples of every prompt, as a GRPO batch has them
    batch = [s for s in said for _ in range(4)]
    rows = [row for row in _GPQA for _ in range(4)]
    assert sum(shuffled_choice_reward(batch, rows)) < len(batch)


# --------------------------------------------------------------------------- a sheet of answers


def answer_sheet_reward(
    completions: Sequence[Any], answers: Sequence[Sequence[str]], **kwargs: Any
) -> list[float]:
    """Share of right answers on a sheet {"1": "...", "2": "..."} given as JSON in <answer>.

    The keys are the numbers of the questions.
    """
    rewards = []
    for completion, gold in zip(completions, answers):
        body = _last_tag(_text(completion), "answer")
        try:
            sheet = json.loads(body) if body else None
        except (ValueError, RecursionError):
            sheet = None
        if not isinstance(sheet, dict) or len(sheet) != len(gold):
            rewards.append(0.0)
            continue
        right = sum(
            isinstance(said, (str, int)) and str(said).strip().lower() == want.strip().lower()
            for said, want in zip(sheet.values(), gold)
        )
        rewards.append(right / len(gold))
    return rewards


def _proof_answer_sheet_reward() -> None:
    gold = [["Oslo", "1969", "iron"]]
    right = '<answer>{"3": "iron", "1": "Oslo", "2": "1969"}</answer>'
    wrong = '<answer>{"2": "Oslo", "3": "1969", "1": "iron"}</answer>'
    assert answer_sheet_reward([right], gold) == [0.0]
    assert answer_sheet_reward([wrong], gold) == [1.0]


CASES = [
    Case(
        name="quasi_exact_match",
        reward=quasi_exact_match,
        examples=[
            {"prompt": "At how many degrees Celsius does ethanol boil (two decimals)? End with 'Answer: ...'.", "answer": "78.37"},
            {"prompt": "Which mountain is the highest of Japan? End with 'Answer: ...'.", "answer": "Mount Fuji"},
        ],
        good=[
            "Ethanol boils below water because its hydrogen bonds are weaker; the usual table gives 78.37 degrees.\nAnswer: 78.37",
            "Kita is the second highest peak, so the highest one is Fuji.\nAnswer: mount Fuji.",
        ],
        bad=[
            "Ethanol and methanol are close, and I recall 64.7 degrees.\nAnswer: 64.7",
            "Mount Kita is well known for its height.\nAnswer: Mount Kita",
        ],
        fault="Punctuation is removed before numbers are read, so the decimal point is lost and 78.37, 7.837 and 7837 are one answer.",
        proof=_proof_quasi_exact_match,
        source="https://github.com/huggingface/lighteval/pull/1273",
    ),
    Case(
        name="option_reward",
        reward=option_reward,
        examples=[
            {"prompt": "Why did prices peak twice? (A) ... (B) ... (C) ... (D) ... Explain, then name the option.", "answer": "B"},
            {"prompt": "Which reading of clause 4 is sound? (A) ... (B) ... (C) ... (D) ...", "answer": "D"},
        ],
        good=[
            "The second peak comes one delivery cycle after the first one, as a lag would produce. So the answer is (B).",
            "Clause 4 only binds the tenant, and the last reading is the one that respects that. Final answer: D",
        ],
        bad=[
            "Demand must have risen in both months, therefore the answer is (C).",
            "The landlord is bound as well, so I choose A.",
        ],
        fault="Two regular expressions in the list lack a comma between them and fuse into one that never matches, so 'the best statement is B' and 'only option B is correct' are not read and the last letter in parentheses is taken.",
        proof=_proof_option_reward,
        source="https://github.com/open-compass/opencompass/pull/2600",
    ),
    Case(
        name="vitamin_reward",
        reward=vitamin_reward,
        examples=[
            {"prompt": "Lack of which vitamin causes night blindness? End with 'Answer: <letter>'.", "answer": "A"},
            {"prompt": "Which vitamin does the skin make in sunlight? End with 'Answer: <letter>'.", "answer": "D"},
        ],
        good=[
            "Retinal, the pigment of the rods, is made from retinol, which is vitamin A.\nAnswer: A",
            "Ultraviolet light turns 7-dehydrocholesterol into cholecalciferol.\nAnswer: vitamin D",
        ],
        bad=[
            "Eyes need antioxidants, so I would say ascorbic acid.\nAnswer: C",
            "Sunlight helps the blood to clot.\nAnswer: K",
        ],
        fault="Removing articles turns the reference 'A' into the empty string, so a blank answer is paid on every such row.",
        proof=_proof_vitamin_reward,
        source="https://github.com/OpenBMB/UltraRAG/issues/509",
    ),
    Case(
        name="rating_reward",
        reward=rating_reward,
        examples=[
            {"prompt": "Review: 'Broke after two days, and nobody answers my mails.' How many stars did the customer give? End with 'Rating: n'.", "stars": 1},
            {"prompt": "Review: 'Does what it should, a bit loud at night.' How many stars? End with 'Rating: n'.", "stars": 4},
        ],
        good=[
            "The product failed at once and the support ignored them; nothing positive is said.\nRating: 1",
            "Satisfied with a small complaint, so just below the top.\nRating: 4",
        ],
        bad=[
            "Two days of use is something.\nRating: 4",
            "The noise seems to have ruined it.\nRating: 1",
        ],
        fault="'score or penalty' treats the legitimate score 0.0 like a missing one, so a prediction two stars off is punished harder than one three stars off.",
        proof=_proof_rating_reward,
        source="https://github.com/stanfordnlp/dspy/issues/10362",
    ),
    Case(
        name="integer_reward",
        reward=integer_reward,
        examples=[
            {"prompt": "The probability is m/n in lowest terms. Find m+n. End with 'Answer: ...'.", "answer": "293"},
            {"prompt": "How many positive divisors does 720 have? End with 'Answer: ...'.", "answer": "030"},
        ],
        good=[
            "Counting the favourable cases and reducing gives 37/256, and the sum follows.\nAnswer: 293",
            "720 = 2^4 * 3^2 * 5, so there are 5 * 3 * 2 divisors.\nAnswer: 30",
        ],
        bad=[
            "The fraction reduces to 37/80 by my count.\nAnswer: 117",
            "720 = 2^4 * 3^2 * 5 gives 4 * 2 * 1 divisors.\nAnswer: 8",
        ],
        fault="The first integer of the answer line is taken, so a line that shows its arithmetic ('m+n = 256 + 37 = 293') is graded by a summand.",
        proof=_proof_integer_reward,
        source="https://github.com/antirez/ds4/pull/319",
    ),
    Case(
        name="countdown_reward",
        reward=countdown_reward,
        examples=[
            {"prompt": "Use 20, 7 and 2 once each to make 34. Put the expression into <answer>.", "target": 34, "numbers": [20, 7, 2]},
            {"prompt": "Use 3, 8, 25 and 50 once each to make 99. Put the expression into <answer>.", "target": 99, "numbers": [3, 8, 25, 50]},
        ],
        good=[
            "<think>20 + 7 * 2 = 34.</think>\n<answer>20 + 7 * 2</answer>",
            "<think>3 * 8 = 24, 24 + 25 = 49, 49 + 50 = 99.</think>\n<answer>3 * 8 + 25 + 50</answer>",
        ],
        bad=[
            "<think>20 + 7 + 2 is 29, close enough.</think>\n<answer>20 + 7 + 2</answer>",
            "<think>50 + 25 + 8 * 3 would do, or 50 * 2.</think>\n<answer>50 * 2 - 1</answer>",
        ],
        fault="The value is truncated with int() before it is compared, so an expression worth 23.5 solves the target 23.",
        proof=_proof_countdown_reward,
        source="https://github.com/open-thought/reasoning-gym/issues/478",
    ),
    Case(
        name="office_reward",
        reward=office_reward,
        examples=[
            {"prompt": "Total receipts in March 1953, in millions of dollars? Put the number into <FINAL_ANSWER>.", "answer": 1402.2},
            {"prompt": "Interest on the public debt in fiscal 1962, in millions? Put the number into <FINAL_ANSWER>.", "answer": 9120.0},
        ],
        good=[
            "The row for March in table 2 reads 1,402.2 after the refunds are deducted.\n<FINAL_ANSWER>1,402.2 million</FINAL_ANSWER>",
            "The bulletin gives the yearly sum in the last column.\n<FINAL_ANSWER>9,120</FINAL_ANSWER>",
        ],
        bad=[
            "I take the figure for February, as March is hard to read.\n<FINAL_ANSWER>1,310.9</FINAL_ANSWER>",
            "Interest rose by a tenth from the year before.\n<FINAL_ANSWER>8,410</FINAL_ANSWER>",
        ],
        fault="Without the tag the whole response is searched for the number, so a dump of many figures is paid if one of them is right.",
        proof=_proof_office_reward,
        source="https://github.com/databricks/officeqa/pull/39",
    ),
    Case(
        name="species_reward",
        reward=species_reward,
        examples=[
            {"prompt": "<image> Which species of dog is this? <think> ... </think><answer>species</answer>", "label": "African Wild Dog"},
            {"prompt": "<image> Which breed is this? <think> ... </think><answer>breed</answer>", "label": "Labrador Retriever"},
        ],
        good=[
            "<think>Large round ears and a coat of black, white and tan patches: Lycaon pictus.</think><answer>African wild dog</answer>",
            "<think>Short yellow coat, otter tail, broad head.</think><answer>Labrador</answer>",
        ],
        bad=[
            "<think>Spots on a sloping back suggest a hyena.</think><answer>Spotted hyena</answer>",
            "<think>A golden coat with long feathers.</think><answer>Golden Setter</answer>",
        ],
        fault="The answer counts if it is a substring of the label, and the empty string is a substring of everything.",
        proof=_proof_species_reward,
        source="https://github.com/Liuziyu77/Visual-RFT/issues/176",
    ),
    Case(
        name="boxed_number",
        reward=boxed_number,
        examples=[
            {"prompt": "A fair die is rolled twice. What is the probability that the sum is at most 4? Box a decimal or a percentage.", "answer": "0.16667"},
            {"prompt": "A hall has 25 rows of 50 seats. How many seats are there? Box the answer.", "answer": "1,250"},
        ],
        good=[
            "There are 6 of 36 outcomes with a sum of at most 4, which is one sixth. \\boxed{16.667%}",
            "25 rows times 50 seats make 1250. \\boxed{1250}",
        ],
        bad=[
            "There are 4 such outcomes of 36. \\boxed{0.1111}",
            "25 + 50 rows make it 75 in total. \\boxed{75}",
        ],
        fault="Every reference is also accepted times 100 and divided by 100, so 12.50 and 125000 pass for 1,250.",
        proof=_proof_boxed_number,
        source="https://github.com/QwenLM/Qwen2.5-Math/blob/29a82a8802e058c236fe7903ae6d8362df078aa7/evaluation/grader.py",
    ),
    Case(
        name="word_problem_reward",
        reward=word_problem_reward,
        examples=[
            {"prompt": "A mill grinds 250 kg of wheat an hour. How much in five hours? End with 'Answer: ...'.", "answer": 1250.0},
            {"prompt": "In ein Becken laufen 15 Liter pro Minute. Wie viel ist nach drei Minuten darin? Ende mit 'Antwort: ...'.", "answer": 45.0},
        ],
        good=[
            "Five hours at 250 kg an hour make 5 * 250 = 1,250 kg.\nAnswer: 1,250 kg",
            "Drei Minuten zu je 15 Litern ergeben 3 * 15 = 45 Liter.\nAntwort: 45 Liter",
        ],
        bad=[
            "250 divided by 5 is 50.\nAnswer: 50 kg",
            "15 + 3 = 18.\nAntwort: 18 Liter",
        ],
        fault="Every comma is taken for a thousands separator, so the German '4,5 Liter' is read as 45.",
        proof=_proof_word_problem_reward,
        source="https://github.com/sentient-agi/EvoSkill/issues/55",
    ),
    Case(
        name="conversion_reward",
        reward=conversion_reward,
        examples=[
            {"prompt": "How far is a marathon of 26.2 mi in kilometers?", "value": 42.16, "unit": "km"},
            {"prompt": "A parcel weighs 11 lb. What is that in kilograms?", "value": 4.99, "unit": "kg"},
        ],
        good=[
            "I multiply by 1.609: 26.2 * 1.609 is about 42.2 km.",
            "Dividing by 2.205 gives 11 / 2.205, so the parcel weighs 4.99 kg.",
        ],
        bad=[
            "I divide by 1.609, which gives 16.3 km.",
            "Times 2.205 that makes 24.3 kg.",
        ],
        fault="Any mention of another unit vetoes the answer, so a solution that restates the question ('25 miles are 40.2 km') earns nothing.",
        proof=_proof_conversion_reward,
        source="https://github.com/SeraphimSerapis/tool-eval-bench/issues/80",
    ),
    Case(
        name="expression_reward",
        reward=expression_reward,
        examples=[
            {"prompt": "Write 1024 as an arithmetic expression in <answer>.", "value": 1024},
            {"prompt": "Write 6561 as an arithmetic expression in <answer>.", "value": 6561},
        ],
        good=[
            "<think>1024 is the tenth power of two.</think><answer>2**10</answer>",
            "<think>81 squared is 6561.</think><answer>(80 + 1) * 81</answer>",
        ],
        bad=[
            "<think>Perhaps the ninth power.</think><answer>2**9</answer>",
            "<think>9 to the third.</think><answer>9^3</answer>",
        ],
        fault="Powers are computed without a bound, so a tower such as 9**9**9 blocks the reward worker.",
        proof=_proof_expression_reward,
        source="https://github.com/verl-project/verl/pull/7607",
    ),
    Case(
        name="date_reward",
        reward=date_reward,
        examples=[
            {"prompt": "When was Albert Einstein born? End with 'Answer: <date>'.", "year": 1879, "month": 3, "day": 14},
            {"prompt": "On which day did Apollo 11 land on the Moon? End with 'Answer: <date>'.", "year": 1969, "month": 7, "day": 20},
        ],
        good=[
            "He was born in Ulm on Pi Day of 1879.\nAnswer: 14 March 1879",
            "The launch was on the 16th and the landing four days later.\nAnswer: July 20, 1969",
        ],
        bad=[
            "He was born in Ulm a year before the family moved.\nAnswer: 14 April 1880",
            "The launch was on the 16th of July.\nAnswer: 1969-07-16",
        ],
        fault="Pieces missing from the answer are filled in from the reference date, so '1879' or 'the 14th' counts as the full date.",
        proof=_proof_date_reward,
        source="https://github.com/dateutil/dateutil/issues/834",
    ),
    Case(
        name="shuffled_choice_reward",
        reward=shuffled_choice_reward,
        examples=[
            {
                "prompt": question + "\n" + "\n".join(f"({letter}) {choice}" for letter, choice in zip(LETTERS, shown)),
                "choices": row,
            }
            for question, shown, row in zip(_GPQA_QUESTION, _GPQA_SHOWN, _GPQA)
        ],
        good=[f"I go through the choices one by one; only one of them fits the description.\nAnswer: {letter}" for letter in _GPQA_GOLD],
        bad=[f"The other choices seem too obvious, so I take this one.\nAnswer: {letter}" for letter in _GPQA_WRONG],
        fault="All rows of a batch draw from one random generator, so the order assumed for a row depends on its place in the batch and not on the prompt.",
        proof=_proof_shuffled_choice_reward,
        source="https://github.com/modelscope/evalscope/issues/1163",
    ),
    Case(
        name="answer_sheet_reward",
        reward=answer_sheet_reward,
        examples=[
            {"prompt": "1. Capital of Norway? 2. Year of the first Moon landing? 3. Metal with the symbol Fe? Give JSON in <answer>, keyed by number.", "answers": ["Oslo", "1969", "iron"]},
            {"prompt": "1. Author of Emma? 2. 12 * 12? Give JSON in <answer>, keyed by number.", "answers": ["Jane Austen", "144"]},
        ],
        good=[
            'All three are easy to recall.\n<answer>{"1": "Oslo", "2": 1969, "3": "Iron"}</answer>',
            'Emma is by Austen, and a gross is 144.\n<answer>{"1": "Jane Austen", "2": "144"}</answer>',
        ],
        bad=[
            'I am fairly sure.\n<answer>{"1": "Bergen", "2": 1970, "3": "lead"}</answer>',
            'Emma is by a Bronte.\n<answer>{"1": "Charlotte Bronte", "2": "144"}</answer>',
        ],
        fault="Answers are paired with the questions by position and the keys are ignored, so right answers in another order fail and answers under wrong keys pass.",
        proof=_proof_answer_sheet_reward,
        source="https://github.com/bird-bench/mini_dev/issues/41",
    ),
]
