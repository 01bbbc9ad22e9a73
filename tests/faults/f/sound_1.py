"""Cases about numbers, choices and structured output."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.faults.case import Case

# --------------------------------------------------------------------------------------
# Grade-school mathematics with the #### marker

_AMOUNT = re.compile(r"([-+]?) ?[$€£]? ?([-+]?)((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+) ?[%$€£]?")


def parse_marked_number(text: str) -> Decimal | None:
    """The number on the line after the last '####', None if that line holds anything but one number.

    Currency and percent signs, thousands separators, bold marks and a final full stop are fine; units are not,
    because '3 thousand' or '3 dozen' would change the value.
    """
    _, marker, tail = text.rpartition("####")
    lines = tail.strip().splitlines()
    if not marker or not lines or len(lines[0]) > 60:
        return None
    line = lines[0].replace("\u2212", "-").replace("\\$", "$").replace("\\%", "%").strip(" \t*").rstrip(".").rstrip(" *")
    m = _AMOUNT.fullmatch(line)
    if m is None or (m[1] and m[2]):
        return None
    value = Decimal(m[3].replace(",", ""))
    return -value if "-" in (m[1], m[2]) else value


def gsm_marker_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """GSM8K accuracy: 1.0 if the number after the last '####' equals the reference exactly, else 0.0."""
    golds = [Decimal(str(a).replace(",", "")) for a in answer]
    return [float(parse_marked_number(text) == gold) for text, gold in zip(completions, golds, strict=True)]


gsm_case = Case(
    name="gsm_marker",
    reward=gsm_marker_reward,
    examples=[
        {
            "prompt": "Natalia sold 48 clips in April and half as many in May. How many did she sell altogether? End with a line '#### <number>', without a unit.",
            "answer": "72",
        },
        {
            "prompt": "A car costs $18,500 and loses 10% of its value. What is it worth then, in dollars? End with a line '#### <number>', without a unit.",
            "answer": "16,650",
        },
    ],
    good=["In May she sold 48 / 2 = 24 clips, and 48 + 24 = 72 in both months.\n#### 72", "10% of 18,500 is 1,850, so it is worth 18,500 - 1,850.\n#### $16,650"],
    bad=["In May she sold 48 * 2 = 96 clips.\n#### 144", "10% of 18,500 is 185.\n#### 18315"],
)


# --------------------------------------------------------------------------------------
# Boxed answers

BOX = re.compile(r"\\boxed\s{0,3}\{")
UNITS = re.compile(r"(?<=[0-9}])(?:\\text|\\mathrm)\{(?:mm|cm|m|km|in|ft|g|kg|s|min|h|degrees|dollars|units?)(?:\^\{?[23]\}?)?\}(?:\^\{?[23]\}?)?$")
SPACING = re.compile(r"\\[,;:! ]|~|\\left|\\right|\\displaystyle|\\?\$|\\?%|\^\{?\\circ\}?")
INT = r"[0-9]{1,60}"
FRACTION = re.compile(rf"([-+]?)({INT})?\\frac\{{([-+]?{INT})\}}\{{([-+]?{INT})\}}")
SLASH = re.compile(rf"([-+]?)(?:({INT})\s+)?({INT})\s?/\s?({INT})")
DECIMAL = re.compile(rf"[-+]?(?:{INT})?(?:\.{INT})?")


def last_boxed(text: str, limit: int = 400) -> str | None:
    """Contents of the last \\boxed{...}, braces balanced; None if there is none or it does not end within the limit."""
    start = None
    for match in BOX.finditer(text):
        start = match.end()
    if start is None:
        return None
    depth, skip = 1, False
    for i in range(start, min(len(text), start + limit)):
        if skip:
            skip = False
        elif text[i] == "\\":
            skip = True
        elif text[i] == "{":
            depth += 1
        elif text[i] == "}":
            depth -= 1
            if depth == 0:
                return text[start:i]
    return None


def clean_latex(s: str) -> str:
    s = s.replace("\u2212", "-").replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac").replace("\\ ", " ")
    s = SPACING.sub("", s).strip().rstrip(".")
    s = re.sub(r"\s*(\\(?:text|mathrm)\{)\s*", r"\1", s)
    s = UNITS.sub("", s)
    s = re.sub(r"^[a-zA-Z]\s*=\s*", "", s).replace("{,}", ",")
    s = re.sub(r"\\frac\s*([0-9])\s*([0-9])(?![0-9])", r"\\frac{\1}{\2}", s)
    if re.fullmatch(r"[-+]?[0-9]{1,3}(,[0-9]{3}){1,12}(\.[0-9]{1,30})?", s):
        s = s.replace(",", "")
    return s


def to_rational(s: str) -> Fraction | None:
    """Exact value of an integer, decimal, fraction or mixed number."""
    compact = re.sub(r"\s+", "", s)
    m = FRACTION.fullmatch(compact) or SLASH.fullmatch(s.strip())
    if m:
        sign, whole, top, bottom = m.groups()
        if int(bottom) == 0 or (whole and (top + bottom).strip("0123456789")):
            return None
        value = int(whole or 0) + Fraction(int(top), int(bottom))
        return -value if sign == "-" else value
    if re.search(r"[0-9]\s+[0-9]", s) or not re.search(r"[0-9]", compact) or not DECIMAL.fullmatch(compact):
        return None
    return Fraction(compact)


def same_answer(said: str, gold: str) -> bool:
    said, gold = clean_latex(said), clean_latex(gold)
    a, b = to_rational(said), to_rational(gold)
    if a is not None and b is not None:
        return a == b
    return re.sub(r"\s+", "", said) == re.sub(r"\s+", "", gold) and not re.search(r"[0-9]\s+[0-9]", said)


def boxed_math_reward(prompts, completions, answer, **kwargs):
    """The last \\boxed{} against the reference: numbers by exact value (3/4 = 0.75 = \\frac{3}{4}), intervals and
    points by their LaTeX up to spacing."""
    rewards = []
    for completion, gold in zip(completions, answer):
        said = last_boxed(completion)
        rewards.append(1.0 if said is not None and same_answer(said, gold) else 0.0)
    return rewards


boxed_case = Case(
    name="boxed_math_values",
    reward=boxed_math_reward,
    examples=[
        {"prompt": "What is the probability of at least one head in two fair throws? Put the final answer in \\boxed{}.", "answer": "\\frac{3}{4}"},
        {"prompt": "Solve 2x + 9 = 5. Put the final answer in \\boxed{}.", "answer": "-2"},
        {"prompt": "Solve -3 <= 2x + 1 < 7 and give the solution set as an interval. Put the final answer in \\boxed{}.", "answer": "[-2,3)"},
    ],
    good=[
        "Only one of the four outcomes has no head, so the probability is $1 - \\tfrac14 = \\boxed{\\dfrac{3}{4}}$.",
        "$2x = 5 - 9 = -4$, hence $\\boxed{x = -2}$.",
        "Subtract one and halve: $-2 \\le x < 3$, that is $\\boxed{\\left[-2, 3\\right)}$",
    ],
    bad=["Each throw gives heads half of the time: $\\boxed{\\frac{1}{2}}$.", "$2x = 14$, hence $\\boxed{7}$.", "Subtract one and halve: $\\boxed{[-1, 3)}$"],
)


# --------------------------------------------------------------------------------------
# Multiple choice, strict


def final_letter_strict(completion: str, answer: str, options: str) -> float:
    """Strict multiple choice: the last non-empty line must be 'Answer: X' and nothing else, X one of `options`.

    Bold marks, brackets around the letter and a full stop are tolerated; a second letter or any other text is not.
    """
    lines = [line for line in completion.splitlines() if line.strip()]
    if not lines or len(lines[-1]) > 40:
        return 0.0
    label, colon, letter = lines[-1].replace("*", "").strip().partition(":")
    letter = letter.strip().rstrip(".").strip()
    if len(letter) == 3 and letter[0] + letter[2] in ("()", "[]"):
        letter = letter[1]
    if not colon or label.strip().lower() != "answer" or len(letter) != 1 or letter.upper() not in options:
        return 0.0
    return 1.0 if letter.upper() == answer else 0.0


final_letter_case = Case(
    name="mcq_last_line_strict",
    reward=final_letter_strict,
    examples=[
        {
            "prompt": "Which vitamin is made in the skin in sunlight?\nA) A\nB) B12\nC) C\nD) D\nThink step by step. The last line must be 'Answer: X' with the letter of your choice, nothing else.",
            "answer": "D",
            "options": "ABCD",
        },
        {
            "prompt": "Which gas do plants take up for photosynthesis?\nA) Oxygen\nB) Carbon dioxide\nC) Nitrogen\nThink step by step. The last line must be 'Answer: X' with the letter of your choice, nothing else.",
            "answer": "B",
            "options": "ABC",
        },
    ],
    good=[
        "Vitamins A, B12 and C come from food only. UV light turns a cholesterol derivative into vitamin D, which is option D.\n\nAnswer: D",
        "Photosynthesis turns carbon dioxide and water into sugar and oxygen.\n\n**Answer: B**",
    ],
    bad=["Vitamin C is known from fruit that ripens in the sun.\n\nAnswer: C", "Air is mostly nitrogen.\n\nAnswer: C"],
)


# --------------------------------------------------------------------------------------
# Multiple choice, lenient, chat


def message_text(completion: Sequence[Mapping[str, Any]]) -> str:
    """Text of the last message; content may be None (pure tool call) or a list of parts."""
    content = completion[-1].get("content") if completion else None
    if isinstance(content, list):
        return "".join(p.get("text") or "" for p in content if isinstance(p, dict))
    return content or ""


def option_key(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .*`\"'")


def chosen_index(line: str, choices: list[str]) -> int | None:
    """Index of the option that a line names by letter, by its full text, or by both (which must agree)."""
    by_text = [i for i, choice in enumerate(choices) if option_key(choice) == option_key(line)]
    if len(by_text) > 1:
        by_text = [i for i in by_text if choices[i].strip() == line.strip(" .*")]
    if len(by_text) == 1:
        return by_text[0]
    m = re.match(r"[\s*]{0,6}[(\[]?([A-Za-z])[)\]]?[\s*]{0,6}(?:[.)\]:\u2013-]|$)", line)
    if not m:
        return None
    index = ord(m[1].upper()) - ord("A")
    rest = line[m.end() :].strip(" .*\t")
    if index >= len(choices) or (rest and option_key(rest) != option_key(choices[index])):
        return None
    return index


def mcq_letter_or_text_reward(completions, choices, correct, **kwargs):
    """Multiple choice with any number of options up to 26. The first line after the last 'Final answer:' may give
    the letter, the text of the option, or 'B) text'. `correct` is the index of the right option."""
    rewards = []
    for completion, options, index in zip(completions, choices, correct):
        _, marker, tail = message_text(completion).rpartition("Final answer:")
        lines = tail.strip(" *\t\r\n").splitlines()
        picked = chosen_index(lines[0], options) if marker and lines and len(lines[0]) <= 300 else None
        rewards.append(1.0 if picked == index else 0.0)
    return rewards


mcq_lenient_case = Case(
    name="mcq_letter_or_text",
    reward=mcq_letter_or_text_reward,
    examples=[
        {
            "prompt": [{"role": "user", "content": "Which animal was the first with a sequenced genome?\nA) D. melanogaster\nB) H. sapiens\nC) C. elegans\nD) M. musculus\nEnd with 'Final answer: ...'."}],
            "choices": ["D. melanogaster", "H. sapiens", "C. elegans", "M. musculus"],
            "correct": 2,
        },
        {
            "prompt": [{"role": "user", "content": "Which word is an adverb?\nA) quick\nB) quickly\nC) quickness\nEnd with 'Final answer: ...'."}],
            "choices": ["quick", "quickly", "quickness"],
            "correct": 1,
        },
    ],
    good=[
        "The worm was finished in 1998, the fly and the human followed.\n\nFinal answer: C. elegans",
        "Adverbs of manner often end in -ly.\n\n**Final answer:** B) quickly",
    ],
    bad=["The fly is the classic model of genetics.\n\nFinal answer: A", "Quick describes a noun.\n\nFinal answer: A) quick"],
)


# --------------------------------------------------------------------------------------
# JSON fields


class _Rejected(ValueError):
    pass


def _no_constants(name: str) -> Any:
    raise _Rejected(name)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise _Rejected("duplicate key")
    return out


def same_json(a: Any, b: Any) -> bool:
    """JSON equality: 3 and 3.0 are one number, but true is not 1, null is not false and "3" is not 3."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_json(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same_json, a, b))
    return a == b


