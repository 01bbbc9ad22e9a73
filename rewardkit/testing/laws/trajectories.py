"""Laws of trajectories: calls, turns and results are means, and only what they achieve is paid."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rewardkit.core.batch.trajectory import Trajectory
from rewardkit.testing.actions import (
    acts,
    further_calls,
    gold_calls,
    judged_actions,
    needs_calls,
    reads_state,
    variants,
)
from rewardkit.testing.episodes import (
    Messages,
    answering,
    has_calls,
    inserted,
    is_assistant,
    is_result,
    known_results,
    least_arguments,
    made,
    messages_of,
    only,
    permuted,
    split,
    without_calls,
)
from rewardkit.testing.findings import Finding
from rewardkit.testing.judgment import Judged, is_penalty
from rewardkit.testing.laws.base import Skip, finding, law
from rewardkit.testing.subject import Subject
from rewardkit.testing.trials import EQUAL, Seen, Trial, text_of
from rewardkit.testing.whole import covered

NOTHING = "I could not find it."
"""An answer that is wrong for every task."""
_SUMS = 1e-9


@law
def results_are_not_answers(subject: Subject) -> Iterator[Finding]:
    """If a tool's words are paid, the policy lets the tool say the answer, and never answers itself.

    Each result and each message of the user becomes the gold answer, bare and marked, while the answer stays wrong.
    """
    needs_calls(subject)
    looked = False
    for right in judged_actions(subject):
        gold = right.anatomy.gold
        wrong = answering(right.completion, NOTHING)
        if not gold or right.anatomy.column not in subject.columns_read:
            continue
        looked = True
        trial = Trial(wrong, right.example)
        (seen,) = subject.see([trial])
        if right.paid(seen) and not reads_state(subject) and not covered(subject, right, trial):
            why = f"earns {seen.value:.6g} with no answer at all: what the tools said is enough"
            yield finding("results_are_not_answers", subject, trial, seen, why)
            return
        if subject.stage.real:
            continue
        said = [gold, f"<answer>{gold}</answer>", f"\\boxed{{{gold}}}", text_of(right.completion)]
        found = _paid_more(
            subject,
            "results_are_not_answers",
            right,
            _heard(wrong, "nothing"),
            [_heard(wrong, text) for text in said],
            "if a tool says the answer, {} if it does not",
        )
        if found is not None:
            yield found
            return
    if not looked:
        raise Skip("the reward reads no column that has the answer")


def _heard(messages: Messages, text: str) -> Messages:
    """Return the messages with another text in all that is not the policy's."""
    return [message if is_assistant(message) else {**message, "content": text} for message in messages]


@law
def calls_are_not_paid(subject: Subject) -> Iterator[Finding]:
    """If each call is paid, the policy learns to call and not to solve: calls rise, right answers do not.

    Further calls (the same again, an unknown tool, empty arguments) are put before the end of right, wrong and idle
    completions. They must not earn more.
    """
    needs_calls(subject)
    for right in judged_actions(subject):
        answer = known_results(right.completion)
        for base in _bases(right):
            again = made(Trajectory.of(base).calls)[-1:]
            for calls in further_calls(subject, again):
                changed = [inserted(base, calls * count, answer) for count in (1, 3, 20)]
                how = "with further calls, {} without them"
                found = _paid_more(subject, "calls_are_not_paid", right, base, changed, how)
                if found is not None:
                    yield found
                    return


def _bases(right: Judged) -> list[Messages]:
    whole = messages_of(right.completion)
    return [whole, answering(whole, NOTHING), answering(without_calls(whole), NOTHING)]


@law
def idle_turns_are_not_paid(subject: Subject) -> Iterator[Finding]:
    """If turns are paid, the policy learns to talk on.

    Turns without content are put before and behind the answer. They must not earn more.
    """
    needs_calls(subject)
    idle = [{"role": "assistant", "content": ""}, {"role": "user", "content": "Go on."}]
    for right in judged_actions(subject):
        for base in _bases(right)[:2]:
            changed = [[*idle * 2, *base], [*base, *idle[::-1] * 2], [*idle * 8, *base]]
            how = "with turns that say nothing, {} without them"
            found = _paid_more(subject, "idle_turns_are_not_paid", right, base, changed, how)
            if found is not None:
                yield found
                return


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
            why = f"earns {_value(other)} if the calls of one turn change places, {right.value:.6g} if not"
            yield finding("parallel_order_indifferent", subject, trials[0], other, why)
            return
        if right.more(more):
            why = f"earns {more.value:.6g} if one turn is split into several, {right.value:.6g} if not"
            yield finding("parallel_order_indifferent", subject, trials[1], more, why)
            return
    if not looked:
        raise Skip("no right completion has parallel calls whose results are given")


