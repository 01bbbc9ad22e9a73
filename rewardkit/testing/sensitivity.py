"""Sensitivity: on which parts of a right completion its score depends, found by trying.

In ``"12 + 30 make 42.\\n#### 42"`` only the last number matters to a reward that reads what comes after ``####``, and
``"####42"`` is its essence: the shortest text found that is still paid like the right completion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from rewardkit.testing.anatomy import Span, numbers_in, replaced
from rewardkit.testing.judgment import Judged
from rewardkit.testing.shrinker import shrunk
from rewardkit.testing.subject import Subject

_WORD = re.compile(r"[^\W\d_]+")
_MOST = 120
"""Parts of a completion that are tried."""
_LONGEST = 2_000
_SECONDS = 1.0


@dataclass(frozen=True)
class Part:
    """A number or a word of a right completion.

    Attributes:
        span: its place.
        text: how it is written.
        kind: what it is.
    """

    span: Span
    text: str
    kind: Literal["number", "word"]


def parts_of(text: str) -> list[Part]:
    """Return the numbers and words of a text, in order."""
    numbers = [Part(span, span.of(text), "number") for span in numbers_in(text)]
    words = [Part(Span(*match.span()), match.group(), "word") for match in _WORD.finditer(text)]
    words = [one for one in words if not any(other.span.holds(one.span) for other in numbers)]
    return sorted([*numbers, *words], key=lambda one: one.span.start)


def essential_parts(subject: Subject, right: Judged) -> list[Part]:
    """Return the parts without which a right completion is not paid in full: another part of its kind is refused."""

    def made() -> list[Part]:
        if len(right.anatomy.text) > _LONGEST:
            return []
        parts = parts_of(right.anatomy.text)
        last = parts[-subject.affordable(_MOST) :]  # the answer is usually at the end
        seen = subject.see([right.trial(with_part(right, one, unrelated(one))) for one in last])
        return [part for part, one in zip(last, seen, strict=True) if one.scored and not right.paid(one)]

    found: list[Part] = subject.remembered(("essential", right.example, right.anatomy.text), made)
    return found


def essence(subject: Subject, right: Judged) -> str:
    """Return the shortest text found that is paid like the right completion."""

    def made() -> str:
        text = right.anatomy.text
        if not text or len(text) > _LONGEST:
            return text

        def still(shorter: str) -> bool:
            return right.paid(subject.see([right.trial(shorter)])[0])

        return shrunk(text, still, seconds=min(_SECONDS, subject.left / 8))

    found: str = subject.remembered(("essence", right.example, right.anatomy.text), made)
    return found


def with_part(right: Judged, part: Part, other: str) -> str:
    """Return the text of a right completion with another part."""
    return replaced(right.anatomy.text, [(part.span, other)])


def unrelated(part: Part) -> str:
    """Return a part of the same kind and length that has nothing to do with it."""
    if part.kind == "number":
        return re.sub(r"\d", lambda digit: str((int(digit[0]) + 4) % 9 + 1), part.text)
    letters = "qxz" if part.text[:1].lower() != "q" else "xzq"
    made = "".join(letters[place % 3] for place in range(len(part.text)))
    return made.upper() if part.text.isupper() else made.capitalize() if part.text[:1].isupper() else made


def atoms_of(value: Any) -> list[str]:
    """Return the texts and numbers in a cell, through lists and objects: keys, too."""
    if isinstance(value, dict):
        return [atom for pair in value.items() for one in pair for atom in atoms_of(one)]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [atom for one in value for atom in atoms_of(one)]
    return [] if value is None or isinstance(value, bool) else [str(value).strip()]
