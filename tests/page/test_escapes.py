"""Model texts on the page."""

from __future__ import annotations

import unicodedata

from hypothesis import given, strategies as st

from rewardkit.page.escapes import escape, one_line

ANY = st.text(st.characters(exclude_categories=()))


def test_control_characters_are_escaped() -> None:
    assert escape("a\x1b[2Jb") == "a\\x1b[2Jb"
    assert escape("\u202egnp.exe\u2066") == "\\u202egnp.exe\\u2066"
    assert escape("no\u200bthing\ufeff") == "no\\u200bthing\\ufeff"
    assert escape("\ud800") == "\\ud800"
    assert escape("\u3164\U000e0141") == "\\u3164\\U000e0141"


def test_visible_text_stays() -> None:
    text = "<b>Zürich</b> \u65e5\u672c ❤️\n\tline & more"
    assert escape(text) == text
    assert escape("a\r\nb") == "a\nb"
    assert escape("over\rwritten") == "over\\rwritten"


@given(ANY)
def test_no_control_character_is_left(text: str) -> None:
    left = {unicodedata.category(character) for character in escape(text) if character not in "\t\n"}
    assert not left & {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
    escape(text).encode("utf-8")


@given(ANY)
def test_escaping_twice_changes_nothing(text: str) -> None:
    assert escape(escape(text)) == escape(text)


@given(ANY, st.integers(1, 50))
def test_one_line_is_one_line(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert "\n" not in line
    assert len(line) <= limit + 1
