"""Laws of batches: a score does not depend on the other completions of the batch or on their order."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from rewardkit.core.batch.score import Outcome
from rewardkit.core.errors import RewardKitError
from rewardkit.testing.anatomy import as_number
from rewardkit.testing.findings import Finding
from rewardkit.testing.judgment import judged
from rewardkit.testing.laws.base import Skip, finding, law
from rewardkit.testing.queries import query_in
from rewardkit.testing.subject import Subject
from rewardkit.testing.sweep import given, swept
from rewardkit.testing.trials import Seen, Trial, seen_in, text_of, with_text

_ROWS = 24


def _mixed(subject: Subject) -> list[Trial]:
    """Return trials of several examples that score without errors: given ones first, then ones with other scores."""
    known = given(subject)
    sound = [trial for trial, seen in swept(subject) if seen.outcome in (Outcome.SCORED, Outcome.ABSTAINED)]
    scored = {repr(trial) for trial in sound}
    chosen: dict[str, Trial] = {}
    values: dict[tuple[int, float], int] = {}
    for trial in [*known, *sound]:
        if repr(trial) not in scored:
            continue
        kind = (trial.example, round(subject.see([trial])[0].value, 6))
        if trial in known or values.get(kind, 0) < 3:
            values[kind] = values.get(kind, 0) + 1
            chosen.setdefault(repr(trial), trial)
    rows = list(chosen.values())[: subject.affordable(_ROWS)]
    return sorted(rows, key=lambda trial: trial.example)


def _spoiled(subject: Subject) -> Iterator[Finding]:
    """Report a right completion that loses its pay behind a query that empties its tables."""
    for number, example in enumerate(subject.examples):
        for good in example.good[:1]:
            query = query_in(text_of(good), example.columns)
            for table in query.tables if query is not None else ():
                assert query is not None
                right = Trial(good, number)
                spoiling = Trial(with_text(good, query.saying(f"DELETE FROM {table}")), number)
                first, last = whole(subject, [right, spoiling]), whole(subject, [spoiling, right])
                if isinstance(first, list) and isinstance(last, list) and not first[0].same(last[1]):
                    why = f"scores {_value(first[0])}, but {_value(last[1])} behind a query that empties {table!r}"
                    yield finding("batch_equals_singles", subject, right, last[1], why)
                    return


def whole(subject: Subject, trials: Sequence[Trial]) -> list[Seen] | str:
    """Score `trials` as one batch; return the error message if the reward raises."""
    try:
        table = subject.table(trials)
    except RewardKitError as error:
        return str(error).splitlines()[0]
    return [seen_in(table, row) for row in range(len(trials))]


def settle(subject: Subject) -> None:
    """Find out whether a trainer's function compares the completions of a prompt; it cannot declare it."""
    if not subject.plain or subject.scope != "sample":
        return
    groups = _groups(subject)
    if len(groups) < 1:
        return
    alone = [[subject.see([trial], fresh=True)[0] for trial in group] for group in groups]
    together = [whole(subject, group) for group in groups]
    if all(isinstance(seen, list) and _same(seen, own) for seen, own in zip(together, alone, strict=True)):
        return
    again = [whole(subject, group) for group in groups]
    if any(
        isinstance(one, str) or isinstance(two, str) or not _same(one, two)
        for one, two in zip(together, again, strict=True)
    ):
        return  # not deterministic
    if len(groups) > 1 and not _flat(alone):
        long = Trial(subject.formed("word " * 300), groups[-1][0].example)
        everything = whole(subject, [*(trial for group in groups for trial in group), long])
        expected = [seen for group in together[:-1] if isinstance(group, list) for seen in group]
        if isinstance(everything, str) or not _same(everything[: len(expected)], expected):
            return
    subject.score_in_groups()


def _flat(alone: Sequence[Sequence[Seen]]) -> bool:
    """Whether a completion by itself always earns the same: then the function compares, be it all prompts at once."""
    return all(one.same(seen[0]) for seen in alone for one in seen)


def _groups(subject: Subject) -> list[list[Trial]]:
    """Return a group per example, as a trainer makes them: the given completions and a few others."""
    found = []
    for number, example in enumerate(subject.examples[:4]):
        texts = [*example.good[:2], *example.bad[:2], subject.formed("word"), subject.formed("")]
        group = [Trial(text, number) for text in texts]
        group += _grown(subject, [Trial(text, number) for text in example.good[:1]])
        if all(seen.outcome in (Outcome.SCORED, Outcome.ABSTAINED) for seen in subject.see(group)):
            found.append(group)
    return found


def _same(one: Sequence[Seen], other: Sequence[Seen]) -> bool:
    return len(one) == len(other) and _first_difference(one, other) is None


