"""Broken texts: right completions with one thing wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rewardkit.check.completion.parsed_completion import anatomy_of
from rewardkit.check.reward_under_test.vocabulary import Mined
from rewardkit.check.variants.broken_texts import blocks_of, broken, near_misses

NOTHING = Mined((), (), frozenset())
TEXTS = st.lists(st.sampled_from(["<a>", "</a>", "<think>", "</think>", "42", "{", '{"a": 1}', " ", "#### ", "\n"]))


def texts_of(text: str, mined: Mined = NOTHING, bad: list[str] | None = None) -> list[str]:
    return list(broken(anatomy_of(text, {"answer": "42"}, frozenset(("answer",))), mined, bad or []))


@given(TEXTS.map("".join))
def test_any_text_can_be_broken_and_put_together(text: str) -> None:
    anatomy = anatomy_of(text, {"answer": "42"}, frozenset(("answer",)))
    assert "".join(blocks_of(anatomy).pieces()) == text
    made = list(broken(anatomy, NOTHING))
    assert text + text in made
    assert set(near_misses(anatomy)) <= set(made)


def test_near_misses() -> None:
    anatomy = anatomy_of("<think>6*7</think><answer>42</answer>", {"answer": "42"}, frozenset(("answer",)))
    made = list(near_misses(anatomy))
    assert anatomy.text not in made
    for one in ("<think>6*7</think><answer>42", "<think>6*7</think><answer></answer>", "<think>6*7</think>42</answer>"):
        assert one in made


def test_numbers_and_documents_are_changed() -> None:
    made = texts_of('Order: {"qty": 3}!')
    assert 'Order: {"qty": nan}!' in made
    documents = [one for one in made if one.startswith("Order: ") and one.endswith("!")]
    assert 'Order: {"qty": null}!' in documents
    assert "Order: {}!" in documents
    assert 'Order: {"qty": 1e999}!' in made


@pytest.mark.parametrize(
    ("body", "wanted"),
    [("1 + 2 * 3", "1 / (2 - 3)"), ("3 + 1 + 2", "1 ** 2 ** 3"), ("1 + 2 * 3 - 4", "1 / (2 - 3) + 4")],
)
def test_other_sums(body: str, wanted: str) -> None:
    assert f"<answer>{wanted}</answer>" in texts_of(f"<answer>{body}</answer>")


def test_what_the_code_mentions_and_wrong_completions() -> None:
    mined = Mined(("Final:",), (r"<sum>\d+</sum>",), frozenset())
    made = texts_of("It is 42.", mined, ["No."])
    for one in ("<sum></sum>", "<sum>", "Final:", "Final: 42", "aFinal:\n", "No.It is 42.", "It is 42.No."):
        assert one in made
    assert not any("<sum>" in one for one in texts_of("It is 42."))
