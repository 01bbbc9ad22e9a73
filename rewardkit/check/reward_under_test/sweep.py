"""The sweep: completions that most laws use. They are scored once and shared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from rewardkit.check.completion.parsed_completion import ANSWERS, ParsedCompletion, anatomies_of, likelihood
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial, TrialResult, text_of, with_text
from rewardkit.check.variants.broken_texts import broken
from rewardkit.check.variants.wild_texts import SHAPES, TEXTS
from rewardkit.check.variants.written_completions import written_completions
from rewardkit.check.variants.wrong_answers import wrong_answers

# Reach: the completions that a model and trainer can produce from the given data.


_NEEDS_TOOLS = ("content None, a tool call", "a tool's answer at the end", "several turns")
_NEEDS_PARTS = ("content in parts", "an image", "an empty list of parts")


def reachable_shapes(subject: RewardUnderTest) -> dict[str, Any]:
    """Return the message shapes that a trainer passes for the given data, by description."""
    if not has_messages(subject):
        return {}
    names = (*(_NEEDS_TOOLS if has_tools(subject) else ()), *(_NEEDS_PARTS if has_parts(subject) else ()))
    return {name: SHAPES[name] for name in names}


def reachable_text(text: str) -> bool:
    """Return whether a tokenizer can produce `text`. It cannot produce lone surrogates, which are half characters."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def unreachable(subject: RewardUnderTest) -> Iterator[tuple[Trial, str]]:
    """Yield completions that cannot occur in a run on the given data, each with a description."""
    if has_messages(subject) or not subject.plain:
        reachable_names = reachable_shapes(subject)
        for name, shape in SHAPES.items():
            if name not in reachable_names:
                yield Trial(shape, 0), name
    for name, text in TEXTS.items():
        if not reachable_text(text):
            yield Trial(subject.formed(text), 0), name


def has_messages(subject: RewardUnderTest) -> bool:
    """Return whether completions are chat messages, because the given completions or the prompts are."""
    return subject.conversational or any(isinstance(example.prompt, list) for example in subject.examples)


def has_tools(subject: RewardUnderTest) -> bool:
    """Return whether the given data has tools, calls, or completions of several messages."""
    messages = [*_messages(_given_completions(subject)), *_messages(example.prompt for example in subject.examples)]
    several = any(len(completion) > 1 for completion in _given_completions(subject) if isinstance(completion, list))
    called = any(message.get("tool_calls") or message.get("role") == "tool" for message in messages)
    return several or called or any("tools" in example.columns for example in subject.examples)


def has_parts(subject: RewardUnderTest) -> bool:
    """Return whether a given completion has content in parts."""
    # Trainers pass the content of a completion as text, also if the prompts have images.
    return any(isinstance(message.get("content"), list) for message in _messages(_given_completions(subject)))


def _messages(conversations: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the messages in the conversations that are lists of messages."""
    for conversation in conversations:
        if isinstance(conversation, list):
            yield from (message for message in conversation if isinstance(message, Mapping))


def _given_completions(subject: RewardUnderTest) -> list[Any]:
    return [completion for example in subject.examples for completion in (*example.good, *example.bad)]


_EXAMPLES = 4
"""The number of examples for which the whole sweep is tried. For the others, only the given completions are tried.
Arbitrary: a reward's faults rarely depend on the row."""


_SHARE = 0.1
"""The share of the time left that the sweep may take. Arbitrary: all laws use the sweep's scores, but most also try
other completions."""


def anatomies(subject: RewardUnderTest, example: int) -> list[ParsedCompletion]:
    """Parse an example's correct completions. The gold answer is the column that affects the score."""
    parsed_completions: list[ParsedCompletion] = subject.remembered(
        ("anatomies", example), lambda: [_anatomy(subject, example, good) for good in subject.examples[example].good]
    )
    return parsed_completions


def _anatomy(subject: RewardUnderTest, example: int, completion: Any) -> ParsedCompletion:
    """Parse a correct completion. The gold answer is the first column in it whose value affects the score.

    If no value does, the reward may ignore gold answers. In that case, a column whose value is marked as the answer is
    chosen. A value that merely occurs, such as a number from the prompt, is not an answer.
    """
    columns = subject.examples[example].columns
    candidates = anatomies_of(text_of(completion), columns, subject.columns_read, answered=True)
    for candidate in candidates:
        if _matters(subject, Trial(completion, example), candidate):
            return candidate
    likely = (candidate for candidate in candidates if candidate.marked and candidate.column in subject.columns_read)
    return next(
        (candidate for candidate in likely if likelihood(candidate.column) < len(ANSWERS)),
        ParsedCompletion(text_of(completion)),
    )


def _matters(subject: RewardUnderTest, trial: Trial, anatomy: ParsedCompletion) -> bool:
    """Return whether the score changes if another answer replaces the gold answer."""
    wrong = [candidate.text for candidate in wrong_answers(anatomy.gold) if candidate.honest][:3]
    trials = [replace(trial, completion=with_text(trial.completion, anatomy.saying(text))) for text in wrong]
    right, *scores = subject.see([trial, *trials])
    return any(right.tried and candidate.tried and not candidate.same(right) for candidate in scores)


def has_good(subject: RewardUnderTest) -> bool:
    """Return whether any correct completion was given."""
    return any(example.good for example in subject.examples)


def given(subject: RewardUnderTest) -> list[Trial]:
    """Return the given correct and incorrect completions for all examples."""
    return [
        Trial(completion, number)
        for number, example in enumerate(subject.examples)
        for completion in (*example.good, *example.bad)
    ]


def sweep(subject: RewardUnderTest) -> list[Trial]:
    """Return the given completions, wild ones, and broken versions of correct ones, the most useful first."""
    trials: list[Trial] = subject.remembered("sweep", lambda: list(_unique(_sweep(subject))))
    return trials[: subject.affordable(len(trials), share=_SHARE)]


def score_sweep(subject: RewardUnderTest) -> list[tuple[Trial, TrialResult]]:
    """Return the sweep with its scores."""
    trials = sweep(subject)
    return list(zip(trials, subject.see(trials), strict=True))


def beyond_reach(subject: RewardUnderTest) -> list[tuple[Trial, TrialResult, str]]:
    """Return completions that cannot occur in a run on the given data, with their scores and descriptions."""
    trials = list(unreachable(subject))
    scores = subject.see([trial for trial, _ in trials])
    return [(trial, score, name) for (trial, name), score in zip(trials, scores, strict=True)]


def _sweep(subject: RewardUnderTest) -> Iterator[Trial]:
    yield from given(subject)
    if not has_good(subject):
        yield from (Trial(subject.formed(text)) for text in written_completions(subject))
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
    if not has_good(subject):
        for text in filter(reachable_text, broken(ParsedCompletion(""), subject.mined)):
            yield Trial(subject.formed(text), 0)


def _unique(trials: Iterator[Trial]) -> Iterator[Trial]:
    keys: set[tuple[str, int]] = set()
    for trial in trials:
        key = (repr(trial.completion), trial.example)
        if key not in keys:
            keys.add(key)
            yield trial
