"""Reach: which completions the model and the trainer of the given data can produce.

A trainer passes one message with text. It passes several messages or a tool call only if the data has tools, and
content in parts only if the data has parts. A tokenizer decodes to whole characters. Anything else may break a reward,
but no run meets it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rewardkit.testing.subject import Subject
from rewardkit.testing.trials import Trial
from rewardkit.testing.wild_texts import SHAPES, TEXTS

_NEEDS_TOOLS = ("content None, a tool call", "a tool's answer at the end", "several turns")
_NEEDS_PARTS = ("content in parts", "an image", "an empty list of parts")


def reachable_shapes(subject: Subject) -> dict[str, Any]:
    """Return the message shapes, by description, that the trainer of the given data passes."""
    if not _has_messages(subject):
        return {}
    names = (*(_NEEDS_TOOLS if _has_tools(subject) else ()), *(_NEEDS_PARTS if _has_parts(subject) else ()))
    return {name: SHAPES[name] for name in names}


def reachable_text(text: str) -> bool:
    """Whether a tokenizer can decode to `text`: lone surrogates are half characters."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def unreachable(subject: Subject) -> Iterator[tuple[Trial, str]]:
    """Yield completions that no run on the given data has, each with a description."""
    if _has_messages(subject) or not subject.plain:
        known = reachable_shapes(subject)
        for name, shape in SHAPES.items():
            if name not in known:
                yield Trial(shape, 0), name
    for name, text in TEXTS.items():
        if not reachable_text(text):
            yield Trial(subject.formed(text), 0), name


def _has_messages(subject: Subject) -> bool:
    return subject.conversational or any(isinstance(example.prompt, list) for example in subject.examples)


def _has_tools(subject: Subject) -> bool:
    messages = list(_messages(subject))
    several = any(len(completion) > 1 for completion in _given(subject) if isinstance(completion, list))
    called = any(message.get("tool_calls") or message.get("role") == "tool" for message in messages)
    return several or called or any("tools" in example.columns for example in subject.examples)


def _has_parts(subject: Subject) -> bool:
    return any(isinstance(message.get("content"), list) for message in _messages(subject))


def _messages(subject: Subject) -> Iterator[Mapping[str, Any]]:
    """Yield all messages of the given prompts and completions."""
    for conversation in (*_given(subject), *(example.prompt for example in subject.examples)):
        if isinstance(conversation, list):
            yield from (message for message in conversation if isinstance(message, Mapping))


def _given(subject: Subject) -> list[Any]:
    return [completion for example in subject.examples for completion in (*example.good, *example.bad)]