@dataclass
class JsonFieldsReward:
    """F1 over the fields of the extracted record (name and typed value must both be right, lists in the given order).

    The record is the last ```json block, or the whole completion if there is no block. Anything that is not a JSON
    object without duplicate keys gets 0.0.
    """

    max_chars: int = 20_000
    __name__: str = field(default="json_fields_reward", init=False)

    def read(self, text: str) -> dict[str, Any] | None:
        _, fence, rest = text.rpartition("```json")
        body = rest.partition("```")[0] if fence else text
        if len(body) > self.max_chars:
            return None
        try:
            value = json.loads(body, parse_constant=_no_constants, object_pairs_hook=_no_duplicates)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    def __call__(self, completions: list[str], record: list[dict[str, Any]], **kwargs: Any) -> list[float]:
        scores = []
        for text, gold in zip(completions, record, strict=True):
            found = self.read(text)
            if not found:
                scores.append(0.0)
                continue
            hits = sum(name in gold and same_json(value, gold[name]) for name, value in found.items())
            scores.append(2 * hits / (len(found) + len(gold)))
        return scores


json_fields_case = Case(
    name="json_record_f1",
    reward=JsonFieldsReward(),
    examples=[
        {
            "prompt": "Extract name, guests (number), vegetarian (true/false) as JSON in a ```json block: 'Table for one under Okafor, and no meat please.'",
            "record": {"name": "Okafor", "guests": 1, "vegetarian": True},
        },
        {
            "prompt": "Extract name, guests (number), allergies (list, in order of mention) as JSON in a ```json block: 'We are four, Lindqvist, one of us must avoid nuts and another shellfish.'",
            "record": {"name": "Lindqvist", "guests": 4, "allergies": ["nuts", "shellfish"]},
        },
    ],
    good=[
        'One guest, no meat.\n```json\n{"name": "Okafor", "guests": 1, "vegetarian": true}\n```',
        '```json\n{"allergies": ["nuts", "shellfish"],\n "guests": 4,\n "name": "Lindqvist"}\n```',
    ],
    bad=[
        'One guest.\n```json\n{"name": "Okafor", "guests": "one", "vegetarian": false}\n```',
        '```json\n{"name": "Lindqvist", "guests": 4, "allergies": "nuts and shellfish"}\n```',
    ],
)


