"""A word-by-word diff of two texts: ``compare("a b c", "a x c")`` marks ``b`` and ``x``.

The time is bounded. Short texts are compared by their longest common subsequence. Long texts are first split at word
sequences that occur once in both texts (patience diff). If the text between two such sequences is too long, it is
treated as changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Spaces, words and single punctuation marks, so that a changed mark does not highlight the word next to it.
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_CELLS = 25_000_000
"""The maximum number of word pairs to compare, with one bit per pair. The limit is arbitrary: 3 MB. Longer texts are
first split at places that are the same in both texts."""
_RUN = 7
"""The number of words, including spaces, that identify a place in a long text. There are four words without the spaces,
because fewer words may be equal by chance."""
LONGEST = 300_000
"""The maximum total length of both texts in characters. Longer texts are not compared. The number is arbitrary and
limits the time for a page."""

Block = tuple[int, int, int]
"""A sequence of equal words: its start on the left, its start on the right, and its length."""


MARKED = 0.4
"""The minimum similarity for marking differences. The limit is arbitrary: below it, nearly all of the text would be
marked."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts split into pieces. Each piece is a text and whether it changed.

    Attributes:
        compared: False if the texts are too long to compare.
        similar: False if the texts are too different to mark the changes.
    """

    left: list[tuple[str, bool]]
    right: list[tuple[str, bool]]
    compared: bool = True
    similar: bool = True

    @property
    def similarity(self) -> float:
        """The share of the characters in both texts that are equal, from 0 to 1."""
        pieces = [*self.left, *self.right]
        size = sum(len(text) for text, _ in pieces)
        return sum(len(text) for text, changed in pieces if not changed) / size if size else 1.0

    def marked(self) -> Comparison:
        """Return this comparison; if the texts are too different, without marks."""
        if self.similarity >= MARKED:
            return self
        left, right = (_whole("".join(text for text, _ in pieces)) for pieces in (self.left, self.right))
        return Comparison(left, right, compared=self.compared, similar=False)


def compare(left: str, right: str) -> Comparison:
    """Split the two texts into equal and changed pieces. Joining the pieces returns the original texts."""
    if len(left) + len(right) > LONGEST:
        return Comparison(_whole(left), _whole(right), compared=False)
    words_left, words_right = _WORDS.findall(left), _WORDS.findall(right)
    blocks = list(_without_crumbs(_blocks(words_left, words_right), words_left, words_right))
    return Comparison(
        _pieces(words_left, [(start, length) for start, _, length in blocks]),
        _pieces(words_right, [(start, length) for _, start, length in blocks]),
    )


def _whole(text: str) -> list[tuple[str, bool]]:
    return [(text, False)] if text else []


def _pieces(words: Sequence[str], equal: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    pieces = []
    end = 0
    for start, length in [*equal, (len(words), 0)]:
        if start > end:
            pieces.append(("".join(words[end:start]), True))
        if length:
            pieces.append(("".join(words[start : start + length]), False))
        end = start + length
    return pieces


def _without_crumbs(blocks: Iterator[Block], left: Sequence[str], right: Sequence[str]) -> Iterator[Block]:
    """Drop blocks between two changes that contain only whitespace and punctuation, and join adjacent blocks."""
    pending: Block | None = None
    for block in blocks:
        start, right_start, length = block
        crumb = not any(word[0].isalnum() for word in left[start : start + length])
        inner = (start or right_start) and (start + length < len(left) or right_start + length < len(right))
        if pending is not None and (start, right_start) == (pending[0] + pending[2], pending[1] + pending[2]):
            pending = (pending[0], pending[1], pending[2] + length)
        elif not (crumb and inner):
            if pending is not None:
                yield pending
            pending = block
    if pending is not None:
        yield pending


def _blocks(left: Sequence[str], right: Sequence[str]) -> Iterator[Block]:
    """Yield sequences of equal words in order."""
    shorter = min(len(left), len(right))
    begin = next((index for index in range(shorter) if left[index] != right[index]), shorter)
    rest = shorter - begin
    end = next((index for index in range(rest) if left[-1 - index] != right[-1 - index]), rest)
    if begin:
        yield 0, 0, begin
    yield from _middle(left, right, begin, len(left) - end, begin, len(right) - end)
    if end:
        yield len(left) - end, len(right) - end, end


def _middle(left: Sequence[str], right: Sequence[str], low: int, high: int, start: int, stop: int) -> Iterator[Block]:
    if high <= low or stop <= start:
        return
    if (high - low) * (stop - start) <= _CELLS:
        yield from _common(left[low:high], right[start:stop], low, start)
        return
    # The text between two anchors may still be too long. Then it counts as changed.
    for index, right_index in [*_anchors(left, right, low, high, start, stop), (high, stop)]:
        if (index - low) * (right_index - start) <= _CELLS:
            yield from _common(left[low:index], right[start:right_index], low, start)
        if index < high and right_index < stop:
            yield index, right_index, 1
        low, start = index + 1, right_index + 1


def _common(left: Sequence[str], right: Sequence[str], offset: int, right_offset: int) -> Iterator[Block]:
    from rapidfuzz.distance import LCSseq

    if not left or not right:
        return
    for step in LCSseq.opcodes(left, right):
        if step.tag == "equal":
            yield offset + step.src_start, right_offset + step.dest_start, step.src_end - step.src_start


def _anchors(
    left: Sequence[str], right: Sequence[str], low: int, high: int, start: int, stop: int
) -> list[tuple[int, int]]:
    """Return the places of word sequences that occur once in each text: the longest chain in the same order."""
    runs_left, runs_right = _runs(left, low, high), _runs(right, start, stop)
    once_left, once_right = Counter(runs_left), Counter(runs_right)
    right_indices = {run: start + index for index, run in enumerate(runs_right) if once_right[run] == 1}
    pairs = [
        (low + index, right_indices[run])
        for index, run in enumerate(runs_left)
        if once_left[run] == 1 and run in right_indices
    ]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, right_index) in enumerate(pairs):
        position = bisect_left(ends, right_index)
        before.append(last[position - 1] if position else -1)
        ends[position : position + 1] = [right_index]
        last[position : position + 1] = [number]
    chain = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _runs(words: Sequence[str], start: int, stop: int) -> list[tuple[str, ...]]:
    return list(zip(*(words[start + ahead : stop] for ahead in range(_RUN)), strict=False))
