"""The GRPOConfig of a run: what the configuration says, over what follows from the device and the size of the model."""

from __future__ import annotations

from typing import Any

import torch
from trl import GRPOConfig

from rewardkit_trl.runner.configuration.arguments import vllm_arguments
from rewardkit_trl.runner.configuration.config import RunConfig
from rewardkit_trl.runner.configuration.faults import ConfigError
from rewardkit_trl.runner.folder import CHECKPOINTS
from rewardkit_trl.runner.surroundings import has_gpu

LARGE = 100_000_000
"""Parameters from which on activations are recomputed instead of kept, on a GPU."""


def grpo_config(
    config: RunConfig, *, parameters: int | None, model_arguments: dict[str, Any], reward_weights: list[float] | None
) -> GRPOConfig:
    """What GRPOTrainer is given.

    Args:
        parameters: of the model; None where nobody knows, which counts as many.
        model_arguments: keywords of from_pretrained.
        reward_weights: of the reward functions; None for all 1.

    Raises:
        ConfigError: TRL refuses a setting.
    """
    gpu = has_gpu()
    by_device = {
        "bf16": gpu and torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        "use_cpu": not gpu,
        "dataloader_pin_memory": gpu,
        "gradient_checkpointing": gpu and (parameters is None or parameters > LARGE),
        # A batch of evaluation must hold whole groups.
        "per_device_eval_batch_size": config.grpo.get("num_generations_eval") or config.grpo.get("num_generations", 8),
        "disable_tqdm": True,
    }
    if config.grpo.get("fp16"):
        del by_device["bf16"]
    own = {
        "output_dir": str(config.output_path() / CHECKPOINTS),
        "seed": config.seed,
        "report_to": config.report_to or "none",
        "model_init_kwargs": model_arguments,
        "trust_remote_code": config.model.trust_remote_code,
        "reward_weights": reward_weights,
        **vllm_arguments(config.vllm),
    }
    if config.eval is not None and config.eval.every is not None:
        own |= {"eval_strategy": "steps", "eval_steps": config.eval.every}
    try:
        return GRPOConfig(**by_device | config.grpo | own)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"TRL refuses the settings under grpo: {error}") from error
