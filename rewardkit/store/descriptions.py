"""The description of a run beside its tables: run.json, and the versions of the reward.

``described(Files.at("runs/x"), MIGRATIONS)["schema"]`` is 3.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import NotARun, RunError, shorten
from rewardkit.store.parts import Files
from rewardkit.store.schema import COMMITTING, SCHEMA
from rewardkit.store.tables import writable

if TYPE_CHECKING:
    import pyarrow

_NAMED = 5
"""The most runs below a folder to name in an error."""


def described(files: Files, migrations: Mapping[int, object]) -> dict[str, Any]:
    """Return the content of run.json; if a power cut destroyed it, the minimum that a run needs."""
    try:
        info = files.get_json("run.json")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
        if not files.parts(COMMITTING):
            there = sorted(os.path.basename(name) for name in _children(files))
            shown = ", ".join(there[:8]) + (", ..." if len(there) > 8 else "")
            found = f"it contains {shown}" if there else "nothing is there"
            found = "it is a file, and a run is a folder" if files.system.isfile(files.root) else found
            raise NotARun(
                f"{files.root} is not a recorded run: it has no readable run.json; {found}. "
                f"{_runs_near(files) or 'Record one with rk.to_trl(reward, record=...).'}"
            ) from None
        info = {"schema": SCHEMA}
    if not isinstance(info, dict) or type(info.get("schema")) is not int:
        raise NotARun(
            f"{files.path('run.json')} does not describe a recorded run: {shorten(info)}. Pass the folder of a run"
        )
    if info["schema"] > SCHEMA:
        raise RunError(
            f"{files.root} was recorded by {info.get('by', 'a newer rewardkit')} in version {info['schema']} of the "
            f"format; this rewardkit reads up to version {SCHEMA}. Upgrade: pip install --upgrade rewardkit-sdk"
        )
    if info["schema"] < SCHEMA and info["schema"] not in migrations:
        raise RunError(
            f"{files.path('run.json')} has version {info['schema']} of the format, which does not exist. "
            f'If the file was edited by hand, restore "schema": {SCHEMA}'
        )
    return {"id": "", "created": "", "title": "", **info}


def _runs_near(files: Files) -> str:
    """Suggest runs up to two folders below, or the run that a file belongs to; empty if there are none."""
    if not files.local:
        return ""
    root = Path(files.root)
    if root.is_file():
        found = [root.parent] if root.name == "run.json" else []
    else:
        found = sorted(path.parent for depth in ("*/run.json", "*/*/run.json") for path in root.glob(depth))
    named = ", ".join(map(str, found[:_NAMED])) + (", ..." if len(found) > _NAMED else "")
    if len(found) > 1:
        return f"There are {len(found)} runs below it: {named}"
    return f"Did you mean {named}?" if found else ""


def _children(files: Files) -> list[str]:
    try:
        return list(files.system.ls(files.root, detail=False))
    except (FileNotFoundError, NotADirectoryError):
        return []


def versions_of(files: Files) -> list[dict[str, Any]]:
    """Return the versions of the reward, in the order of their first use."""
    found = []
    for name in sorted(files.names("versions")):
        if name.endswith(".json") and not name.startswith("."):
            with contextlib.suppress(FileNotFoundError, ValueError):  # its rows still have its fingerprint
                found.append(files.get_json(f"versions/{name}"))
    return sorted(filter(_is_version, found), key=lambda version: (version["first_step"], version["seen"]))


def _is_version(found: Any) -> bool:
    """Whether the content of a version file has the expected form."""
    try:
        names = [component["name"] for component in found["components"]]
        texts = [found["fingerprint"], found["reward"], found["seen"], *names, *found["terms"]]
        step = found["first_step"]
    except (TypeError, KeyError):
        return False
    return all(isinstance(text, str) for text in texts) and type(step) is int and abs(step) < 1 << 63


def _sources(version: Mapping[str, Any]) -> dict[str, str]:
    """Return the files of a version; none if an older rewardkit wrote it, or another program."""
    found = version.get("sources")
    return {str(name): str(text) for name, text in found.items()} if isinstance(found, dict) else {}


def versions_table(versions: Iterable[Mapping[str, Any]]) -> pyarrow.Table:
    """Return the table ``versions`` of a run."""
    import pyarrow as pa

    texts = ("fingerprint", "reward", "components", "terms", "sources", "seen")
    rows = [
        {
            **{name: writable(version[name]) for name in ("fingerprint", "reward", "seen")},
            **{name: json.dumps(version[name]) for name in ("components", "terms")},
            "sources": json.dumps(_sources(version)),
            "first_step": version["first_step"],
        }
        for version in versions
    ]
    schema = pa.schema([*((name, pa.string()) for name in texts), ("first_step", pa.int64())])
    return pa.Table.from_pylist(rows, schema=schema)
