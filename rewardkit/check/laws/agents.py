"""Laws of agents: only the effect of calls and turns counts, regardless of how the calls are written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from rewardkit.batch.messages import prompt_text
from rewardkit.batch.trajectory import Trajectory
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, Variant, finding, law, needs_good
from rewardkit.check.reward_under_test.judgment import Judged, is_penalty, judged
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
    is_assistant,
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
from rewardkit.check.variants.episodes.written_calls import WrittenCall, WrittenCalls, is_lookup, other_objects
from rewardkit.check.variants.wrong_answers import other_value
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
    calls_count = bool(gold_calls(subject, right)) and acts(subject, right)
    if only_tools_know or calls_count:
        message = "the words alone, without the calls, score {score}, the same as a correct completion"
        yield Variant(Trial(without_calls(right.completion), right.example), message, lead=not calls_count)


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


# Words of a prompt that allow no other calls.
_NOTHING_ELSE = re.compile(
    r"(?i)\bnothing else\b|\bno others?\b|\ball others?\b[^.\n]{0,60}\b(?:as they are|unchanged|alone)\b|"
    r"\bno (?:more|further|additional|extra|unnecessary) (?:calls?|actions?|changes?|tools?)\b|"
    r"\bonly (?:the|what|those|these) [^.\n]{0,40}\b(?:need|ask|request|want|change)|\bexactly (?:the|these|what)\b|"
    r"\b(?:do not|don't|never) (?:change|touch|modify) (?:any|other)"
)
_ONCE = re.compile(r"(?i)\bonce\b|\bno (?:duplicates?|repeated)\b|\bnever twice\b")
_NUMBERS = {word: number for number, word in enumerate(("one", "two", "three", "four", "five"), 1)}
_AT_MOST = re.compile(
    rf"(?i)\b(?:at most|up to|no more than|a maximum of) (\d+|{'|'.join(_NUMBERS)}) (?:[\w-]+ ){{0,2}}?"
    r"(?:calls?|searches|times|steps|queries|actions)\b"
)
# Arbitrary limits: each call, and each object, adds a few completions.
_MOST_CALLS = 12
_MOST_OBJECTS = 3


def _needed_calls(subject: RewardUnderTest, right: Judged) -> tuple[WrittenCalls, list[WrittenCall]]:
    """Return the written calls of a correct completion, and those without which it scores lower."""
    written = WrittenCalls.of(right.completion)
    if len(written.calls) > subject.affordable(_MOST_CALLS) or has_calls(right.completion):
        return written, []
    scores = subject.see([Trial(written.without(call), right.example) for call in written.calls])
    needed = zip(written.calls, scores, strict=True)
    return written, [call for call, score in needed if score.scored and not right.paid(score)]


@law(
    advice="Compare all calls, or the whole state after them, not only the needed part",
    skip="no correct completion has a call that could also be made with another object",
    applies=needs_good,
    per=judged,
)
def other_objects_stay_as_they_are(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If calls to other objects cost nothing, the policy changes all of them to be sure.

    A call that the task needs is also made with other objects from the columns or the prompt: another order, device, or
    account. If the prompt allows no other calls, they must lower the score.
    """
    example = subject.examples[right.example]
    prompt = prompt_text(example.prompt)
    sources = [*(example.columns[name] for name in sorted(subject.columns_read & set(example.columns))), prompt]
    completion = json.dumps(right.completion, default=str)
    for arguments, changed_call in _changeable(subject, right):
        for name, value in arguments.items():
            objects = other_objects(value, sources) if isinstance(value, str) and value else []
            trials = [
                [Trial(changed_call(changed), right.example) for changed in _with_object(arguments, name, entry)]
                for entry in objects
                if entry not in completion
            ][:_MOST_OBJECTS]
            if not trials:
                continue
            yield None
            free = [all(map(right.paid, subject.see(variants))) for variants in trials]
            # A call that changes nothing, such as switching off what is off, is free for a good reason.
            if all(free) or any(is_free and len(trials[index]) > 1 for index, is_free in enumerate(free)):
                message = "with a call that changes another object, it scores {score}, the same as without it"
                is_lead = not _NOTHING_ELSE.search(prompt)
                yield Variant(trials[free.index(True)][-1], message, lead=is_lead)
                return


def _changeable(
    subject: RewardUnderTest, right: Judged
) -> Iterator[tuple[Mapping[str, Any], Callable[[Mapping[str, Any]], Any]]]:
    """Yield the arguments of each needed call, with a function that makes the call again with other arguments."""
    written, needed = _needed_calls(subject, right)
    for call in needed:
        if not call.is_lookup:
            yield call.arguments, partial(written.with_call, call)
    if has_calls(right.completion) and not subject.stage.real and acts(subject, right):
        for name, arguments in repeatable_calls(gold_calls(subject, right)):
            if not is_lookup(name):
                yield arguments, partial(_with_call, right.completion, name)


def _with_call(completion: Any, name: str, arguments: Mapping[str, Any]) -> Messages:
    """Return the completion with another call and its result before its last turn."""
    return inserted(completion, [(name, arguments)], known_results(completion))


