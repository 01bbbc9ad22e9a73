"""Surroundings: packages that the settings need, and what lies in the output folder already."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from rewardkit_runner.configuration.config import RunConfig
from rewardkit_runner.preflight.findings import Finding

_TRACKERS = {"tensorboard": ("tensorboard", "tensorboardX"), "wandb": ("wandb",), "trackio": ("trackio",)}


def packages(config: RunConfig) -> Iterator[Finding]:
    """What is asked for and not installed."""
    wanted = {
        "lora": (config.lora is not None, ("peft",), ""),
        "quantize": (config.quantize is not None, ("bitsandbytes",), ""),
        "vllm": (config.vllm is not None, ("vllm",), "; or vllm: null, then transformers generates"),
        "model.attention": (config.model.attention == "flash_attention_2", ("flash_attn",), "; or sdpa"),
        "grpo.use_liger_kernel": (bool(config.grpo.get("use_liger_kernel")), ("liger_kernel",), ""),
        **{f"report_to {name}": (name in config.report_to, modules, "") for name, modules in _TRACKERS.items()},
    }
    for key, (asked, modules, instead) in wanted.items():
        if asked and all(find_spec(module) is None for module in modules):
            package = modules[0].replace("_", "-")
            yield Finding("error", key, f"needs {package}, which is not installed", f"pip install {package}{instead}")


def output(config: RunConfig) -> Iterator[Finding]:
    """A run that lies in the output folder already."""
    folder = config.output_path()
    steps = [
        int(path.name.rpartition("-")[2])
        for path in (folder / "checkpoints").glob("checkpoint-*")
        if path.name.rpartition("-")[2].isdigit()
    ]
    if steps:
        yield Finding("fact", "output", f"{config.output} holds a run with a checkpoint of step {max(steps)}")
    elif (folder / "run.json").is_file():
        yield Finding("fact", "output", f"{config.output} holds the record of a run without checkpoints")