@law
def one_for_all(subject: Subject) -> Iterator[Finding]:
    """If extra calls cost nothing, one policy that makes every call is right for every prompt.

    The calls of all examples are made at once, and nothing is answered. For some example it must earn less than right.
    """
    needs_calls(subject)
    rights = [right for right in judged_actions(subject) if acts(subject, right) and gold_calls(subject, right)]
    examples = {right.example: right for right in rights}
    calls = [made(Trajectory.of(right.completion).calls) for right in examples.values()]
    distinct = {json.dumps(own, sort_keys=True, default=str) for own in calls}
    if len(distinct) < 2:
        raise Skip("fewer than two examples have different calls")
    every = list({json.dumps(call, sort_keys=True, default=str): call for own in calls for call in own}.values())
    trials, pays = [], []
    for right in examples.values():
        answer = known_results(right.completion)
        base = answering(without_calls(right.completion), NOTHING)
        for further in (every, [call for call in every for _ in range(2)]):
            trials.append(Trial(inserted(base, further, answer), right.example))
            pays.append(right)
    seen = subject.see(trials)
    for turn in range(2):
        own = list(zip(trials, seen, pays, strict=True))[turn::2]
        if all(right.paid(one) and not covered(subject, right, trial) for trial, one, right in own):
            trial, one, right = own[0]
            why = f"the calls of all examples at once earn {one.value:.6g} on each, as a right completion does"
            yield finding("one_for_all", subject, trial, one, why)
            return


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
                why = f"earns {_value(seen)} if the same calls are written in another form, {right.value:.6g} if not"
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


@law
def claims_need_calls(subject: Subject) -> Iterator[Finding]:
    """If the words of a right completion are paid without its calls, the policy learns to say that it did it.

    The calls and results are taken out, the text stays. Where the calls are judged, or nothing but the calls can make
    the answer right, it must earn less.
    """
    needs_calls(subject)
    looked = False
    for right in judged_actions(subject):
        done = Trajectory.of(right.completion)
        if not done.calls or right.example in subject.promises.nothing_to_do:
            continue
        if not (gold_calls(subject, right) and acts(subject, right)) and not _only_tools_know(right):
            continue
        looked = True
        trial = Trial(without_calls(right.completion), right.example)
        (seen,) = subject.see([trial])
        if right.paid(seen) and not covered(subject, right, trial):
            why = f"the words alone, without the calls, earn {seen.value:.6g}, as a right completion does"
            yield finding("claims_need_calls", subject, trial, seen, why)
            return
    if not looked:
        raise Skip("the reward was not seen to judge what is called")


def _only_tools_know(right: Judged) -> bool:
    """Whether no column has the answer: the right completion says what its tools did."""
    return not right.anatomy.gold and right.judges and bool(text_of(right.completion).strip())


@law
def missing_calls_cost(subject: Subject) -> Iterator[Finding]:
    """If what was called is divided by itself, one right call is worth as much as all that were needed.

    Of several gold calls only one is made. It must earn less than all of them.
    """
    needs_calls(subject)
    looked = False
    for right in judged_actions(subject):
        gold = gold_calls(subject, right)
        if len(gold) < 2 or not acts(subject, right):
            continue
        looked = True
        for kept in (gold[0], gold[-1]):
            alone = only(right.completion, kept)
            trial = Trial(alone, right.example)
            (seen,) = subject.see([trial])
            if right.paid(seen) and not covered(subject, right, trial):
                why = f"one call of the {len(gold)} that its row has earns {seen.value:.6g}, as all of them do"
                yield finding("missing_calls_cost", subject, trial, seen, why)
                return
    if not looked:
        raise Skip("no column that the reward reads has several calls")


@law
def prefix_below_whole(subject: Subject) -> Iterator[Finding]:
    """If a part of a right completion earns more than all of it, the policy learns to stop early.

    A right completion is cut after each message.
    """
    needs_calls(subject)
    if is_penalty(subject):
        raise Skip("a penalty is highest where nothing happened")
    for right in judged_actions(subject):
        messages = messages_of(right.completion)
        if len(messages) < 2 or not (right.judges or acts(subject, right)):
            continue
        trials = [Trial(messages[:stop], right.example) for stop in range(1, len(messages))]
        if subject.stage.real:  # what is cut behind a call still has the result of that call
            trials = [trial for trial in trials if not is_result(trial.completion[-1])]
        for trial, seen in zip(trials, subject.see(trials), strict=True):
            if right.more(seen) and not covered(subject, right, trial):
                cut = f"cut after {len(trial.completion)} messages"
                why = f"{cut}, it earns {seen.value:.6g}, all of it {right.value:.6g}"
                yield finding("prefix_below_whole", subject, trial, seen, why)
                return


