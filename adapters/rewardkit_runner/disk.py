"""A full disk: whether that is what ended a training. Torch says of it ``unexpected pos 401280 vs 401168``."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT)
_WORDS = ("no space left", "disk quota exceeded", "unexpected pos", "pytorchstreamwriter failed")
_LITTLE = 16 * 2**20


def is_out_of_space(error: BaseException, folder: Path) -> bool:
    """Whether `folder` has no room for what was being written there."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    said = any(word in str(error).lower() for word in _WORDS)
    return (
        said and not isinstance(error, OSError) and (_free(folder) < _LITTLE or "no space left" in str(error).lower())
    )


def _free(folder: Path) -> int:
    """Bytes; 0 where nobody knows."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0
