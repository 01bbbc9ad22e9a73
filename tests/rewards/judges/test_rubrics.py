"""Rubrics name columns in braces."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.judges.prompts import Rubric, cell_text


def test_columns_prompt_and_completion() -> None:
    rubric = Rubric.of("{question}: {completion} by {prompt}, {question} {{not this}}")
    assert rubric.names == ("question", "completion", "prompt")
    assert rubric.columns == ("question",)
    assert rubric.filled({"question": "6*7?", "prompt": "hi"}, "BLOCK") == "6*7?: \nBLOCK\n by hi, 6*7? {not this}"


def test_the_completion_comes_last_if_it_is_not_mentioned() -> None:
    assert Rubric.of("Good?").filled({}, "BLOCK") == "Good?\n\nBLOCK"


def test_values_are_not_read_as_rubrics() -> None:
    assert Rubric.of("{a}").filled({"a": "{completion} {b}"}, "BLOCK") == "{completion} {b}\n\nBLOCK"


@given(st.text())
def test_cells_are_shown_as_text_or_json(value: str) -> None:
    cell_text(value).encode()
    assert cell_text({"a": [1, "ü"]}) == '{"a": [1, "ü"]}'
    assert "\x00" not in cell_text(value)


@pytest.mark.parametrize(
    "text",
    ["", "  ", "{", "}", "{}", "{0}", "{a.b}", "{a[0]}", "{a!r}", "{a:>10}", "{a b}", "{messages}", "{progress}"],
)
def test_braces_that_name_nothing_are_an_error(text: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="rubric"):
        Rubric.of(text)


def test_it_prints_as_it_was_written() -> None:
    assert str(Rubric.of("a {b} {{c}} {completion}")) == "a {b} {{c}} {completion}"
