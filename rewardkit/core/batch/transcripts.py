"""Transcripts: read the messages of a completion as a Trajectory. Reading never raises, whatever the shape.

Calls are read as OpenAI, TRL, Anthropic and LangChain write them, with arguments as a mapping or as JSON text. Results
are matched to calls by id; without ids by name; what stays ambiguous is matched in order and marked as guessed,
because TRL runs synchronous tools first, whatever the policy asked for first. A recorded environment tells exactly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

from rewardkit.core.batch.messages import content_text
from rewardkit.core.batch.trajectory import Arguments, IsError, Stop, ToolCall, ToolResult, Trajectory, Turn
from rewardkit.core.errors import MissingExtraError, shorten
from rewardkit.core.processes.signals import from_operator
from rewardkit.core.text.json_text import MAX_DEPTH, parse_json
from rewardkit.core.text.literals import read_literal

_ASSISTANT = ("assistant", "model", "ai")
_TOOL = ("tool", "function", "ipython", "observation")
_ARGUMENTS = ("arguments", "args", "parameters", "input")
_REASONING = ("reasoning_content", "reasoning", "thinking")
_THINKING_PARTS = ("thinking", "reasoning", "reasoning_text")
_ERROR_CHARACTERS = 20_000
_PLAIN = {str, int, bool, type(None)}


@final
@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call as a recorded environment saw it.

    Attributes:
        name: the name of the tool.
        arguments: a copy from before the tool ran, which may change them.
        text: what the tool returned, as TRL writes it into the message.
        error: what its exception says; None if it returned.
    """

    name: str
    arguments: Mapping[str, Any]
    text: str = ""
    error: str | None = None


@final
@dataclass(slots=True)
class _Open:
    """A call whose result is not known yet."""

    call: ToolCall
    id: str


@final
@dataclass(slots=True)
class _Came:
    """The result of a tool, as a message holds it."""

    result: ToolResult
    id: str


@dataclass(slots=True)
class _Draft:
    """A turn while it is read."""

    text: str
    reasoning: str
    calls: list[_Open]
    came: list[_Came] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)


def read(
    completion: Any,
    *,
    cut: bool = False,
    is_error: IsError | None = None,
    records: Iterable[CallRecord] | None = None,
) -> Trajectory:
    """Return the trajectory of one completion; see `Trajectory.of`.

    Args:
        records: the calls that a recorded environment saw, in order; None without such an environment.
    """
    if isinstance(completion, str):
        return Trajectory((Turn(completion),), "cut" if cut else "answered")
    drafts: list[_Draft] = []
    opening: list[str] = []
    for message in _messages(completion):
        role = message.get("role", "assistant")
        if role in _ASSISTANT:
            drafts.append(_draft(message, len(drafts)))
            continue
        came, heard = _came(message, role, is_error)
        if drafts:
            drafts[-1].came += came
            drafts[-1].heard += heard
        else:
            opening += [*(one.result.text for one in came), *heard]
    paired = _paired(drafts)
    turns = tuple(
        Turn(
            draft.text,
            tuple(calls),
            tuple(one.result for one in draft.came),
            tuple(draft.heard),
            draft.reasoning,
        )
        for draft, calls in zip(drafts, paired, strict=True)
    )
    stop = _stop(turns, cut)
    if records is not None:
        turns = _recorded(turns, list(records))
    return Trajectory(turns, stop, tuple(opening))


def pieces(completion: Any, trajectory: Trajectory, *, prefixes: bool) -> list[tuple[list[Any], Trajectory]]:
    """Return for each turn its messages and the turn as a trajectory; with `prefixes`, all messages up to its end."""
    messages: list[Any] = [{"content": completion}] if isinstance(completion, str) else _messages(completion)
    starts = [place for place, message in enumerate(messages) if message.get("role", "assistant") in _ASSISTANT]
    stops = [*starts[1:], len(messages)]
    if prefixes:
        return [(messages[:stop], trajectory.upto(number + 1)) for number, stop in enumerate(stops)]
    return [
        (messages[start:stop], _alone(turn)) for start, stop, turn in zip(starts, stops, trajectory.turns, strict=True)
    ]


def _alone(turn: Turn) -> Trajectory:
    """Return one turn as a trajectory."""
    alone = replace(turn, calls=tuple(replace(call, turn=0) for call in turn.calls))
    return Trajectory((alone,), _stop((alone,), cut=False))


def _messages(completion: Any) -> list[Mapping[Any, Any]]:
    if isinstance(completion, Mapping):
        return [completion]
    if not isinstance(completion, Sequence) or isinstance(completion, (bytes, bytearray)):
        return []
    return [{"content": one} if isinstance(one, str) else one for one in completion if isinstance(one, (str, Mapping))]


