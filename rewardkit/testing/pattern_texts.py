r"""Pattern texts: short texts that match regular expressions, to see whether a reward reacts to them.

``matching([r"(?i)\bas an ai\b"])`` holds ``"as an ai"``.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterable, Iterator

from rewardkit.testing.subject import Subject
from rewardkit.testing.sweep import swept
from rewardkit.testing.trials import Trial

_EACH = 3


def own_texts(subject: Subject) -> list[str]:
    """Return texts that the code of a reward mentions, once and repeated, texts for its patterns, and a long one."""
    spoken = [word for text in (*subject.mined.words, *subject.mined.texts) for word in (text, f"{text} " * 5)]
    matched = [*matching(subject.mined.patterns), *matching(subject.mined.texts)]
    together = (" ".join(subject.mined.texts), " ".join(matched))  # for a reward that wants several of them
    return [*spoken, *matched, *together, "word " * 20_000]


def reacts(subject: Subject) -> bool:
    """Whether texts that its own code mentions change the score."""

    def differ() -> bool:
        trials = [Trial(subject.formed(text)) for text in own_texts(subject)]
        values = {round(seen.value, 9) for seen in subject.see(trials) if seen.scored}
        values |= {round(seen.value, 9) for trial, seen in swept(subject) if seen.scored and trial.example == 0}
        return len(values) > 1

    found: bool = subject.remembered("reacts", differ)
    return found


def matching(patterns: Iterable[str], seed: int = 0) -> list[str]:
    """Return up to three texts per pattern; none for a pattern that Hypothesis cannot read, or without Hypothesis."""
    return [text for pattern in patterns for text in _of(pattern, seed)]


def _of(pattern: str, seed: int) -> Iterator[str]:
    found: list[str] = []
    state = random.getstate()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _collect(re.compile(pattern), seed, found)
    except Exception:  # Hypothesis cannot make texts for it
        return
    finally:
        random.setstate(state)
    yield from dict.fromkeys(found)


def _collect(pattern: re.Pattern[str], seed: int, found: list[str]) -> None:
    from hypothesis import HealthCheck, Phase, given, seed as seeded, settings

    from rewardkit.testing.strategies.texts import pattern_texts

    @seeded(seed)
    @settings(
        max_examples=_EACH,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(pattern_texts(pattern))
    def collect(text: str) -> None:
        if len(text) <= 200:
            found.append(text)

    collect()