# --------------------------------------------------------------------------------------
# Parallel tool calls, chat


def normal_form(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: normal_form(item) for key, item in value.items()}
    if isinstance(value, list):
        return [normal_form(item) for item in value]
    return value


def call_key(body: str) -> str | None:
    """One spelling for equal calls; None for what is no call."""
    if len(body) > 10_000:
        return None
    try:
        call = json.loads(body)
        if not isinstance(call, dict) or call.keys() != {"name", "arguments"} or not isinstance(call["arguments"], dict):
            return None
        return json.dumps(normal_form(call), sort_keys=True)
    except (ValueError, RecursionError, OverflowError):
        return None


def parallel_tools_reward(completions, calls, **kwargs):
    """1.0 if the assistant makes exactly the expected calls, each once, in any order (they run in parallel); else 0.0.

    The order of keys and the spelling of whole numbers (5 or 5.0) do not matter. Text around the calls is allowed.
    """
    rewards = []
    for completion, expected in zip(completions, calls):
        parts = message_text(completion).split("<tool_call>")[1:]
        made = [call_key(p.partition("</tool_call>")[0]) if "</tool_call>" in p else None for p in parts]
        wanted = Counter(call_key(json.dumps(c)) for c in expected)
        rewards.append(1.0 if None not in made and Counter(made) == wanted else 0.0)
    return rewards


