"""Stage: run a completion's calls with tools or in an environment.

``Stage(environment=Shop)`` runs a completion as a trainer would: it creates a fresh ``Shop``, resets it with the row,
runs the calls in each assistant message, and replaces the given results with the real results.
"""

from __future__ import annotations

import copy
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rewardkit.batch.environments import Watch, record_environment, recording_class, tools_of
from rewardkit.batch.trajectory import ToolCall, Trajectory
from rewardkit.check.variants.episodes.messages import Messages, is_assistant, is_result, messages_of
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.workers.background import in_background


@dataclass(frozen=True)
class Stage:
    """The place where a completion's calls run: an environment, tools, or neither.

    Attributes:
        environment: the environment's class, a function that creates an environment, or None.
        tools: functions that a completion may call.
    """

    environment: Callable[[], Any] | None = None
    tools: tuple[Callable[..., Any], ...] = ()
    _watch: Watch = field(default=Watch(hide_reward=True), compare=False)

    @property
    def real(self) -> bool:
        """Whether calls are really run."""
        return self.environment is not None or bool(self.tools)

    @property
    def name(self) -> str:
        """The environment's name, or "" if there is no environment."""
        return "" if self.environment is None else getattr(self.environment, "__name__", "environment")

    def make(self, row: Mapping[str, Any]) -> Any:
        """Return a fresh environment, reset with `row`, or None if the stage has no environment."""
        if self.environment is None:
            return None
        if isinstance(self.environment, type):
            environment = recording_class(self.environment, self._watch)()
        else:
            environment = record_environment(self.environment(), self._watch)
        environment.reset(**copy.deepcopy(dict(row)))
        return environment

    def functions(self, environment: Any) -> dict[str, Callable[..., Any]]:
        """Return the tools by name, including the methods of `environment`."""
        tools = {getattr(tool, "__name__", type(tool).__name__): tool for tool in self.tools}
        if environment is not None:
            tools |= {name: getattr(environment, name) for name, _ in tools_of(type(environment))}
        return tools

    def names(self) -> dict[str, inspect.Signature]:
        """Return the signature of each tool by name, without `self`."""
        tools = {getattr(tool, "__name__", type(tool).__name__): tool for tool in self.tools}
        signatures = {name: _signature(tool) for name, tool in tools.items()}
        if self.environment is not None:
            kind = self.environment if isinstance(self.environment, type) else type(self.environment())
            for name, function in tools_of(kind):
                bound = not isinstance(inspect.getattr_static(kind, name), staticmethod)
                parameters = list(_signature(function).parameters.values())[bound:]
                signatures[name] = inspect.Signature(parameters)
        return signatures

    def played(self, completion: Any, row: Mapping[str, Any], environment: Any = None) -> tuple[Any, Any]:
        """Return a completion with the real results of its calls, and the environment after the calls."""
        environment = self.make(row) if environment is None else environment
        if isinstance(completion, str) or not self.real:
            return completion, environment
        functions = self.functions(environment)
        messages: Messages = []
        original_messages = messages_of(completion)
        for message in original_messages:
            if not is_result(message):
                messages.append(message)
                calls = Trajectory.of([message]).calls if is_assistant(message) else ()
                messages += _results(functions, calls)
        return messages, environment


def play(environment: Callable[[], Any], completion: Any, row: Mapping[str, Any] | None = None) -> tuple[Any, Any]:
    """Run a completion's calls in a fresh environment. Return the messages with real results, and the environment.

    ::

        messages, shop = play(Shop, [{"role": "assistant", "tool_calls": [...]}], {"item": "tea"})
        rk.score(rk.agents.final_state(sold), [messages], environments=[shop], item=["tea"])

    Args:
        environment: the environment's class, or a function that creates an environment.
        completion: chat messages, in which the results are replaced.
        row: the keyword arguments for ``reset``.
    """
    return stage_of(environment, ()).played(completion, row or {})


def _results(functions: Mapping[str, Callable[..., Any]], calls: Sequence[ToolCall]) -> Iterator[dict[str, Any]]:
    """Yield the result messages of calls, run as TRL runs them: synchronous tools first, then the others."""
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
    for name, coroutine in later:
        try:
            yield _result(name, in_background(coroutine).result())
        except Exception as error:
            yield _result(name, {"error": str(error)})


def _result(name: str, result: Any) -> dict[str, Any]:
    return {"role": "tool", "name": name, "content": result if isinstance(result, list) else str(result)}


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except Exception:  # annotations with names that cannot be resolved here
        return inspect.signature(function)


def stage_of(environment: Any, tools: Sequence[Any]) -> Stage:
    """Return the stage for the arguments `environment` and `tools` of the check.

    Raises:
        RewardDefinitionError: the environment cannot be created, or a tool is not a function.
    """
    if environment is not None and not callable(environment):
        raise RewardDefinitionError(
            "environment= must be the class of an environment, or a function that creates one, got "
            f"{shorten(environment)}"
        )
    if isinstance(environment, type) and not callable(getattr(environment, "reset", None)):
        raise RewardDefinitionError(f"environment=: {environment.__name__} needs a method reset(self, **row)")
    listed = tuple(tools or ())
    for tool in listed:
        if not callable(tool):
            raise RewardDefinitionError(f"tools= must contain functions, got {shorten(tool)} ({type(tool).__name__})")
    return Stage(environment, listed)


def least_arguments(signature: inspect.Signature) -> dict[str, Any]:
    """Return minimal arguments for a tool: only the required arguments, each with the smallest value of its type."""
    smallest: dict[Any, Any] = {int: 0, float: 0.0, bool: False, list: [], dict: {}}
    names = {kind.__name__: kind for kind in smallest}
    arguments: dict[str, Any] = {}
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
        arguments[name] = choices[0] if choices else smallest.get(kind, "")
    return arguments
