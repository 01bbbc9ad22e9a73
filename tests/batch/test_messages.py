"""Messages: all shapes of completions and prompts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.messages import as_messages, completion_text, content_text, prompt_text

CALL = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}
SHAPES: list[tuple[Any, str]] = [
    ("text", "text"),
    ("", ""),
    (None, ""),
    ([], ""),
    ({}, ""),
    ({"role": "assistant", "content": "42"}, "42"),
    ([{"role": "assistant", "content": "42"}], "42"),
    ([{"content": "42"}], "42"),
    ([{"role": "assistant"}], ""),
    ([{"role": "user", "content": "42"}], ""),
    ([{"role": "assistant", "content": None}], ""),
    ([CALL], ""),
    ([CALL, {"role": "tool", "content": "7"}, {"role": "assistant", "content": "42"}], "42"),
    ([{"role": "assistant", "content": "42"}, {"role": "tool", "content": "7"}], "42"),
    ([{"role": "assistant", "content": "old"}, {"role": "assistant", "content": "new"}], "new"),
    ([{"role": "assistant", "content": [{"type": "text", "text": "4"}, {"type": "text", "text": "2"}]}], "42"),
    ([{"role": "assistant", "content": [{"type": "image", "image": object()}, {"type": "text", "text": "42"}]}], "42"),
    ([{"role": "assistant", "content": [{"type": "thinking", "text": "17"}, {"type": "text", "text": "42"}]}], "42"),
    ([{"role": "assistant", "content": [{"type": "reasoning", "text": "42"}]}], ""),
    ([{"role": "assistant", "content": [{"type": ["odd"], "text": "42"}]}], "42"),
    ([{"role": "assistant", "content": [{"type": "output_text", "text": "42"}]}], "42"),
    ([{"role": "assistant", "content": ["4", "2"]}], "42"),
    ([{"role": "assistant", "content": []}], ""),
    ([{"role": "assistant", "content": {"type": "text", "text": "42"}}], "42"),
    ([{"role": "assistant", "content": [{"text": None}, None, 7, {"type": "text"}]}], ""),
    ([{"role": "assistant", "content": 42}], ""),
    ([{"role": None, "content": "42"}], ""),
    ("\ud800\x00", "\ud800\x00"),
]


@pytest.mark.parametrize(("completion", "text"), SHAPES)
def test_text_of_every_shape(completion: Any, text: str) -> None:
    assert completion_text(completion) == text


@pytest.mark.parametrize(("completion", "_text"), SHAPES)
def test_no_shape_stops_a_batch(completion: Any, _text: str) -> None:
    @rk.reward
    def both(completion: str, messages: list[dict[str, Any]]) -> float:
        return 1.0 if isinstance(completion, str) and isinstance(messages, list) else 0.0

    table = rk.score(both + rk.tags("answer"), [completion, "<answer>1</answer>"])
    assert table["both"].tolist() == [1.0, 1.0]
    assert table["tags"][1] == 1.0


@pytest.mark.parametrize("completion", [7, 7.0, b"bytes", [7], [None], [["nested"]], object()])
def test_other_types_of_completions_are_named_with_their_row(completion: Any) -> None:
    with pytest.raises(rk.errors.BindingError, match=r"completions\[1\].* chat messages"):
        rk.score(rk.tags("answer"), ["fine", completion])


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "text"]), inner),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(st.sampled_from(["role", "content", "tool_calls"]), json_values), max_size=3))
def test_any_list_of_mappings_has_a_text(messages: list[dict[str, Any]]) -> None:
    assert isinstance(completion_text(messages), str)
    assert isinstance(prompt_text(messages), str)


def test_a_prompt_is_all_its_messages() -> None:
    prompt = [{"role": "system", "content": "Be brief."}, CALL, {"role": "user", "content": "6*7?"}]
    assert prompt_text(prompt) == "Be brief.\n\n6*7?"
    assert prompt_text(None) == ""
    assert prompt_text("6*7?") == "6*7?"


def test_a_text_is_one_message_of_the_assistant() -> None:
    assert as_messages("42", "completions", 0) == [{"role": "assistant", "content": "42"}]
    assert content_text(None) == ""
