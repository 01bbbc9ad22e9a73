"""Vocabulary: the tags, marks and words in a reward's code."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.reward_under_test.vocabulary import Mined, mine_reward, uses_argument

MARK = "@@final@@"
PATTERN = re.compile(r"<result>(\d+)</result>")
WORDS = {"greeting": ["good morning", "good evening"]}


def helper(text: str) -> bool:
    return text.startswith("=> ")


def plain(completions: list[str], **kwargs: Any) -> list[float]:
    """Says nothing about <docstring> tags."""
    labels = kwargs["label"]
    return [float(label in text and "####" in text) for text, label in zip(completions, labels, strict=True)]


def through_globals(completions: list[str], **kwargs: Any) -> list[float]:
    found = [float(MARK in text or bool(PATTERN.search(text)) or helper(text)) for text in completions]
    return found if WORDS else []


def closing_over(word: str) -> Callable[..., list[float]]:
    def inner(completions: list[str], **kwargs: Any) -> list[float]:
        return [float(word in text) for text in completions]

    return inner


def with_default(completions: list[str], mark: str = "!!end", **kwargs: Any) -> list[float]:
    return [float(text.endswith(mark)) for text in completions]


@dataclass
class Callable_:  # noqa: N801
    word: str = "sesame"

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [float(self.word in text or "hush" in text) for text in completions]

    def method(self, completions: list[str], **kwargs: Any) -> list[float]:
        return self(completions, **kwargs)


@rk.reward
def own(completion: str, answer: str) -> float:
    """1 where the text ends as it should."""
    return float(re.search(r"(?i)\btherefore\b", completion) is not None or completion.endswith("QED"))


def of(function: Callable[..., Any]) -> Mined:
    return mine_reward(rk.from_trl(function))


def test_constants_and_keys_but_no_docstrings() -> None:
    found = of(plain)
    assert "####" in found.texts
    assert "label" in found.names
    assert not any("docstring" in text for text in found.texts)
    assert found.tags == ()


def test_globals_helpers_and_compiled_patterns() -> None:
    found = of(through_globals)
    assert {MARK, "=> ", "good morning", "greeting"} <= set(found.texts)
    assert PATTERN.pattern in found.patterns
    assert found.tags == ("result",)
    assert "result" in found.words


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (closing_over("abracadabra"), "abracadabra"),
        (with_default, "!!end"),
        (Callable_(), "sesame"),
        (Callable_(), "hush"),
        (Callable_("bound").method, "bound"),
        (functools.partial(with_default, mark="~~~"), "~~~"),
    ],
)
def test_closures_defaults_objects_and_partials(function: Callable[..., Any], text: str) -> None:
    assert text in of(function).texts


def test_rewards_of_a_tree_and_the_settings_of_primitives() -> None:
    found = mine_reward(0.5 * own + rk.gate(when=rk.tags("thinking", "verdict"), then=rk.contains(all="in conclusion")))
    assert {"QED", "<thinking>", "in conclusion"} <= set(found.texts)
    assert {"thinking", "verdict"} <= set(found.tags)
    assert "therefore" in found.words
    assert not any("ends as it should" in text for text in found.texts)


def test_long_texts_and_blanks_are_left_out_and_what_recurs_ends() -> None:
    loop: list[Any] = ["loop", "  ", "x" * 200]
    loop.append(loop)
    assert set(of(with_loop(loop)).texts) <= {"loop", "inner"}


def with_loop(loop: list[Any]) -> Callable[..., Any]:
    def inner(completions: list[str], **kwargs: Any) -> list[float]:
        return [float(len(loop)) for _ in completions]

    return inner


def test_whether_an_argument_is_read() -> None:
    def reads(completion: str, answer: str) -> float:
        return float(completion == answer)

    def ignores(completion: str, answer: str) -> float:
        return float(bool(completion))

    def in_a_closure(completion: str, answer: str) -> float:
        return float(any(answer == word for word in completion.split()))

    assert uses_argument(reads, "answer")
    assert not uses_argument(ignores, "answer")
    assert uses_argument(in_a_closure, "answer")
    assert uses_argument(HandsOn(), "answer")
    assert uses_argument(len, "answer")  # unknown


class HandsOn:
    """Calls another function with all that it gets."""

    def __call__(self, **given: Any) -> float:
        return float(bool(given))
