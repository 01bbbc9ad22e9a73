"""Episodes: run drawn calls in an environment, and return the messages and the environment after the calls.

``episodes(Shop)`` draws calls to the tools of ``Shop``, and ``episodes(Shop, st.just([("buy", {"item": "tea"})]))``
runs one policy. Score an episode with ``rk.score(reward, [episode.messages], environments=[episode.environment])``.
"""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from pydantic import TypeAdapter

from rewardkit.check.variants.episodes.messages import Made, calling
from rewardkit.check.variants.episodes.stage import stage_of
from rewardkit.check.variants.strategies.documents import json_values
from rewardkit.check.variants.strategies.texts import bodies
from rewardkit.check.variants.wild_texts import SHAPES
from rewardkit.errors import RewardDefinitionError, shorten

# Trajectories: completions with tool calls and their results, as trainers pass them.


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
    """A tool: its name, a strategy for its arguments, and whether it is asynchronous."""

    name: str
    arguments: SearchStrategy[dict[str, Any]]
    asynchronous: bool = False


@dataclass(frozen=True)
class _Style:
    """The format in which the messages in one completion are written."""

    ids: bool
    as_text: bool
    empty: Any


def trajectories(
    tools: Iterable[Callable[..., Any] | Mapping[str, Any]] = (SEARCH, OPEN),
    *,
    turns: tuple[int, int] = (0, 5),
    faults: bool = True,
) -> SearchStrategy[Messages]:
    """Draw completions as lists of messages: calls in sequence and in parallel, their results, and an answer.

    Arguments are mappings or JSON text, calls have ids or none, the content of a call is empty, None, or in parts, and
    results come in TRL's order, with those of synchronous tools first. Failures shrink to one turn with an answer.

    Args:
        tools: functions with type hints, or schemas such as ``{"name": ..., "parameters": {...}}`` or OpenAI's.
        turns: the minimum and the maximum number of assistant messages.
        faults: whether to also draw results with errors in TRL's format, unknown tools, arguments that are not an
            object, an answer that breaks off, calls without a result, a result without an answer, and no message at
            all.

    Raises:
        RewardDefinitionError: there are no tools, an item is not a tool, or `turns` is not two numbers.
    """
    least, most = turns
    if not 0 <= least <= most or most < 1:
        raise RewardDefinitionError(
            f"trajectories: turns must be (minimum, maximum), such as (0, 5), got {shorten(turns)}"
        )
    parsed_tools = [tool_of(tool) for tool in tools]
    if not parsed_tools:
        raise RewardDefinitionError("trajectories: pass at least one tool, a function or its schema")
    return _conversation(parsed_tools, least, most, faults)


