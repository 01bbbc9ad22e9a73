"""A tiny language model with random weights and a tokenizer of characters, made on the spot."""

from __future__ import annotations

import string
from pathlib import Path

import torch

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def make_model(folder: Path) -> None:
    """Write a Qwen2 of 80,000 random weights whose tokens are characters."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    tokens = [*SPECIAL, *string.printable]
    letters = Tokenizer(models.WordLevel({token: place for place, token in enumerate(tokens)}, unk_token=SPECIAL[0]))
    letters.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    letters.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=letters,
        eos_token=SPECIAL[2],
        pad_token=SPECIAL[0],
        additional_special_tokens=[SPECIAL[1]],
        clean_up_tokenization_spaces=False,
    )
    config = Qwen2Config(
        vocab_size=len(tokens),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    tokenizer.save_pretrained(folder)
    Qwen2ForCausalLM(config).save_pretrained(folder)
