"""What a run says of itself, beside its tables: run.json, and the versions of the reward.

``described(Files.at("runs/x"), MIGRATIONS)["schema"]`` is 1.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import RewardKitError, shorten
from rewardkit.store.parts import Files
from rewardkit.store.schema import COMMITTING, SCHEMA
from rewardkit.store.tables import writable

if TYPE_CHECKING:
    import pyarrow

_NAMED = 5
"""Runs below a folder that are named."""


class RunError(RewardKitError):
    """A run cannot be read."""


class NotARun(RunError):
    """There is no recorded run where one was looked for."""


def described(files: Files, migrations: Mapping[int, object]) -> dict[str, Any]:
    """What run.json says; of a run that lost it to a power cut, the least that it would say."""
    try:
        info = files.get_json("run.json")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
        if not files.parts(COMMITTING):
            there = sorted(os.path.basename(name) for name in _children(files))
            shown = ", ".join(there[:8]) + (", ..." if len(there) > 8 else "")
            said = f"it holds {shown}" if there else "nothing is there"
            said = "it is a file, and a run is a folder" if files.system.isfile(files.root) else said
            raise NotARun(
                f"{files.root} is no recorded run: it has no run.json that can be read; {said}. "
                f"{_runs_near(files) or 'rk.to_trl(reward, record=...) records one.'}"
            ) from None
        info = {"schema": SCHEMA}
    if not isinstance(info, dict) or type(info.get("schema")) is not int:
        raise NotARun(f"{files.path('run.json')} does not belong to a recorded run: {shorten(info)}")
    if info["schema"] > SCHEMA:
        raise RunError(
            f"{files.root} was recorded by {info.get('by', 'a newer rewardkit')} in version {info['schema']} of the "
            f"format; this rewardkit reads up to version {SCHEMA}: pip install --upgrade rewardkit-sdk"
        )
    if info["schema"] < SCHEMA and info["schema"] not in migrations:
        raise RunError(
            f"{files.path('run.json')} says version {info['schema']} of the format, which never was: "
            f"was it changed by hand? This rewardkit reads up to version {SCHEMA}"
        )
    return {"id": "", "created": "", "title": "", **info}


def _runs_near(files: Files) -> str:
    """Asks for a run up to two folders below, or around a file of its own; empty where there is none."""
    if not files.local:
        return ""
    root = Path(files.root)
    if root.is_file():
        found = [root.parent] if root.name == "run.json" else []
    else:
        found = sorted(path.parent for depth in ("*/run.json", "*/*/run.json") for path in root.glob(depth))
    named = ", ".join(map(str, found[:_NAMED])) + (", ..." if len(found) > _NAMED else "")
    if len(found) > 1:
        return f"{len(found)} runs lie below it: {named}"
    return f"Did you mean {named}?" if found else ""


def _children(files: Files) -> list[str]:
    try:
        return list(files.system.ls(files.root, detail=False))
    except (FileNotFoundError, NotADirectoryError):
        return []


def versions_of(files: Files) -> list[dict[str, Any]]:
    """What the files of the versions say, in the order in which they were first used."""
    found = []
    for name in sorted(files.names("versions")):
        if name.endswith(".json") and not name.startswith("."):
            with contextlib.suppress(FileNotFoundError, ValueError):  # its fingerprint stands on the rows all the same
                found.append(files.get_json(f"versions/{name}"))
    return sorted(filter(_is_version, found), key=lambda version: (version["first_step"], version["seen"]))


def _is_version(found: Any) -> bool:
    """Whether a file among the versions says what it should."""
    try:
        names = [component["name"] for component in found["components"]]
        texts = [found["fingerprint"], found["reward"], found["seen"], *names, *found["terms"]]
        step = found["first_step"]
    except (TypeError, KeyError):
        return False
    return all(isinstance(text, str) for text in texts) and type(step) is int and abs(step) < 1 << 63


def versions_table(versions: Iterable[Mapping[str, Any]]) -> pyarrow.Table:
    """The table ``versions`` of a run."""
    import pyarrow as pa

    texts = ("fingerprint", "reward", "components", "terms", "seen")
    rows = [
        {
            **{name: writable(version[name]) for name in ("fingerprint", "reward", "seen")},
            **{name: json.dumps(version[name]) for name in ("components", "terms")},
            "first_step": version["first_step"],
        }
        for version in versions
    ]
    schema = pa.schema([*((name, pa.string()) for name in texts), ("first_step", pa.int64())])
    return pa.Table.from_pylist(rows, schema=schema)
