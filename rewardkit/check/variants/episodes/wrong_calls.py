"""Incorrect tool calls, for rewards that judge an assistant's calls rather than its text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, cast

from rewardkit.batch.trajectory import Trajectory
from rewardkit.check.completion.parsed_completion import parsed_json
from rewardkit.check.reward_under_test.judgment import Judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.check.variants.wrong_answers import other_value


def wrong_calls(subject: RewardUnderTest, right: Judged) -> Iterator[Trial]:
    """Yield versions of the correct completion with other values in its calls, or with calls to another function.

    Nothing is yielded unless a column that the reward reads has the calls and a completion without calls scores lower.
    Nothing is yielded in an environment either, because its state decides, and calls that look something up may differ.
    """
    completion = right.completion
    if subject.stage.environment is not None:
        return
    if not isinstance(completion, list) or not any(message.get("tool_calls") for message in completion):
        return
    silent = [{name: value for name, value in message.items() if name != "tool_calls"} for message in completion]
    if right.paid(subject.see([Trial(silent, right.example)])[0]):
        return
    columns = subject.examples[right.example].columns
    columns_json = json.dumps([columns[name] for name in sorted(subject.columns_read & set(columns))], default=str)
    named = {call.name for call in Trajectory.of(completion).calls if _stands(call.name, columns_json)}
    for changed in _changed(completion, columns_json, named):
        yield Trial(changed, right.example)


def changeable_calls(subject: RewardUnderTest, right: Judged) -> Iterator[tuple[Any, Callable[[Any], Trial]]]:
    """Yield the arguments of each call in a column, with a function that makes the same call with other arguments."""
    if not any(True for _ in wrong_calls(subject, right)):
        return
    completion: Any = right.completion
    columns = subject.examples[right.example].columns
    columns_json = json.dumps([columns[name] for name in sorted(subject.columns_read & set(columns))], default=str)
    for index, message in enumerate(completion):
        for number, call in enumerate(message.get("tool_calls") or []):
            function = call.get("function") if isinstance(call, Mapping) else None
            arguments = _arguments(function) if isinstance(function, Mapping) else None
            if (
                isinstance(arguments, dict)
                and arguments
                and all(_stands(argument, columns_json) for argument in arguments.values())
            ):
                yield arguments, partial(_calling, right, index, number)


def _calling(right: Judged, index: int, number: int, arguments: Any) -> Trial:
    """Return the correct completion with `arguments` in one of its calls."""
    messages: list[dict[str, Any]] = [dict(message) for message in cast("list[Any]", right.completion)]
    calls = list(messages[index]["tool_calls"])
    function = calls[number]["function"]
    written = json.dumps(arguments) if isinstance(function.get("arguments"), str) else arguments
    calls[number] = {**calls[number], "function": {**function, "arguments": written}}
    messages[index]["tool_calls"] = calls
    return Trial(messages, right.example)


def _changed(completion: list[Mapping[str, Any]], columns_json: str, named: set[str]) -> Iterator[list[dict[str, Any]]]:
    """Yield versions of the completion with one changed call, to a tool in the columns if they name tools."""
    for index, message in enumerate(completion):
        for number, call in enumerate(message.get("tool_calls") or []):
            function = call.get("function") if isinstance(call, Mapping) else None
            if not isinstance(function, Mapping) or (named and function.get("name") not in named):
                continue
            for changed in _other_calls(function, columns_json):
                calls = list(message["tool_calls"])
                calls[number] = {**call, "function": changed}
                messages = [dict(original) for original in completion]
                messages[index]["tool_calls"] = calls
                yield messages


def _other_calls(function: Mapping[str, Any], columns_json: str) -> Iterator[dict[str, Any]]:
    raw_arguments, arguments = function.get("arguments"), _arguments(function)
    if isinstance(arguments, dict) and arguments and all(_stands(value, columns_json) for value in arguments.values()):
        changed_arguments = {name: other_value(value) for name, value in arguments.items()}
        for changed in (changed_arguments, {}):
            yield {**function, "arguments": json.dumps(changed) if isinstance(raw_arguments, str) else changed}
    if isinstance(function.get("name"), str) and _stands(function["name"], columns_json):
        yield {**function, "name": "another_tool"}


def _arguments(function: Mapping[str, Any]) -> Any:
    raw_arguments = function.get("arguments")
    return parsed_json(raw_arguments) if isinstance(raw_arguments, str) else raw_arguments


def _stands(value: Any, columns_json: str) -> bool:
    return json.dumps(value, default=str).strip('"') in columns_json.replace('\\"', '"')
