"""No text that users read has a habit of `english.HABITS`. ``python -m tests.wording.english`` prints all hits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.wording import english

Texts = Callable[[], Iterator[tuple[str, str]]]


@pytest.mark.parametrize("texts", [english.helps, english.strings, english.docstrings, english.checks])
def test_texts_have_no_habits(texts: Texts) -> None:
    assert [*english.hits(texts())] == []


def test_errors_have_one_style() -> None:
    assert [*english.misformed(english.errors())] == []


@pytest.mark.parametrize(
    "message", ["DataError: the file is empty.", "log warning: The file is empty", "DataError: empty. Fill it."]
)
def test_errors_in_another_style_are_found(message: str) -> None:
    assert [*english.misformed([("file.py:1", message)])] != []


@pytest.mark.parametrize("message", ["DataError: TRL stops. Fix it", "    hint: Fix it", "DataError: {} is empty"])
def test_the_style_of_errors_is_accepted(message: str) -> None:
    assert [*english.misformed([("file.py:1", message)])] == []


@pytest.mark.parametrize(
    ("text", "habit"),
    [
        ("the reward pays 0.5", "pay and earn"),
        ("a wrong completion", "right and wrong"),
        ("in 5 % of the rows", "units"),
        ("the port; 0 takes a free one", "semicolon"),
        ("the page says so", "things that say"),
    ],
)
def test_habits_are_found(text: str, habit: str) -> None:
    assert [name.split(" ->")[0] for _, name, _ in english.habits(text)] == [habit]


@pytest.mark.parametrize(
    "text", ["Exit code 0: done; 1: stopped", "an argument of the wrong type", "neither a number nor text", "{}; {}"]
)
def test_ordinary_english_is_accepted(text: str) -> None:
    assert [*english.habits(text)] == []


def test_each_kind_of_text_is_read() -> None:
    kinds = (english.helps, english.errors, english.strings, english.docstrings, english.checks)
    counts = [len([*texts()]) for texts in kinds]
    assert all(count > 100 for count in counts)