_tool_system = {
    "role": "system",
    "content": 'Tools: convert(amount: number, source: string, target: string), weather(city: string). Call as <tool_call>{"name": ..., "arguments": {...}}</tool_call>; several calls run in parallel.',
}

parallel_tools_case = Case(
    name="parallel_tool_calls",
    reward=parallel_tools_reward,
    examples=[
        {
            "prompt": [_tool_system, {"role": "user", "content": "Is it warmer in Rome or in Cairo right now?"}],
            "calls": [{"name": "weather", "arguments": {"city": "Rome"}}, {"name": "weather", "arguments": {"city": "Cairo"}}],
        },
        {
            "prompt": [_tool_system, {"role": "user", "content": "How much are 250 euros in yen?"}],
            "calls": [{"name": "convert", "arguments": {"amount": 250, "source": "EUR", "target": "JPY"}}],
        },
    ],
    good=[
        'I need both cities.\n<tool_call>{"name": "weather", "arguments": {"city": "Cairo"}}</tool_call>\n<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>',
        'Let me convert that.\n<tool_call>\n{"name": "convert", "arguments": {"source": "EUR", "target": "JPY", "amount": 250.0}}\n</tool_call>',
    ],
    bad=[
        'Let me look at Rome.\n<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>',
        "250 euros are about 41,000 yen.",
    ],
)


