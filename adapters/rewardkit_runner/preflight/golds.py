"""Golds: the answer of the data, put as an answer. What it earns says whether reward and data fit together.

For the GSM8K cell ``"... #### 72"`` are tried, among others, the cell itself, ``#### 72`` and ``<answer>72</answer>``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rewardkit.core.batch.column import Floats
from rewardkit.core.batch.score import Outcome
from rewardkit.core.errors import RewardKitError, shorten
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.progress.bounds import TOLERANCE
from rewardkit.core.tree.algebra import is_expensive
from rewardkit.core.tree.reward import Reward, walk
from rewardkit_runner.preflight.cells import shown
from rewardkit_runner.preflight.findings import Finding
from rewardkit_runner.preflight.table import Table

FORMS = (
    "{}",
    "#### {}",
    "A: {}",
    "The answer is {}.",
    "<answer>{}</answer>",
    "<think>\nI work it out.\n</think>\n<answer>\n{}\n</answer>",
    "\\boxed{{{}}}",
    "<think>\nI work it out.\n</think>\n\\boxed{{{}}}",
    "```json\n{}\n```",
    "```python\n{}\n```",
)
"""How a right completion may look; all of them are tried, because no reward says which one it wants."""

_SAMPLE = 48
_EXPENSIVE = 6
"""So many rows where a completion is run in a sandbox."""
_VALUE = 80


@dataclass(frozen=True)
class Form:
    """A column and how its cell becomes a completion."""

    column: str
    template: str
    tail: bool

    def completion(self, cell: Any, conversational: bool) -> Any:
        text = self.template.format(_tail(str(cell)) if self.tail else cell)
        return [{"role": "assistant", "content": text}] if conversational else text

    def __str__(self) -> str:
        what = f"what follows #### in {self.column}" if self.tail else self.column
        return shorten(self.template.format(f"[{what}]"), 120)


@dataclass(frozen=True)
class Golds:
    """What the golds of a sample earn.

    Attributes:
        findings: about them.
        best: the form in which golds are right completions; None where no form earns half of what there is to earn.
    """

    findings: tuple[Finding, ...]
    best: Form | None = None


def golds(tree: Reward, table: Table, seconds: float) -> Golds:
    """Scores a first batch as the training would, then the golds in all forms, the best of them in every row.

    Args:
        tree: asks no judge: that would cost.
        table: of the training.
        seconds: that it may take; then it looks at fewer rows.
    """
    scorer = Scorer(tree)
    rows = table.spread(_EXPENSIVE if is_expensive(tree) else _SAMPLE)
    conversational = bool(rows) and not isinstance(table.prompts[rows[0]], str)
    deadline = time.monotonic() + seconds
    wrong = _first_batch(scorer, table, rows[:4], conversational)
    if wrong:
        return Golds(tuple(wrong))
    if any(node.facts.together != "sample" for node, _, _ in walk(tree)):
        return Golds(())  # what a gold earns depends on what stands beside it
    scores: dict[Form, Floats] = {}
    for form in _forms(table, rows):
        if time.monotonic() > deadline:
            break
        scores[form] = _earned(scorer, table, form, rows, conversational)
    low, high = tree.bounds
    best = max(scores, key=lambda form: float(np.nan_to_num(scores[form], nan=low).mean()), default=None)
    nothing = float(np.nan_to_num(_empty(scorer, table, rows, conversational), nan=low).max(initial=low))
    if best is None or not (scores[best] > nothing + TOLERANCE).any():
        if not scores:
            return Golds(())
        what = f"none of the {len(scores)} usual ways to write the gold earns more than an empty completion"
        return Golds((Finding("fact", "golds", f"{what}: EXAMPLES and GOOD beside the reward say what is right"),))
    started = time.monotonic()
    earned = _earned(scorer, table, best, rows, conversational)
    needed = (time.monotonic() - started) * table.size / len(rows)
    if started + needed < deadline:
        rows = list(range(table.size))
        earned = _earned(scorer, table, best, rows, conversational)
    told = tuple(_told(best, table, rows, earned, nothing, high))
    is_right = not np.isfinite(high) or float(np.nanmax(earned)) >= (nothing + high) / 2
    return Golds(told, best) if is_right else Golds(told[:1])


def _told(form: Form, table: Table, rows: list[int], earned: Floats, nothing: float, high: float) -> Iterator[Finding]:
    most = float(np.nanmax(earned))
    full = int((earned >= most - TOLERANCE).sum())
    bound = f", of at most {high:g}" if np.isfinite(high) else ""
    yield Finding(
        "fact",
        "golds",
        f"{form} earns {most:g}{bound}, in {full:,} of {len(rows):,} rows; an empty completion {nothing:g}",
    )
    lost = {
        row: f"{_value(value)}, {form.column} = {shorten(table.values(form.column)[row], _VALUE)}"
        for row, value in zip(rows, earned.tolist(), strict=True)
        if not value >= most - TOLERANCE
    }
    if lost and len(lost) <= len(rows) / 2:
        yield Finding(
            "warning",
            f"column {form.column!r} (training)",
            f"in {len(lost):,} of {len(rows):,} rows the gold itself, written as {form}, earns less than {most:g}",
            "mend these cells, or say with gold= where in them the answer stands: no completion can be right there",
            shown(lost),
        )


def _value(value: float) -> str:
    return "nothing" if np.isnan(value) else f"earns {value:g}"


def _first_batch(scorer: Scorer, table: Table, rows: list[int], conversational: bool) -> list[Finding]:
    """What would end the training in its first batch: the same prompts, completed by a model that knows nothing."""
    texts = ["I do not know.", "<think>\n</think>\n<answer>\n0\n</answer>"]
    twice = [row for row in rows for _ in texts]
    completions = [_formed(text, conversational) for _ in rows for text in texts]
    try:
        found = scorer.score(table.batch(twice, completions, num_generations=len(texts)))
    except RewardKitError as error:
        what = f"it would stop the training in its first batch: {error}"
        return [Finding("error", "reward", what, "rewardkit check shows more of the kind")]
    failed = {fault.component: fault.reason for fault in found.faults if fault.outcome is Outcome.FAILED}
    return [
        Finding("error", f"component {name!r}", f"it fails in the first batch: {reason}", "mend what it runs in")
        for name, reason in failed.items()
    ]


def _forms(table: Table, rows: list[int]) -> Iterator[Form]:
    for column in table.named:
        cells = [table.values(column)[row] for row in rows]
        if any(isinstance(cell, (str, int, float)) for cell in cells):
            has_tail = any(isinstance(cell, str) and "####" in cell for cell in cells)
            for tail in (False, True)[: 1 + has_tail]:
                yield from (Form(column, template, tail) for template in FORMS)


def _tail(text: str) -> str:
    return text.rpartition("####")[2].strip()


def _earned(scorer: Scorer, table: Table, form: Form, rows: list[int], conversational: bool) -> Floats:
    cells = table.values(form.column)
    return _totals(scorer, table, rows, [form.completion(cells[row], conversational) for row in rows])


def _empty(scorer: Scorer, table: Table, rows: list[int], conversational: bool) -> Floats:
    return _totals(scorer, table, rows, [_formed("", conversational) for _ in rows])


def _totals(scorer: Scorer, table: Table, rows: list[int], completions: list[Any]) -> Floats:
    """(n,) NaN where there is none."""
    try:
        return scorer.score(table.batch(rows, completions), strict=False).total
    except RewardKitError:  # of a cell, say, which is told elsewhere
        return np.full(len(rows), np.nan)


def _formed(text: str, conversational: bool) -> Any:
    return [{"role": "assistant", "content": text}] if conversational else text
