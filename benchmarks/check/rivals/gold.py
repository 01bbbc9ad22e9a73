"""Gold: the gold answer of a row as text, and the column with another answer in its place."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

NAMES = (
    *("answer", "gold", "target", "label", "solution", "ground_truth", "reference", "expected", "final_answer"),
    *("expected_answer", "gold_answer", "correct_answer", "output", "response"),
)
"""Columns that hold a gold answer, the likeliest first."""
_LONG = 60
"""A text with more characters is a worked solution if it has a box."""


@dataclass(frozen=True)
class Gold:
    """The gold answer of a row.

    Attributes:
        column: the name of its column.
        value: what the column holds.
        text: the answer as text; of a worked solution, what follows ``####`` or is in the box.
        single: whether it is one short answer, a text or a number.
        around: what comes before and after the answer in the column.
    """

    column: str
    value: Any
    text: str
    single: bool = True
    around: tuple[str, str] = ("", "")

    def replaced(self, text: str) -> Any:
        """Return the column with another answer.

        Raises:
            ValueError: the type of the column does not allow this answer.
        """
        if text == self.text:
            return self.value
        if isinstance(self.value, bool):
            raise ValueError(f"{text!r} is not a truth value")
        if isinstance(self.value, (int, float)):
            return type(self.value)(text.replace(",", ""))
        if isinstance(self.value, str):
            return self.around[0] + text + self.around[1]
        return [text] if self.single else json.loads(text)


def column_of(row: dict[str, Any]) -> str | None:
    """Return the name of the column with the gold answer, or None: a usual name, or the only column."""
    names = [name for name in row if name != "prompt"]
    return next((name for name in NAMES if name in names), names[0] if len(names) == 1 else None)


def gold_of(column: str, value: Any) -> Gold:
    """Return the gold answer in a column that holds a text, a number, or JSON."""
    if isinstance(value, str):
        solution = re.fullmatch(r"(.*####\s*)(\S.*?)(\s*)", value, re.DOTALL)
        if solution is None and (len(value) > _LONG or "\n" in value):
            solution = re.fullmatch(r"(.*\\boxed\{)((?:[^{}]|\{[^{}]*\})*)(\}.*?)", value, re.DOTALL)
        if solution is not None:
            return Gold(column, value, solution[2], around=(solution[1], solution[3]))
        return Gold(column, value, value.strip())
    if isinstance(value, (int, float)):
        return Gold(column, value, str(value), not isinstance(value, bool))
    return Gold(column, value, json.dumps(value, ensure_ascii=False, default=str), False)
