"""Written calls: tool calls that a policy writes as text, such as ``<action>{"tool": "pay", "id": "A1"}</action>``.

``WrittenCalls.of(completion)`` finds them in all messages of a completion, and changes, removes, and adds them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.batch.messages import content_text
from rewardkit.check.completion.parsed_completion import THINKING, Span, atoms_of, parsed_json, replaced
from rewardkit.check.variants.episodes.messages import Messages, is_assistant, messages_of

_NAMES = ("tool", "function", "action", "tool_name", "function_name", "name")
_ARGUMENTS = ("arguments", "parameters", "args", "params")
_OPENING = re.compile(r"<([A-Za-z_][\w-]*)(?:=([^<>\s]+))?>\s*\Z")
_CALLING = re.compile(r"(?i)call|tool|function|action")
_LOOKUP = re.compile(r"(?i)^(?:get|list|search|find|read|show|look|check|view|fetch|query|describe|count|browse|open)")
# "A1" or "SKU-300": a word with a digit.
_IDENTIFIER = re.compile(r"(?<!\w)[A-Za-z]*[A-Za-z_-]*\d[\w-]*")


@dataclass(frozen=True)
class WrittenCall:
    """A tool call in the text of a message.

    Attributes:
        index: the number of the message.
        span: the span of the call in the message, with its tag.
        body: the span of its JSON object.
        value: the JSON object.
        name: the tool's name, or "" if the call has none.
        key: the key of the arguments in `value`, or "" if the arguments are next to the name.
    """

    index: int
    span: Span
    body: Span
    value: Mapping[str, Any]
    name: str
    key: str

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments by name."""
        if self.key:
            return dict(self.value[self.key])
        return {name: value for name, value in self.value.items() if value != self.name or name not in _NAMES}

    @property
    def is_lookup(self) -> bool:
        """Whether the tool's name says that the call changes nothing."""
        return is_lookup(self.name)


@dataclass(frozen=True)
class WrittenCalls:
    """A completion and the calls in the text of its messages."""

    completion: Any
    messages: Messages
    calls: tuple[WrittenCall, ...]

    @classmethod
    def of(cls, completion: Any) -> WrittenCalls:
        messages = messages_of(completion)
        calls = [
            call for index, message in enumerate(messages) if is_assistant(message) for call in _in(index, message)
        ]
        return cls(completion, messages, tuple(calls))

    def written(self, call: WrittenCall, arguments: Mapping[str, Any]) -> str:
        """Return the text of `call` with other `arguments`."""
        remaining = {name: value for name, value in call.value.items() if name not in call.arguments or call.key}
        value = {**call.value, call.key: dict(arguments)} if call.key else {**remaining, **arguments}
        text = self._text(call)
        return text[call.span.start : call.body.start] + json.dumps(value) + text[call.body.end : call.span.end]

    def saying(self, call: WrittenCall, text: str) -> Any:
        """Return the completion with `text` in place of `call`."""
        changed = {**self.messages[call.index], "content": replaced(self._text(call), [(call.span, text)])}
        return self._formed([*self.messages[: call.index], changed, *self.messages[call.index + 1 :]])

    def without(self, call: WrittenCall) -> Any:
        """Return the completion without `call`, and without its message and result if the message has only the call."""
        end = self._end(call)
        return self._formed([*self.messages[: call.index], *self.messages[end:]]) if end else self.saying(call, "")

    def with_call(self, call: WrittenCall, arguments: Mapping[str, Any]) -> Any:
        """Return the completion with the same call again, but with other `arguments`."""
        return self.with_more(call, self.written(call, arguments))

    def with_more(self, call: WrittenCall, text: str) -> Any:
        """Return the completion with another call, `text`, after `call`, with the same result."""
        end = self._end(call)
        if not end:
            return self.saying(call, f"{call.span.of(self._text(call))}\n{text}")
        again = [{**self.messages[call.index], "content": text}, *self.messages[call.index + 1 : end]]
        return self._formed([*self.messages[:end], *again, *self.messages[end:]])

    def _text(self, call: WrittenCall) -> str:
        return content_text(self.messages[call.index].get("content"))

    def _end(self, call: WrittenCall) -> int:
        """Return the index after the results of a message that has only `call`, or 0 for other messages."""
        end = call.index + 1
        while end < len(self.messages) and not is_assistant(self.messages[end]):
            end += 1
        is_alone = call.span.of(self._text(call)) == self._text(call).strip()
        return end if is_alone and end > call.index + 1 else 0

    def _formed(self, messages: Messages) -> Any:
        is_text = isinstance(self.completion, str)
        return content_text(messages[0].get("content")) if is_text and messages else messages


