"""The estimate of memory against what a small model really takes on a CPU; lengths by a real tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset

from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.preflight.batches import Batches, Shape, lengths, shape_of
from rewardkit_adapters.runner.preflight.checks import memory, memory_of
from rewardkit_adapters.runner.preflight.findings import Table
from tests.adapters.runner.preflight import looked_at as rewards

BATCHES = Batches(
    per_device=4, processes=1, accumulation=2, slices=2, iterations=1, generations=8, rows=10, max_steps=5, epochs=1.0
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model's config and tokenizer without its weights."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import Qwen2Config

    path = tmp_path_factory.mktemp("model")
    Qwen2Config(
        vocab_size=500, hidden_size=64, intermediate_size=176, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128,
    ).save_pretrained(path)  # fmt: skip
    words = {"[unknown]": 0, "what": 1, "is": 2}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[unknown]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(path / "tokenizer.json"))
    return path


def config(folder: Path, **settings: Any) -> RunConfig:
    grpo = {"max_completion_length": 20, "gradient_checkpointing": False, **settings.pop("grpo", {})}
    given = {"reward": "r.py:r", "model": str(folder), "dataset": "d.jsonl", "grpo": grpo}
    return RunConfig.model_validate({**given, **settings})


def shape(config: RunConfig) -> Shape:
    found = shape_of(config)
    assert found is not None
    return found


def model(folder: Path) -> Any:
    from transformers import AutoConfig, AutoModelForCausalLM

    return AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder)).train()


def test_weights_gradients_optimizer_and_logits_are_what_torch_holds(folder: Path) -> None:
    import torch

    estimate = memory_of(config(folder), shape(config(folder)), BATCHES, prompt=10, gpu=False)
    real = model(folder)
    optimizer = torch.optim.AdamW(real.parameters())
    logits = real(torch.ones(4, 30, dtype=torch.long), logits_to_keep=21).logits
    logits.sum().backward()
    optimizer.step()
    states = [value for state in optimizer.state.values() for name, value in state.items() if name != "step"]
    assert estimate.weights == sum(one.nbytes for one in real.parameters())
    assert estimate.gradients == sum(one.grad.nbytes for one in real.parameters())
    assert estimate.optimizer == sum(one.nbytes for one in states)
    assert estimate.logits == 2 * logits.nbytes  # and its gradient


@pytest.mark.parametrize(("prompt", "answer"), [(12, 20), (100, 156)])
def test_what_layers_keep_for_their_gradients_is_about_right(folder: Path, prompt: int, answer: int) -> None:
    import torch

    small = config(folder, grpo={"max_completion_length": answer})
    estimate = memory_of(small, shape(small), BATCHES, prompt=prompt, gpu=False)
    real = model(folder)
    own = {one.untyped_storage().data_ptr() for one in real.parameters()}
    kept: dict[int, Any] = {}

    def keep(tensor: Any) -> Any:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output = real.model(torch.ones(4, prompt + answer, dtype=torch.long))
    measured = sum(one.untyped_storage().nbytes() for address, one in kept.items() if address not in own)
    assert output is not None
    assert 0.85 < estimate.activations / measured < 1.15


def test_weights_of_32_bits_are_copied_where_16_compute(folder: Path) -> None:
    import torch

    found = shape(config(folder))
    estimate = memory_of(config(folder), found, BATCHES, prompt=10, gpu=True)
    half = config(folder, lora=True, model={"name": str(folder), "dtype": "bfloat16"})
    assert memory_of(half, found, BATCHES, prompt=10, gpu=True).copies == 0.0
    real = model(folder)
    shapes = {tuple(sorted(one.shape)) for one in real.parameters() if one.dim() == 2}
    copies: dict[int, int] = {}

    def keep(tensor: Any) -> Any:
        if tensor.dtype == torch.bfloat16 and tuple(sorted(tensor.shape)) in shapes:
            copies[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with (
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
        torch.autocast("cpu", dtype=torch.bfloat16),
    ):
        output = real(torch.ones(4, 31, dtype=torch.long))
    assert output is not None
    assert 0.8 < sum(copies.values()) / estimate.copies <= 1.0  # all but the embeddings, which are looked up


def test_the_cache_is_what_generation_keeps(folder: Path) -> None:
    import torch

    estimate = memory_of(config(folder), shape(config(folder)), BATCHES, prompt=10, gpu=False)
    cache = model(folder)(torch.ones(8, 30, dtype=torch.long), use_cache=True).past_key_values
    assert estimate.cache == sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)


def test_an_adapter_is_counted_as_peft_makes_it(folder: Path) -> None:
    from peft import LoraConfig, get_peft_model

    adapted = config(folder, lora={"r": 4})
    real = get_peft_model(model(folder), LoraConfig(task_type="CAUSAL_LM", **adapted.lora or {}))
    found = shape(adapted)
    assert found.trainable == sum(one.numel() for one in real.parameters() if one.requires_grad)
    estimate = memory_of(adapted, found, BATCHES, prompt=10, gpu=True)
    assert estimate.optimizer == 8.0 * found.trainable
    assert estimate.reference == 0.0


@pytest.mark.parametrize(
    ("settings", "part", "share"),
    [
        ({"quantize": "4bit", "lora": True}, "weights", 0.55 / 4),
        ({"quantize": "8bit", "lora": True}, "weights", 1 / 4),
        ({"model": {"dtype": "bfloat16"}}, "weights", 1 / 2),
        ({"grpo": {"optim": "adamw_bnb_8bit"}}, "optimizer", 1 / 4),
        ({"grpo": {"use_liger_kernel": True}}, "logits", 0.0),
        ({"vllm": "colocate"}, "cache", 0.0),
    ],
)
def test_settings_change_their_part(folder: Path, settings: dict[str, Any], part: str, share: float) -> None:
    plain, changed = config(folder), config(folder, **{k: v for k, v in settings.items() if k != "model"})
    if "model" in settings:
        changed = changed.model_copy(update={"model": changed.model.model_copy(update=settings["model"])})
    found = shape(plain)
    before, after = (memory_of(one, found, BATCHES, prompt=10, gpu=False) for one in (plain, changed))
    assert getattr(after, part) == pytest.approx(share * getattr(before, part))


def test_a_reference_model_and_recomputing(folder: Path) -> None:
    found = shape(config(folder))
    anchored = memory_of(config(folder, grpo={"beta": 0.1}), found, BATCHES, prompt=10, gpu=False)
    assert anchored.reference == anchored.weights
    recomputed = config(folder, grpo={"gradient_checkpointing": True})
    plain = memory_of(config(folder), found, BATCHES, prompt=10, gpu=False)
    assert memory_of(recomputed, found, BATCHES, prompt=10, gpu=False).activations < plain.activations / 2


def test_it_is_said_with_its_formula_and_as_an_estimate(folder: Path) -> None:
    found = list(memory(config(folder), shape(config(folder)), BATCHES, 10))
    assert "an estimate" in found[0].what
    assert any(row.startswith("weights 0.00 GiB = ") and row.endswith("parameters x 4 bytes") for row in found[0].rows)
    (unknown,) = memory(config(Path("org/name")), None, BATCHES, 10)
    assert "config.json is not on this machine" in unknown.what
    tiny = RunConfig.model_validate({"reward": "r.py:r", "model": "tiny", "dataset": "d.jsonl"})
    assert shape_of(tiny) is None
    assert list(memory(tiny, None, BATCHES, 10)) == []


def test_a_model_that_is_not_here_has_no_shape() -> None:
    assert shape_of(config(Path("no-such-organization/no-such-model"))) is None


def test_prompts_are_measured_in_tokens_and_held_against_the_context(folder: Path) -> None:
    prompts = Table(Dataset.from_dict({"prompt": ["what is", "what is " * 60, "is"]}), rewards.number, "training")
    longest, found = lengths(config(folder), prompts, shape(config(folder)))
    assert longest == 120
    assert [finding.kind for finding in found] == ["fact", "fact", "error"]
    assert "1 to 120 tokens (median 2)" in found[1].what
    assert "the prompt in row 1 (120 tokens) and a completion of max_completion_length 20" in found[2].what
    assert "exceed the model's context, 128 tokens" in found[2].what
    short = Table(Dataset.from_dict({"prompt": ["what is"]}), rewards.number, "training")
    assert [finding.kind for finding in lengths(config(folder), short, shape(config(folder)))[1]] == ["fact", "fact"]
    assert lengths(config(Path("org/name")), short, None)[0] is None
