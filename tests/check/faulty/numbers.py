"""Numbers: how they are found, read, and compared with the gold number."""

from __future__ import annotations

import math
import re
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import number_in, tagged, visible

answer_tag = rk.extract.tag("answer")

CLIPS = [
    {"prompt": "Natalia sold 48 clips in April and half as many in May. How many in all?", "answer": "72"},
    {"prompt": "A robe takes 2 bolts of blue and half that much white fiber. How many bolts?", "answer": "3"},
]


def gsm8k_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 where the solution arrives at the gold number."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        text = visible(completion).replace(",", "")
        numbers = re.findall(r"-?\d+(?:\.\d+)?", text)
        scores.append(1.0 if str(gold).strip() in numbers else 0.0)
    return scores


@rk.reward
def within_a_cent(completion: str, amount: float) -> float:
    """1.0 where the tagged amount is right to the cent."""
    said = (answer_tag(completion) or "").strip().removeprefix("$").replace(",", "")
    try:
        value = float(said)
    except ValueError:
        return 0.0
    if abs(value - amount) > 0.005:
        return 0.0
    return 1.0


def error_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """The nearer, the better: minus the absolute error; a completion without a number costs a thousand."""
    rewards = []
    for completion, gold in zip(completions, answer, strict=True):
        said = tagged(completion) or ""
        try:
            value = float(said)
        except ValueError:
            rewards.append(-1000.0)
            continue
        if math.isnan(value):
            rewards.append(-1000.0)
            continue
        rewards.append(0.0 - abs(value - float(gold)))
    return rewards


@rk.reward
def soft_closeness(completion: str, answer: float) -> float:
    """1.0 at the gold number, falling smoothly with the relative error."""
    value = number_in(answer_tag(completion))
    if value is None:
        return 0.0
    error = abs(value - answer) / max(1.0, abs(answer))
    return 2.0 / (1.0 + math.exp(5.0 * error))


def relative_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Partial credit by relative error; an exact hit is settled first."""
    rewards = []
    for completion, gold in zip(completions, answer, strict=True):
        value, target = number_in(tagged(completion)), float(gold)
        if value is None:
            rewards.append(0.0)
        elif value == target:
            rewards.append(1.0)
        else:
            error = abs(value - target) / abs(target)
            rewards.append(0.8 * max(0.0, 1.0 - error))
    return rewards


def _plain(number: str) -> str:
    """The number as it would be typed: no dollar, no commas, no decimals that say nothing."""
    return number.strip().replace("$", "").replace(",", "").rstrip("0").rstrip(".")


@rk.reward
def same_amount(completion: str, answer: str) -> float:
    """1.0 where the tagged amount is the gold amount: $250, 250 and 250.00 are all the same."""
    said = answer_tag(completion)
    if said is None or number_in(said.replace("$", "")) is None:
        return 0.0
    return 1.0 if _plain(said) == _plain(answer) else 0.0


def hash_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """GSM8K: the integer after the last ``####``."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        _, mark, said = visible(completion).rpartition("####")
        said = said.strip().replace(",", "")
        if mark and said.isdigit():
            scores.append(1.0 if int(said) == int(gold) else 0.0)
        else:
            scores.append(0.0)
    return scores


