"""What a run settles before torch loads: the packages, the environment, and which process of several this is."""

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
    # Threads that wait without spinning do not fight other processes for a shared core.
    "OMP_WAIT_POLICY": "PASSIVE",
}


def prepare(*, processes: int = 1) -> None:
    """Checks the packages and sets the environment; what the user has set already stays.

    Raises:
        MissingExtraError: a package of the extra ``train`` is not installed.
    """
    missing = [package for package in PACKAGES if importlib.util.find_spec(package) is None]
    if missing:
        raise MissingExtraError.of(f"Training (it needs {', '.join(missing)})", "train")
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
    if processes == 1 and not is_launched():
        # One process would spread its model over all visible GPUs, of which one works at a time. Who has a model that
        # fits on no single one names several.
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")


def is_launched() -> bool:
    """Whether a launcher (accelerate, torchrun) started this process as one of its own."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def is_main() -> bool:
    """Whether this is the process that speaks to the user."""
    return int(os.environ.get("RANK", "0")) == 0


def has_gpu() -> bool:
    """Whether there is an accelerator that torch can use."""
    import torch

    return bool(torch.cuda.is_available() or torch.accelerator.is_available())
