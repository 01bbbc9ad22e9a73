"""Classifiers with a few hundred weights, and one whose logits can be computed by hand."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    PreTrainedTokenizerFast,
)

LETTERS = "abcdefghijklmnopqrstuvwxyz .?!<>|"
CHAT = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ["<pad>", "<unk>", "<|user|>", "<|assistant|>", "<|end|>"]


def tokenizer(chat: bool = False, pad: bool = True) -> Any:
    letters = Tokenizer(WordLevel({token: number for number, token in enumerate([*SPECIAL, *LETTERS])}, "<unk>"))
    letters.pre_tokenizer = Split("", "isolated")
    more = {"pad_token": "<pad>"} if pad else {}
    made = PreTrainedTokenizerFast(
        tokenizer_object=letters, unk_token="<unk>", eos_token="<|end|>", extra_special_tokens=SPECIAL[2:], **more
    )
    made.chat_template = CHAT if chat else None
    return made


class Counter(torch.nn.Module):
    """Its logit is the number of letters a in its input; it stores the texts and the shapes of its inputs."""

    def __init__(self, pad: int | None = 0, labels: int = 1) -> None:
        super().__init__()
        names = {0: "good"} if labels == 1 else {number: f"class {number}" for number in range(labels)}
        self.config = SimpleNamespace(pad_token_id=pad, max_position_embeddings=64, id2label=names)
        self.weight = torch.nn.Parameter(torch.ones(labels))
        self.seen: list[tuple[int, int]] = []
        self.texts: list[str] = []
        self.most = 10_000

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        self.seen.append(tuple(input_ids.shape))
        if len(input_ids) > self.most:
            raise torch.OutOfMemoryError("out of memory")
        names = [*SPECIAL, *LETTERS]
        for row, mask in zip(input_ids.tolist(), attention_mask.tolist(), strict=True):
            text = "".join(names[token] for token, kept in zip(row, mask, strict=True) if kept)
            self.texts += [text] * (text not in self.texts)
        count = ((input_ids == names.index("a")) & (attention_mask == 1)).sum(-1, keepdim=True)
        return SimpleNamespace(logits=count * self.weight)


def llama(**options: Any) -> Any:
    torch.manual_seed(0)
    return LlamaForSequenceClassification(_llama_config(**options))


def language_model() -> Any:
    torch.manual_seed(0)
    return LlamaForCausalLM(_llama_config())


def _llama_config(**options: Any) -> Any:
    settings = {
        "vocab_size": len(SPECIAL) + len(LETTERS),
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "max_position_embeddings": 64,
        "pad_token_id": 0,
        "eos_token_id": 4,
        "bos_token_id": None,
        "num_labels": 1,
    }
    return LlamaConfig(**(settings | options))


def bert() -> Any:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(SPECIAL) + len(LETTERS),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
        id2label={0: "bad", 1: "good"},
        label2id={"bad": 0, "good": 1},
    )
    return BertForSequenceClassification(config)


def saved(path: Path, model: Any, chat: bool = True) -> str:
    model.save_pretrained(path)
    tokenizer(chat).save_pretrained(path)
    return str(path)