@law
def turn_shares_sum(subject: Subject) -> Iterator[Finding]:
    """Trainers credit turns by their shares, so shares that do not sum to the value credit what was not earned."""
    needs_calls(subject)
    looked = False
    for right in judged_actions(subject):
        trials = [Trial(base, right.example) for base in [*_bases(right), *variants(subject, right)][:6]]
        try:
            table = subject.table(trials)
        except Exception as error:
            raise Skip(f"the reward raises {type(error).__name__}") from error
        for name, column in table.components.items():
            for row, shares in column.turns.items():
                looked = True
                off = abs(float(np.sum(shares)) - float(column.values[row]))
                if off > _SUMS * max(1.0, abs(float(column.values[row]))):
                    seen = subject.see([trials[row]])[0]
                    why = f"the shares of the turns sum to {np.sum(shares):.9g}, the value is {column.values[row]:.9g}"
                    yield finding("turn_shares_sum", subject, trials[row], seen, why, component=name)
                    return
    if not looked:
        raise Skip("no reward gives shares of turns")


@law
def idle_policy_earns_nothing(subject: Subject) -> Iterator[Finding]:
    """If nothing has to be done to be paid, the policy does nothing, or the same for every prompt.

    "Done.", an apology, and each tool once with its least arguments must earn less than a right completion that acts.
    Name examples in which doing nothing is right in ``nothing_to_do=``.
    """
    needs_calls(subject)
    looked = False
    acting: list[Judged] = []
    for right in judged_actions(subject):
        calls = Trajectory.of(right.completion).calls
        if not calls or right.example in subject.promises.nothing_to_do or not acts(subject, right):
            continue
        looked = True
        texts = ("Done.", "I am sorry, I cannot help with that.", "")
        idle: list[Messages] = [[{"role": "assistant", "content": text}] for text in texts]
        trials = [Trial(messages, right.example) for messages in idle]
        for trial, seen in zip(trials, subject.see(trials), strict=True):
            if right.paid(seen) and not covered(subject, right, trial):
                why = f"a policy that does nothing earns {seen.value:.6g}, as a right completion does"
                yield finding("idle_policy_earns_nothing", subject, trial, seen, why)
                return
        acting.append(right)
    yield from _blind(subject, acting)
    if not looked:
        raise Skip("the reward was not seen to judge what is called")


def _blind(subject: Subject, acting: Sequence[Judged]) -> Iterator[Finding]:
    """Yield a policy that makes the same calls for every prompt, and is paid on each; one example may be luck."""
    different = {repr(made(Trajectory.of(right.completion).calls)) for right in acting}
    for calls in _once_each(subject) if len(different) > 1 else ():
        done: Messages = [{"role": "assistant", "content": "Done."}]
        trials = [Trial(inserted(done, calls, known_results(right.completion)), right.example) for right in acting]
        seen = subject.see(trials)
        if all(
            right.paid(one) and not covered(subject, right, trial)
            for right, one, trial in zip(acting, seen, trials, strict=True)
        ):
            why = f"a policy that makes the same calls for every prompt earns {seen[0].value:.6g}, as right ones do"
            yield finding("idle_policy_earns_nothing", subject, trials[0], seen[0], why)
            return


def _once_each(subject: Subject) -> Iterator[list[tuple[str, Mapping[str, Any]]]]:
    signatures = subject.stage.names()
    if signatures:
        yield [(name, least_arguments(signature)) for name, signature in signatures.items()]
        for name, signature in signatures.items():
            yield [(name, least_arguments(signature))]
            yield [(name, least_arguments(signature))] * 5


def _paid_more(
    subject: Subject, law_name: str, right: Judged, base: Messages, changed: Sequence[Messages], how: str
) -> Finding | None:
    """Return a finding if a changed completion earns more than its base, and the sum of all rewards does not mind."""
    plain, *trials = [Trial(messages, right.example) for messages in (base, *changed)]
    before, *seen = subject.see([plain, *trials])
    for trial, one in zip(trials, seen, strict=True):
        if not (one.scored and before.scored and one.value > before.value + 1e-6 * max(1.0, abs(before.value))):
            continue
        if _minded(subject, plain, trial):
            subject.covered = True
            continue
        return finding(law_name, subject, trial, one, f"earns {one.value:.6g} {how.format(f'{before.value:.6g}')}")
    return None


def _minded(subject: Subject, base: Trial, changed: Trial) -> bool:
    """Whether the sum of all rewards of the run does not pay the changed completion more; False without others."""
    whole = subject.whole
    if whole is None or whole.lost:
        return False
    before, after = whole.see([base, changed])
    return not (before.scored and after.scored) or after.value <= before.value + EQUAL


def _value(seen: Seen) -> str:
    return f"{seen.value:.6g}" if seen.scored else str(seen.outcome)


ALL = (
    calls_are_not_paid,
    idle_turns_are_not_paid,
    results_are_not_answers,
    one_for_all,
    claims_need_calls,
    missing_calls_cost,
    idle_policy_earns_nothing,
    prefix_below_whole,
    parallel_order_indifferent,
    call_forms_indifferent,
    turn_shares_sum,
)
