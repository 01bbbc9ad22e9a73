"""Measures contestants against each other: CPU time, in turns, on fresh objects.

A round runs every contestant once, each on the workload rebuilt from new strings and lists, after a full
garbage collection. The collector stays on while the clock runs, as it does in training. ``ratio`` compares
round by round, so that a machine that gets slower for a while slows both sides of it.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rubric_components import components_of
from rubric_workload import COMPONENTS, SIZES, WEIGHTS, Workload, make_short_workload, make_workload

Times = list[float]
"""CPU microseconds per completion, one per round."""

Columns = Mapping[str, Sequence[float]]
"""Component -> its raw score for every completion."""


@dataclass(frozen=True)
class Contestant:
    """One way to score a workload.

    Args:
        name: as it stands in the table.
        prepare: turns a fresh workload into what `score` takes; off the clock.
        score: does the work; on the clock.
        columns: what `score` returned, as raw components; None where it cannot say them.
        totals: what `score` returned, as weighted sums, where it adds them up itself.
    """

    name: str
    prepare: Callable[[Workload], Any]
    score: Callable[[Any], Any]
    columns: Callable[[Any], Columns] | None = None
    totals: Callable[[Any], Sequence[float]] | None = None


def measure(contestants: Sequence[Contestant], workload: Workload, rounds: int) -> dict[str, Times]:
    """Name -> microseconds per completion in each of `rounds` rounds, after one that is not counted."""
    times: dict[str, Times] = {contestant.name: [] for contestant in contestants}
    for number in range(rounds + 1):
        first = number % len(contestants)
        for contestant in [*contestants[first:], *contestants[:first]]:
            prepared = contestant.prepare(workload.fresh())
            gc.collect()
            start = time.process_time()
            result = contestant.score(prepared)
            seconds = time.process_time() - start
            del prepared, result
            if number:
                times[contestant.name].append(seconds / len(workload.completions) * 1e6)
    return times


def measure_all(
    contestants: Sequence[Contestant], empty: Sequence[Contestant], rounds: int, empty_rounds: int
) -> dict[str, dict[str, Times]]:
    """Size -> contestant -> times, and under ``empty`` those of the five rewards that do nothing."""
    times = {}
    for size, characters in SIZES.items():
        workload = make_workload(characters)
        check_agreement(contestants, workload)
        times[size] = measure(contestants, workload, rounds)
    times["empty"] = measure(empty, make_short_workload(), empty_rounds)
    return times


def check_agreement(contestants: Sequence[Contestant], workload: Workload) -> None:
    """AssertionError unless every contestant gives every completion the scores of the plain components."""
    rows = zip(workload.completions, workload.totals, strict=True)
    expected = [components_of(completion, total, workload.lengths) for completion, total in rows]
    for contestant in contestants:
        result = contestant.score(contestant.prepare(workload.fresh()))
        columns = contestant.columns(result) if contestant.columns else {}
        assert contestant.columns is None or set(columns) == set(COMPONENTS), (
            contestant.name,
            sorted(columns),
        )
        for name, scores in columns.items():
            for row, (score, scored) in enumerate(zip(scores, expected, strict=True)):
                _assert_equal(contestant.name, name, row, float(score), scored[name], workload)
        if contestant.totals:
            for row, (total, scored) in enumerate(zip(contestant.totals(result), expected, strict=True)):
                _assert_equal(contestant.name, "total", row, float(total), weighted(scored), workload)


def weighted(scores: Mapping[str, float]) -> float:
    """The weighted sum of one completion's components."""
    return sum(WEIGHTS[name] * score for name, score in scores.items())


def _assert_equal(who: str, what: str, row: int, score: float, expected: float, workload: Workload) -> None:
    # TRL keeps rewards as float32.
    assert abs(score - expected) < 1e-6, (
        f"{who} scores {what} of row {row} {score}, not {expected}: {workload.completions[row]!r}"
    )


def ratio(times: Times, base: Times) -> float:
    """The median over the rounds of `times` divided by `base`."""
    return statistics.median(time / other for time, other in zip(times, base, strict=True))