def _draft(message: Mapping[Any, Any], number: int) -> _Draft:
    content = message.get("content")
    calls = message.get("tool_calls")
    if not calls and message.get("function_call"):
        calls = [message["function_call"]]
    given = [*_listed(calls)] if calls else []
    reasoning = ""
    if isinstance(content, (list, tuple)):
        parts = [part for part in content if isinstance(part, Mapping)]
        given += [part for part in parts if part.get("type") in ("tool_use", "tool_call")]
        said = [part for part in parts if part.get("type") in _THINKING_PARTS]
        reasoning = "".join(_text(part.get(name)) for part in said for name in ("thinking", "reasoning", "text"))
    if not reasoning:
        reasoning = next((text for name in _REASONING if (text := _text(message.get(name)))), "")
    opened = [_call(one, number, place) for place, one in enumerate(given)]
    return _Draft(content_text(content), reasoning, opened)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _listed(calls: Any) -> Sequence[Any]:
    """Return tool calls as a list: one call may stand alone, and a data file may hold JSON text."""
    if isinstance(calls, str):
        parsed = parse_json(calls)
        calls = calls if parsed.error else parsed.value
    return calls if isinstance(calls, (list, tuple)) else [calls]


def _call(given: Any, turn: int, place: int) -> _Open:
    if not isinstance(given, Mapping):
        said = f"the call is {shorten(given, 60)}, not an object"
        return _Open(ToolCall("", None, said, turn, place), "")
    function = given.get("function")
    inner = function if isinstance(function, Mapping) else given
    name = inner.get("name")
    if not isinstance(name, str):
        name = function if isinstance(function, str) else ""
    held = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    arguments, fault = _arguments(held)
    if not name:
        fault = "the call has no name"
    number = next((given[key] for key in ("id", "call_id", "tool_call_id") if given.get(key)), "")
    return _Open(ToolCall(name, arguments, fault, turn, place), str(number) if isinstance(number, (str, int)) else "")


def _arguments(given: Any) -> tuple[Arguments | None, str]:
    """Return the arguments, or None and why there are none."""
    if given is None:
        return Arguments({}), ""
    if isinstance(given, Mapping):
        if _PLAIN.issuperset(map(type, given.values())) and set(map(type, given)) <= {str}:
            return Arguments(dict(given)), ""  # the usual case, fast
        value = _json(given, 0)
        return (None, f"the arguments are not JSON: {value}") if isinstance(value, _NotJson) else (Arguments(value), "")
    if isinstance(given, str):
        if not given.strip():
            return Arguments({}), ""
        parsed = parse_json(given)
        if parsed.error:
            return None, f"the arguments are {parsed.error}"
        given = parsed.value
        if isinstance(given, dict):
            return Arguments(given), ""
    return None, f"the arguments are {shorten(given, 60)}, not an object"


class _NotJson(str):
    """Why a value is not JSON."""


def _json(value: Any, depth: int) -> Any:
    """Return a copy of a JSON value, or `_NotJson`; JSON text has the same limits."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return value if math.isfinite(value) else _NotJson(f"{value} is not a finite number")
    if depth >= MAX_DEPTH:
        return _NotJson(f"nested deeper than {MAX_DEPTH} levels")
    copy: Any
    if isinstance(value, Mapping):
        copy = {}
        for key, item in value.items():
            if type(key) is not str:
                return _NotJson(f"the key {shorten(key, 40)} is not text")
            copy[key] = found = _json(item, depth + 1)
            if isinstance(found, _NotJson):
                return found
        return copy
    if isinstance(value, (list, tuple)):
        copy = []
        for item in value:
            copy.append(found := _json(item, depth + 1))
            if isinstance(found, _NotJson):
                return found
        return copy
    return _NotJson(f"{shorten(value, 40)} ({kind.__name__})")


def _came(message: Mapping[Any, Any], role: Any, is_error: IsError | None) -> tuple[list[_Came], list[str]]:
    """Return the results of tools in a message that is not the policy's, and what else it says."""
    content = message.get("content")
    if role in _TOOL:
        flagged = message.get("is_error") is True or message.get("status") == "error" or bool(message.get("error"))
        found = _result(content, _text(message.get("name")), flagged, is_error)
        number = next((message[key] for key in ("tool_call_id", "id", "call_id") if message.get(key)), "")
        return [_Came(found, str(number) if isinstance(number, (str, int)) else "")], []
    came: list[_Came] = []
    if isinstance(content, (list, tuple)):
        for part in content:
            if isinstance(part, Mapping) and part.get("type") == "tool_result":
                found = _result(part.get("content"), "", part.get("is_error") is True, is_error)
                came.append(_Came(found, _text(part.get("tool_use_id"))))
    text = content_text(content)
    return came, [text] if text or not came else []


