"""The columns of the list of prompts: which ones can be shown, and their cells."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.label_file import LABELS
from rewardkit.viewer.labels import Labels
from rewardkit.viewer.prompts import ranges
from rewardkit.viewer.reader import columns_of
from rewardkit.viewer.watcher import Watched

OF_DATA = "column."
"""Begins the name of a column of the data."""
_LOOKED_AT = 200
"""In how many prompts to look for the names of the columns of the data."""
_NUMBERS = {
    "length": ("Len", "length: the number of characters"),
    "tokens": ("Tokens", "tokens: the length of the prompt in tokens, as the trainer tokenizes it"),
    "epochs": ("{Word}", "epochs: the number of {word} in which the prompt was seen"),
    "seen": ("Seen in", "The {word} in which the prompt was seen"),
    "completions": ("N", "completions: the number of completions"),
    "mean": ("Mean", "mean: the mean total of all completions"),
    "best": ("Best", "best: the highest total"),
    "new": ("New", "new: the mean total of the reward that is tried"),
    "flips": ("Flips", "flips: completions whose advantage changes its sign with the reward that is tried"),
    "labels": ("Labels", "The number of labeled completions"),
    "last": ("Last", "last: the last step in which the prompt was seen"),
}
_CHOICES = {
    "length": "Length in characters",
    "tokens": "Length in tokens",
    "epochs": "Number of {word}",
    "seen": "Seen in these {word}",
    "completions": "Number of completions",
    "mean": "Mean total",
    "best": "Best total",
    "last": "Last step",
    "labels": "Labels",
}
_TRIED = {"new": "Mean total of the reward that is tried", "flips": "Sign flips"}


def usual(watched: Watched) -> list[str]:
    """Return the columns that are shown besides number and text, if none are chosen."""
    shown = ["epochs", "completions", "mean"] if watched.trial is None else ["mean", *_TRIED]
    return [*shown, *(["labels"] if watched.labels is not None else [])]


def head(watched: Watched, shown: list[str]) -> list[dict[str, Any]]:
    """Return number, text and the columns in `shown`, for the table."""
    found: list[dict[str, Any]] = [
        {"name": "index", "label": "#", "kind": "number", "title": "In the order in which they were first seen"},
        {"name": "text", "label": "Prompt", "kind": "text"},
    ]
    for name in shown:
        if name.startswith(OF_DATA):
            label, title = one_line(name[len(OF_DATA) :], 24), "A column of the data"
        elif name in _NUMBERS:
            label, title = (_worded(watched, text) for text in _NUMBERS[name])
        else:
            continue
        kind = "value" if name == "seen" or name.startswith(OF_DATA) else "badge" if name == "labels" else "number"
        found.append({"name": name, "label": label, "kind": kind, "title": title})
    return [{**column, "sortable": column["name"] != "labels"} for column in found]


def choices(watched: Watched, shown: list[str]) -> list[tuple[str, str, bool]]:
    """Return the columns that can be shown: name, text, whether it is in `shown`."""
    known = {name: _worded(watched, text) for name, text in _CHOICES.items()}
    if watched.labels is None:
        del known["labels"]
    known |= {} if watched.trial is None else _TRIED
    rows = map(columns_of, watched.prompts.columns[:_LOOKED_AT])
    of_data = [*(f"{OF_DATA}{name}" for row in rows for name in row), *shown]
    known |= {name: one_line(name[len(OF_DATA) :], 40) for name in of_data if name.startswith(OF_DATA)}
    return [(name, text, name in shown) for name, text in known.items()]


def cells(watched: Watched, number: int, shown: list[str]) -> dict[str, Any]:
    """Return the cells of a prompt."""
    prompts, scores = watched.prompts, watched.scores
    found: dict[str, Any] = {name: _format(name, values[number]) for name, values in prompts.numbers.items()}
    found["text"] = one_line(prompts.questions[number], 300) or "(empty)"
    if "seen" in shown:
        seen = ranges(scores.visit[scores.rows_of(prompts.ids[number])])
        found["seen"] = {"text": one_line(seen, 40), "title": one_line(seen, 1_000)}
    if "labels" in shown and watched.labels is not None:
        found["labels"] = _chip(watched.labels, scores.rows_of(prompts.ids[number]).tolist()) or ""
    of_data = [name for name in shown if name.startswith(OF_DATA)]
    row = columns_of(prompts.columns[number]) if of_data else {}
    for name in of_data:
        value = row.get(name[len(OF_DATA) :])
        if value is not None:
            found[name] = {"text": one_line(value, 120), "title": one_line(value, 1_000)}
    return found


def _chip(labels: Labels, rows: list[int]) -> dict[str, str] | None:
    """Return how many completions have a label, in the color of the worst one."""
    found = Counter(labels.by_row[row].label for row in rows if row in labels.by_row)
    if not found:
        return None
    counts = [(name, found[name]) for name in reversed(LABELS) if found[name]]
    return {
        "text": f"{found.total():,}",
        "tone": counts[0][0],
        "title": ", ".join(f"{n:,} {name}" for name, n in counts),
    }


def _worded(watched: Watched, text: str) -> str:
    word = "epochs" if watched.scores.by_epoch else "steps"
    return text.replace("{word}", word).replace("{Word}", word.capitalize())


def _format(name: str, value: float) -> str | None:
    if np.isnan(value):
        return None
    if name not in ("mean", "best", "new"):
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 1e6 else f"{value:.3g}"
