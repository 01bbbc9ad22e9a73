"""The demo's picture: components, the total with the terms that make it up, and the scheduled weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rewardkit_trl.demo import metrics
from rewardkit_trl.demo.metrics import Metrics

# Okabe and Ito's colours: they stay apart for colour-blind eyes. Black is the total's.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
INK, FAINT = "#222222", "#8a8a8a"
SMOOTHING_STEPS = 7


def draw(history: Sequence[Metrics], before: float, after: float, path: Path) -> None:
    """Save the picture of a training; `before` and `after` are the held-out totals around it."""
    figure = Figure(figsize=(10, 10), dpi=150, layout="constrained")
    top, middle, bottom = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 1.3))
    colors = _colors(history)
    _draw_components(top, history, colors)
    _draw_total(middle, history, colors, before, after)
    _draw_weights(bottom, history, colors)
    bottom.set_xlabel("training step")
    for axes in (top, middle, bottom):
        _dress(axes, len(history))
    figure.suptitle(
        f"Reward on held-out prompts: {before:.2f} before, {after:.2f} after {len(history)} steps of GRPO",
        fontsize=14,
        fontweight="bold",
        color=INK,
    )
    figure.savefig(path, bbox_inches="tight", pad_inches=0.25)


def smooth(values: Sequence[float], width: int = SMOOTHING_STEPS) -> NDArray[np.float64]:
    """The mean over a window centred on each value; at the ends the window is what there is."""
    line = np.asarray(values, dtype=np.float64)
    kernel = np.ones(min(width, len(line)))
    counts = np.convolve(np.ones_like(line), kernel, mode="same")
    return np.asarray(np.convolve(line, kernel, mode="same") / counts)


def _colors(history: Sequence[Metrics]) -> dict[str, str]:
    """One colour per name, whether it stands for a component, for its term or for its weight."""
    # The terms first: they come in the order of the tree, the others by the alphabet.
    readers = (metrics.terms, metrics.components, metrics.weights)
    names = dict.fromkeys(name for reader in readers for row in history for name in reader(row))
    return {name: COLORS[place % len(COLORS)] for place, name in enumerate(names)}


def _draw_components(axes: Any, history: Sequence[Metrics], colors: dict[str, str]) -> None:
    lines = metrics.series([metrics.components(row) for row in history])
    for name in (name for name in colors if name in lines):
        steps, values = lines[name]
        axes.plot(steps, values, color=colors[name], linewidth=0.9, alpha=0.4)
        axes.plot(steps, smooth(values), color=colors[name], linewidth=2.2, label=name)
    for name, (steps, values) in metrics.series([metrics.gates(row) for row in history]).items():
        axes.plot(steps, smooth(values), color=FAINT, linewidth=1.8, linestyle=(0, (4, 2)), label=f"gate open: {name}")
    axes.set_title("Components: raw mean over the sampled completions that reach them")
    axes.set_ylim(-0.02, 1.05)


def _draw_total(axes: Any, history: Sequence[Metrics], colors: dict[str, str], before: float, after: float) -> None:
    steps = np.arange(1, len(history) + 1)
    floor = np.zeros(len(history))
    shares = [metrics.terms(row) for row in history]
    for name in dict.fromkeys(name for row in shares for name in row):
        ceiling = floor + smooth([row.get(name, 0.0) for row in shares])
        axes.fill_between(steps, floor, ceiling, color=colors[name], alpha=0.45, linewidth=0, label=name)
        floor = ceiling
    totals = [row["reward"] for row in history]
    axes.plot(steps, totals, color=INK, linewidth=0.9, alpha=0.4)
    axes.plot(steps, smooth(totals), color=INK, linewidth=2.4, label="total")
    axes.plot(
        [0, len(history) + 1],
        [before, after],
        linestyle="none",
        marker="o",
        markersize=9,
        markerfacecolor="white",
        markeredgecolor=INK,
        markeredgewidth=2,
        clip_on=False,
        zorder=5,
        label="held-out, greedy",
    )
    axes.set_title("Total: what each term adds to it")
    axes.set_ylim(bottom=min(0.0, *totals, before, after))


def _draw_weights(axes: Any, history: Sequence[Metrics], colors: dict[str, str]) -> None:
    for name, (steps, values) in metrics.series([metrics.weights(row) for row in history]).items():
        if min(values) < max(values):
            axes.plot(steps, values, color=colors[name], linewidth=2.2, label=name)
    axes.set_title("Scheduled weight")
    axes.set_ylim(bottom=0.0)
    axes.margins(y=0.15)


def _dress(axes: Any, steps: int) -> None:
    axes.set_xlim(-1, steps + 2)
    axes.title.set(fontsize=11, color=INK, ha="left", x=0.0)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors="#555555")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=10)
