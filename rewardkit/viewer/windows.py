"""Windows: which completions of a run stand for each prompt when two runs are compared.

``Window.parse("200-400").rows(scores)`` is (n,): the training completions of steps 200 to 400. By default a prompt is
represented by its newest visit, an epoch in which it was seen (or a step, if the run has fewer than two epochs).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from rewardkit.viewer.scores import Rows, Scores

_STEPS = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?")
KINDS = {"last": "Newest {visit}", "first": "First {visit}", "all": "All steps", "steps": "Steps …"}
EVALUATIONS = {"eval": "Newest evaluation", "eval-first": "First evaluation"}


@dataclass(frozen=True)
class Window:
    """A choice of completions.

    Attributes:
        kind: a key of `KINDS` or `EVALUATIONS`.
        first, last: the steps, for the kind ``"steps"``.
    """

    kind: str = "last"
    first: int = 0
    last: int = 0

    @classmethod
    def parse(cls, text: str) -> Window:
        """Read ``"last"``, ``"eval"``, ``"200-400"`` or ``"200"``; anything else is the default."""
        found = _STEPS.fullmatch(text.strip())
        if found is not None:
            first, last = int(found[1]), int(found[2] or found[1])
            return cls("steps", min(first, last), max(first, last))
        return cls(text) if text in {*KINDS, *EVALUATIONS} - {"steps"} else cls()

    def __str__(self) -> str:
        return f"{self.first}-{self.last}" if self.kind == "steps" else self.kind

    def rows(self, scores: Scores) -> Rows:
        """Return (n,) whether a completion is in the window. A run without training has only evaluations."""
        training = scores.training
        if self.kind in EVALUATIONS or not training.any():
            return _visited(scores, ~training, newest=self.kind != "eval-first" and self.kind != "first", steps=True)
        if self.kind == "steps":
            return training & (scores.step >= self.first) & (scores.step <= self.last)
        if self.kind == "all":
            return training
        return _visited(scores, training, newest=self.kind == "last")


def kinds_of(scores: Scores) -> dict[str, str]:
    """Return the kinds of windows that a run has, with their titles."""
    kinds = KINDS if scores.training.any() else {}
    evaluations = EVALUATIONS if not scores.training.all() else {}
    return {kind: title.format(visit=scores.visit_word) for kind, title in {**kinds, **evaluations}.items()}


def _visited(scores: Scores, among: Rows, *, newest: bool, steps: bool = False) -> Rows:
    """Return (n,) whether a completion belongs to the newest (or first) visit of its prompt `among` some rows."""
    rows = np.flatnonzero(among)
    visits = (scores.step if steps else scores.visit)[rows]
    prompts = scores.prompt[rows]
    chosen = np.full(len(scores.prompt_ids), -1 if newest else np.iinfo(np.int64).max)
    (np.maximum if newest else np.minimum).at(chosen, prompts, visits)
    found = np.zeros(len(scores), dtype=np.bool_)
    found[rows[visits == chosen[prompts]]] = True
    return found
