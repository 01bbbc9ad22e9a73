"""Episodes: edit the calls of a completion, and play its calls with tools or in an environment.

``Stage(environment=Shop)`` plays a completion as a trainer would: it makes a fresh ``Shop``, resets it with the row,
runs the calls of each assistant message, and puts the real results in the place of the given ones.
"""

from __future__ import annotations

import copy
import inspect
import json
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rewardkit.core.batch.environments import Watch, recorded, tools_of, watched
from rewardkit.core.batch.messages import content_text
from rewardkit.core.batch.trajectory import ToolCall, Trajectory
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.processes.background import in_background

Messages = list[dict[str, Any]]
Made = tuple[str, Mapping[str, Any]]
"""A call to make: the name of the tool and its arguments."""

UNKNOWN_TOOL: Made = ("no_such_tool", {})


def messages_of(completion: Any) -> Messages:
    """Return a copy of a completion as messages, which may be changed."""
    if isinstance(completion, str):
        return [{"role": "assistant", "content": completion}]
    given = completion if isinstance(completion, (list, tuple)) else [completion]
    return [dict(message) for message in given if isinstance(message, Mapping)]


def has_calls(completion: Any) -> bool:
    """Return whether a completion has a tool call."""
    return not isinstance(completion, str) and bool(Trajectory.of(completion).calls)


def made(calls: Sequence[ToolCall]) -> list[Made]:
    """Return calls as they can be made again; without those that have no arguments."""
    return [(call.name, dict(call.arguments)) for call in calls if call.arguments is not None]


def is_assistant(message: Mapping[str, Any]) -> bool:
    return bool(message.get("role", "assistant") == "assistant")


def is_result(message: Mapping[str, Any]) -> bool:
    return bool(message.get("role") == "tool")


def last_turn(messages: Sequence[Mapping[str, Any]]) -> int:
    """Return the place of the last assistant message; the number of messages if there is none."""
    places = [place for place, message in enumerate(messages) if is_assistant(message)]
    return places[-1] if places else len(messages)


def answering(completion: Any, text: str) -> Messages:
    """Return the completion with its calls and another text in its last turn."""
    messages = messages_of(completion)
    last = last_turn(messages)
    if last == len(messages) or messages[last].get("tool_calls") or any(map(is_result, messages[last:])):
        return [*messages, {"role": "assistant", "content": text}]
    messages[last] = {**messages[last], "content": text}
    return messages


def without_calls(completion: Any) -> Messages:
    """Return the text of the last turn, without any call or result before it."""
    messages = messages_of(completion)
    last = last_turn(messages)
    text = content_text(messages[last].get("content")) if last < len(messages) else ""
    return [{"role": "assistant", "content": text}]


def calling(*calls: Made) -> dict[str, Any]:
    """Return an assistant message that makes some calls, as TRL writes it."""
    written = [
        {"type": "function", "function": {"name": name, "arguments": copy.deepcopy(dict(arguments))}}
        for name, arguments in calls
    ]
    return {"role": "assistant", "content": "", "tool_calls": written}


