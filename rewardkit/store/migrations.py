"""Migrations from older versions of the schema, while reading: the files on disk do not change.

``MIGRATIONS[3]`` takes the tables and the run.json of version 3 and returns those of version 4. If version 4 only adds
tables and columns, it is `only_added`, and the run is read like a new one.
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


def only_added(tables: Tables, info: Info) -> tuple[Tables, Info]:
    """Migrate to a version that has more tables and columns: the reader fills them with null."""
    return tables, info


MIGRATIONS: Mapping[int, Migration] = {1: only_added, 2: only_added, 3: only_added}
"""Version -> the migration to the next version.

Version 2 added trajectories; 3 durations and lengths of prompts; 4 scores with the gold answers of other prompts.
"""


def is_current(info: Info, migrations: Mapping[int, Migration] | None = None, to: int = SCHEMA) -> bool:
    """Return whether the files of a run can be read and continued as they are."""
    steps = MIGRATIONS if migrations is None else migrations
    return all(steps.get(version) is only_added for version in range(int(info["schema"]), to))


def migrated(
    tables: Tables, info: Info, migrations: Mapping[int, Migration] | None = None, to: int = SCHEMA
) -> tuple[Tables, Info]:
    """Return the tables and run.json of an older version in the form of the current one."""
    steps = MIGRATIONS if migrations is None else migrations
    for version in range(int(info["schema"]), to):
        tables, info = steps[version](dict(tables), dict(info))
        info["schema"] = version + 1
    return tables, info
