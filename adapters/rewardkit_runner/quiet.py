"""Keeps from the screen what the libraries underneath say of their own future, and their bars beside ours."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_NO_NEWS = (
    # Another name of the embeddings, which is missing in every checkpoint.
    "missing keys in the checkpoint model loaded: ['lm_head.weight']",
    # Old checkpoints are told from new ones by the step in their name, which is as good.
    "mtime may not be reliable",
)


@contextmanager
def quiet() -> Iterator[None]:
    """While it lasts."""
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
            yield
    finally:
        for logger in loggers:
            logger.removeFilter(_is_news)
        if had_bars:
            bars.enable_progress_bar()


def _is_news(record: logging.LogRecord) -> bool:
    return not any(said in record.getMessage() for said in _NO_NEWS)
