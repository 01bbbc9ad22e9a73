"""Code between the steps of a training that must not move its random generators."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def same_draws() -> Iterator[None]:
    """Restore the random generators of Python, NumPy and torch after the ``with`` block."""
    torch = sys.modules.get("torch")
    python, array = random.getstate(), np.random.get_state()
    held = None if torch is None else torch.get_rng_state()
    on_gpu = torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized()
    of_gpus = torch.cuda.get_rng_state_all() if torch is not None and on_gpu else None
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(array)
        if torch is not None:
            torch.set_rng_state(held)
        if torch is not None and of_gpus is not None:
            torch.cuda.set_rng_state_all(of_gpus)
