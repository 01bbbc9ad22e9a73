"""Bound instructions: an instruction with its arguments, and the cells of data sets that hold them.

``Instruction.of("length_constraints:number_words", {"num_words": 3.0, "relation": "at least"})`` is an instruction with
checked arguments; ``problem(Passage("So be it."))`` is empty, because the text follows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from rewardkit.core.errors import near_miss, shorten
from rewardkit.core.text.literals import check_json, read_literal
from rewardkit.primitives.instructions import (
    assignments,
    keywords,
    layout,
    length,
    patterns,
    positions,
    repetition,
    style,
)
from rewardkit.primitives.instructions.passage import Passage
from rewardkit.primitives.instructions.registry import Definition, definition

FAMILIES = (assignments, keywords, layout, length, patterns, positions, repetition, style)
"""The modules whose checks are registered."""

MOST = 100
"""The most instructions of one row."""


@final
@dataclass(frozen=True)
class Instruction:
    """An instruction with its arguments."""

    id: str
    arguments: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, identifier: Any, values: Mapping[Any, Any], *, exact: bool = False) -> Instruction:
        """Check the arguments; those that are None count as absent. With `exact`, none may be unknown."""
        kind = definition(identifier)
        given = {name: value for name, value in values.items() if value is not None}
        if exact and (unknown := next((name for name in given if name not in kind.readers), None)):
            raise ValueError(f"{kind.id} takes no {unknown!r}.{near_miss(unknown, kind.readers)} {_takes(kind)}")
        arguments = []
        for name, read in kind.readers.items():
            if name not in given:
                raise ValueError(f"{kind.id} lacks {name!r}. {_takes(kind)}")
            try:
                arguments.append((name, read(_plain(given[name]))))
            except ValueError as problem:
                raise ValueError(f"{kind.id}: {name!r} {problem}, got {shorten(given[name], 60)}.") from None
        return cls(kind.id, tuple(arguments))

    @property
    def kind(self) -> Definition:
        return definition(self.id)

    def problem(self, passage: Passage) -> str:
        """Return what is wrong with a text that has visible characters; empty if it follows the instruction."""
        return self.kind.function(passage, **dict(self.arguments))


def _takes(kind: Definition) -> str:
    return f"It takes {', '.join(kind.readers)}." if kind.readers else "It takes no arguments."


def _plain(value: Any) -> Any:
    """Return numpy scalars and arrays as Python values."""
    return value.tolist() if hasattr(value, "dtype") and hasattr(value, "tolist") else value


def instruction_ids(value: Any) -> tuple[str, ...]:
    """Read a cell with the ids of a row's instructions: a list, JSON of one, or one id."""
    found = _plain(value)
    if isinstance(found, str):
        found = _parsed(found) if found.lstrip().startswith(("[", '"')) else found.strip()
    listed = [found] if isinstance(found, str) else found
    if not isinstance(listed, Sequence) or not listed:
        raise ValueError("expected a list with the ids of one or more instructions")
    if len(listed) > MOST:
        raise ValueError(f"more than {MOST} instructions")
    return tuple(definition(identifier).id for identifier in listed)


def instruction_arguments(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Read a cell with one mapping of arguments per instruction: a list, or JSON of one; None is an empty mapping."""
    found = _plain(value)
    if isinstance(found, str):
        found = _parsed(found)
    listed = [found] if isinstance(found, Mapping) else found
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        raise ValueError("expected a list with one mapping of arguments per instruction")
    if len(listed) > MOST:
        raise ValueError(f"more than {MOST} mappings")
    parsed = [_parsed(one) if isinstance(one, str) else one for one in listed]
    wrong = next((one for one in parsed if not (one is None or isinstance(one, Mapping))), None)
    if wrong is not None:
        raise ValueError(f"expected a mapping of arguments for each instruction, got {shorten(wrong, 60)}")
    # Arrow gives every mapping the keys of all of them, most with None.
    return tuple({name: value for name, value in (one or {}).items() if value is not None} for one in parsed)


def constraints(value: Any) -> tuple[Instruction, ...]:
    """Read a cell that holds ids and arguments together, as ``{"instruction_id": [...], "kwargs": [...]}``."""
    found = _plain(value)
    if isinstance(found, str):
        found = _parsed(found)
    if isinstance(found, Sequence) and len(found) == 1:
        found = found[0]
    if not isinstance(found, Mapping):
        raise ValueError('expected {"instruction_id": [...], "kwargs": [...]}')
    ids = found.get("instruction_id_list") or found.get("instruction_id")
    return paired(instruction_ids(ids), instruction_arguments(found.get("kwargs")))


def paired(ids: Sequence[str], arguments: Sequence[Mapping[str, Any]]) -> tuple[Instruction, ...]:
    """Return the instructions of a row."""
    if len(ids) != len(arguments):
        raise ValueError(f"{len(ids)} instructions, but {len(arguments)} mappings of arguments.")
    return tuple(map(Instruction.of, ids, arguments))


def _parsed(text: str) -> Any:
    """Return the value of JSON text, or of a Python literal."""
    try:
        check_json(text)
        return json.loads(text)
    except json.JSONDecodeError:
        return read_literal(text)
