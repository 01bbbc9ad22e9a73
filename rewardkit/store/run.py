"""Reading a recorded run, also while it is being written.

``rk.open_run("runs/x").sql("select step, avg(total) from scores group by step order by step").df()`` is a curve.
"""

from __future__ import annotations

import contextlib
import datetime
import glob
import itertools
import operator
import os
import statistics
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import NotARun as NotARun, RunError as RunError, near_miss, shorten
from rewardkit.store.descriptions import described, versions_of, versions_table
from rewardkit.store.migrations import MIGRATIONS, is_current, migrated
from rewardkit.store.names import distinct, known_names, selection
from rewardkit.store.parts import Files, decoded
from rewardkit.store.resumption import superseded
from rewardkit.store.schema import COLUMNS, SCHEMA, TABLES
from rewardkit.store.snapshot import Snapshot
from rewardkit.store.tables import concatenated, empty

if TYPE_CHECKING:
    import duckdb
    import pyarrow

VERSIONS = (
    "(select attempt, rank, part, any_value(version) as version from everything.scores "
    "where version is not null group by all) as batches"
)
"""The version of the reward that scored each batch."""
_STILL = 60.0
"""A run that has not written for this many seconds (or five times its usual pause) has stopped."""
_USUAL = 5.0
_KEPT: list[object] = []
"""Open connections: DuckDB before 2.0 would close them although relations still use them."""


def open_run(path: str | os.PathLike[str]) -> Run:
    """Open the run recorded in a folder, or at an address that fsspec supports.

    ``rk.open_run("runs/x").scores().df()`` has a row per completion.

    Raises:
        NotARun: there is no run.
        RunError: a newer rewardkit wrote it.
        MissingExtraError: the extra ``store`` is not installed.
    """
    return Run(Files.at(path))


