"""Check the environment: packages that the settings need, and an existing run in the output folder."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from rewardkit_runner.configuration.config import RunConfig
from rewardkit_runner.preflight.findings import Finding

_TRACKERS = {"tensorboard": ("tensorboard", "tensorboardX"), "wandb": ("wandb",), "trackio": ("trackio",)}


def packages(config: RunConfig) -> Iterator[Finding]:
    """Find packages that the settings need and that are not installed."""
    wanted = {
        "lora": (config.lora is not None, ("peft",), ""),
        "quantize": (config.quantize is not None, ("bitsandbytes",), ""),
        "vllm": (config.vllm is not None, ("vllm",), "; or write vllm: null to generate with transformers"),
        "model.attention": (config.model.attention == "flash_attention_2", ("flash_attn",), "; or write sdpa"),
        "grpo.use_liger_kernel": (bool(config.grpo.get("use_liger_kernel")), ("liger_kernel",), ""),
        **{f"report_to {name}": (name in config.report_to, modules, "") for name, modules in _TRACKERS.items()},
    }
    for key, (asked, modules, instead) in wanted.items():
        if asked and all(find_spec(module) is None for module in modules):
            package = modules[0].replace("_", "-")
            yield Finding("error", key, f"needs {package}, which is not installed", f"pip install {package}{instead}")


def output(config: RunConfig) -> Iterator[Finding]:
    """Report an existing run in the output folder."""
    folder = config.output_path()
    steps = [
        int(path.name.rpartition("-")[2])
        for path in (folder / "checkpoints").glob("checkpoint-*")
        if path.name.rpartition("-")[2].isdigit()
    ]
    if steps:
        yield Finding("fact", "output", f"{config.output} holds a run with a checkpoint at step {max(steps)}")
    elif (folder / "run.json").is_file():
        yield Finding("fact", "output", f"{config.output} holds the record of a run without checkpoints")
