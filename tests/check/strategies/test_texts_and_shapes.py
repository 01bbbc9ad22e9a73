"""Tags, wild texts, conversations and groups."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import find, given, settings, strategies as st

from rewardkit.batch.messages import completion_text
from rewardkit.check.completion.tag_violations import Blocks, violations
from rewardkit.check.variants import strategies
from rewardkit.errors import MissingExtraError, RewardDefinitionError
from rewardkit.text.thinking import Marks

quick = settings(database=None)


def test_every_violation_is_another_text() -> None:
    whole = Blocks((Marks("<think>", "</think>"), Marks("<answer>", "</answer>")), ("a", "b"), ("", "", ""))
    found = violations(whole)
    assert whole.text not in found
    assert {
        "<think>a</think><answer>b",
        "<answer>b</answer><think>a</think>",
        "<think>a<answer>b</answer></think>",
    } <= set(found)


def test_bodies_may_be_given() -> None:
    drawn = strategies.tagged("think", "answer", body={"answer": st.just("42")})
    assert find(drawn, lambda _: True) == "<think>0</think><answer>42</answer>"


def test_tags_need_names() -> None:
    with pytest.raises(RewardDefinitionError, match="at least one"):
        strategies.tagged()


@quick
@given(strategies.wild_texts(max_size=300))
def test_wild_texts_are_as_long_as_asked(text: str) -> None:
    assert len(text) <= 300


def test_wild_texts_shrink() -> None:
    still = settings(database=None, deadline=None, derandomize=True, max_examples=2_000)
    assert find(strategies.wild_texts(), lambda _: True, settings=still) == ""
    assert find(strategies.wild_texts(pieces=["<own>"]), lambda text: "<own>" in text, settings=still) == "<own>"


def test_long_wild_texts_shrink() -> None:
    # How far depends on where the search began: a text of one long piece shrinks to its length, others to a few pieces.
    still = settings(database=None, deadline=None, derandomize=True, max_examples=2_000)
    found = find(strategies.wild_texts(), lambda text: len(text) > 2_000, settings=still)
    assert 2_000 < len(found) <= 5_000
    assert len(set(found)) <= 20


@quick
@given(st.data(), st.text(max_size=20))
def test_a_conversation_has_the_text(data: st.DataObject, text: str) -> None:
    messages = data.draw(strategies.conversations(st.just(text)))
    assert completion_text(messages) == text


def test_conversations_shrink_to_one_message() -> None:
    assert find(strategies.conversations(st.text()), lambda _: True) == [{"role": "assistant", "content": ""}]
    assert find(strategies.conversations(st.just("a"), odd=True), lambda messages: messages == []) == []


@quick
@given(strategies.groups(st.text(max_size=3), size=(2, 5)))
def test_groups_have_their_size(group: list[str]) -> None:
    assert 2 <= len(group) <= 5


def test_groups_of_copies_are_drawn() -> None:
    group = find(strategies.groups(st.integers(), size=6), lambda group: len(set(group)) == 1 and group[0] > 9)
    assert group == [10] * 6
    with pytest.raises(RewardDefinitionError, match="got 0"):
        strategies.groups(st.text(), size=0)


@quick
@given(strategies.wrong_answers("42"))
def test_wrong_answers_are_wrong(answer: str) -> None:
    assert answer.strip() != "42"


def test_without_hypothesis_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: dict[str, Any] = {name: one for name, one in sys.modules.items() if "variants.strategies" in name}
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[testing\]"):
        __import__("rewardkit.check.variants.strategies")