class Run:
    """A recorded run: its tables as DuckDB relations (``.df()``, ``.pl()``, ``.to_arrow_table()``, ``.fetchall()``).

    It does not change after it is opened; call `refresh` to see what was written since.
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
                    f"reading {files.root} from {files.system.protocol} needs duckdb 2.0 or newer; older versions may "
                    f"hang (this is {duckdb.__version__}). Upgrade: pip install --upgrade duckdb. Or copy the run to a "
                    "local folder"
                )
            self._connection.register_filesystem(files.system)
        self._connection.execute("create schema parts; create schema everything")
        with contextlib.suppress(duckdb.Error):  # older versions do not have this setting
            self._connection.execute("set parquet_metadata_cache = true")
        self._sources: dict[str, object] = {}
        self.refresh()

    def __repr__(self) -> str:
        return f"Run({self.files.root!r})"

    def refresh(self) -> None:
        """Read what was written since the run was opened or refreshed."""
        import duckdb

        with self._lock:
            info = described(self.files, self._migrations)
            if info["id"] != self.info["id"]:  # another run replaced this one
                self._snapshot = Snapshot(self.files)
            self.info = info
            self._versions = versions_of(self.files)
            self._known = [name for kind in ("components", "terms") for name in known_names(self._versions, kind)]
            self._snapshot.update()
            try:
                self._build()
            except duckdb.Error:
                if not self._snapshot.find_damaged():
                    raise
                self._snapshot.update()
                self._build()

    def sql(self, query: str, parameters: Iterable[Any] | None = None) -> duckdb.DuckDBPyRelation:
        """Run a query over the tables.

        They are called ``scores``, ``completions``, ``prompts``, ``metrics``, ``logs``, ``turns``, ``durations`` and
        ``versions``. They have no superseded rows; ``everything.scores`` and so on also have those. Put names with a
        slash in double quotes: ``run.sql('select step, avg("components/number") from scores group by step')``.

        Raises:
            RunError: `query` is not a single select statement.
        """
        import duckdb

        try:
            return self._executed(query, parameters)
        except duckdb.Error:
            with self._lock:
                if not self._snapshot.find_damaged():
                    raise
                self.refresh()
            return self._executed(query, parameters)

    def scores(self, *, training: bool | None = True, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """Return a row per completion: step, total, components, terms, outcomes.

        Args:
            training: True for training batches, False for evaluations, None for both.
            superseded: also return rows of steps that a resumed training trained again.
        """
        return self._table("scores", {"training": training}, superseded)

    def completions(
        self, prompt: str | None = None, step: int | None = None, *, superseded: bool = False
    ) -> duckdb.DuckDBPyRelation:
        """Return the texts of all completions, or of those of one prompt or one step.

        ``run.completions(run.prompts().fetchall()[0][0]).df()`` has those of one prompt.

        Args:
            prompt: the id of a prompt: ``prompt_id`` in `scores` and `prompts`.
            step: the number of a step.
            superseded: also return rows of steps that a resumed training trained again.

        Raises:
            RunError: the run has no such prompt, or `step` is not a whole number.
        """
        try:
            number = None if step is None else operator.index(step)
        except TypeError:
            raise RunError(
                f"step must be the number of one step, got {shorten(step)}. For several steps, use "
                'run.completions().filter("step in (1, 2)")'
            ) from None
        if prompt is not None:
            self._check_prompt(prompt)
        return self._table("completions", {"prompt_id": prompt, "step": number}, superseded)

    def _check_prompt(self, prompt: str) -> None:
        query = "select prompt_id from prompts where prompt_id = ? or prompt = ? limit 1"
        found = self.sql(query, [str(prompt), str(prompt)]).fetchall()
        if (prompt,) in found:
            return
        if found:
            raise RunError(
                f"{shorten(prompt)} is the text of a prompt, but completions() takes its id: pass {found[0][0]!r}"
            )
        known = [known_id for (known_id,) in self.sql("select prompt_id from prompts limit 100000").fetchall()]
        raise RunError(
            f"{self.files.root} has no prompt with the id {shorten(prompt)}.{near_miss(prompt, known)} "
            "Find the ids in run.prompts()"
        )

    def prompts(self) -> duckdb.DuckDBPyRelation:
        """Return a row per prompt: its id, text and example columns."""
        return self._table("prompts", {}, True)

    def metrics(self, *, training: bool | None = True, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """Return the numbers of whole batches: name, value, and the current version of the reward."""
        # Metrics of a step without a batch belong to the last step that has one.
        return self._cursor.sql(
            "select metrics.*, batches.version from "
            f"({_selected('metrics', {'training': training}, superseded)}) as metrics asof left join "
            "(select attempt, training, step, any_value(version) as version from everything.scores group by all) "
            "as batches on metrics.attempt = batches.attempt and metrics.training = batches.training "
            "and metrics.step >= batches.step"
        )

    def logs(self, *, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """Return output, log lines, faults and slow calls during scoring, with the version of the reward."""
        return self._cursor.sql(
            f"select logs.*, batches.version from ({_selected('logs', {}, superseded)}) as logs left join {VERSIONS} "
            "using (attempt, rank, part)"
        )

    def turns(self, *, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """Return a row for each turn of a completion that a component gave a share: turn (from 0), component, share.

        The shares of one completion sum to its raw score. Join them with `scores` by attempt, rank, part and row.

        Args:
            superseded: also return rows of steps that a resumed training trained again.
        """
        return self._table("turns", {}, superseded)

    def durations(self, *, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """Return how many calls of each component took how many seconds: component, seconds (two digits), count.

        Args:
            superseded: also return rows of steps that a resumed training trained again.
        """
        return self._table("durations", {}, superseded)

    def versions(self) -> duckdb.DuckDBPyRelation:
        """Return a row per version of the reward."""
        return self._cursor.sql("select * from versions order by first_step, seen")

    def version(self, fingerprint: str) -> dict[str, Any]:
        """Return what is known of a version of the reward; empty if it is unknown."""
        return next((one for one in self._versions if one["fingerprint"] == fingerprint), {})

    def packed(self, fingerprint: str) -> bytes | None:
        """Return a version of the reward as bytes for `pickle`, which runs code; None if it could not be stored."""
        if not self.version(fingerprint):
            return None
        try:
            return self.files.get(f"versions/{fingerprint}.pickle")
        except FileNotFoundError:
            return None

    def compare(self, other: Run | str | os.PathLike[str], *, training: bool = True) -> duckdb.DuckDBPyRelation:
        """Compare the means of both runs per step; see ``rk.compare_runs``."""
        from rewardkit.store.comparison import compare_runs

        return compare_runs(self, other, training=training)

    @property
    def components(self) -> list[str]:
        """The names of the components of all versions."""
        return self._names("components/")

    @property
    def terms(self) -> list[str]:
        """The names of the terms of all versions."""
        return self._names("terms/")

    @property
    def steps(self) -> list[int]:
        """The training steps, in order."""
        query = "select distinct step from scores where training order by step"
        return [step for (step,) in self.sql(query).fetchall()]

    @property
    def state(self) -> str:
        """``finished``, ``stopped`` (before the end of the training) or ``running``."""
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
            raise RunError(f"a run is read only: pass a single select statement, got {shorten(query)}")
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
        """Define the tables of the snapshot, all in one transaction."""
        cursor = self._connection.cursor()
        try:
            cursor.execute("begin")
            self._define_all(cursor)
            cursor.execute("commit")
        finally:
            cursor.close()

    def _define_all(self, cursor: duckdb.DuckDBPyConnection) -> None:
        if not is_current(self.info, self._migrations):
            self._migrate(cursor)
        else:
            self.info["schema"] = SCHEMA
            for name in TABLES:
                self._define(cursor, name, [empty(name), *self._snapshot.tables(name)], self._snapshot.columns(name))
        versions = versions_table(self._versions)
        cursor.register("incoming", versions)
        cursor.execute("create or replace table versions as select * from incoming")
        hidden = superseded(cursor)
        for name in TABLES:
            where = f" where not ({hidden[name]})" if name in hidden else ""
            cursor.execute(f"create or replace view {name} as select * from everything.{name}{where}")

    def _define(self, cursor: duckdb.DuckDBPyConnection, name: str, narrow: Any, wide: Any) -> None:
        there = [*itertools.chain(*(table.column_names for table in narrow), *wide.values())]
        spelling = distinct(there, self._known)
        cursor.register("incoming", concatenated(narrow, spelling))
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
        """Read the whole of an older run and migrate it to the current version."""
        tables: dict[str, pyarrow.Table] = {}
        for name in TABLES:
            wide = [decoded(self.files.get(f"{name}/{part.name}")) for part in self._snapshot.wide[name]]
            if wide or self._snapshot.narrow[name]:
                tables[name] = concatenated([*wide, *self._snapshot.tables(name)])
        tables, self.info = migrated(tables, self.info, self._migrations)
        for name in TABLES:
            self._define(cursor, name, [empty(name), *([tables[name]] if name in tables else [])], {})


def _seconds(moment: object) -> float:
    """Return the seconds since 1970, or 0 if `moment` is not a time."""
    try:
        return datetime.datetime.fromisoformat(str(moment)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _is_old_duckdb() -> bool:
    """Whether DuckDB is older than 2.0: relations do not keep their connection, and fsspec files may hang."""
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
