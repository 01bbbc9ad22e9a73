"""The rows of one part: groups stay whole where parts meet, and a group belongs to the part in which it begins.

``rows_of(parts, 3, ["prompt"])`` is part 3 without its first rows that continue a group of part 2, and with the first
rows of part 4 that continue its last group. Every actor finds out for itself, so nobody has to read all borders first.
"""

from __future__ import annotations

from collections.abc import Sequence

from rewardkit.replay.parts.part import Joined, Part, continued


def rows_of(parts: Sequence[Part], number: int, common: Sequence[str]) -> Part:
    """Return the rows of the groups that begin in part `number`.

    Args:
        parts: all parts, none of them empty.
        common: the columns in which the rows of a group agree; none if there are no groups.
    """
    part = parts[number]
    if not common:
        return part
    start = continued(parts[number - 1], part, common) if number else 0
    if start == part.rows:  # all of it continues an earlier group
        return part.sub(0, 0)
    pieces = [part.sub(start, part.rows)]
    for later in parts[number + 1 :]:
        more = continued(pieces[-1], later, common)
        if more:
            pieces.append(later.sub(0, more))
        if more < later.rows:
            break
    return Joined(tuple(pieces))


def grouped(parts: Sequence[Part], rows: int) -> list[Part]:
    """Return the same rows in fewer parts, each with about `rows` of them."""
    found: list[Part] = []
    held: list[Part] = []
    for part in parts:
        held.append(part)
        if sum(one.rows for one in held) >= rows:
            found.append(Joined(tuple(held)))
            held = []
    return found + ([Joined(tuple(held))] if held else [])
