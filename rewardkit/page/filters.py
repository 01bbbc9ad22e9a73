"""Search field filters: ``Filter.parse('prime mean<0.5 level=hard')``.

The text must contain every plain word, ignoring case. ``"two words"`` counts as one word. ``name<number`` (also ``>``,
``<=``, ``>=``, ``=``, ``!=``) compares a number column. ``name=text`` compares a text column, and ``name:text``
searches for the text inside a text column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# '"two words"', "mean<0.5", 'level:"very hard"', or a word. A quotation may still be open while the user types.
_TERM = re.compile(r'"([^"]*)"?|([^\s"<>=!:]+)(<=|>=|!=|<|>|=|:)("[^"]*"?|\S+)|(\S+)')
_COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "=": np.equal,
    "!=": np.not_equal,
}

Column = NDArray[np.float64] | Sequence[str]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a column, such as ``mean<0.5``."""

    name: str
    operator: str
    value: str


@dataclass(frozen=True, slots=True)
class Filter:
    """Words that must occur, and conditions on columns."""

    words: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Filter:
        """Parse the typed text. Never raises an exception."""
        words, conditions = [], []
        # Arbitrary limit: the text is parsed at each keystroke.
        for quoted, name, operator, value, word in _TERM.findall(text[:2_000]):
            if name:
                conditions.append(Condition(name, operator, value.strip('"')))
            elif quoted or word:
                words.append((quoted or word).casefold())
        return cls(tuple(words), tuple(conditions))

    def rows(
        self, texts: Sequence[str], columns: Mapping[str, Column], other_names: Iterable[str] = ()
    ) -> tuple[NDArray[np.int64], list[str]]:
        """Return the rows that match, and messages about conditions that could not be applied.

        Args:
            texts: (n,) the texts to search, casefolded.
            columns: the columns by name, (n,) each: numbers or texts.
            other_names: additional names that a message may suggest.
        """
        passed = np.ones(len(texts), dtype=bool)
        complaints = []
        words = list(self.words)
        for condition in self.conditions:
            column = columns.get(condition.name)
            if column is None:
                # The user may be searching for "12:30" or "a=b" literally.
                column_names = ", ".join(dict.fromkeys([*columns, *other_names]))
                complaints.append(f"There is no column {condition.name!r}. Use one of: {column_names}.")
                words.append(f"{condition.name}{condition.operator}{condition.value}".casefold())
            elif isinstance(column, np.ndarray):
                try:
                    value = float(condition.value)
                except ValueError:
                    complaints.append(f"{condition.name} is a number, but {condition.value!r} is not.")
                    continue
                with np.errstate(invalid="ignore"):
                    passed &= _COMPARE.get(condition.operator, np.equal)(column, value) & ~np.isnan(column)
            else:
                holds = {cell: _holds(condition, cell) for cell in set(column)}
                passed &= np.fromiter(map(holds.__getitem__, column), bool, len(texts))
        for word in words:
            candidates = np.flatnonzero(passed)
            passed[candidates] = [word in texts[row] for row in candidates.tolist()]
        return np.flatnonzero(passed), complaints


def _holds(condition: Condition, cell: str) -> bool:
    cell, value = cell.casefold(), condition.value.casefold()
    if condition.operator == ":":
        return value in cell
    if condition.operator in ("=", "!="):
        return (cell == value) == (condition.operator == "=")
    try:
        return bool(_COMPARE[condition.operator](float(cell), float(value)))
    except ValueError:
        return False
