"""Sensitivity: the parts of a correct completion that its score depends on, found by experiment.

In ``"12 + 30 make 42.\\n#### 42"`` only the last number matters to a reward that reads the text after ``####``. The
completion's essence is ``"####42"``, the shortest text found that still scores as high.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from rewardkit.check.completion.parsed_completion import Part, parts_of, replaced, unrelated
from rewardkit.check.reward_under_test.judgment import Judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest

# Shrinker: find a shorter text that still shows a fault.


def shrink_text(text: str, shows: Callable[[str], bool], *, seconds: float = 2.0, keep: str = "") -> str:
    """Return the shortest text found within `seconds` for which `shows` returns True, as it does for `text`.

    First, pieces are removed, from halves down to single characters. Then, characters that cannot be typed are
    replaced.

    Args:
        text: the text to shrink.
        shows: a function that returns whether a text shows the fault.
        seconds: the time limit.
        keep: a part of the text that must not change.
    """
    deadline = time.monotonic() + seconds
    best = text
    improved = True
    while improved and time.monotonic() < deadline:
        improved = False
        for candidate in _shorter(best):
            if time.monotonic() >= deadline:
                break
            if (not keep or keep in candidate) and candidate != best and shows(candidate):
                best, improved = candidate, True
                break
    for index, character in enumerate(best):
        if time.monotonic() >= deadline or (character.isascii() and (character.isprintable() or character == "\n")):
            continue
        for simple in "a0 ":
            candidate = best[:index] + simple + best[index + 1 :]
            if (not keep or keep in candidate) and shows(candidate):
                best = candidate
                break
    return best


def _shorter(text: str) -> Iterator[str]:
    size = len(text)
    piece = size
    while piece >= 1:
        for start in range(0, size, piece):
            yield text[:start] + text[start + piece :]
        if piece == 1:
            return
        piece = max(1, piece // 2)


_MOST = 120
"""The maximum number of parts of a completion to try. Arbitrary: each part adds a completion to score."""
# The longest completion, in characters, and the time limit for shrinking, in seconds. Arbitrary: each text tried is one
# more completion to score.
_LONGEST = 2_000
_SECONDS = 1.0


def essential_parts(subject: RewardUnderTest, right: Judged) -> list[Part]:
    """Return a correct completion's parts that matter: if one is replaced with an unrelated part, the score drops."""

    def made() -> list[Part]:
        if len(right.anatomy.text) > _LONGEST:
            return []
        parts = parts_of(right.anatomy.text)
        last = parts[-subject.affordable(_MOST) :]  # the answer is usually at the end
        scores = subject.see([right.trial(with_part(right, candidate, unrelated(candidate))) for candidate in last])
        return [
            part for part, candidate in zip(last, scores, strict=True) if candidate.scored and not right.paid(candidate)
        ]

    essential: list[Part] = subject.remembered(("essential", right.example, right.anatomy.text), made)
    return essential


def essence(subject: RewardUnderTest, right: Judged) -> str:
    """Return the shortest text found that scores as high as the correct completion."""

    def made() -> str:
        text = right.anatomy.text
        if not text or len(text) > _LONGEST:
            return text

        def still(shorter: str) -> bool:
            return right.paid(subject.see([right.trial(shorter)])[0])

        return shrink_text(text, still, seconds=min(_SECONDS, subject.left / 8))

    shortest_text: str = subject.remembered(("essence", right.example, right.anatomy.text), made)
    return shortest_text


def with_part(right: Judged, part: Part, other: str) -> str:
    """Return a correct completion's text with `part` replaced by `other`."""
    return replaced(right.anatomy.text, [(part.span, other)])
