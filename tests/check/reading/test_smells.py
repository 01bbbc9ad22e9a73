"""Smells: what the code of a reward does that goes wrong on some inputs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.reading.smells import Smells, smells
from rewardkit.tree.conversion import tree_of
from tests.check.rewards import form, number, tagged_number

_WINDOW = 250
_TAIL = -400


def cuts(completions: list[str], **kwargs: Any) -> list[float]:
    return [float("x" in text[:300] or "y" in text[-120:] or "z" in text[60:90]) for text in completions]


def cuts_by_name(completions: list[str], **kwargs: Any) -> list[float]:
    return [float("x" in text[-_WINDOW:] or "y" in text[_TAIL:]) for text in completions]


def cuts_little(completions: list[str], **kwargs: Any) -> list[float]:
    size = len(completions)
    return [float("x" in text[:10] or "y" in text[1:-1] or "z" in text[:size] + text[7]) for text in completions]


def cuts_as_a_guard(completions: list[str], **kwargs: Any) -> list[float]:
    return [float("x" in text[:1_000_000] and "y" in text[:20_001]) for text in completions]


def strips(completions: list[str], **kwargs: Any) -> list[float]:
    said = [text.strip().lstrip("answer: ").rstrip(".!").strip("*_") for text in completions]
    return [float(text == "x") for text in said]


def makes_patterns(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    pairs = zip(completions, answer, strict=True)
    return [float(re.search(rf"\b{gold}\b", text) is not None) for text, gold in pairs]


def takes_patterns(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    pairs = zip(completions, answer, strict=True)
    return [float(re.search(gold, text) is not None) for text, gold in pairs]


def escapes(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    pairs = zip(completions, answer, strict=True)
    return [float(re.search(rf"\b{re.escape(gold)}\b", text) is not None) for text, gold in pairs]


def removes_articles(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(re.sub(r"\b(a|an|the)\b", "", text) == "x") for text in completions]


def counts_messages(completions: list[Any], **kwargs: Any) -> list[float]:
    return [float("x" in one[-1]["content"]) - float(len(one) > 500) for one in completions]


def counts_letters(completions: list[Any], **kwargs: Any) -> list[float]:
    said = [one[-1]["content"] for one in completions]
    return [float("x" in text) - float(len(text) > 500) for text in said]


def of(reward: Any) -> Smells:
    return smells(tree_of(reward, "a test"))


@pytest.mark.parametrize(
    ("reward", "wanted"),
    [
        (cuts, Smells(cuts=(300, 120, 60, 90))),
        (cuts_by_name, Smells(cuts=(250, 400))),
        (cuts_little, Smells()),
        (cuts_as_a_guard, Smells()),
        (strips, Smells(stripped=("answer: ",))),
        (makes_patterns, Smells(makes_patterns=True)),
        (takes_patterns, Smells(makes_patterns=True)),
        (escapes, Smells()),
        (removes_articles, Smells(removes_articles=True)),
        (counts_messages, Smells(counts_messages=True)),
        (counts_letters, Smells()),
        (tagged_number, Smells()),
    ],
)
def test_each_smell_by_itself(reward: Any, wanted: Smells) -> None:
    found = of(reward)
    assert replace(found, cuts=()) == replace(wanted, cuts=())
    assert set(found.cuts) == set(wanted.cuts)


def test_the_functions_of_a_tree_are_read_together() -> None:
    found = of(rk.weighted_sum({rk.reward(_cutting): 0.5, rk.reward(_stripping): 0.5}))
    assert found == Smells(cuts=(333,), stripped=("The ",))


def _cutting(completion: str) -> float:
    return float("x" in completion[:333])


def _stripping(completion: str) -> float:
    return float(completion.lstrip("The ") == "x")


def test_nothing_is_found_where_no_source_is_at_hand() -> None:
    assert of(number) == of(form) == Smells()
    namespace: dict[str, Any] = {}
    exec("def reward(completions, **kwargs):\n    return [float('x' in text[:300]) for text in completions]", namespace)
    assert of(namespace["reward"]) == Smells()
