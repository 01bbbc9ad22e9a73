"""Tag violations: ``<think>a</think><answer>b`` and every other text that breaks a row of tags in exactly one way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rewardkit.text.thinking import Marks

Anchored = bool | Literal["start"]

_NOTHING = ("", " ", "\n", "\u200b")
_BESIDE = ("So: ", "0", "I am done.", "```", "<")


@dataclass(frozen=True)
class Blocks:
    """Tags with their bodies and the gaps around them; there is one more gap than tags."""

    pairs: tuple[Marks, ...]
    bodies: tuple[str, ...]
    gaps: tuple[str, ...]
    prefilled: bool = False

    def pieces(self) -> list[str]:
        """gap, opening, body, closing, gap, ...: four for each tag, and the last gap."""
        parts: list[str] = []
        for pair, body, gap in zip(self.pairs, self.bodies, self.gaps, strict=False):
            parts += [gap, pair.opening, body, pair.closing]
        if self.prefilled:
            parts[:2] = ["", ""]
        return [*parts, self.gaps[-1]]

    @property
    def text(self) -> str:
        return "".join(self.pieces())


def violations(drawn: Blocks, anchored: Anchored = True) -> list[str]:
    """Return texts that break `drawn` in exactly one way each."""
    return [text for way in _WAYS for text in way(drawn, anchored)]


def _marks(drawn: Blocks) -> list[int]:
    """Return the places of the marks among the pieces."""
    places = [place for number in range(len(drawn.pairs)) for place in (4 * number + 1, 4 * number + 3)]
    return places[1:] if drawn.prefilled else places


def _with(pieces: Sequence[str], place: int, text: str) -> str:
    return "".join([*pieces[:place], text, *pieces[place + 1 :]])


def _missing(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for place in reversed(_marks(drawn)):
        yield _with(pieces, place, "")


def _block_missing(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for number in range(int(drawn.prefilled), len(drawn.pairs)):
        yield "".join([*pieces[: 4 * number + 1], *pieces[4 * number + 4 :]])


def _empty(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for number in range(len(drawn.pairs)):
        for nothing in _NOTHING:
            yield _with(pieces, 4 * number + 2, nothing)


def _twice(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for place in _marks(drawn):
        yield _with(pieces, place, pieces[place] * 2)
    for number in range(int(drawn.prefilled), len(drawn.pairs)):
        block = "".join(pieces[4 * number + 1 : 4 * number + 4])
        yield _with(pieces, 4 * number + 3, pieces[4 * number + 3] + block)


def _swapped(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for number in range(int(drawn.prefilled), len(drawn.pairs) - 1):
        first, second = 4 * number + 1, 4 * number + 5
        yield "".join(
            [
                *pieces[:first],
                *pieces[second : second + 3],
                pieces[first + 3],
                *pieces[first : first + 3],
                *pieces[second + 3 :],
            ]
        )


def _nested(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for number in range(len(drawn.pairs) - 1):
        closing, end = 4 * number + 3, 4 * number + 8
        yield "".join([*pieces[:closing], *pieces[closing + 1 : end], pieces[closing], *pieces[end:]])


def misspelled(drawn: Blocks, anchored: Anchored = False) -> Iterator[str]:
    """Yield the tags with one mark that is written wrongly, in about as many characters."""
    pieces = drawn.pieces()
    for place in _marks(drawn):
        mark = pieces[place]
        for other in dict.fromkeys((mark.swapcase(), f"{mark[:-1]} >", f"[{mark[1:-1]}]", f"<{mark[1:-1]}>")):
            if other != mark:
                yield _with(pieces, place, other)


def _beside(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    if anchored:
        last = 4 * len(drawn.pairs)
        for place in range(4 * drawn.prefilled, last + (anchored is True), 4):
            for text in _BESIDE:
                yield _with(pieces, place, text)


_WAYS: tuple[Callable[[Blocks, Anchored], Iterator[str]], ...] = (
    _missing,
    _block_missing,
    _empty,
    _twice,
    _swapped,
    _nested,
    misspelled,
    _beside,
)
