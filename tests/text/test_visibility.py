"""Visible text: without thinking, special tokens and invisible characters."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.text.thinking import visible_text
from rewardkit.text.visibility import (
    beyond_ascii,
    has_visible_character,
    own_turn,
    replaced,
    shown,
    single_spaced,
    spoken_text,
    stacked,
    straight,
    unmasked,
)

TEXTS = (
    st.text() | st.text(st.characters(codec="ascii")) | st.text("aB `'\t\n\x00\x1c\x1f\x7f\x85\xa0\u2028\u0301\u0f73")
)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("42<|im_end|>", "42"), ("42<|im_end|>\n<|endoftext|>\n", "42"), ("42</s>", "42"), ("42<end_of_turn>\n", "42"),
        ("42<\uff5cend\u2581of\u2581sentence\uff5c>", "42"), ("a<b|>", "a<b|>"), ("<|im_end|>42", "<|im_end|>42"),
        ("</answer>", "</answer>"), ("x" * 500 + "</s>", "x" * 500), ("", ""),
        ("#### 42" + "<|endoftext|>" * 40, "#### 42"),
        ("42<pad><pad>", "42"), ("42[PAD] [PAD]\n", "42"), ("42 \n", "42 \n"), ("a[1]", "a[1]"), ("</s>" * 50_000, ""),
        ("42" + " </s>" * 30_000 + " " * 9_000, "42 "),
    ],
)  # fmt: skip
def test_the_tokens_that_end_a_turn_are_not_spoken(text: str, spoken: str) -> None:
    assert spoken_text(text) == spoken


class Searched(str):
    """Counts the characters that searches in it pass."""

    passed = 0

    def find(self, *arguments: Any) -> int:
        found = super().find(*arguments)
        self.passed += (len(self) if found < 0 else found) - (arguments[1] if len(arguments) > 1 else 0)
        return found

    def rfind(self, *arguments: Any) -> int:
        found, (_, start, end) = super().rfind(*arguments), arguments
        self.passed += end - max(found, start)
        return found


def test_many_struck_out_parts_are_passed_a_few_times_at_most() -> None:
    text = Searched("no" + "<s>no</s>" * 1_000)  # none of the tokens ends the turn, as each </s> has its <s>
    assert own_turn(text) == text
    assert text.passed < 10 * len(text)


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
    "masked",
    ["ＯＢＶＩＯＵＳＬＹ", "ob\u200bvious\u2060ly", "Obviously", "𝐨𝐛𝐯𝐢𝐨𝐮𝐬𝐥𝐲", "obv\u00adiously"]
    + [f"obv{hidden}iously" for hidden in "\ufe0f\u034f\u180b\U000e0100\u2800\u3164\x00\x7f\ud800\U0001d159"],
)
def test_masks_are_taken_off(masked: str) -> None:
    assert unmasked(masked) == "obviously"


def test_composed_and_decomposed_letters_are_one() -> None:
    assert unmasked("caf\u00e9") == unmasked("cafe\u0301")
    for apostrophe in "\u2018\u2019\u00b4\u02bc\uff07`'":
        assert unmasked(f"don{apostrophe}t") == "don't"
    assert unmasked("```x```") == "```x```"
    assert straight("don\u2019t") == "don't"


def test_runs_of_white_space_are_one_space() -> None:
    assert unmasked("In  conclusion") == unmasked("In\nconclusion") == unmasked("In\u3000conclusion") == "in conclusion"
    assert unmasked(" a") == " a"


def test_invisible_characters_are_dropped() -> None:
    assert shown("a\ufe0f\x00\u2800 \n\u200bb") == "a \nb"
    assert shown("e\u0301") == "e\u0301"
    assert shown("e\u0301", marks=False) == "e"
    assert not has_visible_character("\U0001d159")


def test_piled_marks_are_dropped_and_not_sorted() -> None:
    assert stacked("a" + "\u0301" * 31)
    assert not stacked("a" + "\u0301" * 30)
    assert unmasked("a" + "\u0301\u0316" * 100_000) == "a"


@given(TEXTS, st.booleans())
def test_whole_texts_are_cleaned_like_single_characters(text: str, marks: bool) -> None:
    joined = f"{text}\u00e9"  # not ASCII, so it goes the long way
    assert shown(joined, marks=marks) == f"{shown(text, marks=marks)}\u00e9"
    dropped = ("C",) if marks else ("C", "M")
    if text.isascii():
        kept = [one for one in text if one.isspace() or unicodedata.category(one)[0] not in dropped]
        assert shown(text, marks=marks) == "".join(kept)


@given(st.text(st.characters(exclude_categories=())))
def test_half_characters_are_read_like_all_others(text: str) -> None:
    assert beyond_ascii(text) == {character for character in text if not character.isascii()}
    assert shown(text) == "".join(map(shown, text))


@given(TEXTS)
def test_characters_are_replaced_as_translate_does(text: str) -> None:
    table = {"\u0301": "'", "\u2028": "\n", "B": "\x00", "`": ""}
    assert replaced(text, table) == text.translate({ord(old): new for old, new in table.items()})


@given(TEXTS)
def test_single_spaces_are_what_a_pattern_would_leave(text: str) -> None:
    assert single_spaced(text) == re.sub(r"\s{2,}|[^\S ]", " ", text)


@given(st.text("a\u0301\u0316\u0f73\u0e38", max_size=40), st.integers(0, 40))
def test_marks_are_counted_in_every_mix(text: str, more: int) -> None:
    piled = text + "\u0f73" * more
    runs = re.split("a", piled)
    assert stacked(piled) == any(len(run) > 30 for run in runs)
