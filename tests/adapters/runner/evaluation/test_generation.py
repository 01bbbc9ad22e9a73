"""Generating outside of training: independent of the batch, without a trace in what is drawn later."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("trl")
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from rewardkit.workers.random_state import preserved_rng
from rewardkit_adapters.runner.held_out import Sampling, generate
from rewardkit_adapters.runner.tiny.make import make_tiny

PROMPTS = ["send Mia 31 toys in red\n", "Tom\n", "order for Ada: red pens, 7 pieces\n", "Eva wants 2 red cups\n", "x\n"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    folder = tmp_path_factory.mktemp("tiny") / "start"
    make_tiny(folder, seed=3, steps=0, chat_template=None, on_step=lambda numbers, *, speed="": None)
    return AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


def greedy(batch: int = 16) -> Sampling:
    return Sampling({"max_new_tokens": 8, "do_sample": False}, batch)


def test_completions_do_not_depend_on_their_batch(made: tuple[Any, Any]) -> None:
    together, alone = (generate(*made, PROMPTS, greedy(batch)) for batch in (5, 1))
    assert together == alone
    assert all(0 < len(completion.ids) <= 8 for completion in together)


def test_a_conversation_of_one_line_is_the_prompt_of_the_warm_start(made: tuple[Any, Any]) -> None:
    said = [[{"role": "user", "content": prompt.strip()}] for prompt in PROMPTS]
    assert generate(*made, said, greedy()) == generate(*made, PROMPTS, greedy())


def test_what_comes_after_the_end_is_no_part_of_a_completion(made: tuple[Any, Any]) -> None:
    model, tokenizer = made
    sampled = Sampling({"max_new_tokens": 24, "do_sample": True, "temperature": 3.0})
    with preserved_rng(1):
        found = generate(model, tokenizer, PROMPTS * 8, sampled)
    ended = [completion for completion in found if len(completion.ids) < 24]
    assert ended
    for completion in ended:
        assert completion.ids.count(tokenizer.eos_token_id) == 1
        assert completion.ids[-1] == tokenizer.eos_token_id
        assert "<end>" not in completion.text


def test_the_mode_of_the_model_stays(made: tuple[Any, Any]) -> None:
    for training in (True, False):
        made[0].train(training)
        generate(*made, PROMPTS[:1], greedy())
        assert made[0].training is training


def test_preserved_rng_leaves_no_trace() -> None:
    def drawn() -> tuple[float, float, float]:
        return random.random(), float(np.random.random()), float(torch.rand(1))

    random.seed(5), np.random.seed(5), torch.manual_seed(5)
    expected = drawn()
    random.seed(5), np.random.seed(5), torch.manual_seed(5)
    with preserved_rng(9):
        inside = drawn()
    assert drawn() == expected
    with preserved_rng(9):
        assert drawn() == inside


def test_one_seed_makes_one_tiny_model(tmp_path: Path) -> None:
    states = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make_tiny(tmp_path / name, seed=seed, steps=1, chat_template=None, on_step=lambda numbers, *, speed="": None)
        states.append((tmp_path / name / "model.safetensors").read_bytes())
    assert states[0] == states[1] != states[2]
