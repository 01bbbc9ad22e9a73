"""from_inspect_log: the samples of a log of inspect_ai as rows, ``{"id": "a", "prompt": [...], "completion": [...]}``.

A log is a ``.eval`` file, a zip archive with a JSON file per sample, or one ``.json`` file. Both are read without
inspect_ai. Rows come in the order of the dataset, and all epochs of a sample are next to each other: they are a group.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rewardkit.core.errors import DataError, shorten
from rewardkit_inspect.archive import content
from rewardkit_inspect.messages import attached, chat, split

_START_OF_LOG = re.compile(rb'\s*\{\s*"version":\s*\d+,\s*"status":')
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
    place = Path(path)
    if place.suffix.lower() != ".json":
        return place.suffix.lower() == ".eval" and place.is_file()
    try:
        with place.open("rb") as file:
            return _START_OF_LOG.match(file.read(1024)) is not None
    except OSError:
        return False


def log_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of `from_inspect_log` one by one."""
    place = Path(path)
    empty = True
    for sample in _archived(place) if place.suffix.lower() == ".eval" else _listed(place):
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
        found = [(match, name) for name in dict.fromkeys(names) if (match := _SAMPLE.fullmatch(name))]
        for _, name in sorted(found, key=lambda one: _place(order, one[0]["id"], one[0]["epoch"])):
            yield _parsed(path, name, content(path, archive, name))


def _listed(path: Path) -> Iterator[Mapping[str, Any]]:
    log = _parsed(path, "the log", path.read_bytes())
    samples = [one for one in log.get("samples") or () if isinstance(one, Mapping)]
    order = _order(log)
    yield from sorted(samples, key=lambda one: _place(order, str(one.get("id")), one.get("epoch", 1)))


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
    return {str(name): place for place, name in enumerate(dataset.get("sample_ids") or ())}


def _place(order: Mapping[str, int], name: str, epoch: Any) -> tuple[int, int, str, int]:
    number = int(name) if name.isdecimal() else 0
    return order.get(name, len(order)), number, name, int(epoch)


def _row(sample: Mapping[str, Any]) -> dict[str, Any]:
    attachments = sample.get("attachments") or {}
    asked = sample.get("input")
    given = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    prompt, completion = split(attached(sample.get("messages") or given or [], attachments))
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
