"""Laws of agents: only the effect of calls and turns counts, regardless of how the calls are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from rewardkit.batch.trajectory import Trajectory
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, Variant, finding, law, needs_good
from rewardkit.check.reward_under_test.judgment import Judged, is_penalty
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial, text_of
from rewardkit.check.reward_under_test.whole import covered
from rewardkit.check.variants.episodes.actions import (
    acts,
    further_calls,
    gold_calls,
    judged_actions,
    reads_state,
    variants,
)
from rewardkit.check.variants.episodes.messages import (
    Made,
    Messages,
    answering,
    has_calls,
    inserted,
    is_result,
    known_results,
    messages_of,
    only,
    permuted,
    repeatable_calls,
    split,
    with_results,
    without_calls,
)
from rewardkit.check.variants.episodes.stage import least_arguments
from rewardkit.tree.parameters import ENVIRONMENT

NOTHING = "I could not find it."
"""An answer that is incorrect for every task."""


def needs_calls(subject: RewardUnderTest) -> None:
    """Raise `Skip` unless the task has calls: a given completion makes a call, or the reward reads trajectories."""
    needs_good(subject)
    completions = (completion for example in subject.examples for completion in (*example.good, *example.bad))
    if subject.stage.real or any(map(has_calls, completions)):
        return
    if not any(binding.reads("trajectory", ENVIRONMENT) for _, binding in subject.bindings):
        raise Skip("no given completion calls a tool, and the reward reads no trajectory")


def needs_paid_calls(subject: RewardUnderTest) -> None:
    """Raise `Skip` unless the task has calls and the reward is not a penalty."""
    needs_calls(subject)
    if is_penalty(subject):
        raise Skip("a penalty is highest if the policy does nothing")


def bases(right: Judged) -> list[Messages]:
    """Return three completions: a correct one, the same one without its answer, and one that does nothing."""
    messages = messages_of(right.completion)
    return [messages, answering(messages, NOTHING), answering(without_calls(messages), NOTHING)]


@law(
    advice="Reward the calls that the task needs, and penalize all others: use rk.tool_calls(column), not a bonus "
    "for each call or result",
    applies=needs_calls,
    per=judged_actions,
)
def calls_are_not_paid(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If each call raises the score, the policy learns to make more calls, not to give more correct answers.

    Further calls (the same call again, an unknown tool, empty arguments) are inserted before the end of correct,
    incorrect, and idle completions. They must not raise the score.
    """
    results = known_results(right.completion)
    for base in bases(right):
        again = repeatable_calls(Trajectory.of(base).calls)[-1:]
        for calls in further_calls(subject, again):
            # One unnecessary call, a few, and more than any limit allows.
            for count in (1, 3, 20):
                changed = Trial(inserted(base, calls * count, results), right.example)
                message = "scores {score} with further calls, {base} without them"
                yield Variant(changed, message, "no more", Trial(base, right.example))


@law(
    advice="Penalize calls that a row does not need: rk.tool_calls(column) without extra='allow', or a penalty",
    applies=needs_calls,
)
def spraying_calls_costs(subject: RewardUnderTest) -> Iterator[Finding]:
    """If extra calls cost nothing, a policy that makes every possible call succeeds for every prompt.

    One completion makes the calls from all examples and gives no answer. For at least one example, it must score lower
    than a correct completion.
    """
    rights = [right for right in judged_actions(subject) if acts(subject, right) and gold_calls(subject, right)]
    examples = {right.example: right for right in rights}
    calls = [repeatable_calls(Trajectory.of(right.completion).calls) for right in examples.values()]
    if not examples:
        raise Skip("no column that the reward reads contains the calls")
    if len({_key(per_example) for per_example in calls}) < 2:
        raise Skip("the examples do not have different calls")
    every = list({_key(call): call for per_example in calls for call in per_example}.values())
    for times in (1, 2):
        further = [call for call in every for _ in range(times)]
        trials = [_calling_only(right, further) for right in examples.values()]
        scores = subject.see(trials)
        per_example = list(zip(trials, scores, examples.values(), strict=True))
        paid = all(right.paid(score) and not covered(subject, right, trial) for trial, score, right in per_example)
        if paid and any(_others_work(subject, trial, right) for trial, _, right in per_example):
            message = (
                f"the calls from all examples together score {scores[0].value:.6g} on each example, the same as a "
                "correct completion"
            )
            yield finding(subject, trials[0], scores[0], message)


