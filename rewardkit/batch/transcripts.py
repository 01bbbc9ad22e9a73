"""Transcripts: messages of a completion that are read as a Trajectory. Reading messages never raises an exception.

Calls can be in the format of OpenAI, TRL, Anthropic, or LangChain, with arguments as a mapping or as JSON text. Results
are matched to calls by id or, without ids, by name. Ambiguous results are matched in order and marked as guessed,
because TRL runs synchronous tools first regardless of the order of the calls. With a recorded environment, matches are
exact.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

from rewardkit.batch.call_arguments import parsed, read_arguments
from rewardkit.batch.messages import content_text
from rewardkit.batch.trajectory import IsError, Stop, ToolCall, ToolResult, Trajectory, Turn
from rewardkit.errors import shorten, warn
from rewardkit.text.literals import read_literal
from rewardkit.workers.signals import from_operator

_ASSISTANT = ("assistant", "model", "ai")
_TOOL = ("tool", "function", "ipython", "observation")
_ARGUMENTS = ("arguments", "args", "parameters", "input")
REASONING = ("reasoning_content", "reasoning", "thinking")
_THINKING_PARTS = ("thinking", "reasoning", "reasoning_text")
# Arbitrary limit: a longer result is data and not an error, and parsing it takes time.
_ERROR_CHARACTERS = 20_000
# A call's id is text or a small number; larger numbers are made up, and str() of huge ones raises.
_LARGEST_ID = 10**18
_USUAL = {str, list, type(None)}
_CALL_IDS = ("call_id", "id", "tool_call_id")
_RESULT_IDS = ("tool_call_id", "call_id", "id")


@final
@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call that an environment recorded.

    Attributes:
        name: the tool's name.
        arguments: a copy of the arguments from before the tool ran, because a tool may change them.
        text: the tool's result, in the form that TRL writes into the message.
        error: the message of the tool's exception, or None if the tool returned.
    """

    name: str
    arguments: Mapping[str, Any]
    text: str = ""
    error: str | None = None


@final
@dataclass(slots=True)
class _Open:
    """A call whose result is not yet known.

    Attributes:
        ready: whether the arguments are a mapping, which a trainer can pass to the tool unchanged.
    """

    call: ToolCall
    id: str
    ready: bool = False


@final
@dataclass(slots=True)
class _Came:
    """A tool result in a message."""

    result: ToolResult
    id: str


@dataclass(slots=True)
class _Draft:
    """A turn that is being read."""

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
    runs_calls: bool = False,
) -> Trajectory:
    """Return a completion's trajectory; see `Trajectory.of`.

    Args:
        records: the calls that the environment recorded, in order, or None if they were not recorded.
        runs_calls: whether the trainer runs the calls in messages, as trainers with environments do.
    """
    runs_calls = runs_calls or records is not None
    if isinstance(completion, str):
        return Trajectory((Turn(completion),), "cut" if cut else "answered", (), runs_calls)
    drafts: list[_Draft] = []
    opening: list[str] = []
    for message in _messages(completion):
        if _is_policys(message):
            drafts.append(_draft(message, len(drafts)))
            continue
        tool_results, texts = _read_results(message, is_error)
        if drafts:
            drafts[-1].came += tool_results
            drafts[-1].heard += texts
        else:
            opening += [*(call.result.text for call in tool_results), *texts]
    paired = _pair_results(drafts)
    turns = tuple(
        Turn(
            draft.text,
            tuple(calls),
            tuple(call.result for call in draft.came),
            tuple(draft.heard),
            draft.reasoning,
        )
        for draft, calls in zip(drafts, paired, strict=True)
    )
    stop = _stop(turns, cut)
    if records is not None:
        ready = {(entry.call.turn, entry.call.place) for draft in drafts for entry in draft.calls if entry.ready}
        turns = _add_records(turns, list(records), ready, is_error)
    return Trajectory(turns, stop, tuple(opening), runs_calls)


