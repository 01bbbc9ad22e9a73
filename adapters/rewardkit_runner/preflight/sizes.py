"""Check the sizes: the shape of the model, from its config.json, and the length of the prompts in tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rewardkit_runner.configuration.config import TINY, RunConfig
from rewardkit_runner.preflight.batches import grpo_settings
from rewardkit_runner.preflight.findings import Finding
from rewardkit_runner.preflight.table import Table


@dataclass(frozen=True)
class Shape:
    """The shape of a model, without its weights.

    Attributes:
        parameters: the exact number.
        trainable: parameters that are trained; with an adapter, only those of the adapter.
        vocabulary: logits of one token.
        layers: layers of the decoder.
        hidden, inner: the width of a layer, and of its MLP.
        cached: numbers in the cache per token and layer.
        context: the longest sequence; None if unknown.
        dtype: of the saved weights; empty if unknown.
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
    """Return the shape of a model whose config is on this machine; None for others and for models with own code."""
    if config.model.name == TINY or config.model.trust_remote_code:
        return None
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    with suppress(Exception):  # real problems show when the model is loaded
        described = AutoConfig.from_pretrained(
            config.model_name(), revision=config.model.revision, local_files_only=True
        )
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(described)
            parameters = model.num_parameters()
            return _shape(described.get_text_config(), parameters, _trainable(model, config), described)
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
        inner=int(getattr(text, "intermediate_size", None) or 4 * text.hidden_size),
        cached=2 * int(getattr(text, "num_key_value_heads", None) or heads) * int(size),
        context=getattr(text, "max_position_embeddings", None),
        dtype=str(dtype or "").removeprefix("torch."),
    )


def lengths(config: RunConfig, table: Table, shape: Shape | None) -> tuple[int | None, list[Finding]]:
    """Return the longest prompt in tokens (None: unknown) and the findings about lengths."""
    found = list(_characters(table))
    tokenizer = _tokenizer(config)
    if tokenizer is None:
        return None, found
    counts = [len(one.ids) for one in tokenizer.encode_batch(table.prompt_texts)]
    longest = max(counts)
    span = f"{min(counts):,} to {longest:,} tokens (median {median(counts):,.0f})"
    found.append(Finding("fact", "prompts", f"{span}{_without(table)}"))
    answer = grpo_settings(config)["max_completion_length"]
    if shape is not None and shape.context is not None and answer is not None and longest + answer > shape.context:
        row = counts.index(longest)
        found.append(
            Finding(
                "error",
                "grpo",
                f"the prompt of row {row} ({longest:,} tokens) and a completion of max_completion_length {answer:,} "
                f"exceed the context of the model, {shape.context:,} tokens",
                "lower max_completion_length, or exclude long prompts with dataset.filter",
            )
        )
    return longest, found


def _without(table: Table) -> str:
    return "" if isinstance(table.prompts[0], str) else ", without the chat template"


def _characters(table: Table) -> Iterator[Finding]:
    counts = [len(text) for text in table.prompt_texts]
    yield Finding(
        "fact",
        "data",
        f"{table.total:,} prompts of {min(counts):,} to {max(counts):,} characters (median {median(counts):,.0f})"
        + (f"; {table.size:,} of them were checked" if table.size < table.total else ""),
    )


def _tokenizer(config: RunConfig) -> Any:
    """Return the tokenizer of the model if it is on this machine."""
    from tokenizers import Tokenizer

    name = config.model.tokenizer or config.model_name()
    if config.model.name == TINY:
        return None
    path: Any = Path(name) / "tokenizer.json"
    with suppress(Exception):  # reported when it is loaded
        if not path.is_file():
            from huggingface_hub import try_to_load_from_cache

            path = try_to_load_from_cache(name, "tokenizer.json", revision=config.model.revision)
        return Tokenizer.from_file(str(path)) if isinstance(path, (str, Path)) else None
    return None
