"""Other golds: values of the kind that the examples show, and none where that is not certain."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.check.completion.parsed_completion import anatomy_of, as_number
from rewardkit.check.variants.other_golds import Gold, other_golds


def made(value: Any, text: str, *known: Any, **how: Any) -> list[Gold]:
    anatomy = anatomy_of(text, {"answer": value}, frozenset({"answer"}))
    return [*other_golds(anatomy, known or (value,), **how)] if anatomy.column else []


def certain(value: Any, text: str, *known: Any, **how: Any) -> list[Any]:
    return [gold.value for gold in made(value, text, *known, **how) if gold.certain]


@given(st.integers(10, 10**6))
def test_numbers_keep_their_type_and_certain_ones_their_sign_and_digits(number: int) -> None:
    for value in (number, str(number)):
        for gold in made(value, f"The answer is {number}."):
            assert type(gold.value) is type(value)
            assert gold.value != value
            if gold.certain:
                assert str(gold.value) == gold.written
                assert 0 <= int(gold.value) < 10 ** len(str(number))


def test_negative_numbers_are_certain_only_where_an_example_is_negative() -> None:
    assert min(certain(42, "The answer is 42.")) == 0
    assert min(certain(42, "The answer is 42.", 42, -7)) == -10


@given(st.sampled_from(["42", "0.5", "-7"]))
def test_wrong_answers_differ_from_the_right_one(value: str) -> None:
    for gold in made(value, f"<answer>{value}</answer>"):
        for wrong in gold.wrong:
            assert as_number(wrong) is None or as_number(wrong) != as_number(gold.written)


@pytest.mark.parametrize(
    ("value", "text", "known", "others"),
    [
        ("B", "The answer is B.", ("B", "C"), ["A", "C"]),
        ("yes", "<answer>yes</answer>", ("yes",), ["no"]),
        ("No", "<answer>No</answer>", ("No",), ["Yes"]),
        ("TRUE", "<answer>TRUE</answer>", ("TRUE",), ["FALSE"]),
        ("Danube", "<answer>Danube</answer>", ("Danube",), ["Quartz", "Lisbon"]),
        ("1/2", r"\boxed{1/2}", ("1/2",), []),
        (True, "<answer>True</answer>", (True,), [False]),
        ("incorrect", "It is incorrect.", ("incorrect",), ["correct"]),
        ("5 km", "It is 5 km away.", ("5 km",), ["4 km"]),
        ("$3.5 million", "It cost $3.5 million.", ("$3.5 million",), ["$2 million", "$2.5 million"]),
        ([40, 60, 140, 160], "The box is [40, 60, 140, 160].", (), [[121, 181, 421, 481]]),
        ([0.25, 0.5], "<answer>[0.25, 0.5]</answer>", (), [[0.125, 0.25]]),
        ('["red", "blue"]', '["red", "blue"]', (), ['["window", "blue"]', '["red", "window"]']),
        (
            [{"name": "play", "args": {"n": 2}}],
            '[{"name": "play", "args": {"n": 2}}]',
            (),
            [[{"name": "play", "args": {"n": n}}] for n in (27, 0)],
        ),
        (
            {"style": "rule", "ground_truth": "No"},
            "<answer>No</answer>",
            (),
            [{"style": "rule", "ground_truth": "Yes"}],
        ),
        (
            {"ground_truth": {"target": ["Ada", "Lovelace"]}},
            "It was Ada.",
            (),
            [{"ground_truth": {"target": [name]}} for name in ("Quartz", "Lisbon")],
        ),
    ],
)
def test_values_of_other_kinds(value: Any, text: str, known: tuple[Any, ...], others: list[Any]) -> None:
    assert certain(value, text, *known) == others


@pytest.mark.parametrize(
    ("value", "text", "known", "other", "wrong"),
    [
        ("yes", "<answer>yes</answer>", (), "no", "yes"),
        ("3.5 million", "3.5 million", (), "2.5 million", "25 million"),
        ([{"name": "play"}], 'Calls: [{"name": "play"}]', (), [], '[{"name": "play"}]'),
    ],
)
def test_answers_that_are_wrong_for_another_gold(
    value: Any, text: str, known: tuple[Any, ...], other: Any, wrong: str
) -> None:
    (gold,) = [gold for gold in made(value, text, *known) if gold.value == other]
    assert gold.wrong == (wrong,)


def test_a_mark_in_the_column_stays_around_the_other_value() -> None:
    assert "#### 7" in certain("#### 42", "6 * 7 = 42\n#### 42")


def test_an_option_given_by_its_index_stays_an_index() -> None:
    assert {gold.value: gold.written for gold in made(1, "The answer is B.", 1, 2)} == {0: "A", 2: "C"}


def test_golds_that_are_no_pattern_for_themselves_where_the_code_makes_patterns_of_them() -> None:
    special = [gold.value for gold in made("Danube", "<answer>Danube</answer>", in_patterns=True)]
    assert "C++" in special
    assert "C++" not in [gold.value for gold in made("Danube", "<answer>Danube</answer>")]


def test_words_that_begin_or_end_with_the_letters_that_the_code_strips() -> None:
    assert "Answeidge" in certain("Danube", "<answer>Danube</answer>", stripped=["answer: "])


def test_documents_have_one_other_value_each() -> None:
    order = {"item": "lamp", "count": 3, "paid": True, "sizes": [1, 2]}
    for value in (order, json.dumps(order)):
        changed = certain(value, json.dumps(order))
        plain = [json.loads(one) if isinstance(one, str) else one for one in changed]
        assert {**order, "count": 0} in plain
        assert {**order, "paid": False} in plain
        assert order not in plain
        assert all(type(one) is type(value) for one in changed)
