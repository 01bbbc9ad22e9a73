"""Registry: all supported instructions, by their ids in the public datasets.

A check is a function that receives a `Passage` and the instruction's arguments. It returns a short description of the
error, or an empty string if the text follows the instruction:
``CHECKS["punctuation:no_comma"].function(Passage("a, b"))`` is ``"1 commas, expected exactly 0"``. An argument's
annotation determines how its values are read.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, final, get_type_hints

from rewardkit.errors import MissingExtraError, near_miss, shorten
from rewardkit.text.visibility import has_visible_character

Check = Callable[..., str]
Reader = Callable[[Any], Any]

MOST = 10**9
"""The largest count in an instruction. The limit is arbitrary: a count that no text reaches is a mistake, and a huge
count would use too much memory."""


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MOST or value != int(value):
        raise ValueError("must be a whole number, 0 or more")
    return int(value)


def _position(value: Any) -> int:
    if (position := _whole(value)) < 1:
        raise ValueError("must be a whole number, 1 or more")
    return position


def _percent(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 100:
        raise ValueError("must be a number from 0 to 100")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not has_visible_character(value):
        raise ValueError("must be text")
    return value.strip()


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError("must be a list of strings")
    return tuple(map(_text, value))


def _letter(value: Any) -> str:
    if len(_text(value)) != 1:
        raise ValueError("must be a single character")
    return _text(value).lower()


def _relation(value: Any) -> str:
    if value not in ("less than", "at least"):
        raise ValueError('must be "less than" or "at least"')
    return str(value)


Count = Annotated[int, _whole]
Position = Annotated[int, _position]
Percent = Annotated[float, _percent]
Text = Annotated[str, _text]
Texts = Annotated[tuple[str, ...], _texts]
Letter = Annotated[str, _letter]
Relation = Annotated[Literal["less than", "at least"], _relation]


@final
@dataclass(frozen=True)
class Definition:
    """A kind of instruction: its id, its check, the reader for each argument, and the library that the check needs."""

    id: str
    function: Check
    readers: Mapping[str, Reader]
    library: str

    @property
    def name(self) -> str:
        """The id without its family, as an identifier: ``number_words``."""
        return self.id.partition(":")[2].replace("-", "_")

    def require(self) -> None:
        """Raise MissingExtraError if the library that the check needs is not installed."""
        if self.library and importlib.util.find_spec(self.library) is None:
            raise MissingExtraError.of(f"rk.instructions: {self.id}", "instructions")


CHECKS: dict[str, Definition] = {}


def check(*ids: str, library: str = "") -> Callable[[Check], Check]:
    """Register a function as the check for the instructions `ids`. `library` is the optional library that it needs."""

    def register(function: Check) -> Check:
        hints = get_type_hints(function, include_extras=True)
        readers = {name: hint.__metadata__[0] for name, hint in hints.items() if name not in ("passage", "return")}
        for identifier in ids:
            CHECKS[identifier] = Definition(identifier, function, readers, library)
        return function

    return register


def definition(identifier: Any) -> Definition:
    """Return the instruction with this id. If there is none, raise a ValueError that suggests similar ids."""
    entry = CHECKS.get(identifier) if isinstance(identifier, str) else None
    if entry is None:
        raise ValueError(f"unknown instruction {shorten(identifier, 80)}.{_similar(identifier)}")
    return entry


def _similar(identifier: Any) -> str:
    name = identifier.partition(":")[2] or identifier if isinstance(identifier, str) else ""
    same = [candidate for candidate in CHECKS if candidate.partition(":")[2] == name[:80]]
    return f" Did you mean {same[0]!r}?" if same else near_miss(str(name)[:80], CHECKS) or near_miss(identifier, CHECKS)


def counted(count: int, relation: str, expected: int, noun: str) -> str:
    """Return an error such as ``"3 words, expected at least 5"``; empty if the count is correct.

    The relations are "exactly", "at most", "less than", and "at least". The datasets use only the last two.
    """
    right = {
        "less than": count < expected,
        "at least": count >= expected,
        "at most": count <= expected,
        "exactly": count == expected,
    }[relation]
    return "" if right else f"{count:,} {noun}, expected {relation} {expected:,}"
