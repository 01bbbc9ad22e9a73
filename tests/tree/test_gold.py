"""Gold answers: normal form, lists, and readers for answers and gold cells."""

from __future__ import annotations

import pickle
import unicodedata
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.text.final_answer import bare
from rewardkit.tree.gold import (
    LONGEST,
    MOST_ITEMS,
    BestOf,
    GoldItems,
    GoldText,
    GoldTexts,
    ItemsText,
    PlainText,
    Reading,
    above,
    against_gold,
    checked_floor,
    normal,
    spaced,
)


@given(st.text())
def test_the_normal_form_is_its_own(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(st.text(alphabet="aéＡ \n\t\u0301\u0327ßİ", max_size=12))
def test_white_space_and_unicode_form_do_not_count(text: str) -> None:
    assert normal(text) == normal(f" {unicodedata.normalize('NFD', text)}\n\u3000")


def test_case_counts_unless_it_is_ignored() -> None:
    assert normal("Straße") == "Straße"
    assert normal("Straße", ignore_case=True) == normal("STRASSE", ignore_case=True) == "strasse"


def test_marks_piled_beyond_all_writing_are_left_in_their_order() -> None:
    piled = "o" + "\u0300" * 16 + "\u0327" * 16
    assert normal(piled) == piled
    assert normal(piled[:17] + piled[-14:]) == unicodedata.normalize("NFC", piled[:17] + piled[-14:])


def test_a_plain_text_has_something_in_it_and_an_end() -> None:
    read = PlainText(ignore_case=False)
    assert read(" " * 30_000 + "a" * LONGEST) == "a" * LONGEST
    with pytest.raises(ValueError, match="longer than 20,000 characters"):
        read("a" * (LONGEST + 1))
    with pytest.raises(ValueError, match="empty"):
        read(" \n\u3000")


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("red, blue", ("red", "blue")),
        ("red,blue,", ("red", "blue")),
        ("red", ("red",)),
        ("- red\n* blue\r\n\u2022 green", ("red", "blue", "green")),
        ("1. red\n2) blue\n(3) green", ("red", "blue", "green")),
        ("red, dark\nblue", ("red, dark", "blue")),
        ("1. red, 2. blue", ("red", "blue")),
        ("black - white, no 1. FC", ("black - white", "no 1. FC")),
        ("[red, green, blue]", ("red", "green", "blue")), ("['red', 'green', 'blue']", ("red", "green", "blue")),
        ("[1] red\n[2] green\n[3] blue", ("red", "green", "blue")),
        ("**red**, **green**, **blue**", ("red", "green", "blue")), ("- **red**\n- **green**", ("red", "green")),
        ("`red`, `green`, `blue`", ("red", "green", "blue")), ('"red", "green", "blue"', ("red", "green", "blue")),
        ("red, green and blue", ("red", "green", "blue")), ("red, green, and blue", ("red", "green", "blue")),
        ("red, green, blue.", ("red", "green", "blue")), ("- red,\n- green,\n- blue", ("red", "green", "blue")),
        ("a) red\nb) green\n(c) blue", ("red", "green", "blue")), ("red; green; blue", ("red", "green", "blue")),
        ("red\uff0cgreen\uff0cblue", ("red", "green", "blue")),
        ("\u7ea2\u3001\u7eff\u3001\u84dd", ("\u7ea2", "\u7eff", "\u84dd")),
        ("\\{1, 2, 3\\}", ("1", "2", "3")), ("{1, 2}", ("1", "2")), ("\\left\\{1, 2\\right\\}", ("1", "2")),
        ("**red, green**", ("red", "green")), ("$1$, $2$", ("1", "2")), ("[\n red,\n green\n]", ("red", "green")),
        ("Bern, CH; Oslo, NO", ("Bern, CH", "Oslo, NO")), ("red or green", ("red or green",)),
        ("red and green", ("red and green",)), ("{1, 2}, {3, 4}", ("{1, 2}", "{3, 4}")),
        ('["red.", "**blue**"]', ("red", "blue")), ("'tis, o', *", ("tis, o", "*")),
        ("J. Doe, K. Roe", ("J. Doe", "K. Roe")),
        ("-5, 3.5, 1,000", ("-5", "3.5", "1,000")),
        ('["red, dark", "blue"]', ("red, dark", "blue")),
        ('[3, 2.5, true, null, "3", [1,2], {"b":1,"a":"\u00e9"}]',
         ("3", "2.5", "true", "null", "3", "[1, 2]", '{"a": "\u00e9", "b": 1}')),
        ('["- red"]', ("- red",)),
        (" [1]\n", ("1",)),
        ("dark   red , blue", ("dark red", "blue")),
        ("['January 1, 2018', 'Software and other']", ("January 1, 2018", "Software and other")),
        ("[\n  'red, dark',\n  \"blue\",\n].", ("red, dark", "blue")), ("('red, dark', 'blue')", ("red, dark", "blue")),
        ("{'red, dark', 'blue'}", ("red, dark", "blue")),
        ("['red']", ("red",)), ("['it\\'s', \"a'b\"]", ("it's", "a'b")),
        ("['it's', 'O'Neill, Ann']", ("it's", "O'Neill, Ann")), ("'90s, '80s", ("'90s", "'80s")),
        ("[['a, b', 'c'], ('d',), None]", ('["a, b", "c"]', '["d"]', "null")),
        ("'red, dark', 'blue'", ("red, dark", "blue")), ('"1,000", "2,500"', ("1,000", "2,500")),
        ("\u201cred, dark\u201d and \u201cblue\u201d.", ("red, dark", "blue")),
        ("[\u201cred, dark\u201d, \u00abblue\u00bb]", ("red, dark", "blue")), ("'a, b'; 'c'", ("a, b", "c")),
        ("(1, 2), (3, 4)", ("(1, 2)", "(3, 4)")), ("(1, 2) and (3, 4)", ("(1, 2)", "(3, 4)")),
        ("[0, 1), [2, 3)", ("[0, 1)", "[2, 3)")), ("[(1, 2), (3, 4)]", ("(1, 2)", "(3, 4)")),
        ("red (dark, matte), blue", ("red (dark, matte)", "blue")), ("red (dark, blue", ("red (dark", "blue")),
        ("1,000, 2,500 and 3", ("1,000", "2,500", "3")), ("100,200,300", ("100", "200", "300")),
        ("January 1, 2018; Software and other", ("January 1, 2018", "Software and other")),
        ("a; b; and c", ("a", "b", "c")),
        ("\\text{red, blue}", ("red", "blue")), ("$\\text{red}$, \\textbf{blue}", ("red", "blue")),
        ("So the answer is:\n['red, dark', 'blue']", ("red, dark", "blue")),
        ('So the answer is: ["red, dark", "blue"]', ("red, dark", "blue")),
        ("It is not red. We look again.\n\nTherefore, the answer is:\nblue\ngreen", ("blue", "green")),
        ("The answer is red.\nThe answer is blue.", ("blue",)),
        ("It has two, see above.\n['red', 'blue']", ("red", "blue")),
        ("```python\n['red', 'blue']\n```", ("red", "blue")), ("Answer:\n```\nred\nblue\n```", ("red", "blue")),
        ("['See. The answer is: red', 'blue']", ("See. The answer is: red", "blue")),
        ("The answer is ['See. The answer is: red', 'blue']", ("See. The answer is: red", "blue")),
        ("[1, 2]\n['a', 'b']", ("[1, 2]", "['a', 'b']")), ("- red\n- ['a', 'b']", ("red", "['a', 'b']")),
        ("not ['red', 'blue']", ("not ['red', 'blue']",)), ("[True, None]", ("True", "None")),
    ],
)  # fmt: skip
def test_lists_are_json_or_lines_or_separated_by_commas(text: str, items: tuple[str, ...]) -> None:
    assert ItemsText()(text) == items


