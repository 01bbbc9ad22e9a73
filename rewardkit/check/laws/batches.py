"""Laws of batches: a score does not depend on the other completions in the batch, or on their order."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from rewardkit.batch.score import Outcome
from rewardkit.check.completion.parsed_completion import as_number
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, finding, law, score_text
from rewardkit.check.reward_under_test.judgment import judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import given, score_sweep
from rewardkit.check.reward_under_test.trials import Trial, TrialResult, text_of, with_text
from rewardkit.check.reward_under_test.whole import (
    first_difference,
    groups_of,
    prepend_words,
    same_scores,
    scored_together,
)
from rewardkit.check.variants.queries import query_in

# Arbitrary limit: about the batch of a small run; the laws score these rows again and again.
_ROWS = 24


def _mixed_trials(subject: RewardUnderTest) -> list[Trial]:
    """Return trials for several examples that score without errors: given ones first, then ones with new scores."""
    given_trials = given(subject)
    sound = [trial for trial, score in score_sweep(subject) if score.outcome in (Outcome.SCORED, Outcome.ABSTAINED)]
    scored = {repr(trial) for trial in sound}
    chosen: dict[str, Trial] = {}
    values: dict[tuple[int, float], int] = {}
    for trial in [*given_trials, *sound]:
        if repr(trial) not in scored:
            continue
        # Scores that differ only in the last digits count as the same.
        kind = (trial.example, round(subject.see([trial])[0].value, 6))
        # Three of each score: more rows with the same score prove nothing new.
        if trial in given_trials or values.get(kind, 0) < 3:
            values[kind] = values.get(kind, 0) + 1
            chosen.setdefault(repr(trial), trial)
    return sorted(_alternating(list(chosen.values()))[: subject.affordable(_ROWS)], key=lambda trial: trial.example)


def _alternating(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials, with those of different examples next to each other."""
    turns: dict[int, Iterator[int]] = defaultdict(itertools.count)
    return sorted(trials, key=lambda trial: next(turns[trial.example]))


def _spoiled(subject: RewardUnderTest) -> Iterator[Finding]:
    """Report a correct completion whose score changes after a query that empties its tables."""
    for number, example in enumerate(subject.examples):
        for good in example.good[:1]:
            query = query_in(text_of(good), example.columns)
            for table in query.tables if query is not None else ():
                assert query is not None
                right = Trial(good, number)
                spoiling = Trial(with_text(good, query.saying(f"DELETE FROM {table}")), number)
                first, last = scored_together(subject, [right, spoiling]), scored_together(subject, [spoiling, right])
                if isinstance(first, list) and isinstance(last, list) and not first[0].same(last[1]):
                    before, after = score_text(first[0]), score_text(last[1])
                    message = f"scores {before}, but {after} behind a query that empties {table!r}"
                    yield finding(subject, right, last[1], message)
                    return


@law(
    advice="Score each completion separately, and return one score per row: zip(completions, column)",
    fast=True,
    every=True,
)
def batch_equals_singles(subject: RewardUnderTest) -> Iterator[Finding]:
    """Trainers score many prompts at once. A score that depends on the batch is noise or belongs to another row."""
    if subject.scope != "sample":
        raise Skip(f"the reward compares completions (scope {subject.scope!r})")
    yield from _spoiled(subject)
    trials = _mixed_trials(subject)
    if len(trials) < 2:
        raise Skip("the reward scores fewer than two completions")
    if subject.plain and _compares(subject, trials):
        raise Skip("the reward compares the completions for each prompt")
    # Among completions for the same example, a row that is judged by its neighbor's cells gets the right ones.
    for rows in (trials, _alternating(trials)):
        alone = [subject.see([trial])[0] for trial in rows]
        fault = _differing(subject, rows, alone, "alone")
        if fault is not None:
            yield fault
            break
    yield from _other_cells(subject)


