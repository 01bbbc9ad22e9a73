"""Logs: the metrics and columns that reward functions log while a batch is scored.

In training, TRL passes ``log_metric`` and ``log_extra`` to reward functions, and the entries go to the trainer. Outside
training, the entries are collected: ``rk.score(...).metrics`` and ``.extras``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

OF_TRAINERS = ("trainer_state", "log_metric", "log_extra")
"""The arguments, other than the rows, that a trainer passes to reward functions."""


@final
class Logs:
    """The log for one batch of n completions.

    Args:
        size: the number of completions, n.
        trainer: the arguments that the trainer passed. If a log function is missing, its values are collected here.
    """

    def __init__(self, size: int, trainer: Mapping[str, Any]) -> None:
        self._size = size
        self._metrics: dict[str, list[float]] = {}
        self._lists: dict[str, list[Any]] = {}
        self._rows: dict[str, dict[int, Any]] = {}
        self.metric = trainer.get("log_metric", self._add_metric)
        """The function ``log_metric(name, value)``."""
        self.extra = trainer.get("log_extra", self._add_extra)
        """The function ``log_extra(column, values)``, with one value for each completion in the batch."""

    def _add_metric(self, name: str, value: Any) -> None:
        self._metrics.setdefault(name, []).append(float(value))

    def _add_extra(self, column: str, values: Any) -> None:
        self._lists.setdefault(column, []).extend(values)

    def add_rows(self, column: str, values: Mapping[int, Any]) -> None:
        """Add values for some rows to an extra column."""
        self._rows.setdefault(column, {}).update(values)

    def flush(self) -> None:
        """Log the columns that were collected row by row as full columns, with None in the other rows."""
        for column, values in self._rows.items():
            self.extra(column, [values.get(row) for row in range(self._size)])
        self._rows.clear()

    @property
    def metrics(self) -> dict[str, float]:
        """The mean of each collected metric."""
        return {name: float(np.mean(values)) for name, values in self._metrics.items()}

    @property
    def extras(self) -> dict[str, list[Any]]:
        """The values of each collected column."""
        return dict(self._lists)


@final
@dataclass(frozen=True)
class RowLog:
    """The ``log_extra`` for a function that is called for some rows in a batch.

    In a call for one completion, it accepts one value: ``log_extra("length", 12)``. In a call for several completions,
    it accepts a list of values.
    """

    logs: Logs
    rows: tuple[int, ...]
    several: bool = False

    def __call__(self, column: str, values: Any) -> None:
        listed: Sequence[Any] = list(values) if self.several else [values]
        if len(listed) != len(self.rows):
            raise ValueError(f"log_extra({column!r}, ...) got {len(listed)} values for {len(self.rows)} completions")
        self.logs.add_rows(column, dict(zip(self.rows, listed, strict=True)))

    @classmethod
    def joined(cls, each: Sequence[RowLog]) -> RowLog:
        """Return one RowLog for all rows in `each`, for a function that gets these rows in one call."""
        return cls(each[0].logs, tuple(row for row_log in each for row in row_log.rows), several=True)
