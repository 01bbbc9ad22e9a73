"""Long texts: families of completions that grow, to see how the time and the memory of a reward grow with them.

The families that catch most slow patterns come first: spaces, a letter, digits, and right completions, alone and
between letters. ``re.findall(r"(\\w+)\\s*=", text)`` is quadratic in letters, ``re.sub(r"\\s+$", "", text)`` in spaces
before a letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rewardkit.testing.anatomy import Anatomy
from rewardkit.testing.subject import Subject
from rewardkit.testing.sweep import anatomies

_STRONG = (" ", "a", "1", "\n", "a ")
_PIECES = (" ", "a", "\n", "1", "(", "[", "{", '"', "<", "a ", "x\n", "\\")

_COUNTED = ("a{0} ", "a{0}\n", "Word a{0}. ", "{0}, ", "a{0}: {0}\n")

Grown = Callable[[int], str]


def families_of(subject: Subject) -> Iterator[tuple[str, Grown]]:
    """Yield each family once, with its name, the strongest first."""
    known: set[str] = set()
    for name, grown in (*_strong(subject), *_others(subject)):
        if name not in known:
            known.add(name)
            yield name, grown


def _strong(subject: Subject) -> Iterator[tuple[str, Grown]]:
    """Yield the families that catch most slow patterns."""
    for piece in _STRONG:
        yield f"{piece!r} * n between letters", _grown(piece, _between)
        yield f"{piece!r} * n", _grown(piece, str)
    for tag in subject.mined.tags[:2]:
        for piece in ("a", " "):
            yield f"{piece!r} * n after <{tag}>", _grown(piece, _behind(f"<{tag}>"))
    for anatomy in anatomies(subject, 0)[:1]:
        if anatomy.text:
            yield "a right completion * n", _pumped("", anatomy.text)
        space = re.search(r"(?<=\S)[ \n](?=\S)", anatomy.text)
        if space is not None:
            frame = _around(anatomy.text[: space.start()], anatomy.text[space.end() :])
            yield "a space * n inside a right completion", _grown(space.group(), frame)
        if anatomy.marked:
            for piece in _STRONG:
                yield f"{piece!r} * n in the place of the answer", _grown(piece, anatomy.with_region)


def _others(subject: Subject) -> Iterator[tuple[str, Grown]]:
    """Yield texts that grow: a repeated piece, alone and in place of the answer, with a mismatch at the end."""
    pieces = [*_PIECES, *(f"<{tag}>" for tag in subject.mined.tags), *(f"</{tag}>" for tag in subject.mined.tags)]
    pieces += [f"<{tag}>a</{tag}>" for tag in subject.mined.tags]
    pieces += [text for text in subject.mined.texts if 1 < len(text) <= 30][:12]
    frames: list[tuple[str, Callable[[str], str]]] = [
        ("", str),
        (" before a mark", lambda body: body + "!\n?"),
    ]
    for number in range(min(1, len(subject.examples))):
        for anatomy in anatomies(subject, number)[:1]:
            frames.append((" in the place of the answer", anatomy.with_region))
            frames.append((" in an open answer", _opened(anatomy)))
            if anatomy.text:
                yield "the last letter * n after a right completion", _pumped(anatomy.text, anatomy.text[-1])
            if anatomy.marked and anatomy.region.end > anatomy.region.start:
                answer = anatomy.region.of(anatomy.text)
                yield "the last letter of the answer * n", _pumped(answer, answer[-1], anatomy.with_region)
    opened = subject.mined.tags[:3]
    frames += [(f" after <{tag}>", _behind(f"<{tag}>")) for tag in opened]
    for counted in _COUNTED:
        yield f"{counted!r} counted up", _counted(counted)
    for piece in dict.fromkeys(pieces):
        for name, frame in frames:
            yield f"{piece!r} * n{name}", _grown(piece, frame)


def _between(body: str) -> str:
    return f"a{body}b"


def _around(before: str, after: str) -> Callable[[str], str]:
    return lambda body: before + body + after


def _counted(piece: str) -> Grown:
    return lambda size: "".join(piece.format(number) for number in range(max(1, size // (len(piece) + 2))))


def _grown(piece: str, frame: Callable[[str], str]) -> Grown:
    return lambda size: frame(piece * max(1, size // len(piece)))


def _pumped(text: str, piece: str, frame: Callable[[str], str] = str) -> Grown:
    return lambda size: frame(f"{text}{piece * max(1, size // len(piece))}!")


def _opened(anatomy: Anatomy) -> Callable[[str], str]:
    return lambda body: anatomy.text[: anatomy.region.start] + body


def _behind(opening: str) -> Callable[[str], str]:
    return lambda body: opening + body + "!"
