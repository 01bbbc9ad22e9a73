"""Addresses of data: local paths, and what fsspec reads (``s3://bucket/data/*.parquet``).

``expanded("data/*.jsonl")`` lists the files; ``with opened("s3://bucket/a.jsonl") as file`` reads one as bytes.
"""

from __future__ import annotations

import glob
import os
from typing import IO, Any

from rewardkit.core.errors import DataError, MissingExtraError


def is_remote(address: str) -> bool:
    """Whether fsspec reads it."""
    return "://" in address


def ending(address: str) -> str:
    """Return the suffix in lower case: ``".parquet"``."""
    return os.path.splitext(address)[1].lower()


def opened(address: str) -> IO[bytes]:
    """Open a file for reading bytes.

    Raises:
        MissingExtraError: fsspec, which reads addresses, is not installed.
        OSError: there is no such file.
    """
    if not is_remote(address):
        return open(address, "rb")
    system, path = _system(address)
    file: IO[bytes] = system.open(path, "rb")
    return file


def size_of(address: str) -> int:
    """Return the size of a file in bytes; raise what `opened` raises."""
    if not is_remote(address):
        return os.stat(address).st_size
    system, path = _system(address)
    return int(system.size(path))


def expanded(address: str) -> list[str]:
    """Return the addresses that a pattern (``*``, ``?``, ``[...]``) matches, sorted; without one, the address itself.

    Raises:
        DataError: no file matches.
    """
    if not glob.has_magic(address) or (not is_remote(address) and os.path.exists(address)):
        return [address]
    if is_remote(address):
        system, path = _system(address)
        found = [system.unstrip_protocol(one) for one in system.glob(path)]
    else:
        found = glob.glob(address, recursive=True)
    if not found:
        raise DataError(f"no file matches {address}")
    return sorted(found)


def _system(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingExtraError.of(f"reading {address}", "store") from error
    try:
        system, path = url_to_fs(address)
    except (ImportError, ValueError) as error:  # no package for s3://, or no such protocol
        raise DataError(f"{address} cannot be read: {error}") from None
    return system, path
