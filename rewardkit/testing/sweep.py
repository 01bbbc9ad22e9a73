"""The sweep: completions that most laws look at, scored once and shared."""

from __future__ import annotations

from collections.abc import Iterator

from rewardkit.testing.anatomy import Anatomy, anatomy_of
from rewardkit.testing.broken_texts import broken
from rewardkit.testing.reach import reachable_shapes, reachable_text, unreachable
from rewardkit.testing.subject import Subject
from rewardkit.testing.trials import Seen, Trial, text_of
from rewardkit.testing.wild_texts import TEXTS

_EXAMPLES = 4
"""All completions are tried for this many examples; for the rest, only the given ones."""


def anatomies(subject: Subject, example: int) -> list[Anatomy]:
    """Return the anatomies of an example's right completions."""
    one = subject.examples[example]
    made: list[Anatomy] = subject.remembered(
        ("anatomies", example),
        lambda: [anatomy_of(text_of(good), one.columns, subject.columns_read, answered=True) for good in one.good],
    )
    return made


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
    return trials[: subject.affordable(len(trials))]


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
