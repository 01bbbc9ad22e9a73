"""Own texts: what the code of a reward mentions, and whether it reacts to it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rewardkit.check.variants.own_texts import own_texts, reacts
from tests.check.rewards import form, naive, number, subject


def polite(completions: list[str], **kwargs: Any) -> list[float]:
    """Wants a word that no text of the check has."""
    return [float("much obliged" in text) for text in completions]


def polite_three_times(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(text.count("much obliged") > 2) for text in completions]


def dated(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(re.search(r"\bon [A-D]\d{3}-[xyz]{2}\b", text) is not None) for text in completions]


def both(completions: list[str], **kwargs: Any) -> list[float]:
    return [float("qua quae" in text and "quod erat" in text) for text in completions]


def wordy(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(len(text.split()) > 15_000) for text in completions]


def constant(completions: list[str], **kwargs: Any) -> list[float]:
    """Mentions a word without looking for it."""
    return [0.5 if "much obliged" else 0.0 for _ in completions]


NONE: dict[str, Any] = {"examples": [{}], "good": [], "bad": []}


@pytest.mark.parametrize("reward", [polite, polite_three_times, dated, both, wordy])
def test_rewards_that_want_something_special_react(reward: Any) -> None:
    assert reacts(subject(reward, **NONE))


def test_a_constant_does_not_react() -> None:
    assert not reacts(subject(constant, **NONE))


@pytest.mark.parametrize("reward", [form, number, naive])
def test_rewards_that_pay_given_completions_react(reward: Any) -> None:
    assert reacts(subject(reward))


def test_texts_and_matches() -> None:
    texts = own_texts(subject(polite, **NONE))
    assert "much obliged" in texts
    assert "much obliged " * 5 in texts
    found = [text for text in own_texts(subject(dated, **NONE)) if re.search(r"\bon [A-D]\d{3}-[xyz]{2}\b", text)]
    assert found
    assert texts == own_texts(subject(polite, **NONE))
