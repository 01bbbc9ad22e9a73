"""The rows of a dataset by column, for the checks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.messages import prompt_text
from rewardkit.core.progress.progress import Progress
from rewardkit.core.tree.reward import Reward
from rewardkit.data.samples import asked_for

if TYPE_CHECKING:
    from datasets import Dataset

HIDDEN = ("completion", "completion_ids")
"""Columns that TRL does not pass to rewards."""


class Table:
    """The first rows of a dataset, or all of them.

    Args:
        dataset: with a column ``prompt``.
        tree: the reward; only the columns that it reads are decoded.
        name: ``"training"`` or ``"held out"``.
        rows: how many to check.

    Attributes:
        unreadable: the rows with a gold answer that cannot be read, once the cells were checked; `spread` leaves them
            out.
    """

    def __init__(self, dataset: Dataset, tree: Reward, name: str, rows: int | Literal["all"] = "all") -> None:
        self.name = name
        self._named, self._takes_all = asked_for(tree)
        self.total = len(dataset)
        self.size = self.total if rows == "all" else min(rows, self.total)
        self.columns: list[str] = list(dataset.column_names)
        self.dataset = dataset
        self.unreadable: set[int] = set()
        self._values: dict[str, list[Any]] = {}

    def values(self, name: str) -> list[Any]:
        """Return the cells of a column, shape (n,)."""
        if name not in self._values:
            found = self.dataset[name] if self.size == self.total else self.dataset[: self.size][name]
            self._values[name] = list(found)
        return self._values[name]

    @property
    def prompts(self) -> list[Any]:
        """The prompts, shape (n,)."""
        return self.values("prompt")

    @cached_property
    def prompt_texts(self) -> list[str]:
        """The texts of the prompts without the chat template, shape (n,); empty for prompts of unknown shape."""
        return [_text(prompt) for prompt in self.prompts]

    @property
    def given(self) -> list[str]:
        """The columns that reach a reward."""
        return [name for name in self.columns if name not in ("prompt", *HIDDEN)]

    @property
    def named(self) -> list[str]:
        """The columns that the reward names."""
        return [name for name in self.given if name in self._named]

    @property
    def read(self) -> list[str]:
        """The columns that the reward may read."""
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
            completion_ids=[[0] * min(len(str(completion)), 512) for completion in completions],
            columns=columns,
            num_generations=num_generations,
            progress=progress,
        )

    def spread(self, count: int) -> list[int]:
        """Return the numbers of `count` readable rows, spread evenly."""
        readable = [row for row in range(self.size) if row not in self.unreadable]
        if count >= len(readable):
            return readable
        return [readable[place * len(readable) // count] for place in range(count)]


def _text(prompt: Any) -> str:
    try:
        return prompt_text(prompt)
    except Exception:  # another check reports it
        return ""
