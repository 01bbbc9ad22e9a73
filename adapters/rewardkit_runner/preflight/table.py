"""The rows of a dataset, column by column, as the checks look at them."""

from __future__ import annotations

from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.messages import prompt_text
from rewardkit.core.tree.reward import Reward
from rewardkit.data.samples import asked_for

if TYPE_CHECKING:
    from datasets import Dataset

HIDDEN = ("completion", "completion_ids")
"""Columns that TRL keeps to itself."""


class Table:
    """The first rows of a dataset, or all of them.

    Args:
        dataset: with a column ``prompt``.
        tree: the reward; only columns that it reads are unpacked, pictures among the others stay where they are.
        name: ``"training"`` or ``"held out"``.
        rows: that are looked at.
    """

    def __init__(self, dataset: Dataset, tree: Reward, name: str, rows: int | Literal["all"] = "all") -> None:
        self.name = name
        self._named, self._takes_all = asked_for(tree)
        self.total = len(dataset)
        self.size = self.total if rows == "all" else min(rows, self.total)
        self.columns: list[str] = list(dataset.column_names)
        self.dataset = dataset
        self._values: dict[str, list[Any]] = {}

    def values(self, name: str) -> list[Any]:
        """(n,) the cells of a column."""
        if name not in self._values:
            found = self.dataset[name] if self.size == self.total else self.dataset[: self.size][name]
            self._values[name] = list(found)
        return self._values[name]

    @property
    def prompts(self) -> list[Any]:
        """(n,)"""
        return self.values("prompt")

    @cached_property
    def prompt_texts(self) -> list[str]:
        """(n,) what the prompts say, without the chat template; empty where one is of no known shape."""
        return [_text(prompt) for prompt in self.prompts]

    @property
    def given(self) -> list[str]:
        """The columns that reach a reward."""
        return [name for name in self.columns if name not in ("prompt", *HIDDEN)]

    @property
    def named(self) -> list[str]:
        """Those that the reward names."""
        return [name for name in self.given if name in self._named]

    @property
    def read(self) -> list[str]:
        """Those that it may look at."""
        return self.given if self._takes_all else self.named

    def batch(self, rows: list[int], completions: list[Any], num_generations: int | None = None) -> Batch:
        """`completions` (n,) for `rows` (n,), as the trainer would pass them."""
        columns = {name: [self.values(name)[row] for row in rows] for name in self.read}
        return Batch(
            completions,
            prompts=[self.prompts[row] for row in rows],
            completion_ids=[[0] * min(len(str(completion)), 512) for completion in completions],
            columns=columns,
            num_generations=num_generations,
            context={"trainer_state": SimpleNamespace(global_step=0, max_steps=100, epoch=0.0, log_history=[])},
        )

    def spread(self, count: int) -> list[int]:
        """`count` rows, evenly from the first to the last."""
        if count >= self.size:
            return list(range(self.size))
        return [row * self.size // count for row in range(count)]


def _text(prompt: Any) -> str:
    try:
        return prompt_text(prompt)
    except Exception:  # another check says that it is no prompt
        return ""
