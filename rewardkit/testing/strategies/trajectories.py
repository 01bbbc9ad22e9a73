"""Trajectories: completions with tool calls and their results, as trainers pass them.

``trajectories([search])`` draws ``[{"role": "assistant", "content": "0"}]``, the same after calls of ``search``, after
calls that fail, with a call that got no result. ``rk.Trajectory.of`` reads them.
"""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from pydantic import TypeAdapter

from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.testing.strategies.documents import json_values
from rewardkit.testing.strategies.texts import bodies

Messages = list[dict[str, Any]]

SEARCH: Mapping[str, Any] = {
    "name": "search",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
OPEN: Mapping[str, Any] = {
    "name": "open",
    "parameters": {
        "type": "object",
        "properties": {"color": {"enum": ["red", "blue", "green"]}, "wide": {"type": "boolean"}},
        "required": ["color"],
    },
}

_RESULTS = ("ok", "18", "", "[]", '{"found": 0}', "{'twice': 'DD'}", "None", "not found", "line\nline")
_ERRORS = ("no such letter", "Tool is busy", "'color'", "")
_BROKEN = ('{"query": ', "[1]", "7", '{"a": NaN}', '{"a": 1, "a": 2}', "query=a")
_UNKNOWN = ("sing", "Search", "functions.search", "no such tool")
_SAID = ("Go on.", "Are you sure?", "")


@dataclass(frozen=True)
class Tool:
    """A tool: its name, what its arguments are drawn from, and whether it is asynchronous."""

    name: str
    arguments: SearchStrategy[dict[str, Any]]
    asynchronous: bool = False


@dataclass(frozen=True)
class _Style:
    """How the messages of one completion are written."""

    ids: bool
    as_text: bool
    empty: Any


def trajectories(
    tools: Iterable[Callable[..., Any] | Mapping[str, Any]] = (SEARCH, OPEN),
    *,
    turns: tuple[int, int] = (0, 5),
    faults: bool = True,
) -> SearchStrategy[Messages]:
    """Draw completions as lists of messages: calls one after another and in parallel, results, an answer.

    Arguments are mappings or JSON text, calls have ids or none, the content of a call is empty, None or in parts, and
    results come in TRL's order: those of synchronous tools first. Shrinks to one turn with an answer.

    Args:
        tools: functions with type hints, or schemas, ``{"name": ..., "parameters": {...}}`` or OpenAI's.
        turns: the fewest and the most assistant messages.
        faults: also draw results with errors as TRL writes them, unknown tools, arguments that are no object, an answer
            that breaks off, calls without a result, a result without an answer, and no message at all.

    Raises:
        RewardDefinitionError: no tools, something that is not a tool, or `turns` that are not two numbers.
    """
    least, most = turns
    if not 0 <= least <= most or most < 1:
        raise RewardDefinitionError(f"trajectories: turns must be (fewest, most), such as (0, 5), got {shorten(turns)}")
    known = [tool_of(tool) for tool in tools]
    if not known:
        raise RewardDefinitionError("trajectories: pass at least one tool, a function or its schema")
    return _conversation(known, least, most, faults)


def tool_of(given: Any) -> Tool:
    """Read a tool: a function, or its schema.

    Raises:
        RewardDefinitionError: it is neither.
    """
    if isinstance(given, Mapping):
        inner = given["function"] if isinstance(given.get("function"), Mapping) else given
        name, schema = inner.get("name"), inner.get("parameters") or {}
        if isinstance(name, str) and isinstance(schema, Mapping):
            return Tool(name, json_values({"type": "object", "additionalProperties": False, **schema}))
    elif callable(given) and hasattr(given, "__name__"):
        return Tool(given.__name__, json_values(_schema_of(given)), inspect.iscoroutinefunction(given))
    raise RewardDefinitionError(
        f"trajectories: a tool is a function, or a schema with a name and parameters, got {shorten(given)}"
    )


def _schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the schema of a function's arguments."""
    hints = typing.get_type_hints(function)
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    required = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        properties[name] = TypeAdapter(hints.get(name, str)).json_schema()
        definitions |= properties[name].pop("$defs", {})
        if parameter.default is parameter.empty:
            required.append(name)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
        "$defs": definitions,
    }


@st.composite
def _conversation(draw: DrawFn, tools: Sequence[Tool], least: int, most: int, faults: bool) -> Messages:
    endings = ["answered", "cut", "pending", "silent"] if faults else ["answered"]
    ending = draw(st.sampled_from([*endings, "nothing"] if faults and least == 0 else endings))
    style = _Style(draw(st.booleans()), draw(st.booleans()), draw(st.sampled_from(["", None, []])))
    before = draw(st.integers(max(0, least - 1), most - 1))
    messages: Messages = []
    for number in range(before):
        if draw(st.integers(0, 4)) == 4:
            messages += [_says(draw, draw(bodies())), {"role": "user", "content": draw(st.sampled_from(_SAID))}]
        else:
            messages += draw(_turn(tools, style, faults, number, 0))
    if ending in ("pending", "silent"):
        return messages + draw(_turn(tools, style, faults, before, 1 if ending == "pending" else 0))
    answer = draw(bodies())
    said = _says(draw, answer[: len(answer) // 2] if ending == "cut" else answer)
    return [] if ending == "nothing" else [*messages, said]  # drawn last, so that it is not the simplest


def _says(draw: DrawFn, text: str) -> dict[str, Any]:
    content = draw(st.sampled_from([text, [{"type": "text", "text": text}]]))
    return {"role": "assistant", "content": content}


@st.composite
def _turn(draw: DrawFn, tools: Sequence[Tool], style: _Style, faults: bool, number: int, dropped: int) -> Messages:
    """Draw a message with calls and their results, without the results if they were dropped."""
    calls: list[dict[str, Any]] = []
    first: Messages = []
    later: Messages = []
    for place in range(draw(st.integers(1, 3))):
        tool = draw(st.sampled_from(tools))
        fault = draw(st.sampled_from(["", "", "raises", "unknown", "broken"])) if faults else ""
        name = draw(st.sampled_from(_UNKNOWN)) if fault == "unknown" else tool.name
        arguments: Any = draw(tool.arguments)
        if fault == "broken":
            arguments = draw(st.sampled_from(_BROKEN))
        elif style.as_text:
            arguments = json.dumps(arguments)
        call: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments}}
        result: dict[str, Any] = {"role": "tool", "name": name, "content": draw(_result(fault, name))}
        if style.ids:
            call["id"] = result["tool_call_id"] = f"call_{number}_{place}"
        calls.append(call)
        started = tool.asynchronous and fault in ("", "raises")
        (later if started else first).append(result)
    content = draw(st.sampled_from([style.empty, "Let me look."]))
    return [{"role": "assistant", "content": content, "tool_calls": calls}, *([] if dropped else [*first, *later])]


@st.composite
def _result(draw: DrawFn, fault: str, name: str) -> Any:
    if fault == "unknown":
        return str({"error": f"Tool {name} not found."})
    if fault == "broken":
        return str({"error": "argument after ** must be a mapping, not str"})
    if fault == "raises":
        return str({"error": draw(st.sampled_from(_ERRORS))})
    text = draw(st.sampled_from(_RESULTS))
    return draw(st.sampled_from([text, [{"type": "text", "text": text}]]))
