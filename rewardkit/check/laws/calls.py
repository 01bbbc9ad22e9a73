"""Laws of calls: calls are means, and only what they achieve is paid."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rewardkit.batch.trajectory import Trajectory
from rewardkit.check.findings import Finding
from rewardkit.check.laws.agents import NOTHING, bases, needs_calls, needs_paid_calls
from rewardkit.check.laws.base import Skip, Variant, finding, law
from rewardkit.check.reward_under_test.judgment import Judged
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import Trial, text_of
from rewardkit.check.reward_under_test.whole import covered
from rewardkit.check.variants.episodes.actions import acts, further_calls, gold_calls, judged_actions
from rewardkit.check.variants.episodes.messages import (
    Made,
    Messages,
    answering,
    inserted,
    known_results,
    made,
    only,
    without_calls,
)
from rewardkit.check.variants.episodes.stage import least_arguments


@law(
    advice="Pay for the calls that the task needs and let others cost: rk.tool_calls(column), not a bonus for each "
    "call or result",
    applies=needs_calls,
    per=judged_actions,
)
def calls_are_not_paid(subject: Subject, right: Judged) -> Iterator[Variant]:
    """If each call is paid, the policy learns to call and not to solve: calls rise, right answers do not.

    Further calls (the same again, an unknown tool, empty arguments) are put before the end of right, wrong and idle
    completions. They must not earn more.
    """
    results = known_results(right.completion)
    for base in bases(right):
        again = made(Trajectory.of(base).calls)[-1:]
        for calls in further_calls(subject, again):
            for count in (1, 3, 20):
                changed = Trial(inserted(base, calls * count, results), right.example)
                why = "earns {score} with further calls, {base} without them"
                yield Variant(changed, why, "no more", Trial(base, right.example))


@law(
    advice="Let calls that a row does not need cost: rk.tool_calls(column) without extra='allow', or a penalty",
    applies=needs_calls,
)
def one_for_all(subject: Subject) -> Iterator[Finding]:
    """If extra calls cost nothing, one policy that makes every call is right for every prompt.

    The calls of all examples are made at once, and nothing is answered. For some example it must earn less than right.
    """
    rights = [right for right in judged_actions(subject) if acts(subject, right) and gold_calls(subject, right)]
    examples = {right.example: right for right in rights}
    calls = [made(Trajectory.of(right.completion).calls) for right in examples.values()]
    if not examples:
        raise Skip("no column that the reward reads has the calls")
    if len({_key(own) for own in calls}) < 2:
        raise Skip("fewer than two examples have different calls")
    every = list({_key(call): call for own in calls for call in own}.values())
    for times in (1, 2):
        further = [call for call in every for _ in range(times)]
        trials = [_calling_only(right, further) for right in examples.values()]
        scores = subject.see(trials)
        own = list(zip(trials, scores, examples.values(), strict=True))
        paid = all(right.paid(score) and not covered(subject, right, trial) for trial, score, right in own)
        if paid and any(_others_work(subject, trial, right) for trial, _, right in own):
            why = f"the calls of all examples at once earn {scores[0].value:.6g} on each, as a right completion does"
            yield finding(subject, trials[0], scores[0], why)


def _key(calls: Any) -> str:
    return json.dumps(calls, sort_keys=True, default=str)


def _calling_only(right: Judged, calls: list[Any]) -> Trial:
    """Return a completion that makes these calls and answers nothing."""
    base = answering(without_calls(right.completion), NOTHING)
    return Trial(inserted(base, calls, known_results(right.completion)), right.example)


def _others_work(subject: Subject, trial: Trial, right: Judged) -> bool:
    """Whether calls of other examples do something here; an environment may refuse them all."""
    if not subject.stage.real:
        return True
    own = made(Trajectory.of(right.completion).calls)
    played, _ = subject.stage.played(trial.completion, subject.examples[trial.example].shown)
    return any(call.ok and (call.name, dict(call.arguments or {})) not in own for call in Trajectory.of(played).calls)


@law(
    advice="Check the call and its result, not the words: rk.tool_success, rk.final_state, rk.no_claim_without_call",
    skip="the reward was not seen to judge what is called",
    applies=needs_calls,
    per=judged_actions,
)
def claims_need_calls(subject: Subject, right: Judged) -> Iterator[Variant]:
    """If the words of a right completion are paid without its calls, the policy learns to say that it did it.

    The calls and results are taken out, the text stays. Where the calls are judged, or nothing but the calls can make
    the answer right, it must earn less.
    """
    if not Trajectory.of(right.completion).calls or right.example in subject.promises.nothing_to_do:
        return
    only_tools_know = not right.anatomy.gold and right.judges and bool(text_of(right.completion).strip())
    if only_tools_know or (gold_calls(subject, right) and acts(subject, right)):
        why = "the words alone, without the calls, earn {score}, as a right completion does"
        yield Variant(Trial(without_calls(right.completion), right.example), why)


@law(
    advice="Divide by the calls that are needed, too: rk.tool_calls is 2 * matched / (gold + made)",
    skip="no column that the reward reads has several calls",
    applies=needs_calls,
    per=judged_actions,
)
def missing_calls_cost(subject: Subject, right: Judged) -> Iterator[Variant]:
    """If what was called is divided by itself, one right call is worth as much as all that were needed.

    Of several gold calls only one is made. It must earn less than all of them.
    """
    gold = gold_calls(subject, right)
    if len(gold) < 2 or not acts(subject, right):
        return
    for kept in (gold[0], gold[-1]):
        why = f"one call of the {len(gold)} that its row has earns {{score}}, as all of them do"
        yield Variant(Trial(only(right.completion, kept), right.example), why)


@law(
    advice="Ask for what has to be done, not only that nothing wrong was done: all() of nothing is true. Name rows "
    "where doing nothing is right in nothing_to_do=",
    skip="the reward was not seen to judge what is called",
    applies=needs_paid_calls,
)
def idle_policy_earns_nothing(subject: Subject) -> Iterator[Variant | Finding | None]:
    """If nothing has to be done to be paid, the policy does nothing, or the same for every prompt.

    "Done.", an apology, and each tool once with its least arguments must earn less than a right completion that acts.
    Name examples in which doing nothing is right in ``nothing_to_do=``.
    """
    acting = [
        right
        for right in judged_actions(subject)
        if Trajectory.of(right.completion).calls
        and right.example not in subject.promises.nothing_to_do
        and acts(subject, right)
    ]
    texts = ("Done.", "I am sorry, I cannot help with that.", "")
    idle: list[Messages] = [[{"role": "assistant", "content": text}] for text in texts]
    for right in acting:
        for messages in idle:
            why = "a policy that does nothing earns {score}, as a right completion does"
            yield Variant(Trial(messages, right.example), why, base=right.as_given)
    # A policy that makes the same calls for every prompt must be paid on each: one example may be luck.
    different = {repr(made(Trajectory.of(right.completion).calls)) for right in acting}
    for calls in _once_each(subject) if len(different) > 1 else ():
        trials = [Trial(inserted(idle[0], calls, known_results(right.completion)), right.example) for right in acting]
        scores = subject.see(trials)
        if all(
            right.paid(score) and not covered(subject, right, trial)
            for right, score, trial in zip(acting, scores, trials, strict=True)
        ):
            why = f"a policy that makes the same calls for every prompt earns {scores[0].value:.6g}, as right ones do"
            yield finding(subject, trials[0], scores[0], why)


def _once_each(subject: Subject) -> Iterator[list[Made]]:
    """Yield calls with the least arguments that are allowed: of all tools, and of each alone."""
    calls: list[Made] = [(name, least_arguments(signature)) for name, signature in subject.stage.names().items()]
    if calls:
        yield calls
        for call in calls:
            yield [call]
            yield [call] * 5
