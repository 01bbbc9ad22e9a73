"""Edits: texts at a known distance from a gold answer, such as ``("43", 1)`` and ``("24", 2)`` for ``"42"``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import assume, strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.core.errors import RewardDefinitionError, shorten

Unit = Literal["characters", "digits", "words", "items", "lines"]

_MOST = 5
_LONG = 400
"""For more units, the distance is not measured: it follows from how the text is made."""


def edits(gold: Any, *, distance: int | None = None, unit: Unit = "characters") -> SearchStrategy[tuple[str, int]]:
    """Draw pairs of a text and its edit distance from `gold`.

    Args:
        gold: a text, a number or a list, which is written as JSON.
        distance: at least 1; by default, a distance from 1 to 5 is drawn.
        unit: what one edit inserts, deletes or replaces: ``"characters"``, ``"words"``, ``"items"`` of a list (JSON,
            or text with commas, semicolons or lines) or ``"lines"``. ``"digits"`` only replaces digits; the distance
            in characters is then the same.

    Raises:
        RewardDefinitionError: the distance is below 1, or larger than the number of digits.
    """
    text = gold if isinstance(gold, str) else json.dumps(gold, ensure_ascii=False, default=str)
    written = _written(text, unit)
    most = len(written.units) if unit == "digits" else _MOST
    if most == 0:
        raise RewardDefinitionError(f"edits: {shorten(text)} has no digits. Pass unit='characters'.")
    if distance is not None and not (distance >= 1 and (unit != "digits" or distance <= most)):
        allowed = f"from 1 to {most}" if unit == "digits" else "at least 1"
        raise RewardDefinitionError(f"edits: distance must be {allowed}, got {distance}")
    wanted = st.integers(1, min(_MOST, most)) if distance is None else st.just(distance)
    return wanted.flatmap(lambda count: st.tuples(_edited(written, count, unit), st.just(count)))


def edit_distance(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Return the Levenshtein distance: insertions, deletions and replacements (Levenshtein 1966).

    ``edit_distance("kitten", "sitting")`` is 3. The time is proportional to the product of both lengths.
    """
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]


@dataclass(frozen=True)
class _Written:
    """A text as units, with a function that joins them."""

    units: tuple[str, ...]
    join: Callable[[Sequence[str]], str]
    foreign: SearchStrategy[str]


def _written(text: str, unit: Unit) -> _Written:
    if unit == "characters":
        return _Written(tuple(text), "".join, _characters(text))
    if unit == "digits":
        pieces = re.split(r"([0-9])", text)
        return _Written(tuple(pieces[1::2]), lambda digits: _interleaved(pieces[::2], digits), st.nothing())
    if unit == "words":
        return _Written(tuple(text.split()), " ".join, _others(text.split()))
    if unit == "lines":
        return _Written(tuple(text.split("\n")), "\n".join, _others(text.split("\n")))
    if unit == "items":
        return _items(text)
    raise RewardDefinitionError(f"edits: unit must be characters, digits, words, items or lines, got {shorten(unit)}")


def _items(text: str) -> _Written:
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    if isinstance(parsed, list):
        units = tuple(json.dumps(item, ensure_ascii=False) for item in parsed)
        numeric = all(isinstance(item, (int, float)) for item in parsed)
        new = _others(units, numeric=numeric)
        return _Written(units, lambda items: f"[{', '.join(items)}]", new if numeric else new.map(json.dumps))
    joint = next((mark for mark in ("\n", "; ", ", ", ";", ",") if mark in text), ", ")
    listed = tuple(text.split(joint))
    return _Written(listed, joint.join, _others(listed, numeric=all(re.fullmatch(r"-?\d+", item) for item in listed)))


def _characters(text: str) -> SearchStrategy[str]:
    """Draw characters of the text's kind first, then any."""
    own = sorted(set(text))
    alike = "0123456789" if text.strip("0123456789.,-") == "" else "abcdefghijklmnopqrstuvwxyz0123456789 "
    anything = st.characters(exclude_categories=["Cs", "Cc"])
    return st.one_of(st.sampled_from(alike), st.sampled_from(own or ["a"]), anything)


def _others(units: Sequence[str], *, numeric: bool = False) -> SearchStrategy[str]:
    words = [str(number) for number in range(90, 99)] if numeric else ["window", "quartz", "blue", "seven", "oxen"]
    return st.sampled_from([word for word in words if word not in units] + [*units][:5])


def _interleaved(around: Sequence[str], digits: Sequence[str]) -> str:
    return "".join(part for pair in zip(around, (*digits, ""), strict=True) for part in pair)


def _edited(written: _Written, count: int, unit: Unit) -> SearchStrategy[str]:
    return _digits_replaced(written, count) if unit == "digits" else _units_edited(written, count, unit)


@st.composite
def _digits_replaced(draw: DrawFn, written: _Written, count: int) -> str:
    size = len(written.units)
    places = draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count, unique=True))
    digits = list(written.units)
    for place in places:
        leading = place == 0 and size > 1
        digits[place] = draw(st.sampled_from([one for one in "1234567890"[: 10 - leading] if one != digits[place]]))
    # Shifted digits, as in 1212 -> 2121, have a smaller distance than the number of replaced digits.
    assume(size > _LONG or edit_distance(written.units, digits) == count)
    return written.join(digits)


@st.composite
def _units_edited(draw: DrawFn, written: _Written, count: int, unit: Unit) -> str:
    units = list(written.units)
    long = len(units) > _LONG
    for _ in range(count):
        kind = draw(st.sampled_from(["replace", "insert"] if long or not units else ["replace", "insert", "delete"]))
        place = draw(st.integers(0, len(units) - (kind != "insert" and bool(units))))
        new = [] if kind == "delete" else [draw(written.foreign)]
        units[place : place + (kind != "insert")] = new
    text = written.join(units)
    if long:
        # Each unit that is not in the gold answer takes one edit, and there were no other edits.
        assume(sum(one not in set(written.units) for one in units) == count)
    else:
        assume(edit_distance(written.units, units) == count)
    assume(tuple(_written(text, unit).units) == tuple(units))  # an inserted comma must not split an item
    return text
