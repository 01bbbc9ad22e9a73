"""Check that batch sizes are divisible, and compute the numbers of completions, prompts, steps, and epochs.

With 8 completions per device, 2 processes, and 4 steps per generation, 64 completions are generated at once. With
``num_generations: 8``, they belong to 8 prompts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from rewardkit_adapters.runner.config import TINY, RunConfig
from rewardkit_adapters.runner.environment import quiet
from rewardkit_adapters.runner.preflight.findings import Finding, Table


@cache
def _defaults() -> Mapping[str, Any]:
    """Return GRPOConfig's defaults without creating an instance, because its own checks stop at the first error."""
    import dataclasses

    from trl import GRPOConfig

    return {field.name: field.default for field in dataclasses.fields(GRPOConfig)}


def grpo_settings(config: RunConfig) -> dict[str, Any]:
    """Return all GRPOConfig fields, with the run's values or the defaults."""
    return {**_defaults(), **config.grpo}


@dataclass(frozen=True)
class Batches:
    """The numbers of completions and steps in a training run.

    Attributes:
        per_device: the number of sequences in one forward pass in a process.
        processes: the number of processes.
        accumulation: the number of micro-batches in one optimizer step.
        slices: the number of micro-batches in one generation (``steps_per_generation``).
        iterations: the number of times that each generation is trained on (``num_iterations``).
        generations: the number of completions per prompt.
        rows: the number of rows in the dataset.
        max_steps: the number of optimizer steps, or -1 for the number that `epochs` requires.
        epochs: the number of passes over the data.
    """

    per_device: int
    processes: int
    accumulation: int
    slices: int
    iterations: int
    generations: int
    rows: int
    max_steps: int
    epochs: float

    @property
    def generated(self) -> int:
        """The number of completions that all processes generate at once (``generation_batch_size``)."""
        return self.per_device * self.processes * self.slices

    @property
    def prompts(self) -> int:
        """The number of different prompts in one generation."""
        return self.generated // self.generations

    @property
    def generations_per_epoch(self) -> int:
        """The number of complete generations in one epoch. TRL drops the remaining rows."""
        return self.rows // self.prompts if self.prompts else 0

    @property
    def steps_per_epoch(self) -> int:
        return math.ceil(self.generations_per_epoch * self.slices * self.iterations / self.accumulation)

    @property
    def steps(self) -> int:
        """The number of optimizer steps in the whole training run."""
        return self.max_steps if self.max_steps > 0 else math.ceil(self.epochs * self.steps_per_epoch)

    @property
    def epochs_trained(self) -> float:
        return self.steps / self.steps_per_epoch if self.steps_per_epoch else 0.0

    @property
    def completions(self) -> int:
        """The number of completions that are generated and scored in the whole training run."""
        micro = self.steps * self.accumulation
        return math.ceil(micro / (self.slices * self.iterations)) * self.generated

    @property
    def aligned(self) -> int:
        """The number of optimizer steps after which both a step and a generation are complete."""
        return math.lcm(self.slices * self.iterations, self.accumulation) // self.accumulation


def batches_of(config: RunConfig, rows: int) -> tuple[Batches | None, list[Finding]]:
    """Return the numbers for the training run (None if the settings contradict each other) and the findings."""
    settings = grpo_settings(config)
    per_device, processes = int(settings["per_device_train_batch_size"]), config.processes
    errors = list(_impossible(settings, per_device * processes))
    if errors:
        return None, errors
    slices = settings["steps_per_generation"] or int(settings["gradient_accumulation_steps"])
    if settings["generation_batch_size"] is not None:
        slices = settings["generation_batch_size"] // (per_device * processes)
    batches = Batches(
        per_device=per_device,
        processes=processes,
        accumulation=int(settings["gradient_accumulation_steps"]),
        slices=int(slices),
        iterations=int(settings["num_iterations"]),
        generations=int(settings["num_generations"]),
        rows=rows,
        max_steps=int(settings["max_steps"]),
        epochs=float(settings["num_train_epochs"]),
    )
    errors = list(_indivisible(batches))
    return (None, errors) if errors else (batches, list(_batch_findings(batches, settings)))