def _other_cells(subject: RewardUnderTest) -> Iterator[Finding]:
    """Score rows with very different numbers in one batch: each must be judged by its own number, not another row's."""
    for right in judged(subject):
        columns = subject.examples[right.example].columns
        texts = [right.anatomy.text, *(right.anatomy.saying(near) for near in _near(right.anatomy.gold))]
        for name in sorted(subject.columns_read & set(columns)):
            value = columns[name]
            if name == right.anatomy.column or isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            kind = type(value)
            # A thousand times as large, so that a mean over the batch must move; then unchanged, and tripled.
            cells = [{name: kind(value * factor)} for factor in (1000, 1, 3)]
            trials = [Trial(right.trial(text).completion, right.example, cell) for text in texts for cell in cells]
            alone = [subject.see([trial])[0] for trial in trials]
            fault = _differing(subject, trials, alone, "alone")
            if fault is not None:
                yield fault
                return


def _near(gold: str) -> Iterator[str]:
    number = as_number(gold)
    for factor in ("1.002", "1.02", "1.2") if number is not None else ():
        yield format((number * Decimal(factor)).normalize(), "f")  # type: ignore[operator]


@law(
    advice="Keep no state between rows, and pair each completion with its own row: zip(completions, column)", every=True
)
def permutation(subject: RewardUnderTest) -> Iterator[Finding]:
    """The order of the completions in a batch is random, so a score that depends on it is noise."""
    groups = [_mixed_trials(subject)] if subject.scope == "sample" else groups_of(subject)
    for group in groups:
        expected = scored_together(subject, group)
        if len(group) < 2 or isinstance(expected, str):
            continue
        for order in _orders(subject, group):
            reordered = [group[row] for row in order]
            fault = _differing(subject, reordered, [expected[row] for row in order], "in a different order")
            if fault is not None:
                yield fault
                break


def _orders(subject: RewardUnderTest, group: Sequence[Trial]) -> Iterator[list[int]]:
    """Yield other orders of the rows in a group: reversed, with each example first, and shuffled."""
    order = list(range(len(group)))
    yield order[::-1]
    for example in {trial.example for trial in group}:
        yield sorted(order, key=lambda row: group[row].example != example)
    random.Random(subject.seed).shuffle(order)
    yield order


@law(advice="Compare only completions for the same prompt", fast=True)
def neighbors_do_not_leak(subject: RewardUnderTest) -> Iterator[Finding]:
    """GRPO compares the completions for one prompt. A score that depends on other prompts is noise."""
    groups = groups_of(subject)
    if len(groups) < 2:
        raise Skip("this law needs two examples with scored completions")
    if subject.scope == "batch":
        yield from _others_matter(subject, groups)
        return
    for number, group in [*enumerate(groups), *enumerate(_lengthen_right(subject, groups))]:
        if not group:  # no correct or incorrect completions are known, as in an unlabeled file
            continue
        alone = scored_together(subject, group)
        if isinstance(alone, str):
            continue
        for other in (*groups[:number], *groups[number + 1 :], _of_another_prompt(subject, group)):
            if not other:
                continue
            # Far longer than the others, so that padding the batch or sorting it by length changes the batch.
            long = replace(other[0], completion=subject.formed("word " * 300))
            same = [replace(other[0], completion=trial.completion) for trial in group]
            neighbors: list[tuple[list[Trial], list[Trial]]] = [
                ([], other), ([], other[:1]), ([], other[-1:] * len(other)), ([], [long] * 2), (same, []),
            ]  # fmt: skip
            for before, after in neighbors:
                scores = scored_together(subject, [*before, *group, *after])
                if isinstance(scores, str):
                    text = f"a batch that also contains completions for another prompt raises: {scores}"
                    yield finding(subject, group[0], alone[0], text)
                    return
                scores = scores[len(before) :]
                row = first_difference(alone, scores)
                if row is not None:
                    text = (
                        f"scores {score_text(alone[row])} among the completions for its own prompt, but "
                        f"{score_text(scores[row])} with {len(before) + len(after)} for another prompt in the batch"
                    )
                    yield finding(subject, group[row], scores[row], text)


def _of_another_prompt(subject: RewardUnderTest, group: list[Trial]) -> list[Trial]:
    """Return longer versions of the correct completions, for a different prompt with the same columns."""
    prompt = subject.examples[group[0].example].prompt
    # The reward may read the prompt, so it only gets a new start.
    other = (
        [{"role": "user", "content": "Another question."}, *prompt]
        if isinstance(prompt, list)
        else f"Another question. {prompt or ''}"
    )
    rights = [trial for trial in group if trial.completion in subject.examples[trial.example].good]
    longer = prepend_words(subject, prepend_words(subject, prepend_words(subject, rights)))
    return [replace(trial, columns={"prompt": other}) for trial in longer * 2]


