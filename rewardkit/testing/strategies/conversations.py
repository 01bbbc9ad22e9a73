"""Conversations: one text in every form of chat messages that trainers pass.

``conversations(st.just("42"))`` draws ``[{"role": "assistant", "content": "42"}]``, the same in parts, after a tool
call, after a thinking part. The text of all of them is ``"42"``.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.testing.wild_texts import SHAPES

Conversation = list[dict[str, Any]]

_CALL = {"id": "call_0", "type": "function", "function": {"name": "search", "arguments": '{"query": "a"}'}}


def conversations(texts: SearchStrategy[str], *, odd: bool = False) -> SearchStrategy[Any]:
    """Draw chat messages whose text is drawn from `texts`.

    Args:
        texts: of the answer.
        odd: also draw shapes without such a text: no messages, content None, an image, a tool's message at the end.
    """
    shaped: SearchStrategy[Any] = _shaped(texts)
    return st.one_of(shaped, st.sampled_from(list(SHAPES.values()))) if odd else shaped


@st.composite
def _shaped(draw: DrawFn, texts: SearchStrategy[str]) -> Conversation:
    text = draw(texts)
    message: dict[str, Any] = {"role": "assistant", "content": draw(st.sampled_from(_contents(text)))}
    before = draw(st.sampled_from([[], *_openings()]))
    behind = draw(st.sampled_from([[], [{"role": "tool", "name": "search", "content": "stored"}]]))
    extras: list[dict[str, Any]] = [{}, {"tool_calls": [_CALL]}, {"name": "policy"}, {"reasoning_content": "6*7"}]
    extra = draw(st.sampled_from(extras))
    return [*before, {**message, **extra}, *behind]


def _contents(text: str) -> list[Any]:
    half = len(text) // 2
    return [
        text,
        [{"type": "text", "text": text}],
        [{"type": "text", "text": text[:half]}, {"type": "text", "text": text[half:]}],
        [{"type": "thinking", "thinking": "6*7"}, {"type": "text", "text": text}],
        [{"type": "image", "image": None}, {"type": "text", "text": text}],
    ]


def _openings() -> list[Conversation]:
    return [
        [{"role": "assistant", "content": "Let me look."}],
        [
            {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            {"role": "tool", "name": "search", "content": "41"},
        ],
        [{"role": "assistant", "content": "41"}, {"role": "user", "content": "Are you sure?"}],
    ]
