"""Sensitivity: the parts of a correct completion that its score depends on, found by experiment.

In ``"12 + 30 make 42.\\n#### 42"`` only the last number matters to a reward that reads the text after ``####``. The
completion's essence is ``"####42"``, the shortest text found that still scores as high.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from rewardkit.check.completion.parsed_completion import Span, numbers_in, replaced
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


# Letters of any script, without digits and underscores.
_WORD = re.compile(r"[^\W\d_]+")
_MOST = 120
"""The maximum number of parts of a completion to try. Arbitrary: each part adds a completion to score."""
# The longest completion, in characters, and the time limit for shrinking, in seconds. Arbitrary: each text tried is one
# more completion to score.
_LONGEST = 2_000
_SECONDS = 1.0


@dataclass(frozen=True)
class Part:
    """A number or a word in a correct completion.

    Attributes:
        span: the part's position in the text.
        text: the part's text.
        kind: the kind of part.
    """

    span: Span
    text: str
    kind: Literal["number", "word"]


def parts_of(text: str) -> list[Part]:
    """Return the numbers and words in a text, in order."""
    numbers = [Part(span, span.of(text), "number") for span in numbers_in(text)]
    words = [Part(Span(*match.span()), match.group(), "word") for match in _WORD.finditer(text)]
    words = [part for part in words if not any(other.span.holds(part.span) for other in numbers)]
    return sorted([*numbers, *words], key=lambda part: part.span.start)


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


def unrelated(part: Part) -> str:
    """Return an unrelated text of the same kind and length as `part`."""
    if part.kind == "number":
        return re.sub(r"\d", lambda digit: str((int(digit[0]) + 4) % 9 + 1), part.text)
    letters = "qxz" if part.text[:1].lower() != "q" else "xzq"
    # Use rare letters, which form no words in any language.
    filler = "".join(letters[index % 3] for index in range(len(part.text)))
    return filler.upper() if part.text.isupper() else filler.capitalize() if part.text[:1].isupper() else filler


def atoms_of(value: Any) -> list[str]:
    """Return all strings and numbers in a cell, as strings, including keys and nested values."""
    if isinstance(value, dict):
        return [atom for pair in value.items() for member in pair for atom in atoms_of(member)]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [atom for member in value for atom in atoms_of(member)]
    return [] if value is None or isinstance(value, bool) else [str(value).strip()]
