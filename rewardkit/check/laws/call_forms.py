"""Laws of the form of calls: their order within a turn and the way they are written do not matter."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rewardkit.check.laws.agents import needs_calls
from rewardkit.check.laws.base import Variant, law
from rewardkit.check.reward_under_test.judgment import Judged
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.check.variants.episodes.actions import judged_actions
from rewardkit.check.variants.episodes.messages import Messages, has_calls, messages_of, permuted, split


@law(
    advice="Compare the calls of one turn as a set: rk.tool_calls pairs them in any order",
    skip="no right completion has parallel calls whose results are given",
    applies=needs_calls,
    per=judged_actions,
)
def parallel_order_indifferent(subject: Subject, right: Judged) -> Iterator[Variant]:
    """The calls of one turn have no order: a trainer runs synchronous tools first, whatever was asked first.

    The calls of a turn are permuted with their results, which must not change the score. One turn is split into
    several, which must not earn more.
    """
    order, apart = permuted(right.completion), split(right.completion)
    if order is None or apart is None or subject.stage.real:
        return
    why = "earns {score} if the calls of one turn change places, {base} if not"
    yield Variant(Trial(order, right.example), why, "same")
    why = "earns {score} if one turn is split into several, {base} if not"
    yield Variant(Trial(apart, right.example), why, "no more")


@law(
    advice="Read calls with rk.Trajectory: it reads arguments as text and as a mapping alike",
    skip="no right completion has a call that can be written in another form",
    applies=needs_calls,
    per=judged_actions,
)
def call_forms_indifferent(subject: Subject, right: Judged) -> Iterator[Variant]:
    """The same call may be written in several ways, and which one it is says nothing about the policy.

    The keys of the arguments change places. A reward that reads trajectories also gets arguments as text, calls without
    ids, and no content.
    """
    reads_trajectories = not any(binding.foreign or binding.reads("messages") for _, binding in subject.bindings)
    for messages in _forms(right.completion, every=reads_trajectories) if has_calls(right.completion) else ():
        why = "earns {score} if the same calls are written in another form, {base} if not"
        yield Variant(Trial(messages, right.example), why, "same")


def _forms(completion: Any, *, every: bool) -> Iterator[Messages]:
    """Yield a completion whose calls are written in other forms; `every` adds those that only trajectories read."""
    changes: list[Callable[[Any], Any]] = [_reversed_keys]
    if every:
        changes += [
            lambda arguments: arguments if isinstance(arguments, str) else json.dumps(arguments, default=str),
            lambda arguments: _read(arguments) if isinstance(arguments, str) else arguments,
        ]
    for change in changes:
        messages = messages_of(completion)
        for message in messages:
            calls = message.get("tool_calls")
            if isinstance(calls, list):
                message["tool_calls"] = [_with_arguments(call, change) for call in calls]
                if every:
                    message["content"] = message.get("content") or None
        if json.dumps(messages, default=str) != json.dumps(completion, default=str):  # the order of keys counts
            yield messages


def _with_arguments(call: Any, change: Callable[[Any], Any]) -> Any:
    """Return a call with other arguments; one of another form stays as it is."""
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("arguments"), (str, Mapping)):
        return call
    return {**call, "function": {**function, "arguments": change(function["arguments"])}}


def _read(arguments: str) -> Any:
    """Return arguments that are text as what they say; as they are if that cannot be read."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _reversed_keys(arguments: Any) -> Any:
    read = _read(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(read, Mapping):
        return arguments
    turned = dict(list(read.items())[::-1])
    return json.dumps(turned) if isinstance(arguments, str) else turned