def _result(content: Any, name: str, flagged: bool, is_error: IsError | None) -> ToolResult:
    text = content if type(content) is str else content_text(content)
    if not text and isinstance(content, (Mapping, list)) and not isinstance(content, str):
        text = "" if _is_parts(content) else _dumped(content)
    error: str | None = None
    if is_error is not None:
        try:
            said = is_error(text)
        except BaseException as raised:
            if from_operator(raised):
                raise
            said = None
        error = said if isinstance(said, str) else text if said else None
    elif flagged:
        error = _error_in(text) or text
    elif text[:1] in "{ \n\t" and "error" in text[:12]:
        error = _error_in(text)
    return ToolResult(text, name, error)


def _is_parts(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(part, Mapping) and "type" in part for part in content)


def _dumped(content: Any) -> str:
    try:
        return json.dumps(content, default=str)
    except (TypeError, ValueError, RecursionError):
        return shorten(content)


def _error_in(text: str) -> str | None:
    """Return what an object with the one key ``error`` says, written as JSON or as Python writes a dict."""
    if len(text) > _ERROR_CHARACTERS:
        return None
    value: Any = None
    try:
        parsed = parse_json(text)
        value = read_literal(text.strip()) if parsed.error else parsed.value
    except MissingExtraError:
        raise
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if not isinstance(value, dict) or list(value) != ["error"]:
        return None
    return value["error"] if isinstance(value["error"], str) else _dumped(value["error"])


def _paired(drafts: Sequence[_Draft]) -> list[list[ToolCall]]:
    """Return the calls of each turn with their results."""
    by_id = {one.id: one for draft in drafts for one in draft.calls if one.id}
    for draft in drafts:
        for came in draft.came:
            if by_id and came.id and (opened := by_id.pop(came.id, None)) is not None:
                _give(opened, came, "id")
        if draft.came and draft.calls:
            _pair_by_name(draft)
    return [[one.call for one in draft.calls] for draft in drafts]


def _give(opened: _Open, came: _Came, source: Any) -> None:
    call, found = opened.call, came.result
    came.result = ToolResult(found.text, found.name or call.name, found.error, source)
    opened.call = ToolCall(call.name, call.arguments, call.fault, call.turn, call.place, came.result, True)


def _pair_by_name(draft: _Draft) -> None:
    """Match what has no id, within one turn."""
    left = [came for came in draft.came if came.result.source == "guessed"]
    waiting = [one for one in draft.calls if one.call.result is None]
    if not left or not waiting:
        return
    if len(waiting) == 1 and len(left) == 1 and left[0].result.name in ("", waiting[0].call.name):
        _give(waiting[0], left[0], "name" if left[0].result.name else "order")
        return
    by_name: dict[str, list[_Open]] = {}
    for one in waiting:
        by_name.setdefault(one.call.name, []).append(one)
    nameless = []
    for came in left:
        same = by_name.get(came.result.name) if came.result.name else None
        if not came.result.name:
            nameless.append(came)
        elif same:
            alone = len(same) == 1 and sum(other.result.name == came.result.name for other in left) == 1
            _give(same.pop(0), came, "name" if alone else "guessed")
    rest = [one for one in waiting if one.call.result is None]
    for one, came in zip(rest, nameless, strict=False):
        _give(one, came, "guessed")


def _stop(turns: Sequence[Turn], cut: bool) -> Stop:
    if not turns:
        return "silent"
    last = turns[-1]
    if last.calls:
        return "pending" if any(call.result is None for call in last.calls) else "silent"
    if last.results:
        return "silent"
    return "cut" if cut else "answered"


def _recorded(turns: Sequence[Turn], records: Sequence[CallRecord]) -> tuple[Turn, ...]:
    """Return the turns with what the environment saw.

    Calls of one tool run in the order in which they were made, so the records of each name are taken one by one. A call
    without arguments that can be passed never reaches the tool.
    """
    waiting: dict[str, list[CallRecord]] = {}
    for record in records:
        waiting.setdefault(record.name, []).append(record)
    return tuple(replace(turn, calls=tuple(_with_record(call, waiting) for call in turn.calls)) for turn in turns)


def _with_record(call: ToolCall, waiting: Mapping[str, list[CallRecord]]) -> ToolCall:
    records = waiting.get(call.name)
    if call.arguments is None or not records:
        if call.result is not None:  # unknown tools and arguments that cannot be passed: the trainer wrote the error
            return replace(call, ran=False, result=replace(call.result, source="recorded"))
        return replace(call, ran=False)
    record = records.pop(0)
    arguments, fault = _arguments(record.arguments)
    result = ToolResult(record.text, record.name, record.error, "recorded")
    return replace(call, arguments=arguments, fault=fault, result=result, ran=True)