def _impossible(settings: Mapping[str, Any], at_once: int) -> Iterator[Finding]:
    if settings["num_generations"] is None or settings["num_generations"] < 2:
        problem = f"num_generations is {settings['num_generations']}: GRPO compares the completions for a prompt"
        yield Finding("error", "grpo", problem, "write at least 2 (8 is usual)")
    for name in ("per_device_train_batch_size", "gradient_accumulation_steps", "num_iterations"):
        if settings[name] < 1:
            yield Finding("error", "grpo", f"{name} is {settings[name]}", "write at least 1")
    size, slices = settings["generation_batch_size"], settings["steps_per_generation"]
    if size is not None and slices is not None:
        problem = "generation_batch_size and steps_per_generation set the same value"
        yield Finding("error", "grpo", problem, "delete one of them")
    elif at_once > 0 and size is not None and (size < 1 or size % at_once):
        problem = (
            f"generation_batch_size is {size}, which is not a multiple of the {at_once} sequences in all processes"
        )
        nearest = max(1, round(size / at_once)) * at_once
        yield Finding("error", "grpo", problem, f"write {nearest}, or change per_device_train_batch_size")
    elif slices is not None and slices < 1:
        yield Finding("error", "grpo", f"steps_per_generation is {slices}", "write at least 1")


def _indivisible(batches: Batches) -> Iterator[Finding]:
    generated, generations = batches.generated, batches.generations
    if generated % generations:
        divisors = [number for number in range(2, generated + 1) if generated % number == 0]
        nearest = sorted(divisors, key=lambda number: abs(number - generations))[:2]
        alternative = f"num_generations: {' or '.join(map(str, sorted(nearest)))}, or " if nearest else ""
        per_device = _per_device(batches)
        yield Finding(
            "error",
            "grpo",
            f"{generated} completions are generated at once ({_product(batches)}), which is not a multiple of "
            f"num_generations {generations}",
            f"write {alternative}per_device_train_batch_size: {per_device}",
        )
    elif batches.rows < batches.prompts:
        yield Finding(
            "error",
            "grpo",
            f"one generation needs {batches.prompts} prompts ({generated} completions, {generations} for each "
            f"prompt), but the dataset has {batches.rows}: TRL would train 0 steps without an error",
            f"add rows, write per_device_train_batch_size: {max(1, batches.per_device // 2)} or less, or raise "
            "num_generations",
        )
    elif batches.steps < 1:
        yield Finding("error", "grpo", "the training run has no steps", "raise max_steps or num_train_epochs")


def _per_device(batches: Batches) -> int:
    """Return the nearest ``per_device_train_batch_size`` with which all groups are complete."""
    factor = batches.processes * batches.slices
    unit = batches.generations // math.gcd(batches.generations, factor)
    return max(1, round(batches.per_device / unit)) * unit


def _product(batches: Batches) -> str:
    parts = {
        "per_device_train_batch_size": batches.per_device,
        "processes": batches.processes,
        "steps_per_generation": batches.slices,
    }
    return " x ".join(f"{name} {number}" for name, number in parts.items())


def _batch_findings(batches: Batches, settings: Mapping[str, Any]) -> Iterator[Finding]:
    yield Finding(
        "fact",
        "batches",
        f"{batches.generated} completions at once ({_product(batches)}): {batches.prompts} prompts with "
        f"{batches.generations} each",
    )
    skipped_rows = batches.rows - batches.generations_per_epoch * batches.prompts
    yield Finding(
        "fact",
        "training",
        f"{batches.steps:,} steps, {batches.completions:,} completions, {batches.epochs_trained:.3g} epochs of "
        f"{batches.rows:,} prompts" + (f" (each epoch skips {skipped_rows}, at random)" if skipped_rows else ""),
    )
    every = settings["save_steps"]
    if settings["save_strategy"] == "steps" and every >= 1 and int(every) % batches.aligned:
        nearest = math.ceil(every / batches.aligned) * batches.aligned
        yield Finding(
            "fact",
            "checkpoints",
            f"every {nearest} steps instead of {every:g} (save_steps): one generation lasts {batches.aligned} steps, "
            "and a run that resumes within a generation is not continued exactly",
        )


def split_groups(batches: Batches, compares: bool) -> Iterator[Finding]:
    """Yield a finding if groups are split over processes although the reward compares their completions."""
    share = batches.per_device * batches.slices
    if compares and batches.processes > 1 and share % batches.generations:
        yield Finding(
            "warning",
            "grpo",
            f"the reward compares the {batches.generations} completions for a prompt, but each process has {share}: "
            "groups are split across processes, so one process scores all completions",
            f"set per_device_train_batch_size so that its product with {batches.slices} is a multiple of "
            f"{batches.generations}",
        )


# Check the sizes: the shape of the model from its config.json, and the length of the prompts in tokens.


