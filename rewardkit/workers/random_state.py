"""Protection of this process's random generators from code that must not advance them: ``with preserved_rng():
...``."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def preserved_rng(seed: int | None = None) -> Iterator[None]:
    """Restore the random generators of Python, NumPy, and torch after the ``with`` block.

    Args:
        seed: the seed for all generators inside the block. By default, they continue from their current state.
    """
    torch = sys.modules.get("torch")
    python, array = random.getstate(), np.random.get_state()
    on_cpu = None if torch is None else torch.get_rng_state()
    has_gpus = torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized()
    on_gpus = torch.cuda.get_rng_state_all() if torch is not None and has_gpus else None
    if seed is not None:
        random.seed(seed)
        # NumPy accepts only 32-bit seeds.
        np.random.seed(seed % 2**32)
        if torch is not None:
            torch.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(array)
        if torch is not None:
            torch.set_rng_state(on_cpu)
        if torch is not None and on_gpus is not None:
            torch.cuda.set_rng_state_all(on_gpus)
