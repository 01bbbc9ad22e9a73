"""Laws of information: answers to other rows, and columns that are asked for and never read."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import pytest

from tests.check.rewards import assert_held, assert_skipped, broken, form, number, tagged_number

GRIDS: dict[str, Any] = {
    "examples": [
        {"prompt": "Fill in: 1 _ / _ 1", "puzzle": "1 0\n0 1"},
        {"prompt": "Fill in: _ 1 / 1 _", "puzzle": "0 1\n1 0"},
    ],
    "good": ["<answer>1 2\n2 1</answer>", "<answer>2 1\n1 2</answer>"],
    "bad": ["<answer>1 1\n2 2</answer>", "<answer>2 2\n1 1</answer>"],
}


def grid(text: str) -> list[list[str]]:
    found = re.search(r"<answer>(.*?)</answer>", text, re.DOTALL)
    return [line.split() for line in found[1].strip().split("\n")] if found else []


def is_latin(rows: list[list[str]]) -> bool:
    return len(rows) == 2 and all(sorted(line) == ["1", "2"] for line in [*rows, *map(list, zip(*rows, strict=False))])


def any_square(completions: list[str], puzzle: list[str], **kwargs: Any) -> list[float]:
    """Only the size of the puzzle is read."""
    rows = zip(map(grid, completions), puzzle, strict=True)
    return [float(is_latin(square) and len(square) == len(given.split("\n"))) for square, given in rows]


def this_square(completions: list[str], puzzle: list[str], **kwargs: Any) -> list[float]:
    """The given cells are compared, too."""
    return [
        float(
            is_latin(square)
            and all(cell in ("0", one) for cell, one in zip(given.split(), chain(*square), strict=True))
        )
        for square, given in zip(map(grid, completions), puzzle, strict=True)
    ]


def unread(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Looks only at the form, whatever the gold answer is."""
    return [float(re.search(r"<answer>\d+</answer>", text) is not None) for text in completions]


def format_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Judges the form, as its name says; the argument is a copy from another reward."""
    rows = zip(completions, answer, strict=True)
    return [float(re.search(r"<answer>\d+</answer>", text) is not None) for text, _ in rows]


def test_the_answer_to_another_row() -> None:
    (found,) = broken(any_square, "rows_differ", **GRIDS)
    assert found.completion == GRIDS["good"][1]
    assert found.columns["puzzle"] == "1 0\n0 1"
    assert "the correct answer to another row also scores 1 here" in found.why
    assert_held(this_square, "rows_differ", **GRIDS)


@pytest.mark.parametrize("change", [{"bad": ["No idea."] * 2}, {"bad": []}])
def test_rows_cannot_be_compared_without_wrong_grids(change: dict[str, Any]) -> None:
    assert_skipped(any_square, "rows_differ", "no answers are marked without words", **{**GRIDS, **change})


def test_answers_that_are_in_a_column_are_left_to_other_laws() -> None:
    assert_skipped(number, "rows_differ", "no answers are marked without words")
    assert_skipped(form, "rows_differ", "no correct completions", good=[])


def test_a_column_that_is_asked_for_and_never_read() -> None:
    (found,) = broken(unread, "reads_what_it_asks_for")
    assert found.why == "it requests the column 'answer' but never reads it"


@pytest.mark.parametrize("reward", [tagged_number, format_reward, number])
def test_rewards_that_read_their_columns(reward: Any) -> None:
    assert_skipped(reward, "reads_what_it_asks_for", "read all columns that they request")
