"""The sweep: completions that most laws look at, scored once and shared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rewardkit.testing.anatomy import ANSWERS, Anatomy, anatomies_of, likelihood
from rewardkit.testing.broken_texts import broken
from rewardkit.testing.reach import reachable_shapes, reachable_text, unreachable
from rewardkit.testing.subject import Subject
from rewardkit.testing.trials import Seen, Trial, text_of, with_text
from rewardkit.testing.wild_texts import TEXTS
from rewardkit.testing.wrong_answers import wrong_answers

_EXAMPLES = 4
"""All completions are tried for this many examples; for the rest, only the given ones."""


_SHARE = 0.1
"""The sweep may take this share of the time left."""


def anatomies(subject: Subject, example: int) -> list[Anatomy]:
    """Return the anatomies of an example's right completions, each with the gold answer that changes the score."""
    made: list[Anatomy] = subject.remembered(
        ("anatomies", example), lambda: [_anatomy(subject, example, good) for good in subject.examples[example].good]
    )
    return made


def _anatomy(subject: Subject, example: int, completion: Any) -> Anatomy:
    """Return the parts of a right completion: of the columns whose value it has, the first one that matters.

    If none does, the reward may ignore its gold answers: then the one that is marked as the answer. A value in passing,
    such as a number of the prompt, is no answer.
    """
    columns = subject.examples[example].columns
    candidates = anatomies_of(text_of(completion), columns, subject.columns_read, answered=True)
    for one in candidates:
        if _matters(subject, Trial(completion, example), one):
            return one
    likely = (one for one in candidates if one.marked and one.column in subject.columns_read)
    return next((one for one in likely if likelihood(one.column) < len(ANSWERS)), Anatomy(text_of(completion)))


def _matters(subject: Subject, trial: Trial, anatomy: Anatomy) -> bool:
    """Whether other answers in place of the gold answer change the score."""
    wrong = [one.text for one in wrong_answers(anatomy.gold) if one.honest][:3]
    others = [replace(trial, completion=with_text(trial.completion, anatomy.saying(text))) for text in wrong]
    right, *seen = subject.see([trial, *others])
    return any(not one.same(right) for one in seen)


def given(subject: Subject) -> list[Trial]:
    """Return the given right and wrong completions of all examples."""
    return [
        Trial(completion, number)
        for number, example in enumerate(subject.examples)
        for completion in (*example.good, *example.bad)
    ]


def sweep(subject: Subject) -> list[Trial]:
    """Return given completions, wild ones, and broken right ones, the most useful first."""
    trials: list[Trial] = subject.remembered("sweep", lambda: list(_unique(_sweep(subject))))
    return trials[: subject.affordable(len(trials), share=_SHARE)]


def swept(subject: Subject) -> list[tuple[Trial, Seen]]:
    """Return the sweep with its scores."""
    trials = sweep(subject)
    return list(zip(trials, subject.see(trials), strict=True))


def beyond_reach(subject: Subject) -> list[tuple[Trial, Seen, str]]:
    """Return completions that no run on the given data has, with their scores and descriptions."""
    trials = list(unreachable(subject))
    seen = subject.see([trial for trial, _ in trials])
    return [(trial, one, name) for (trial, name), one in zip(trials, seen, strict=True)]


def _sweep(subject: Subject) -> Iterator[Trial]:
    yield from given(subject)
    for shape in reachable_shapes(subject).values():
        yield Trial(shape, 0)
    for number in range(min(len(subject.examples), _EXAMPLES)):
        for text in filter(reachable_text, TEXTS.values()):
            yield Trial(subject.formed(text), number)
        example = subject.examples[number]
        for value in example.columns.values():
            if isinstance(value, str) and value:
                yield Trial(subject.formed(value), number)
        bad = [text_of(completion) for completion in example.bad[:2]]
        for anatomy in anatomies(subject, number)[:2]:
            for text in filter(reachable_text, broken(anatomy, subject.mined, bad)):
                yield Trial(subject.formed(text), number)
    if not any(example.good for example in subject.examples):
        for text in filter(reachable_text, broken(Anatomy(""), subject.mined)):
            yield Trial(subject.formed(text), 0)


def _unique(trials: Iterator[Trial]) -> Iterator[Trial]:
    seen: set[tuple[str, int]] = set()
    for trial in trials:
        key = (repr(trial.completion), trial.example)
        if key not in seen:
            seen.add(key)
            yield trial