def _is_given(subject: RewardUnderTest, trial: Trial) -> bool:
    example = subject.examples[trial.example]
    return trial.completion in example.good or trial.completion in example.bad


def _lengthen_right(subject: RewardUnderTest, groups: list[list[Trial]]) -> list[list[Trial]]:
    """Return the groups with longer correct completions, so that other groups have the shortest completions."""
    longer_groups = []
    for group in groups:
        example = subject.examples[group[0].example]
        wrongs = [trial for trial in group if trial.completion in example.bad]
        longer_groups.append(
            [*prepend_words(subject, [Trial(completion, group[0].example) for completion in example.good[:1]]), *wrongs]
        )
    return longer_groups


def _others_matter(subject: RewardUnderTest, groups: list[list[Trial]]) -> Iterator[Finding]:
    """Yield a finding if correct instead of incorrect answers to another prompt change a group's scores.

    This check is for user-defined functions over the batch. Both batches have the same size, and the other completions
    have nothing in common with the group, so rewards for novelty in a batch pass the check.
    """
    if not any(binding.scope == "batch" and not binding.foreign for _, binding in subject.bindings):
        raise Skip("the reward declares that it normalizes over the batch")
    groups = [[trial for trial in group if _is_given(subject, trial)] for group in groups]
    for group, other in [*pairwise(groups), *pairwise(reversed(groups))]:
        rights = [trial for trial in other if trial.completion in subject.examples[trial.example].good]
        wrongs = [trial for trial in other if trial not in rights]
        if not rights or not wrongs:
            continue
        for many, few in ((rights * 4, wrongs * 4), (prepend_words(subject, rights) * 4, wrongs * 4)):
            with_right, with_wrong = (
                scored_together(subject, [*group, *many[:4]]),
                scored_together(subject, [*group, *few[:4]]),
            )
            if isinstance(with_right, str) or isinstance(with_wrong, str):
                continue
            row = first_difference(with_right[: len(group)], with_wrong)
            if row is not None:
                message = (
                    f"scores {score_text(with_right[row])} if the answers to another prompt in the batch are correct, "
                    f"but {score_text(with_wrong[row])} if they are incorrect"
                )
                yield finding(subject, group[row], with_right[row], message)
                return


def _compares(subject: RewardUnderTest, trials: Sequence[Trial]) -> bool:
    """Return whether scores depend on the other completions for the same prompt, but not on those for other prompts."""
    everything = scored_together(subject, trials)
    if isinstance(everything, str) or same_scores(everything, [subject.see([trial])[0] for trial in trials]):
        return False
    group_scores: list[TrialResult] = []
    for number in dict.fromkeys(trial.example for trial in trials):
        group = scored_together(subject, [trial for trial in trials if trial.example == number])
        if isinstance(group, str):
            return False
        group_scores += group
    return len({trial.example for trial in trials}) > 1 and same_scores(everything, group_scores)


def _differing(
    subject: RewardUnderTest, trials: Sequence[Trial], expected: Sequence[TrialResult], condition: str
) -> Finding | None:
    """Return a finding if a batch raises an exception, or if a completion in it does not get the expected score."""
    scores = scored_together(subject, trials)
    if isinstance(scores, str):
        small = _smallest_raising(subject, trials)
        message = (
            f"a batch of {len(small)} completions raises, though each scores alone: {scored_together(subject, small)}"
        )
        return finding(subject, small[-1], expected[list(trials).index(small[-1])], message)
    row = first_difference(expected, scores)
    if row is None:
        return None
    message = (
        f"scores {score_text(expected[row])} {condition}, but {score_text(scores[row])} in row {row} of a batch of "
        f"{len(trials)}"
    )
    return finding(subject, trials[row], scores[row], message)


def _smallest_raising(subject: RewardUnderTest, trials: Sequence[Trial]) -> Sequence[Trial]:
    for size in range(2, len(trials)):
        if isinstance(scored_together(subject, trials[:size]), str):
            return trials[:size]
    return trials
