"""A run's summary: ``summary.json``, the plot, and the facts that are printed at the start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rewardkit_adapters.runner import metrics
from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.folder import PLOT, SUMMARY
from rewardkit_adapters.runner.held_out import write_json
from rewardkit_adapters.runner.metrics import Metrics
from rewardkit_adapters.runner.report import Evaluation

# Plot a training: the components, the total as a stack of its terms, and scheduled weights.


# The Okabe-Ito colors, which color-blind people can tell apart. Black is reserved for the total.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
INK, FAINT = "#222222", "#8a8a8a"
SMOOTHING_STEPS = 7
"""The width of the smoothing window in steps. The width is arbitrary, because the raw curve is also drawn, behind the
smooth one."""


def draw(history: Sequence[Metrics], before: float | None, after: float | None, path: Path) -> None:
    """Save the plot for a training run. `before` and `after` are the held-out totals, or None.

    `history` has one mapping per logged step, with at least ``step`` and ``reward``. It may be empty.
    """
    scheduled = _scheduled(history)
    heights = (3.0, 3.0, 1.3) if scheduled else (3.0, 3.0)
    figure = Figure(figsize=(10, 1.37 * sum(heights)), dpi=150, layout="constrained")
    panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    colors = _colors(history)
    _draw_components(panels[0], history, colors)
    _draw_total(panels[1], history, colors, before, after)
    if scheduled:
        _draw_weights(panels[2], scheduled, colors)
    panels[-1].set_xlabel("training step")
    last = history[-1]["step"] if history else 1.0
    for axes in panels:
        _style_axes(axes, last)
    figure.suptitle(_title(last, before, after), fontsize=14, fontweight="bold", color=INK)
    figure.savefig(path, bbox_inches="tight", pad_inches=0.25)


def _title(steps: float, before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return f"Reward over {steps:.0f} steps of GRPO"
    return f"Reward on held-out prompts: {before:.2f} before, {after:.2f} after {steps:.0f} steps of GRPO"


def smooth(values: Sequence[float], width: int = SMOOTHING_STEPS) -> NDArray[np.float64]:
    """Return the mean over a window around each value. The window is shorter at both ends."""
    line = np.asarray(values, dtype=np.float64)
    kernel = np.ones(min(width, len(line)))
    counts = np.convolve(np.ones_like(line), kernel, mode="same")
    return np.asarray(np.convolve(line, kernel, mode="same") / counts)


def _colors(history: Sequence[Metrics]) -> dict[str, str]:
    """Return one color per name. A component, its term, and its weight share a color."""
    # Terms first, because they are in tree order; the other names are in alphabetical order.
    readers = (metrics.terms, metrics.components, metrics.weights)
    names = dict.fromkeys(name for reader in readers for row in history for name in reader(row))
    return {name: COLORS[index % len(COLORS)] for index, name in enumerate(names)}


def _draw_components(axes: Any, history: Sequence[Metrics], colors: dict[str, str]) -> None:
    lines = metrics.series(history, metrics.components)
    for name in (name for name in colors if name in lines):
        steps, values = lines[name]
        axes.plot(steps, values, color=colors[name], linewidth=0.9, alpha=0.4)
        axes.plot(steps, smooth(values), color=colors[name], linewidth=2.2, label=name)
    for name, (steps, values) in metrics.series(history, metrics.gates).items():
        axes.plot(steps, smooth(values), color=FAINT, linewidth=1.8, linestyle=(0, (4, 2)), label=f"gate open: {name}")
    drawn_values = [value for _, values in lines.values() for value in values]
    axes.set_title("Components: mean raw score over the completions that reach them")
    # A margin, so that lines at 0 and 1 do not touch the frame.
    axes.set_ylim(
        min([-0.02, *(1.05 * value for value in drawn_values)]), max([1.05, *(1.05 * value for value in drawn_values)])
    )


def _draw_total(
    axes: Any, history: Sequence[Metrics], colors: dict[str, str], before: float | None, after: float | None
) -> None:
    steps = [row["step"] for row in history]
    shares = [metrics.terms(row) for row in history]
    # Positive terms are stacked upwards, negative ones downwards.
    floors = {True: np.zeros(len(history)), False: np.zeros(len(history))}
    for name in dict.fromkeys(name for row in shares for name in row):
        share = smooth([row.get(name, 0.0) for row in shares])
        is_positive = bool(share.sum() >= 0)
        ceiling = floors[is_positive] + share
        axes.fill_between(steps, floors[is_positive], ceiling, color=colors[name], alpha=0.45, linewidth=0, label=name)
        floors[is_positive] = ceiling
    totals = [row["reward"] for row in history]
    if history:
        axes.plot(steps, totals, color=INK, linewidth=0.9, alpha=0.4)
        axes.plot(steps, smooth(totals), color=INK, linewidth=2.4, label="total")
    held_out = [(step, value) for step, value in ((0.0, before), (max([0.0, *steps]) + 1, after)) if value is not None]
    if held_out:
        axes.plot(
            *zip(*held_out, strict=True),
            linestyle="none",
            marker="o",
            markersize=9,
            markerfacecolor="white",
            markeredgecolor=INK,
            markeredgewidth=2,
            clip_on=False,
            zorder=5,
            label="held-out",
        )
    axes.set_title("Total: contribution of each term")
    axes.set_ylim(bottom=min([0.0, *totals, *(value for _, value in held_out), *floors[False].tolist()]))


def _scheduled(history: Sequence[Metrics]) -> dict[str, tuple[list[float], list[float]]]:
    """Return the steps and weights for each component whose weight changes."""
    lines = metrics.series(history, metrics.weights)
    return {name: (steps, values) for name, (steps, values) in lines.items() if min(values) < max(values)}


def _draw_weights(axes: Any, lines: dict[str, tuple[list[float], list[float]]], colors: dict[str, str]) -> None:
    for name, (steps, values) in lines.items():
        axes.plot(steps, values, color=colors[name], linewidth=2.2, label=name)
    axes.set_title("Scheduled weight")
    axes.set_ylim(bottom=0.0)
    axes.margins(y=0.15)


def _style_axes(axes: Any, steps: float) -> None:
    axes.set_xlim(-1, steps + 2)
    axes.title.set(fontsize=11, color=INK, ha="left", x=0.0)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors="#555555")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=10)


def save(
    output: Path,
    facts: Mapping[str, Any],
    history: Sequence[Metrics],
    evaluations: Mapping[str, Evaluation],
) -> dict[str, Path]:
    """Write the summary and the plot, and return their paths.

    Args:
        facts: additional entries for the summary, such as steps, seconds, the model, and the device.
        history: the logged steps.
        evaluations: the results on the held-out prompts, ``before`` and ``after`` training. May be empty.
    """
    totals = {name: evaluation.total for name, evaluation in evaluations.items()}
    means = {
        name: {"total": evaluation.total, "unscorable": evaluation.unscorable, "components": evaluation.means}
        for name, evaluation in evaluations.items()
    }
    last = history[-1] if history else {}
    summary_path = write_json(output / SUMMARY, {"finished": True, **facts, **means, "last_step": last})
    draw(history, _none_if_nan(totals.get("before")), _none_if_nan(totals.get("after")), output / PLOT)
    return {"plot": output / PLOT, "summary": summary_path}


def facts_of(config: RunConfig, trainer: Any, rows: int, held_out: Sequence[Any] | None) -> dict[str, str]:
    """Return a description of the run for the opening panel, as a mapping from labels to text."""
    args = trainer.args
    step_completions = (
        args.per_device_train_batch_size * args.gradient_accumulation_steps * args.world_size // args.num_iterations
    )
    length = f"{args.max_steps:,} steps" if args.max_steps > 0 else f"{args.num_train_epochs:g} epochs"
    precision = "bf16" if args.bf16 else "fp16" if args.fp16 else str(trainer.model.dtype).removeprefix("torch.")
    trained, parameters = _counted(trainer.model)
    model = f"{config.model.title}, {parameters / 1e6:,.2f} million parameters"
    if trained < parameters:
        model += f", {trained / 1e6:,.2f} of them trained (LoRA)"
    return {
        "reward": f"{config.reward.path}: {', '.join(trainer.reward_func_names)}",
        "model": model,
        "data": f"{rows:,} rows" + (f", {len(held_out):,} held out" if held_out is not None else ""),
        "training": f"{length} of {step_completions:,} completions, {args.num_generations} for each prompt",
        "device": f"{_device(args)}, {precision}" + (f", {args.world_size} processes" if args.world_size > 1 else ""),
        "output": str(config.output),
    }


def numbers_of(config: RunConfig, model: Any, args: Any, state: Any) -> dict[str, Any]:
    """Return the facts for the summary."""
    trained, parameters = _counted(model)
    return {
        "steps": state.global_step,
        "epochs": state.epoch,
        "tokens": int(state.num_input_tokens_seen),
        "seed": config.seed,
        "model": config.model.title,
        "parameters": parameters,
        "trained_parameters": trained,
        "reward": config.reward.path,
        "device": _device(args),
        "processes": args.world_size,
        "versions": {name: version(name) for name in ("torch", "transformers", "trl")},
    }


def _counted(model: Any) -> tuple[int, int]:
    """Return the number of trained parameters and the total number of parameters."""
    sizes = [(parameter.requires_grad, parameter.numel()) for parameter in model.parameters()]
    return sum(size for trained, size in sizes if trained), sum(size for _, size in sizes)


def _device(args: Any) -> str:
    """Return the name of the GPU, or the device type, such as ``cpu``, if there is no GPU."""
    import torch

    return torch.cuda.get_device_name(args.device) if args.device.type == "cuda" else str(args.device.type)


def _none_if_nan(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
