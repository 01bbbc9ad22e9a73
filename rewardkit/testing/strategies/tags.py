"""Tags: ``tagged("think", "answer")`` gives ``<think>0</think><answer>0</answer>``, whole or with one thing wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.text.visibility import has_visible_character
from rewardkit.testing.strategies.texts import bodies

Anchored = bool | Literal["start"]
Bodies = SearchStrategy[str] | Mapping[str, SearchStrategy[str]]

_GAPS = ("", "\n", " ", "\n\n")
_NOTHING = ("", " ", "\n", "\u200b")
_BESIDE = ("So: ", "0", "I am done.", "```", "<")


@dataclass(frozen=True)
class Blocks:
    """Tags with their bodies and what stands around them; ``gaps`` has one more than there are names."""

    names: tuple[str, ...]
    bodies: tuple[str, ...]
    gaps: tuple[str, ...]
    prefilled: bool = False

    def pieces(self) -> list[str]:
        """gap, opening, body, closing, gap, ...: four for each name, and the last gap."""
        parts: list[str] = []
        for name, body, gap in zip(self.names, self.bodies, self.gaps, strict=False):
            parts += [gap, f"<{name}>", body, f"</{name}>"]
        if self.prefilled:
            parts[:2] = ["", ""]
        return [*parts, self.gaps[-1]]

    @property
    def text(self) -> str:
        return "".join(self.pieces())


def tagged(
    *names: str,
    body: Bodies | None = None,
    valid: bool = True,
    anchored: Anchored = True,
    prefilled: str | None = None,
) -> SearchStrategy[str]:
    """Each tag once, in order, closed, with something visible inside: what ``rk.tags(*names)`` asks for.

    Args:
        names: of the tags.
        body: draws what stands inside, ``bodies()`` by default; a mapping draws by name. A body that holds one of the
            tags, or shows nothing, is drawn again.
        valid: False for texts with exactly one violation: a mark missing, twice or misspelled, a block missing or
            out of order, nothing inside, one block inside the other, text beside them.
        anchored: as in ``rk.tags``: whether text may stand outside.
        prefilled: the first name, where the prompt already ends with its opening.
    """
    if not names:
        raise RewardDefinitionError('tagged needs at least one name: tagged("think", "answer")')
    whole = blocks(names, body, anchored, prefilled is not None)
    return whole.map(lambda drawn: drawn.text) if valid else violated(whole, anchored)


def blocks(
    names: tuple[str, ...],
    body: Bodies | None,
    anchored: Anchored = True,
    prefilled: bool = False,
    tail: SearchStrategy[str] | None = None,
) -> SearchStrategy[Blocks]:
    """What `tagged` writes; `tail` draws what stands behind the last tag, where something may."""
    marks = [f"<{slash}{name}>" for name in names for slash in ("", "/")]

    def clean(text: str) -> bool:
        return not any(mark in text for mark in marks)

    def inside(name: str) -> SearchStrategy[str]:
        drawn = body.get(name) if isinstance(body, Mapping) else body
        return (bodies() if drawn is None else drawn).filter(lambda text: clean(text) and has_visible_character(text))

    space = st.sampled_from(_GAPS)
    free = st.one_of(space, st.sampled_from(["So the answer is", "Done."]), bodies().filter(clean))
    between = space if anchored else free
    last = space if anchored is True else free if tail is None else tail.filter(clean)
    return st.builds(
        Blocks,
        st.just(names),
        st.tuples(*(inside(name) for name in names)),
        st.tuples(*(between for _ in names), last),
        st.just(prefilled),
    )


@st.composite
def violated(draw: DrawFn, whole: SearchStrategy[Blocks], anchored: Anchored) -> str:
    """`whole` with one thing wrong."""
    drawn = draw(whole)
    # One choice among all of them: a way with few texts would otherwise look simpler than it reads.
    return draw(st.sampled_from(violations(drawn, anchored)))


def violations(drawn: Blocks, anchored: Anchored = True) -> list[str]:
    """The texts that break `drawn` in exactly one way each."""
    return [text for way in _WAYS for text in way(drawn, anchored)]


def _marks(drawn: Blocks) -> list[int]:
    """Where among the pieces the marks stand."""
    places = [place for number in range(len(drawn.names)) for place in (4 * number + 1, 4 * number + 3)]
    return places[1:] if drawn.prefilled else places


def _with(pieces: Sequence[str], place: int, text: str) -> str:
    return "".join([*pieces[:place], text, *pieces[place + 1 :]])


def _missing(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for place in reversed(_marks(drawn)):
        yield _with(pieces, place, "")


def _block_missing(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for number in range(int(drawn.prefilled), len(drawn.names)):
        yield "".join([*pieces[: 4 * number + 1], *pieces[4 * number + 4 :]])


def _empty(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for number in range(len(drawn.names)):
        for nothing in _NOTHING:
            yield _with(pieces, 4 * number + 2, nothing)


def _twice(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for place in _marks(drawn):
        yield _with(pieces, place, pieces[place] * 2)
    for number in range(int(drawn.prefilled), len(drawn.names)):
        block = "".join(pieces[4 * number + 1 : 4 * number + 4])
        yield _with(pieces, 4 * number + 3, pieces[4 * number + 3] + block)


def _swapped(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for number in range(int(drawn.prefilled), len(drawn.names) - 1):
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
    for number in range(len(drawn.names) - 1):
        closing, end = 4 * number + 3, 4 * number + 8
        yield "".join([*pieces[:closing], *pieces[closing + 1 : end], pieces[closing], *pieces[end:]])


def _misspelled(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    for place in _marks(drawn):
        mark = pieces[place]
        for other in dict.fromkeys((mark.swapcase(), f"{mark[:-1]} >", f"[{mark[1:-1]}]")):
            if other != mark:
                yield _with(pieces, place, other)


def _beside(drawn: Blocks, anchored: Anchored) -> Iterator[str]:
    pieces = drawn.pieces()
    if anchored:
        last = 4 * len(drawn.names)
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
    _misspelled,
    _beside,
)
