"""Entries of reasoning-gym as JSON text: ``read(written("gcd", {}, entry))`` has the task, its options and the entry.

Scorers read the metadata of an entry, with its tuples and its keys that are ints; plain JSON would change both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

_TUPLE, _PAIRS = "$tuple", "$pairs"


@final
@dataclass(frozen=True)
class Entry:
    """A question's task, the options of the task, and what its scorer reads: ``answer`` and ``metadata``."""

    task: str
    options: str
    content: dict[str, Any]

    def __hash__(self) -> int:
        return hash((self.task, self.options))


def written(task: str, options: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """Return the text of an entry; raises TypeError if a value has no JSON."""
    content = {name: value for name, value in entry.items() if name != "question"}
    return json.dumps({"task": task, "options": plain(dict(options)), "entry": plain(content)}, ensure_ascii=False)


def read(text: object) -> Entry:
    """Return the entry in a cell.

    Raises:
        ValueError: the cell has none.
    """
    try:
        found = json.loads(text) if isinstance(text, str) else text
        entry = restored(found["entry"])  # type: ignore[index]
        task, options = found["task"], json.dumps(found["options"], sort_keys=True)  # type: ignore[index]
        if not isinstance(task, str) or not isinstance(entry, dict) or not {"answer", "metadata"} <= entry.keys():
            raise ValueError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("not an entry of reasoning-gym; make rows with rk.reasoning_gym_rows") from None
    return Entry(task, options, entry)


def options_of(entry: Entry) -> dict[str, Any]:
    """Return the options of the entry's task."""
    options: dict[str, Any] = restored(json.loads(entry.options))
    return options


def plain(value: Any) -> Any:
    """Return a value as JSON that `restored` turns back into it; raises TypeError if that is not possible."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):  # some are numpy's
        return str(value)
    if isinstance(value, tuple):
        return {_TUPLE: [plain(item) for item in value]}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {str(key): plain(item) for key, item in value.items()}
        return {_PAIRS: [[plain(key), plain(item)] for key, item in value.items()]}
    raise TypeError(f"reasoning-gym: a value of type {type(value).__name__} cannot be written as JSON")


def restored(value: Any) -> Any:
    """Reverse `plain`."""
    if isinstance(value, list):
        return [restored(item) for item in value]
    if isinstance(value, dict):
        if value.keys() == {_TUPLE}:
            return tuple(restored(item) for item in value[_TUPLE])
        if value.keys() == {_PAIRS}:
            return {restored(key): restored(item) for key, item in value[_PAIRS]}
        return {key: restored(item) for key, item in value.items()}
    return value