@dataclass(frozen=True)
class Stage:
    """Where the calls of a completion run: in an environment, with tools, or nowhere.

    Attributes:
        environment: the class of the environment, or a function that makes one; None without.
        tools: functions that a completion may call.
    """

    environment: Callable[[], Any] | None = None
    tools: tuple[Callable[..., Any], ...] = ()
    _watch: Watch = field(default=Watch(hide_reward=True), compare=False)

    @property
    def real(self) -> bool:
        """Whether calls really run."""
        return self.environment is not None or bool(self.tools)

    @property
    def name(self) -> str:
        """The name of the environment; empty without one."""
        return "" if self.environment is None else getattr(self.environment, "__name__", "environment")

    def make(self, row: Mapping[str, Any]) -> Any:
        """Return a fresh environment that was reset with a row; None without an environment."""
        if self.environment is None:
            return None
        if isinstance(self.environment, type):
            environment = recorded(self.environment, self._watch)()
        else:
            environment = watched(self.environment(), self._watch)
        environment.reset(**copy.deepcopy(dict(row)))
        return environment

    def functions(self, environment: Any) -> dict[str, Callable[..., Any]]:
        """Return the tools by name."""
        known = {getattr(tool, "__name__", type(tool).__name__): tool for tool in self.tools}
        if environment is not None:
            known |= {name: getattr(environment, name) for name, _ in tools_of(type(environment))}
        return known

    def names(self) -> dict[str, inspect.Signature]:
        """Return the signatures of the tools by name, without `self`."""
        known = {getattr(tool, "__name__", type(tool).__name__): tool for tool in self.tools}
        found = {name: _signature(tool) for name, tool in known.items()}
        if self.environment is not None:
            kind = self.environment if isinstance(self.environment, type) else type(self.environment())
            for name, function in tools_of(kind):
                bound = not isinstance(inspect.getattr_static(kind, name), staticmethod)
                parameters = list(_signature(function).parameters.values())[bound:]
                found[name] = inspect.Signature(parameters)
        return found

    def played(self, completion: Any, row: Mapping[str, Any], environment: Any = None) -> tuple[Any, Any]:
        """Return a completion with the real results of its calls, and the environment after them."""
        environment = self.make(row) if environment is None else environment
        if isinstance(completion, str) or not self.real:
            return completion, environment
        functions = self.functions(environment)
        messages: Messages = []
        given = messages_of(completion)
        for message in given:
            if not is_result(message):
                messages.append(message)
                calls = Trajectory.of([message]).calls if is_assistant(message) else ()
                messages += _results(functions, calls)
        return messages, environment


def play(environment: Callable[[], Any], completion: Any, row: Mapping[str, Any] | None = None) -> tuple[Any, Any]:
    """Play the calls of a completion in a fresh environment; return the messages with real results, and it.

    ::

        messages, shop = play(Shop, [{"role": "assistant", "tool_calls": [...]}], {"item": "tea"})
        rk.score(rk.final_state(sold), [messages], environments=[shop], item=["tea"])

    Args:
        environment: the class of the environment, or a function that makes one.
        completion: chat messages; results in them are replaced.
        row: what ``reset`` gets.
    """
    return stage_of(environment, ()).played(completion, row or {})


def _results(functions: Mapping[str, Callable[..., Any]], calls: Sequence[ToolCall]) -> Iterator[dict[str, Any]]:
    """Run calls as TRL does: synchronous tools first, then the others."""
    later: list[tuple[str, Any]] = []
    for call in calls:
        function = functions.get(call.name)
        try:
            if function is None:
                raise ValueError(f"Tool {call.name} not found.")
            if call.arguments is None:
                raise TypeError("argument after ** must be a mapping")
            result = function(**dict(call.arguments))
        except Exception as error:
            result = {"error": str(error)}
        if inspect.iscoroutine(result):
            later.append((call.name, result))
        else:
            yield _result(call.name, result)
    for name, waiting in later:
        try:
            yield _result(name, in_background(waiting).result())
        except Exception as error:
            yield _result(name, {"error": str(error)})


def _result(name: str, result: Any) -> dict[str, Any]:
    return {"role": "tool", "name": name, "content": result if isinstance(result, list) else str(result)}


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except Exception:  # annotations whose names are not known here
        return inspect.signature(function)


def stage_of(environment: Any, tools: Sequence[Any]) -> Stage:
    """Return the stage for what was passed to the check.

    Raises:
        RewardDefinitionError: an environment that cannot be made, or a tool that is not a function.
    """
    if environment is not None and not callable(environment):
        raise RewardDefinitionError(
            f"environment= takes the class of an environment, or a function that makes one, got {shorten(environment)}"
        )
    if isinstance(environment, type) and not callable(getattr(environment, "reset", None)):
        raise RewardDefinitionError(f"environment=: {environment.__name__} needs a method reset(self, **row)")
    listed = tuple(tools or ())
    for tool in listed:
        if not callable(tool):
            raise RewardDefinitionError(f"tools= takes functions, got {shorten(tool)} ({type(tool).__name__})")
    return Stage(environment, listed)


