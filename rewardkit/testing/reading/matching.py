r"""Matching: short texts that match regular expressions: ``matching([r"(?i)\bas an ai\b"])`` holds ``"as an ai"``."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterable, Iterator

_EACH = 3


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
