"""from_inspect_log: read inspect_ai samples as rows, ``{"id": "a", "prompt": [...], "completion": [...]}``.

A log is either a ``.eval`` file (a zip archive with one JSON file per sample) or a ``.json`` file. Both are read
without inspect_ai. Rows are in dataset order. The epochs of a sample are adjacent, so they form a group.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError, MissingExtraError, install_command, shorten

# Read a file of a zip archive as bytes, even if it is compressed with Zstandard.


_ZSTANDARD = 93
"""The number of the Zstandard compression method in zip archives. zipfile supports it only in Python 3.14 and later."""
_HEADER = struct.Struct("<26xHH")
"""The local header of a file in the archive, up to and including the lengths of the file name and the extra field."""


def content(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of the file `name` in the archive.

    Raises:
        DataError: the file is damaged, or its compression method is unknown.
        MissingExtraError: the file is compressed with Zstandard, and no installed package can read it.
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
            f"{path} is compressed with Zstandard, which zipfile reads only in Python 3.14 and later. Install it: "
            f"{install_command('inspect')}, or convert the log: inspect log convert --to json --output-dir logs {path}"
        ) from error
    with path.open("rb") as file:
        file.seek(info.header_offset)
        name, extra = _HEADER.unpack(file.read(_HEADER.size))
        file.seek(name + extra, io.SEEK_CUR)
        packed = file.read(info.compress_size)
    try:
        data: bytes = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True).read()
    except zstandard.ZstdError as error:
        raise DataError(f"{path}: {info.filename} is damaged ({error})") from None
    if zlib.crc32(data) != info.CRC:
        raise DataError(f"{path}: {info.filename} is damaged (its checksum differs)")
    return data


# Convert inspect_ai messages to OpenAI's format: ``{"function": "add"}`` of a result becomes ``{"name": "add"}``.


Message = Mapping[str, Any]

_ATTACHMENTS = ("attachment://", "tc://")
"""The prefixes for references to values that are stored separately in a log. Logs from 2024 use the second prefix."""


def restore_attachments(value: Any, attachments: Mapping[str, str]) -> Any:
    """Return messages with references to separately stored values, such as images, replaced by the values."""
    if not attachments:
        return value
    if isinstance(value, str):
        name = value.partition("://")[2] if value.startswith(_ATTACHMENTS) else value
        return attachments.get(name, value)
    if isinstance(value, Mapping):
        return {name: restore_attachments(item, attachments) for name, item in value.items()}
    return [restore_attachments(item, attachments) for item in value] if isinstance(value, list) else value


def split(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """Split `messages` into the prompt and the completion.

    The completion starts with the first message that the model generated."""
    assistant_indices = [at for at, message in enumerate(messages) if message.get("role") == "assistant"]
    generated_indices = [at for at in assistant_indices if messages[at].get("source") == "generate"]
    candidate_indices = [at for at in assistant_indices if messages[at].get("source") != "input"]
    first = next(iter(generated_indices or candidate_indices), len(messages))
    return list(messages[:first]), list(messages[first:])


def chat(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Convert inspect_ai messages to OpenAI chat messages."""
    return [
        {**converted, "content": _parts(converted["content"])}
        for message in messages
        for converted in _convert_message(message)
    ]