# --------------------------------------------------------------------------------------
# Format only


def think_answer_format(completion: str) -> float:
    """Format-only reward (whether the answer is right is judged elsewhere).

    1.0 if the completion is exactly <think>...</think><answer>...</answer>: each tag once, in this order, nothing but
    white space around and between them, at least three words of thinking and a non-empty answer. Otherwise 0.0.
    """
    text = completion.strip()
    if any(text.count(tag) != 1 for tag in ("<think>", "</think>", "<answer>", "</answer>")):
        return 0.0
    if not text.startswith("<think>") or not text.endswith("</answer>"):
        return 0.0
    thought, _, rest = text.removeprefix("<think>").removesuffix("</answer>").partition("</think>")
    gap, opened, answer = rest.partition("<answer>")
    words = [w for w in thought.split() if any(c.isalnum() for c in w)]
    # languages without spaces: count letters instead
    enough = len(words) >= 3 or sum(c.isalnum() for c in thought) >= 20
    return 1.0 if opened and not gap.strip() and enough and any(c.isalnum() for c in answer) else 0.0


think_format_case = Case(
    name="think_answer_format",
    reward=think_answer_format,
    examples=[
        {"prompt": "What is the capital of Australia? Reply as <think>your reasoning</think><answer>your answer</answer>."},
        {"prompt": "Is 2^10 more than 1000? Reply as <think>your reasoning</think><answer>your answer</answer>."},
    ],
    good=[
        "<think>Sydney is the largest city, but the seat of government is Canberra.</think>\n<answer>Canberra</answer>",
        "<think>Two to the tenth is 1024, which is larger.</think>\n\n<answer>Yes</answer>\n",
    ],
    bad=["The capital of Australia is Canberra.", "<think>Two to the tenth is 1024.</think>\nYes, it is."],
)


# --------------------------------------------------------------------------------------
# Length penalty

EXPECTED_CHARS = 400
BUFFER_CHARS = 200


def soft_overlong_penalty(completions, **kwargs):
    """DAPO-style soft penalty for overlong responses, to be added to an accuracy reward.

    0.0 (the best) up to 400 characters, then linearly down to -1.0 at 600 characters, and -1.0 beyond.
    It never rewards length or content; a short or empty response is simply not penalized here.
    """
    excess = (max(0, len(text) - EXPECTED_CHARS) for text in completions)
    return [-min(1.0, e / BUFFER_CHARS) if e else 0.0 for e in excess]


overlong_case = Case(
    name="soft_overlong_penalty",
    reward=soft_overlong_penalty,
    examples=[
        {"prompt": "Explain in a short paragraph why the sky is blue."},
        {"prompt": "Explain in a short paragraph why ice floats."},
    ],
    good=[
        "Sunlight contains all colours. The molecules of the air scatter short waves much more strongly than long ones, so blue light reaches us from every direction of the sky.",
        "Water molecules form an open lattice when they freeze. The lattice takes more room than the liquid, so ice is less dense and floats.",
    ],
    bad=[
        "The sky is blue for a number of reasons that are worth going through one after another. " * 6,
        "Ice is a very interesting material, and there are a great many things to be said about it. " * 7,
    ],
)


# --------------------------------------------------------------------------------------
# Repetition penalty

# Ideographs, kana and Thai are written without spaces and count per character; other words are cut after 12
# characters, so that 'hahahaha...' is many tokens; every other visible character is a token of its own.
TOKEN = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|\w{1,12}?(?=[\u3040-\u30ff\u3400-\u9fff])|\w{1,12}|[^\w\s]")


