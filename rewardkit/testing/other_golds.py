"""Other golds: more values that a gold column may have, of the kind that the examples show.

For ``answer="42"`` there are ``"0"``, ``"7"`` and ``"10"``, but nothing negative, unless an example is; for ``"B"`` the
other letters up to the last one of the examples; for ``{"qty": 3}`` objects with other values of the same types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.testing.anatomy import as_number
from rewardkit.testing.wrong_answers import leaves, other_value, with_leaf

_INTEGERS = (0, 1, 7, 10, 100, 305, 1000, 20250)
_WORDS = ("yes", "no"), ("true", "false"), ("positive", "negative")
_MOST_LEAVES = 6


@dataclass(frozen=True)
class Gold:
    """Another value of a gold column, and the answer that writes it in a completion."""

    value: Any
    written: str


def other_golds(value: Any, written: str, known: Sequence[Any]) -> Iterator[Gold]:
    """Yield other values in place of `value`, which a completion writes as `written`; none where that is not certain.

    Args:
        value: of the column.
        written: the answer in a right completion.
        known: the values of the column in all examples.
    """
    document = _document(value)
    if document is not None:
        if json.loads(written) == document if _is_json(written) else False:
            for changed in _documents(document):
                yield Gold(json.dumps(changed) if isinstance(value, str) else changed, json.dumps(changed))
        return
    if isinstance(value, bool) or str(value).strip() != written.strip():
        return
    number = as_number(value)
    if number is not None and re.fullmatch(r"-?\d+", written.strip()):
        yield from (Gold(type(value)(one), str(one)) for one in _integers(known) if one != int(number))
    elif isinstance(value, str):
        yield from (Gold(one, one) for one in _texts(value, known) if one != value)


def _integers(known: Sequence[Any]) -> Iterator[int]:
    """Yield integers with as many digits as the examples have, and the negative ones only if an example is negative."""
    numbers = [number for number in map(as_number, known) if number is not None]
    most = max((len(str(abs(int(number)))) for number in numbers), default=1)
    yield from (one for one in _INTEGERS if len(str(one)) <= max(most, 2))
    if any(number < 0 for number in numbers):
        yield from (-one for one in _INTEGERS if one and len(str(one)) <= max(most, 2))


def _texts(value: str, known: Sequence[Any]) -> Iterator[str]:
    if re.fullmatch(r"[A-Z]", value):
        letters = [one for one in known if isinstance(one, str) and re.fullmatch(r"[A-Z]", one)]
        yield from (chr(code) for code in range(ord("A"), ord(max(letters, default=value)) + 1))
        return
    for pair in _WORDS:
        if value.lower() in pair:
            other = pair[1 - pair.index(value.lower())]
            yield other.upper() if value.isupper() else other.capitalize() if value[:1].isupper() else other


def _documents(document: Any) -> Iterator[Any]:
    """Yield documents with one other value each, of the same type: another one, and the one that counts as false."""
    for path, value in [*leaves(document)][:_MOST_LEAVES]:
        yield with_leaf(document, path, other_value(value))
        nothing = type(value)() if isinstance(value, (bool, int, float)) else None
        if nothing is not None and nothing != value:
            yield with_leaf(document, path, nothing)


def _document(value: Any) -> Any:
    """Return an object with at least one key, given as such or as JSON text; None for everything else."""
    if isinstance(value, str) and value.lstrip()[:1] == "{" and _is_json(value):
        value = json.loads(value)
    return value if isinstance(value, dict) and value else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
