"""What the demo settles before torch loads: nothing from the network, nothing chatty, as many threads as are free."""

from __future__ import annotations

import importlib.util
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

PACKAGES = (
    "torch",
    "transformers",
    "trl",
    "datasets",
    "tokenizers",
    "rich",
    "matplotlib",
    "pyarrow",
    "duckdb",
    "fsspec",
)

VARIABLES = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    # Threads that wait without spinning do not fight other processes for a shared core.
    "OMP_WAIT_POLICY": "PASSIVE",
    # With more than one visible GPU the trainer would spread this tiny model over all of them.
    "CUDA_VISIBLE_DEVICES": "0",
    # Reproducible matrix products on a GPU.
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
}
MOST_THREADS_FOR_SMALL = 2


def prepare() -> None:
    """Check the packages and set the environment; what the user has set already stays."""
    missing = [package for package in PACKAGES if importlib.util.find_spec(package) is None]
    if missing:
        from rewardkit.core.errors import MissingExtraError

        raise MissingExtraError.of(f"The demo (it trains with {', '.join(missing)})", "demo")
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)


def free_threads(size: str) -> int:
    """As many threads as there are idle cores, at least one.

    Threads that share a core with other work slow each other down badly, and the smallest model has no
    work for more than two. The number does not change the result, only the time.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    idle = max(1, round(cores - load))
    return min(idle, MOST_THREADS_FOR_SMALL) if size == "small" else idle


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the warnings, log lines and bars of the libraries underneath; everything shown is the demo's own."""
    import datasets
    import transformers

    chatty = [logging.getLogger(name) for name in ("trl", "accelerate", "torch")]
    levels = [logger.level for logger in chatty]
    verbosity = transformers.logging.get_verbosity()
    had_bars = transformers.logging.is_progress_bar_enabled(), not datasets.are_progress_bars_disabled()
    for logger in chatty:
        logger.setLevel(logging.ERROR)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    datasets.disable_progress_bars()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(chatty, levels, strict=True):
            logger.setLevel(level)
        transformers.logging.set_verbosity(verbosity)
        if had_bars[0]:
            transformers.logging.enable_progress_bar()
        if had_bars[1]:
            datasets.enable_progress_bars()
