"""Values: a number has one exact value in any notation, and what is no number has none."""

from __future__ import annotations

import unicodedata
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from rewardkit.check.variants.values import value_of, values_in

WHOLES, OVERS, UNDERS = st.integers(0, 10**9 - 1), st.integers(0, 10**9 - 1), st.integers(1, 10**9 - 1)
SIGNS = st.sampled_from(["", "-", "+", "\u2212"])
VULGAR = [chr(code) for code in range(0xBC, 0x2190) if unicodedata.decomposition(chr(code)).startswith("<fraction>")]


def _signed(sign: str, value: Fraction) -> Fraction:
    return -value if sign in ("-", "\u2212") else value


@given(SIGNS, OVERS, UNDERS)
def test_a_fraction_in_any_notation(sign: str, over: int, under: int) -> None:
    wanted = _signed(sign, Fraction(over, under))
    for written in (
        f"{over}/{under}",
        f"{over} / {under}",
        f"{over}\u2044{under}",
        rf"\frac{{{over}}}{{{under}}}",
        rf"\dfrac {{ {over} }}{{{under}}}",
    ):
        assert value_of(sign + written) == wanted, written
        assert [*values_in(f"It is {sign}{written}, I think.")] == [wanted], written


@given(SIGNS, WHOLES, st.sampled_from([one for one in VULGAR if unicodedata.numeric(one) > 0]))
def test_fraction_characters(sign: str, whole: int, character: str) -> None:
    over, under = unicodedata.normalize("NFKC", character).split("\u2044")
    if not under:
        return  # "1/", a numerator alone
    share = Fraction(int(over), int(under))
    assert value_of(sign + character) == _signed(sign, share)
    for written in (f"{whole}{character}", f"{whole} {over}/{under}", rf"{whole}\tfrac{{{over}}}{{{under}}}"):
        assert value_of(sign + written) == _signed(sign, whole + share), written


@given(SIGNS, st.integers(0, 10**15), st.integers(0, 10**6 - 1))
def test_commas_and_dollars_do_not_count(sign: str, whole: int, rest: int) -> None:
    wanted = _signed(sign, whole + Fraction(rest, 10**6))
    for written in (f"{whole}.{rest:06d}", f"{whole:,}.{rest:06d}", f"{whole:,}.{rest:06d}".replace(",", "{,}")):
        assert value_of(sign + written) == wanted, written
        assert value_of(f" {sign}{written} $ ") == wanted
        assert value_of(f"${sign}{written}") == wanted


def test_a_percentage_is_both_numbers() -> None:
    assert [*values_in("from 12.5% to 50 %")] == [Fraction(25, 2), Fraction(1, 8), Fraction(50), Fraction(1, 2)]
    assert value_of("50%") is None


def test_a_minus_between_numbers_is_no_sign() -> None:
    assert [*values_in("5-3")] == [5, 3]
    assert [*values_in(r"5-\frac{1}{2}")] == [5, Fraction(1, 2)]
    assert [*values_in("(2)-½")] == [2, Fraction(1, 2)]
    assert [*values_in("x = -½")] == [Fraction(-1, 2)]


@pytest.mark.parametrize(
    "text",
    ["", " ", "$", "1/0", r"\frac{1}{0}", "1 1/0", "one", "²", "x2", "2x", "1e5", "1/2/3", "3.5.6", r"\frac{a}{2}"],
)
def test_what_is_no_number_has_no_value(text: str) -> None:
    assert value_of(text) is None


@pytest.mark.parametrize("text", ["9" * 20, "9" * 5_000, r"\frac{" * 2_000, "½" * 6_000, "\0", "\ud800"])
def test_long_and_odd_texts_have_no_value(text: str) -> None:
    assert value_of(text) is None


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    value = value_of(text)
    assert value is None or value in values_in(text)
