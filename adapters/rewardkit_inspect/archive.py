"""content: a file of a zip archive as bytes, also where it is compressed with Zstandard.

inspect_ai compresses its logs with Zstandard, which zipfile reads from Python 3.14 on.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

from rewardkit.core.errors import DataError, MissingExtraError

_ZSTANDARD = 93
_HEADER = struct.Struct("<26xHH")
"""Of a file in the archive, up to the lengths of its name and of its extra field."""


def content(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """Return one file of an archive.

    Raises:
        DataError: it is damaged, or compressed in a way that is not known.
        MissingExtraError: it is compressed with Zstandard, and no package can read that.
    """
    info = archive.getinfo(name)
    try:
        return archive.read(info)
    except NotImplementedError as error:
        if info.compress_type != _ZSTANDARD:
            raise DataError(f"{path}: {name} cannot be read ({error})") from None
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataError(f"{path}: {name} is damaged ({error})") from None
    return _zstandard(path, info)


def _zstandard(path: Path, info: zipfile.ZipInfo) -> bytes:
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtraError(
            f"{path} is compressed with Zstandard, which zipfile reads only from Python 3.14 on. Install "
            "'rewardkit-sdk[inspect]', or convert the log: inspect log convert --to json --output-dir logs " + str(path)
        ) from error
    with path.open("rb") as file:
        file.seek(info.header_offset)
        name, extra = _HEADER.unpack(file.read(_HEADER.size))
        file.seek(name + extra, io.SEEK_CUR)
        packed = file.read(info.compress_size)
    try:
        found: bytes = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True).read()
    except zstandard.ZstdError as error:
        raise DataError(f"{path}: {info.filename} is damaged ({error})") from None
    if zlib.crc32(found) != info.CRC:
        raise DataError(f"{path}: {info.filename} is damaged (its checksum differs)")
    return found
