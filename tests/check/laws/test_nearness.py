"""Laws of nearness: closer answers earn no less, and errors on both sides cost the same."""

from __future__ import annotations

import re
from typing import Any

import pytest

import rewardkit as rk
from tests.check.rewards import (
    BAD,
    GOOD,
    assert_held,
    assert_skipped,
    broken,
    closeness,
    number,
    outcome,
    tagged_number,
)

PRICES: dict[str, Any] = {
    "examples": [{"prompt": "What does it cost?", "answer": "120"}, {"prompt": "And now?", "answer": "2500"}],
    "good": ["<answer>120</answer>", "<answer>2500</answer>"],
    "bad": ["<answer>12</answer>", "<answer>90</answer>"],
}


def said(text: str) -> float:
    found = re.search(r"<answer>(-?\d+(?:\.\d+)?)</answer>", text)
    return float(found.group(1)) if found else float("nan")


def truncated(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Reads 42.9 as 42."""
    pairs = zip(map(said, completions), answer, strict=True)
    return [float(value == value and int(value) == int(gold)) for value, gold in pairs]


def one_sided(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Anything below the gold answer is near enough."""
    return [float(-1e9 < value - float(gold) < 2) for value, gold in zip(map(said, completions), answer, strict=True)]


def within_five_percent(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    pairs = zip(map(said, completions), map(float, answer), strict=True)
    return [float(abs(value - gold) <= 0.05 * abs(gold)) for value, gold in pairs]


def graded(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Partial credit that is highest for half the gold answer, but for the gold answer itself."""
    pairs = zip(map(said, completions), map(float, answer), strict=True)
    return [_grade(value, gold) for value, gold in pairs]


def _grade(value: float, gold: float) -> float:
    if value == gold:
        return 1.0
    return max(0.0, 0.9 - abs(abs(value - gold) / gold - 0.5)) if value == value else 0.0


@pytest.mark.parametrize(("reward", "paid"), [(truncated, "120.4"), (one_sided, "118")])
def test_an_error_that_is_free_on_one_side_is_found(reward: Any, paid: str) -> None:
    # The one-sided reward pays far numbers, too, which another law says.
    options = PRICES if reward is truncated else {**PRICES, "bad": ["<answer>900</answer>", "<answer>9000</answer>"]}
    (found,) = broken(reward, "errors_on_both_sides", **options)
    assert paid in found.completion
    assert "which is just as near" in found.why


@pytest.mark.parametrize("reward", [within_five_percent, number, tagged_number, rk.number("answer", tolerance=2.0)])
def test_tolerances_are_sound(reward: Any) -> None:
    assert_held(reward, "errors_on_both_sides", **PRICES)


def test_answers_that_are_no_numbers_are_skipped() -> None:
    rivers: dict[str, Any] = {"examples": [{"answer": "Danube"}], "good": ["Danube"], "bad": ["Rhine"]}
    assert_skipped(rk.exact("answer"), "errors_on_both_sides", "judges a numeric gold answer", **rivers)


def test_partial_credit_that_is_seen_has_to_rise_toward_the_gold_answer() -> None:
    (found,) = broken(graded, "improves_along_rankings", **PRICES)
    assert "closer to the gold answer" in found.why
    assert_held(closeness, "improves_along_rankings")
    assert_skipped(tagged_number, "improves_along_rankings", "rankings=[...]")
    assert GOOD != BAD


def test_a_scale_with_half_points() -> None:
    for words, is_asked in (("from 0 to 10", False), ("from 0 to 10 in steps of 0.5", True)):
        rows = [{"prompt": f"Grade it {words}.", "answer": gold} for gold in ("8", "30")]
        given: dict[str, Any] = {"examples": rows, "good": ["<answer>8</answer>", "<answer>30</answer>"]}
        result = outcome(truncated, "errors_on_both_sides", **given, bad=PRICES["bad"])
        assert (result.outcome == "broken") is is_asked
