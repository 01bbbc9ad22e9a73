"""Laws of calls: calls are means, and only what they achieve is paid."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rewardkit.batch.trajectory import Trajectory
from rewardkit.check.findings import Finding
from rewardkit.check.laws.agents import NOTHING, bases, needs_calls, paid_more
from rewardkit.check.laws.base import Skip, finding, law
from rewardkit.check.reward_under_test.judgment import Judged, is_penalty
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import Trial, text_of
from rewardkit.check.reward_under_test.whole import covered
from rewardkit.check.variants.episodes.actions import acts, further_calls, gold_calls, judged_actions
from rewardkit.check.variants.episodes.messages import (
    Messages,
    answering,
    inserted,
    known_results,
    made,
    only,
    without_calls,
)
from rewardkit.check.variants.episodes.stage import least_arguments


@law
def calls_are_not_paid(subject: Subject) -> Iterator[Finding]:
    """If each call is paid, the policy learns to call and not to solve: calls rise, right answers do not.

    Further calls (the same again, an unknown tool, empty arguments) are put before the end of right, wrong and idle
    completions. They must not earn more.
    """
    needs_calls(subject)
    for right in judged_actions(subject):
        answer = known_results(right.completion)
        for base in bases(right):
            again = made(Trajectory.of(base).calls)[-1:]
            for calls in further_calls(subject, again):
                changed = [inserted(base, calls * count, answer) for count in (1, 3, 20)]
                how = "with further calls, {} without them"
                found = paid_more(subject, "calls_are_not_paid", right, base, changed, how)
                if found is not None:
                    yield found
                    return


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
    if not examples:
        raise Skip("no column that the reward reads has the calls")
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
        paid = all(right.paid(one) and not covered(subject, right, trial) for trial, one, right in own)
        if paid and any(_others_work(subject, trial, right) for trial, _, right in own):
            trial, one, right = own[0]
            why = f"the calls of all examples at once earn {one.value:.6g} on each, as a right completion does"
            yield finding("one_for_all", subject, trial, one, why)
            return


def _others_work(subject: Subject, trial: Trial, right: Judged) -> bool:
    """Whether calls of other examples do something here; an environment may refuse them all."""
    if not subject.stage.real:
        return True
    own = made(Trajectory.of(right.completion).calls)
    played, _ = subject.stage.played(trial.completion, subject.examples[trial.example].shown)
    return any(call.ok and (call.name, dict(call.arguments or {})) not in own for call in Trajectory.of(played).calls)


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
def idle_policy_earns_nothing(subject: Subject) -> Iterator[Finding]:
    """If nothing has to be done to be paid, the policy does nothing, or the same for every prompt.

    "Done.", an apology, and each tool once with its least arguments must earn less than a right completion that acts.
    Name examples in which doing nothing is right in ``nothing_to_do=``.
    """
    needs_calls(subject)
    if is_penalty(subject):
        raise Skip("a penalty is highest where nothing happened")
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


ALL = (
    calls_are_not_paid,
    one_for_all,
    claims_need_calls,
    missing_calls_cost,
    idle_policy_earns_nothing,
)