def pieces(completion: Any, trajectory: Trajectory, *, prefixes: bool) -> list[tuple[list[Any], Trajectory]]:
    """Return each turn's messages and the turn as a trajectory; with `prefixes`, everything up to the turn's end."""
    messages: list[Any] = [{"content": completion}] if isinstance(completion, str) else _messages(completion)
    starts = [index for index, message in enumerate(messages) if _is_policys(message)]
    stops = [*starts[1:], len(messages)] if starts else []
    if prefixes:
        run = trajectory.calls_are_run  # even if the first turns have no calls
        return [
            (messages[:stop], replace(trajectory.upto(number), runs_calls=run)) for number, stop in enumerate(stops, 1)
        ]
    cut = len(starts) if trajectory.stop == "cut" else 0  # the last turn
    return [
        (messages[start:stop], _turn_trajectory(turn, number == cut, trajectory.calls_are_run))
        for number, (start, stop, turn) in enumerate(zip(starts, stops, trajectory.turns, strict=True), 1)
    ]


def _turn_trajectory(turn: Turn, cut: bool, runs_calls: bool) -> Trajectory:
    """Return one turn as a separate trajectory."""
    alone = replace(turn, calls=tuple(replace(call, turn=0) for call in turn.calls))
    return Trajectory((alone,), _stop((alone,), cut), (), runs_calls)


def _messages(completion: Any) -> list[Mapping[Any, Any]]:
    if isinstance(completion, Mapping):
        return [completion]
    messages = _as_list(completion)
    if not isinstance(messages, Sequence) or isinstance(messages, (str, bytes, bytearray)):
        return []
    return [
        {"content": message} if isinstance(message, str) else message
        for message in messages
        if isinstance(message, (str, Mapping))
    ]


def _as_list(value: Any) -> Any:
    """Return an array as a list, because pandas reads lists as arrays, which do not have a truth value."""
    return value.tolist() if type(value) not in _USUAL and hasattr(value, "tolist") else value


def _is_policys(message: Mapping[Any, Any]) -> bool:
    """Return whether the policy wrote a message."""
    role = message.get("role", "assistant")
    return isinstance(role, str) and role in _ASSISTANT


def _id(entry: Mapping[Any, Any], names: Iterable[str]) -> str:
    for name in names:
        value = entry.get(name)
        if value is not None and (
            (isinstance(value, str) and value) or (type(value) is int and 0 <= value < _LARGEST_ID)
        ):
            return str(value)
    return ""


def _draft(message: Mapping[Any, Any], number: int) -> _Draft:
    content, calls = _as_list(message.get("content")), _as_list(message.get("tool_calls"))
    raw_calls = [*_listed(calls)] if calls else []
    function = message.get("function_call")
    if not raw_calls and isinstance(function, (Mapping, str)) and function:
        raw_calls = [function]
    reasoning = ""
    if isinstance(content, (list, tuple)):
        parts = [part for part in content if isinstance(part, Mapping)]
        raw_calls += [part for part in parts if part.get("type") in ("tool_use", "tool_call")]
        thinking_parts = [part for part in parts if part.get("type") in _THINKING_PARTS]
        reasoning = "".join(
            _text(part.get(name)) for part in thinking_parts for name in ("thinking", "reasoning", "text")
        )
    if not reasoning:
        reasoning = next((text for name in REASONING if name in message and (text := _text(message[name]))), "")
    opened = [_call(raw_call, number, index) for index, raw_call in enumerate(raw_calls)]
    return _Draft(content_text(content), reasoning, opened)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _listed(calls: Any) -> Sequence[Any]:
    """Return tool calls as a list. The cell may be a single call or JSON text from a data file."""
    if isinstance(calls, str):
        decoded = parsed(calls)
        calls = calls if decoded.error else decoded.value
    return calls if isinstance(calls, (list, tuple)) else [calls]


def _call(raw_call: Any, turn: int, index: int) -> _Open:
    if not isinstance(raw_call, Mapping):
        type_fault = f"the call is {shorten(raw_call, 60)}, not an object"
        return _Open(ToolCall("", None, type_fault, turn, index), "")
    function = raw_call.get("function")
    inner = function if isinstance(function, Mapping) else raw_call
    name = inner.get("name")
    if not isinstance(name, str):
        name = function if isinstance(function, str) else ""
    raw_arguments = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    arguments, fault = read_arguments(raw_arguments)
    if not name:
        fault = "the call has no name"
    return _Open(
        ToolCall(name, arguments, fault, turn, index), _id(raw_call, _CALL_IDS), isinstance(raw_arguments, Mapping)
    )


