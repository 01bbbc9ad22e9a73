"""What changed between two versions of a reward, line by line: ``changed_lines("a\\nb", "a\\nc")``.

Lines that changed only in part come in pieces, as in `comparison`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from rewardkit.viewer.comparison import compare

_LINES = 4_000
"""Longer files are compared less exactly, but in time."""
_CONTEXT = 3
Pieces = Sequence[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a comparison.

    Attributes:
        sign: ``" "`` for an equal line, ``"-"`` for an old one, ``"+"`` for a new one, ``"…"`` for equal lines that are
            left out.
        old, new: its number in the two texts, from 1.
        pieces: its text in pieces, and whether each changed.
        count: the number of lines that are left out.
    """

    sign: str
    old: int | None
    new: int | None
    pieces: Pieces = ()
    count: int = 0


def changed_lines(old: str, new: str, context: int | None = _CONTEXT) -> list[Line]:
    """Return the lines of both texts, with at most `context` equal lines around each change; None for all lines."""
    before, after = old.splitlines(), new.splitlines()
    matcher = SequenceMatcher(None, before, after, autojunk=len(before) + len(after) > _LINES)
    lines: list[Line] = []
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            lines += [
                Line(" ", start + at + 1, first + at + 1, [(text, False)]) for at, text in enumerate(before[start:end])
            ]
        else:
            lines += _changed(before, after, (start, end), (first, last))
    return lines if context is None else list(_folded(lines, context))


def _changed(before: Sequence[str], after: Sequence[str], old: tuple[int, int], new: tuple[int, int]) -> Iterator[Line]:
    """Yield the old lines, then the new ones; if there are equally many, with what changed in each."""
    paired = old[1] - old[0] == new[1] - new[0]
    texts = list(zip(before[slice(*old)], after[slice(*new)], strict=True)) if paired else []
    both = [compare(*pair) for pair in texts]
    for at in range(*old):
        yield Line("-", at + 1, None, both[at - old[0]].left if both else [(before[at], False)])
    for at in range(*new):
        yield Line("+", None, at + 1, both[at - new[0]].right if both else [(after[at], False)])


def _folded(lines: Sequence[Line], context: int) -> Iterator[Line]:
    changed = [at for at, line in enumerate(lines) if line.sign != " "]
    near = {at + by for at in changed for by in range(-context, context + 1)}
    for kept, group in itertools.groupby(range(len(lines)), key=near.__contains__):
        found = [lines[at] for at in group]
        if kept or len(found) == 1:
            yield from found
        else:
            yield Line("…", found[0].old, found[0].new, count=len(found))


def sources_of(version: Mapping[str, Any]) -> dict[str, str]:
    """Return path -> text of the code of a version, as the table ``versions`` has it."""
    found = json.loads(version.get("sources") or "{}")
    return found if isinstance(found, dict) else {}


def files_of(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the files of two versions: path, old text, new text. A single file that has another name is one file."""
    before, after = {} if old is None else sources_of(old), sources_of(new)
    gone, added = ([path for path in one if path not in other] for one, other in ((before, after), (after, before)))
    if len(gone) == len(added) == 1:
        before[f"{gone[0]} → {added[0]}"] = before.pop(gone[0])
        after[f"{gone[0]} → {added[0]}"] = after.pop(added[0])
    return [(path, before.get(path, ""), after.get(path, "")) for path in dict.fromkeys([*after, *before])]


def change_in_words(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> str:
    """Say in a few words what changed: ``"expression, reward.py +3 −1"``."""
    if old is None:
        return "the first version"
    said = ["expression"] if old["reward"] != new["reward"] else []
    for path, before, after in files_of(old, new):
        lines = changed_lines(before, after, context=0)
        added, removed = (sum(line.sign == sign for line in lines) for sign in "+-")
        if added or removed:
            said.append(f"{path} +{added:,} −{removed:,}")
    known = sources_of(old) and sources_of(new)
    unsaid = "options that the expression does not show" if known else "nothing that was recorded"
    return ", ".join(said) or unsaid