def _with_object(arguments: Mapping[str, Any], name: str, other: str) -> Iterator[dict[str, Any]]:
    """Yield arguments with another object, and also with one other value each."""
    changed = {**arguments, name: other}
    yield changed
    for key, value in arguments.items():
        if key != name and isinstance(value, (str, bool, int, float)):
            yield {**changed, key: other_value(value)}


@law(
    advice="Parse every call, outside the thinking, and compare its name and all its arguments",
    skip="no correct completion has calls in its text that it needs",
    applies=needs_good,
    per=judged,
)
def each_written_call_counts(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If something else counts as a call, the policy writes words that look like calls.

    A needed call gets other arguments, becomes words without the form of a call, or moves into the thinking. Each of
    them must lower the score.
    """
    example = subject.examples[right.example]
    prompt = prompt_text(example.prompt)
    columns = json.dumps([example.columns[name] for name in sorted(subject.columns_read & set(example.columns))])
    written, needed = _needed_calls(subject, right)
    if needed:
        yield None
    for call in needed:
        text = written.written(call, call.arguments)
        words = " ".join(re.findall(r"[\w.-]+", re.sub(r"</?[\w-]+(?:=[^<>]*)?>", "", text)))
        if '{"' in prompt:  # the prompt shows the form
            message = "with the words of a call instead of a call, it scores {score}, the same as with the call"
            yield Variant(Trial(written.saying(call, words), right.example), message)
        if "<think>" in prompt or right.anatomy.thinking is not None:
            message = "with a call in the thinking only, it scores {score}, the same as with a real call"
            yield Variant(Trial(written.saying(call, f"<think>{text}</think>"), right.example), message)
        if _ONCE.search(prompt) and not call.is_lookup:
            message = "with the same call twice, it scores {score}, the same as with one call"
            yield Variant(Trial(written.with_more(call, text), right.example), message)
    for broken in _broken_calls(subject, right) if not written.calls else ():
        message = "with a call that cannot be parsed, it scores {score}, the same as with no call"
        yield Variant(Trial(broken, right.example), message)
    if len(written.messages) == 1:
        return  # its elements are tried by `every_element_counts`
    for call in written.calls if needed else ():
        for name, value in call.arguments.items():
            if call not in needed and call.is_lookup:
                continue
            changed = written.written(call, {**call.arguments, name: other_value(value)})
            message = f"with another {name} in a call, it scores {{score}}, the same as with the correct one"
            is_lead = call not in needed or len(str(value)) < 2 or str(value) not in columns
            yield Variant(Trial(written.saying(call, changed), right.example), message, lead=is_lead)


def _broken_calls(subject: RewardUnderTest, right: Judged) -> Iterator[Any]:
    """Yield another example's only call without its last brace, if that call is observed to be wrong here."""
    for example in subject.examples:
        for good in example.good[:1]:
            written = WrittenCalls.of(good)
            if len(written.calls) != 1 or len(written.messages) > 1:
                continue
            text = text_of(good)
            (score,) = subject.see([right.trial(text)])
            if score.scored and not right.paid(score):
                brace = text.rindex("}")
                yield right.saying(text[:brace] + text[brace + 1 :])


@law(
    advice="Count the calls in all messages, and allow as many as the task allows: `<=`, not `<`",
    skip="no prompt limits the number of calls, or no correct completion can make further calls",
    applies=needs_good,
    per=judged,
)
def limits_on_calls_hold(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If the limit on calls in the prompt is not checked, the policy makes more calls than the task allows.

    The last call of a correct completion and its result are repeated until the limit is reached, and then once more.
    """
    example = subject.examples[right.example]
    stated = _AT_MOST.search(prompt_text(example.prompt))
    messages = messages_of(right.completion)
    calls = [index for index in range(len(messages) - 1) if is_assistant(messages[index])]
    steps = [index for index in calls if not is_assistant(messages[index + 1])]
    if stated is None or not steps or subject.stage.real:
        return
    limit = int(stated[1]) if stated[1].isdigit() else _NUMBERS[stated[1].lower()]
    last = steps[-1]
    end = next((index for index in calls if index > last), len(messages) - 1)
    # Arbitrary: a high limit makes long conversations.
    if not len(steps) < limit <= 30:
        return
    before, at, above = (
        Trial([*messages[:last], *messages[last:end] * (1 + count - len(steps)), *messages[end:]], right.example)
        for count in (limit - 1, limit, limit + 1)
    )
    yield None
    scores = subject.see([before, at])
    if right.paid(scores[1]):
        is_lead = not any(value == limit and type(value) is int for value in example.columns.values())
        yield Variant(above, f"with {limit + 1} calls instead of at most {limit}, it scores {{score}}", lead=is_lead)
    elif len(steps) < limit - 1 and right.paid(scores[0]):
        message = f"with {limit} calls, as many as the prompt allows, it scores {{score}} instead of {{base}}"
        yield Variant(at, message, "no less", before)
