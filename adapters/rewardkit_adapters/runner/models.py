"""A run's model: the model that TRL loads, its tokenizer and adapter, and checkpoints to evaluate.

For ``model: Qwen/Qwen2.5-0.5B-Instruct`` with ``lora: true``, these are the model name, its tokenizer, and a
LoraConfig.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoProcessor, AutoTokenizer

from rewardkit.errors import ConfigError, MissingExtraError
from rewardkit_adapters.runner import gguf
from rewardkit_adapters.runner.config import TINY, RunConfig, anchored, is_local, located
from rewardkit_adapters.runner.environment import has_gpu
from rewardkit_adapters.runner.folder import START
from rewardkit_adapters.runner.progress import shown_progress

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Loaded:
    """The model and its parts, as the trainer expects them.

    Attributes:
        model: the name or folder from which TRL loads the model, or the model itself.
        tokenizer: the tokenizer with the configured chat template.
        peft_config: the configuration for the adapter to train, or None if all weights are trained.
        arguments: keyword arguments for from_pretrained.
        quantization: a BitsAndBytesConfig, or None for no quantization.
        parameters: the number of model parameters, or None if unknown before the model is loaded.
    """

    model: Any
    tokenizer: Any
    peft_config: Any
    arguments: dict[str, Any]
    quantization: Any
    parameters: int | None


def model_of(
    config: RunConfig,
    *,
    checkpoint: Path | None = None,
    to_generate: bool = False,
    console: Console | None = None,
) -> Loaded:
    """Return the model that a configuration specifies.

    Args:
        checkpoint: a folder with trained weights, or with an adapter.
        to_generate: whether to load the model here instead of in the trainer. With `checkpoint`, the model is always
            loaded here.
        console: the console for the progress of the tiny model's warm-up.

    Raises:
        ConfigError: the model does not exist or cannot be loaded.
        MissingExtraError: bitsandbytes, peft, or vLLM is needed but not installed.
    """
    _check_installed(config)
    convert(config, console)
    name = str(_tiny(config, console)) if config.model.name == TINY else config.model_name()
    arguments = _arguments(config)
    quantization = _quantization(config)
    tokenizer = _tokenizer(config, name, checkpoint)
    if checkpoint is not None or to_generate:
        model = _to_generate(name, checkpoint, arguments, quantization)
        return Loaded(model, tokenizer, None, arguments, quantization, model.num_parameters())
    return Loaded(name, tokenizer, _adapter(config), arguments, quantization, _parameters(config, name))


def convert(config: RunConfig, console: Console | None) -> None:
    """Convert the model's GGUF file, if the model has one that was not converted before.

    Raises:
        ConfigError: there is no such file or package, or transformers cannot read the file.
        MissingExtraError: the package gguf is not installed.
    """
    file = config.gguf_file()
    if file is not None:
        gguf.converted(file, config.model.package, console)


def start_of(config: RunConfig) -> Path:
    """Return the folder with the tiny model before training."""
    return config.output_path() / START


def _check_installed(config: RunConfig) -> None:
    requirements = {
        "peft": ("lora", config.lora is not None),
        "bitsandbytes": ("quantize", config.quantize is not None),
        "vllm": ("vllm", config.vllm is not None),
    }
    for package, (key, is_needed) in requirements.items():
        if is_needed and find_spec(package) is None:
            alternative = ", or write vllm: null to generate with transformers" if package == "vllm" else ""
            raise MissingExtraError(
                f"{key} needs {package}, which is not installed: pip install {package}{alternative}"
            )


def _tiny(config: RunConfig, console: Console | None) -> Path:
    """Return the folder with the tiny model, which the main process creates."""
    from accelerate import PartialState

    from rewardkit_adapters.runner.tiny.make import make_tiny

    folder = start_of(config)
    with PartialState(cpu=not has_gpu()).main_process_first():
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            steps = config.model.warm_up_steps or 0
            if console and steps:
                console.print(f"Building the tiny model: {steps} supervised steps, so that GRPO has a model to improve")
            progress = shown_progress(console, "warm start", steps) if console and steps else nullcontext(_unseen)
            with progress as on_step:
                make_tiny(
                    folder,
                    seed=config.seed,
                    steps=steps,
                    chat_template=_template(config),
                    on_step=on_step,
                    size=config.model.size or "small",
                )
    return folder


def _unseen(numbers: Any, *, speed: str = "") -> None:
    pass


def _arguments(config: RunConfig) -> dict[str, Any]:
    """Return the keyword arguments for from_pretrained."""
    dtype: str = config.model.dtype
    if dtype == "auto" and (config.lora is None or not has_gpu()):
        # If all weights are trained, 16 bits would round away the small steps of GRPO: half the spacing of bfloat16
        # near 0.02 is 6e-5, and a step of Adam is about the learning rate. Activations may still be bf16.
        dtype = "float32"
    keywords = {
        "dtype": dtype,
        "revision": config.model.revision,
        "attn_implementation": config.model.attention,
        "trust_remote_code": config.model.trust_remote_code or None,
    }
    return {name: value for name, value in keywords.items() if value is not None} | config.model.arguments


def _quantization(config: RunConfig) -> Any:
    if config.quantize is None:
        return None
    from transformers import BitsAndBytesConfig

    if config.quantize == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


def _adapter(config: RunConfig) -> Any:
    if config.lora is None:
        return None
    from peft import LoraConfig

    try:
        return LoraConfig(**{"task_type": "CAUSAL_LM"} | config.lora)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"lora: peft rejects these settings: {error}") from error


def _tokenizer(config: RunConfig, name: str, checkpoint: Path | None) -> Any:
    tokenizer_name = config.model.tokenizer
    source, revision = (
        (name, config.model.revision) if tokenizer_name is None else (anchored(tokenizer_name, config.base), None)
    )
    if checkpoint is not None and (checkpoint / "tokenizer_config.json").is_file():
        # A checkpoint needs the tokenizer with which it was trained.
        source, revision = str(checkpoint), None
    common = {"revision": revision, "trust_remote_code": config.model.trust_remote_code, "padding_side": "left"}
    with _explain_errors("tokenizer", source):
        # As in TRL: for a model with image input, this is a processor.
        loader = AutoProcessor if tokenizer_name is None and config.model.name != TINY else AutoTokenizer
        tokenizer = loader.from_pretrained(source, **common)
    inner = getattr(tokenizer, "tokenizer", tokenizer)
    if inner.pad_token is None:
        inner.pad_token = inner.eos_token
    if (template := _template(config)) is not None:
        tokenizer.chat_template = template
    return tokenizer


def _template(config: RunConfig) -> str | None:
    """Return the chat template, which is read from a file if the setting specifies one."""
    template = config.model.chat_template
    if template is None or not is_local(template, config.base):
        return template
    path = located(template, config.base)
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"model.chat_template: cannot read {path}: {error.strerror or error}") from None


def _parameters(config: RunConfig, name: str) -> int | None:
    """Return the number of parameters without loading the weights, or None if unknown."""
    try:
        revision, trusted = config.model.revision, config.model.trust_remote_code
        model_config = AutoConfig.from_pretrained(name, revision=revision, trust_remote_code=trusted)
        with torch.device("meta"):
            return int(AutoModelForCausalLM.from_config(model_config, trust_remote_code=trusted).num_parameters())
    except Exception:  # e.g. the model has custom code; loading it reports real problems
        return None


def _to_generate(name: str, checkpoint: Path | None, arguments: dict[str, Any], quantization: Any) -> Any:
    """Load the model for generation, with the weights or the adapter from `checkpoint`."""
    keywords = dict(arguments)
    if quantization is not None:
        keywords["quantization_config"] = quantization
    is_adapter = checkpoint is not None and (checkpoint / "adapter_config.json").exists()
    source = name if checkpoint is None or is_adapter else str(checkpoint)
    if source != name:
        keywords.pop("revision", None)
    with _explain_errors("model", source):
        model = AutoModelForCausalLM.from_pretrained(source, **keywords)
        if is_adapter:
            from peft import PeftModel

            model = PeftModel.from_pretrained(model, str(checkpoint))
    if has_gpu() and quantization is None and "device_map" not in keywords:
        model = model.to(torch.accelerator.current_accelerator())
    return model.eval()


@contextmanager
def _explain_errors(part: str, source: str) -> Iterator[None]:
    """Raise a ConfigError with a single sentence if the `with` block cannot load the `part` of the model."""
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        first_line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ConfigError(f"cannot load the {part} {source}: {first_line[:300]}") from error
