"""Sensitivity: the parts of a right completion on which its score depends, and the shortest text that is still paid."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.check.completion.parsed_completion import Part, Span, atoms_of, parts_of, unrelated
from rewardkit.check.reward_under_test.judgment import judged
from rewardkit.check.reward_under_test.sensitivity import essence, essential_parts, with_part
from tests.check.rewards import form, naive, number, raises_on_empty, subject


@given(st.text(max_size=80))
def test_parts_are_in_order_and_do_not_overlap(text: str) -> None:
    parts = parts_of(text)
    assert all(one.span.end <= other.span.start for one, other in pairwise(parts))
    for part in parts:
        assert part.span.of(text) == part.text
    words = [part.text for part in parts if part.kind == "word"]
    assert not any(re.search(r"[\W\d_]", word) for word in words)


def test_numbers_and_words() -> None:
    text = "In 1,000 Fällen 3.5e2 or x2"
    assert [(part.text, part.kind) for part in parts_of(text)] == [
        ("In", "word"),
        ("1,000", "number"),
        ("Fällen", "word"),
        ("3.5e2", "number"),
        ("or", "word"),
        ("x", "word"),
    ]


@given(st.from_regex(r"[A-Za-z]{1,9}|[A-Z]{1,9}|[A-Z][a-z]{1,9}", fullmatch=True))
def test_an_unrelated_word_has_the_same_form(word: str) -> None:
    other = unrelated(Part(Span(0, len(word)), word, "word"))
    assert other.lower() != word.lower()
    assert len(other) == len(word)
    assert (other.isupper(), other[:1].isupper()) == (word.isupper(), word[:1].isupper())


@given(st.from_regex(r"-?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]{1,3})?", fullmatch=True))
def test_an_unrelated_number_has_other_digits(number: str) -> None:
    other = unrelated(Part(Span(0, len(number)), number, "number"))
    assert re.sub(r"\d", "0", other) == re.sub(r"\d", "0", number)
    assert all(one != two for one, two in zip(other, number, strict=True) if one.isdigit())


@pytest.mark.parametrize(
    ("reward", "wanted"),
    [(number, ["think", "answer", "42", "answer"]), (naive, []), (form, ["think", "think", "answer", "answer"])],
    ids=["number", "naive", "form"],
)
def test_the_parts_that_matter(reward: Any, wanted: list[str]) -> None:
    one = subject(reward, good=["<think>42 of 6</think><answer>42</answer>", "<think>3+4</think><answer>7</answer>"])
    right = judged(one)[0]
    found = essential_parts(one, right)
    assert [part.text for part in found] == wanted
    assert all(not right.paid(one.see([right.trial(with_part(right, part, "x"))])[0]) for part in found)
    assert essential_parts(one, right) is found


@pytest.mark.parametrize(
    ("reward", "wanted"), [(naive, "42"), (number, "<answer>42</answer>")], ids=["naive", "number"]
)
def test_the_essence_is_what_is_still_paid(reward: Any, wanted: str) -> None:
    one = subject(reward)
    right = judged(one)[0]
    assert essence(one, right) == wanted
    assert right.paid(one.see([right.trial(wanted)])[0])


def test_a_reward_that_raises_on_shorter_texts() -> None:
    one = subject(raises_on_empty, good=["It is 42", "It is 7"], bad=["It is 41", "It is 8"])
    assert essence(one, judged(one)[0]) == "42"
    assert [part.text for part in essential_parts(one, judged(one)[0])] == ["42"]


def test_long_completions_are_left_alone() -> None:
    long = f"<think>{'so ' * 1_000}</think><answer>42</answer>"
    one = subject(number, good=[long, "<answer>7</answer>"])
    right = judged(one)[0]
    assert (essence(one, right), essential_parts(one, right)) == (long, [])


def test_atoms_of_cells() -> None:
    assert atoms_of({"a": [1, None, {"b": " x "}], 2: ("y", True)}) == ["a", "1", "b", "x", "2", "y"]
    assert atoms_of(None) == atoms_of(False) == atoms_of([]) == []
    assert (atoms_of(2.5), atoms_of({"z"})) == (["2.5"], ["z"])
