"""Compare contestants: CPU time, in turns, on fresh objects.

A round runs every contestant once, each on the workload rebuilt from new strings and lists, after a full garbage
collection. The collector stays on while the clock runs, as it does in training. ``ratio`` compares round by round, so a
machine that is slower for a while affects both sides.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.speed.rubric_components import components_of
from benchmarks.speed.rubric_workload import COMPONENTS, SIZES, WEIGHTS, Workload, make_short_workload, make_workload

Times = list[float]
"""CPU microseconds per completion, one per round."""

Columns = Mapping[str, Sequence[float]]
"""Component -> raw score of each completion."""


@dataclass(frozen=True)
class Contestant:
    """One way to score a workload.

    Args:
        name: the name in the table.
        prepare: converts a fresh workload to the argument of `score`; not timed.
        score: does the work; timed.
        columns: converts the result of `score` to raw components; None if that is not possible.
        totals: converts the result of `score` to weighted sums, if the contestant adds them up itself.
    """

    name: str
    prepare: Callable[[Workload], Any]
    score: Callable[[Any], Any]
    columns: Callable[[Any], Columns] | None = None
    totals: Callable[[Any], Sequence[float]] | None = None


def measure(
    contestants: Sequence[Contestant], workload: Workload, rounds: int, *, collects: bool = True
) -> dict[str, Times]:
    """Return name -> microseconds per completion in each of `rounds` rounds, after a warm-up round.

    Args:
        collects: collect all garbage before each turn, which also leaves the caches of the processor cold.
    """
    times: dict[str, Times] = {contestant.name: [] for contestant in contestants}
    for number in range(rounds + 1):
        first = number % len(contestants)
        for contestant in [*contestants[first:], *contestants[:first]]:
            prepared = contestant.prepare(workload.fresh())
            if collects:
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
    """Return size -> contestant -> times; ``empty`` has the times of five rewards that do nothing."""
    times = {}
    for size, characters in SIZES.items():
        workload = make_workload(characters)
        check_agreement(contestants, workload)
        times[size] = measure(contestants, workload, rounds)
    times["empty"] = measure(empty, make_short_workload(), empty_rounds)
    return times


def check_agreement(contestants: Sequence[Contestant], workload: Workload) -> None:
    """Assert that every contestant gives every completion the scores of the plain components."""
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
    """Return the weighted sum of one completion's components."""
    return sum(WEIGHTS[name] * score for name, score in scores.items())


def _assert_equal(who: str, what: str, row: int, score: float, expected: float, workload: Workload) -> None:
    # TRL stores rewards as float32.
    assert abs(score - expected) < 1e-6, (
        f"{who}, {what}, row {row}: scored {score}, expected {expected}: {workload.completions[row]!r}"
    )


def ratio(times: Times, base: Times) -> float:
    """Return the median over the rounds of `times` divided by `base`."""
    return statistics.median(time / other for time, other in zip(times, base, strict=True))
