"""Prompts from columns: ``Template("Q: {question}\\nA:", ...)`` of ``{"question": "6*7?"}`` is ``Q: 6*7?\\nA:``.

Only names of columns stand in braces; ``{{`` and ``}}`` are braces.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import near_miss, shorten
from rewardkit_runner.configuration.faults import ConfigError

if TYPE_CHECKING:
    from datasets import Dataset


class Template:
    """A text with the names of columns in it; checked against the columns when it is made."""

    def __init__(self, text: str, where: str, columns: Sequence[str]) -> None:
        self._where = where
        try:
            parts = [
                (literal, name, f"{spec or ''}{conversion or ''}") for literal, name, spec, conversion in _parts(text)
            ]
        except ValueError as error:
            raise ConfigError(
                f"{where} is no template: {error}. Write {{{{ and }}}} for braces of the text: {shorten(text)}"
            ) from None
        for _, name, formatting in parts:
            if name is None:
                continue
            if formatting or name not in columns:
                raise ConfigError(_fault(name, formatting, where, columns))
        self._parts = [(literal, name) for literal, name, _ in parts]

    def of(self, rows: Dataset) -> list[str]:
        """(n,) the text of every row.

        Raises:
            ConfigError: a cell that stands in the text is empty.
        """
        names = list(dict.fromkeys(name for _, name in self._parts if name is not None))
        if not names:
            return ["".join(literal for literal, _ in self._parts)] * len(rows)
        return [self._text(number, row) for number, row in enumerate(rows.select_columns(names))]

    def _text(self, number: int, row: Mapping[str, Any]) -> str:
        for name, value in row.items():
            if value is None:
                raise ConfigError(
                    f"{self._where} needs the column {name!r}, which is empty (null) in row {number}: fill it, or "
                    "leave such rows out with dataset.filter"
                )
        return "".join(literal + ("" if name is None else str(row[name])) for literal, name in self._parts)


def _parts(text: str) -> list[tuple[str, str | None, str | None, str | None]]:
    return list(string.Formatter().parse(text))


def _fault(name: str, formatting: str, where: str, columns: Sequence[str]) -> str:
    plain = name.isidentifier() and not formatting
    hint = near_miss(name, columns)
    braces = "" if plain else " Only names of columns stand in braces; write {{ and }} for braces of the text."
    known = f"The columns are {', '.join(columns)}."
    shown = f"{{{name}{':' if formatting else ''}{formatting}}}"
    return f"{where}: there is no column for {shown}.{hint} {known}{braces}"
