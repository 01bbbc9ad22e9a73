"""The prompts of a run with their statistics: ``prompts.numbers["mean"]``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rewardkit.store.run import Run
from rewardkit.viewer.scores import Floats, Scores


@dataclass(frozen=True, eq=False)
class Prompts:
    """Arrays and lists of shape (p,), in the order of `Scores.prompt_ids`."""

    ids: tuple[str, ...]
    texts: list[str]
    columns: list[str]
    numbers: dict[str, Floats]

    @classmethod
    def of(cls, run: Run, scores: Scores, before: Prompts | None) -> Prompts:
        """Read the prompts of all rows. Only texts that `before` does not have are read."""
        known = (
            {} if before is None else dict(zip(before.ids, zip(before.texts, before.columns, strict=True), strict=True))
        )
        if any(prompt not in known for prompt in scores.prompt_ids):
            query = "select prompt_id, prompt, columns from prompts"
            known |= {name: (text or "", columns or "") for name, text, columns in run.sql(query).fetchall()}
        found = [known.get(prompt, ("", "")) for prompt in scores.prompt_ids]
        texts = [text for text, _ in found]
        return cls(scores.prompt_ids, texts, [columns for _, columns in found], _numbers(scores, texts))

    @cached_property
    def searched(self) -> list[str]:
        """The texts to search: prompt and columns, casefolded."""
        return [f"{text}\n{columns}".casefold() for text, columns in zip(self.texts, self.columns, strict=True)]


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
        "epochs": epochs,
        "completions": count,
        "mean": mean,
        "best": np.where(np.isfinite(best), best, np.nan),
        "last": np.asarray(last, dtype=np.float64),
    }