def expression_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 where the tagged number or fraction (3/4 is as good as 0.75) is worth the gold value."""
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        said = tagged(completion)
        target = float(gold)
        try:
            value = float(eval(said or "None"))
        except Exception:
            scores.append(0.0)
            continue
        scores.append(1.0 if math.isclose(value, target, rel_tol=1e-6) else 0.0)
    return scores


@rk.reward
def estimate(completion: str, answer: float) -> float:
    """1.0 where the estimate is right to within half a unit."""
    value = number_in(answer_tag(completion))
    if value is None:
        return 0.0
    return 1.0 if value - answer <= 0.5 else 0.0


_RANGE = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?", re.ASCII)


def _pages(text: str) -> set[int]:
    """``"3-5, 8"`` is pages 3, 4, 5 and 8; unreadable parts are ignored."""
    pages: set[int] = set()
    for part in text.split(",")[:20]:
        span = _RANGE.fullmatch(part.strip())
        if span is None:
            return set()
        first = int(span[1])
        pages |= set(range(first, int(span[2] or first) + 1))
    return pages


@rk.reward
def cited_pages(completion: str, pages: str) -> float:
    """1.0 where exactly the gold pages are cited."""
    said = _pages(answer_tag(completion) or "")
    return 1.0 if said and said == _pages(pages) else 0.0


CASES = [
    Case(
        "any_number_counts",
        gsm8k_reward,
        CLIPS,
        ["48 / 2 = 24 and 48 + 24 = 72.\n#### 72", "Half of 2 is 1, so it takes 3 bolts.\n#### 3"],
        ["48 + 48 = 96.\n#### 96", "2 + 2 = 4.\n#### 4"],
        "Every number in the text counts, so counting from 1 to 1000 solves every problem.",
        "`answer in re.findall(...)` of GSM8K notebooks",
    ),
    Case(
        "nan_is_within_tolerance",
        within_a_cent,
        [
            {"prompt": "What do 3 pens at $1.20 cost?", "amount": 3.6},
            {"prompt": "What is 15% of $48?", "amount": 7.2},
        ],
        ["<answer>$3.60</answer>", "<answer>7.20</answer>"],
        ["<answer>$4.20</answer>", "<answer>6.90</answer>"],
        "NaN is not farther away than the tolerance, so the answer nan is paid.",
        "`if abs(a - b) > tol: return 0.0` in numeric graders",
    ),
    Case(
        "infinite_error",
        error_reward,
        CLIPS,
        ["<answer>72</answer>", "<answer>3</answer>"],
        ["<answer>96</answer>", "<answer>4</answer>"],
        "1e999 is read as infinity and scores minus infinity, which makes the advantages of its group NaN.",
        "minus the error as a reward",
    ),
    Case(
        "overflowing_exponential",
        soft_closeness,
        CLIPS,
        ["<answer>72</answer>", "<answer>3</answer>"],
        ["<answer>96</answer>", "<answer>4</answer>"],
        "math.exp raises OverflowError where the relative error is above 142.",
        "hand-written sigmoids",
    ),
    Case(
        "gold_zero_divides",
        relative_reward,
        [
            {"prompt": "What is 17 * 24?", "answer": "408"},
            {"prompt": "What is 12 - 12?", "answer": "0"},
        ],
        ["<answer>408</answer>", "<answer>0</answer>"],
        ["<answer>398</answer>", "I cannot say."],
        "A wrong number raises ZeroDivisionError where the gold number is 0.",
        "relative errors in numeric rewards",
    ),
    Case(
        "trailing_zeros_stripped",
        same_amount,
        [
            {"prompt": "Half of $500?", "answer": "250"},
            {"prompt": "What do 12 tickets at $100 cost?", "answer": "1200"},
        ],
        ["<think>500 / 2</think><answer>$250</answer>", "<think>12 * 100</think><answer>1,200</answer>"],
        ["<answer>$255</answer>", "<answer>1,210</answer>"],
        "rstrip('0') takes the zeros of whole numbers too, so 25 and 2500 are paid as 250.",
        "rstrip('0').rstrip('.') without a look for the decimal point",
    ),
    Case(
        "isdigit_then_int",
        hash_reward,
        CLIPS,
        ["48 + 24 = 72\n#### 72", "2 + 1 = 3\n#### 3"],
        ["48 + 48 = 96\n#### 96", "2 + 2 = 4\n#### 4"],
        "str.isdigit is true of superscripts and of 5,000 digits, on both of which int raises ValueError.",
        "`if text.isdigit(): int(text)`, the int_reward_func of many notebooks",
    ),
    Case(
        "answer_evaluated",
        expression_reward,
        [
            {"prompt": "What share of 8 slices are 6 slices?", "answer": "0.75"},
            {"prompt": "What is a fifth of two?", "answer": "0.4"},
        ],
        ["<answer>3/4</answer>", "<answer>2/5</answer>"],
        ["<answer>1/2</answer>", "<answer>5/2</answer>"],
        "eval runs whatever the policy writes: `target` is paid, 9**9**9 hangs, exit() ends the run.",
        "eval in countdown and arithmetic rewards",
    ),
    Case(
        "missing_absolute_value",
        estimate,
        [
            {"prompt": "About how many degrees Celsius are 100 degrees Fahrenheit?", "answer": "37.8"},
            {"prompt": "About how many kilometres are 10 miles?", "answer": "16.1"},
        ],
        ["<answer>38</answer>", "<answer>16</answer>"],
        ["<answer>55</answer>", "<answer>20</answer>"],
        "The difference has lost its abs, so every number that is too small is paid.",
        "tolerance checks typed from memory",
    ),
    Case(
        "ranges_expanded_in_memory",
        cited_pages,
        [
            {"prompt": "On which pages is the treaty discussed?", "pages": "3-5, 8"},
            {"prompt": "Which pages have maps?", "pages": "12, 40-42"},
        ],
        ["<answer>3-5, 8</answer>", "<answer>12, 40-42</answer>"],
        ["<answer>3-4</answer>", "<answer>12</answer>"],
        "A range in the answer is expanded into a set: 1-9999999 takes 14 characters and most of a gigabyte.",
        "citation and line-number rewards",
    ),
]
