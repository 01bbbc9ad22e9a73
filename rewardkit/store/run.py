"""Reads a recorded run, also while it is being written.

``rk.open_run("runs/x").sql("select step, avg(total) from scores group by step order by step").df()`` is a curve.
"""

from __future__ import annotations

import contextlib
import datetime
import glob
import itertools
import json
import os
import statistics
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import RewardKitError, shorten
from rewardkit.store.migrations import MIGRATIONS, migrated
from rewardkit.store.names import distinct, known_names, selection
from rewardkit.store.parts import Files, decoded
from rewardkit.store.resuming import superseded
from rewardkit.store.schema import COLUMNS, COMMITTING, SCHEMA, TABLES
from rewardkit.store.snapshot import Snapshot
from rewardkit.store.tables import empty, together, writable

if TYPE_CHECKING:
    import duckdb
    import pyarrow

VERSIONS = (
    "(select attempt, rank, part, any_value(version) as version from everything.scores "
    "where version is not null group by all) as batches"
)
"""The version of the reward that scored each batch."""
_STILL = 60.0
"""A run that has not written for so many seconds (or five times its usual pause) has stopped."""
_USUAL = 5.0
_KEPT: list[object] = []
"""DuckDB before 2.0 closes a connection under its relations, once nobody else holds it."""


class RunError(RewardKitError):
    """A run cannot be read."""


class NotARun(RunError):
    """There is no recorded run where one was looked for."""


def open_run(path: str | os.PathLike[str]) -> Run:
    """The run recorded in a folder, or at an address that fsspec knows.

    ``rk.open_run("runs/x").scores().df()``: a row per completion.

    Raises:
        NotARun: there is none.
        RunError: it was written by a newer rewardkit.
        MissingExtraError: the extra ``store`` is not installed.
    """
    return Run(Files.at(path))


