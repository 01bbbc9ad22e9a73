"""Edits of trajectories: changes that a fair reward of tool calls treats as what they are.

``edited(messages, "further calls")`` draws the messages with calls that do nothing for the task, for which no policy
should be paid; ``edited(messages, "arguments")`` the same calls written in another form, which should change nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.core.batch.call_arguments import read_arguments
from rewardkit.core.batch.trajectory import Trajectory
from rewardkit.core.errors import RewardDefinitionError, shorten

Messages = list[dict[str, Any]]
Edit = Literal["further calls", "idle turns", "parallel order", "arguments", "ids", "prefix"]


def edited(messages: Iterable[Mapping[str, Any]], *edits: Edit) -> SearchStrategy[tuple[Edit, Messages]]:
    """Draw pairs of an edit and the completion with it.

    Args:
        messages: a completion, with calls as TRL or OpenAI write them.
        edits: some of ``"further calls"``: 1 to 20 calls before the last turn, repeated or of a tool that does not
            exist; ``"idle turns"``: turns without content, before and behind the answer; ``"parallel order"``: the
            calls of each turn permuted with their results; ``"arguments"``: as mapping or as JSON text, keys in another
            order; ``"ids"``: on all calls and results, or on none; ``"prefix"``: cut after one of the messages. All of
            them by default.

    Raises:
        RewardDefinitionError: an unknown edit.
    """
    for edit in edits:
        if edit not in get_args(Edit):
            raise RewardDefinitionError(f"edited: an edit is one of {', '.join(get_args(Edit))}, got {shorten(edit)}")
    held = [dict(message) for message in messages]
    return st.sampled_from(edits or get_args(Edit)).flatmap(
        lambda edit: st.tuples(st.just(edit), _EDITS[edit](held)),
    )


@st.composite
def _further_calls(draw: DrawFn, messages: Messages) -> Messages:
    calls = [call for call in _calls(messages) if isinstance(call.get("function"), Mapping)]
    unknown = {"type": "function", "function": {"name": "no_such_tool", "arguments": {}}}
    further: Messages = []
    for _ in range(draw(st.sampled_from([1, 2, 20]))):
        call = draw(st.sampled_from([unknown, *({"type": "function", "function": one["function"]} for one in calls)]))
        name = call["function"].get("name")
        further += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "name": name, "content": str({"error": f"Tool {name} not found."})},
        ]
    last = max((place for place, one in enumerate(messages) if _is_policys(one)), default=len(messages))
    return [*messages[:last], *further, *messages[last:]]


@st.composite
def _idle_turns(draw: DrawFn, messages: Messages) -> Messages:
    idle = {"role": "assistant", "content": draw(st.sampled_from(["", None, " "]))}
    places = [place for place, message in enumerate(messages) if _is_policys(message)] + [len(messages)]
    place = draw(st.sampled_from(places))
    return [*messages[:place], *[dict(idle)] * draw(st.sampled_from([1, 2, 5])), *messages[place:]]


@st.composite
def _parallel_order(draw: DrawFn, messages: Messages) -> Messages:
    """Permute the calls of each turn; each result stays with its call."""
    found: Messages = []
    for part, turn in zip(_parts(messages), [None, *Trajectory.of(messages).turns], strict=False):
        calls = part[0].get("tool_calls") if part and turn is not None else None
        results = [message for message in part[1:] if message.get("role") == "tool"]
        if turn is None or not isinstance(calls, list) or len(results) not in (0, len(calls)):
            found += part
            continue
        order = draw(st.permutations(range(len(calls))))
        own = {id(result): message for result, message in zip(turn.results, results, strict=False)}
        moved = [own.get(id(turn.calls[place].result)) for place in order] if results else []
        if any(message is None for message in moved):
            found += part
            continue
        others = [message for message in part[1:] if message.get("role") != "tool"]
        found += [{**part[0], "tool_calls": [calls[place] for place in order]}, *filter(None, moved), *others]
    return found


@st.composite
def _arguments(draw: DrawFn, messages: Messages) -> Messages:
    as_text, backwards = draw(st.booleans()), draw(st.booleans())

    def written(arguments: Any) -> Any:
        value, _ = read_arguments(arguments)
        if value is None:
            return arguments
        names = reversed(list(value)) if backwards else value
        again = {name: value[name] for name in names}
        return json.dumps(again) if as_text else again

    def changed(call: dict[str, Any]) -> dict[str, Any]:
        function = call.get("function")
        if not isinstance(function, Mapping) or "arguments" not in function:
            return call
        return {**call, "function": {**function, "arguments": written(function["arguments"])}}

    return _with_calls(messages, changed)


@st.composite
def _ids(draw: DrawFn, messages: Messages) -> Messages:
    """Give ids to all calls and their results, or take all of them away."""
    if not draw(st.booleans()):
        bare = _with_calls(messages, lambda call: {name: one for name, one in call.items() if name != "id"})
        return [{name: one for name, one in message.items() if name != "tool_call_id"} for message in bare]
    ids: dict[int, str] = {}
    turns = Trajectory.of(messages).turns
    numbers = iter([(turn, place) for turn in turns for place in range(len(turn.calls))])
    given = iter(range(10**6))

    def numbered(call: dict[str, Any]) -> dict[str, Any]:
        turn, place = next(numbers)
        name = f"call_{next(given)}"
        if turn.calls[place].result is not None:
            ids[id(turn.calls[place].result)] = name
        return {**call, "id": name}

    found = _with_calls(messages, numbered)
    results = iter([result for turn in turns for result in turn.results])
    for message in found:
        if message.get("role") == "tool" and (result := next(results, None)) is not None and id(result) in ids:
            message["tool_call_id"] = ids[id(result)]
    return found


@st.composite
def _prefix(draw: DrawFn, messages: Messages) -> Messages:
    return messages[: draw(st.integers(0, len(messages)))]


_EDITS: Mapping[str, Callable[[Messages], SearchStrategy[Messages]]] = {
    "further calls": _further_calls,
    "idle turns": _idle_turns,
    "parallel order": _parallel_order,
    "arguments": _arguments,
    "ids": _ids,
    "prefix": _prefix,
}


def _is_policys(message: Mapping[str, Any]) -> bool:
    return bool(message.get("role", "assistant") == "assistant")


def _calls(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    listed = [message.get("tool_calls") for message in messages if _is_policys(message)]
    return [call for calls in listed if isinstance(calls, list) for call in calls if isinstance(call, dict)]


def _with_calls(messages: Messages, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Messages:
    """Return copies of the messages with each call changed."""
    found = []
    for message in messages:
        calls = message.get("tool_calls")
        if _is_policys(message) and isinstance(calls, list):
            message = {**message, "tool_calls": [change(one) if isinstance(one, dict) else one for one in calls]}
        found.append(dict(message))
    return found


def _parts(messages: Messages) -> list[Messages]:
    """Return what is before the first assistant message, and each of these with what follows it."""
    parts: list[Messages] = [[]]
    for message in messages:
        if _is_policys(message):
            parts.append([])
        parts[-1].append(message)
    return parts
