"""Logs in the format of inspect_ai 0.3, written without it: ``written(path, [sample("a", [...])])``."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

SYSTEM = {"id": "m1", "role": "system", "content": "Be brief."}
USER = {"id": "m2", "role": "user", "content": "What is 1 + 2?", "source": "input"}
CALL = {
    "id": "m3",
    "role": "assistant",
    "source": "generate",
    "content": "",
    "tool_calls": [{"id": "c1", "function": "add", "arguments": {"x": 1, "y": 2}, "type": "function"}],
}
RESULT = {"id": "m4", "role": "tool", "content": "3", "tool_call_id": "c1", "function": "add"}
ANSWER = {"id": "m5", "role": "assistant", "source": "generate", "content": "It is 3."}
CONVERSATION = [SYSTEM, USER, CALL, RESULT, ANSWER]


def sample(name: Any = "a", messages: Sequence[Any] = CONVERSATION, epoch: int = 1, **fields: Any) -> dict[str, Any]:
    """One sample of a log."""
    return {
        "id": name,
        "epoch": epoch,
        "input": "What is 1 + 2?",
        "target": "3",
        "messages": list(messages),
        "output": {"choices": [{"message": ANSWER, "stop_reason": "stop"}], "completion": "It is 3."},
        "scores": {"match": {"value": "C", "answer": "3", "explanation": "It is 3."}},
        "metadata": {"level": 1},
        "attachments": {},
        **fields,
    }


def header(samples: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A header that lists the samples in the order of the data set: that of `samples`."""
    names = list(dict.fromkeys(one["id"] for one in samples))
    return {"version": 2, "status": "success", "eval": {"task": "sums", "dataset": {"sample_ids": names}}}


def written(path: Path, samples: Sequence[dict[str, Any]], *, zstandard: bool = False) -> Path:
    """Write a .eval or .json log; samples of an archive stand in it from the last to the first."""
    if path.suffix == ".json":
        path.write_text(json.dumps({**header(samples), "samples": samples[::-1]}, indent=2), encoding="utf-8")
        return path
    files: dict[str, Any] = {"_journal/start.json": header(samples)}
    files |= {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples[::-1]}
    files |= {"summaries.json": [{"id": one["id"]} for one in samples], "header.json": header(samples)}
    contents = {name: json.dumps(value).encode() for name, value in files.items()}
    if zstandard:
        path.write_bytes(archive(contents))
        return path
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in contents.items():
            file.writestr(name, data)
    return path


def archive(contents: dict[str, bytes]) -> bytes:
    """A zip archive compressed with Zstandard (method 93), as inspect_ai writes it."""
    import zstandard

    body, directory = b"", b""
    for name, data in contents.items():
        packed = zstandard.ZstdCompressor().compress(data)
        sizes = struct.pack("<HHHIIIH", 93, 0, 0x21, zlib.crc32(data), len(packed), len(data), len(name))
        place = len(body)
        body += b"PK\x03\x04" + struct.pack("<HH", 63, 0) + sizes + b"\x00\x00" + name.encode() + packed
        directory += b"PK\x01\x02" + struct.pack("<HHH", 63, 63, 0) + sizes
        directory += struct.pack("<HHHHII", 0, 0, 0, 0, 0, place) + name.encode()
    count = len(contents)
    return body + directory + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