def _first_difference(one: Sequence[Seen], other: Sequence[Seen]) -> int | None:
    """Return the first row that differs; `other` may be longer."""
    return next((row for row, seen in enumerate(one) if not seen.same(other[row], 1e-6)), None)


@law
def batch_equals_singles(subject: Subject) -> Iterator[Finding]:
    """A trainer scores many prompts at once: a score that depends on the batch is noise or belongs to another row."""
    if subject.scope != "sample":
        raise Skip(f"the reward compares completions (scope {subject.scope!r})")
    yield from _spoiled(subject)
    trials = _mixed(subject)
    if len(trials) < 2:
        raise Skip("the reward scores fewer than two completions")
    if subject.plain and _compares(subject, trials):
        raise Skip("the reward compares the completions of a prompt")
    alone = [subject.see([trial])[0] for trial in trials]
    yield from _differing(subject, "batch_equals_singles", trials, alone, "alone")
    yield from _other_cells(subject)


def _other_cells(subject: Subject) -> Iterator[Finding]:
    """Score rows with very different numbers in one batch: each must be judged by its own, not by the first row's."""
    for right in judged(subject):
        columns = subject.examples[right.example].columns
        texts = [right.anatomy.text, *(right.anatomy.saying(near) for near in _near(right.anatomy.gold))]
        for name in sorted(subject.columns_read & set(columns)):
            value = columns[name]
            if name == right.anatomy.column or isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            kind = type(value)
            cells = [{name: kind(value * factor)} for factor in (1000, 1, 3)]
            trials = [Trial(right.trial(text).completion, right.example, cell) for text in texts for cell in cells]
            alone = [subject.see([trial])[0] for trial in trials]
            found = list(_differing(subject, "batch_equals_singles", trials, alone, "alone"))
            if found:
                yield found[0]
                return


def _near(gold: str) -> Iterator[str]:
    number = as_number(gold)
    for factor in ("1.002", "1.02", "1.2") if number is not None else ():
        yield format((number * Decimal(factor)).normalize(), "f")  # type: ignore[operator]


@law
def permutation(subject: Subject) -> Iterator[Finding]:
    """The order of the completions is random, so a score that depends on it is noise."""
    groups = [_mixed(subject)] if subject.scope == "sample" else _groups(subject)
    for group in groups:
        expected = whole(subject, group)
        if len(group) < 2 or isinstance(expected, str):
            continue
        for order in _orders(subject, group):
            found = list(
                _differing(
                    subject,
                    "permutation",
                    [group[place] for place in order],
                    [expected[place] for place in order],
                    "in another order",
                )
            )
            if found:
                yield from found
                break


def _orders(subject: Subject, group: Sequence[Trial]) -> Iterator[list[int]]:
    """Yield the rows of a group in other orders, each example's once first."""
    order = list(range(len(group)))
    yield order[::-1]
    for example in {trial.example for trial in group}:
        yield sorted(order, key=lambda place: group[place].example != example)
    random.Random(subject.seed).shuffle(order)
    yield order


@law
def neighbors_do_not_leak(subject: Subject) -> Iterator[Finding]:
    """GRPO compares the completions of one prompt; a score that depends on other prompts is noise."""
    groups = _groups(subject)
    if len(groups) < 2:
        raise Skip("this law needs two examples whose completions are scored")
    if subject.scope == "batch":
        yield from _others_matter(subject, groups)
        return
    for number, group in [*enumerate(groups), *enumerate(_longer(subject, groups))]:
        alone = whole(subject, group)
        if isinstance(alone, str):
            continue
        for other in (*groups[:number], *groups[number + 1 :], _of_another_prompt(subject, group)):
            if not other:
                continue
            long = replace(other[0], completion=subject.formed("word " * 300))
            same = [replace(other[0], completion=trial.completion) for trial in group]
            beside: list[tuple[list[Trial], list[Trial]]] = [
                ([], other), ([], other[:1]), ([], other[-1:] * len(other)), ([], [long] * 2), (same, []),
            ]  # fmt: skip
            for before, after in beside:
                both = whole(subject, [*before, *group, *after])
                if isinstance(both, str):
                    text = f"a batch that also has completions of another prompt raises: {both}"
                    yield finding("neighbors_do_not_leak", subject, group[0], alone[0], text)
                    return
                both = both[len(before) :]
                row = _first_difference(alone, both)
                if row is not None:
                    text = (
                        f"scores {_value(alone[row])} among the completions of its own prompt, but {_value(both[row])} "
                        f"with {len(before) + len(after)} of another prompt in the batch"
                    )
                    yield finding("neighbors_do_not_leak", subject, group[row], both[row], text)
                    return


