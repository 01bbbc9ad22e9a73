"""Out of memory: what to change, in the numbers of this run.

A batch of 16 rows that is added up over 4 passes becomes one of 8 over 8: the same training, half the activations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from rewardkit_runner.configuration.config import RunConfig

_WORDS = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "memory for the cache",
    "free memory on device",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory is what was missing, on the GPU, in the machine, or for vLLM's cache."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, (RuntimeError, ValueError)) and any(word in str(error).lower() for word in _WORDS)


def advice(config: RunConfig, args: Any) -> list[str]:
    """What would need less memory, the mildest first, as lines of the configuration.

    Args:
        args: the GRPOConfig as it was.
    """
    return list(_advised(config, args))


def _advised(config: RunConfig, args: Any) -> Iterator[str]:
    batch, passes = args.per_device_train_batch_size, args.gradient_accumulation_steps
    length = args.max_completion_length
    if config.vllm is not None and config.vllm.get("mode") == "colocate":
        share = args.vllm_gpu_memory_utilization
        yield f"vllm: {{gpu_memory_utilization: {max(0.1, share / 2):.2g}}}  (is {share:g}: vLLM's share of the GPU)"
        if not args.vllm_enable_sleep_mode:
            yield "vllm: {enable_sleep_mode: true}  (vLLM gives its memory back while the model learns)"
    if batch > 1:
        half, more = (batch // 2, passes * 2) if batch % 2 == 0 else (1, passes * batch)
        yield (
            f"grpo: {{per_device_train_batch_size: {half}, gradient_accumulation_steps: {more}}}  "
            f"(are {batch} and {passes}: the same training, less at a time)"
        )
    if not args.gradient_checkpointing:
        yield "grpo: {gradient_checkpointing: true}  (activations are computed again instead of kept: a fifth slower)"
    if not (args.bf16 or args.fp16) and torch.cuda.is_available():
        yield "grpo: {bf16: true}  (half the activations)"
    if length is not None and length > 64:
        yield f"grpo: {{max_completion_length: {length // 2}}}  (is {length}: shorter completions, where they fit)"
    if config.lora is None:
        yield "lora: true  (no optimizer state and no gradients but for a small adapter)"
    elif config.quantize is None and torch.cuda.is_available():
        yield "quantize: 4bit  (a quarter of the model's weights)"
    if args.beta:
        yield f"grpo: {{beta: 0.0}}  (is {args.beta:g}: without it no reference model is kept)"
