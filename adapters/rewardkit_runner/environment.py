"""The environment of a run, set up before torch loads: packages, environment variables, and the process's rank."""

from __future__ import annotations

import importlib.util
import os

from rewardkit.core.errors import MissingExtraError

PACKAGES = (
    "torch",
    "transformers",
    "trl",
    "datasets",
    "rich",
    "matplotlib",
    "pyarrow",
    "duckdb",
    "filelock",
    "fsspec",
    "ruamel",
)

VARIABLES = {
    "TOKENIZERS_PARALLELISM": "false",
    # Threads that spin while they wait take the cores of other processes.
    "OMP_WAIT_POLICY": "PASSIVE",
}


def prepare(*, processes: int = 1) -> None:
    """Check the packages and set environment variables that are not set.

    Raises:
        MissingExtraError: a package of the extra ``train`` is not installed.
    """
    missing = [package for package in PACKAGES if importlib.util.find_spec(package) is None]
    if missing:
        raise MissingExtraError.of(f"Training (it needs {', '.join(missing)})", "train")
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
    if processes == 1 and not is_launched():
        # One process would spread its model over all visible GPUs, and only one of them would work at a time. To use
        # several GPUs for a large model, set CUDA_VISIBLE_DEVICES.
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")


def is_launched() -> bool:
    """Return whether a launcher (accelerate, torchrun) started this process."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def is_main() -> bool:
    """Return whether this is the main process, which prints."""
    return int(os.environ.get("RANK", "0")) == 0


def has_gpu() -> bool:
    """Return whether torch can use an accelerator."""
    import torch

    return bool(torch.cuda.is_available() or torch.accelerator.is_available())