def _of_another_prompt(subject: Subject, group: list[Trial]) -> list[Trial]:
    """Return right completions, longer ones, for another prompt that has the same columns: another question."""
    prompt = subject.examples[group[0].example].prompt
    other = f"Another question. {prompt}" if isinstance(prompt, str) else [{"role": "user", "content": "Why?"}]
    rights = [trial for trial in group if trial.completion in subject.examples[trial.example].good]
    longer = _grown(subject, _grown(subject, _grown(subject, rights)))
    return [replace(trial, columns={"prompt": other}) for trial in longer * 2]


def _is_given(subject: Subject, trial: Trial) -> bool:
    example = subject.examples[trial.example]
    return trial.completion in example.good or trial.completion in example.bad


def _longer(subject: Subject, groups: list[list[Trial]]) -> list[list[Trial]]:
    """Make the right completions of each group longer, so that other groups have the shortest ones."""
    found = []
    for group in groups:
        example = subject.examples[group[0].example]
        wrongs = [trial for trial in group if trial.completion in example.bad]
        found.append([*_grown(subject, [Trial(one, group[0].example) for one in example.good[:1]]), *wrongs])
    return found


def _others_matter(subject: Subject, groups: list[list[Trial]]) -> Iterator[Finding]:
    """Check that right or wrong answers to another prompt do not change the scores of a group.

    This is for users' functions over the batch. Both batches have the same size, and the other completions share
    nothing with the group, so rewards for novelty in a batch pass.
    """
    if not any(binding.scope == "batch" and not binding.foreign for _, binding in subject.bindings):
        raise Skip("the reward declares that it normalizes over the batch")
    groups = [[trial for trial in group if _is_given(subject, trial)] for group in groups]
    for group, other in [*pairwise(groups), *pairwise(reversed(groups))]:
        rights = [trial for trial in other if trial.completion in subject.examples[trial.example].good]
        wrongs = [trial for trial in other if trial not in rights]
        if not rights or not wrongs:
            continue
        for many, few in ((rights * 4, wrongs * 4), (_grown(subject, rights) * 4, wrongs * 4)):
            one, two = whole(subject, [*group, *many[:4]]), whole(subject, [*group, *few[:4]])
            if isinstance(one, str) or isinstance(two, str):
                continue
            row = _first_difference(one[: len(group)], two)
            if row is not None:
                why = (
                    f"scores {_value(one[row])} if the answers to another prompt in the batch are right, but "
                    f"{_value(two[row])} if they are wrong"
                )
                yield finding("neighbors_do_not_leak", subject, group[row], one[row], why)
                return


def _grown(subject: Subject, trials: Sequence[Trial]) -> list[Trial]:
    """Put a few words in front of each completion."""
    return [
        Trial(with_text(trial.completion, f"{'Let me see. ' * 5}{text_of(trial.completion)}"), trial.example)
        for trial in trials
    ]


def _compares(subject: Subject, trials: Sequence[Trial]) -> bool:
    """Whether scores depend on the own group but not on others: the function compares the completions of a prompt."""
    everything = whole(subject, trials)
    if isinstance(everything, str) or _same(everything, [subject.see([trial])[0] for trial in trials]):
        return False
    apart: list[Seen] = []
    for number in dict.fromkeys(trial.example for trial in trials):
        group = whole(subject, [trial for trial in trials if trial.example == number])
        if isinstance(group, str):
            return False
        apart += group
    return len({trial.example for trial in trials}) > 1 and _same(everything, apart)


def _differing(
    subject: Subject, name: str, trials: Sequence[Trial], expected: Sequence[Seen], condition: str
) -> Iterator[Finding]:
    found = whole(subject, trials)
    if isinstance(found, str):
        small = _smallest_raising(subject, trials)
        why = f"a batch of {len(small)} completions raises, though each scores alone: {whole(subject, small)}"
        yield finding(name, subject, small[-1], expected[list(trials).index(small[-1])], why)
        return
    row = _first_difference(expected, found)
    if row is not None:
        one, seen = expected[row], found[row]
        why = f"scores {_value(one)} {condition}, but {_value(seen)} in row {row} of a batch of {len(trials)}"
        yield finding(name, subject, trials[row], seen, why)


def _smallest_raising(subject: Subject, trials: Sequence[Trial]) -> Sequence[Trial]:
    for size in range(2, len(trials)):
        if isinstance(whole(subject, trials[:size]), str):
            return trials[:size]
    return trials


def _value(seen: Seen) -> str:
    return str(seen.outcome) if math.isnan(seen.value) else f"{seen.value:.6g}"


ALL = (batch_equals_singles, permutation, neighbors_do_not_leak)
