"""What laws of agents share: when they apply, and which completions they start from."""

from __future__ import annotations

from rewardkit.check.laws.base import Skip, needs_good
from rewardkit.check.reward_under_test.judgment import Judged, is_penalty
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.variants.episodes.messages import Messages, answering, has_calls, messages_of, without_calls
from rewardkit.tree.parameters import ENVIRONMENT

NOTHING = "I could not find it."
"""An answer that is wrong for every task."""


def needs_calls(subject: Subject) -> None:
    """Raise `Skip` unless the task has calls: a given completion makes one, or the reward reads trajectories."""
    needs_good(subject)
    given = (completion for example in subject.examples for completion in (*example.good, *example.bad))
    if subject.stage.real or any(map(has_calls, given)):
        return
    if not any(binding.reads("trajectory", ENVIRONMENT) for _, binding in subject.bindings):
        raise Skip("no given completion calls a tool, and the reward reads no trajectory")


def needs_paid_calls(subject: Subject) -> None:
    """Raise `Skip` unless the task has calls and the reward is no penalty."""
    needs_calls(subject)
    if is_penalty(subject):
        raise Skip("a penalty is highest where nothing happened")


def bases(right: Judged) -> list[Messages]:
    """Return a right completion, the same without an answer, and one that does nothing."""
    whole = messages_of(right.completion)
    return [whole, answering(whole, NOTHING), answering(without_calls(whole), NOTHING)]
