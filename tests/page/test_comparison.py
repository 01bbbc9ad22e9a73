"""The word-by-word diff."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from rewardkit.page.comparison import LONGEST, MARKED, Comparison, compare

WORDS = st.lists(st.sampled_from(["a", "b", "c", "word", " ", "\n", ".", "<", "\u65e5"]), max_size=40).map("".join)


def joined(pieces: list[tuple[str, bool]]) -> str:
    return "".join(text for text, _ in pieces)


def kept(pieces: list[tuple[str, bool]]) -> str:
    return "".join(text for text, changed in pieces if not changed)


def test_changed_words_are_marked() -> None:
    found = compare("The answer is 42, since 6 times 7.", "The answer is 41, since 6 times 7.")
    assert found.left == [("The answer is ", False), ("42", True), (", since 6 times 7.", False)]
    assert found.right == [("The answer is ", False), ("41", True), (", since 6 times 7.", False)]


def test_white_space_between_two_changes_counts_as_changed() -> None:
    assert compare("one two three end", "six seven eight end").left == [("one two three", True), (" end", False)]


@given(WORDS, WORDS)
def test_joined_pieces_are_the_texts(left: str, right: str) -> None:
    found = compare(left, right)
    assert joined(found.left) == left
    assert joined(found.right) == right
    assert kept(found.left) == kept(found.right)


@given(WORDS)
def test_equal_texts_have_no_difference(text: str) -> None:
    assert compare(text, text) == Comparison([(text, False)] if text else [], [(text, False)] if text else [])


@given(WORDS, WORDS)
def test_marks_are_dropped_below_the_least_similarity(left: str, right: str) -> None:
    found = compare(left, right)
    shown = found.marked()
    assert 0.0 <= found.similarity <= 1.0
    assert shown.similar == (found.similarity >= MARKED)
    assert (joined(shown.left), joined(shown.right)) == (left, right)
    if not shown.similar:
        assert not any(changed for _, changed in [*shown.left, *shown.right])


def test_similarity_is_the_share_of_both_texts_that_is_equal() -> None:
    assert compare("one two", "one two").similarity == 1.0
    assert compare("", "").similarity == 1.0
    assert compare("abc", "xyz").similarity == 0.0
    assert compare("same words here", "same words there").similarity == 22 / 31


@pytest.mark.parametrize("vocabulary", [1, 2, 1_000, 1_000_000])
def test_long_texts_are_compared(vocabulary: int) -> None:
    drawn = random.Random(0)
    left = [str(drawn.randrange(vocabulary)) for _ in range(20_000)]
    right = [word if drawn.random() < 0.9 else "changed" for word in left]
    found = compare(" ".join(left), " ".join(right))
    assert found.compared
    assert joined(found.right) == " ".join(right)
    assert kept(found.left) == kept(found.right)
    if vocabulary > 100:
        assert len(kept(found.left)) > 0.7 * len(joined(found.left))


def test_very_long_texts_are_not_compared() -> None:
    text = "x" * (LONGEST // 2 + 1)
    assert compare(text, text) == Comparison([(text, False)], [(text, False)], compared=False)
