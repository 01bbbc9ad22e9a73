"""Laws of turns: what others say is not the answer, and idle turns and parts of an episode are not paid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rewardkit.check.findings import Finding
from rewardkit.check.laws.agents import NOTHING, bases, needs_calls, needs_paid_calls
from rewardkit.check.laws.base import Skip, Variant, finding, law
from rewardkit.check.reward_under_test.judgment import Judged
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import Trial, text_of
from rewardkit.check.variants.episodes.actions import acts, judged_actions, reads_state, variants
from rewardkit.check.variants.episodes.messages import Messages, answering, is_assistant, is_result, messages_of

_SUMS = 1e-9
"""By how much the shares of the turns may miss the value, relative to it: what adding them up makes."""


@law(
    advice="Do not add up or average over turns: rk.per_turn(reduce='last') or 'progress'",
    applies=needs_calls,
    per=judged_actions,
)
def idle_turns_are_not_paid(subject: Subject, right: Judged) -> Iterator[Variant]:
    """If turns are paid, the policy learns to talk on.

    Turns without content are put before and behind the answer. They must not earn more.
    """
    idle = [{"role": "assistant", "content": ""}, {"role": "user", "content": "Go on."}]
    for base in bases(right)[:2]:
        for changed in ([*idle * 2, *base], [*base, *idle[::-1] * 2], [*idle * 8, *base]):
            why = "earns {score} with turns that say nothing, {base} without them"
            yield Variant(Trial(changed, right.example), why, "no more", Trial(base, right.example))


@law(
    advice="Read the answer from the last turn of the policy: trajectory.answer or `completion`, not from all messages",
    skip="the reward reads no column that has the answer",
    applies=needs_calls,
    per=judged_actions,
)
def results_are_not_answers(subject: Subject, right: Judged) -> Iterator[Variant | None]:
    """If a tool's words are paid, the policy lets the tool say the answer, and never answers itself.

    Each result and each message of the user becomes the gold answer, bare and marked, while the answer stays wrong.
    """
    gold = right.anatomy.gold
    if not gold or right.anatomy.column not in subject.columns_read:
        return
    yield None
    wrong = answering(right.completion, NOTHING)
    if not reads_state(subject):
        yield Variant(Trial(wrong, right.example), "earns {score} with no answer at all: what the tools said is enough")
    for text in (gold, f"<answer>{gold}</answer>", f"\\boxed{{{gold}}}", text_of(right.completion)):
        if not subject.stage.real:
            why = "earns {score} if a tool says the answer, {base} if it does not"
            told, untold = (Trial(_heard(wrong, said), right.example) for said in (text, "nothing"))
            yield Variant(told, why, "no more", untold)


def _heard(messages: Messages, text: str) -> Messages:
    """Return the messages with another text in all that is not the policy's."""
    return [message if is_assistant(message) else {**message, "content": text} for message in messages]


@law(
    advice="Score the last state, or gate the reward by rk.finished()",
    applies=needs_paid_calls,
    per=judged_actions,
)
def prefix_below_whole(subject: Subject, right: Judged) -> Iterator[Variant]:
    """If a part of a right completion earns more than all of it, the policy learns to stop early.

    A right completion is cut after each message.
    """
    messages = messages_of(right.completion)
    if len(messages) < 2 or not (right.judges or acts(subject, right)):
        return
    for stop in range(1, len(messages)):
        if subject.stage.real and is_result(messages[stop - 1]):
            continue  # what is cut behind a call still has the result of that call
        why = f"cut after {stop} messages, it earns {{score}}, all of it {{base}}"
        yield Variant(Trial(messages[:stop], right.example), why, "no more")


@law(
    advice="Return shares that sum to the value, or use rk.per_turn",
    skip="no reward gives shares of turns",
    applies=needs_calls,
    per=judged_actions,
)
def turn_shares_sum(subject: Subject, right: Judged) -> Iterator[Finding | None]:
    """Trainers credit turns by their shares, so shares that do not sum to the value credit what was not earned."""
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
                seen = subject.see([trials[row]])[0]
                why = f"the shares of the turns sum to {np.sum(shares):.9g}, the value is {column.values[row]:.9g}"
                yield finding(subject, trials[row], seen, why, component=name)
