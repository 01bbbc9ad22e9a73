"""Estimate the GPU memory of one training process from the shape of the model.

Weights, gradients, optimizer state and logits are computed exactly; activations follow a rule measured on Llama-like
decoders with fused attention. Waste of the allocator is not included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rewardkit_runner.configuration.arguments import LARGE
from rewardkit_runner.configuration.config import RunConfig
from rewardkit_runner.preflight.batches import Batches, grpo_settings
from rewardkit_runner.preflight.findings import Finding
from rewardkit_runner.preflight.sizes import Shape

GIB = 2**30
_BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "8bit": 1.0, "4bit": 0.55}
_WIDTHS, _INNER = 11, 4
"""Activations of a layer per token: multiples of its width and of the width of its MLP."""


@dataclass(frozen=True)
class Memory:
    """Bytes of one process.

    Attributes:
        weights, gradients, optimizer, reference: allocated all the time.
        copies: 16-bit copies of 32-bit weights, during updates and generation.
        logits, activations: during updates.
        cache: during generation.
        how: the formula of each part, in words.
    """

    weights: float
    gradients: float
    optimizer: float
    reference: float
    copies: float
    logits: float
    activations: float
    cache: float
    how: dict[str, str] = field(default_factory=dict)

    @property
    def kept(self) -> float:
        return self.weights + self.gradients + self.optimizer + self.reference

    @property
    def peak(self) -> float:
        return self.kept + self.copies + max(self.logits + self.activations, self.cache)


def memory_of(config: RunConfig, shape: Shape, batches: Batches, prompt: int, gpu: bool) -> Memory:
    """Return the estimate.

    Args:
        prompt: tokens of the longest prompt.
        gpu: whether the run computes in 16 bits and recomputes activations.
    """
    given = grpo_settings(config)
    stored = config.quantize or _dtype(config, shape, gpu)
    trained = 4.0 if config.lora is not None else _BYTES[stored]
    working = 2.0 if gpu or given["bf16"] or given["fp16"] else 4.0
    answer = given["max_completion_length"] or 0
    tokens = batches.per_device * (prompt + answer)
    checkpointing = config.grpo.get("gradient_checkpointing", gpu and shape.parameters > LARGE)
    layer = tokens * (_WIDTHS * shape.hidden + _INNER * shape.inner) * working
    kept = tokens * shape.hidden * working * shape.layers + layer if checkpointing else layer * shape.layers
    copies = shape.parameters * working if working < _BYTES[stored] else 0.0
    reference = shape.parameters * _BYTES[stored] if given["beta"] and config.lora is None else 0.0
    per_state = 2.0 if "8bit" in str(given["optim"]) else 2 * trained
    liger = given["use_liger_kernel"]
    logits = 0.0 if liger else 2.0 * batches.per_device * (answer + 1) * shape.vocabulary * working
    cached = batches.per_device * batches.slices * (prompt + answer)
    return Memory(
        weights=shape.parameters * _BYTES[stored],
        gradients=shape.trainable * trained,
        optimizer=shape.trainable * per_state,
        reference=reference,
        copies=copies,
        logits=logits,
        activations=kept,
        cache=0.0 if config.vllm is not None else cached * shape.cached * shape.layers * working,
        how={
            "weights": f"{shape.parameters:,} parameters x {_BYTES[stored]:g} bytes",
            "gradients": f"{shape.trainable:,} trained x {trained:g}",
            "optimizer": f"{shape.trainable:,} x {per_state:g}",
            "reference": "a copy of the weights, because beta is above 0",
            "copies": f"{shape.parameters:,} parameters x {working:g}, in the precision of the computation",
            "logits": f"2 x {batches.per_device} x {answer + 1:,} tokens x {shape.vocabulary:,} x {working:g}",
            "activations": f"{tokens:,} tokens x {shape.layers} layers x {shape.hidden:,} wide"
            + (", recomputed" if checkpointing else ""),
            "cache": f"{cached:,} tokens x {shape.layers} layers x {shape.cached:,} x {working:g}",
        },
    )


def _dtype(config: RunConfig, shape: Shape, gpu: bool) -> str:
    """Return the dtype of the weights: as saved if an adapter is trained on a GPU, else float32."""
    if config.model.dtype != "auto":
        return config.model.dtype
    return shape.dtype if config.lora is not None and gpu and shape.dtype in _BYTES else "float32"


def memory(config: RunConfig, shape: Shape | None, batches: Batches, prompt: int | None) -> Iterator[Finding]:
    """Report the estimate with its formula, and warn if this GPU is too small."""
    if shape is None:
        if config.model.name != "tiny":
            yield Finding("fact", "memory", "not estimated, because the model's config.json is not on this machine yet")
        return
    import torch

    gpu = torch.cuda.is_available()
    # Without a GPU here, estimate for the GPU that the run will use.
    found = memory_of(config, shape, batches, prompt or 0, gpu=True)
    parts = {name: getattr(found, name) for name in found.how}
    said = [f"{name} {size / GIB:.2f} GiB = {found.how[name]}" for name, size in parts.items() if size]
    whole = f"about {found.peak / GIB:.1f} GiB per process on a GPU, an estimate that may be off by a third"
    if prompt is None:
        whole += " (without prompts, whose tokens are unknown)"
    yield Finding(
        "fact",
        "memory",
        f"{whole}: {found.kept / GIB:.1f} always, then the larger of updating and generating",
        rows=tuple(said),
    )
    there = torch.cuda.get_device_properties(0).total_memory if gpu else None
    if there is not None:
        own = float(grpo_settings(config)["vllm_gpu_memory_utilization"]) if _colocated(config) else 0.0
        if found.peak > there * (1 - own):
            beside = f", of which vLLM takes {own:.0%}" if own else ""
            yield Finding(
                "warning",
                "memory",
                f"the estimate is {found.peak / GIB:.1f} GiB, but the GPU has {there / GIB:.1f} GiB{beside}",
                "halve per_device_train_batch_size and double gradient_accumulation_steps, shorten "
                "max_completion_length, or write lora: true",
            )


def _colocated(config: RunConfig) -> bool:
    return config.vllm is not None and config.vllm.get("mode") == "colocate"
