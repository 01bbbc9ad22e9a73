"""Conversations as the page shows them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from rewardkit.page.transcript import (
    MAX_CALLS,
    MAX_TURNS,
    RESULT,
    Share,
    Transcript,
    aligned,
    as_props,
    roles_of,
    transcript_of,
)
from tests.page.recorded import HOSTILE
from tests.record.conversations import OPENED, PENDING, asks, result, says


def shown(messages: Any, **options: Any) -> Transcript:
    found = transcript_of(json.dumps(messages), **{"always": True, **options})
    assert found is not None
    return found


def states(transcript: Transcript) -> list[str]:
    return [call.state for turn in transcript.turns for call in turn.calls]


def test_a_call_its_result_and_the_answer() -> None:
    found = shown(OPENED, completion="It is 18.")
    first, last = found.turns
    (call,) = first.calls
    assert (call.label, call.state, call.tone) == ('open(color="red")', "ok", "good")
    assert call.result is not None
    assert (call.result.line, call.result.text, call.arguments) == ("18", "18", None)
    assert (found.stop, found.tone, first.read, last.read, last.text) == ("answered", "good", False, True, "It is 18.")


def test_errors_and_missing_results() -> None:
    found = shown(PENDING)
    assert (states(found), found.stop, found.tone) == (["error", "no result"], "pending", "warn")


def test_what_the_environment_recorded_tells_more() -> None:
    said = [asks(("open", {"color": "red"}), ("open", {"color": "blue"}), ("look", {}))]
    records = [["open", {"color": "red"}, "18", None], ["open", {"color": "blue"}, "{'error': 'x'}", "x"]]
    found = shown(said, rollout=json.dumps({"records": records, "broken": "down \x1b[2J"}))
    assert states(found) == ["ran, result dropped", "error, dropped", "never ran"]
    assert found.broken == "down \\x1b[2J"


def test_an_unknown_tool_did_not_run() -> None:
    said = [asks(("sing", {})), result("sing", "{'error': 'Unknown tool: sing'}"), says("18")]
    assert states(shown(said)) == ["error"]
    assert states(shown(said, rollout='{"records": []}')) == ["error, did not run"]


def test_errors_that_a_function_of_the_user_recognized() -> None:
    said = [asks(("open", {}), ("look", {})), result("open", "{'error': 'fine'}"), result("look", "E42"), says("18")]
    assert states(shown(said)) == ["error", "ok"]
    assert states(shown(said, rollout='{"errors": {"1": "E42"}}')) == ["ok", "error"]


def test_malformed_calls_and_long_arguments() -> None:
    code = "import math\nprint(math.pi)"
    (turn,) = shown([asks(("open", '{"color": '), ("python", {"code": code}), ("look", {"at": "x" * 500}))]).turns
    malformed, python, look = turn.calls
    assert (malformed.state, malformed.label.startswith("open(the arguments are")) == ("malformed", True)
    assert python.arguments is not None
    assert python.arguments.text == f"code = {code}"
    assert look.arguments is not None
    assert look.label.endswith("…")


def test_thinking_and_the_words_of_a_user() -> None:
    said = [says("<think>first this\nthen that</think>18?"), {"role": "user", "content": "Sure?"}, says("18")]
    first = shown(said).turns[0]
    assert first.thinking is not None
    assert (first.text, "then that" in first.thinking.text) == ("18?", True)
    assert [(passage.label, passage.text) for passage in first.heard] == [("user", "Sure?")]
    (turn,) = shown([{**says("18"), "reasoning_content": "so"}]).turns
    assert turn.thinking is not None
    assert (turn.text, turn.thinking.text) == ("18", "so")


def test_results_without_a_call_are_shown() -> None:
    (turn, _) = shown([asks(("open", {})), result("look", "lost"), says("18")]).turns
    assert [(passage.label, passage.text) for passage in turn.heard] == [("result of look", "lost")]


def test_one_message_with_text_is_no_conversation() -> None:
    assert transcript_of(json.dumps([says("18")])) is None
    assert transcript_of(None, completion="18") is None
    plain = transcript_of(None, completion="18", always=True)
    assert plain is not None
    assert [turn.text for turn in plain.turns] == ["18"]


def test_a_huge_result_is_cut_and_its_length_is_said() -> None:
    found = shown([asks(("open", {})), result("open", "first line\n" + "x" * 1_000_000), says("18")])
    passage = found.turns[0].calls[0].result
    assert passage is not None
    assert (passage.line, passage.shown, passage.characters) == ("first line", RESULT, 1_000_011)
    assert found.is_cut
    assert len(json.dumps(as_props(found))) < 20_000


def test_many_turns_and_calls_are_cut() -> None:
    found = shown([asks(*[("open", {})] * 1_000), *[says("18")] * 1_000])
    assert (len(found.turns), found.more_turns) == (MAX_TURNS, 1_001 - MAX_TURNS)
    assert (len(found.turns[0].calls), found.turns[0].more_calls) == (MAX_CALLS, 1_000 - MAX_CALLS)


def test_the_whole_takes_no_more_room_than_allowed() -> None:
    said = [one for _ in range(50) for one in (asks(("open", {})), result("open", "x" * 3_000))]
    found = shown(said, longest=10_000)
    assert sum(len(call.result.text) for turn in found.turns for call in turn.calls if call.result) == 10_000
    assert found.turns[-1].calls[0].result is not None
    assert found.turns[-1].calls[0].result.line.startswith("xxx")


def test_shares_stand_beside_their_turn() -> None:
    one = Share("progress", "+0.5", "red", 0.0, 0.5)
    found = shown(OPENED, shares={1: [one]})
    assert [list(turn.shares) for turn in found.turns] == [[], [one]]


def test_turns_that_differ_are_marked_turn_by_turn() -> None:
    left, right = aligned(shown(OPENED), shown([*OPENED[:2], says("It is 7.")]))
    assert left is not None
    assert right is not None
    assert [piece for piece, changed in left.turns[1].pieces if changed] == ["18"]
    assert [piece for piece, changed in right.turns[1].pieces if changed] == ["7"]
    assert aligned(left, None) == (left, None)


def test_roles_of_a_prompt() -> None:
    said = [{"role": "system", "content": "Be brief."}, *OPENED[:1], {"role": "user", "content": [{"text": "6*7?"}]}]
    assert roles_of(json.dumps(said)) == [
        ("system", "Be brief."),
        ("assistant", 'open(color="red")'),
        ("user", "6*7?"),
    ]
    assert roles_of(None) == roles_of("6*7?") == roles_of('{"a": 1}') == []


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_is_escaped(text: str) -> None:
    said = [
        {"role": "user", "content": text},
        asks((text, {"a": text}), ("open", text), text=text),
        result(text, text),
        result("open", text),
        {"role": "user", "content": text},
        {**says(text), "reasoning_content": text},
    ]
    rollout = json.dumps({"broken": text, "records": [[text[:9], {"a": text}, text, text]]})
    props = json.dumps(as_props(shown(said, rollout=rollout, stop=text, completion=text)), ensure_ascii=False)
    assert not any(character in props for character in "\u202e\u2066\x1b\x07\u200b\ufeff\ud800")


shapes = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "tool_calls", "function", "name", "arguments", "text", "type", "errors"]
            ),
            inner | st.sampled_from(["assistant", "tool", "user", "open"]),
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(shapes, shapes, st.text(max_size=5))
@settings(deadline=None)
def test_no_cell_raises(said: Any, rollout: Any, completion: str) -> None:
    options: dict[str, Any] = {"rollout": json.dumps(rollout), "completion": completion}
    found = transcript_of(json.dumps(said), always=True, **options)
    assert found is not None
    json.dumps(as_props(found))
    transcript_of(json.dumps(said)[:-1], **options)
    roles_of(json.dumps(said))


def test_texts_are_rendered_and_json_is_indented() -> None:
    calls = [asks(("open", {"at": "x" * 200}), text="**Let me** look"), result("open", '{"a": [1]}'), says("$x^2$")]
    turns = as_props(shown(calls), render=True)["turns"]
    assert turns[0]["nodes"] == [("p", {}, [("strong", {}, ["Let me"]), " look"])]
    assert turns[0]["calls"][0]["result"]["text"] == '{\n  "a": [\n    1\n  ]\n}'
    assert turns[1]["nodes"][0][2][0][0] == "math"
    assert "nodes" not in as_props(shown(calls))["turns"][0]
