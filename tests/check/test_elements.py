"""Elements: parts of one kind, found in completions. One is removed, changed, moved, repeated, or replaced."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.check.completion.parsed_completion import ParsedCompletion, anatomies_of
from rewardkit.check.variants.elements import Elements, elements_in

WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=6), min_size=2, max_size=8)
JOINTS = (" > ", " -> ", "; ", " | ", ", ")


def found(text: str, kind: str, *columns: object) -> Elements:
    (one,) = [one for one in elements_in(ParsedCompletion(text), columns) if one.kind == kind]
    return one


def parts(one: Elements) -> list[str]:
    return [one.part(place) for place in range(len(one))]


def _bullets(words: list[str]) -> str:
    return "Look:\n" + "\n".join(f"- {word}" for word in words) + "\nDone."


def _calls(words: list[str]) -> str:
    return "\n".join(f"<tool_call>{word}</tool_call>" for word in words)


def _items(words: list[str]) -> str:
    return "Order: " + " > ".join(words)


FORMS = {"bullet": _bullets, "call": _calls, "item": _items}


@pytest.mark.parametrize("kind", FORMS)
@given(words=WORDS, place=st.integers(0, 7))
def test_parts_join_to_the_same_text(kind: str, words: list[str], place: int) -> None:
    make, place = FORMS[kind], place % len(words)
    one = found(make(words), kind)
    said = parts(one)
    assert len(one) == len(words)
    assert all(word in part for word, part in zip(words, said, strict=True))
    assert one.joint.join(said) in one.text
    shorter = [word for other, word in enumerate(words) if other != place]
    assert one.without(place) == make(shorter)
    assert one.with_more(said[place]) == make([*words, words[place]])
    assert one.without_but_more(place, said[0], said[-1]) == make([*shorter, words[0], words[-1]])
    assert one.instead(place, said[0]) == make([*words[:place], words[0], *words[place + 1 :]])
    assert one.without_all() == one.text.replace(one.joint.join(said), "")


@given(WORDS, st.sampled_from(JOINTS))
def test_items_of_an_answer(words: list[str], joint: str) -> None:
    for form in ("<answer>{}</answer>", "<answer>\n[{}]\n</answer>", "So it is.\nRanking: {}."):
        one = found(form.format(joint.join(words)), "item")
        assert parts(one) == words
        assert one.joint == joint


def test_fences_and_other_blocks() -> None:
    fences = found("A:\n```py\n1\n```\nB:\n```\n2\n```", "fence")
    assert parts(fences) == ["```py\n1\n```", "```\n2\n```"]
    assert fences.without(0) == "A:\n```\n2\n```"
    steps = [
        one for one in elements_in(ParsedCompletion("<step>a</step><step>b</step><answer>c</answer>")) if len(one) == 2
    ]
    assert [parts(one) for one in steps] == [["<step>a</step>", "<step>b</step>"]]


def test_a_single_part_has_a_line_of_its_own() -> None:
    one = found("<function>f</function>", "call")
    assert (one.joint, one.without(0), one.with_more("x")) == ("\n", "", "<function>f</function>\nx")


def test_thinking_has_no_elements() -> None:
    text = "<think>\n- a\n- b\n</think>\n- c\n- d"
    assert [parts(one) for one in elements_in(ParsedCompletion(text))] == [["- c", "- d"]]


def test_bullets_go_on_in_lines_that_are_indented() -> None:
    assert parts(found("1. a\n   b\n2) c\nd", "bullet")) == ["1. a\n   b", "2) c"]


def test_mentions_of_the_items_of_a_column() -> None:
    text = "The Dog sees a cat."
    one = found(text, "mention", ["cat", "dog"])
    assert parts(one) == ["Dog", "cat"]
    assert one.without(0) == "The  sees a cat."
    assert one.without_all() == "The  sees a ."
    assert one.without_but_more(1, "Dog") == "The Dog Dog sees a ."


@pytest.mark.parametrize(
    "column", [None, "cat dog", ["cat"], ["cat", "cow"], ["cat", 3], [], ["", "cat"], {"cat": "dog"}]
)
def test_columns_that_are_not_mentioned_once_each(column: object) -> None:
    assert [one.kind for one in elements_in(ParsedCompletion("A cat and a dog."), [column])] == []


@pytest.mark.parametrize("text", ["", "\n", "<answer></answer>", "<answer>[]</answer>", "A: ,", "A: ", ", , ", "`" * 9])
def test_texts_without_siblings(text: str) -> None:
    assert [one for one in elements_in(ParsedCompletion(text)) if len(one) > 1] == []


def test_too_many_parts_are_left_alone() -> None:
    assert [*elements_in(ParsedCompletion(_bullets(["a"] * 13)))] == []


def test_a_document_has_entries_items_and_values() -> None:
    text = 'Done: {"id": 7, "tags": ["a", "b"], "at": {"x": 1.5, "y": null}}'
    groups = {(one.kind, *one.names): parts(one) for one in elements_in(ParsedCompletion(text))}
    assert groups["entry", "id", "tags", "at"] == ['"id": 7', '"tags": ["a", "b"]', '"at": {"x": 1.5, "y": null}']
    assert groups[("item",)] == ['"a"', '"b"']
    assert groups["value", "id", "tags", "tags", "x", "y"] == ["7", '"a"', '"b"', "1.5", "null"]
    values = found(text, "value")
    assert json.loads(values.instead(1, values.changed(1))[6:])["tags"] != ["a", "b"]
    assert json.loads(values.without(3)[6:])["at"] == {"x": None, "y": None}


def _lists_and_objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.text('k"', max_size=2)
    return st.lists(inner, min_size=1, max_size=4) | st.dictionaries(keys, inner, min_size=1, max_size=4)


@given(st.recursive(st.integers() | st.text("ab, {}[]:", max_size=5), _lists_and_objects))
def test_documents_without_one_element_are_valid(value: Any) -> None:
    for one in elements_in(ParsedCompletion(json.dumps([value]))):
        for index in range(len(one)) if one.kind in ("entry", "value") else ():
            json.loads(one.without(index))
            changed = json.loads(one.instead(index, one.changed(index)))
            assert changed != [value] or one.kind == "entry"


def test_fields_lines_numbers_and_pieces() -> None:
    form = found("Name: Ann\nAge: 31", "field")
    assert (form.names, parts(form)) == (("Name", "Age"), ["Ann", "31"])
    table = found("09:00 tea\n10:30 talk", "line")
    assert parts(table) == ["09:00 tea", "10:30 talk"]
    assert parts(found("1. first 5\n2. then 7 and 9", "number", [5, 7])) == ["5", "7"]
    (move,) = anatomies_of("<answer>e2e4</answer>", {"answer": "e2e4"}, frozenset({"answer"}))
    (pieces,) = [one for one in elements_in(move) if one.kind == "piece"]
    assert parts(pieces) == ["e", "2", "e", "4"]


def test_two_elements_change_places() -> None:
    assert found("Order: a > b > c", "item").swapped(1) == "Order: a > c > b"


def test_a_bullet_after_a_tab_and_long_lines() -> None:
    assert list(found("-\tsalt water\n-\tsand", "bullet").cut(0)) == ["-\ts w", "- s"]
    for text in (
        '"' + "word " * 20_000,
        "a; b" * 20_000 + "\x00",
        "a: " + " " * 20_000 + "b",
        "select " * 8_000,
        "|" + "-" * 50_000,
    ):
        list(elements_in(ParsedCompletion(text)))