def _in(index: int, message: Mapping[str, Any]) -> Iterator[WrittenCall]:
    """Yield the calls in a message after its thinking."""
    text = content_text(message.get("content"))
    start = max((text.rfind(f"</{name}>") for name in THINKING), default=0)
    decoder, position = json.JSONDecoder(), max(start, 0)
    while (opening := text.find("{", position)) >= 0:
        try:
            value, end = decoder.raw_decode(text, opening)
        except (ValueError, RecursionError):
            position = opening + 1
            continue
        position = end
        call = _call(index, text, Span(opening, end), value)
        if call is not None:
            yield call


def _call(index: int, text: str, body: Span, value: Any) -> WrittenCall | None:
    """Return the call with the JSON object `value`, or None if it is not a call."""
    if not isinstance(value, dict) or not value:
        return None
    key = next((name for name in _ARGUMENTS if isinstance(value.get(name), Mapping)), "")
    tag = _OPENING.search(text[: body.start])
    closing = re.match(rf"\s*</{re.escape(tag[1])}>", text[body.end :]) if tag else None
    tool = next((value[name] for name in _NAMES if isinstance(value.get(name), str)), "")
    if tag is not None and closing is not None and (_CALLING.search(tag[1]) or (tool and key)):
        name = tool or tag[2] or ""
        return WrittenCall(index, Span(tag.start(), body.end + closing.end()), body, value, name, key)
    is_line = not text[text.rfind("\n", 0, body.start) + 1 : body.start].strip() and text[body.end :][:1] in ("", "\n")
    is_call = bool(tool) and (bool(key) or "tool" in value or "function" in value)
    return WrittenCall(index, body, body, value, tool, key) if is_line and is_call else None


def is_lookup(name: str) -> bool:
    """Return whether the name of a tool says that a call changes nothing."""
    return bool(_LOOKUP.match(name))


def other_objects(value: str, sources: Sequence[Any]) -> list[str]:
    """Return texts of the same kind as `value` in the sources: keys or items next to it, and similar identifiers.

    ``"A1"`` has the other objects ``"A2"`` and ``"A3"`` in ``'{"A1": {}, "A2": {}}'`` and ``"orders A1, A3"``.
    """
    texts: list[str] = []
    for source in sources:
        parsed = parsed_json(source) if isinstance(source, str) else source
        texts += _siblings(value, parsed)
        for atom in ([source] if isinstance(source, str) else atoms_of(source)) if re.search(r"\d", value) else ():
            texts += [text for text in _IDENTIFIER.findall(atom) if _shape(text) == _shape(value)]
    return [text for text in dict.fromkeys(texts) if text != value]


def _shape(text: str) -> str:
    """Return the text with all its letters and digits replaced by "A", "a", and "0"."""
    return re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", re.sub(r"\d", "0", text)))


def _siblings(value: str, source: Any) -> Iterator[str]:
    """Yield the keys or items next to `value` in a nested value, and the same key's values in other objects."""
    if isinstance(source, Mapping):
        if value in source:
            yield from (key for key in source if isinstance(key, str))
        for item in source.values():
            yield from _siblings(value, item)
    elif isinstance(source, (list, tuple)):
        if value in source:
            yield from (item for item in source if isinstance(item, str))
        objects = [item for item in source if isinstance(item, Mapping)]
        for key in {key for item in objects for key, content in item.items() if content == value}:
            yield from (item[key] for item in objects if isinstance(item.get(key), str))
        for item in source:
            if isinstance(item, (Mapping, list, tuple)):
                yield from _siblings(value, item)
