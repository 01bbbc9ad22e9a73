"""What runs in a worker process: ``scored("gcd", "{}", entry, "6", False)`` calls the task's own scorer.

Scorers are third-party code that reads a completion: some are quadratic or hang, some raise, some print. So they run in
a process that can be killed, and whatever they raise is an answer that earns nothing.
"""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rewardkit.core.errors import shorten
from rewardkit_reasoning_gym.entries import Entry, options_of
from rewardkit_reasoning_gym.guards import refusal
from rewardkit_reasoning_gym.rows import dataset_of

_FULL = 1.0 - 1e-9
_NOTHING = ("", "?", "banana")
"""Answers that say nothing: what they earn is the floor of partial credit."""


def scored(entry: Entry, answer: str, partial: bool) -> tuple[float, str]:
    """Return the score of an answer and a note."""
    content = entry.content
    reason = refusal(entry.task, answer, content)
    if reason:
        return 0.0, reason
    dataset = _dataset(entry.task, entry.options)
    value = _own_score(dataset, answer, content)
    if isinstance(value, str):
        return 0.0, value
    if value >= _FULL:
        return 1.0, ""
    if not partial:
        return 0.0, f"the task's scorer gives it {value:.3g}" if value > 0.0 else "wrong"
    return _partial(dataset, answer, content, value)


def _partial(dataset: Any, answer: str, content: Mapping[str, Any], value: float) -> tuple[float, str]:
    """Return the credit above what answers that say nothing earn."""
    right = content["answer"]
    if isinstance(right, str) and right in answer and math.isclose(value, len(right) / len(answer)):
        return 0.0, "the right answer is among other text"  # else a list of candidates would pay
    floors = [_own_score(dataset, text, content) for text in _NOTHING]
    floor = max((one for one in floors if not isinstance(one, str)), default=0.0)
    if value <= floor + 1e-9:
        return 0.0, "wrong"
    return (value - floor) / (1.0 - floor), f"partly right: the task's scorer gives it {value:.3g}"


def _own_score(dataset: Any, answer: str, content: Mapping[str, Any]) -> float | str:
    """Return the number of the task's own scorer; a text if it has none."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = float(dataset.score_answer(answer, {**content, "question": ""}))
        except (MemoryError, RecursionError):
            raise
        except Exception as error:
            return f"the task's scorer raised {type(error).__name__}: {shorten(str(error), 80)}"
    return value if 0.0 <= value <= 1.0 else "the task's scorer gives no number from 0 to 1"


@lru_cache(64)
def _dataset(task: str, options: str) -> Any:
    """Return the dataset of a task, whose scorer may read its options."""
    given = options_of(Entry(task, options, {}))
    with contextlib.redirect_stdout(io.StringIO()):
        return dataset_of(task, {**given, "size": 1, "seed": 0})
