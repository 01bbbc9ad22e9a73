"""Actions: find out whether a reward judges a policy's calls, so that no other reward is blamed for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from rewardkit.batch.trajectory import ToolCall, Trajectory
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.check.variants.episodes.messages import (
    UNKNOWN_TOOL,
    Made,
    Messages,
    calling,
    has_calls,
    inserted,
    is_assistant,
    is_result,
    known_results,
    messages_of,
    repeatable_calls,
    without_calls,
)
from rewardkit.check.variants.episodes.stage import least_arguments
from rewardkit.check.variants.wrong_answers import other_value
from rewardkit.tree.parameters import ENVIRONMENT


def judged_actions(subject: RewardUnderTest) -> list[Judged]:
    """Return the correct completions that call tools, or all correct completions if none does."""
    rights = [in_messages(subject, right) for right in judged(subject)]
    calling = [right for right in rights if has_calls(right.completion)]
    return calling or rights


def in_messages(subject: RewardUnderTest, right: Judged) -> Judged:
    """Return a correct completion with the calls in its text moved to a message, if this does not change the score.

    Calls in a message can be edited one by one. For a reward that looks for calls only in the text, the text is kept.
    """
    if has_calls(right.completion) or not any(binding.reads("trajectory") for _, binding in subject.bindings):
        return right
    trajectory = Trajectory.of(right.completion).with_text_calls()
    calls = repeatable_calls(trajectory.calls)
    if len(trajectory.turns) != 1 or not calls or len(calls) < len(trajectory.calls):
        return right
    messages = [calling(*calls)]
    (score,) = subject.see([Trial(messages, right.example)])
    return replace(right, completion=messages, seen=score) if score.same(right.seen) else right


def reads_state(subject: RewardUnderTest) -> bool:
    """Return whether the reward reads the environment, and thus judges its state regardless of the text."""
    return any(binding.reads(ENVIRONMENT) for _, binding in subject.bindings)


def gold_calls(subject: RewardUnderTest, right: Judged) -> list[ToolCall]:
    """Return the calls in a correct completion whose tool and arguments are also in a column that the reward reads.

    If the reward reads an environment's state, only the first call is returned, whichever it is.
    """
    calls = list(Trajectory.of(right.completion).calls)
    if subject.stage.environment is not None and reads_state(subject):
        return calls[:1]
    columns = subject.examples[right.example].columns
    read = [columns[name] for name in sorted(subject.columns_read & set(columns))]
    columns_json = json.dumps(read, default=str).replace('\\"', '"')
    return [
        call
        for call in calls
        if call.arguments is not None
        and f'"{call.name}"' in columns_json
        and all(json.dumps(value, default=str).strip('"') in columns_json for value in call.arguments.values())
    ]


def acts(subject: RewardUnderTest, right: Judged) -> bool:
    """Return whether other calls with a correct completion's text were observed to score lower."""

    def looked() -> bool:
        trials = [Trial(messages, right.example) for messages in variants(subject, right)]
        return any(score.scored and not right.paid(score) for score in subject.see(trials))

    is_judged: bool = subject.remembered(("acts", right.example, repr(right.completion)), looked)
    return is_judged


def variants(subject: RewardUnderTest, right: Judged) -> list[Messages]:
    """Return versions of the correct completion with other arguments, another tool, or another example's calls."""
    if not has_calls(right.completion):
        return []
    changed_episodes = []
    for change in (_other_arguments, _other_tool):
        messages = messages_of(right.completion)
        for index, message in enumerate(messages):
            calls = Trajectory.of([message]).calls if is_assistant(message) else ()
            if calls:
                again = calling(*(change(call) for call in repeatable_calls(calls)))
                messages[index] = {**message, "tool_calls": again["tool_calls"]}
        answer = known_results(right.completion)
        changed_episodes.append(_with_results(messages, answer))
    return [*changed_episodes, *_of_others(subject, right)]


def _of_others(subject: RewardUnderTest, right: Judged) -> Iterator[Messages]:
    """Yield versions of the correct completion with other examples' calls. Its text is kept."""
    right_calls = repeatable_calls(Trajectory.of(right.completion).calls)
    for number, example in enumerate(subject.examples):
        for other in example.good[:1]:
            calls = repeatable_calls(Trajectory.of(other).calls)
            if number != right.example and calls and calls != right_calls:
                yield inserted(without_calls(right.completion), calls, known_results(other))


def _with_results(messages: Messages, answer: Any) -> Messages:
    """Return the messages with the text of each result replaced by the `answer` to its changed call."""
    calls: list[Made] = []
    updated: Messages = []
    for message in messages:
        if is_assistant(message):
            calls = repeatable_calls(Trajectory.of([message]).calls)
        elif is_result(message) and calls:
            name, arguments = calls.pop(0)
            message = {**message, "name": name, "content": answer(name, arguments)}
        updated.append(message)
    return updated


def _other_arguments(call: Made) -> Made:
    name, arguments = call
    return name, {key: other_value(value) for key, value in arguments.items()}


def _other_tool(call: Made) -> Made:
    return "another_tool", call[1]


def further_calls(subject: RewardUnderTest, again: Sequence[Made]) -> Iterator[list[Made]]:
    """Yield calls that do nothing for the task: the last call again, an unknown tool, and minimal arguments."""
    if again:
        yield list(again)
    yield [UNKNOWN_TOOL]
    if not subject.stage.real:
        tool_names = {
            call.name for example in subject.examples for entry in example.good for call in Trajectory.of(entry).calls
        }
        # Arbitrary limits, here and below: each tool adds completions to score.
        for name in sorted(tool_names)[:2]:
            yield [(name, {})]
        return
    for name, signature in list(subject.stage.names().items())[:4]:
        arguments = least_arguments(signature)
        if json.dumps(arguments, default=str) not in {json.dumps(dict(entry), default=str) for _, entry in again}:
            yield [(name, arguments)]
