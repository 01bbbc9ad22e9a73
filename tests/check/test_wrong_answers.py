"""Wrong answers: no sound reward accepts any of them, and ordinary mistakes come first."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.check.variants.wrong_answers import (
    Wrong,
    equal,
    may_agree,
    other_options,
    other_value,
    plain,
    wrong_answers,
)

NUMBERS = st.integers(-(10**9), 10**9).map(str) | st.decimals(-10_000, 10_000, places=3).map(str)
TEXTS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=24)
ITEMS = st.lists(st.from_regex(r"[a-z]{3,8}", fullmatch=True), min_size=2, max_size=5, unique=True)
SCALARS = st.booleans() | st.integers(-1000, 1000) | st.from_regex(r"[a-z]{1,8}", fullmatch=True)


def kinds(gold: str, value: Any = None) -> dict[str, str]:
    return {wrong.kind: wrong.text for wrong in wrong_answers(gold, value)}


def paid(reward: rk.Reward, wrong: list[Wrong], gold: Any, form: str = "{}") -> list[str]:
    """Those that a sound reward gives full marks."""
    texts = [form.format(one.text) for one in wrong]
    table = rk.score(reward, texts, answer=[gold] * len(texts))
    return [text for text, score in zip(texts, table.total.tolist(), strict=True) if score >= 1.0]


@given(NUMBERS, st.lists(NUMBERS, max_size=2))
def test_no_wrong_number_is_near_the_gold(gold: str, others: list[str]) -> None:
    wrong = wrong_answers(gold, gold, others)
    assert sum(one.honest for one in wrong) >= 4
    lenient = rk.number("answer", relative=0.2, extract=rk.extract.tag("answer"))
    assert paid(lenient, wrong, gold, "<answer>{}</answer>") == []
    for one in wrong:
        try:
            value = float(one.text)
        except ValueError:
            continue
        assert not abs(value - float(gold)) <= 0.4 * abs(float(gold)) or math.isnan(value)


@given(TEXTS, st.lists(TEXTS, max_size=2))
def test_no_wrong_text_is_the_gold(gold: str, others: list[str]) -> None:
    wrong = wrong_answers(gold, gold, others)
    assert all(one.text.strip().casefold() != gold.strip().casefold() for one in wrong)
    assert len({one.text for one in wrong}) == len(wrong)
    assert paid(rk.exact("answer"), wrong, gold) == []


@given(ITEMS, st.sampled_from([", ", "; ", "\n"]))
def test_no_wrong_list_has_the_same_items(items: list[str], joint: str) -> None:
    wrong = wrong_answers(joint.join(items), items)
    assert {"prefix", "superset", "repetition"} <= {one.family for one in wrong}
    for one in wrong:
        assert sorted(one.text.split(joint)) != sorted(items)
    assert paid(rk.set_match("answer"), wrong, items) == []


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), SCALARS, min_size=1, max_size=4))
def test_no_wrong_object_has_the_same_values(gold: dict[str, Any]) -> None:
    wrong = wrong_answers(json.dumps(gold), gold)
    assert any(one.honest for one in wrong)
    for one in wrong:
        try:
            document = json.loads(one.text)
        except ValueError:
            continue
        assert document != gold
    assert paid(rk.json_match("answer"), wrong, json.dumps(gold)) == []


@given(st.text(max_size=30).filter(str.strip), st.none() | st.text(max_size=10) | st.lists(st.integers(), max_size=3))
def test_there_are_wrong_answers_to_every_gold(gold: str, value: Any) -> None:
    wrong = wrong_answers(gold, value)
    assert len(wrong) >= 5
    assert not any(equal(one.text, gold) for one in wrong)
    assert all(one.family and one.kind for one in wrong)


SAME = (
    ("1/2", "0.5"), ("50%", "0.5"), ("50%", "1/2"), (r"\frac{1}{2}", "0.5"), ("0.50", "½"), ("1e3", "1000"),
    ("NYC", "New York City"), ("U.S.A.", "USA"), ("5 km", "5000 m"), ("60 min", "1 hour"), ("yes", "True"),
    ("x + 1", "1 + x"), (r"2\sqrt{2}", r"\sqrt{8}"), ("red, blue", "blue, red"), ("March 5, 2024", "2024-03-05"),
    ("twelve", "12"), ("B", "Paris"),
)  # fmt: skip
DIFFERENT = (
    ("42", "7"), ("1/2", "3"), ("50%", "9%"), ("A", "B"), ("Paris", "Rome"), ("5 km", "9 km"), ("yes", "no"),
    ("well-known", "open-minded"), (r"\frac{1}{2}", r"\frac{3}{1}"), ("a dog", "the cat"), ("[1, 2]", "[7, 8]"),
)  # fmt: skip


@pytest.mark.parametrize(("answer", "other"), [*SAME, *DIFFERENT])
def test_answers_that_may_agree(answer: str, other: str) -> None:
    for pair in ((answer, other), (other, answer)):
        assert may_agree(*pair) is ((answer, other) in SAME)
        assert (
            other not in [wrong.text for wrong in wrong_answers(answer, others=[other])] or (answer, other) in DIFFERENT
        )


def test_honest_mistakes_come_before_tricks() -> None:
    wrong = wrong_answers("42", "42", others=["7"])
    assert wrong[0] == Wrong("97", "wrong", "another number of the same length", honest=True)
    assert Wrong("7", "wrong", "another example's gold answer", honest=True) in wrong
    assert {"nan", "4", "2", "1428", "42000000", "", "..."} <= {one.text for one in wrong if not one.honest}


@pytest.mark.parametrize(
    ("gold", "kind", "text"),
    [
        ("3.14", "another number of the same length", "9.69"),
        ("Yes", "the opposite", "No"),
        ("TRUE", "the opposite", "FALSE"),
        ("incorrect", "the opposite", "correct"),
        ("C", "all options joined", "ABCDE"),
        ("B", "a word that begins with the letter", "Because not sure"),
        ("red, green, blue", "the first item alone", "red"),
        ("[1, 2, 3]", "a correct first item, the rest incorrect", "[1, 6, 8]"),
        ("[1, 2]", "another last item", "[1, 5]"),
        ("[1, 2]", "True for 1", "[True, 2]"),
        ("2 cups and 3 spoons", "another number in it", "2 cups and 7 spoons"),
        ("name = 'Ada'", "another quoted text in it", "name = 'window'"),
        ("the quick brown fox", "the first word", "the"),
        ("one\ntwo", "a correct first line, the rest incorrect", "one\nwrong"),
        ("1/2", "its marks replaced by letters", "1x2"),
        ("2.5", "without its decimal point", "25"),
        ("2.5 mg", "without its decimal point", "25 mg"),
        ("3, 11", "a digit moved to its neighbor", "31, 1"),
        ("SELECT name FROM users;", "the query without rows", "SELECT name FROM users LIMIT 0"),
        ("select name from users", "another table", "select name from no_such_table"),
        ("12 34", "a digit moved to its neighbor", "123 4"),
        ("select a from t where age < 30", "its comparison reversed", "select a from t where age > 30"),
        ("The red fox 1999", "another text of the same length", "Jar jar jar 6555"),
        ("Lisbon", "its letters in a different order", "nobsiL"),
        ('{"a": 1}', "null for each value", '{"a": null}'),
    ],
)
def test_each_kind_of_gold_answer_has_its_own_wrong_answers(gold: str, kind: str, text: str) -> None:
    assert kinds(gold)[kind] == text


def test_codes_may_be_written_without_their_point() -> None:
    assert "without its decimal point" not in kinds("E11.9")


def test_the_numbers_of_a_list_are_no_answers() -> None:
    for numbers in ("(1) ", "(2) "), ("1. ", "2. "), ("1) ", "2) "):
        wrong = kinds("\n".join(f"{number}{name} has 3" for number, name in zip(numbers, ("Ann", "Bob"), strict=True)))
        assert wrong["another number in it"] in [
            f"{numbers[0]}Ann has {a}\n{numbers[1]}Bob has {b}" for a, b in ("73", "37")
        ]
        assert "True for 1" not in wrong
    assert "another number in it" in kinds("(1) Knight to f3")


def test_options_stay_options() -> None:
    honest = [one.text for one in wrong_answers("(B)") if one.honest]
    assert honest == ["(A)", "(C)", "(D)"]


def test_powers_of_ten_may_be_right_for_percentages() -> None:
    assert "0.5" in [one.text for one in wrong_answers("50", "50")]
    assert "0.5" not in [one.text for one in wrong_answers("50", "50%")]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("42", "42.0", True),
        ("1,000", "1000", True),
        ("43", "42", True),  # some reward may be that lenient
        ("97", "42", False),
        ("nan", "42", False),
        ("Paris.", "paris", True),
        ("", "42", False),
        ("!", "?", False),
        ("?", " ? ", True),
        ("1 23", "12 3", False),
    ],
)
def test_answers_that_a_lenient_reward_may_take_for_equal(one: str, other: str, same: bool) -> None:
    assert equal(one, other) is same


@given(st.text())
def test_the_plain_form_is_its_own_plain_form(text: str) -> None:
    assert plain(plain(text)) == plain(text)


def test_opposites_and_other_units() -> None:
    assert {"Sales fell before 1930", "Sales rose after 1930"} <= {
        one.text for one in wrong_answers("Sales rose before 1930")
    }
    assert {"5 m", "5 miles"} <= {one.text for one in wrong_answers("5 km")}
    assert "3 h" not in {one.text for one in wrong_answers("3 hours")}


@pytest.mark.parametrize(
    ("prompt", "chosen", "others"),
    [
        ("Is it spam, promotion, or neither?", ["spam"], ["promotion", "neither"]),
        ("Possible: billing, shipping, and privacy. Reply now.", ["Billing", "privacy"], ["shipping"]),
        ("Label (positive/negative/neutral):", ["positive"], ["negative", "neutral"]),
        ("I like dogs.", ["cats"], []),
    ],
)
def test_options_that_a_prompt_lists(prompt: str, chosen: list[str], others: list[str]) -> None:
    assert other_options(prompt, chosen) == others


def test_another_date_is_still_a_date() -> None:
    assert other_value("2026-03-09T10:00:00+01:00") == "2030-03-09T15:00:00+01:00"
    assert other_value("9:30") == "14:30"