def _read_results(message: Mapping[Any, Any], is_error: IsError | None) -> tuple[list[_Came], list[str]]:
    """Return the tool results in a message that the policy did not write, and the message's remaining text."""
    content, role = _as_list(message.get("content")), message.get("role")
    if isinstance(role, str) and role in _TOOL:
        result = _result(content, _text(message.get("name")), _is_flagged(message), is_error)
        return [_Came(result, _id(message, _RESULT_IDS))], []
    tool_results: list[_Came] = []
    if isinstance(content, (list, tuple)):
        for part in content:
            if isinstance(part, Mapping) and part.get("type") == "tool_result":
                result = _result(_as_list(part.get("content")), "", part.get("is_error") is True, is_error)
                tool_results.append(_Came(result, _text(part.get("tool_use_id"))))
    text = content_text(content)
    return tool_results, [text] if text or not tool_results else []


def _is_flagged(message: Mapping[Any, Any]) -> bool:
    """Return whether a provider or LangChain marked a tool's message as an error."""
    if len(message) <= 2:
        return False  # a role and a content
    status, error = message.get("status"), message.get("error")
    marked = isinstance(error, (str, bool, Mapping, list)) and bool(error)
    return marked or message.get("is_error") is True or (isinstance(status, str) and status == "error")


def _result(content: Any, name: str, flagged: bool, is_error: IsError | None) -> ToolResult:
    text = result_text(content)
    return ToolResult(text, name, _error_of(text, flagged, is_error))


def result_text(content: Any) -> str:
    """Return a tool's result as text. Message parts become their text; other lists and objects become JSON."""
    text = content if type(content) is str else content_text(content)
    if not text and isinstance(content, (Mapping, list)):
        text = "" if _is_parts(content) else _dumped(content)
    return text


def _error_of(text: str, flagged: bool, is_error: IsError | None) -> str | None:
    """Return the error message if a result's text is an error; otherwise, None."""
    if is_error is not None:
        try:
            verdict = is_error(text)
        except BaseException as raised:
            if from_operator(raised):
                raise
            warn(
                f"is_error= raised {type(raised).__name__}: {raised} for {shorten(text)}, so this result does not "
                "count as an error. Fix the function"
            )
            verdict = None
        return verdict if isinstance(verdict, str) else text if verdict else None
    if flagged:
        return _error_in(text) or text
    # Only text like {"error": ...}, with or without spaces, is parsed, because parsing other results takes time.
    return _error_in(text) if text[:1] in "{ \n\t" and "error" in text[:12] else None


def _is_parts(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(part, Mapping) and "type" in part for part in content)


def _dumped(content: Any) -> str:
    try:
        return json.dumps(content, default=str)
    except (TypeError, ValueError, RecursionError):
        return shorten(content)


def _error_in(text: str) -> str | None:
    """Return the value of ``error`` if `text` is a JSON object or Python dict with only this key; otherwise, None."""
    if len(text) > _ERROR_CHARACTERS:
        return None
    value: Any = None
    try:
        decoded = parsed(text)
        value = read_literal(text.strip()) if decoded.error else decoded.value
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if not isinstance(value, dict) or list(value) != ["error"]:
        return None
    return value["error"] if isinstance(value["error"], str) else _dumped(value["error"])


