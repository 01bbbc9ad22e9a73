"""Phrases: words of many languages become patterns that match them, and nothing else."""

from __future__ import annotations

import re

import pytest

from rewardkit.text.phrases import joining_words, words


@pytest.mark.parametrize(
    ("role", "text", "found"),
    [
        ("wrong", "falsch", True), ("wrong", "间違い", False), ("wrong", "間違い", True), ("minus", "минус", True),
        ("scale", "millionen", True), ("scale_mark", "লক্ষ", True), ("final", "yang benar", True),
        ("answer_alone", "คำตอบ", True), ("is", "است", False), ("not_last", "değildir", True),
    ],
)  # fmt: skip
def test_a_word_is_known_by_its_role(role: str, text: str, found: bool) -> None:
    assert bool(re.fullmatch(words(role), text)) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("41 oder 42", "oder"), ("41 order 42", None), ("41 या 42", "या"), ("41 याद 42", None), ("41还是42", "还是"),
        ("41 42", None), ("", None),
    ],
)  # fmt: skip
def test_words_that_join_are_whole_words_where_there_are_spaces(text: str, found: str | None) -> None:
    match = re.search(joining_words("or"), text)
    assert (match and match[0]) == found


@pytest.mark.parametrize("role", ["or", "and", "hearsay"])
def test_a_role_without_words_in_some_scripts_matches_no_empty_text(role: str) -> None:
    assert re.search(joining_words(role), " 42 ") is None
