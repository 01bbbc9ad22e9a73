"""Shrinker: the shorter text still shows the fault."""

from __future__ import annotations

import time

from hypothesis import given, strategies as st

from rewardkit.check.reward_under_test.sensitivity import shrink_text

TEXTS = st.text("ab1 é\u202e\n", min_size=1, max_size=40)


@given(TEXTS, st.data())
def test_shrunk_texts_show_the_fault_and_never_grow(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    piece = text[start : data.draw(st.integers(start + 1, len(text)))]

    def shows(candidate: str) -> bool:
        return piece in candidate

    small = shrink_text(text, shows)
    assert small == piece


@given(TEXTS, st.integers(1, 5))
def test_properties_of_length_shrink_to_their_limit_and_to_letters_that_can_be_typed(text: str, least: int) -> None:
    wanted = min(least, len(text))
    small = shrink_text(text, lambda candidate: len(candidate) >= wanted)
    assert len(small) == wanted
    assert all(character == "\n" or (character.isascii() and character.isprintable()) for character in small)


@given(TEXTS, st.data())
def test_the_kept_part_stays(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    keep = text[start : data.draw(st.integers(start + 1, len(text)))]
    assert shrink_text(text, lambda _: True, keep=keep) == keep


def test_the_example_of_its_docstring() -> None:
    assert shrink_text("xx 42 yy", lambda text: "42" in text) == "42"
    assert shrink_text("xx 42 yy", lambda text: bool(text)) in ("x", "y", "4", "2", "a", "0", " ")
    assert shrink_text("", lambda _: True) == ""


def test_texts_that_cannot_be_cut_stay() -> None:
    text = "<answer>42</answer>"
    assert shrink_text(text, lambda candidate: candidate == text) == text


def test_every_accepted_text_shows_the_fault() -> None:
    asked: list[str] = []

    def shows(text: str) -> bool:
        asked.append(text)
        return text.count("a") >= 2

    assert shrink_text("banana split", shows) == "aa"
    assert len(asked) < 200


def test_it_stops_at_its_time_limit() -> None:
    def slow(text: str) -> bool:
        time.sleep(0.02)
        return len(text) >= 1000

    started = time.monotonic()
    assert shrink_text("x" * 1000, slow, seconds=0.2) == "x" * 1000
    assert time.monotonic() - started < 1.0