def repeated_share(text: str, n: int = 4) -> float:
    tokens = TOKEN.findall(text.casefold())
    total = len(tokens) - n + 1
    if total <= 0:
        return 0.0
    distinct = len(set(zip(*(tokens[i:] for i in range(n)))))
    return 1.0 - distinct / total


class RepetitionPenalty:
    """Penalty for loops: minus the share of n-grams that have occurred before. Best 0.0, worst just above -1.0.

    White space is not looked at. Judges repetition only.
    """

    def __init__(self, n: int = 4, weight: float = 1.0):
        if n < 2 or not 0.0 < weight <= 1.0:
            raise ValueError("n >= 2 and 0 < weight <= 1 expected")
        self.n, self.weight = n, weight
        self.__name__ = f"repetition_penalty_{n}gram"

    def __call__(self, completion: str) -> float:
        return -self.weight * repeated_share(completion, self.n) or 0.0


repetition_case = Case(
    name="ngram_repetition_penalty",
    reward=RepetitionPenalty(),
    examples=[
        {"prompt": "Describe a thunderstorm in two or three sentences."},
        {"prompt": "用两句话描述秋天。"},
    ],
    good=[
        "The first gust bends the poplars before any drop has fallen. Then lightning cuts the valley in two, and rain drums on every roof at once.",
        "树叶渐渐变黄，在凉爽的风里慢慢飘落。清晨的田野盖着薄雾，远山显得格外安静。",
    ],
    bad=[
        "The rain falls and the rain falls and the rain falls and the rain falls and the wind blows and the wind blows.",
        "秋天很美，秋天很美，秋天很美，秋天很美，秋天很美，秋天很美。",
    ],
)


# --------------------------------------------------------------------------------------
# Forecasts


def brier_reward(completion: str, outcome: bool) -> float:
    """1 minus the Brier score of the stated probability, so honest probabilities are best in expectation.

    Read from the last line 'Probability: 0.73' (or '73%'). Without a readable probability the score is 0.0, which is
    also the score of being sure and wrong: silence never pays.
    """
    _, marker, tail = completion.rpartition("Probability:")
    lines = tail.strip().splitlines()
    if not marker or not lines or len(lines[0]) > 40:
        return 0.0
    m = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,12})?|\.[0-9]{1,12}) ?(%?)\.?", lines[0].strip(" *"))
    if not m:
        return 0.0
    p = float(m[1]) / (100.0 if m[2] else 1.0)
    if p > 1.0:
        return 0.0
    return 1.0 - (p - float(outcome)) ** 2


brier_case = Case(
    name="brier_forecast",
    reward=brier_reward,
    examples=[
        {"prompt": "Will at least one Atlantic hurricane form next season? Reason, then a last line 'Probability: <0 to 1>'.", "outcome": True},
        {"prompt": "Will Iceland win the next football world cup? Reason, then a last line 'Probability: <0 to 1>'.", "outcome": False},
    ],
    good=[
        "There has not been a season without a hurricane in decades.\nProbability: 1.0",
        "A small nation that has qualified once.\nProbability: 0",
    ],
    bad=["Forecasts a year ahead are hard.\nProbability: 0.4", "They play with a lot of heart.\nProbability: 55%"],
)


# --------------------------------------------------------------------------------------
# Sets of entities

LIST_LINE = re.compile(r"\s{0,8}(?:[-*\u2022+]|[0-9]{1,3}[.)])\s{1,8}(\S.*)")


