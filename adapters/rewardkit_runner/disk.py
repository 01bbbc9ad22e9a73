"""Recognize a full disk as the cause of an error. Torch reports one as ``unexpected pos 401280 vs 401168``."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT)
_WORDS = ("no space left", "disk quota exceeded", "unexpected pos", "pytorchstreamwriter failed")
_LITTLE = 16 * 2**20


def is_out_of_space(error: BaseException, folder: Path) -> bool:
    """Return whether `error` means that the disk of `folder` is full."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    said = any(word in str(error).lower() for word in _WORDS)
    return (
        said and not isinstance(error, OSError) and (_free(folder) < _LITTLE or "no space left" in str(error).lower())
    )


def _free(folder: Path) -> int:
    """Return the free bytes; 0 if unknown."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0
