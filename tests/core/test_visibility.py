"""Visibility: what a reader sees, without thinking, special tokens and what shows nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rewardkit.core.visibility import has_visible_character, spoken_text, stacked, unmasked, visible_text


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("42<|im_end|>", "42"), ("42<|im_end|>\n<|endoftext|>\n", "42"), ("42</s>", "42"), ("42<end_of_turn>\n", "42"),
        ("42<\uff5cend\u2581of\u2581sentence\uff5c>", "42"), ("a<b|>", "a<b|>"), ("<|im_end|>42", "<|im_end|>42"),
        ("</answer>", "</answer>"), ("x" * 500 + "</s>", "x" * 500), ("", ""),
    ],
)  # fmt: skip
def test_the_tokens_that_end_a_turn_are_not_spoken(text: str, spoken: str) -> None:
    assert spoken_text(text) == spoken


def test_visible_text_leaves_out_the_thinking() -> None:
    assert visible_text("<think>17?</think>18<|im_end|>") == "18"
    assert visible_text("a<think>b</think>c<think>d") == "c"


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert visible_text(text) in text
    assert text.startswith(spoken_text(text))
    unmasked(text)
    assert has_visible_character(f"{text}x")


@pytest.mark.parametrize(
    "masked", ["ＯＢＶＩＯＵＳＬＹ", "ob\u200bvious\u2060ly", "Obviously", "𝐨𝐛𝐯𝐢𝐨𝐮𝐬𝐥𝐲", "obv\u00adiously"]
)
def test_masks_are_taken_off(masked: str) -> None:
    assert unmasked(masked) == "obviously"


def test_composed_and_decomposed_letters_are_one() -> None:
    assert unmasked("caf\u00e9") == unmasked("cafe\u0301")
    assert unmasked("don\u2019t") == "don't"


def test_piled_marks_are_dropped_and_not_sorted() -> None:
    assert stacked("a" + "\u0301" * 31)
    assert not stacked("a" + "\u0301" * 30)
    assert unmasked("a" + "\u0301\u0316" * 100_000) == "a"