def entity_key(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .,;:*_`\"'")


def listed_entities(completion: str) -> set[str]:
    found = (LIST_LINE.match(line) for line in completion.splitlines())
    return {key for m in found if m and (key := entity_key(m[1]))}


def entity_jaccard_reward(completions: list[str], entities: list[list[str]], **kwargs: Any) -> list[float]:
    """Jaccard similarity of the listed entities (one per list line) with the reference set.

    Order and repetitions do not matter; every entity that does not belong lowers the score.
    """
    scores = []
    for completion, gold in zip(completions, entities):
        said, wanted = listed_entities(completion), {entity_key(e) for e in gold}
        scores.append(len(said & wanted) / len(said | wanted) if said else 0.0)
    return scores


jaccard_case = Case(
    name="entity_set_jaccard",
    reward=entity_jaccard_reward,
    examples=[
        {"prompt": "List the persons in the text, one per line as '- name': 'Ada Lovelace wrote to Charles Babbage about Bernoulli numbers.'", "entities": ["Ada Lovelace", "Charles Babbage"]},
        {"prompt": "List the cities in the text, one per line as '- name': 'From São Paulo we flew to Lima, then to Quito.'", "entities": ["São Paulo", "Lima", "Quito"]},
    ],
    good=["The text names two persons:\n- Ada Lovelace\n- Charles Babbage", "- Lima\n- Quito\n- São Paulo"],
    bad=["- Ada Lovelace\n- Bernoulli", "- Lima\n- Brazil\n- Peru"],
)


# --------------------------------------------------------------------------------------
# Ordering


def kendall_reward(completions, order, **kwargs):
    """Put events in order, e.g. 'Order: C, A, B'. Score: share of pairs in the right order (1.0 exact, 0.0 reversed).

    Everything but a permutation of the given labels gets 0.0; a plan with left-out or doubled labels cannot be compared.
    """
    scores = []
    for text, gold in zip(completions, order):
        _, marker, tail = text.rpartition("Order:")
        lines = tail.strip(" *\r\n").splitlines()
        said = re.split(r",|->|>|\u2192", lines[0].strip(" .*`()[]")) if marker and lines and len(lines[0]) <= 500 else []
        said = [s.strip().upper() for s in said]
        if sorted(said) != sorted(gold) or len(gold) < 2:
            scores.append(0.0)
            continue
        place = {label: i for i, label in enumerate(said)}
        pairs = [(a, b) for i, a in enumerate(gold) for b in gold[i + 1 :]]
        scores.append(sum(place[a] < place[b] for a, b in pairs) / len(pairs))
    return scores


kendall_case = Case(
    name="event_order_kendall",
    reward=kendall_reward,
    examples=[
        {
            "prompt": "Order from earliest to latest: A) moon landing B) fall of the Berlin Wall C) end of World War II D) first iPhone. Reason, then 'Order: ...' with the letters.",
            "order": ["C", "A", "B", "D"],
        },
        {"prompt": "Order from earliest to latest: A) Renaissance B) Roman Empire C) French Revolution. Reason, then 'Order: ...' with the letters.", "order": ["B", "A", "C"]},
    ],
    good=["The war ended in 1945, then 1969, 1989 and 2007.\nOrder: C, A, B, D", "Antiquity, then the fifteenth century, then 1789.\n**Order:** B, A, C"],
    bad=["I take them as they come.\nOrder: D, A, B, C", "Going backwards in time.\nOrder: C, A, B"],
)


# --------------------------------------------------------------------------------------
# Sudoku


class MiniSudokuReward:
    """4x4 Sudoku. 1.0 if the grid in the last ``` block is a full solution that keeps every given digit, else 0.0.

    There is no partial credit, and the puzzle (rows such as '1..4') decides, not a stored solution: any valid
    completion is right.
    """

    __name__ = "mini_sudoku_reward"
    digits = frozenset("1234")

    def grid(self, completion: str) -> list[str] | None:
        parts = completion.split("```")
        if len(parts) < 3:
            return None
        block = parts[-2] if len(parts) % 2 else parts[-3]
        if len(block) > 400:
            return None
        rows = [re.sub(r"[\s|,]", "", line) for line in block.splitlines()]
        rows = [row for row in rows if row and not set(row) <= set("-+=") and row not in ("text", "plaintext")]
        return rows if len(rows) == 4 and all(len(row) == 4 and set(row) == self.digits for row in rows) else None

    def __call__(self, completion: str, puzzle: list[str]) -> float:
        rows = self.grid(completion)
        if rows is None:
            return 0.0
        kept = all(given in (".", cell) for line, row in zip(puzzle, rows) for given, cell in zip(line, row))
        columns = all(set(column) == self.digits for column in zip(*rows))
        boxes = all({rows[r + i][c + j] for i in (0, 1) for j in (0, 1)} == self.digits for r in (0, 2) for c in (0, 2))
        return 1.0 if kept and columns and boxes else 0.0


sudoku_case = Case(
    name="mini_sudoku",
    reward=MiniSudokuReward(),
    examples=[
        {"prompt": "Solve this 4x4 Sudoku:\n1..4\n..1.\n.1..\n4..1\nExplain, then give the full grid in a ``` block.", "puzzle": ["1..4", "..1.", ".1..", "4..1"]},
        {"prompt": "Solve this 4x4 Sudoku:\n..34\n3...\n...3\n43..\nExplain, then give the full grid in a ``` block.", "puzzle": ["..34", "3...", "...3", "43.."]},
    ],
    good=[
        "The first row lacks 2 and 3.\n```\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n```",
        "The top left box lacks 1, 2 and 4.\n```\n12|34\n34|12\n-----\n21|43\n43|21\n```",
    ],
    bad=[
        "Each row has all digits.\n```\n1 2 3 4\n2 3 1 4\n3 1 4 2\n4 2 3 1\n```",
        "Each row has all digits.\n```\n2 1 3 4\n3 4 2 1\n1 2 4 3\n4 3 1 1\n```",
    ],
)


# --------------------------------------------------------------------------------------
# Countdown


def leaves_and_value(node: ast.expr) -> tuple[list[int], Fraction]:
    """Integers used by an expression of + - * / and brackets, and its exact value; ValueError for anything else."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return [node.value], Fraction(node.value)
    if not isinstance(node, ast.BinOp):
        raise ValueError("only + - * / and whole numbers")
    left_leaves, left = leaves_and_value(node.left)
    right_leaves, right = leaves_and_value(node.right)
    if isinstance(node.op, ast.Add):
        value = left + right
    elif isinstance(node.op, ast.Sub):
        value = left - right
    elif isinstance(node.op, ast.Mult):
        value = left * right
    elif isinstance(node.op, ast.Div):
        value = left / right
    else:
        raise ValueError("operator")
    return left_leaves + right_leaves, value


def countdown_exact_reward(completions: list[str], numbers: list[list[int]], target: list[int], **kwargs: Any) -> list[float]:
    """Countdown, exact arithmetic. The last <answer> must hold one expression that uses every given number exactly
    once and equals the target ('... = target' may follow). 1.0 or 0.0."""
    rewards = []
    for text, given, goal in zip(completions, numbers, target):
        body, closed, _ = text.rpartition("<answer>")[2].partition("</answer>")
        body = " ".join(body.translate({0xD7: "*", 0xF7: "/", 0x2212: "-"}).split())
        expression, equals, stated = body.partition("=")
        ok = "<answer>" in text and bool(closed) and len(body) <= 150 and expression.isascii() and (not equals or stated.strip(" .") == str(goal))
        if ok:
            try:
                used, value = leaves_and_value(ast.parse(expression.strip(), mode="eval").body)
                ok = sorted(used) == sorted(given) and value == goal
            except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
                ok = False
        rewards.append(1.0 if ok else 0.0)
    return rewards


countdown_exact_case = Case(
    name="countdown_exact",
    reward=countdown_exact_reward,
    examples=[
        {"prompt": "Use 4, 7, 8 and 8, each once, with + - * / and brackets to make 24. Think, then <answer>expression</answer>.", "numbers": [4, 7, 8, 8], "target": 24},
        {"prompt": "Use 1, 3, 4 and 6, each once, with + - * / and brackets to make 24. Think, then <answer>expression</answer>.", "numbers": [1, 3, 4, 6], "target": 24},
    ],
    good=[
        "8 / 8 is 1, but then 4 * 7 - 1 is 27. With 7 - 8/8 = 6 I get 4 * 6.\n<answer>4 * (7 - 8 / 8)</answer>",
        "A fraction helps: 3/4 from 1 leaves a quarter, and 6 over a quarter is 24.\n<answer>6 ÷ (1 − 3 ÷ 4) = 24</answer>",
    ],
    bad=["7 and 8 make 15.\n<answer>7 + 8 + 8 + 4</answer>", "6 times 4.\n<answer>6 * 4</answer>"],
)


CASES = [
    gsm_case,
    boxed_case,
    final_letter_case,
    mcq_lenient_case,
    json_fields_case,
    parallel_tools_case,
    think_format_case,
    overlong_case,
    repetition_case,
    brier_case,
    jaccard_case,
    kendall_case,
    sudoku_case,
    countdown_exact_case,
]
