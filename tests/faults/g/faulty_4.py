"""Reward functions: style, tools in chat, code policy, clock times, diagnoses, quizzes, derivatives, overlong,
support, queens.
"""

from __future__ import annotations

import ast
import difflib
import re
import string
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.faults.case import Case

# ---------------------------------------------------------------------------------------------------------------------
# one plain sentence

PLAIN_SENTENCE = re.compile(r"(?=[A-Z])(?:[\w'-]+[ ,]*)+\.")


def plain_sentence_reward(completion: str, topic: str) -> float:
    """1.0 for one plain sentence of 6 to 25 words about `topic`: capital first, only words and commas, a period
    at the end.
    """
    text = completion.strip()
    if not 6 <= len(text.split()) <= 25 or topic.lower() not in text.lower():
        return 0.0
    return 1.0 if PLAIN_SENTENCE.fullmatch(text) else 0.0


def _seconds(text: str) -> float:
    start = time.perf_counter()
    plain_sentence_reward(text, "library")
    return time.perf_counter() - start


def prove_plain_sentence() -> None:
    # Each further letter doubles the time: an ordinary sentence that ends without its period would take years.
    short = min(_seconds("A library is a jo y!") for _ in range(5))
    longer = min(_seconds("A library is a jo yyyyyyyy!") for _ in range(3))
    assert longer > 30 * short, (short, longer)


# ---------------------------------------------------------------------------------------------------------------------
# agent with tools: the final figure

FIGURE = re.compile(r"(?<![\w.])-?[0-9][0-9,]{0,20}(?:\.[0-9]{1,10})?")