@given(st.lists(st.text() | st.text(alphabet="ab ,;'\"[]({.\\\n"), min_size=1))
def test_python_lists_are_read_as_they_were_written(values: list[str]) -> None:
    read = ItemsText()
    try:
        items = read.items(values)
    except ValueError:
        items = ()
    for text in (str(values), str(tuple(values)), f"The answer is {values}.", f"We saw it.\n{values}"):
        if items:
            assert read(text) == items
        else:
            with pytest.raises(ValueError, match="empty"):
                read(text)


def test_a_separator_replaces_all_other_rules() -> None:
    assert ItemsText(";")("[a]; - b\nc, d;;") == ("[a]", "- b c, d")
    assert ItemsText(commas=False)("a, b") == ("a, b",)
    assert ItemsText(ignore_case=True)("A, b") == ("a", "b")


@pytest.mark.parametrize("text", ["", " ", ",", "[]", '[""]', "[1", '["a"', "['a'", "['a', 'b", "[" * 1_000])
def test_text_without_a_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"list is empty|JSON|recursion"):
        ItemsText()(text)


@pytest.mark.parametrize("text", ["a," * (MOST_ITEMS + 1), "a\n" * MOST_ITEMS + "a", "[" + "1," * MOST_ITEMS + "1]"])
def test_the_number_of_items_is_limited(text: str) -> None:
    with pytest.raises(ValueError, match="more than 10,000 items"):
        ItemsText()(text)


@pytest.mark.parametrize("separator", ["", 5, ["a"]])
def test_an_impossible_separator_is_refused(separator: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="separator"):
        ItemsText(separator)


@pytest.mark.parametrize(("value", "text"), [("Paris", "Paris"), (42, "42")])
def test_gold_text(value: object, text: str) -> None:
    assert GoldText(None)(value) == text


@pytest.mark.parametrize("value", [1.5, True, None, ["a"], {"a": 1}, "", " "])
def test_gold_cells_that_are_not_text_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"not text|no gold"):
        GoldText(None)(value)


