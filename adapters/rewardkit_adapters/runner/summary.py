"""The summary of a run: ``summary.json``, the plot, and the facts that are printed at the start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rewardkit_adapters.runner import plot
from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.folder import PLOT, SUMMARY
from rewardkit_adapters.runner.held_out import write_json
from rewardkit_adapters.runner.metrics import Metrics
from rewardkit_adapters.runner.report import Evaluation


def save(
    output: Path,
    facts: Mapping[str, Any],
    history: Sequence[Metrics],
    evaluations: Mapping[str, Evaluation],
) -> dict[str, Path]:
    """Write the summary and the plot; return their paths.

    Args:
        facts: further entries of the summary: steps, seconds, the model, the device.
        history: the logged steps.
        evaluations: the results for the held-out prompts, ``before`` and ``after``; may be empty.
    """
    totals = {name: evaluation.total for name, evaluation in evaluations.items()}
    means = {
        name: {"total": evaluation.total, "unscorable": evaluation.unscorable, "components": evaluation.means}
        for name, evaluation in evaluations.items()
    }
    last = history[-1] if history else {}
    written = write_json(output / SUMMARY, {"finished": True, **facts, **means, "last_step": last})
    plot.draw(history, _known(totals.get("before")), _known(totals.get("after")), output / PLOT)
    return {"plot": output / PLOT, "summary": written}


def facts_of(config: RunConfig, trainer: Any, rows: int, held_out: Sequence[Any] | None) -> dict[str, str]:
    """Describe the run for the opening panel."""
    args = trainer.args
    each = args.per_device_train_batch_size * args.gradient_accumulation_steps * args.world_size // args.num_iterations
    length = f"{args.max_steps:,} steps" if args.max_steps > 0 else f"{args.num_train_epochs:g} epochs"
    precision = "bf16" if args.bf16 else "fp16" if args.fp16 else "float32"
    trained, parameters = _counted(trainer.model)
    model = f"{config.model.name}, {parameters / 1e6:,.2f} million parameters"
    if trained < parameters:
        model += f", {trained / 1e6:,.2f} of them trained (LoRA)"
    return {
        "reward": f"{config.reward.path}: {', '.join(trainer.reward_func_names)}",
        "model": model,
        "data": f"{rows:,} rows" + (f", {len(held_out):,} held out" if held_out is not None else ""),
        "training": f"{length} of {each:,} completions, {args.num_generations} of each prompt",
        "device": f"{_device(args)}, {precision}" + (f", {args.world_size} processes" if args.world_size > 1 else ""),
        "output": str(config.output),
    }


def numbers_of(config: RunConfig, model: Any, args: Any, state: Any) -> dict[str, Any]:
    """Return the facts of the summary."""
    trained, parameters = _counted(model)
    return {
        "steps": state.global_step,
        "epochs": state.epoch,
        "tokens": int(state.num_input_tokens_seen),
        "seed": config.seed,
        "model": config.model.name,
        "parameters": parameters,
        "trained_parameters": trained,
        "reward": config.reward.path,
        "device": _device(args),
        "processes": args.world_size,
        "versions": {name: version(name) for name in ("torch", "transformers", "trl")},
    }


def _counted(model: Any) -> tuple[int, int]:
    """Return the number of trained parameters and of all parameters."""
    sizes = [(parameter.requires_grad, parameter.numel()) for parameter in model.parameters()]
    return sum(size for trained, size in sizes if trained), sum(size for _, size in sizes)


def _device(args: Any) -> str:
    """Return ``cpu`` or the name of the GPU."""
    import torch

    return torch.cuda.get_device_name(args.device) if args.device.type == "cuda" else str(args.device.type)


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
