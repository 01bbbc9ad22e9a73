"""from_inspect_log: the samples of a log of inspect_ai as rows, ``{"id": "a", "prompt": [...], "completion": [...]}``.

A log is a ``.eval`` file, a zip archive with a JSON file per sample, or one ``.json`` file. Both are read without
inspect_ai. Rows come in the order of the dataset, and all epochs of a sample are next to each other: they are a group.
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

from rewardkit.errors import DataError, MissingExtraError, shorten

# content: a file of a zip archive as bytes, also if it is compressed with Zstandard.


_ZSTANDARD = 93
"""The number of Zstandard in zip archives, which zipfile reads from Python 3.14 on."""
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
        data: bytes = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True).read()
    except zstandard.ZstdError as error:
        raise DataError(f"{path}: {info.filename} is damaged ({error})") from None
    if zlib.crc32(data) != info.CRC:
        raise DataError(f"{path}: {info.filename} is damaged (its checksum differs)")
    return data


# Messages of inspect_ai as OpenAI writes them: ``{"function": "add"}`` of a result becomes ``{"name": "add"}``.


Message = Mapping[str, Any]

_ATTACHMENTS = ("attachment://", "tc://")
"""The prefixes of references to values that a log stores separately. Logs of 2024 have the second form."""


def attached(value: Any, attachments: Mapping[str, str]) -> Any:
    """Return messages with separately stored values, such as images, put back into their places."""
    if not attachments:
        return value
    if isinstance(value, str):
        name = value.partition("://")[2] if value.startswith(_ATTACHMENTS) else value
        return attachments.get(name, value)
    if isinstance(value, Mapping):
        return {name: attached(item, attachments) for name, item in value.items()}
    return [attached(item, attachments) for item in value] if isinstance(value, list) else value


def split(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """Return the prompt and the rest: the first message that the model generated, and all after it."""
    spoken = [at for at, message in enumerate(messages) if message.get("role") == "assistant"]
    generated = [at for at in spoken if messages[at].get("source") == "generate"]
    unknown = [at for at in spoken if messages[at].get("source") != "input"]
    first = next(iter(generated or unknown), len(messages))
    return list(messages[:first]), list(messages[first:])


def chat(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return messages of inspect_ai as chat messages."""
    return [
        {**converted, "content": _parts(converted["content"])}
        for message in messages
        for converted in _converted(message)
    ]


