"""A GRPO training of seconds: a random model with a few thousand weights that writes letters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import (
    CLIPImageProcessor,
    CLIPVisionConfig,
    LlamaConfig,
    LlamaForCausalLM,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)
from trl import GRPOConfig, GRPOTrainer

LETTERS = "abcdefgh"
PROMPTS = ["ab", "ba", "cd", "dc", "ef", "fe", "gh", "hg"]


def tokenizer() -> Any:
    vocabulary = {token: number for number, token in enumerate(["<pad>", "<eos>", *LETTERS])}
    letters = Tokenizer(WordLevel(vocabulary, unk_token="<pad>"))
    letters.pre_tokenizer = Split("", "isolated")
    inputs = ["input_ids", "attention_mask"]
    return PreTrainedTokenizerFast(
        tokenizer_object=letters, pad_token="<pad>", eos_token="<eos>", model_input_names=inputs
    )


def model() -> Any:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=2 + len(LETTERS),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


TEMPLATE = """{% for message in messages %}{% if message.content is string %}{{ message.content }}{% else %}
{% for part in message.content %}{{ "<image>" if part.type == "image" else part.text }}{% endfor %}{% endif %}
{% endfor %}"""


def writer_of(texts: list[str], *, sees: bool = False) -> dict[str, Any]:
    """Return a model and a processing class for `trainer` that write one of `texts` per token, to chat prompts.

    Args:
        sees: take prompts with images, as LLaVA does.
    """
    torch.manual_seed(0)
    special = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    words = [*special.values(), "<image>", *dict.fromkeys(texts)]
    whole = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    tokens = PreTrainedTokenizerFast(
        tokenizer_object=whole,
        extra_special_tokens={"image_token": "<image>"},
        chat_template=TEMPLATE,
        model_input_names=["input_ids", "attention_mask"],
        **special,
    )
    size = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2}
    ids = {"pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
    text = LlamaConfig(vocab_size=len(words), num_hidden_layers=1, num_key_value_heads=2, **size, **ids)
    if not sees:
        return {"model": LlamaForCausalLM(text), "processing_class": tokens}
    vision = CLIPVisionConfig(num_hidden_layers=2, image_size=8, patch_size=4, projection_dim=16, **size)
    config = LlavaConfig(vision_config=vision, text_config=text, image_token_id=3, vision_feature_layer=-1, **ids)
    processor = LlavaProcessor(
        CLIPImageProcessor(size={"shortest_edge": 8}, crop_size={"height": 8, "width": 8}),
        tokens,
        patch_size=4,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE,
        num_additional_image_tokens=1,
    )
    return {"model": LlavaForConditionalGeneration(config), "processing_class": processor}


def dataset(rows: int = 8) -> Any:
    prompts = [PROMPTS[row % len(PROMPTS)] for row in range(rows)]
    return Dataset.from_dict({"prompt": prompts, "answer": [str(row % 5) for row in range(rows)]})


def trainer(
    out: Path,
    functions: list[Any],
    *,
    callbacks: Any = None,
    eval_rows: int = 0,
    given: Any = None,
    **options: Any,
) -> Any:
    """A trainer on one thread of the CPU; 2 prompts with 4 generations a batch, 4 tokens each.

    Args:
        given: what GRPOTrainer takes instead of the model, data and tokenizer here, or besides.
        options: of GRPOConfig.
    """
    torch.set_num_threads(1)
    settings: dict[str, Any] = {
        "per_device_train_batch_size": 8,
        "per_device_eval_batch_size": 8,
        "num_generations": 4,
        "max_completion_length": 4,
        "max_steps": 3,
        "learning_rate": 1e-3,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": [],
        "disable_tqdm": True,
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "seed": 1,
    }
    parts: dict[str, Any] = {
        "model": model(),
        "reward_funcs": functions,
        "args": GRPOConfig(str(out), **(settings | options)),
        "train_dataset": dataset(32),
        "eval_dataset": dataset(eval_rows) if eval_rows else None,
        "processing_class": tokenizer(),
        "callbacks": callbacks,
    }
    return GRPOTrainer(**(parts | (given or {})))