def tool_of(definition: Any) -> Tool:
    """Return the tool that a function or a schema defines.

    Raises:
        RewardDefinitionError: `definition` is neither a function nor a schema.
    """
    if isinstance(definition, Mapping):
        inner = definition["function"] if isinstance(definition.get("function"), Mapping) else definition
        name, schema = inner.get("name"), inner.get("parameters") or {}
        if isinstance(name, str) and isinstance(schema, Mapping):
            return Tool(name, json_values({"type": "object", "additionalProperties": False, **schema}))
    elif callable(definition) and hasattr(definition, "__name__"):
        return Tool(definition.__name__, json_values(_schema_of(definition)), inspect.iscoroutinefunction(definition))
    raise RewardDefinitionError(
        f"trajectories: a tool must be a function, or a schema with a name and parameters, got {shorten(definition)}"
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
        # On average, one turn in five calls no tool.
        if draw(st.integers(0, 4)) == 4:
            messages += [_says(draw, draw(bodies())), {"role": "user", "content": draw(st.sampled_from(_SAID))}]
        else:
            messages += draw(_turn(tools, style, faults, number, 0))
    if ending in ("pending", "silent"):
        return messages + draw(_turn(tools, style, faults, before, 1 if ending == "pending" else 0))
    answer = draw(bodies())
    final_message = _says(draw, answer[: len(answer) // 2] if ending == "cut" else answer)
    return [] if ending == "nothing" else [*messages, final_message]  # the last choice, so it is not the simplest


def _says(draw: DrawFn, text: str) -> dict[str, Any]:
    content = draw(st.sampled_from([text, [{"type": "text", "text": text}]]))
    return {"role": "assistant", "content": content}


@st.composite
def _turn(draw: DrawFn, tools: Sequence[Tool], style: _Style, faults: bool, number: int, dropped: int) -> Messages:
    """Draw a message with calls, and the messages with their results unless these are `dropped`."""
    calls: list[dict[str, Any]] = []
    first: Messages = []
    later: Messages = []
    for index in range(draw(st.integers(1, 3))):
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
            call["id"] = result["tool_call_id"] = f"call_{number}_{index}"
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


# Conversations: one text in every form of chat messages that trainers pass.


Conversation = list[dict[str, Any]]

_CALL = {"id": "call_0", "type": "function", "function": {"name": "search", "arguments": '{"query": "a"}'}}


def conversations(texts: SearchStrategy[str], *, odd: bool = False) -> SearchStrategy[Any]:
    """Draw chat messages whose text is drawn from `texts`.

    Args:
        texts: the texts of the answer.
        odd: whether to also draw shapes without such a text: no messages, content None, an image, or a tool's message
            at the end.
    """
    shaped: SearchStrategy[Any] = _shaped(texts)
    return st.one_of(shaped, st.sampled_from(list(SHAPES.values()))) if odd else shaped


@st.composite
def _shaped(draw: DrawFn, texts: SearchStrategy[str]) -> Conversation:
    text = draw(texts)
    message: dict[str, Any] = {"role": "assistant", "content": draw(st.sampled_from(_contents(text)))}
    before = draw(st.sampled_from([[], *_openings()]))
    messages_after = draw(st.sampled_from([[], [{"role": "tool", "name": "search", "content": "stored"}]]))
    extras: list[dict[str, Any]] = [{}, {"tool_calls": [_CALL]}, {"name": "policy"}, {"reasoning_content": "6*7"}]
    extra = draw(st.sampled_from(extras))
    return [*before, {**message, **extra}, *messages_after]


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


# Groups: the completions of one prompt, such as copies, all different ones, or one outlier among copies.


T = TypeVar("T")


def groups(completions: SearchStrategy[T], *, size: int | tuple[int, int] = (1, 8)) -> SearchStrategy[list[T]]:
    """Draw groups of completions with repetitions, as a policy samples them for one prompt.

    Args:
        completions: a strategy for one completion.
        size: the number of completions, or its minimum and maximum.

    Raises:
        RewardDefinitionError: the minimum is below 1 or above the maximum.
    """
    least, most = (size, size) if isinstance(size, int) else size
    if not 1 <= least <= most:
        raise RewardDefinitionError(f"groups: size must be a number of at least 1, or (minimum, maximum), got {size}")
    return st.one_of(_copies(completions, least, most), st.lists(completions, min_size=least, max_size=most))


@st.composite
def _copies(draw: DrawFn, completions: SearchStrategy[T], least: int, most: int) -> list[T]:
    """Draw a group with few distinct completions, like the samples of a policy that has converged."""
    different = draw(st.lists(completions, min_size=1, max_size=3))
    return draw(st.lists(st.sampled_from(different), min_size=least, max_size=most))


class Episode(NamedTuple):
    """One episode: its messages with the real results, and its environment after the calls."""

    messages: list[dict[str, Any]]
    environment: Any


Policy = Sequence[Made | Sequence[Made]]
"""The calls of an episode: for each turn, one call as (name, arguments), or a list of parallel calls."""


def episodes(
    environment: Callable[[], Any],
    policies: SearchStrategy[Policy] | None = None,
    *,
    row: Mapping[str, Any] | None = None,
    turns: tuple[int, int] = (0, 4),
) -> SearchStrategy[Episode]:
    """Draw episodes: an environment is created and reset, and its tools are called as TRL calls them.

    Args:
        environment: the environment's class, or a function that creates an environment.
        policies: a strategy for the calls in an episode. By default, the arguments fit the tools' type hints.
        row: the keyword arguments for ``reset``.
        turns: the minimum and the maximum number of turns with calls, unless `policies` is given.

    Raises:
        RewardDefinitionError: `environment` cannot be created or has no tools, or a policy has calls in another format.
    """
    stage = stage_of(environment, ())
    if policies is None:
        policies = _policies([tool_of(tool) for tool in stage.functions(stage.make(row or {})).values()], turns)

    def played(policy: Policy, answer: str) -> Episode:
        call_messages = [calling(*_turn_calls(turn)) for turn in policy]
        return Episode(*stage.played([*call_messages, {"role": "assistant", "content": answer}], row or {}))

    return st.builds(played, policies, bodies())


def _turn_calls(turn: Any) -> list[Made]:
    calls = [turn] if isinstance(turn, tuple) and len(turn) == 2 and isinstance(turn[0], str) else list(turn)
    for call in calls:
        if not (isinstance(call, (tuple, list)) and len(call) == 2 and isinstance(call[1], Mapping)):
            raise RewardDefinitionError(
                f'episodes: a policy must be a list of calls such as ("buy", {{"item": "tea"}}), got {shorten(call)}'
            )
    return [(name, arguments) for name, arguments in calls]


@st.composite
def _policies(draw: DrawFn, tools: Sequence[Tool], turns: tuple[int, int]) -> list[list[Made]]:
    least, most = turns
    if not tools:
        raise RewardDefinitionError("episodes: the environment has no tool. Add a public method with type hints")

    def one() -> Made:
        tool = draw(st.sampled_from(tools))
        return tool.name, draw(tool.arguments)

    return [[one() for _ in range(draw(st.integers(1, 3)))] for _ in range(draw(st.integers(least, most)))]
