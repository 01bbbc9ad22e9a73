"""Score the gold answers in the data as completions, to find out whether the reward matches the data.

For example, the GSM8K cell ``"... #### 72"`` is tried unchanged, as ``#### 72``, as ``<answer>72</answer>``, and in
other formats.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rewardkit.batch.column import Floats
from rewardkit.batch.score import Fault, Outcome
from rewardkit.errors import RewardKitError, shorten
from rewardkit.progress.bounds import TOLERANCE
from rewardkit.progress.progress import Progress
from rewardkit.tree.algebra import is_expensive
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward, walk
from rewardkit_adapters.runner.preflight.cells import shown
from rewardkit_adapters.runner.preflight.findings import Finding, Kind, Table

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
"""Formats for a correct completion. All formats are tried, because a reward does not specify which format it
expects."""

_SAMPLE = 48
"""The number of rows in the sample. The number is arbitrary. Each row is scored in several formats, but a few rows are
enough to reveal a wrong column."""
_EXPENSIVE = 6
"""The number of rows in the sample if completions run in a sandbox. The number is arbitrary, but small because scoring
each row in several formats starts many programs."""
_VALUE = 80
"""The maximum number of characters of a value in a finding. The limit is arbitrary and keeps findings short."""
# The start of a training; its length does not matter.
_START = Progress(0, 100)


@dataclass(frozen=True)
class Form:
    """A column, and the format for turning its cells into completions."""

    column: str
    template: str
    tail: bool

    def completion(self, cell: Any, conversational: bool) -> Any:
        text = self.template.format(_tail(str(cell)) if self.tail else cell)
        return [{"role": "assistant", "content": text}] if conversational else text

    def __str__(self) -> str:
        slot = f"the text after #### in {self.column}" if self.tail else self.column
        return shorten(self.template.format(f"[{slot}]"), 120)


@dataclass(frozen=True)
class Golds:
    """The result of scoring the gold answers.

    Attributes:
        findings: the findings about the gold answers.
        best: the format that the reward accepts, or None if no format scores at least half of the maximum.
    """

    findings: tuple[Finding, ...]
    best: Form | None = None


def golds(tree: Reward, table: Table, seconds: float) -> Golds:
    """Score a first batch as in training, then the gold answers in all formats, then every row in the best format.

    Args:
        tree: the reward, which must not call a judge, because judge calls cost money.
        table: the training rows.
        seconds: the time limit in seconds. If it is short, fewer rows are scored.
    """
    scorer = Scorer(tree)
    rows = table.spread(_EXPENSIVE if is_expensive(tree) else _SAMPLE)
    conversational = bool(rows) and not isinstance(table.prompts[rows[0]], str)
    deadline = time.monotonic() + seconds
    # Arbitrary: a batch with several prompts.
    errors = _first_batch(scorer, table, rows[:4], conversational)
    if errors:
        return Golds(tuple(errors))
    if any(node.facts.together != "sample" for node, _, _ in walk(tree)):
        return Golds(())  # the score of a gold depends on the other completions
    scores: dict[Form, Floats] = {}
    for form in _forms(table, rows):
        if time.monotonic() > deadline:
            break
        scores[form], _ = _earned(scorer, table, form, rows, conversational)
    low, high = tree.bounds
    best = max(scores, key=lambda form: float(np.nan_to_num(scores[form], nan=low).mean()), default=None)
    empty_scores, _ = _totals(scorer, table, rows, [_formed("", conversational) for _ in rows])
    empty_score = float(np.nan_to_num(empty_scores, nan=low).max(initial=low))
    if best is None or not (scores[best] > empty_score + TOLERANCE).any():
        if not scores:
            return Golds(())
        note = f"none of {len(scores)} common formats for the gold answer scores higher than an empty completion"
        return Golds((Finding("fact", "golds", f"{note}. Define EXAMPLES and GOOD next to the reward"),))
    started = time.monotonic()
    best_scores, raised = _earned(scorer, table, best, rows, conversational)
    needed = (time.monotonic() - started) * table.size / len(rows)
    if started + needed < deadline:
        rows = table.spread(table.size)
        best_scores, raised = _earned(scorer, table, best, rows, conversational)
    findings = tuple(_gold_findings(best, table, rows, best_scores, raised, empty_score, high))
    if raised:
        findings += (_bug(scorer, table, best, raised, len(rows), conversational),)
    is_right = not np.isfinite(high) or float(np.nanmax(best_scores)) >= (empty_score + high) / 2
    return Golds(findings, best) if is_right else Golds(findings[:1])


def _gold_findings(
    form: Form, table: Table, rows: list[int], earned: Floats, raised: Mapping[int, Fault], nothing: float, high: float
) -> Iterator[Finding]:
    highest = float(np.nanmax(earned))
    full = int((earned >= highest - TOLERANCE).sum())
    bound = f" of {high:g}" if np.isfinite(high) else ""
    yield Finding(
        "fact",
        "golds",
        f"{form} scores {highest:g}{bound}, in {full:,} of {len(rows):,} rows, an empty completion {nothing:g}",
    )
    low_rows = {
        row: f"{_value(value)}, {form.column} = {shorten(table.values(form.column)[row], _VALUE)}"
        for row, value in zip(rows, earned.tolist(), strict=True)
        if row not in raised and not value >= highest - TOLERANCE
    }
    if low_rows and len(low_rows) <= len(rows) / 2:
        yield Finding(
            "warning",
            f"column {form.column!r} (training)",
            f"in {len(low_rows):,} of {len(rows):,} rows, the gold answer itself, written as {form}, scores "
            f"less than {highest:g}",
            "fix these cells: no completion can be correct in these rows. If the answer is only a part of the cell, "
            f'a ready reward can extract it, as in rk.number({form.column!r}, gold=rk.extract.after("####"))',
            shown(low_rows, table),
        )


def _bug(
    scorer: Scorer, table: Table, form: Form, raised: Mapping[int, Fault], size: int, conversational: bool
) -> Finding:
    """Return the finding for gold answers on which the reward has a bug.

    It is only a warning if ``on_error=`` gives these gold answers a score."""
    rows, cells = list(raised), table.values(form.column)
    kind: Kind = "warning"
    try:
        completions = [form.completion(cells[row], conversational) for row in rows]
        scorer.score(table.batch(rows, completions), on_unparsable_gold="fail")
    except RewardKitError:
        kind = "error"
    return Finding(
        kind,
        f"component {next(iter(raised.values())).component!r}",
        f"in {len(raised):,} of {size:,} rows, it fails to score the gold answer itself, written as {form}",
        "fix the function: it must score every completion",
        shown({row: fault.reason for row, fault in raised.items()}, table),
    )


def _value(value: float) -> str:
    return "nothing" if np.isnan(value) else f"scores {value:g}"


def _first_batch(scorer: Scorer, table: Table, rows: list[int], conversational: bool) -> list[Finding]:
    """Find errors that stop training.

    Useless completions for the first prompts are scored, with the progress at the start and at the end of training."""
    texts = ["I do not know.", "<think>\n</think>\n<answer>\n0\n</answer>"]
    repeated_rows = [row for row in rows for _ in texts]
    completions = [_formed(text, conversational) for _ in rows for text in texts]
    failed: dict[str, str] = {}
    for when, progress in (("in the first batch", _START), ("at its end", None)):
        try:
            batch = table.batch(repeated_rows, completions, num_generations=len(texts), progress=progress)
            scores = scorer.score(batch, on_unparsable_gold="fail")
        except RewardKitError as error:
            # The row numbers of the error count the rows of this batch.
            text = re.sub(r"(?m)^  row (\d+)(?=,)", lambda row: table.location(repeated_rows[int(row[1])]), str(error))
            problem = f"it stops training {when}: {' '.join(map(str.strip, text.splitlines()))}"
            remedy = "fix the reward. rewardkit check finds more errors like this"
            if isinstance(error.__cause__, ModuleNotFoundError):
                remedy = (
                    "install the packages that it imports, and list them in run.yaml: reward: "
                    "{path: ..., packages: [...]}"
                )
            return [Finding("error", "reward", problem, remedy)]
        failed |= {fault.component: fault.reason for fault in scores.faults if fault.outcome is Outcome.FAILED}
    return [
        Finding(
            "error",
            f"component {name!r}",
            f"it fails in the first batch: {reason}",
            "fix the environment that it runs in",
        )
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


_Earned = tuple[Floats, dict[int, Fault]]


def _earned(scorer: Scorer, table: Table, form: Form, rows: list[int], conversational: bool) -> _Earned:
    cells = table.values(form.column)
    return _totals(scorer, table, rows, [form.completion(cells[row], conversational) for row in rows])


def _totals(scorer: Scorer, table: Table, rows: list[int], completions: list[Any]) -> _Earned:
    """Return the totals, shape (n,), and the rows on which the reward has a bug. A missing total is NaN."""
    try:
        scores = scorer.score(table.batch(rows, completions), strict=False, on_unparsable_gold="fail")
    except RewardKitError:  # for example, an unreadable cell, which another check reports
        return np.full(len(rows), np.nan), {}
    return scores.total, {rows[fault.row]: fault for fault in scores.faults if fault.outcome is Outcome.ERRORED}


def _formed(text: str, conversational: bool) -> Any:
    return [{"role": "assistant", "content": text}] if conversational else text
