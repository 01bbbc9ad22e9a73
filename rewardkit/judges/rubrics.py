"""Rubrics: ``Rubric.of("Does it answer {question}?").columns`` is ``("question",)``.

A rubric is the text that a judge is given. ``{column}`` stands for a column of the sample, ``{prompt}`` for its prompt
and ``{completion}`` for what is judged, which is put behind the text where it is not mentioned. A brace that is meant
is doubled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.judges.shield import escaped

_REFUSED = {
    "messages": "name {prompt} and {completion}",
    "example": "name the columns one by one",
    "completion_ids": "a judge reads text: name {completion}",
    "progress": "a verdict that moved with training could not be compared across steps",
}


@dataclass(frozen=True)
class Rubric:
    """A rubric as its pieces: literal text, each followed by the name of what stands behind it (empty: nothing)."""

    pieces: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, text: str) -> Rubric:
        """Raises RewardDefinitionError for braces that name nothing."""
        if not isinstance(text, str) or not text.strip():
            raise RewardDefinitionError(f"a rubric is a text that says what is good, got {shorten(text)}")
        try:
            parsed = list(Formatter().parse(text))
        except ValueError as error:
            raise RewardDefinitionError(f"the rubric {shorten(text)} cannot be read: {error}. {_DOUBLE}") from None
        pieces = []
        for literal, name, form, conversion in parsed:
            if name is not None:
                _check_name(name, form or conversion, text)
            pieces.append((literal, name or ""))
        return cls(tuple(pieces))

    @property
    def names(self) -> tuple[str, ...]:
        """What it mentions, each once, in order."""
        return tuple(dict.fromkeys(name for _, name in self.pieces if name))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it mentions."""
        return tuple(name for name in self.names if name not in ("completion", "prompt"))

    def filled(self, values: Mapping[str, Any], block: str) -> str:
        """The text for one sample; `block` is the completion, ready to be shown."""
        text = "".join(literal + (self._shown(name, values, block) if name else "") for literal, name in self.pieces)
        return text if "completion" in self.names else f"{text}\n\n{block}"

    def _shown(self, name: str, values: Mapping[str, Any], block: str) -> str:
        return f"\n{block}\n" if name == "completion" else cell_text(values[name])

    def __str__(self) -> str:
        return "".join(
            literal.replace("{", "{{").replace("}", "}}") + (f"{{{name}}}" if name else "")
            for literal, name in self.pieces
        )


_DOUBLE = "Braces that are meant as braces are doubled: {{ and }}"


def _check_name(name: str, decoration: str | None, text: str) -> None:
    if not name.isidentifier() or decoration:
        raise RewardDefinitionError(
            f"the rubric {shorten(text)} holds {{{shorten(name, 40)[1:-1]}}}, which is no column's name. {_DOUBLE}"
        )
    if name in _REFUSED:
        raise RewardDefinitionError(f"a rubric cannot show {{{name}}}: {_REFUSED[name]}")


def cell_text(value: object) -> str:
    """A cell of a column as a judge reads it: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return escaped(value)
    try:
        return escaped(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return escaped(str(value))
