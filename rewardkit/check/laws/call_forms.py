"""Laws of the form of calls: their order within a turn and the way they are written do not matter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rewardkit.check.findings import Finding
from rewardkit.check.laws.agents import needs_calls, shown
from rewardkit.check.laws.base import Skip, finding, law
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.check.variants.episodes.actions import judged_actions
from rewardkit.check.variants.episodes.messages import Messages, has_calls, messages_of, permuted, split


@law
def parallel_order_indifferent(subject: Subject) -> Iterator[Finding]:
    """The calls of one turn have no order: a trainer runs synchronous tools first, whatever was asked first.

    The calls of a turn are permuted with their results, which must not change the score. One turn is split into
    several, which must not earn more.
    """
    needs_calls(subject)
    looked = False
    for right in judged_actions(subject):
        order, apart = permuted(right.completion), split(right.completion)
        if order is None or apart is None or subject.stage.real:
            continue
        looked = True
        trials = [Trial(order, right.example), Trial(apart, right.example)]
        other, more = subject.see(trials)
        if not other.same(right.seen):
            why = f"earns {shown(other)} if the calls of one turn change places, {right.value:.6g} if not"
            yield finding("parallel_order_indifferent", subject, trials[0], other, why)
            return
        if right.more(more):
            why = f"earns {more.value:.6g} if one turn is split into several, {right.value:.6g} if not"
            yield finding("parallel_order_indifferent", subject, trials[1], more, why)
            return
    if not looked:
        raise Skip("no right completion has parallel calls whose results are given")


@law
def call_forms_indifferent(subject: Subject) -> Iterator[Finding]:
    """The same call may be written in several ways, and which one it is says nothing about the policy.

    The keys of the arguments change places. A reward that reads trajectories also gets arguments as text, calls without
    ids, and no content.
    """
    needs_calls(subject)
    looked = False
    for right in judged_actions(subject):
        if not has_calls(right.completion):
            continue
        for messages in _forms(right.completion, every=_reads_trajectories(subject)):
            looked = True
            trial = Trial(messages, right.example)
            (seen,) = subject.see([trial])
            if not seen.same(right.seen):
                why = f"earns {shown(seen)} if the same calls are written in another form, {right.value:.6g} if not"
                yield finding("call_forms_indifferent", subject, trial, seen, why)
                return
    if not looked:
        raise Skip("no right completion has a call that can be written in another form")


def _reads_trajectories(subject: Subject) -> bool:
    return not any(binding.foreign or binding.reads("messages") for _, binding in subject.bindings)


def _forms(completion: Any, *, every: bool) -> Iterator[Messages]:
    changes = [_reversed_keys]
    if every:
        changes += [_as_text, _as_mapping]
    for change in changes:
        messages = messages_of(completion)
        for message in messages:
            calls = message.get("tool_calls")
            if isinstance(calls, list):
                message["tool_calls"] = [change(call) for call in calls]
                if every:
                    message["content"] = message.get("content") or None
        if json.dumps(messages, default=str) != json.dumps(completion, default=str):  # the order of keys counts
            yield messages


def _function(call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    return dict(function) if isinstance(function, Mapping) else {}


def _with_arguments(call: Any, arguments: Any) -> Any:
    function = _function(call)
    return {**call, "function": {**function, "arguments": arguments}} if function else call


def _reversed_keys(call: Any) -> Any:
    arguments = _function(call).get("arguments")
    if isinstance(arguments, str):
        try:
            read = json.loads(arguments)
        except ValueError:
            return call
        return _with_arguments(
            call, json.dumps(dict(list(read.items())[::-1])) if isinstance(read, dict) else arguments
        )
    return _with_arguments(call, dict(list(arguments.items())[::-1])) if isinstance(arguments, Mapping) else call


def _as_text(call: Any) -> Any:
    arguments = _function(call).get("arguments")
    return _with_arguments(call, json.dumps(arguments, default=str)) if isinstance(arguments, Mapping) else call


def _as_mapping(call: Any) -> Any:
    arguments = _function(call).get("arguments")
    try:
        return _with_arguments(call, json.loads(arguments)) if isinstance(arguments, str) else call
    except ValueError:
        return call


ALL = (
    parallel_order_indifferent,
    call_forms_indifferent,
)