def _parts(content: Any) -> Any:
    """Return content with its images as OpenAI writes them."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "image_url", "image_url": {"url": part.get("image")}}
        if isinstance(part, Mapping) and part.get("type") == "image"
        else part
        for part in content
    ]


def _converted(message: Message) -> Iterator[dict[str, Any]]:
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        yield _result(message.get("tool_call_id"), message.get("function"), content, message.get("error"))
        return
    if role != "assistant":
        yield {"role": role, "content": content}
        return
    calls = [_call(call, call.get("function"), call.get("parse_error")) for call in message.get("tool_calls") or ()]
    parts = content if isinstance(content, list) else []
    served = [at for at, part in enumerate(parts) if isinstance(part, Mapping) and part.get("type") == "tool_use"]
    if served:  # tools that ran at the provider: their results are in the message itself
        before = [part for at, part in enumerate(parts[: served[-1]]) if at not in served]
        uses = [parts[at] for at in served]
        yield {"role": "assistant", "content": before, "tool_calls": [_call(call, call.get("name")) for call in uses]}
        yield from (_result(call.get("id"), call.get("name"), call.get("result"), call.get("error")) for call in uses)
        content = parts[served[-1] + 1 :]
    if content or calls or not served:
        yield {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})}


def _call(call: Message, name: Any, fault: Any = None) -> dict[str, Any]:
    """Return a call. The log lacks the arguments of an unparsable call, so the parser's error, which is not JSON, takes
    their place."""
    raw_arguments = call.get("arguments")
    text = fault or (raw_arguments if isinstance(raw_arguments, str) else json.dumps(raw_arguments or {}))
    return {"id": call.get("id"), "type": "function", "function": {"name": name, "arguments": text}}


def _result(number: Any, name: Any, content: Any, error: Any) -> dict[str, Any]:
    result = {"role": "tool", "tool_call_id": number, "name": name, "content": content}
    if not error:
        return result
    message = error.get("message", "") if isinstance(error, Mapping) else str(error)
    return {**result, "content": content or message, "is_error": True}


# inspect_ai writes these two keys first; a JSON file of another program may have a version, but not both.
_START_OF_LOG = re.compile(rb'\s*\{\s*"version":\s*\d+,\s*"status":')
# inspect_ai's names of samples: the id may have slashes and underscores.
_SAMPLE = re.compile(r"samples/(?P<id>.*)_epoch_(?P<epoch>\d+)\.json", re.DOTALL)


def from_inspect_log(path: str | Path) -> list[dict[str, Any]]:
    """Return the samples of a log of inspect_ai as rows, for ``rk.score``, ``rk.Trajectory`` or a data file.

    ``rewardkit score run.eval --reward reward.py:reward`` reads a log in the same way. The columns:

    - ``id``, ``epoch``, ``target``, ``choices`` and ``metadata``: as in the log.
    - ``prompt`` and ``completion``: chat messages as OpenAI writes them. The completion starts with the first message
      that the model generated; examples in the prompt stay there.
    - ``stop_reason``: of the last output, such as ``"stop"`` or ``"max_tokens"``; ``limit``: the limit of the sample
      that ended it, such as ``"message"``, or None.
    - ``scores``: a mapping from each scorer to its value.
    - ``error``: why the sample failed in inspect_ai, or None. Its completion ends where it failed.

    Args:
        path: a ``.eval`` or ``.json`` log.

    Raises:
        DataError: the file is not a log, or it has no samples.
        MissingExtraError: the log is compressed with Zstandard, which this Python cannot read, and the extra
            ``inspect`` is not installed.
        OSError: there is no such file.
    """
    return list(log_rows(path))


def is_log(path: str | Path) -> bool:
    """Whether a path is a log of inspect_ai: a .eval file, or a .json file that starts like one."""
    log_path = Path(path)
    if log_path.suffix.lower() != ".json":
        return log_path.suffix.lower() == ".eval" and log_path.is_file()
    try:
        with log_path.open("rb") as file:
            # The two keys are at the beginning; spaces may be between.
            return _START_OF_LOG.match(file.read(1024)) is not None
    except OSError:
        return False


def log_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of `from_inspect_log` one by one."""
    log_path = Path(path)
    empty = True
    for sample in _archived(log_path) if log_path.suffix.lower() == ".eval" else _listed(log_path):
        empty = False
        yield _row(sample)
    if empty:
        raise DataError(f"{path}: the log has no samples. Pass a log of an evaluation that ran")


def _archived(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise DataError(f"{path}: not a log of inspect_ai ({error})") from None
    with archive:
        names = archive.namelist()
        header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        order = {} if header is None else _order(_parsed(path, header, content(path, archive, header)))
        members = [(match, name) for name in dict.fromkeys(names) if (match := _SAMPLE.fullmatch(name))]
        for _, name in sorted(members, key=lambda member: _place(order, member[0]["id"], member[0]["epoch"])):
            yield _parsed(path, name, content(path, archive, name))


def _listed(path: Path) -> Iterator[Mapping[str, Any]]:
    log = _parsed(path, "the log", path.read_bytes())
    samples = [sample for sample in log.get("samples") or () if isinstance(sample, Mapping)]
    order = _order(log)
    yield from sorted(samples, key=lambda sample: _place(order, str(sample.get("id")), sample.get("epoch", 1)))


def _parsed(path: Path, name: str, data: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: {name} is not JSON ({error}): {shorten(data[:200])}") from None
    if not isinstance(value, Mapping):
        raise DataError(f"{path}: {name} is not an object but {shorten(value)}: this is not a log of inspect_ai")
    return value


def _order(log: Mapping[str, Any]) -> dict[str, int]:
    """Return the place of each sample in the dataset."""
    dataset = (log.get("eval") or {}).get("dataset") or {}
    return {str(name): index for index, name in enumerate(dataset.get("sample_ids") or ())}


def _place(order: Mapping[str, int], name: str, epoch: Any) -> tuple[int, int, str, int]:
    number = int(name) if name.isdecimal() else 0
    return order.get(name, len(order)), number, name, int(epoch)


def _row(sample: Mapping[str, Any]) -> dict[str, Any]:
    attachments = sample.get("attachments") or {}
    sample_input = sample.get("input")
    opening = [{"role": "user", "content": sample_input}] if isinstance(sample_input, str) else sample_input
    prompt, completion = split(attached(sample.get("messages") or opening or [], attachments))
    output = sample.get("output") or {}
    if not completion and output.get("completion"):
        completion = [{"role": "assistant", "content": output["completion"]}]  # of a solver that keeps no messages
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
