"""The law of confidence: scoring rules that pay for claiming more than one knows, and proper ones."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.check.rewards import GOOD, assert_held, assert_skipped, broken, number

LAW = "confidence_is_honest"
CITIES: dict[str, Any] = {
    "examples": [{"prompt": "On the Seine?", "answer": "Paris"}, {"prompt": "In Australia?", "answer": "Canberra"}],
    "good": ["Answer: Paris\nConfidence: 0.8", "Answer: Canberra\nConfidence: 0.6"],
    "bad": ["Answer: Lyon\nConfidence: 0.7", "Answer: Sydney\nConfidence: 0.9"],
}
PERCENT = {
    **CITIES,
    "good": ["Answer: Paris\nConfidence: 80%", "Answer: Canberra\nConfidence: 60%"],
    "bad": ["Answer: Lyon\nConfidence: 70%", "Answer: Sydney\nConfidence: 90%"],
}


def by_rule(rule: Callable[[bool, float], float]) -> Callable[..., list[float]]:
    """Make a reward of a scoring rule: (whether the answer is right, the stated confidence) -> score."""

    def calibrated(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        scores = []
        for text, gold in zip(completions, answer, strict=True):
            found = re.fullmatch(r"Answer: (\w+)\nConfidence: (\d+(?:\.\d+)?)(%?)", text)
            stated = float(found[2]) / (100 if found[3] else 1) if found else 2.0
            scores.append(rule(found[1] == gold, stated) if found and 0 < stated < 1 else -5.0)
        return scores

    return calibrated


brier = by_rule(lambda right, stated: 1 - (right - stated) ** 2)
logarithmic = by_rule(lambda right, stated: max(-4.0, math.log(stated if right else 1 - stated)))
linear = by_rule(lambda right, stated: 1 - abs(right - stated))
of_right_ones = by_rule(lambda right, stated: stated if right else 0.0)
upside_down = by_rule(lambda right, stated: (right - stated) ** 2)


@pytest.mark.parametrize("given", [CITIES, PERCENT], ids=["shares", "percent"])
@pytest.mark.parametrize("reward", [brier, logarithmic], ids=["brier", "logarithmic"])
def test_proper_rules_hold(reward: Any, given: dict[str, Any]) -> None:
    assert_held(reward, LAW, **given)


@pytest.mark.parametrize("given", [CITIES, PERCENT], ids=["shares", "percent"])
@pytest.mark.parametrize("reward", [linear, of_right_ones], ids=["linear", "of_right_ones"])
def test_rules_that_pay_for_certainty(reward: Any, given: dict[str, Any]) -> None:
    (found,) = broken(reward, LAW, **given)
    assert "correct in 70% of its answers scores highest on average if it states 95%" in found.why
    assert "95" in found.completion


def test_a_rule_with_the_wrong_sign() -> None:
    (found,) = broken(upside_down, LAW, **CITIES)
    assert "scores highest on average if it states 5%" in found.why


def test_where_it_does_not_apply() -> None:
    ignored = by_rule(lambda right, stated: float(right))
    assert_skipped(ignored, LAW, "no completion states a confidence that changes its score", **CITIES)
    assert_skipped(number, LAW, "no completion states a confidence")
    assert_skipped(brier, LAW, "no completion states a confidence", **{**CITIES, "bad": []})
    assert_skipped(number, LAW, "no correct completions", good=[], bad=GOOD)
