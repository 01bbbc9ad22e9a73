"""A run's GRPOConfig: the configured settings, and defaults that depend on the device and the model."""

from __future__ import annotations

import math
from typing import Any

import torch
from trl import GRPOConfig

from rewardkit.errors import ConfigError
from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.environment import has_gpu
from rewardkit_adapters.runner.folder import CHECKPOINTS
from rewardkit_adapters.runner.trl_arguments import LARGE, vllm_arguments


def grpo_config(
    config: RunConfig, *, parameters: int | None, model_arguments: dict[str, Any], reward_weights: list[float] | None
) -> GRPOConfig:
    """Return a run's GRPOConfig.

    Args:
        parameters: the number of model parameters. None means that it is unknown, in which case the model counts as
            large.
        model_arguments: the keyword arguments for from_pretrained.
        reward_weights: the weights for the reward functions, or None if all weights are 1.

    Raises:
        ConfigError: TRL rejects a setting.
    """
    gpu = has_gpu()
    by_device = {
        "bf16": gpu and torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        "use_cpu": not gpu,
        "dataloader_pin_memory": gpu,
        "gradient_checkpointing": gpu and (parameters is None or parameters > LARGE),
        # An evaluation batch must consist of whole groups.
        "per_device_eval_batch_size": config.grpo.get("num_generations_eval") or config.grpo.get("num_generations", 8),
        "disable_tqdm": True,
        # The search for unused parameters costs time and prints a warning.
        "ddp_find_unused_parameters": False if config.processes > 1 else None,
    }
    if config.grpo.get("fp16"):
        del by_device["bf16"]
    run_arguments = {
        "output_dir": str(config.output_path() / CHECKPOINTS),
        "seed": config.seed,
        "report_to": config.report_to or "none",
        "model_init_kwargs": model_arguments,
        "trust_remote_code": config.model.trust_remote_code,
        "reward_weights": reward_weights,
        **vllm_arguments(config.vllm),
    }
    if config.eval is not None and config.eval.every is not None:
        run_arguments |= {"eval_strategy": "steps", "eval_steps": config.eval.every}
    try:
        arguments = GRPOConfig(**by_device | config.grpo | run_arguments)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"grpo: TRL rejects these settings: {error}") from error
    if arguments.save_steps >= 1:
        # A run that resumes in the middle of a generation would not continue exactly as without the interruption.
        arguments.save_steps = math.ceil(arguments.save_steps / steps_of_generation(arguments)) * steps_of_generation(
            arguments
        )
    return arguments


def steps_of_generation(args: GRPOConfig) -> int:
    """Return the number of optimizer steps after which both a step and a generation are complete."""
    passes: int = args.gradient_accumulation_steps
    return math.lcm(args.steps_per_generation * args.num_iterations, passes) // passes