def _key(calls: Any) -> str:
    return json.dumps(calls, sort_keys=True, default=str)


def _calling_only(right: Judged, calls: list[Any]) -> Trial:
    """Return a completion that makes `calls` and gives no answer."""
    base = answering(without_calls(right.completion), NOTHING)
    return Trial(inserted(base, calls, known_results(right.completion)), right.example)


def _others_work(subject: RewardUnderTest, trial: Trial, right: Judged) -> bool:
    """Return whether calls from other examples have an effect in `trial`. An environment may refuse all of them."""
    if not subject.stage.real:
        return True
    right_calls = repeatable_calls(Trajectory.of(right.completion).calls)
    played, _ = subject.stage.played(trial.completion, subject.examples[trial.example].shown)
    return any(
        call.ok and (call.name, dict(call.arguments or {})) not in right_calls for call in Trajectory.of(played).calls
    )


@law(
    advice="Check the call and its result, not the words: rk.agents.tool_success, rk.agents.final_state, "
    "rk.agents.no_claim_without_call",
    skip="the reward did not react to changed calls in any trial",
    applies=needs_calls,
    per=judged_actions,
)
def claims_need_calls(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If the text of a correct completion is rewarded without its calls, the policy learns to claim work it did not do.

    The calls and results are removed, but the text is kept. If the reward judges the calls, or if only the calls can
    make the answer correct, the completion must score lower.
    """
    if not Trajectory.of(right.completion).calls or right.example in subject.declarations.noop_examples:
        return
    only_tools_know = not right.anatomy.gold and right.judges and bool(text_of(right.completion).strip())
    if only_tools_know or (gold_calls(subject, right) and acts(subject, right)):
        message = "the words alone, without the calls, score {score}, the same as a correct completion"
        yield Variant(Trial(without_calls(right.completion), right.example), message)


@law(
    advice="Also divide by the needed calls: rk.tool_calls is 2 * matched / (gold + made)",
    skip="no column that the reward reads has several calls",
    applies=needs_calls,
    per=judged_actions,
)
def missing_calls_cost(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If the score is divided by the number of calls made, one correct call scores as high as all the needed calls.

    The completion makes only one of several gold calls. It must score lower than a completion that makes all of them.
    """
    gold = gold_calls(subject, right)
    if len(gold) < 2 or not acts(subject, right):
        return
    for gold_call in (gold[0], gold[-1]):
        message = f"one of the row's {len(gold)} calls scores {{score}}, the same as all of them"
        yield Variant(Trial(only(right.completion, gold_call), right.example), message)


@law(
    advice="Require the actions that the task needs, not only the absence of bad ones: all([]) is True. List the "
    "rows for which doing nothing is correct in noop_examples=",
    skip="the reward did not react to changed calls in any trial",
    applies=needs_paid_calls,
)
def idle_policy_earns_nothing(subject: RewardUnderTest) -> Iterator[Variant | Finding | None]:
    """If the policy gets a high score without doing anything, it learns to do nothing, or to do the same thing for
    every prompt.

    "Done.", an apology, and a call to each tool with minimal arguments must score lower than a correct completion that
    acts. List the examples for which doing nothing is correct in ``noop_examples=``.
    """
    acting = [
        right
        for right in judged_actions(subject)
        if Trajectory.of(right.completion).calls
        and right.example not in subject.declarations.noop_examples
        and acts(subject, right)
    ]
    texts = ("Done.", "I am sorry, I cannot help with that.", "")
    idle: list[Messages] = [[{"role": "assistant", "content": text}] for text in texts]
    for right in acting:
        for messages in idle:
            message = "a policy that does nothing scores {score}, the same as a correct completion"
            yield Variant(Trial(messages, right.example), message, base=right.as_given)
    # The same calls for every prompt are a fault only if they are rewarded on all of them: one example may be luck.
    different = {repr(repeatable_calls(Trajectory.of(right.completion).calls)) for right in acting}
    for calls in _once_each(subject) if len(different) > 1 else ():
        trials = [Trial(inserted(idle[0], calls, known_results(right.completion)), right.example) for right in acting]
        scores = subject.see(trials)
        if all(
            right.paid(score) and not covered(subject, right, trial)
            for right, score, trial in zip(acting, scores, trials, strict=True)
        ):
            message = (
                f"a policy that makes the same calls for every prompt scores {scores[0].value:.6g}, the same as "
                "correct completions"
            )
            yield finding(subject, trials[0], scores[0], message)


def _once_each(subject: RewardUnderTest) -> Iterator[list[Made]]:
    """Yield lists of calls with minimal arguments: all tools together, and each tool alone, once and five times."""
    calls: list[Made] = [(name, least_arguments(signature)) for name, signature in subject.stage.names().items()]
    if calls:
        yield calls
        for call in calls:
            yield [call]
            yield [call] * 5


_SUMS = 1e-9
"""The allowed difference between the value and the sum of its shares, relative to the value: rounding errors."""


@law(
    advice="Do not add up or average over turns: rk.per_turn(reduce='last') or 'progress'",
    applies=needs_calls,
    per=judged_actions,
)
def idle_turns_are_not_paid(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If extra turns raise the score, the policy learns to keep talking.

    Turns without content are added before and after the answer. They must not raise the score.
    """
    idle = [{"role": "assistant", "content": ""}, {"role": "user", "content": "Go on."}]
    for base in bases(right)[:2]:
        for changed in ([*idle * 2, *base], [*base, *idle[::-1] * 2], [*idle * 8, *base]):
            message = "scores {score} with empty turns, {base} without them"
            yield Variant(Trial(changed, right.example), message, "no more", Trial(base, right.example))


@law(
    advice="Read the answer from the last turn of the policy: trajectory.answer or `completion`, not from all messages",
    skip="the reward reads no column that contains the answer",
    applies=needs_calls,
    per=judged_actions,
)
def results_are_not_answers(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If a tool's output counts as the answer, the policy lets the tool give the answer and never answers itself.

    Each tool result and each user message is replaced with the gold answer, with and without marks, while the policy's
    answer stays incorrect.
    """
    gold = right.anatomy.gold
    if not gold or right.anatomy.column not in subject.columns_read:
        return
    yield None
    wrong = answering(right.completion, NOTHING)
    if not reads_state(subject):
        yield Variant(Trial(wrong, right.example), "scores {score} without an answer: the tools' results are enough")
    for text in (gold, f"<answer>{gold}</answer>", f"\\boxed{{{gold}}}", text_of(right.completion)):
        if not subject.stage.real:
            message = "scores {score} if a tool's result contains the answer, {base} if it does not"
            trial, untold = (
                Trial(with_results(wrong, tool_answer), right.example) for tool_answer in (text, "nothing")
            )
            yield Variant(trial, message, "no more", untold)


@law(
    advice="Score the last state, or gate the reward by rk.agents.finished()",
    applies=needs_paid_calls,
    per=judged_actions,
)
def prefix_below_whole(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If part of a correct completion scores higher than all of it, the policy learns to stop early.

    A correct completion is cut after each message. No shortened version may score higher than the whole completion.
    """
    messages = messages_of(right.completion)
    if len(messages) < 2 or not (right.judges or acts(subject, right)):
        return
    for stop in range(1, len(messages)):
        if subject.stage.real and is_result(messages[stop - 1]):
            continue  # a completion cut after a call still has the result of that call
        message = f"cut off after {stop} messages, it scores {{score}}, but in full it scores {{base}}"
        yield Variant(Trial(messages[:stop], right.example), message, "no more")


@law(
    advice="Return shares that sum to the value, or use rk.per_turn",
    skip="no reward returns turn shares",
    applies=needs_calls,
    per=judged_actions,
)
def turn_shares_sum(subject: RewardUnderTest, right: Judged) -> Iterator[Finding | None]:
    """Trainers credit each turn with its share, so shares that do not sum to the score give the wrong credit."""
    # Arbitrary limit: six completions are enough to show whether the shares sum.
    trials = [Trial(base, right.example) for base in [*bases(right), *variants(subject, right)][:6]]
    try:
        table = subject.table(trials)
    except Exception as error:
        raise Skip(f"the reward raises {type(error).__name__}") from error
    for name, column in table.components.items():
        for row, shares in column.turns.items():
            yield None
            value = float(column.values[row])
            if abs(float(np.sum(shares)) - value) > _SUMS * max(1.0, abs(value)):
                score = subject.see([trials[row]])[0]
                message = f"the turns' shares sum to {np.sum(shares):.9g}, but the value is {column.values[row]:.9g}"
                yield finding(subject, trials[row], score, message, component=name)


@law(
    advice="Compare the calls in one turn as a set: rk.tool_calls matches them in any order",
    skip="no correct completion has parallel calls with results",
    applies=needs_calls,
    per=judged_actions,
)
def parallel_order_indifferent(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """The calls in a turn have no order (a trainer runs synchronous tools first), so a score that depends on their
    order is noise.

    The calls in a turn are permuted together with their results, which must not change the score. One turn is split
    into several turns, which must not raise the score.
    """
    order, split_turns = permuted(right.completion), split(right.completion)
    if order is None or split_turns is None or subject.stage.real:
        return
    message = "scores {score} if the calls in one turn swap places, {base} if not"
    yield Variant(Trial(order, right.example), message, "same")
    message = "scores {score} if one turn is split into several, {base} if not"
    yield Variant(Trial(split_turns, right.example), message, "no more")


@law(
    advice="Read calls with rk.Trajectory: it reads arguments both as text and as a mapping",
    skip="no correct completion has a call that can be written in another form",
    applies=needs_calls,
    per=judged_actions,
)
def call_forms_indifferent(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """The same call can be written in several forms. A score that depends on the form is noise.

    The argument keys are reordered. A reward that reads trajectories also gets arguments as text, calls without ids,
    and messages without content.
    """
    reads_trajectories = not any(binding.foreign or binding.reads("messages") for _, binding in subject.bindings)
    for messages in _forms(right.completion, every=reads_trajectories) if has_calls(right.completion) else ():
        message = "scores {score} if the same calls are written in another form, {base} if not"
        yield Variant(Trial(messages, right.example), message, "same")


def _forms(completion: Any, *, every: bool) -> Iterator[Messages]:
    """Yield the completion with its calls in other forms. `every` adds forms that are readable only as trajectories."""
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
    """Return `call` with its arguments transformed by `change`. A call in an unknown format is returned unchanged."""
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("arguments"), (str, Mapping)):
        return call
    return {**call, "function": {**function, "arguments": change(function["arguments"])}}


def _read(arguments: str) -> Any:
    """Return `arguments` parsed as JSON, or unchanged if they are invalid JSON."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _reversed_keys(arguments: Any) -> Any:
    parsed = _read(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(parsed, Mapping):
        return arguments
    reordered = dict(list(parsed.items())[::-1])
    return json.dumps(reordered) if isinstance(arguments, str) else reordered
