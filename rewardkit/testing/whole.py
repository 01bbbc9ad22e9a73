"""The whole: what the rewards of a run judge together, so that none of them is blamed for what another one judges.

A format reward pays wrong answers, and a reward for fields pays wrong values. In a list with a reward that judges
answers, that is as it should be: the sum tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterator

from rewardkit.testing.judgment import Judged
from rewardkit.testing.subject import Subject
from rewardkit.testing.sweep import anatomies
from rewardkit.testing.together import settle
from rewardkit.testing.trials import EQUAL, Seen, Trial

COVERED = "the other rewards judge that"
"""Why a law was skipped if the component pays wrong completions, but the sum of all rewards tells them apart."""


def tells_apart(subject: Subject, right: Trial, wrong: Trial) -> bool:
    """Whether the sum of all rewards of the run pays the right completion more; False if there are no others."""
    apart = _distinguished(subject, right, wrong)
    subject.covered = subject.covered or apart
    return apart


def _distinguished(subject: Subject, right: Trial, wrong: Trial) -> bool:
    whole = subject.whole
    if whole is None or whole.lost:
        return False
    whole.remembered("settled", lambda: settle(whole))
    best, other = whole.see([right, wrong])
    return _less(other, best)


def covered(subject: Subject, right: Judged, wrong: Trial) -> bool:
    """Whether the reward is seen to judge only a part of the answer, and the sum judges the wrong completion."""
    return judges_a_part(subject) and tells_apart(subject, Trial(right.completion, right.example), wrong)


def judges_a_part(subject: Subject) -> bool:
    """Whether the reward is one of several and is seen to leave a part of the judgment to the others."""
    if subject.whole is None:
        return False
    found: bool = subject.remembered("partial", lambda: any(_partly(subject)))
    return found


def _partly(subject: Subject) -> Iterator[bool]:
    """Yield True for each sign that the reward leaves a part of the judgment to others."""
    for number, example in enumerate(subject.examples):
        for completion, anatomy in zip(example.good, anatomies(subject, number), strict=True):
            yield bool(anatomy.gold) and anatomy.column not in subject.columns_read
            right = Trial(completion, number)
            for bad in example.bad:
                yield _pays(subject, right, Trial(bad, number))
    yield not subject.columns_read


def _pays(subject: Subject, right: Trial, wrong: Trial) -> bool:
    best, other = subject.see([right, wrong])
    return best.scored and other.scored and not _less(other, best) and _distinguished(subject, right, wrong)


def _less(other: Seen, best: Seen) -> bool:
    return other.scored and best.scored and other.value < best.value - EQUAL * max(1.0, abs(best.value))
