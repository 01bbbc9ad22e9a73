"""States: a completion in the form that verifiers' reward functions read, shared by the functions of one rubric.

``{"prompt": [...], "completion": [...], "answer": "4", "info": {}, "task": {...}, "trajectory": [...], ...}``
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from rewardkit.batch.batch import Batch
from rewardkit.batch.messages import as_messages
from rewardkit.errors import CoercionError, shorten
from rewardkit.tree.binding import detached

State = dict[str, Any]

INPUT_FIELDS = ("prompt", "answer", "info", "example_id")
"""Columns with a special meaning; functions get the other columns by name."""

_OPTIONAL = ("content", "reasoning_content", "thinking_blocks", "tool_calls", "tool_call_id", "name")

_STATES: WeakKeyDictionary[Batch, dict[int, dict[int, State]]] = WeakKeyDictionary()
"""Batch -> id of the owner -> row -> state; dropped with its batch."""


class ChatMessage(dict[str, Any]):
    """A message that supports ``message["content"]`` and ``message.content``, as verifiers' own messages do."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name in _OPTIONAL:
            return None
        raise AttributeError(f"this {self.get('role', '')} message has no {name!r}; it has {', '.join(self)}")


def state_of(batch: Batch, row: int, owner: object) -> State:
    """Return the state of one row; all functions of `owner` share it."""
    states = _STATES.setdefault(batch, {}).setdefault(id(owner), {})
    if row not in states:
        states[row] = _made(batch, row)
    return states[row]


def messages_of(prompt: Any, role: str, what: str, row: int) -> list[ChatMessage]:
    """Return a prompt or completion as messages; plain text becomes one message of `role`."""
    if isinstance(prompt, str):
        return [ChatMessage(role=role, content=prompt)]
    messages: Sequence[Mapping[str, Any]] = as_messages(prompt, what, row)
    return [ChatMessage({"role": role, **detached(dict(message))}) for message in messages]


def _made(batch: Batch, row: int) -> State:
    columns = {name: detached(value) for name, value in batch.example(row).items()}
    prompt = messages_of(batch.prompts[row] if batch.prompts is not None else None, "user", "prompts", row)
    completion = messages_of(batch.completions[row], "assistant", "completions", row)
    known = {
        "prompt": prompt,
        "answer": columns.get("answer", ""),
        "info": _info(columns.get("info"), row),
        "example_id": columns.get("example_id", row),
    }
    given = {**columns, **known}
    step: dict[str, Any] = {"prompt": prompt, "completion": completion, "reward": None, "advantage": None, "extras": {}}
    return {
        **known,
        "input": given,
        "task": columns["task"] if columns.get("task") is not None else given,
        "completion": completion,
        "trajectory": [step],
        "is_completed": True,
        "is_truncated": False,
        "stop_condition": None,
        "error": None,
        "reward": None,
        "metrics": {},
    }


def _info(info: Any, row: int) -> Any:
    """Return the value of the column "info", in which text is JSON."""
    if not isinstance(info, str):
        return {} if info is None else info
    try:
        return json.loads(info)
    except ValueError as error:
        raise CoercionError(
            f"column 'info', row {row}: {shorten(info)} is not JSON ({error}). Store a mapping or JSON text"
        ) from None
