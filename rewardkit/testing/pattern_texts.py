r"""Matching: short texts that regular expressions match, so that what waits for them can be seen to react.

``matching([r"(?i)\bas an ai\b"])`` holds ``"as an ai"``.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterable, Iterator

_SECONDS = 0.2
_EACH = 3


def matching(patterns: Iterable[str], seed: int = 0) -> list[str]:
    """A few texts for each pattern that can be matched; none for one that Hypothesis cannot read."""
    return [text for pattern in patterns for text in _of(pattern, seed)]


def _of(pattern: str, seed: int) -> Iterator[str]:
    from hypothesis import HealthCheck, Phase, given, seed as seeded, settings, strategies

    found: list[str] = []

    @seeded(seed)
    @settings(
        max_examples=_EACH,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(strategies.from_regex(pattern))
    def collect(text: str) -> None:
        if len(text) <= 200:
            found.append(text)

    state = random.getstate()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
            collect()
    except Exception:  # what Hypothesis cannot make is left out
        return
    finally:
        random.setstate(state)
    yield from dict.fromkeys(found)
