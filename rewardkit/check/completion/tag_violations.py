"""Tag violations: texts that break a sequence of tags in exactly one way, such as ``<think>a</think><answer>b``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rewardkit.text.thinking import Marks

Anchored = bool | Literal["start"]

_NOTHING = ("", " ", "\n", "\u200b")
_BESIDE = ("So: ", "0", "I am done.", "```", "<")


@dataclass(frozen=True)
class Blocks:
    """A sequence of tags with their bodies and the gaps around them. There is one more gap than tags."""

    pairs: tuple[Marks, ...]
    bodies: tuple[str, ...]
    gaps: tuple[str, ...]
    prefilled: bool = False

    def pieces(self) -> list[str]:
        """Return the pieces of the text in order: gap, opening, body, and closing for each tag, then the last gap."""
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
    pieces, marks, count = drawn.pieces(), _marks(drawn), len(drawn.pairs)
    # Four pieces for each tag: the gap before it, its opening mark, its body, and its closing mark.
    opened = [4 * number + 1 for number in range(int(drawn.prefilled), count)]
    texts = [_replace_piece(pieces, mark, "") for mark in reversed(marks)]
    texts += ["".join([*pieces[:start], *pieces[start + 3 :]]) for start in opened]  # one block missing
    texts += [_replace_piece(pieces, 4 * number + 2, body) for number in range(count) for body in _NOTHING]
    texts += [_replace_piece(pieces, mark, pieces[mark] * 2) for mark in marks]
    for start in opened:
        block = "".join(pieces[start : start + 3])
        texts.append(_replace_piece(pieces, start + 2, pieces[start + 2] + block))  # the block again
    for start in opened[:-1]:
        first, gap, second = pieces[start : start + 3], pieces[start + 3], pieces[start + 4 : start + 7]
        texts.append("".join([*pieces[:start], *second, gap, *first, *pieces[start + 7 :]]))  # in the wrong order
    for number in range(count - 1):
        closing, end = 4 * number + 3, 4 * number + 8
        nested = [*pieces[closing + 1 : end], pieces[closing]]
        texts.append("".join([*pieces[:closing], *nested, *pieces[end:]]))
    texts += misspelled(drawn)
    for index in range(4 * drawn.prefilled, 4 * count + (anchored is True), 4) if anchored else ():
        texts += [_replace_piece(pieces, index, text) for text in _BESIDE]
    return texts


def _marks(drawn: Blocks) -> list[int]:
    """Return the indices of the opening and closing marks in ``drawn.pieces()``."""
    indices = [index for number in range(len(drawn.pairs)) for index in (4 * number + 1, 4 * number + 3)]
    return indices[1:] if drawn.prefilled else indices


def _replace_piece(pieces: Sequence[str], index: int, text: str) -> str:
    return "".join([*pieces[:index], text, *pieces[index + 1 :]])


def misspelled(drawn: Blocks) -> Iterator[str]:
    """Yield the text with one mark misspelled but about as long."""
    pieces = drawn.pieces()
    for index in _marks(drawn):
        mark = pieces[index]
        for other in dict.fromkeys((mark.swapcase(), f"{mark[:-1]} >", f"[{mark[1:-1]}]", f"<{mark[1:-1]}>")):
            if other != mark:
                yield _replace_piece(pieces, index, other)
