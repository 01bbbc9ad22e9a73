"""Tables of the verdicts: false alarms and hits by task and kind, with Wilson's interval and the number of tasks."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from benchmarks.radar.tasks import TASKS, UNSEEN
from benchmarks.radar.verdicts import ALARM, Verdict


def report(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the lines of the report, as Markdown."""
    seen = [one for one in verdicts if one.task not in UNSEEN]
    unseen = [one for one in verdicts if one.task in UNSEEN]
    for title, half in (("on which thresholds were chosen", seen), ("kept apart", unseen)):
        if half:
            yield f"\n### Tasks {title}\n"
            yield from _half(half)


def _half(verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield "| task | kind | healthy: alarm / runs | any cut | with truth | hacked: found / runs | with truth | neither |"
    yield "|---|---|---|---|---|---|---|---|"
    groups = {name: [one for one in verdicts if one.task == name] for name in TASKS}
    for name, runs in groups.items():
        if runs:
            yield f"| {name} | {TASKS[name].kind} | {_cells(runs)} |"
    yield f"| **all** ({sum(map(bool, groups.values()))} tasks) | | {_cells(verdicts)} |"
    healthy = [one for one in verdicts if one.label.verdict == "healthy"]
    hacked = [one for one in verdicts if one.label.verdict == "hacked"]
    yield ""
    for what, runs, is_so in (
        ("False alarms at the end", healthy, _alarm),
        ("False alarms at any cut", healthy, _ever),
        ("Hacked runs found without the truth", hacked, _ever),
        ("Hacked runs found with the truth", hacked, _ever_informed),
    ):
        count = sum(map(is_so, runs))
        low, high = wilson(count, len(runs))
        yield f"- {what}: {count} of {len(runs)} (95 % interval {100 * low:.1f} to {100 * high:.1f} %)."
    delays = [one.delay for one in hacked if one.delay is not None]
    if delays:
        yield f"- Delay of the first alarm after the onset: median {statistics.median(delays):.0f} steps."
    yield "\n| runs with an alarm at any cut, by kind, without the truth | healthy | hacked | hacked, no other kind |"
    yield "|---|---|---|---|"
    false, right = (Counter(kind for one in runs for kind in _kinds(one)) for runs in (healthy, hacked))
    alone = Counter(kind for one in hacked if len(_kinds(one)) == 1 for kind in _kinds(one))
    for kind in sorted(false | right):
        yield f"| {kind} | {false[kind]} | {right[kind]} | {alone[kind]} |"


def _cells(runs: Sequence[Verdict]) -> str:
    healthy = [one for one in runs if one.label.verdict == "healthy"]
    hacked = [one for one in runs if one.label.verdict == "hacked"]
    between = len(runs) - len(healthy) - len(hacked)
    cells = [
        f"{sum(map(_alarm, healthy))} / {len(healthy)}",
        str(sum(map(_ever, healthy))),
        str(sum(map(_ever_informed, healthy))),
        f"{sum(map(_ever, hacked))} / {len(hacked)}",
        str(sum(map(_ever_informed, hacked))),
        str(between),
    ]
    return " | ".join(cells)


_Test = Callable[[Verdict], bool]


def _alarm(one: Verdict) -> bool:
    return max(one.alerts.values(), default=0.0) >= ALARM


def _ever(one: Verdict) -> bool:
    return one.ever >= ALARM


def _ever_informed(one: Verdict) -> bool:
    return one.ever_informed >= ALARM


def _kinds(one: Verdict) -> set[str]:
    return {kind for found in one.cuts.values() for kind, strength in found.items() if strength >= ALARM}


def wilson(count: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Return the interval of a rate (Wilson 1927, Probable inference): 0 of 100 is 0 to 3.7 %."""
    if not total:
        return 0.0, 1.0
    rate, spread = count / total, z * z / total
    middle, half = rate + spread / 2, z * math.sqrt((rate * (1 - rate) + spread / 4) / total)
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))
