"""The tiny model and its tokenizer."""

from __future__ import annotations

import torch

from rewardkit_adapters.runner.tiny.make import demonstrations
from rewardkit_adapters.runner.tiny.model import SIZES, build_model, train_tokenizer

PAIRS = demonstrations(400, seed=0)
TOKENIZER = train_tokenizer([text for pair in PAIRS for text in pair])


def test_texts_survive_the_tokenizer() -> None:
    for prompt, completion in PAIRS[:50]:
        for text in (prompt, completion):
            assert TOKENIZER.decode(TOKENIZER(text)["input_ids"]) == text


def test_an_answer_is_short() -> None:
    lengths = [len(TOKENIZER(completion)["input_ids"]) for _, completion in PAIRS]
    assert sorted(lengths)[len(lengths) // 2] <= 25


def test_one_seed_makes_one_model() -> None:
    models = []
    for _ in range(2):
        torch.manual_seed(7)
        models.append(build_model(TOKENIZER, SIZES["small"]))
    for first, second in zip(models[0].parameters(), models[1].parameters(), strict=True):
        assert torch.equal(first, second)