def test_gold_texts_are_one_or_several_each_through_the_extractor() -> None:
    gold = GoldTexts(normal, rk.extract.after("####"))
    assert gold("so #### a  b") == ("a b",)
    assert gold(["#### 1", "#### 2"]) == ("1", "2")
    assert GoldTexts(normal, None)('["a", "b"]') == ("a", "b", '["a", "b"]')
    assert GoldTexts(normal, rk.extract.whole())('["a", "b"]') == ('["a", "b"]',)
    for value in ([], ["#### 1", "2"], [["#### 1"]]):
        with pytest.raises(ValueError, match=r"empty|no gold|not text"):
            gold(value)


def test_gold_items_are_a_list_or_text_with_a_list() -> None:
    gold = GoldItems(ItemsText(), rk.extract.after("####"))
    assert gold(["a ", 3, None]) == ("a", "3", "null")
    assert gold("so #### a, b") == ("a", "b")
    assert GoldItems(ItemsText(), None)(7) == ("7",)
    for value in ([], [" "], {"a": 1}, [object()], [{1, 2}]):
        with pytest.raises(ValueError, match=r"empty|an item|dict, not a list"):
            gold(value)
    for wrong in (1.5, True, {"a": 1}):
        with pytest.raises(ValueError, match="not a list"):
            gold(wrong)


def test_items_of_gold_lists_are_read_like_those_of_answers() -> None:
    assert (
        GoldItems(ItemsText(), None)(["Apple Inc.", "**x**"]) == ItemsText()("Apple Inc., **x**") == ("Apple Inc", "x")
    )
    assert GoldItems(ItemsText(";"), None)(["Apple Inc."]) == GoldItems(ItemsText(commas=False), None)(["Apple Inc."])
    assert GoldItems(ItemsText(commas=False), None)(["Apple Inc."]) == ("Apple Inc.",)


@given(st.text(alphabet="\"'`*$.,; a\u2003\u201c\u201d", max_size=20))
def test_marks_are_taken_off_once_and_never_all_of_a_text(text: str) -> None:
    found = bare(text)
    assert found in text
    assert bool(found) == bool(text)


@pytest.mark.parametrize(
    "text", [". " * 100_000, ".\u2003" * 100_000, "*" * 200_000, "'\"" * 100_000, "a" + " " * 199_999]
)
def test_bare_texts_of_any_length_are_read(text: str) -> None:
    assert bare(text)
    assert bare(f"**{'a' * 9}**;") == "a" * 9


def test_chinese_characters_are_words() -> None:
    assert spaced("a\u7b54\u6848b").split() == ["a", "\u7b54", "\u6848", "b"]


@pytest.mark.parametrize(
    ("floor", "value", "rest"), [(0.0, 0.3, 0.3), (0.5, 0.75, 0.5), (0.5, 0.4, 0.0), (0.3, 1.0, 1.0)]
)
def test_above(floor: float, value: float, rest: float) -> None:
    assert above(floor, value) == rest


@given(st.floats(0, 1, exclude_max=True), st.floats(0, 1))
def test_above_a_floor_stays_within_the_bounds(floor: float, value: float) -> None:
    assert 0.0 <= above(floor, value) <= 1.0
    assert above(floor, 1.0) == 1.0


@pytest.mark.parametrize("floor", [1.0, -0.1, float("nan"), "0.5", True])
def test_an_impossible_floor_is_refused(floor: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="likeness: floor"):
        checked_floor(floor, "likeness")


def longer(answer: str, gold: str) -> rk.Score:
    return rk.Score(float(len(answer) >= len(gold)), gold)


READING: Reading[str, tuple[str, ...]] = Reading(PlainText(ignore_case=False), BestOf(longer))


def test_an_answer_is_measured_against_the_gold_that_suits_it_best() -> None:
    assert READING("aa", ("aaa", "a")) == rk.Score(1.0, "a; the gold answer is 'a'")
    assert READING("a", ("aaa", "aa")) == rk.Score(0.0, "aaa")


@pytest.mark.parametrize(
    ("answer", "note"), [(None, "no answer"), ("", "no answer"), (" ", "empty"), ("a" * 20_001, "longer")]
)
def test_an_answer_that_cannot_be_read_scores_zero_with_a_note(answer: str | None, note: str) -> None:
    score = READING(answer, ("a",))
    assert score.value == 0.0
    assert note in score.note


def test_the_reward_is_a_value() -> None:
    def made(column: Any) -> rk.Reward:
        return against_gold(READING, "longer", column, str, GoldText, extract=None, gold=None, depth=(2, 1))

    again = pickle.loads(pickle.dumps(made("answer")))
    assert again == made("answer")
    assert again.fingerprint == made("answer").fingerprint
    assert repr(again) == "longer('answer', depth=2)"
    with pytest.raises(rk.RewardDefinitionError, match="longer: column"):
        made(rk.extract.whole())
    for column in ("", " "):
        with pytest.raises(rk.RewardDefinitionError, match="longer: column"):
            made(column)
