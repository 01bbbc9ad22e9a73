"""Advice after an out-of-memory error, with this run's numbers.

For example, a batch of 16 rows with 4 accumulation steps becomes 8 rows with 8 steps. Training stays the same, but
activations need half the memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from rewardkit_adapters.runner.config import RunConfig

_WORDS = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "memory for the cache",
    "free memory on device",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether `error` indicates that the GPU, the machine, or vLLM's cache ran out of memory."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, (RuntimeError, ValueError)) and any(word in str(error).lower() for word in _WORDS)


def advice(config: RunConfig, args: Any) -> list[str]:
    """Return settings that save memory, starting with the least drastic change, as lines for the configuration.

    Args:
        args: the run's GRPOConfig.
    """
    return list(_advised(config, args))


def _advised(config: RunConfig, args: Any) -> Iterator[str]:
    batch, passes = args.per_device_train_batch_size, args.gradient_accumulation_steps
    length = args.max_completion_length
    if config.vllm is not None and config.vllm.get("mode") == "colocate":
        share = args.vllm_gpu_memory_utilization
        # Arbitrary: with less than a tenth of the GPU, vLLM has no room for its cache.
        yield f"vllm: {{gpu_memory_utilization: {max(0.1, share / 2):.2g}}}  (now {share:g}: vLLM's share of the GPU)"
        if not args.vllm_enable_sleep_mode:
            yield "vllm: {enable_sleep_mode: true}  (vLLM frees its memory while the model learns)"
    if batch > 1:
        smaller_batch, more_passes = (batch // 2, passes * 2) if batch % 2 == 0 else (1, passes * batch)
        yield (
            f"grpo: {{per_device_train_batch_size: {smaller_batch}, gradient_accumulation_steps: {more_passes}}}  "
            f"(now {batch} and {passes}: the same training in smaller steps)"
        )
    if not args.gradient_checkpointing:
        yield "grpo: {gradient_checkpointing: true}  (recomputes activations instead of keeping them: about 20% slower)"
    if not (args.bf16 or args.fp16) and torch.cuda.is_available():
        yield "grpo: {bf16: true}  (half the activations)"
    # Arbitrary: below this length, shorter completions would hardly help.
    if length is not None and length > 64:
        yield f"grpo: {{max_completion_length: {length // 2}}}  (now {length}, only if shorter completions are enough)"
    if config.lora is None:
        yield "lora: true  (gradients and optimizer state only for a small adapter)"
    elif config.quantize is None and torch.cuda.is_available():
        yield "quantize: 4bit  (a quarter of the model's weights)"
    if args.beta:
        yield f"grpo: {{beta: 0.0}}  (now {args.beta:g}: 0 needs no reference model)"