def _parts(content: Any) -> Any:
    """Return message content with images in OpenAI's format."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "image_url", "image_url": {"url": part.get("image")}}
        if isinstance(part, Mapping) and part.get("type") == "image"
        else part
        for part in content
    ]


def _convert_message(message: Message) -> Iterator[dict[str, Any]]:
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        yield _result(message.get("tool_call_id"), message.get("function"), content, message.get("error"))
        return
    if role != "assistant":
        yield {"role": role, "content": content}
        return
    calls = [_call(call, call.get("function"), call.get("parse_error")) for call in message.get("tool_calls") or ()]
    parts = content if isinstance(content, list) else []
    provider_indices = [
        at for at, part in enumerate(parts) if isinstance(part, Mapping) and part.get("type") == "tool_use"
    ]
    if provider_indices:  # tools that the model provider ran: their results are in the message itself
        before = [part for at, part in enumerate(parts[: provider_indices[-1]]) if at not in provider_indices]
        uses = [parts[at] for at in provider_indices]
        yield {"role": "assistant", "content": before, "tool_calls": [_call(call, call.get("name")) for call in uses]}
        yield from (_result(call.get("id"), call.get("name"), call.get("result"), call.get("error")) for call in uses)
        content = parts[provider_indices[-1] + 1 :]
    if content or calls or not provider_indices:
        yield {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})}


def _call(call: Message, name: Any, fault: Any = None) -> dict[str, Any]:
    """Return a tool call in OpenAI's format.

    If a call's arguments could not be parsed, the log does not contain them. The parser's error message, which is not
    JSON, is used instead."""
    raw_arguments = call.get("arguments")
    text = fault or (raw_arguments if isinstance(raw_arguments, str) else json.dumps(raw_arguments or {}))
    return {"id": call.get("id"), "type": "function", "function": {"name": name, "arguments": text}}


def _result(number: Any, name: Any, content: Any, error: Any) -> dict[str, Any]:
    result = {"role": "tool", "tool_call_id": number, "name": name, "content": content}
    if not error:
        return result
    message = error.get("message", "") if isinstance(error, Mapping) else str(error)
    return {**result, "content": content or message, "is_error": True}


# inspect_ai writes these two keys first. A JSON file from another program may have a version, but not both keys.
_START_OF_LOG = re.compile(rb'\s*\{\s*"version":\s*\d+,\s*"status":')
# The file name of a sample in a log. The id may contain slashes and underscores.
_SAMPLE = re.compile(r"samples/(?P<id>.*)_epoch_(?P<epoch>\d+)\.json", re.DOTALL)


def from_inspect_log(path: str | Path) -> list[dict[str, Any]]:
    """Return the samples in an inspect_ai log as rows, for ``rk.score``, ``rk.Trajectory``, or a data file.

    ``rewardkit score run.eval --reward reward.py:reward`` reads a log the same way. The rows have these columns:

    - ``id``, ``epoch``, ``target``, ``choices``, and ``metadata``: as in the log.
    - ``prompt`` and ``completion``: chat messages in OpenAI's format. The completion starts with the first message that
      the model generated. Examples in the prompt stay in the prompt.
    - ``stop_reason``: the last output's stop reason, such as ``"stop"`` or ``"max_tokens"``.
    - ``limit``: the limit that ended the sample, such as ``"message"``, or None.
    - ``scores``: a mapping from each scorer's name to its value.
    - ``error``: the reason why the sample failed in inspect_ai, or None. If the sample failed, its completion ends at
      the failure.

    Args:
        path: a ``.eval`` or ``.json`` log.

    Raises:
        DataError: the file is not a log, or it has no samples.
        MissingExtraError: the log is compressed with Zstandard, which this Python version cannot read, and the extra
            ``inspect`` is not installed.
        OSError: the file does not exist.
    """
    return list(log_rows(path))


def is_log(path: str | Path) -> bool:
    """Return whether `path` is an inspect_ai log: a .eval file, or a .json file that starts like one."""
    log_path = Path(path)
    if log_path.suffix.lower() != ".json":
        return log_path.suffix.lower() == ".eval" and log_path.is_file()
    try:
        with log_path.open("rb") as file:
            # The two keys are at the start of the file, possibly with whitespace in between; 1024 bytes are more than
            # enough.
            return _START_OF_LOG.match(file.read(1024)) is not None
    except OSError:
        return False


def log_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """Yield the same rows as `from_inspect_log`, one by one."""
    log_path = Path(path)
    empty = True
    for sample in _read_archive(log_path) if log_path.suffix.lower() == ".eval" else _read_json_log(log_path):
        empty = False
        yield _row(sample)
    if empty:
        raise DataError(f"{path}: the log has no samples. Pass the log of an evaluation that has run")


def _read_archive(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise DataError(f"{path}: not an inspect_ai log ({error})") from None
    with archive:
        names = archive.namelist()
        header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        order = {} if header is None else _order(_parse_object(path, header, content(path, archive, header)))
        members = [(match, name) for name in dict.fromkeys(names) if (match := _SAMPLE.fullmatch(name))]
        for _, name in sorted(members, key=lambda member: _sort_key(order, member[0]["id"], member[0]["epoch"])):
            yield _parse_object(path, name, content(path, archive, name))


def _read_json_log(path: Path) -> Iterator[Mapping[str, Any]]:
    log = _parse_object(path, "the log", path.read_bytes())
    samples = [sample for sample in log.get("samples") or () if isinstance(sample, Mapping)]
    order = _order(log)
    yield from sorted(samples, key=lambda sample: _sort_key(order, str(sample.get("id")), sample.get("epoch", 1)))


def _parse_object(path: Path, name: str, data: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: {name} is not JSON ({error}): {shorten(data[:200])}") from None
    if not isinstance(value, Mapping):
        raise DataError(f"{path}: {name} is {shorten(value)} instead of an object, so this is not an inspect_ai log")
    return value


def _order(log: Mapping[str, Any]) -> dict[str, int]:
    """Return the dataset index of each sample id."""
    dataset = (log.get("eval") or {}).get("dataset") or {}
    return {str(name): index for index, name in enumerate(dataset.get("sample_ids") or ())}


def _sort_key(order: Mapping[str, int], name: str, epoch: Any) -> tuple[int, int, str, int]:
    number = int(name) if name.isdecimal() else 0
    return order.get(name, len(order)), number, name, int(epoch)


def _row(sample: Mapping[str, Any]) -> dict[str, Any]:
    attachments = sample.get("attachments") or {}
    sample_input = sample.get("input")
    opening = [{"role": "user", "content": sample_input}] if isinstance(sample_input, str) else sample_input
    prompt, completion = split(restore_attachments(sample.get("messages") or opening or [], attachments))
    output = sample.get("output") or {}
    if not completion and output.get("completion"):
        completion = [{"role": "assistant", "content": output["completion"]}]  # from a solver that keeps no messages
    choices = output.get("choices") or [{}]
    scores = sample.get("scores") or {}
    return {
        "id": sample.get("id"),
        "epoch": sample.get("epoch", 1),
        "prompt": chat(prompt),
        "completion": chat(completion),
        "target": sample.get("target"),
        "choices": sample.get("choices"),
        "stop_reason": choices[0].get("stop_reason"),
        "limit": (sample.get("limit") or {}).get("type"),
        "scores": {name: score.get("value") for name, score in scores.items()},
        "error": (sample.get("error") or {}).get("message"),
        "metadata": sample.get("metadata") or {},
    }
