"""Shrinker: find a shorter text that still shows a fault.

``shrunk("xx 42 yy", lambda text: "42" in text)`` is ``"42"``. Hypothesis shrinks only what it generated; this shrinks
texts from anywhere: the catalog, or a user's completion.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator


def shrunk(text: str, shows: Callable[[str], bool], *, seconds: float = 2.0, keep: str = "") -> str:
    """Return the shortest text found within `seconds` for which `shows` is true, as it is for `text`.

    Pieces are cut out, from halves down to single characters; then characters that cannot be typed are replaced.

    Args:
        text: to shrink.
        shows: whether a text shows the fault.
        seconds: time limit.
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
    for place, character in enumerate(best):
        if time.monotonic() >= deadline or (character.isascii() and (character.isprintable() or character == "\n")):
            continue
        for simple in "a0 ":
            candidate = best[:place] + simple + best[place + 1 :]
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