def least_arguments(signature: inspect.Signature) -> dict[str, Any]:
    """Return the least arguments that a tool takes: the smallest value of each type."""
    smallest: dict[Any, Any] = {int: 0, float: 0.0, bool: False, list: [], dict: {}}
    names = {kind.__name__: kind for kind in smallest}
    found: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if (
            parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
            or parameter.default is not parameter.empty
        ):
            continue
        annotation = parameter.annotation
        if isinstance(annotation, str):
            annotation = names.get(annotation.partition("[")[0], str)
        kind = typing.get_origin(annotation) or annotation
        choices = typing.get_args(annotation) if kind is typing.Literal else ()
        found[name] = choices[0] if choices else smallest.get(kind, "")
    return found


def inserted(completion: Any, calls: Sequence[Made], result: Callable[[str, Mapping[str, Any]], str]) -> Messages:
    """Return the completion with further calls before its last turn, one turn each, with their results."""
    messages = messages_of(completion)
    last = last_turn(messages)
    further: Messages = []
    for name, arguments in calls:
        further += [calling((name, arguments)), {"role": "tool", "name": name, "content": result(name, arguments)}]
    return [*messages[:last], *further, *messages[last:]]


def known_results(completion: Any) -> Callable[[str, Mapping[str, Any]], str]:
    """Return what the tools of a completion answer: the same to the same call, an error to an unknown tool."""
    seen = {
        (call.name, json.dumps(dict(call.arguments), sort_keys=True)): call.result.text
        for call in Trajectory.of(completion).calls
        if call.arguments is not None and call.result is not None
    }
    names = {name for name, _ in seen}

    def result(name: str, arguments: Mapping[str, Any]) -> str:
        known = seen.get((name, json.dumps(dict(arguments), sort_keys=True)))
        if known is not None:
            return known
        return "{'error': 'not found'}" if name in names else str({"error": f"Tool {name} not found."})

    return result


def only(completion: Any, kept: ToolCall) -> Messages:
    """Return the completion with one of its calls alone, and its result; the text of the last turn stays."""
    last = without_calls(completion)
    if kept.arguments is None:
        return last
    result = [] if kept.result is None else [{"role": "tool", "name": kept.name, "content": kept.result.text}]
    return [calling((kept.name, kept.arguments)), *result, *last]


def permuted(completion: Any) -> Messages | None:
    """Return the completion with the calls of each turn and their results reversed; None if that is the same."""
    messages = messages_of(completion)
    trajectory = Trajectory.of(completion)
    changed = False
    found: Messages = []
    place = number = 0
    while place < len(messages):
        message = messages[place]
        place += 1
        if not is_assistant(message):
            found.append(message)
            continue
        turn = trajectory.turns[number]
        number += 1
        results = []
        while place < len(messages) and is_result(messages[place]):
            results.append(messages[place])
            place += 1
        calls = message.get("tool_calls")
        if isinstance(calls, list) and 1 < len(calls) == len(turn.calls) and len(results) in (0, len(calls)):
            changed = True
            found += [{**message, "tool_calls": calls[::-1]}, *results[::-1]]
        else:
            found += [message, *results]
    return found if changed else None


def split(completion: Any) -> Messages | None:
    """Return the completion with each parallel call in a turn of its own; None if there are none."""
    messages = messages_of(completion)
    trajectory = Trajectory.of(completion)
    found: Messages = []
    changed, number = False, 0
    for place, message in enumerate(messages):
        if is_result(message):
            before = next((one for one in reversed(messages[:place]) if is_assistant(one)), {})
            if len(before.get("tool_calls") or []) < 2:
                found.append(message)
            continue
        if not is_assistant(message):
            found.append(message)
            continue
        turn = trajectory.turns[number]
        number += 1
        calls = message.get("tool_calls")
        if not isinstance(calls, list) or len(calls) < 2 or len(calls) != len(turn.calls):
            found.append(message)
            continue
        changed = True
        for one, call in zip(calls, turn.calls, strict=True):
            found.append({**message, "tool_calls": [one]})
            if call.result is not None:
                found.append({"role": "tool", "name": call.name, "content": call.result.text})
    return found if changed else None
