"""The whole: all rewards in a run together, so that no reward is blamed for a property that another reward judges.

A format reward accepts incorrect answers, and a reward for fields accepts incorrect values. In a list with a reward
that judges answers, this is not a fault, because the sum distinguishes correct from incorrect answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rewardkit.batch.score import Outcome
from rewardkit.check.reward_under_test.judgment import Judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import anatomies
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, TrialResult, result_in_row, text_of, with_text
from rewardkit.errors import RewardKitError

# Together: score completions as one batch, and find out whether a function compares completions of a prompt.


def scored_together(subject: RewardUnderTest, trials: Sequence[Trial]) -> list[TrialResult] | str:
    """Score `trials` as one batch. Return the error message if the reward raises an exception."""
    try:
        table = subject.table(trials)
    except RewardKitError as error:
        return str(error).splitlines()[0]
    return [result_in_row(table, row) for row in range(len(trials))]


def detect_scope(subject: RewardUnderTest) -> None:
    """Find out whether a trainer's function compares a prompt's completions, since it cannot declare this."""
    if not subject.plain or subject.scope != "sample":
        return
    groups = groups_of(subject)
    if len(groups) < 1:
        return
    alone = [[subject.see([trial], fresh=True)[0] for trial in group] for group in groups]
    together = [scored_together(subject, group) for group in groups]
    if all(
        isinstance(result, list) and same_scores(result, separate)
        for result, separate in zip(together, alone, strict=True)
    ):
        return
    second_results = [scored_together(subject, group) for group in groups]
    if any(
        isinstance(first, str) or isinstance(second, str) or not same_scores(first, second)
        for first, second in zip(together, second_results, strict=True)
    ):
        return  # not deterministic
    if len(groups) > 1 and not _scores_are_constant(alone):
        # Longer than the others, so that the scores change if a reward looks at the longest completion of the batch.
        long = Trial(subject.formed("word " * 300), groups[-1][0].example)
        combined_results = scored_together(subject, [*(trial for group in groups for trial in group), long])
        expected = [result for group in together[:-1] if isinstance(group, list) for result in group]
        if isinstance(combined_results, str) or not same_scores(combined_results[: len(expected)], expected):
            return
    subject.score_in_groups()


def _scores_are_constant(alone: Sequence[Sequence[TrialResult]]) -> bool:
    """Return whether all completions get the same score if each is scored alone. If so, the function compares them."""
    return all(score.same(scores[0]) for scores in alone for score in scores)


def groups_of(subject: RewardUnderTest) -> list[list[Trial]]:
    """Return one group per example, as a trainer would form it, with the given completions and a few others."""
    groups = []
    for number, example in enumerate(subject.examples[:4]):
        texts = [*example.good[:2], *example.bad[:2], subject.formed("word"), subject.formed("")]
        group = [Trial(text, number) for text in texts]
        group += prepend_words(subject, [Trial(text, number) for text in example.good[:1]])
        if all(score.outcome in (Outcome.SCORED, Outcome.ABSTAINED) for score in subject.see(group)):
            groups.append(group)
    return groups


def same_scores(scores: Sequence[TrialResult], other_scores: Sequence[TrialResult]) -> bool:
    return len(scores) == len(other_scores) and first_difference(scores, other_scores) is None


def first_difference(scores: Sequence[TrialResult], other_scores: Sequence[TrialResult]) -> int | None:
    """Return the first row whose scores differ, or None. `other_scores` may be longer."""
    return next(
        (
            row
            for row, (score, other) in enumerate(zip(scores, other_scores, strict=False))
            if score.tried and other.tried and not score.same(other, 1e-6)
        ),
        None,
    )


def prepend_words(subject: RewardUnderTest, trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials with a few words in front of each completion."""
    return [
        # Arbitrary words, which make each completion a different one.
        Trial(with_text(trial.completion, f"{'Let me see. ' * 5}{text_of(trial.completion)}"), trial.example)
        for trial in trials
    ]


COVERED = "the other rewards judge that"
"""The reason for skipping a law if the component accepts incorrect completions but the sum of all rewards rejects
them."""


def tells_apart(subject: RewardUnderTest, right: Trial, wrong: Trial) -> bool:
    """Return whether the sum of all rewards scores `right` above `wrong`, or False if there are no other rewards."""
    is_distinguished = _distinguished(subject, right, wrong)
    subject.covered = subject.covered or is_distinguished
    return is_distinguished


def _distinguished(subject: RewardUnderTest, right: Trial, wrong: Trial) -> bool:
    combined = subject.whole
    if combined is None or combined.lost:
        return False
    combined.remembered("settled", lambda: detect_scope(combined))
    best, other = combined.see([right, wrong])
    return _earns_less(other, best)


def refused_by_others(subject: RewardUnderTest, base: Trial, changed: Trial) -> bool:
    """Return whether the sum of all rewards scores `changed` no higher than `base`, or False if there are no others."""
    combined = subject.whole
    if combined is None or combined.lost:
        return False
    before, after = combined.see([base, changed])
    refused = not (before.scored and after.scored) or after.value <= before.value + EQUAL
    subject.covered = subject.covered or refused
    return refused


def covered(subject: RewardUnderTest, right: Judged | Trial, wrong: Trial) -> bool:
    """Return whether the reward judges only part of the answer, but the sum of all rewards rejects `wrong`."""
    return judges_a_part(subject) and tells_apart(subject, Trial(right.completion, right.example), wrong)


def judges_a_part(subject: RewardUnderTest) -> bool:
    """Return whether the reward is one of several and seems to leave part of the judgment to the others."""
    if subject.whole is None:
        return False
    is_partial: bool = subject.remembered("partial", lambda: any(_partly(subject)))
    return is_partial


def _partly(subject: RewardUnderTest) -> Iterator[bool]:
    """Yield, for each possible sign that the reward leaves part of the judgment to others, whether it applies."""
    for number, example in enumerate(subject.examples):
        for completion, anatomy in zip(example.good, anatomies(subject, number), strict=True):
            yield bool(anatomy.gold) and anatomy.column not in subject.columns_read
            right = Trial(completion, number)
            for bad in example.bad:
                yield _pays(subject, right, Trial(bad, number))
    yield not subject.columns_read


def _pays(subject: RewardUnderTest, right: Trial, wrong: Trial) -> bool:
    best, other = subject.see([right, wrong])
    return best.scored and other.scored and not _earns_less(other, best) and _distinguished(subject, right, wrong)


def _earns_less(other: TrialResult, best: TrialResult) -> bool:
    return other.scored and best.scored and other.value < best.value - EQUAL * max(1.0, abs(best.value))
