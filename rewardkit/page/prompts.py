"""A run's prompts with statistics: ``prompts.numbers["mean"]``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rewardkit.analyze.paired import prompt_means
from rewardkit.page.filters import Column
from rewardkit.page.scores import Floats, Integers, Scores
from rewardkit.page.trials import FLIP, NEW
from rewardkit.record.queries import prompts
from rewardkit.record.run import Run


@dataclass(frozen=True, eq=False)
class Prompts:
    """A run's prompts as arrays and lists with p items, in the order of `Scores.prompt_ids`.

    Attributes:
        texts: the whole prompts, with a conversation's messages joined.
        questions: the last message in a conversation, because system messages are often equal; for other prompts, the
            whole prompt.
    """

    ids: tuple[str, ...]
    texts: list[str]
    questions: list[str]
    columns: list[str]
    numbers: dict[str, Floats]

    @classmethod
    def of(cls, run: Run, scores: Scores, before: Prompts | None) -> Prompts:
        """Read the prompts for all rows. Texts in `before` are not read again."""
        by_id: dict[str, tuple[str, str, str]] = {}
        if before is not None:
            by_id = dict(zip(before.ids, zip(before.texts, before.questions, before.columns, strict=True), strict=True))
        if any(prompt not in by_id for prompt in scores.prompt_ids):
            by_id |= {name: (text, question, columns) for name, text, question, columns in prompts(run)}
        entries = [by_id.get(prompt, ("", "", "")) for prompt in scores.prompt_ids]
        texts, questions, columns = ([entry[index] for entry in entries] for index in range(3))
        return cls(scores.prompt_ids, texts, questions, columns, _numbers(scores, texts))

    def with_tried(self, scores: Scores) -> Prompts:
        """Return these prompts with the results of a reward on trial: ``new`` (the mean total) and ``flips``."""
        size, trial_columns = len(self.ids), scores.tried
        flips = np.bincount(scores.prompt, np.nan_to_num(trial_columns[FLIP]), size).astype(np.float64)
        numbers = {"new": prompt_means(scores.prompt, trial_columns[NEW], size), "flips": flips}
        return replace(self, numbers={**self.numbers, **numbers})

    @cached_property
    def searched(self) -> list[str]:
        """The texts to search: each prompt with its columns, case-folded."""
        return [f"{text}\n{columns}".casefold() for text, columns in zip(self.texts, self.columns, strict=True)]

    @cached_property
    def examples(self) -> dict[str, list[str]]:
        """The data's columns by name, as text."""
        rows = list(map(example_columns, self.columns))
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name, "") for row in rows] for name in names}


def _numbers(scores: Scores, texts: list[str]) -> dict[str, Floats]:
    size = len(scores.prompt_ids)
    order, starts = scores.by_prompt
    count = np.diff(starts).astype(np.float64)
    scored = ~np.isnan(scores.total)
    totals = np.bincount(scores.prompt[scored], weights=scores.total[scored], minlength=size)
    numbers = np.bincount(scores.prompt[scored], minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = totals / numbers
    best = np.full(size, -np.inf)
    np.maximum.at(best, scores.prompt[scored], scores.total[scored])
    visits = scores.visit[order]
    new = np.ones(len(order), dtype=bool)
    if len(order):
        new[1:] = (np.diff(visits) != 0) | (np.diff(scores.prompt[order]) != 0)
    epochs = np.bincount(scores.prompt[order][new], minlength=size).astype(np.float64)
    last = scores.step[order][starts[1:] - 1] if len(order) else np.empty(0)
    return {
        "index": np.arange(size, dtype=np.float64),
        "length": np.array([len(text) for text in texts], dtype=np.float64),
        "tokens": _tokens(scores, size),
        "epochs": epochs,
        "completions": count,
        "mean": mean,
        "best": np.where(np.isfinite(best), best, np.nan),
        "last": np.asarray(last, dtype=np.float64),
    }


def _tokens(scores: Scores, size: int) -> Floats:
    """Return each prompt's length in tokens (p,), from the newest batch that recorded it, or NaN if unknown."""
    lengths = np.full(size, np.nan)
    has_length = ~np.isnan(scores.prompt_length)
    lengths[scores.prompt[has_length]] = scores.prompt_length[has_length]
    return lengths


def first_visits(scores: Scores) -> Floats:
    """Return the first epoch or step in which each prompt was seen (p,)."""
    order, starts = scores.by_prompt
    return scores.visit[order][starts[:-1]].astype(np.float64)


def example_columns(text: str) -> dict[str, str]:
    """Parse a prompt's dataset columns from JSON; return the columns as text."""
    try:
        columns = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(columns, dict):
        return {}
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in columns.items()
    }


def ranges(visits: Integers) -> str:
    """Format epochs or steps as a short string: ``"1–3, 5"``."""
    distinct = np.unique(visits)
    parts = np.split(distinct, np.flatnonzero(np.diff(distinct) != 1) + 1)
    return ", ".join(f"{part[0]:,}" if len(part) == 1 else f"{part[0]:,}–{part[-1]:,}" for part in parts if len(part))


def numbers_or_texts(values: Sequence[str]) -> Column:
    """Return `values` as numbers if each value is a number or empty; otherwise, as strings."""
    try:
        return np.array([float(value) if value else np.nan for value in values])
    except ValueError:
        return list(values)
