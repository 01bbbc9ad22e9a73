"""Sound rewards of open tasks and of answers in several notations: correct completions are not called wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from rewardkit.testing import check_reward
from tests.check.rewards import assert_held

LAWS = (
    "gold_above_perturbed_gold",
    "only_answers_are_paid",
    "rows_differ",
    "reads_its_columns",
    "separates_good_from_bad",
    "gold_gets_the_maximum",
    "neighbors_do_not_leak",
    "improves_along_rankings",
    "errors_on_both_sides",
)


def value_of(text: str) -> Fraction | None:
    try:
        return Fraction(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        return None


def body(text: str) -> str:
    found = re.fullmatch(r"\s*<answer>([^<>]{1,99})</answer>\s*", text)
    return found.group(1) if found else ""


def in_any_notation(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    rows = zip(map(value_of, map(body, completions)), map(value_of, answer), strict=True)
    return [float(said is not None and said == gold) for said, gold in rows]


def even_above(completions: list[str], puzzle: list[str], **kwargs: Any) -> list[float]:
    scores = []
    for text, task in zip(map(body, completions), puzzle, strict=True):
        low = int(task.split()[-1])
        scores.append(float(text.isdecimal() and text.isascii() and int(text) % 2 == 0 and int(text) > low))
    return scores


def one_sentence(completions: list[str], max_words: list[int], **kwargs: Any) -> list[float]:
    rows = zip(completions, max_words, strict=True)
    return [float(4 <= len(text.split()) <= most and text.strip().endswith(".")) for text, most in rows]


def as_long_as_the_reference(completions: list[str], reference: list[str], **kwargs: Any) -> list[float]:
    rows = zip(completions, reference, strict=True)
    return [
        float(len(text.split()) == len(wanted.split()) and text[:1].isupper() and text.endswith("."))
        for text, wanted in rows
    ]


FRUITS = ("apple", "banana", "cherry", "mango", "pear")


def any_fruit(completions: list[str], example_fruit: list[str], **kwargs: Any) -> list[float]:
    return [float(text.strip().lower() in FRUITS) for text in completions]


def any_appliance_that_boils(completions: list[str], appliance: list[str], **kwargs: Any) -> list[float]:
    rows = zip(completions, appliance, strict=True)
    return [float(wanted in text.lower() and "liter" in text and len(text.split()) < 30) for text, wanted in rows]


def item_with_a_note(completions: list[str], order: list[str], **kwargs: Any) -> list[float]:
    """The note is free."""
    return [float(_items(text) == _items(gold) and bool(gold)) for text, gold in zip(completions, order, strict=True)]


def _items(text: str) -> tuple[Any, ...]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(value, dict) or set(value) != {"item", "count", "note"}:
        return ()
    return value["item"], value["count"], type(value["count"]), type(value["note"])


def rating(completions: list[str], rating: list[int], **kwargs: Any) -> list[float]:
    """A whole number from 1 to 10, with partial credit for a near one."""
    rows = zip(map(body, completions), rating, strict=True)
    return [max(0.0, 1 - abs(int(text) - gold) / 4) if re.fullmatch(r"[1-9]|10", text) else 0.0 for text, gold in rows]


def different_words(completions: list[str], **kwargs: Any) -> list[float]:
    return [min(1.0, len(set(re.findall(r"[a-z]{3,}", text.lower()))) / 8) for text in completions]


@dataclass(frozen=True)
class Open:
    reward: Callable[..., list[float]]
    examples: list[dict[str, Any]]
    good: list[str]
    bad: list[str]


ORDERS = ({"item": "lamp", "count": 3, "note": "red"}, {"item": "desk", "count": 1, "note": "wide"})
CASES = {
    "equal numbers": Open(
        in_any_notation,
        [{"answer": text} for text in ("1/2", "50%", "3")],
        [f"<answer>{text}</answer>" for text in ("1/2", "50%", "3")],
        [f"<answer>{text}</answer>" for text in ("2", "7", "4")],
    ),
    "any even number": Open(
        even_above,
        [{"puzzle": "an even number above 3"}, {"puzzle": "an even number above 5"}],
        ["<answer>10</answer>", "<answer>12</answer>"],
        ["<answer>9</answer>", "<answer>11</answer>"],
    ),
    "any sentence": Open(
        one_sentence,
        [{"max_words": 20}, {"max_words": 30}],
        ["Walk a mile in them today.", "Let there be light in here."],
        ["Buy", "Cheap"],
    ),
    "any sentence as long as the reference": Open(
        as_long_as_the_reference,
        [{"reference": "The river froze in the night."}, {"reference": "Dogs sleep under the old oaks."}],
        ["The river froze in the night.", "Dogs sleep under the old oaks."],
        ["no", "never"],
    ),
    "any fruit": Open(
        any_fruit, [{"example_fruit": "pear"}, {"example_fruit": "mango"}], ["pear", "mango"], ["oak", "ox"]
    ),
    "a sentence with a word": Open(
        any_appliance_that_boils,
        [{"appliance": "kettle"}, {"appliance": "samovar"}],
        ["A kettle boils a liter of water.", "My samovar holds one liter."],
        ["A kettle is hot.", "Water is wet."],
    ),
    "a free note": Open(
        item_with_a_note,
        [{"order": json.dumps(order)} for order in ORDERS],
        [json.dumps(order) for order in ORDERS],
        ["{}", "[]"],
    ),
    "whole numbers": Open(
        rating,
        [{"prompt": "Rate it from 1 to 10: dull", "rating": 3}, {"prompt": "Rate it from 1 to 10: fun", "rating": 8}],
        ["<answer>3</answer>", "<answer>8</answer>"],
        ["<answer>9</answer>", "<answer>1</answer>"],
    ),
    "any different words": Open(
        different_words,
        [{}, {}],
        ["Soft white snow falls over every quiet town tonight", "The wide blue sea rolls over sand and salt again"],
        ["sea", "snow"],
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("laws", [LAWS, pytest.param(("exploits",), marks=pytest.mark.slow)])
def test_nothing_that_may_be_right_is_called_wrong(name: str, laws: tuple[str, ...]) -> None:
    case = CASES[name]
    # The rows have references of the same length, and only the length counts.
    chosen = [law for law in laws if law != "reads_its_columns" or "reference" not in case.examples[0]]
    report = check_reward(case.reward, examples=case.examples, good=case.good, bad=case.bad, laws=chosen, budget=20.0)
    assert not report.findings, report


def test_rows_without_prompts_stay_texts() -> None:
    assert_held(
        in_any_notation,
        "neighbors_do_not_leak",
        examples=CASES["equal numbers"].examples,
        good=CASES["equal numbers"].good,
        bad=[],
    )
