"""Reward functions: final lines, countdown, choices, records, keywords, tool calls, format, length, brevity,
redundancy.
"""

from __future__ import annotations

import ast
import json
import re
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.faults.case import Case

# ---------------------------------------------------------------------------------------------------------------------
# "#### 42" as the last line, strictly

HASH_LINE = re.compile(r"#### (-?)([0-9]{1,3}(?:,[0-9]{3}){1,10}|[0-9]{1,30})")


def strict_hash_line_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """GSM8K, strict: the last non-empty line has to be exactly "#### <integer>" with the right integer.

    Thousands commas are read; units, decimals, a period or anything else on that line make the answer invalid (0.0).
    """
    rewards = []
    for text, gold in zip(completions, answer):
        match = HASH_LINE.fullmatch(text.rstrip().rpartition("\n")[2].strip())
        said = int(match.group(1) + match.group(2).replace(",", "")) if match else None
        rewards.append(1.0 if said is not None and said == int(gold) else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# countdown


def _exact(node: ast.expr, used: Counter[int]) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used[node.value] += 1
        return Fraction(node.value)
    if not isinstance(node, ast.BinOp):
        raise ValueError("numbers, + - * / and brackets only")
    left, right = _exact(node.left, used), _exact(node.right, used)
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
    raise ValueError("operator not allowed")


def exact_countdown_reward(completion: str, numbers: list[int], target: int) -> float:
    """The numbers game. 1.0 if the expression in the last <answer>...</answer> makes `target`, 0.1 if it does
    not, else 0.0.

    An expression counts (0.1 or 1.0) only if it uses + - * / and brackets and each of `numbers` exactly once.
    Division is exact, intermediate results may be fractions or negative; a minus sign in front of a number is
    not allowed.
    """
    start = completion.rfind("<answer>")
    end = completion.find("</answer>", start)
    if start < 0 or end < 0 or end - start > 300:
        return 0.0
    expression = completion[start + len("<answer>") : end].strip().translate(str.maketrans("×÷−", "*/-"))
    if not re.fullmatch(r"[0-9+\-*/() ]+", expression):
        return 0.0
    used: Counter[int] = Counter()
    try:
        value = _exact(ast.parse(expression, mode="eval").body, used)
    except ZeroDivisionError:
        return 0.0
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0.0
    if used != Counter(numbers):
        return 0.0
    return 1.0 if value == target else 0.1


# ---------------------------------------------------------------------------------------------------------------------
# multiple choice, last answer line


def _chosen(text: str) -> str:
    for line in reversed(text.splitlines()):
        line = line.replace("*", "").strip()
        if line[:7].casefold() == "answer:":
            match = re.fullmatch(r"\(?([A-Ea-e])\)?\.?", line[7:].strip())
            return match.group(1).upper() if match else ""
    return ""


def last_choice_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the last "Answer:" line names the right option, -1.0 if it names another one, 0.0 if it names none.

    "Answer: B", "**Answer:** (b)" and "answer: B." are read. A line with two letters or with more text names none.
    """
    rewards = []
    for text, gold in zip(completions, answer):
        letter = _chosen(text)
        rewards.append(0.0 if not letter else 1.0 if letter == gold else -1.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# nested record as JSON, typed


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _equal_json(got: Any, want: Any) -> bool:
    if isinstance(want, bool) or isinstance(got, bool) or want is None or isinstance(want, str):
        return type(got) is type(want) and got == want
    if isinstance(want, (int, float)):
        return isinstance(got, (int, float)) and got == want
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(_equal_json(g, w) for g, w in zip(got, want))
    return isinstance(got, dict) and got.keys() == want.keys() and all(_equal_json(got[key], want[key]) for key in want)


def typed_record_reward(completion: str, record: dict[str, Any]) -> float:
    """1.0 if the reply is the gold record as JSON, bare or in the only ``` fence of the reply; else 0.0.

    Keys may come in any order and 2 equals 2.0, but true is not 1, "2" is not 2, and lists are ordered. Extra keys,
    keys that are given twice and NaN make the reply wrong.
    """
    parts = completion.split("```")
    if len(parts) not in (1, 3):
        return 0.0
    body = parts[len(parts) // 2].strip()
    if len(parts) == 3:
        body = body.removeprefix("json")
    try:
        got = json.loads(body, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return 0.0
    return 1.0 if _equal_json(got, record) else 0.0


# ---------------------------------------------------------------------------------------------------------------------
# keywords, F1 of sets


def _keyword_set(text: str) -> set[str]:
    for line in reversed(text.splitlines()):
        head, colon, rest = line.partition(":")
        if colon and head.replace("*", "").strip().casefold() == "keywords":
            return {" ".join(part.strip(" .*").casefold().split()) for part in rest.replace(";", ",").split(",")} - {""}
    return set()


def keyword_set_f1_reward(completions: list[str], keywords: list[list[str]], **kwargs: Any) -> list[float]:
    """F1 of two sets: the phrases on the last "Keywords:" line, and the gold keywords (case and spaces do not
    matter).
    """
    rewards = []
    for text, wanted in zip(completions, keywords):
        gold = {" ".join(word.casefold().split()) for word in wanted}
        said = _keyword_set(text)
        hits = len(said & gold)
        rewards.append(2.0 * hits / (len(said) + len(gold)) if hits else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# exactly one tool call


def _content(completion: Any) -> str:
    """Text of the last message of a chat completion (or the text itself)."""
    if isinstance(completion, str):
        return completion
    content = completion[-1].get("content") if completion else ""
    return content if isinstance(content, str) else ""


def single_tool_call_reward(completions: list[Any], call: list[dict[str, Any]], **kwargs: Any) -> list[float]:
    """1.0 if the turn makes exactly one tool call, and it is the gold call (name and arguments, JSON types included).

    Text around the call is free. No call, a second call, an unreadable or unclosed one, or further keys: 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, call):
        text = _content(completion)
        _, _, rest = text.partition("<tool_call>")
        body, closed, _ = rest.partition("</tool_call>")
        if text.count("<tool_call>") != 1 or text.count("</tool_call>") != 1 or not closed:
            rewards.append(0.0)
            continue
        try:
            made = json.loads(body, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        wanted = {"name": gold["name"], "arguments": gold["arguments"]}
        rewards.append(1.0 if _equal_json(made, wanted) else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# format only


def think_answer_format_reward(completions: list[str], **kwargs: Any) -> list[float]:
    """Format only, whatever the content: <think>...</think><answer>...</answer>, nothing else but white space around.

    Each of the four tags occurs once, in this order, and both parts hold more than white space.
    """
    tags = ("<think>", "</think>", "<answer>", "</answer>")
    rewards = []
    for completion in completions:
        rest = completion
        parts = []
        for tag in tags:
            before, found, rest = rest.partition(tag)
            parts.append(before if found else None)
        once = all(completion.count(tag) == 1 for tag in tags)
        if not once or any(part is None for part in parts) or rest.strip():
            rewards.append(0.0)
            continue
        outside, thought, between, answer = (str(part).strip() for part in parts)
        rewards.append(1.0 if thought and answer and not outside and not between else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# overlong penalty (best score 0)


@dataclass(frozen=True)
class LengthLimits:
    free_chars: int = 300
    max_chars: int = 500


class OverlongPenalty:
    """A penalty, not a reward: 0.0 up to `free_chars` characters, falling linearly to -1.0 at `max_chars`, -1.0 beyond.

    It looks at nothing but the length, so it has to be added to a reward for the content.
    """

    def __init__(self, limits: LengthLimits | None = None) -> None:
        self.limits = limits or LengthLimits()
        self.__name__ = "overlong_penalty"

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        free, most = self.limits.free_chars, self.limits.max_chars
        return [-min(1.0, max(0, len(text) - free) / (most - free)) + 0.0 for text in completions]


overlong_penalty = OverlongPenalty()

# ---------------------------------------------------------------------------------------------------------------------
# brevity among the right answers of a group


def _final_integer(text: str) -> int | None:
    match = re.fullmatch(r"Answer: ?(-?[0-9]{1,40})\.?", text.rstrip().rpartition("\n")[2].strip())
    return int(match.group(1)) if match else None


def group_brevity_reward(prompts: list[Any], completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Right answers only, shorter ones preferred *within the samples of the same prompt*; it is group-relative
    by design.

    Wrong: 0.0. Right: 1.0 for the shortest right sample of the prompt, 0.5 for the longest right one, linear in
    between. The last line has to be "Answer: <integer>".
    """
    keys = [json.dumps(prompt, sort_keys=True) for prompt in prompts]
    right = [_final_integer(text) == int(gold) for text, gold in zip(completions, answer)]
    lengths: dict[str, list[int]] = defaultdict(list)
    for key, text, is_right in zip(keys, completions, right):
        if is_right:
            lengths[key].append(len(text))
    spans = {key: (min(found), max(found)) for key, found in lengths.items()}
    rewards = []
    for key, text, is_right in zip(keys, completions, right):
        if not is_right:
            rewards.append(0.0)
            continue
        low, high = spans[key]
        rewards.append(1.0 - 0.5 * (len(text) - low) / (high - low) if high > low else 1.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# redundancy, by compression


def redundancy_penalty(completions: list[str], **kwargs: Any) -> list[float]:
    """Penalty in [-1, 0] for text that repeats itself, measured with zlib: 0.0 if it shrinks to 25 % or more,
    else falling.

    Ordinary prose shrinks to 35 to 60 %. Texts of under 400 bytes are not judged (0.0), as are all other
    qualities.
    """
    rewards = []
    for text in completions:
        raw = text.encode("utf-8", errors="replace")
        if len(raw) < 400:
            rewards.append(0.0)
            continue
        ratio = len(zlib.compress(raw, 6)) / len(raw)
        rewards.append(-max(0.0, 1.0 - ratio / 0.25) + 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------

PROSE = (
    "A sourdough starter is a culture of wild yeasts and lactic bacteria in flour and water. Feed it "
    "once a day, keep it at room "
    "temperature, and discard half before each meal so that it does not outgrow the jar. After about a "
    "week it doubles within six "
    "hours; from then on you may bake with it, or slow it down in the fridge. If grey liquid gathers on "
    "top, it is only hungry, whereas "
    "pink streaks mean that something else has moved in, and you had better begin again with a clean glass."
)

CASES = [
    Case(
        name="strict_hash_line",
        reward=strict_hash_line_reward,
        examples=[
            {"prompt": "Ann packs 12 boxes of 85 nails. How many nails? End with '#### <integer>'.", "answer": "1020"},
            {
                "prompt": "Ben had 14 coins and lost 20 in a bet. What is his balance? End with '#### <integer>'.",
                "answer": "-6",
            },
        ],
        good=["12 * 85 = 1020 nails.\n#### 1,020", "14 - 20 = -6, so he owes six.\n#### -6"],
        bad=["12 * 85 = 920 nails.\n#### 920", "20 - 14 = 6.\n#### 6"],
    ),
    Case(
        name="exact_countdown",
        reward=exact_countdown_reward,
        examples=[
            {
                "prompt": "Make 24 from 3, 3, 8, 8, each used once, with + - * /. Expression in <answer></answer>.",
                "numbers": [3, 3, 8, 8],
                "target": 24,
            },
            {
                "prompt": "Make 19 from 3, 8, 5, each used once, with + - * /. Expression in <answer></answer>.",
                "numbers": [3, 8, 5],
                "target": 19,
            },
        ],
        good=[
            "8/3 is 2.67, and 3 minus that is 1/3.\n<answer>8 / (3 - 8 / 3)</answer>",
            "24 - 5 works.\n<answer>3 × 8 − 5</answer>",
        ],
        bad=["Three eights are 24.\n<answer>3 * 8 + 3 - 8</answer>", "8 and 5 and 3.\n<answer>8 + 5 + 3</answer>"],
    ),
    Case(
        name="last_choice",
        reward=last_choice_reward,
        examples=[
            {
                "prompt": "Which gas do plants take in? A) oxygen B) nitrogen C) carbon dioxide. End with 'Answer: X'.",
                "answer": "C",
            },
            {"prompt": "Which is a noble gas? A) argon B) chlorine C) hydrogen. End with 'Answer: X'.", "answer": "A"},
        ],
        good=["In photosynthesis they bind carbon.\n**Answer:** C", "Argon has a full outer shell.\nanswer: (a)"],
        bad=["They need air to live.\nAnswer: A", "Both B and C are gases.\nAnswer: B"],
    ),
    Case(
        name="typed_record",
        reward=typed_record_reward,
        examples=[
            {
                "prompt": "As JSON (title, year, tags, lent): 'Solaris, 1961, science fiction, currently lent out'",
                "record": {"title": "Solaris", "year": 1961, "tags": ["science fiction"], "lent": True},
            },
            {
                "prompt": "As JSON (item, size with w and h, note): 'Frame, 30 x 40.5 cm, no note'",
                "record": {"item": "Frame", "size": {"w": 30, "h": 40.5}, "note": None},
            },
        ],
        good=[
            'Here it is:\n```json\n{"year": 1961, "title": "Solaris", "tags": ["science fiction"], "lent": true}\n```',
            '{"item": "Frame", "size": {"w": 30.0, "h": 40.5}, "note": null}',
        ],
        bad=[
            '```json\n{"year": "1961", "title": "Solaris", "tags": ["science fiction"], "lent": true}\n```',
            '{"item": "Frame", "size": "30 x 40.5", "note": ""}',
        ],
    ),
    Case(
        name="keyword_set_f1",
        reward=keyword_set_f1_reward,
        examples=[
            {
                "prompt": "Keywords of: 'Bees navigate by polarized light.' End with 'Keywords: ...'.",
                "keywords": ["bees", "navigation", "polarized light"],
            },
            {
                "prompt": "Keywords of: 'Glaciers in Patagonia are melting.' End with 'Keywords: ...'.",
                "keywords": ["glaciers", "Patagonia"],
            },
        ],
        good=[
            "It is about insects.\nKeywords: Bees, polarized light, navigation",
            "Climate and ice.\n**Keywords:** glaciers; patagonia",
        ],
        bad=[
            "It is about insects.\nKeywords: insects, light, bees",
            "Climate and ice.\nKeywords: climate, ice, ice, ice",
        ],
    ),
    Case(
        name="single_tool_call",
        reward=single_tool_call_reward,
        examples=[
            {
                "prompt": [{"role": "user", "content": "Book a table for four at Osteria Nove on Friday."}],
                "call": {
                    "name": "book_table",
                    "arguments": {"restaurant": "Osteria Nove", "people": 4, "day": "Friday"},
                },
            },
            {
                "prompt": [{"role": "user", "content": "Mute the alarm."}],
                "call": {"name": "mute", "arguments": {"device": "alarm"}},
            },
        ],
        good=[
            (
                'Let me book that.\n<tool_call>{"name": "book_table", "arguments": {"restaurant": "Osteria Nove", '
                '"day": "Friday", "people": 4}}</tool_call>'
            ),
            '<tool_call>\n{"name": "mute", "arguments": {"device": "alarm"}}\n</tool_call>',
        ],
        bad=[
            (
                '<tool_call>{"name": "book_table", "arguments": {"restaurant": "Osteria Nove", "day": "Friday", '
                '"people": "four"}}</tool_call>'
            ),
            "Sure, I have muted the alarm for you.",
        ],
    ),
    Case(
        name="think_answer_format",
        reward=think_answer_format_reward,
        examples=[
            {"prompt": "What is 3 + 4? Use <think></think> and <answer></answer>."},
            {"prompt": "Name a prime above 20. Use <think></think> and <answer></answer>."},
        ],
        good=[
            "<think>Three and four make seven.</think>\n<answer>7</answer>",
            "<think>\n21 = 3 * 7, 22 is even, 23 has no divisor.\n</think>\n<answer>\n23\n</answer>\n",
        ],
        bad=["Three and four make seven.\n<answer>7</answer>", "<answer>23</answer><think>It has no divisor.</think>"],
    ),
    Case(
        name="overlong_penalty",
        reward=overlong_penalty,
        examples=[{"prompt": "What is a monad? Keep it short."}, {"prompt": "What is a quine? Keep it short."}],
        good=[
            (
                "A monad is a type of computations that can be chained: it wraps a value and says how to feed it to "
                "the next step."
            ),
            "A quine is a program that prints its own source code without reading it.",
        ],
        bad=[
            "A monad is a monoid in the category of endofunctors, of course. " * 7,
            "A quine is a program, and a program is a text. " * 12,
        ],
    ),
    Case(
        name="group_brevity",
        reward=group_brevity_reward,
        examples=[
            {"prompt": "What is 17 * 6? End with 'Answer: n'.", "answer": "102"},
            {"prompt": "How many days do three weeks have? End with 'Answer: n'.", "answer": "21"},
        ],
        good=["10 * 6 = 60 and 7 * 6 = 42, together 102.\nAnswer: 102", "3 * 7 = 21.\nAnswer: 21"],
        bad=["10 * 6 + 7 = 67.\nAnswer: 67", "3 * 5 = 15.\nAnswer: 15"],
    ),
    Case(
        name="redundancy_penalty",
        reward=redundancy_penalty,
        examples=[{"prompt": "How do I keep a sourdough starter?"}, {"prompt": "Tell me about sourdough starters."}],
        good=[PROSE, PROSE.replace("jar", "bowl")],
        bad=[
            "Feed the starter once a day with flour and water. " * 40,
            "Sourdough is good. And so on, and so on. " * 60,
        ],
    ),
]