@dataclass(frozen=True)
class Shape:
    """The shape of a model, without its weights.

    Attributes:
        parameters: the exact number of parameters.
        trainable: the number of trained parameters. With an adapter, only the adapter's parameters are counted.
        vocabulary: the number of logits per token.
        layers: the number of decoder layers.
        hidden, inner: the width of a layer, and the width of its MLP.
        cached: the number of KV cache values per token and layer.
        context: the maximum sequence length, or None if unknown.
        dtype: the data type of the saved weights, or "" if unknown.
    """

    parameters: int
    trainable: int
    vocabulary: int
    layers: int
    hidden: int
    inner: int
    cached: int
    context: int | None
    dtype: str


def shape_of(config: RunConfig) -> Shape | None:
    """Return the model's shape, or None if its config is not on this machine or needs custom code."""
    if config.model.name == TINY or config.model.trust_remote_code:
        return None
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    with suppress(Exception), quiet():  # real problems are reported when the model is loaded
        model_config = AutoConfig.from_pretrained(
            config.model_name(), revision=config.model.revision, local_files_only=True
        )
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(model_config)
            parameters = model.num_parameters()
            return _shape(model_config.get_text_config(), parameters, _trainable(model, config), model_config)
    return None


def _trainable(model: Any, config: RunConfig) -> int:
    if config.lora is not None:
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(**{"task_type": "CAUSAL_LM"} | config.lora))
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def _shape(text: Any, parameters: int, trainable: int, described: Any) -> Shape:
    heads = text.num_attention_heads
    size = getattr(text, "head_dim", None) or text.hidden_size // heads
    dtype = getattr(described, "dtype", None) or getattr(described, "torch_dtype", None)
    return Shape(
        parameters=int(parameters),
        trainable=int(trainable),
        vocabulary=int(text.vocab_size),
        layers=int(text.num_hidden_layers),
        hidden=int(text.hidden_size),
        # Models without this setting, such as GPT-2, use four times their width.
        inner=int(getattr(text, "intermediate_size", None) or 4 * text.hidden_size),
        cached=2 * int(getattr(text, "num_key_value_heads", None) or heads) * int(size),
        context=getattr(text, "max_position_embeddings", None),
        dtype=str(dtype or "").removeprefix("torch."),
    )


def lengths(config: RunConfig, table: Table, shape: Shape | None) -> tuple[int | None, list[Finding]]:
    """Return the number of tokens in the longest prompt (None if unknown), and the findings about lengths."""
    findings = list(_characters(table))
    tokenizer = _tokenizer(config)
    if tokenizer is None:
        return None, findings
    counts = [len(encoding.ids) for encoding in tokenizer.encode_batch(table.prompt_texts)]
    longest = max(counts)
    span = f"{min(counts):,} to {longest:,} tokens (median {median(counts):,.0f})"
    findings.append(Finding("fact", "prompts", f"{span}{_template_note(table)}"))
    answer = grpo_settings(config)["max_completion_length"]
    if shape is not None and shape.context is not None and answer is not None and longest + answer > shape.context:
        row = counts.index(longest)
        findings.append(
            Finding(
                "error",
                "grpo",
                f"the prompt in {table.location(row)} ({longest:,} tokens) and a completion of max_completion_length "
                f"{answer:,} exceed the model's context, {shape.context:,} tokens",
                "lower max_completion_length, or exclude long prompts with dataset.filter",
            )
        )
    return longest, findings


def _template_note(table: Table) -> str:
    return "" if isinstance(table.prompts[0], str) else ", without the chat template"


def _characters(table: Table) -> Iterator[Finding]:
    counts = [len(text) for text in table.prompt_texts]
    yield Finding(
        "fact",
        "data",
        f"{table.total:,} prompts of {min(counts):,} to {max(counts):,} characters (median {median(counts):,.0f})"
        + (f", {table.size:,} of them checked" if table.size < table.total else ""),
    )


def _tokenizer(config: RunConfig) -> Any:
    """Return the model's tokenizer if it is on this machine, or None otherwise."""
    from tokenizers import Tokenizer

    name = config.model.tokenizer or config.model_name()
    if config.model.name == TINY:
        return None
    path: Any = Path(name) / "tokenizer.json"
    with suppress(Exception):  # errors are reported when the run loads the tokenizer
        if not path.is_file():
            from huggingface_hub import try_to_load_from_cache

            path = try_to_load_from_cache(name, "tokenizer.json", revision=config.model.revision)
        return Tokenizer.from_file(str(path)) if isinstance(path, (str, Path)) else None
    return None
