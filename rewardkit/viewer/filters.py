"""What a person types to narrow a table: ``Filter.parse('prime mean<0.5 level=hard')``.

Plain words must all occur in the text, in any case; ``"two words"`` is one. ``name<number`` (and ``>``, ``<=``, ``>=``,
``=``, ``!=``) compares a column; ``name=text`` and ``name:text`` look into a column of text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    """``mean<0.5``."""

    name: str
    operator: str
    value: str


@dataclass(frozen=True, slots=True)
class Filter:
    """Words that must occur and conditions on columns."""

    words: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Filter:
        """From what was typed; never raises."""
        words, conditions = [], []
        for quoted, name, operator, value, word in _TERM.findall(text[:2_000]):
            if name:
                conditions.append(Condition(name, operator, value.strip('"')))
            elif quoted or word:
                words.append((quoted or word).casefold())
        return cls(tuple(words), tuple(conditions))

    def rows(self, texts: Sequence[str], columns: Mapping[str, Column]) -> tuple[NDArray[np.int64], list[str]]:
        """The rows that pass, and what could not be understood.

        Args:
            texts: (n,) where words are looked for, casefolded.
            columns: (n,) each: numbers, or texts.
        """
        passed = np.ones(len(texts), dtype=bool)
        complaints = []
        words = list(self.words)
        for condition in self.conditions:
            column = columns.get(condition.name)
            if column is None:
                # 12:30 or a=b may be meant as they stand.
                known = ", ".join(columns)
                complaints.append(f"There is no column {condition.name!r}; there are {known}.")
                words.append(f"{condition.name}{condition.operator}{condition.value}".casefold())
            elif isinstance(column, np.ndarray):
                try:
                    value = float(condition.value)
                except ValueError:
                    complaints.append(f"{condition.name} is a number; {condition.value!r} is none.")
                    continue
                with np.errstate(invalid="ignore"):
                    passed &= _COMPARE.get(condition.operator, np.equal)(column, value) & ~np.isnan(column)
            else:
                passed &= np.fromiter((_holds(condition, cell) for cell in column), bool, len(texts))
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
