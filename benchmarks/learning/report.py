"""Format the recorded trainings as Markdown tables for RESULTS.md, one per task."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.learning.registry import EXPERIMENTS
from benchmarks.learning.statistics import LEVEL, Estimate, area, difference, estimate, steps_to

Record = Mapping[str, Any]
Cells = Mapping[str, Mapping[int, Record]]
REACHED = 0.5
LAST_STEPS = 10
MEASURES: dict[str, Callable[[Record], float]] = {
    "over training": lambda record: statistics.fmean(record["held_out"]),
    "at the end": lambda record: record["held_out"][-1],
    "at the end, greedy": lambda record: record["after"]["exact"],
    "groups without variance": lambda record: statistics.fmean(record["followed"]["frac_reward_zero_std"]),
}
"""Of the tasks with a pool: the exact match of held-out prompts, sampled if not greedy, and what was wasted."""


def cells(records: Iterable[Record], task: str) -> dict[str, dict[int, Record]]:
    """Return arm -> seed -> record, in the order of the arms."""
    found: dict[str, dict[int, Record]] = {arm: {} for arm in EXPERIMENTS[task].arms()}
    for record in records:
        if record["task"] == task and record["arm"] in found:
            found[record["arm"]][record["seed"]] = record
    return {arm: dict(sorted(seeds.items())) for arm, seeds in found.items() if seeds}


def held_out(cell: Mapping[int, Record], what: str = "exact") -> dict[int, float]:
    return {seed: float(record["after"][what]) for seed, record in cell.items()}


def training_areas(cell: Mapping[int, Record]) -> dict[int, float]:
    return {seed: area(record["curves"]["exact"]) for seed, record in cell.items()}


def at_the_end(cell: Mapping[int, Record], what: str) -> dict[int, float]:
    """Return seed -> mean over the completions sampled in the last training steps."""
    return {seed: statistics.fmean(record["curves"][what][-LAST_STEPS:]) for seed, record in cell.items()}


def report_on(records: Sequence[Record], task: str) -> str:
    """Format the tables of one experiment."""
    arms = cells(records, task)
    title = f"**{EXPERIMENTS[task].task.title}** (`{task}`)"
    if not arms:
        return f"{title}: nothing recorded."
    if EXPERIMENTS[task].pool:
        return f"{title}\n\n{pool_table(arms, EXPERIMENTS[task].reference)}"
    tables = [score_table(arms, EXPERIMENTS[task].reference)]
    if "proxy" in EXPERIMENTS[task].task.watched:
        tables.append(hack_table(arms))
    return "\n\n".join([title, *tables])


def score_table(arms: Cells, reference: str) -> str:
    """Format the honest score and how fast it was reached: the warm start first, then one line per arm."""
    scores = {arm: held_out(cell) for arm, cell in arms.items()}
    areas = {arm: training_areas(cell) for arm, cell in arms.items()}
    less = f"less {reference}"
    lines = [["(warm start)", *before(arms, "exact"), "", "", "", "", ""]]
    for arm, cell in arms.items():
        lines.append(
            [
                arm,
                str(len(cell)),
                spread(scores[arm]),
                str(sum(value > REACHED for value in scores[arm].values())),
                "" if arm == reference else signed(difference(scores[arm], scores.get(reference, {}))),
                spread(areas[arm]),
                "" if arm == reference else signed(difference(areas[arm], areas.get(reference, {}))),
                speed(cell),
            ]
        )
    return markdown(["arm", "seeds", "exact", "above 0.5", less, "area", less, f"steps to {LEVEL:g}"], lines)


def hack_table(arms: Cells) -> str:
    """Format the naive reward, greedy and sampled at the end, next to the honest score and the share of hacks."""
    lines = [["(warm start)", *before(arms, "exact", "hacked", "proxy")[1:], "", ""]]
    for arm, cell in arms.items():
        greedy = [spread(held_out(cell, what)) for what in ("exact", "hacked", "proxy")]
        lines.append([arm, *greedy, *(spread(at_the_end(cell, what)) for what in ("proxy", "hacked"))])
    return markdown(["arm", "exact", "hacked", "naive reward", "naive reward, sampled", "hacked, sampled"], lines)


def pool_table(arms: Cells, reference: str) -> str:
    """Format the exact match of held-out prompts, sampled during the training and greedy at its end.

    The completions of the training are no measure: an arm that chooses its prompts would be judged by its choice.
    """
    head = ["arm", "seeds", *(column for name in MEASURES for column in (name, f"less {reference}"))]
    lines = []
    for arm, cell in arms.items():
        lines.append([arm, str(len(cell))])
        for measure in MEASURES.values():
            found, plain = (
                {seed: float(measure(record)) for seed, record in one.items()}
                for one in (cell, arms.get(reference, {}))
            )
            lines[-1] += [spread(found), "" if arm == reference else signed(difference(found, plain))]
    return markdown(head, lines)


def before(arms: Cells, *what: str) -> list[str]:
    """Return the number of seeds and the scores of the warm start that the arms share."""
    longest = max(arms.values(), key=len)
    return [
        str(len(longest)),
        *(spread({seed: record["before"][one] for seed, record in longest.items()}) for one in what),
    ]


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines))


def spread(by_seed: Mapping[int, float]) -> str:
    return str(estimate(list(by_seed.values())))


def signed(found: Estimate | None) -> str:
    return "" if found is None else f"{found.mean:+.3f} ± {found.margin:.3f}"


def speed(cell: Mapping[int, Record]) -> str:
    """Return the median number of steps over the seeds that reached the level, and how many did."""
    steps = [steps_to(record["curves"]["exact"]) for record in cell.values()]
    reached = [step for step in steps if step is not None]
    if not reached:
        return "never"
    return f"{statistics.median(reached):g}" + f" ({len(reached)} of {len(steps)})" * (len(reached) < len(steps))
