"""Hide the deprecation warnings and progress bars of the libraries below."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_NO_NEWS = (
    # lm_head shares its weights with the embeddings, so every checkpoint lacks it.
    "missing keys in the checkpoint model loaded: ['lm_head.weight']",
    # Checkpoints are sorted by the step in their name instead.
    "mtime may not be reliable",
)


@contextmanager
def quiet() -> Iterator[None]:
    """Hide them inside the `with` block."""
    import warnings

    from transformers.utils import logging as bars

    loggers = [logging.getLogger(f"transformers.{name}") for name in ("trainer", "trainer_utils")]
    had_bars = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
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
    return not any(said in record.getMessage() for said in _NO_NEWS)
