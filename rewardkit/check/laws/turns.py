"""Laws of turns: what others say is not the answer, and idle turns and parts of an episode are not paid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rewardkit.check.findings import Finding
from rewardkit.check.laws.agents import NOTHING, bases, needs_calls, paid_more
from rewardkit.check.laws.base import Skip, finding, law
from rewardkit.check.reward_under_test.judgment import is_penalty
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import Trial, text_of
from rewardkit.check.reward_under_test.whole import covered
from rewardkit.check.variants.episodes.actions import acts, judged_actions, reads_state, variants
from rewardkit.check.variants.episodes.messages import Messages, answering, is_assistant, is_result, messages_of

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
        found = paid_more(
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
def idle_turns_are_not_paid(subject: Subject) -> Iterator[Finding]:
    """If turns are paid, the policy learns to talk on.

    Turns without content are put before and behind the answer. They must not earn more.
    """
    needs_calls(subject)
    idle = [{"role": "assistant", "content": ""}, {"role": "user", "content": "Go on."}]
    for right in judged_actions(subject):
        for base in bases(right)[:2]:
            changed = [[*idle * 2, *base], [*base, *idle[::-1] * 2], [*idle * 8, *base]]
            how = "with turns that say nothing, {} without them"
            found = paid_more(subject, "idle_turns_are_not_paid", right, base, changed, how)
            if found is not None:
                yield found
                return


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
        trials = [Trial(base, right.example) for base in [*bases(right), *variants(subject, right)][:6]]
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


ALL = (
    idle_turns_are_not_paid,
    results_are_not_answers,
    prefix_below_whole,
    turn_shares_sum,
)
