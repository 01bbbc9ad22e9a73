"""A run's environment, set up before torch is loaded: packages, environment variables, and the process's rank."""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from rewardkit.errors import MissingExtraError

# Hide deprecation warnings and progress bars of the libraries that the runner uses.


_NO_NEWS = (
    # lm_head shares its weights with the embeddings, so every checkpoint lacks it.
    "missing keys in the checkpoint model loaded: ['lm_head.weight']",
    # Checkpoints are sorted by the step in their name instead.
    "mtime may not be reliable",
)


@contextmanager
def quiet() -> Iterator[None]:
    """Hide libraries' warnings, messages, and progress bars (except for downloads) inside the `with` block."""
    import warnings

    from huggingface_hub.utils.tqdm import enable_progress_bars
    from transformers.utils import logging as bars

    loggers = [logging.getLogger(f"transformers.{name}") for name in ("trainer", "trainer_utils")]
    had_bars = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    if is_main():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # HF_HUB_DISABLE_PROGRESS_BARS=1 has priority, and warns
            enable_progress_bars()
    for logger in loggers:
        logger.addFilter(_is_news)
    try:
        with warnings.catch_warnings():
            for category in (FutureWarning, DeprecationWarning):
                warnings.simplefilter("ignore", category)
            warnings.filterwarnings("ignore", "You are using 'environment_factory'")
            yield
    finally:
        for logger in loggers:
            logger.removeFilter(_is_news)
        if had_bars:
            bars.enable_progress_bar()


def _is_news(record: logging.LogRecord) -> bool:
    return not any(phrase in record.getMessage() for phrase in _NO_NEWS)


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
    # Threads that spin while they wait take CPU time from other processes.
    "OMP_WAIT_POLICY": "PASSIVE",
}


def prepare(*, processes: int = 1) -> None:
    """Check that the packages are installed, and set default values for environment variables.

    Raises:
        MissingExtraError: a package from the extra ``train`` is not installed.
    """
    missing = [package for package in PACKAGES if importlib.util.find_spec(package) is None]
    if missing:
        raise MissingExtraError.of(f"training (missing: {', '.join(missing)})", "train")
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
    if processes == 1 and not is_launched():
        # A single process would spread the model over all visible GPUs, and only one of them would work at a time. To
        # use several GPUs for a large model, set CUDA_VISIBLE_DEVICES.
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")


def is_launched() -> bool:
    """Return whether a launcher (accelerate, torchrun) started this process."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def is_main() -> bool:
    """Return whether this is the main process, the only one that prints."""
    return int(os.environ.get("RANK", "0")) == 0


def has_gpu() -> bool:
    """Return whether torch can use an accelerator."""
    import torch

    return bool(torch.cuda.is_available() or torch.accelerator.is_available())
