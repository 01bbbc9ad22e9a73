"""Compare finished runs on the held-out prompts: a table with an interval over the seeds, and a plot.

python cookbook/instructions/compare.py runs/naive-1 runs/naive-2 runs/naive-3 runs/gated-1 ... --plot plot.png
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from reward import answers

import rewardkit as rk

Rates = dict[str, float]
RATES = ("followed, trained kinds", "followed, other kinds", "answers", "success")
T_95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78}
"""The number of seeds -> the quantile of Student's t distribution for a 95% interval."""
SMOOTHING_STEPS = 9


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of runs, named after the reward and the seed")
    parser.add_argument("--plot", type=Path, help="write a plot of the training to this file")
    options = parser.parse_args(arguments)
    runs = sorted(options.runs, key=_reward)
    print(table(runs))
    if options.plot is not None:
        plot(runs, options.plot)


def rates(run: Path, when: str) -> Rates:
    """Return the rates of a run's held-out completions ``before`` or ``after`` training, scored again."""
    rows = json.loads((run / "evaluation.json").read_text(encoding="utf-8"))["rows"]
    completions = [row[when]["completions"][0] for row in rows]
    columns: Any = {name: [row["columns"][name] for row in rows] for name in rows[0]["columns"]}
    share = rk.score(rk.instructions(), completions, **columns).total
    answered = rk.score(answers, completions, **columns).total
    trained = [bool(row["columns"]["trained"]) for row in rows]
    return {
        "followed, trained kinds": _mean([one for one, kind in zip(share, trained, strict=True) if kind]),
        "followed, other kinds": _mean([one for one, kind in zip(share, trained, strict=True) if not kind]),
        "answers": _mean(answered),
        "success": _mean([float(one == 1.0 and two == 1.0) for one, two in zip(share, answered, strict=True)]),
    }


def table(runs: Sequence[Path]) -> str:
    """Return the mean rates of each reward before and after training, and the change with its 95% interval."""
    lines = [f"| reward, seeds | {' | '.join(RATES)} |", "|---" * (len(RATES) + 1) + "|"]
    for reward, group in groupby(runs, key=_reward):
        pairs = [(rates(run, "before"), rates(run, "after")) for run in group]
        cells = []
        for name in RATES:
            before, after = (_mean([pair[index][name] for pair in pairs]) for index in (0, 1))
            cells.append(f"{before:.2f} to {after:.2f}{_interval([b[name] - a[name] for a, b in pairs])}")
        lines.append(f"| {reward}, {len(pairs)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def plot(runs: Sequence[Path], path: Path) -> None:
    """Draw the training: a line for each reward, the mean over its seeds."""
    from matplotlib.figure import Figure

    from rewardkit_adapters.runner.summary import COLORS, INK, smooth

    components = {"instructions": "instructions followed", "answers": "answers", "success": "success"}
    figure = Figure(figsize=(10, 3.2), dpi=110, layout="constrained")
    panels = figure.subplots(1, len(components))
    for color, (reward, group) in zip(COLORS, groupby(runs, key=_reward), strict=False):
        courses = [_course(run, list(components)) for run in group]
        for axes, name in zip(panels, components, strict=True):
            curves = [course[name] for course in courses]
            for curve in curves:
                axes.plot(smooth(curve, SMOOTHING_STEPS), color=color, linewidth=0.8, alpha=0.4)
            means = [_mean(step) for step in zip(*curves, strict=False)]
            axes.plot(smooth(means, SMOOTHING_STEPS), color=color, linewidth=2.2, label=reward)
    for axes, title in zip(panels, components.values(), strict=True):
        axes.set_title(title, fontsize=11, color=INK)
        axes.set_xlabel("step", color=INK)
        axes.set_ylim(0, 1)
        axes.grid(alpha=0.25)
    panels[0].legend(frameon=False)
    figure.savefig(path)


def _course(run: Path, components: Sequence[str]) -> dict[str, list[float]]:
    """Return the mean of each component for each training step. A closed gate counts as missing."""
    columns = ", ".join(f'avg("components/{name}")' for name in components)
    query = f"select {columns} from scores where training group by step order by step"
    rows = rk.open_run(run).sql(query).fetchall()
    curves = zip(*rows, strict=True)
    return {
        name: [math.nan if value is None else value for value in curve]
        for name, curve in zip(components, curves, strict=True)
    }


def _reward(run: Path) -> str:
    return run.name.rpartition("-")[0]


def _mean(values: Any) -> float:
    return float(sum(values) / len(values)) if len(values) else math.nan


def _interval(changes: Sequence[float]) -> str:
    if len(changes) not in T_95:
        return ""
    error = T_95[len(changes)] * np.std(changes, ddof=1) / math.sqrt(len(changes))
    return f" ({np.mean(changes):+.2f} ± {error:.2f})"


if __name__ == "__main__":
    main()
