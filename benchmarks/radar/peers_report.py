"""Tables of the alarms of rewardspy, rl-doctor and rewardkit in the same runs: healthy and hacked, by detector."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.radar.peers import LEVELS, Alarms, Comparison
from benchmarks.radar.report import wilson

OTHER = {
    "rewardspy": ("grpo_group",),
    "rl-doctor": (
        *("advantage_collapse", "entropy_collapse", "clip_saturation"),
        *("kl_drift", "gradient_pathology", "plateau"),
    ),
    "rewardkit": (),
}
"""The detectors that, in the words of each tool's documentation, look for lost signal or an unstable training."""
COLUMNS = ("healthy, at any time", "at the end", "hacked, at any time", "at the end")


def report(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield the lines of the report, as Markdown."""
    healthy, hacked = ([one for one in comparisons if one.label.verdict == what] for what in ("healthy", "hacked"))
    neither = len(comparisons) - len(healthy) - len(hacked)
    yield f"\n{len(healthy)} healthy runs, {len(hacked)} hacked ones, {neither} neither."
    yield "A cell: runs with an alarm of this level, and the 95 % interval of their share."
    yield "Delay: median steps from the onset of a hack to the first alarm.\n"
    yield "### All detectors\n"
    yield from _table(healthy, hacked)
    yield "\n### Only detectors of hacks\n"
    yield "Without " + "; ".join(f"{', '.join(names)} of {tool}" for tool, names in OTHER.items() if names) + ".\n"
    yield from _table(*([_of_hacks(one) for one in runs] for runs in (healthy, hacked)))
    yield "\n### By detector, runs with an alarm of any level\n"
    yield from _heading("tool", "truth", "detector", *COLUMNS)
    for tool, informed in _tools(healthy or hacked):
        yield from _by_detector(tool, informed, healthy, hacked)


def _heading(*names: str) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield "|" + "---|" * len(names)


def _tools(comparisons: Sequence[Comparison]) -> list[tuple[str, bool]]:
    return [(one.tool, one.informed) for one in comparisons[0].alarms] if comparisons else []


def _table(healthy: Sequence[Comparison], hacked: Sequence[Comparison]) -> Iterator[str]:
    yield from _heading("tool", "truth", "level", *COLUMNS, "delay")
    for tool, informed in _tools(healthy or hacked):
        for level, name in enumerate(LEVELS[tool]):
            cells = [tool, "yes" if informed else "no", name if level else f"{name} or more"]
            for runs in (healthy, hacked):
                every = [run.of(tool, informed) for run in runs]
                cells.append(_share([any(found >= level for _, found, _ in one.raised) for one in every]))
                cells.append(_share([any(found >= level for found in one.at_end.values()) for one in every]))
            delays = [delay for run in hacked if (delay := _delay(run, tool, informed, level)) is not None]
            cells.append(f"{statistics.median(delays):+.0f}" if delays else "")
            yield f"| {' | '.join(cells)} |"


def _share(found: Sequence[bool]) -> str:
    low, high = wilson(sum(found), len(found))
    return f"{sum(found)} / {len(found)} ({100 * low:.0f} to {100 * high:.0f} %)"


def _delay(run: Comparison, tool: str, informed: bool, level: int) -> int | None:
    steps = [step for _, found, step in run.of(tool, informed).raised if found >= level]
    return min(steps) - run.label.onset if steps and run.label.onset is not None else None


def _of_hacks(run: Comparison) -> Comparison:
    def kept(one: Alarms) -> Alarms:
        return replace(
            one,
            raised=[alarm for alarm in one.raised if alarm[0] not in OTHER[one.tool]],
            at_end={detector: level for detector, level in one.at_end.items() if detector not in OTHER[one.tool]},
        )

    return replace(run, alarms=[kept(one) for one in run.alarms])


def _by_detector(
    tool: str, informed: bool, healthy: Sequence[Comparison], hacked: Sequence[Comparison]
) -> Iterator[str]:
    counts: list[Counter[str]] = []
    for runs in (healthy, hacked):
        every = [run.of(tool, informed) for run in runs]
        counts.append(Counter(detector for one in every for detector in {alarm[0] for alarm in one.raised}))
        counts.append(Counter(detector for one in every for detector in one.at_end))
    for detector in sorted(set().union(*counts)):
        cells = " | ".join(str(count[detector]) for count in counts)
        yield f"| {tool} | {'yes' if informed else 'no'} | {detector} | {cells} |"