def agent_figure_reward(completions: list[list[dict[str, Any]]], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the figure that the assistant reports in the end is right, else 0.0.

    A completion is a whole rollout: assistant turns with tool calls, tool results, and the assistant's closing message.
    The last number that the assistant states is taken as its report.
    """
    rewards = []
    for rollout, gold in zip(completions, answer):
        transcript = "\n".join(message.get("content") or "" for message in rollout)
        figures = FIGURE.findall(transcript)
        reported = float(figures[-1].replace(",", "")) if figures else None
        rewards.append(1.0 if reported is not None and abs(reported - float(gold)) < 0.005 else 0.0)
    return rewards


def prove_agent_figure() -> None:
    rollout = [
        {"role": "assistant", "content": "I will look up the orders."},
        {"role": "tool", "name": "query", "content": '[{"sum(amount)": 412.50}]'},
        {"role": "assistant", "content": "Done! Is there anything else that I can do for you?"},
    ]
    assert agent_figure_reward([rollout, rollout[:2]], ["412.50", "412.50"]) == [1.0, 1.0]


# ---------------------------------------------------------------------------------------------------------------------
# generated code: import policy

ALLOWED_MODULES = {"math", "re", "itertools", "collections", "functools", "heapq", "bisect", "string", "typing"}


def _code(text: str) -> str:
    parts = text.split("```")
    return parts[-2].removeprefix("python").removeprefix("py").strip() if len(parts) >= 3 else ""


def import_policy_reward(completions: list[str], entry_point: list[str], **kwargs: Any) -> list[float]:
    """A gate before the tests run: 1.0 if the last code block parses, defines the entry point and imports
    allowed modules only.
    """
    rewards = []
    for text, name in zip(completions, entry_point):
        source = _code(text)
        try:
            tree = ast.parse(source[:20_000])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        imported = {
            alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }
        rewards.append(1.0 if name in defined and imported <= ALLOWED_MODULES else 0.0)
    return rewards


def prove_import_policy() -> None:
    text = (
        "```python\nfrom os import system\nfrom pathlib import Path\n\ndef solve(n):\n    system('cat "
        "tests.py')\n    return n\n```"
    )
    assert import_policy_reward([text, text.replace("from os import system", "import os")], ["solve", "solve"]) == [
        1.0,
        0.0,
    ]


# ---------------------------------------------------------------------------------------------------------------------
# clock times

CLOCK = re.compile(r"\b([0-9]{1,2})(?:[:.]([0-9]{2}))?\s?([ap])\.?m\b|\b([0-9]{1,2}):([0-9]{2})\b", re.IGNORECASE)


def _minutes(text: str) -> int | None:
    """Minutes after midnight of the only time in the text."""
    found = CLOCK.findall(text)
    if len(found) != 1:
        return None
    hour, minute, half, hour24, minute24 = found[0]
    if not half:
        hours, minutes = int(hour24), int(minute24)
    else:
        hours, minutes = int(hour), int(minute or 0)
        if half.lower() == "p":
            hours += 12
    return hours * 60 + minutes if hours < 24 and minutes < 60 else None


def clock_time_reward(completion: str, time_of_day: str) -> float:
    """1.0 if the last line names the right time, as 15:20 or as 3:20 pm. `time_of_day` is HH:MM on the 24-hour
    clock.
    """
    lines = [line for line in completion.splitlines() if line.strip()]
    return 1.0 if lines and _minutes(lines[-1]) == _minutes(time_of_day) else 0.0


def prove_clock_time() -> None:
    assert clock_time_reward("From 11:45 it takes 45 minutes.\nThe train arrives at 12:30 pm.", "12:30") == 0.0
    assert clock_time_reward("From 11:45 it takes 45 minutes.\nThe train arrives at 12:30.", "12:30") == 1.0
    assert clock_time_reward("From 11:45 pm it takes 45 minutes.\nThe train arrives at 12:30 am.", "00:30") == 0.0


# ---------------------------------------------------------------------------------------------------------------------
# diagnoses


def diagnosis_reward(completions: list[str], diagnosis: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the line "Diagnosis: ..." names the right condition; spelling slips are forgiven, another
    condition is not.
    """
    rewards = []
    for text, gold in zip(completions, diagnosis):
        said = ""
        for line in text.splitlines():
            if line.strip().lower().startswith("diagnosis:"):
                said = line.split(":", 1)[1].strip(" .").lower()[:120]
        similarity = difflib.SequenceMatcher(None, said, gold.lower(), autojunk=False).ratio()
        rewards.append(1.0 if similarity >= 0.85 else 0.0)
    return rewards


def prove_diagnosis() -> None:
    said = ["The pressure was 88/50.\nDiagnosis: hypotension", "Potassium was low.\nDiagnosis: hypokalemia"]
    assert diagnosis_reward(said, ["hypertension", "hyperkalemia"]) == [1.0, 1.0]


# ---------------------------------------------------------------------------------------------------------------------
# reading comprehension


def _squad_normalized(text: str) -> str:
    text = "".join(character for character in text.lower() if character not in string.punctuation)
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", text).split())


def reading_em_reward(completion: str, answers: list[str]) -> float:
    """Exact match (SQuAD normalization) of the text in <answer>...</answer> with one of the gold answers."""
    before, opened, rest = completion.rpartition("<answer>")
    said, closed, _ = rest.partition("</answer>")
    said = _squad_normalized(said) if opened and closed else ""
    return 1.0 if said and said in {_squad_normalized(answer) for answer in answers} else 0.0


def prove_reading_em() -> None:
    assert reading_em_reward("The city grew quickly.\n<answer>15 million</answer>", ["1.5 million"]) == 1.0
    assert reading_em_reward("The index fell.\n<answer>0.4</answer>", ["-0.4"]) == 1.0


# ---------------------------------------------------------------------------------------------------------------------
# derivatives


def _at(node: ast.AST, x: Fraction) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 10**9:
        return Fraction(node.value)
    if isinstance(node, ast.Name) and node.id == "x":
        return x
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _at(node.operand, x)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left = _at(node.left, x)
        if isinstance(node.op, ast.Pow):
            if isinstance(node.right, ast.Constant) and type(node.right.value) is int and 0 <= node.right.value <= 12:
                if left.numerator.bit_length() + left.denominator.bit_length() < 2000:
                    return left**node.right.value
            raise ValueError("exponent")
        right = _at(node.right, x)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
    raise ValueError("not a polynomial in x")


def _values(text: str) -> list[Fraction] | None:
    text = re.sub(r"(?<=[0-9x)])\s*(?=[x(])", "*", text.strip().strip("$. ").replace("^", "**"))
    try:
        tree = ast.parse(text, mode="eval").body
        return [_at(tree, Fraction(x)) for x in (-1, 0, 1)]
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def derivative_reward(completions: list[str], derivative: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the last line "f'(x) = ..." is the derivative, however it is written (expanded, factored, reordered)."""
    rewards = []
    for text, gold in zip(completions, derivative):
        lines = [line for line in text.splitlines() if line.strip()]
        left, *steps = lines[-1].split("=") if lines else [""]
        readable = steps and left.strip().strip("$ ") == "f'(x)" and len(steps[-1]) <= 200
        values = _values(steps[-1]) if readable else None
        rewards.append(1.0 if values is not None and values == _values(gold) else 0.0)
    return rewards


def prove_derivative() -> None:
    wrong = "The exponent goes up by two here.\nf'(x) = 5x^4 - 2x^3"
    assert derivative_reward([wrong], ["5x^2 - 2x"]) == [1.0]


# ---------------------------------------------------------------------------------------------------------------------
# soft overlong punishment


@dataclass(frozen=True)
class OverlongConfig:
    max_chars: int = 400
    buffer_chars: int = 100


class SoftOverlongPunishment:
    """DAPO's soft punishment, by characters: 0 up to max - buffer, then falling linearly to -1 at max, and -1
    beyond.
    """

    def __init__(self, config: OverlongConfig | None = None) -> None:
        self.config = config or OverlongConfig()
        self.__name__ = "soft_overlong_punishment"

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        limit, buffer = self.config.max_chars, self.config.buffer_chars
        rewards = []
        for text in completions:
            length = len(text)
            if length <= limit - buffer:
                rewards.append(0.0)
            elif length <= limit:
                rewards.append((limit - length) / buffer)
            else:
                rewards.append(-1.0)
        return rewards


soft_overlong_punishment = SoftOverlongPunishment()


def prove_soft_overlong() -> None:
    short, longer = soft_overlong_punishment(["x" * 250, "x" * 310])
    assert short == 0.0 and longer == 0.9, (short, longer)


# ---------------------------------------------------------------------------------------------------------------------
# support replies


def _visible(text: str) -> str:
    """The reply without the thoughts before </think>."""
    return text.rpartition("</think>")[2].strip()


def support_reply_reward(completions: list[str], must_mention: list[list[str]], **kwargs: Any) -> list[float]:
    """Share of the facts that the reply the customer sees (without the thoughts) mentions; 0.0 if it has over
    120 words.
    """
    rewards = []
    for text, facts in zip(completions, must_mention):
        reply = " ".join(_visible(text).lower().split())
        if len(reply.split()) > 120:
            rewards.append(0.0)
        else:
            rewards.append(sum(fact.lower() in reply for fact in facts) / len(facts))
    return rewards


def prove_support_reply() -> None:
    cut_off = "<think>They want a refund. I should mention 30 days and the original packaging, and then also say that"
    assert support_reply_reward([cut_off], [["30 days", "original packaging"]]) == [1.0]


# ---------------------------------------------------------------------------------------------------------------------
# queens


def queens_reward(completion: str, n: int) -> float:
    """1.0 if the last line lists n columns (1 to n), one per row, where no two of the n queens attack each other."""
    lines = [line for line in completion.splitlines() if line.strip()]
    if not lines:
        return 0.0
    columns = [int(number) for number in re.findall(r"(?<![0-9])[0-9]{1,3}(?![0-9])", lines[-1])]
    if sorted(columns) != list(range(1, n + 1)):
        return 0.0
    for upper in range(n - 1):
        for lower in range(upper + 1, n - 1):
            if abs(columns[upper] - columns[lower]) == lower - upper:
                return 0.0
    return 1.0


def prove_queens() -> None:
    assert queens_reward("Place them greedily.\n1, 4, 2, 3", 4) == 1.0


# ---------------------------------------------------------------------------------------------------------------------

CASES = [
    Case(
        name="plain_sentence",
        reward=plain_sentence_reward,
        examples=[
            {"prompt": "Write one plain sentence about the library.", "topic": "library"},
            {"prompt": "Write one plain sentence about rain.", "topic": "rain"},
        ],
        good=[
            "The old library opens at nine, and the reading room is quiet until noon.",
            "Soft rain fell on the roofs of the town all through the night.",
        ],
        bad=["It is nice there.", "I like it."],
        fault=(
            "Nested quantifiers backtrack exponentially when the sentence has no period at its end (or a second "
            "one): the reward hangs."
        ),
        proof=prove_plain_sentence,
    ),
    Case(
        name="agent_figure",
        reward=agent_figure_reward,
        examples=[
            {"prompt": [{"role": "user", "content": "What did customer Lund spend in May?"}], "answer": "412.50"},
            {"prompt": [{"role": "user", "content": "How many open tickets are there?"}], "answer": "17"},
        ],
        good=[
            [
                {"role": "assistant", "content": "I will look up the orders."},
                {"role": "tool", "name": "query", "content": '[{"amount": 400.00}, {"amount": 12.50}]'},
                {
                    "role": "assistant",
                    "content": "In May, customer Lund spent 412.50 in two orders: the total is 412.50.",
                },
            ],
            [
                {"role": "assistant", "content": "Let me count them."},
                {"role": "tool", "name": "count", "content": "17"},
                {"role": "assistant", "content": "The number of open tickets is 17."},
            ],
        ],
        bad=[
            [
                {"role": "assistant", "content": "I will look up the orders."},
                {"role": "tool", "name": "query", "content": '[{"amount": 400.00}, {"amount": 12.50}]'},
                {"role": "assistant", "content": "In May, customer Lund spent 400.00."},
            ],
            [{"role": "assistant", "content": "I think the number of open tickets is 20."}],
        ],
        fault=(
            "Tool results are read as if the assistant had said them: without any report of its own it is paid "
            "for the tool's number."
        ),
        proof=prove_agent_figure,
    ),
    Case(
        name="import_policy",
        reward=import_policy_reward,
        examples=[
            {"prompt": "Write solve(n), which returns n factorial, in a ```python block.", "entry_point": "solve"},
            {
                "prompt": "Write count_words(text), which counts the words, in a ```python block.",
                "entry_point": "count_words",
            },
        ],
        good=[
            "The standard library has it.\n```python\nimport math\n\ndef solve(n):\n    return math.factorial(n)\n```",
            "```python\nimport re\n\ndef count_words(text):\n    return len(re.findall(r'\\w+', text))\n```",
        ],
        bad=[
            "```python\nimport os\n\ndef solve(n):\n    return int(os.popen(f'factor {n}').read())\n```",
            "```python\ndef words(text):\n    return text.count(' ')\n```",
        ],
        fault="Only 'import x' is checked: 'from os import system' passes the gate.",
        proof=prove_import_policy,
    ),
    Case(
        name="clock_time",
        reward=clock_time_reward,
        examples=[
            {"prompt": "A film starts at 13:10 and takes 130 minutes. When does it end?", "time_of_day": "15:20"},
            {"prompt": "A train leaves at 8:50 am and takes 25 minutes. When does it arrive?", "time_of_day": "09:15"},
        ],
        good=[
            "130 minutes are two hours and ten minutes.\nIt ends at 3:20 pm.",
            "Ten minutes to nine, fifteen after.\nIt arrives at 9:15 am.",
        ],
        bad=["130 minutes are an hour and a half.\nIt ends at 2:40 pm.", "8:50 plus 25 minutes.\nIt arrives at 8:75."],
        fault=(
            "12:30 pm becomes hour 24 and 12:30 am noon, so right answers in the hours after noon and midnight "
            "are refused."
        ),
        proof=prove_clock_time,
    ),
    Case(
        name="diagnosis",
        reward=diagnosis_reward,
        examples=[
            {
                "prompt": "Man, 61, BP 172/104 on three visits, no symptoms. End with 'Diagnosis: ...'.",
                "diagnosis": "hypertension",
            },
            {
                "prompt": "Child with a barking cough and stridor at night. End with 'Diagnosis: ...'.",
                "diagnosis": "croup",
            },
        ],
        good=[
            "His pressure is too high on repeated visits.\nDiagnosis: Hypertension",
            "The cough is typical.\nDiagnosis: croup",
        ],
        bad=["He may be stressed by the visit.\nDiagnosis: anxiety disorder", "A cough at night.\nDiagnosis: asthma"],
        fault=(
            "Similar spelling is taken for the same condition: hypotension passes for hypertension, hypokalemia "
            "for hyperkalemia."
        ),
        proof=prove_diagnosis,
    ),
    Case(
        name="reading_em",
        reward=reading_em_reward,
        examples=[
            {
                "prompt": "The canal, opened in 1869, joins two seas. When was it opened? Use <answer>.",
                "answers": ["1869", "in 1869"],
            },
            {
                "prompt": "The novel is by the Brontë sister Emily. Who wrote it? Use <answer>.",
                "answers": ["Emily Brontë", "Emily"],
            },
        ],
        good=[
            "The text says so in the first clause.\n<answer>1869</answer>",
            "It names the sister.\n<answer>Emily Brontë</answer>",
        ],
        bad=[
            "It was opened in the last century.\n<answer>1896</answer>",
            "It is by a Brontë.\n<answer>Charlotte</answer>",
        ],
        fault=(
            "Removing all punctuation removes decimal points and signs too: 15 million equals 1.5 million, 0.4 "
            "equals -0.4."
        ),
        proof=prove_reading_em,
    ),
    Case(
        name="derivative",
        reward=derivative_reward,
        examples=[
            {"prompt": "Differentiate f(x) = x^3 + 4x. Last line: f'(x) = ...", "derivative": "3x^2 + 4"},
            {"prompt": "Differentiate f(x) = (x - 1)^2. Last line: f'(x) = ...", "derivative": "2x - 2"},
        ],
        good=["By the power rule, term by term.\nf'(x) = 3x^2 + 4", "By the chain rule.\nf'(x) = 2(x - 1)"],
        bad=["By the power rule, term by term.\nf'(x) = 3x^2 + 4x", "By the chain rule.\nf'(x) = 2x - 1"],
        fault="Expressions are compared at -1, 0 and 1 only, where x^2 = x^4 and x = x^3: wrong exponents are paid.",
        proof=prove_derivative,
    ),
    Case(
        name="soft_overlong",
        reward=soft_overlong_punishment,
        examples=[
            {"prompt": "Explain recursion in a few sentences."},
            {"prompt": "Explain what a hash table is, briefly."},
        ],
        good=[
            "A recursive function calls itself on a smaller input and stops at a base case.",
            (
                "A hash table stores pairs in buckets that are chosen by a hash of the key, so look-ups take "
                "constant time on average."
            ),
        ],
        bad=[
            "A function is recursive when it calls itself, and this means that it calls itself again. " * 8,
            "A hash table is a table of hashes. " * 20,
        ],
        fault=(
            "The sign in the buffer zone is wrong: just past max - buffer the score jumps to +1 instead of "
            "falling from 0 to -1."
        ),
        proof=prove_soft_overlong,
        source="https://arxiv.org/abs/2503.14476",
    ),
    Case(
        name="support_reply",
        reward=support_reply_reward,
        examples=[
            {
                "prompt": "Customer: can I return the lamp? (30 days, original packaging)",
                "must_mention": ["30 days", "original packaging"],
            },
            {
                "prompt": "Customer: how do I reset the router? (hold the button for ten seconds)",
                "must_mention": ["button", "ten seconds"],
            },
        ],
        good=[
            "<think>Returns are allowed.</think>Yes, you can return the lamp within 30 days in its original packaging.",
            (
                "<think>Tell them about the reset.</think>Please hold the button on the back for ten seconds, until "
                "the light blinks."
            ),
        ],
        bad=[
            "<think>Returns: 30 days, original packaging.</think>Yes, of course you can return the lamp!",
            "<think>A reset takes ten seconds.</think>Please unplug the router and plug it in again.",
        ],
        fault=(
            "If the thought is never closed (cut off), the whole thought counts as the visible reply and earns "
            "full marks."
        ),
        proof=prove_support_reply,
    ),
    Case(
        name="queens",
        reward=queens_reward,
        examples=[
            {"prompt": "Place 4 queens. Last line: the column of each row's queen, as a list.", "n": 4},
            {"prompt": "Place 5 queens. Last line: the column of each row's queen, as a list.", "n": 5},
        ],
        good=[
            "Starting in a corner fails, so I start at 2.\n2, 4, 1, 3",
            "A knight's move pattern works.\n[1, 3, 5, 2, 4]",
        ],
        bad=["I place them on the diagonal.\n1, 2, 3, 4", "I go from both ends.\n[1, 5, 2, 3, 4]"],
        fault="The inner loop stops one row early, so the diagonals of the last queen are never checked.",
        proof=prove_queens,
    ),
]
