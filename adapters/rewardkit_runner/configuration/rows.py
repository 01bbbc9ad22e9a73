"""DatasetConfig: where the rows of a training come from, and how they become prompts and columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from rewardkit_runner.configuration.parts import Count, CountFromZero, Part, Text
from rewardkit_runner.configuration.places import anchored, is_local, located


class Message(Part):
    """One message of a conversational prompt."""

    role: Literal["system", "user", "assistant"]
    content: str
    """template over columns"""


class Rows(Part):
    """Where the rows are, and how they become prompts and columns."""

    path: Text | None = None
    """hub id; .jsonl, .json, .csv or .parquet; a folder or glob of them"""
    reasoning_gym: Text | None = None
    """instead of path: a task of reasoning-gym, whose rows are made"""
    size: Count | None = None
    """reasoning_gym: number of rows, 500 by default"""
    seed: CountFromZero | None = None
    """reasoning_gym: other seeds make other rows; 0 by default"""
    options: dict[str, Any] = {}
    """reasoning_gym: options of the task"""
    name: str | None = None
    """configuration of a dataset on the hub"""
    split: str | None = None
    """default: train, if the dataset has splits"""
    revision: str | None = None
    """branch, tag or commit on the hub"""
    columns: dict[str, str] = {}
    """new name: name in the dataset"""
    prompt: str | None = None
    """template over columns: 'Q: {question}\\nA:'; {{ for a brace"""
    messages: Annotated[list[Message], Field(min_length=1)] | None = None
    """conversational prompt, with templates over columns"""
    filter: dict[str, Any] | str | None = None
    """column: value or list of values; or filters.py:function, called with a row"""
    sample: Count | None = None
    """number of rows, drawn with the seed; null: all"""

    @model_validator(mode="after")
    def _one_template(self) -> Rows:
        if self.prompt is not None and self.messages is not None:
            raise ValueError("prompt and messages exclude each other: delete one of them")
        if self.path is not None and self.reasoning_gym is not None:
            raise ValueError("path and reasoning_gym exclude each other: delete one of them")
        return self


class DatasetConfig(Rows):
    """The training data: ``dataset: data.jsonl``, a hub id, or a mapping with ``path`` or ``reasoning_gym``."""

    @model_validator(mode="after")
    def _one_source(self) -> DatasetConfig:
        if self.path is None and self.reasoning_gym is None:
            raise ValueError(
                "no path: write a file, a folder or a hub id (path: data.jsonl), or a task (reasoning_gym: gcd)"
            )
        of_others = ("name", "split", "revision") if self.path is None else ("size", "seed", "options")
        given = [name for name in of_others if getattr(self, name) not in (None, {})]
        if given:
            source = "reasoning_gym" if self.path is None else "path"
            raise ValueError(f"{' and '.join(given)} cannot be set with {source}: delete it")
        return self


class HeldOutConfig(Rows):
    """The held-out data: settings that differ from ``dataset``. ``sample`` is not inherited."""


def anchored_rows(rows: Any, base: Path) -> Any:
    """Return the same rows with absolute paths."""
    changes: dict[str, Any] = {}
    if rows.path is not None:
        changes["path"] = anchored(rows.path, base)
    if isinstance(rows.filter, str):
        source, _, name = rows.filter.rpartition(":")
        changes["filter"] = f"{located(source, base)}:{name}" if is_local(source) else rows.filter
    return rows.model_copy(update=changes)
