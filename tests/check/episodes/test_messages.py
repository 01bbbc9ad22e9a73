"""Edits of messages: each changes one thing, and the completion that was given stays as it was."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given

import rewardkit as rk
from rewardkit.check.variants import strategies
from rewardkit.check.variants.episodes.messages import (
    answering,
    calling,
    has_calls,
    inserted,
    known_results,
    messages_of,
    only,
    permuted,
    repeatable_calls,
    split,
    without_calls,
)

OPENED = [
    calling(("open", {"color": "red"})),
    {"role": "tool", "name": "open", "content": "18"},
    {"role": "assistant", "content": "It is 18."},
]
BOTH = [
    calling(("open", {"color": "red"}), ("look", {})),
    {"role": "tool", "name": "open", "content": "18"},
    {"role": "tool", "name": "look", "content": "dark"},
    {"role": "assistant", "content": "It is 18."},
]


def trajectory(messages: Any) -> rk.Trajectory:
    return rk.Trajectory.of(messages)


def test_another_answer_keeps_the_calls() -> None:
    changed = trajectory(answering(OPENED, "42"))
    assert (changed.answer, changed.calls) == ("42", trajectory(OPENED).calls)
    pending = trajectory(answering(OPENED[:1], "42"))
    assert (pending.answer, len(pending.turns)) == ("42", 2)


def test_without_calls_the_words_stay() -> None:
    assert without_calls(OPENED) == [{"role": "assistant", "content": "It is 18."}]
    assert without_calls("It is 18.") == without_calls(OPENED)
    assert not has_calls(without_calls(OPENED))


def test_further_calls_come_before_the_answer() -> None:
    more = trajectory(inserted(OPENED, [("look", {}), ("open", {"color": "red"})], known_results(OPENED)))
    assert [call.name for call in more.calls] == ["open", "look", "open"]
    assert [call.ok for call in more.calls] == [True, False, True]
    assert more.answer == "It is 18."


def test_tools_answer_as_they_did() -> None:
    answer = known_results(OPENED)
    assert answer("open", {"color": "red"}) == "18"
    assert rk.Trajectory.of([{"role": "tool", "content": answer("open", {"color": "blue"})}]).opening
    assert "not found" in answer("open", {"color": "blue"})
    assert "Tool sing not found" in answer("sing", {})


def test_parallel_calls_change_places_with_their_results() -> None:
    changed = permuted(BOTH)
    assert changed is not None
    found = trajectory(changed)
    assert [(call.name, call.result and call.result.text) for call in found.calls] == [("look", "dark"), ("open", "18")]
    assert permuted(OPENED) is None


def test_a_turn_is_split_into_several() -> None:
    changed = split(BOTH)
    assert changed is not None
    found = trajectory(changed)
    assert [[call.name for call in turn.calls] for turn in found.turns] == [["open"], ["look"], []]
    assert [call.ok for call in found.calls] == [True, True]
    assert split(OPENED) is None


def test_one_call_alone_keeps_its_result_and_the_answer() -> None:
    second = trajectory(BOTH).calls[1]
    found = trajectory(only(BOTH, second))
    assert [(call.name, call.result and call.result.text) for call in found.calls] == [("look", "dark")]
    assert found.answer == "It is 18."


@given(strategies.trajectories())
def test_edits_leave_the_completion_alone(messages: Any) -> None:
    before = copy.deepcopy(messages)
    answer = known_results(messages)
    for changed in (
        answering(messages, "42"),
        without_calls(messages),
        inserted(messages, repeatable_calls(trajectory(messages).calls)[:2], answer),
        permuted(messages),
        split(messages),
        messages_of(messages),
    ):
        assert changed is None or trajectory(changed)
    assert messages == before
