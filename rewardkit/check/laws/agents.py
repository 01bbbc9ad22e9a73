"""What laws of agents share: when they apply, which completions they start from, and what counts as paid more."""

from __future__ import annotations

from collections.abc import Sequence

from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import NO_GOOD, Skip, finding
from rewardkit.check.reward_under_test.judgment import Judged
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import EQUAL, Seen, Trial
from rewardkit.check.variants.episodes.messages import Messages, answering, has_calls, messages_of, without_calls
from rewardkit.tree.parameters import ENVIRONMENT

NOTHING = "I could not find it."
"""An answer that is wrong for every task."""


def needs_calls(subject: Subject) -> None:
    """Raise `Skip` unless the task has calls: a given completion makes one, or the reward reads trajectories."""
    if not any(example.good for example in subject.examples):
        raise Skip(NO_GOOD)
    given = (completion for example in subject.examples for completion in (*example.good, *example.bad))
    if subject.stage.real or any(map(has_calls, given)):
        return
    if not any(binding.reads("trajectory", ENVIRONMENT) for _, binding in subject.bindings):
        raise Skip("no given completion calls a tool, and the reward reads no trajectory")


def bases(right: Judged) -> list[Messages]:
    """Return a right completion, the same without an answer, and one that does nothing."""
    whole = messages_of(right.completion)
    return [whole, answering(whole, NOTHING), answering(without_calls(whole), NOTHING)]


def paid_more(
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


def shown(seen: Seen) -> str:
    """Return a score, or why there is none."""
    return f"{seen.value:.6g}" if seen.scored else str(seen.outcome)
