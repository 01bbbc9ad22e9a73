"""Finding the gold answer in a right completion, and replacing it."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from rewardkit.check.completion.parsed_completion import ParsedCompletion, Span, anatomy_of, as_number, replaced

READ = frozenset({"answer"})
FRAMES = ("{}", "<think>hm</think><answer>{}</answer>", "It is \\boxed{{{}}}.", "steps\n#### {}", "Final answer: {}")
WORDS = st.from_regex(r"[A-Za-z]{2,9}( [A-Za-z]{2,9}){0,2}", fullmatch=True).filter(
    lambda text: not {"hm", "it", "is", "steps", "final", "answer", "boxed", "think"} & set(text.lower().split())
)
NUMBERS = st.integers(-(10**9), 10**9).map(str) | st.decimals(-1000, 1000, places=2).map(str)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def of(text: str, value: Any = "42") -> ParsedCompletion:
    return anatomy_of(text, {"answer": value}, READ)


@given(gold=WORDS | NUMBERS, frame=st.sampled_from(FRAMES))
def test_saying_replaces_all_gold_answers(gold: str, frame: str) -> None:
    text = frame.format(gold)
    anatomy = of(text, gold)
    assert (anatomy.column, anatomy.value, anatomy.gold) == ("answer", gold, gold)
    assert anatomy.saying(gold) == anatomy.answering(gold) == anatomy.with_region(gold) == text
    assert anatomy.marked == (frame != "{}")
    assert anatomy.saying("@") == frame.format("@")
    assert of(anatomy.saying("@"), gold).places == ()


@given(text=st.text(max_size=60), value=VALUES)
@example(text="<answer><answer>a</answer>", value="a")
@example(text="\\boxed{\\boxed{1}}", value=1)
@example(text="\ud800<a>\udfff</a>", value="\ud800")
def test_every_text_and_value_has_an_anatomy(text: str, value: Any) -> None:
    anatomy = of(text, value)
    assert anatomy.text == text
    spans = [*anatomy.places, anatomy.region, *(block.whole for block in anatomy.blocks)]
    assert all(0 <= span.start <= span.end <= len(text) for span in spans)
    assert all(one.end <= two.start for one, two in zip(anatomy.places, anatomy.places[1:], strict=False))
    assert all(block.whole.holds(block.body) for block in anatomy.blocks)
    assert not anatomy.places or anatomy.region.holds(anatomy.places[-1])
    anatomy.with_bodies("x")
    anatomy.saying("x")


@given(st.dictionaries(st.from_regex(r"[a-z]{1,4}", fullmatch=True), st.integers() | st.booleans(), min_size=1))
def test_a_document_is_found_in_any_formatting(value: dict[str, Any]) -> None:
    for written in (json.dumps(value), json.dumps(value, indent=2), json.dumps(value, separators=(",", ":"))):
        for gold in (value, json.dumps(value)):
            anatomy = of(f"Here you are: {written} done", gold)
            assert anatomy.gold == written


@pytest.mark.parametrize(
    ("text", "value", "gold", "kind"),
    [
        ("<think>42</think><answer>42</answer>", "42", "42", "tag answer"),
        ("<answer>42</answer>", 42, "42", "tag answer"),
        ("<answer>42.0</answer>", "42", "42.0", "tag answer"),
        ("<answer>1,234</answer>", 1234, "1,234", "tag answer"),
        ("$1,234.50 in all", "1234.5", "1,234.50", "whole"),
        ("It is \\boxed{42}", "so ... #### 42", "42", "box"),
        ("It is \\boxed{7}", r"thus $\boxed{7}$", "7", "box"),
        ("steps\n#### 42", "42", "42", "hashes"),
        ("```python\nprint(42)\n```", "print(42)", "print(42)", "fence"),
        ("First.\nThe answer is: 42", "42", "42", "mark"),
        ("<think>42</think>", "42", "42", "whole"),
        ("Yes", True, "Yes", "whole"),
        ("no", "false", "no", "whole"),
        ("red; green", ["red", "green"], "red; green", "whole"),
        ("- red\n- green", ["red", "green"], "- red\n- green", "whole"),
        ("PARIS it is", "Paris", "PARIS", "whole"),
        ("I guess 41", 42, "41", "whole"),
        ("<answer>42</answer>", {"style": "rule", "ground_truth": "42"}, "42", "tag answer"),
        ("a rule: <answer>42</answer>", '{"style": "rule", "ground_truth": 42}', "42", "tag answer"),
        (
            "<answer>x is a knight</answer>",
            {"truth": {"text": "x is a knight", "size": 1}},
            "x is a knight",
            "tag answer",
        ),
    ],
)
def test_the_gold_answer_as_the_text_writes_it(text: str, value: Any, gold: str, kind: str) -> None:
    anatomy = of(text, value)
    assert anatomy.gold == gold
    assert anatomy.region.kind == kind


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("142", "42"),
        ("420", "42"),
        ("4.2", "42"),
        ("v42", "42"),
        ("Parisian", "Paris"),
        ("", "42"),
        ("7", None),
        ("row 7 is true", {"index": 7, "is_test": True, "level": 0}),
        ("A", {"index": 0}),
        ("42", {"truth": {}}),
    ],
)
def test_a_part_of_a_longer_word_is_not_the_gold_answer(text: str, value: Any) -> None:
    assert of(text, value).places == ()


def test_the_columns_that_are_read_come_first_and_then_the_likeliest_names() -> None:
    text = "<answer>7</answer>"
    assert anatomy_of(text, {"answer": "7", "level": 7}, frozenset({"level"})).column == "level"
    assert anatomy_of(text, {"level": 7, "answer": "7"}, frozenset()).column == "answer"
    assert anatomy_of(text, {"level": 7, "gold_label": "7"}, frozenset()).column == "gold_label"
    assert anatomy_of(text, {"level": 8}, frozenset({"other"})).column == ""


def test_only_the_answer_is_replaced_if_the_thinking_also_has_it() -> None:
    anatomy = of("<think>6*7=42</think><answer>42</answer>")
    assert anatomy.answering("5") == "<think>6*7=42</think><answer>5</answer>"
    assert anatomy.saying("5") == "<think>6*7=5</think><answer>5</answer>"
    assert anatomy.with_bodies("x") == "<think>x</think><answer>x</answer>"
    assert anatomy.thinking is not None
    assert anatomy.thinking.body.of(anatomy.text) == "6*7=42"
    assert [block.name for block in anatomy.blocks] == ["think", "answer"]


def test_without_a_gold_the_last_mark_is_the_answer() -> None:
    anatomy = of("<think>hm</think><answer>five</answer>")
    assert (anatomy.gold, anatomy.region.kind) == ("", "tag answer")
    assert anatomy.saying("six") == anatomy.text
    assert anatomy.answering("six") == "<think>hm</think><answer>six</answer>"
    assert of("five").answering("six") == "six"


def test_unclosed_tags_are_not_blocks() -> None:
    assert of("<think>42").blocks == ()
    assert [block.name for block in of("<think><answer>42</answer>").blocks] == ["answer"]
    assert of("<think>hm</think>42").thinking is not None


@given(st.text(max_size=20), st.lists(st.integers(0, 20), min_size=2, max_size=6), st.text(max_size=3))
def test_text_between_replaced_parts_stays(text: str, cuts: list[int], words: str) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts})
    spans = [Span(start, end) for start, end in zip(places[::2], places[1::2], strict=False)]
    expected, position = "", 0
    for span in spans:
        expected += text[position : span.start] + words
        position = span.end
    assert replaced(text, [(span, words) for span in reversed(spans)]) == expected + text[position:]
    assert replaced(text, [(span, span.of(text)) for span in spans]) == text


@pytest.mark.parametrize(
    ("value", "number"),
    [("42", "42"), (" 1,234 ", "1234"), ("$5", "5"), ("50%", "50"), (4.5, "4.5"), ("-3", "-3"), ("1e3", "1000")],
)
def test_numbers_are_read(value: Any, number: str) -> None:
    assert as_number(value) == Decimal(number)


@pytest.mark.parametrize("value", [True, None, "", "nan", "inf", float("inf"), "four", "1/2", [1], {}, "4 2"])
def test_texts_that_are_not_numbers(value: Any) -> None:
    assert as_number(value) is None
