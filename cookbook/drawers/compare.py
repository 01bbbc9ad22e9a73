"""Compare trainings of ``train.py``: a table of the first and the last fifth of the steps, and a plot.

python cookbook/drawers/compare.py runs/drawers/naive-1 runs/drawers/exact-1 runs/drawers/matched-1 --plot plot.png
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import rewardkit as rk

METRICS = {
    "calls": "trajectory/calls",
    "tokens": "trainer/completions/mean_length",
    "right answers": "components/exact",
}
PARTS = 5
SMOOTHING_STEPS = 5

Course = dict[str, list[float]]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of runs")
    parser.add_argument("--plot", type=Path, help="write a plot of calls and right answers to this file")
    options = parser.parse_args(arguments)
    print(table(options.runs))
    if options.plot is not None:
        plot(options.runs, options.plot)


def course(run: Path) -> Course:
    """Return the metrics of a run, one value for each step."""
    query = "select name, value from {} where name in ({}) order by step"
    recorded = rk.open_run(run).metrics()
    names = ", ".join(f"'{name}'" for name in METRICS.values())
    found = recorded.query("metrics", query.format("metrics", names)).fetchall()
    return {shown: [value for name, value in found if name == metric] for shown, metric in METRICS.items()}


def table(runs: Sequence[Path]) -> str:
    """Return the means over the first and the last fifth of the steps of each run, as Markdown."""
    lines = [f"| run | {' | '.join(METRICS)} |", "|---" * (len(METRICS) + 1) + "|"]
    for run in runs:
        cells = (f"{_mean(values, first=True):.2f} to {_mean(values):.2f}" for values in course(run).values())
        lines.append(f"| {run.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _mean(values: Sequence[float], *, first: bool = False) -> float:
    part = max(1, len(values) // PARTS)
    own = values[:part] if first else values[-part:]
    return sum(own) / len(own) if own else math.nan


def plot(runs: Sequence[Path], path: Path) -> None:
    """Draw calls and right answers over the steps: a line for each reward, the mean over its seeds."""
    from matplotlib.figure import Figure

    from rewardkit_adapters.runner.summary import COLORS, INK, smooth

    shown = ("calls", "right answers")
    figure = Figure(figsize=(10, 3.6), dpi=110, layout="constrained")
    panels = figure.subplots(1, len(shown))
    by_reward = groupby(sorted(runs, key=_reward), key=_reward)
    for color, (reward, group) in zip(COLORS, by_reward, strict=False):
        courses = [course(run) for run in group]
        for axes, name in zip(panels, shown, strict=True):
            each = [one[name] for one in courses]
            for values in each:
                axes.plot(smooth(values, SMOOTHING_STEPS), color=color, linewidth=0.8, alpha=0.4)
            means = [sum(step) / len(step) for step in zip(*each, strict=False)]
            axes.plot(smooth(means, SMOOTHING_STEPS), color=color, linewidth=2.2, label=reward)
    for axes, title in zip(panels, ("calls per completion", "share of right answers"), strict=True):
        axes.set_title(title, fontsize=11, color=INK)
        axes.set_xlabel("step")
        axes.set_ylim(bottom=0)
        axes.grid(axis="y", color="#e6e6e6")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False)
    figure.savefig(path)


def _reward(run: Path) -> str:
    return run.name.rpartition("-")[0]


if __name__ == "__main__":
    main()