class Run:
    """A recorded run: its tables as DuckDB relations (``.df()``, ``.pl()``, ``.to_arrow_table()``, ``.fetchall()``).

    It is what it was when it was opened; `refresh` sees what was written since.
    """

    def __init__(self, files: Files) -> None:
        import duckdb

        self.files = files
        self._migrations = MIGRATIONS
        self._snapshot = Snapshot(files)
        self.info: dict[str, Any] = {"id": ""}
        self._lock = threading.RLock()
        self._threads = threading.local()
        self._connection = duckdb.connect()
        if not files.local:
            if _is_old_duckdb():
                raise RunError(
                    f"reading {files.root} from {files.system.protocol} needs duckdb 2.0 or newer: older ones may hang "
                    f"(this is {duckdb.__version__}): pip install --upgrade duckdb, or copy the run to a local folder"
                )
            self._connection.register_filesystem(files.system)
        self._connection.execute("create schema parts; create schema everything")
        with contextlib.suppress(duckdb.Error):  # older ones have no such setting
            self._connection.execute("set parquet_metadata_cache = true")
        self._sources: dict[str, object] = {}
        self.refresh()

    def __repr__(self) -> str:
        return f"Run({self.files.root!r})"

    def refresh(self) -> None:
        """Sees what was written since."""
        import duckdb

        with self._lock:
            info = _info(self.files, self._migrations)
            if info["id"] != self.info["id"]:  # another run stands where this one was
                self._snapshot = Snapshot(self.files)
            self.info = info
            self._versions = _versions(self.files)
            self._known = [name for kind in ("components", "terms") for name in known_names(self._versions, kind)]
            self._snapshot.look()
            try:
                self._build()
            except duckdb.Error:
                if not self._snapshot.doubt():
                    raise
                self._snapshot.look()
                self._build()

    def sql(self, query: str, parameters: Iterable[Any] | None = None) -> duckdb.DuckDBPyRelation:
        """The result of a query over ``scores``, ``completions``, ``prompts``, ``metrics``, ``logs``, ``versions``.

        They have no superseded rows; ``everything.scores`` and so on have them too.
        """
        import duckdb

        try:
            return self._executed(query, parameters)
        except duckdb.Error:
            with self._lock:
                if not self._snapshot.doubt():
                    raise
                self.refresh()
            return self._executed(query, parameters)

    def scores(self, *, training: bool | None = True, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """A row per completion: step, total, components, terms, outcomes.

        Args:
            training: True: training batches; False: evaluation; None: both.
            superseded: also the rows that an attempt resumed from an earlier step has trained anew.
        """
        return self._table("scores", {"training": training}, superseded)

    def completions(
        self, prompt: str | None = None, step: int | None = None, *, superseded: bool = False
    ) -> duckdb.DuckDBPyRelation:
        """The texts of all completions, or of those of one prompt (its id) or one step."""
        return self._table("completions", {"prompt_id": prompt, "step": step}, superseded)

    def prompts(self) -> duckdb.DuckDBPyRelation:
        """A row per prompt: its id, text and example columns."""
        return self._table("prompts", {}, True)

    def metrics(self, *, training: bool | None = True, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """Numbers of whole batches: name, value, and the version of the reward that was in force."""
        # What a step that generated nothing logs belongs to the last one that did.
        return self._cursor.sql(
            "select metrics.*, batches.version from "
            f"({_selected('metrics', {'training': training}, superseded)}) as metrics asof left join "
            "(select attempt, training, step, any_value(version) as version from everything.scores group by all) "
            "as batches on metrics.attempt = batches.attempt and metrics.training = batches.training "
            "and metrics.step >= batches.step"
        )

    def logs(self, *, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """What was printed, logged, went wrong or was slow while scoring, and the version of the reward that scored."""
        return self._cursor.sql(
            f"select logs.*, batches.version from ({_selected('logs', {}, superseded)}) as logs left join {VERSIONS} "
            "using (attempt, rank, part)"
        )

    def versions(self) -> duckdb.DuckDBPyRelation:
        """A row per version of the reward."""
        return self._cursor.sql("select * from versions order by first_step, seen")

    def compare(self, other: Run | str | os.PathLike[str], *, training: bool = True) -> duckdb.DuckDBPyRelation:
        """The means of both runs per step; see ``rk.compare_runs``."""
        from rewardkit.store.comparing import compare_runs

        return compare_runs(self, other, training=training)

    @property
    def components(self) -> list[str]:
        """The names of all components, of any version."""
        return self._names("components/")

    @property
    def terms(self) -> list[str]:
        """The names of all terms, of any version."""
        return self._names("terms/")

    @property
    def steps(self) -> list[int]:
        """The training steps there are, in order."""
        query = "select distinct step from scores where training order by step"
        return [step for (step,) in self.sql(query).fetchall()]

    @property
    def state(self) -> str:
        """``finished`` (the training came to its end), ``stopped`` (it did not) or ``running``."""
        for ending in ("finished", "stopped"):
            if ending in self.info:
                return ending
        written = [at for (at,) in self.sql("select distinct epoch_us(time) from scores order by 1").fetchall()]
        if not written:
            written = [1e6 * _seconds(self.info["created"])]
        recent = written[-100:]
        pauses = [(after - before) / 1e6 for before, after in itertools.pairwise(recent)]
        patience = max(_STILL, _USUAL * statistics.median(pauses) if pauses else 0.0)
        return "running" if time.time() - written[-1] / 1e6 < patience else "stopped"

    @property
    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """The connection of this thread."""
        if not hasattr(self._threads, "cursor"):
            self._threads.cursor = self._connection.cursor()
            if _is_old_duckdb():
                _KEPT.append(self._threads.cursor)
        cursor: duckdb.DuckDBPyConnection = self._threads.cursor
        return cursor

    def _executed(self, query: str, parameters: Iterable[Any] | None) -> duckdb.DuckDBPyRelation:
        cursor = self._cursor
        statements = cursor.extract_statements(query)
        if [statement.type.name for statement in statements] != ["SELECT"]:
            raise RunError(f"a run is read only, and this is not one query: {shorten(query)}")
        found = cursor.sql(query, params=None if parameters is None else list(parameters)).arrow()
        return cursor.from_arrow(found if hasattr(found, "num_rows") else found.read_all())

    def _table(self, name: str, equal: Mapping[str, object], superseded: bool) -> duckdb.DuckDBPyRelation:
        return self._cursor.sql(_selected(name, equal, superseded))

    def _names(self, prefix: str) -> list[str]:
        known = [prefix + name for name in known_names(self._versions, prefix.strip("/"))]
        there = [name for name in self._cursor.sql("select * from scores").columns if name.startswith(prefix)]
        spelling = distinct([*known, *there], self._known)
        return list(dict.fromkeys(column[len(prefix) :] for column in spelling.values()))

    def _build(self) -> None:
        """Makes the tables of the snapshot, all at once."""
        cursor = self._connection.cursor()
        try:
            cursor.execute("begin")
            self._define_all(cursor)
            cursor.execute("commit")
        finally:
            cursor.close()

    def _define_all(self, cursor: duckdb.DuckDBPyConnection) -> None:
        if self.info["schema"] < SCHEMA:
            self._migrate(cursor)
        else:
            for name in TABLES:
                self._define(cursor, name, [empty(name), *self._snapshot.tables(name)], self._snapshot.columns(name))
        versions = _versions_table(self._versions)
        cursor.register("incoming", versions)
        cursor.execute("create or replace table versions as select * from incoming")
        hidden = superseded(cursor)
        for name in TABLES:
            where = f" where not ({hidden[name]})" if name in hidden else ""
            cursor.execute(f"create or replace view {name} as select * from everything.{name}{where}")

    def _define(self, cursor: duckdb.DuckDBPyConnection, name: str, narrow: Any, wide: Any) -> None:
        there = [*itertools.chain(*(table.column_names for table in narrow), *wide.values())]
        spelling = distinct(there, self._known)
        cursor.register("incoming", together(narrow, spelling))
        cursor.execute(f"create or replace table parts.{name} as select * from incoming")
        cursor.unregister("incoming")
        source = f"select * from parts.{name}"
        if wide:
            files = {self._address(f"{name}/{part.name}"): columns for part, columns in wide.items()}
            source = f"{selection(files, spelling)} union all by name {source}"
        if "time" in COLUMNS[name]:
            source = f"select * replace (make_timestamp(epoch_us(time)) as time) from ({source})"
        if name == "prompts":
            source = (
                "select prompt_id, any_value(prompt) as prompt, any_value(messages) as messages, "
                'any_value("columns") as "columns", min(first_step) as first_step '
                f"from ({source}) group by prompt_id"
            )
        cursor.execute(f"create or replace view everything.{name} as {source}")

    def _address(self, name: str) -> str:
        address = self.files.address(name)
        return glob.escape(address) if self.files.local else address

    def _migrate(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Reads all of an older run and brings it to the present version."""
        tables: dict[str, pyarrow.Table] = {}
        for name in TABLES:
            wide = [decoded(self.files.get(f"{name}/{part.name}")) for part in self._snapshot.wide[name]]
            if wide or self._snapshot.narrow[name]:
                tables[name] = together([*wide, *self._snapshot.tables(name)])
        tables, self.info = migrated(tables, self.info, self._migrations)
        for name in TABLES:
            self._define(cursor, name, [empty(name), *([tables[name]] if name in tables else [])], {})


def _info(files: Files, migrations: Mapping[int, object]) -> dict[str, Any]:
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
                "rk.to_trl(reward, record=...) records one."
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


def _children(files: Files) -> list[str]:
    try:
        return list(files.system.ls(files.root, detail=False))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _versions(files: Files) -> list[dict[str, Any]]:
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


def _versions_table(versions: Iterable[Mapping[str, Any]]) -> pyarrow.Table:
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


def _seconds(moment: object) -> float:
    """Since 1970; 0 where it is no time."""
    try:
        return datetime.datetime.fromisoformat(str(moment)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _is_old_duckdb() -> bool:
    """Before 2.0: relations do not keep their connection, and files of fsspec may block for ever."""
    import duckdb

    return int(duckdb.__version__.split(".")[0]) < 2


def _selected(name: str, equal: Mapping[str, object], superseded: bool) -> str:
    where = [f"{column} = {_literal(value)}" for column, value in equal.items() if value is not None]
    source = f"everything.{name}" if superseded else name
    return f"select * from {source}" + (f" where {' and '.join(where)}" if where else "")


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
