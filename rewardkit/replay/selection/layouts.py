"""Layouts: the columns of the files that TRL's SFTTrainer and DPOTrainer read.

``Layout.of_kept(scored, chat=False).row(row)`` has ``prompt``, ``completion``, ``score`` and the other columns of the
data; ``Layout.of_pairs(...)`` has ``prompt``, ``chosen``, ``rejected`` and both scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, final

from rewardkit.data.files import Row
from rewardkit.replay.selection.scored import Scored, conversational

_MISREAD = {
    *("text", "messages", "conversations", "prompt", "completion", "chosen", "rejected"),
    *("input_ids", "attention_mask", "position_ids", "labels", "seq_lengths", "completion_mask", "assistant_masks"),
    *("prompt_ids", "chosen_ids", "rejected_ids", "ref_chosen_logps", "ref_rejected_logps"),
}
"""Columns that a trainer would take for its own: with a column `text`, SFTTrainer adds no end to the completions."""

_DIAGNOSTIC = ("outcomes", "notes", "error")
"""Columns of `rewardkit score` that say nothing about rows with a score."""


@final
@dataclass(frozen=True)
class Field:
    """A column of the file.

    Attributes:
        name: in the file.
        column: of the data.
        side: 0 for the kept or the chosen row, 1 for the rejected one.
        role: who says it, for the texts; a plain text next to chat messages becomes a message.
    """

    name: str
    column: str
    side: int = 0
    role: str = ""


@final
@dataclass(frozen=True)
class Layout:
    """The columns of a file.

    Attributes:
        scored: the data.
        fields: in their order.
        chat: whether all texts are chat messages.
    """

    scored: Scored
    fields: tuple[Field, ...]
    chat: bool

    @classmethod
    def of_kept(cls, scored: Scored, *, chat: bool) -> Layout:
        """Return the layout for SFTTrainer: prompt and completion."""
        first = [Field("completion", scored.completion, role="assistant"), Field("score", scored.by)]
        return cls(scored, _named(scored, first, _others(scored)), chat)

    @classmethod
    def of_pairs(cls, scored: Scored, *, chat: bool) -> Layout:
        """Return the layout for DPOTrainer; columns that do not belong to the prompt come twice."""
        sides = list(enumerate(("chosen", "rejected")))
        first = [Field(name, scored.completion, side, "assistant") for side, name in sides]
        first += [Field(f"score_{name}", scored.by, side) for side, name in sides]
        once = set(scored.asked.values())
        others = _others(scored)
        shared = [field for field in others if field.column in once]
        twice = [
            Field(f"{field.name}_{name}", field.column, side)
            for field in others
            if field.column not in once
            for side, name in sides
        ]
        return cls(scored, _named(scored, first, [*shared, *twice]), chat)

    def row(self, *sides: Row) -> dict[str, Any]:
        """Return a row of the file, from the kept row or from the chosen and the rejected one."""
        return {field.name: self._value(field, sides[field.side].get(field.column)) for field in self.fields}

    def _value(self, field: Field, value: Any) -> Any:
        if self.scored.is_score(field.column) and isinstance(value, str):  # a cell of a .csv file
            return float(value) if value else None
        if field.role and self.chat and not conversational(value):
            return [{"role": field.role, "content": value}]
        return value


def _others(scored: Scored) -> list[Field]:
    """Return the columns of the data that are no texts of the trainer."""
    theirs = {scored.prompt, scored.completion, *_DIAGNOSTIC}
    theirs.update(scored.for_trainers.values())
    return [Field(name, name) for name in scored.saved.columns if name not in theirs]


def _named(scored: Scored, first: list[Field], others: Iterable[Field]) -> tuple[Field, ...]:
    """Return all fields; other columns with a name that is taken, or that trainers misread, become ``input/<name>``."""
    known = [Field(name, column) for name, column in scored.for_trainers.items()]
    fields = [Field("prompt", scored.prompt, role="user"), *first, *known]
    return (*fields, *_renamed(others, {field.name for field in fields}))


def _renamed(others: Iterable[Field], taken: set[str]) -> Iterator[Field]:
    for field in others:
        name = field.name
        while name in taken or name in _MISREAD:
            name = f"input/{name}"
        taken.add(name)
        yield Field(name, field.column, field.side)
