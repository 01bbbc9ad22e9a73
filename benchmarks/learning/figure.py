"""Draw held-out exact match of every arm with its interval, and the training curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.learning.registry import EXPERIMENTS
from benchmarks.learning.report import Record, cells, held_out
from benchmarks.learning.statistics import estimate
from rewardkit_adapters.runner.summary import COLORS, FAINT, INK, smooth

MAIN_ARMS = ("binary", "flat", "partial", "gate", "moving gate", "adaptive gate", "time", "adaptive")
COLOR_OF = dict(zip(MAIN_ARMS, ("#222222", *COLORS[:6], "#8c6d31"), strict=True))
PROXY_COLOR = "#b03060"


def draw(records: Sequence[Record], tasks: Sequence[str], path: Path) -> None:
    """Save the figure: one column per task, held-out scores above, training curves below."""
    figure = Figure(figsize=(5.2 * len(tasks), 9), dpi=130, layout="constrained")
    panels = figure.subplots(2, len(tasks), squeeze=False, height_ratios=(1.15, 1))
    for column, task in enumerate(tasks):
        arms = cells(records, task)
        proxied = "proxy" in EXPERIMENTS[task].task.watched
        _draw_scores(panels[0][column], task, arms, legend=proxied or not column)
        _draw_curves(panels[1][column], arms)
        if proxied:
            _draw_naive(panels[1][column], arms)
    panels[1][0].set_ylabel("exact match of the sampled completions")
    lines = dict(zip(*reversed(panels[1][0].get_legend_handles_labels()), strict=True))
    shown = [arm for arm in MAIN_ARMS if arm in lines]
    figure.legend([lines[arm] for arm in shown], shown, loc="outside lower center", ncols=len(MAIN_ARMS), frameon=False)
    figure.suptitle(
        "Held-out greedy exact match by arm (mean, 95 % interval over seeds), and training curves",
        fontsize=14,
        fontweight="bold",
        color=INK,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, bbox_inches="tight", pad_inches=0.2)


def _draw_scores(axes: Any, task: str, arms: Mapping[str, Mapping[int, Record]], *, legend: bool) -> None:
    proxied = "proxy" in EXPERIMENTS[task].task.watched
    for row, (arm, cell) in enumerate(arms.items()):
        values = list(held_out(cell).values())
        color = COLOR_OF.get(arm, "#666666")
        found = estimate(values)
        axes.plot(values, [row] * len(values), "o", color=color, alpha=0.3, markersize=5, linewidth=0)
        # A share lies between 0 and 1, so the interval is clipped to that range.
        low, high = max(found.mean - found.margin, 0.0), min(found.mean + found.margin, 1.0)
        axes.plot([low, high], [row, row], color=color, linewidth=2.2)
        axes.plot([found.mean], [row], "o", color=color, markersize=9, label="exact match" if not row else None)
        if proxied:
            proxy = estimate(list(held_out(cell, "proxy").values()))
            label = "the naive reward" if not row else None
            axes.plot([proxy.mean], [row + 0.28], "D", color=PROXY_COLOR, markersize=5, label=label)
    longest: Mapping[int, Record] = max(arms.values(), key=len, default={})
    for warm in [estimate([record["before"]["exact"] for record in longest.values()])] if longest else []:
        axes.axvline(warm.mean, color=FAINT, linestyle=(0, (4, 3)), linewidth=1.3, label="warm start", zorder=0)
    axes.set_yticks(range(len(arms)), list(arms))
    axes.invert_yaxis()
    axes.set_xlim(-0.03, 1.03)
    axes.set_title(EXPERIMENTS[task].task.title, loc="left", fontsize=12, color=INK)
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.8)
    if legend:
        axes.legend(loc="center left", bbox_to_anchor=(0.06, 0.5), fontsize=9)
    _dress(axes)


def _draw_curves(axes: Any, arms: Mapping[str, Mapping[int, Record]]) -> None:
    for arm in MAIN_ARMS:
        curves = [record["curves"]["exact"] for record in arms.get(arm, {}).values()]
        if curves:
            mean = np.mean(np.asarray(curves, dtype=np.float64), axis=0)
            axes.plot(np.arange(1, len(mean) + 1), smooth(mean), color=COLOR_OF[arm], linewidth=2, label=arm)
    axes.set_xlabel("training step")
    axes.set_ylim(-0.03, 1.03)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    _dress(axes)


def _draw_naive(axes: Any, arms: Mapping[str, Mapping[int, Record]]) -> None:
    """Draw the naive reward when training on it ("flat"), and when training on the honest reward ("binary")."""
    for arm, style in (("flat", "dashed"), ("binary", "dotted")):
        curves = [record["curves"]["proxy"] for record in arms.get(arm, {}).values()]
        if curves:
            mean = smooth(np.mean(np.asarray(curves, dtype=np.float64), axis=0))
            label = f"the naive reward under {arm!r}"
            axes.plot(np.arange(1, len(mean) + 1), mean, color=PROXY_COLOR, linewidth=1.8, linestyle=style, label=label)
    handles, labels = axes.get_legend_handles_labels()
    naive = [place for place, label in enumerate(labels) if label.startswith("the naive")]
    axes.legend([handles[place] for place in naive], [labels[place] for place in naive], loc="lower right", fontsize=9)


def _dress(axes: Any) -> None:
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors="#555555")
