"""Migrations from older versions of the schema, while reading: the files on disk do not change.

``MIGRATIONS[3]`` takes the tables and the run.json of version 3 and returns those of version 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rewardkit.store.schema import SCHEMA

if TYPE_CHECKING:
    import pyarrow

Tables = dict[str, "pyarrow.Table"]
Info = dict[str, Any]
Migration = Callable[[Tables, Info], tuple[Tables, Info]]

MIGRATIONS: Mapping[int, Migration] = {}
"""Version -> the migration to the next version. So far there is only one version."""


def migrated(
    tables: Tables, info: Info, migrations: Mapping[int, Migration] | None = None, to: int = SCHEMA
) -> tuple[Tables, Info]:
    """Return the tables and run.json of an older version in the form of the current one."""
    steps = MIGRATIONS if migrations is None else migrations
    for version in range(int(info["schema"]), to):
        tables, info = steps[version](dict(tables), dict(info))
        info["schema"] = version + 1
    return tables, info