def _pair_results(drafts: Sequence[_Draft]) -> list[list[ToolCall]]:
    """Return each turn's calls with their results.

    An id may recur in another turn, so a result is first matched to calls in its own turn, and then to earlier calls.
    """
    earlier: dict[str, _Open] = {}
    for draft in drafts:
        by_id: dict[str, list[_Open]] = {}
        for open_call in draft.calls:
            if open_call.id:
                by_id.setdefault(open_call.id, []).append(open_call)
        for tool_result in draft.came:
            opened = by_id[tool_result.id].pop(0) if by_id.get(tool_result.id) else earlier.pop(tool_result.id, None)
            if opened is not None:
                _attach_result(opened, tool_result, "id")
        if draft.came and draft.calls:
            _pair_by_name(draft)
        earlier |= {
            open_call.id: open_call for open_call in draft.calls if open_call.id and open_call.call.result is None
        }
    return [[open_call.call for open_call in draft.calls] for draft in drafts]


def _attach_result(opened: _Open, tool_result: _Came, source: Any) -> None:
    call, result = opened.call, tool_result.result
    tool_result.result = ToolResult(result.text, result.name or call.name, result.error, source)
    opened.call = ToolCall(call.name, call.arguments, call.fault, call.turn, call.place, tool_result.result, True)


def _pair_by_name(draft: _Draft) -> None:
    """Match calls and results that do not have an id, within one turn."""
    left = [tool_result for tool_result in draft.came if tool_result.result.source == "guessed"]
    waiting = [open_call for open_call in draft.calls if open_call.call.result is None]
    if not left or not waiting:
        return
    if len(waiting) == 1 and len(left) == 1 and left[0].result.name in ("", waiting[0].call.name):
        _attach_result(waiting[0], left[0], "name" if left[0].result.name else "order")
        return
    by_name: dict[str, list[_Open]] = {}
    for open_call in waiting:
        by_name.setdefault(open_call.call.name, []).append(open_call)
    nameless = []
    for tool_result in left:
        same = by_name.get(tool_result.result.name) if tool_result.result.name else None
        if not tool_result.result.name:
            nameless.append(tool_result)
        elif same:
            alone = len(same) == 1 and sum(other.result.name == tool_result.result.name for other in left) == 1
            _attach_result(same.pop(0), tool_result, "name" if alone else "guessed")
    rest = [open_call for open_call in waiting if open_call.call.result is None]
    for open_call, tool_result in zip(rest, nameless, strict=False):
        _attach_result(open_call, tool_result, "guessed")


def _stop(turns: Sequence[Turn], cut: bool) -> Stop:
    if not turns:
        return "silent"
    last = turns[-1]
    if last.calls:
        return "pending" if any(call.result is None for call in last.calls) else "silent"
    if last.results:
        return "silent"
    return "cut" if cut else "answered"


def _add_records(
    turns: Sequence[Turn], records: Sequence[CallRecord], ready: set[tuple[int, int]], is_error: IsError | None
) -> tuple[Turn, ...]:
    """Return the turns with the calls and results that the environment recorded.

    Calls of the same tool run in the order in which they were made, so the records for each name are assigned in order.
    Trainers cannot pass arguments that are not a mapping, so a call with such arguments gets a record only if one
    remains after all other calls.
    """
    by_name: dict[str, list[CallRecord]] = {}
    for record in records:
        by_name.setdefault(record.name, []).append(record)
    by_position: dict[tuple[int, int], CallRecord] = {}
    for name, name_records in by_name.items():
        positions = [(call.turn, call.place) for turn in turns for call in turn.calls if call.name == name]
        passed = [position for position in positions if position in ready]
        by_position |= dict(zip(passed if len(name_records) <= len(passed) else positions, name_records, strict=False))
    return tuple(
        replace(
            turn,
            calls=tuple(_with_record(call, by_position.get((call.turn, call.place)), is_error) for call in turn.calls),
        )
        for turn in turns
    )


def _with_record(call: ToolCall, record: CallRecord | None, is_error: IsError | None) -> ToolCall:
    if record is not None:
        arguments, fault = read_arguments(record.arguments)
        error = record.error if record.error is not None else _error_of(record.text, False, is_error)
        result = ToolResult(record.text, record.name, error, "recorded")
        return replace(call, arguments=arguments, fault=fault, result=result, ran=True)
    if call.result is None:
        return replace(call, ran=False)
    if call.result.error is None:
        return call  # a tool that is not the environment's
    return replace(call, ran=False, result=replace(call.result, source="recorded"))
