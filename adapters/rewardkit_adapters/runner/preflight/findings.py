"""The findings from a preflight: ``found.text()`` returns the report, with errors first."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from rewardkit.batch.batch import Batch
from rewardkit.batch.messages import prompt_text
from rewardkit.batch.table_text import visible
from rewardkit.progress.progress import Progress
from rewardkit.scoring.columns import asked_for
from rewardkit.tree.evaluation.plan import Plan
from rewardkit.tree.reward import Reward

if TYPE_CHECKING:
    from datasets import Dataset


# The rows of a dataset by column, as input for the checks.


HIDDEN = ("completion", "completion_ids")
"""Columns that TRL does not pass to rewards."""


class Table:
    """The first rows of a dataset, or all of its rows.

    Args:
        dataset: a dataset with a column ``prompt``.
        tree: the reward. Only the columns that it reads are decoded.
        name: ``"training"`` or ``"held out"``.
        rows: the number of rows to check.
        location: a function that returns the location of a row in the data, such as ``"line 18"``. The default is the
            row number.

    Attributes:
        unreadable: the rows with an unreadable gold answer, which the check of the cells adds. `spread` skips these
            rows.
    """

    def __init__(
        self,
        dataset: Dataset,
        tree: Reward,
        name: str,
        rows: int | Literal["all"] = "all",
        location: Callable[[int], str] = "row {}".format,
    ) -> None:
        self.name = name
        self.location = location
        self._tree = tree
        self._named, self._takes_all = asked_for(tree)
        self.total = len(dataset)
        self.size = self.total if rows == "all" else min(rows, self.total)
        self.columns: list[str] = list(dataset.column_names)
        self.dataset = dataset
        self.unreadable: set[int] = set()
        self._values: dict[str, list[Any]] = {}

    @cached_property
    def label(self) -> Callable[[Reward], str]:
        """A function that returns the name of a node in the reward, or the new name of a renamed node."""
        return Plan(self._tree).label

    def values(self, name: str) -> list[Any]:
        """Return the cells in a column, shape (n,)."""
        if name not in self._values:
            cells = self.dataset[name] if self.size == self.total else self.dataset[: self.size][name]
            self._values[name] = list(cells)
        return self._values[name]

    @property
    def prompts(self) -> list[Any]:
        """The prompts, shape (n,)."""
        return self.values("prompt")

    @cached_property
    def prompt_texts(self) -> list[str]:
        """The prompt texts without the chat template, shape (n,), with "" for a prompt in an unknown format."""
        return [_text(prompt) for prompt in self.prompts]

    @property
    def given(self) -> list[str]:
        """The columns that TRL passes to a reward."""
        return [name for name in self.columns if name not in ("prompt", *HIDDEN)]

    @property
    def named(self) -> list[str]:
        """The columns that the reward names as arguments."""
        return [name for name in self.given if name in self._named]

    @property
    def read(self) -> list[str]:
        """The columns that the reward may read, or all columns if the reward accepts any column."""
        return self.given if self._takes_all else self.named

    def batch(
        self,
        rows: list[int],
        completions: list[Any],
        num_generations: int | None = None,
        progress: Progress | None = None,
    ) -> Batch:
        """Return a batch of `completions` (n,) for `rows` (n,), as the trainer would pass it."""
        columns = {name: [self.values(name)[row] for row in rows] for name in self.read}
        return Batch(
            completions,
            prompts=[self.prompts[row] for row in rows],
            # A reward may count token ids. Without a tokenizer, the length is arbitrary.
            completion_ids=[[0] * min(len(str(completion)), 512) for completion in completions],
            columns=columns,
            num_generations=num_generations,
            progress=progress,
        )

    def spread(self, count: int) -> list[int]:
        """Return the indices of `count` readable rows, evenly distributed over the table."""
        readable = [row for row in range(self.size) if row not in self.unreadable]
        if count >= len(readable):
            return readable
        return [readable[index * len(readable) // count] for index in range(count)]


def _text(prompt: Any) -> str:
    try:
        return prompt_text(prompt)
    except Exception:  # another check reports such prompts
        return ""


Kind = Literal["error", "warning", "fact"]

_WIDTH = 110
"""The number of characters per line in a report. The number is arbitrary and suits a wide terminal."""
_TITLES: dict[Kind, str] = {"error": "errors", "warning": "warnings", "fact": "facts"}


@dataclass(frozen=True)
class Finding:
    """One finding from a check.

    Attributes:
        kind: ``"error"`` stops the run, ``"warning"`` deserves attention, and ``"fact"`` is information.
        where: the location, such as ``"column 'answer'"``, ``"grpo"``, or ``"memory"``.
        what: the problem or the fact, in one sentence.
        remedy: the fix, or "" for facts.
        rows: additional lines that are printed without wrapping, such as cells or completions.
    """

    kind: Kind
    where: str
    what: str
    remedy: str = ""
    rows: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the finding as lines for the report."""
        report_lines = _wrapped(f"{self.where}: {self.what}", "  ")
        report_lines += [f"      {visible(row)}" for row in self.rows]
        return report_lines + (_wrapped(f"-> {self.remedy}", "    ") if self.remedy else [])


def _wrapped(text: str, indent: str) -> list[str]:
    hanging_indent = f"{indent}  "
    return textwrap.wrap(visible(text), _WIDTH, initial_indent=indent, subsequent_indent=hanging_indent)


@dataclass(frozen=True)
class Preflight:
    """All findings, in the order of the checks."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return not self.of("error")

    def of(self, kind: Kind) -> list[Finding]:
        """Return the findings of one kind."""
        return [finding for finding in self.findings if finding.kind == kind]

    def text(self) -> str:
        """Return the report as a string: errors, then warnings, then facts."""
        lines = []
        for kind, title in _TITLES.items():
            findings = self.of(kind)
            if findings:
                lines += ["", f"{title} ({len(findings)})" if kind != "fact" else title]
                lines += [line for finding in findings for line in finding.lines()]
        verdict = "ok" if self.ok else "errors found: the run would crash or learn something unintended"
        return "\n".join([f"preflight: {verdict}", *lines])
