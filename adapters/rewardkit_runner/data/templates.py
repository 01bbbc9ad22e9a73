"""Prompts from columns: ``Template("Q: {question}\\nA:", ...)`` makes ``Q: 6*7?\\nA:`` of ``{"question": "6*7?"}``.

Braces hold column names only; ``{{`` and ``}}`` are literal braces.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import ConfigError, near_miss, shorten

if TYPE_CHECKING:
    from datasets import Dataset


class Template:
    """A text with column names in braces, which are checked when the template is made."""

    def __init__(self, text: str, where: str, columns: Sequence[str]) -> None:
        self._where = where
        try:
            parts = [
                (literal, name, f"{spec or ''}{conversion or ''}") for literal, name, spec, conversion in _parts(text)
            ]
        except ValueError as error:
            raise ConfigError(
                f"{where}: invalid template: {error}. Write {{{{ and }}}} for literal braces: {shorten(text)}"
            ) from None
        for _, name, formatting in parts:
            if name is None:
                continue
            if formatting or name not in columns:
                raise ConfigError(_fault(name, formatting, where, columns))
        self._parts = [(literal, name) for literal, name, _ in parts]

    def of(self, rows: Dataset) -> list[str]:
        """Return the text of every row, shape (n,).

        Raises:
            ConfigError: a cell of the text is empty.
        """
        names = list(dict.fromkeys(name for _, name in self._parts if name is not None))
        if not names:
            return ["".join(literal for literal, _ in self._parts)] * len(rows)
        return [self._text(number, row) for number, row in enumerate(rows.select_columns(names))]

    def _text(self, number: int, row: Mapping[str, Any]) -> str:
        for name, value in row.items():
            if value is None:
                raise ConfigError(
                    f"{self._where}: the column {name!r} is null in row {number}. Fill the cell, or exclude such rows "
                    "with dataset.filter"
                )
        return "".join(literal + ("" if name is None else str(row[name])) for literal, name in self._parts)


def _parts(text: str) -> list[tuple[str, str | None, str | None, str | None]]:
    return list(string.Formatter().parse(text))


def _fault(name: str, formatting: str, where: str, columns: Sequence[str]) -> str:
    plain = name.isidentifier() and not formatting
    hint = near_miss(name, columns)
    braces = "" if plain else " Braces hold column names only; write {{ and }} for literal braces."
    known = f"The columns are {', '.join(columns)}."
    shown = f"{{{name}{':' if formatting else ''}{formatting}}}"
    return f"{where}: there is no column for {shown}.{hint} {known}{braces}"
