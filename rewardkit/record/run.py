"""Reading of recorded runs, even while they are being written.

``rk.open_run("runs/x").sql("select step, avg(total) from scores group by step order by step").df()`` is a learning
curve.
"""

from __future__ import annotations

import contextlib
import datetime
import glob
import itertools
import json
import math
import operator
import os
import statistics
import threading
import time
import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.errors import NotARun, RewardKitWarning, RunError, near_miss, shorten, upgrade_command
from rewardkit.record.names import distinct, known_names, literal, quoted, selection
from rewardkit.record.parts import Files, Stamp, decoded
from rewardkit.record.schema import (
    COLUMNS,
    COMMITTING,
    MIGRATIONS,
    SCHEMA,
    TABLES,
    Part,
    is_current,
    migrated,
    widest,
    within,
)
from rewardkit.record.tables import concatenated, empty, writable

if TYPE_CHECKING:
    import duckdb
    import pyarrow


# The description of a run, stored next to its tables: run.json, and the versions of the reward.


_NAMED = 5
"""The maximum number of runs in a folder that an error lists. The limit is arbitrary: an error must remain readable."""


def read_info(files: Files, migrations: Mapping[int, object]) -> dict[str, Any]:
    """Return the content of run.json; if a power failure destroyed the file, the minimum content that a run needs."""
    try:
        info = files.get_json("run.json")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
        if not files.parts(COMMITTING):
            entries = sorted(os.path.basename(name) for name in _children(files))
            # Arbitrary number: the error must stay readable.
            listing = ", ".join(entries[:8]) + (", ..." if len(entries) > 8 else "")
            description = f"it contains {listing}" if entries else "nothing is there"
            description = "it is a file, but a run is a folder" if files.system.isfile(files.root) else description
            near = _runs_near(files)
            if not near and is_starting(entries):
                raise NotARun(first_batch_missing(files.root)) from None
            raise NotARun(
                f"{files.root} is not a recorded run: it has no readable run.json, and {description}. "
                f"{near or 'Record one with rk.to_trl(reward, record=...).'}"
            ) from None
        info = {"schema": SCHEMA}
    if not isinstance(info, dict) or type(info.get("schema")) is not int:
        raise NotARun(
            f"{files.path('run.json')} does not describe a recorded run: {shorten(info)}. Pass the folder of a run"
        )
    if info["schema"] > SCHEMA:
        raise RunError(
            f"{files.root} was recorded by {info.get('by', 'a newer rewardkit')} in format version "
            f"{info['schema']}, but this rewardkit reads only up to version {SCHEMA}. Upgrade: {upgrade_command()}"
        )
    if info["schema"] < SCHEMA and info["schema"] not in migrations:
        raise RunError(
            f"{files.path('run.json')} has the format version {info['schema']}, which does "
            f'not exist. If the file was edited by hand, restore "schema": {SCHEMA}'
        )
    return {"id": "", "created": "", "title": "", **info}


def is_starting(names: Collection[str]) -> bool:
    """Return whether the files with these `names` belong to a ``rewardkit train`` run that has no steps yet."""
    return {"run.yaml", "prompts.json"} <= set(names) and not {"run.json", "summary.json"} & set(names)


def first_batch_missing(folder: str) -> str:
    """Return an error message for a run that `is_starting`."""
    return (
        f"the training run in {folder} has not scored its first batch yet. Try again later, or look at the run's "
        "output if it stopped"
    )


def _runs_near(files: Files) -> str:
    """Return a suggestion: runs up to two levels down, or the run that contains the file; empty if there are none."""
    if not files.local:
        return ""
    root = Path(files.root)
    if root.is_file():
        folders = [root.parent] if root.name == "run.json" else []
    else:
        folders = sorted(path.parent for depth in ("*/run.json", "*/*/run.json") for path in root.glob(depth))
    named = ", ".join(map(str, folders[:_NAMED])) + (", ..." if len(folders) > _NAMED else "")
    if len(folders) > 1:
        return f"It contains {len(folders)} runs in subfolders: {named}"
    return f"Did you mean {named}?" if folders else ""


def _children(files: Files) -> list[str]:
    try:
        return list(files.system.ls(files.root, detail=False))
    except (FileNotFoundError, NotADirectoryError):
        return []


def versions_of(files: Files) -> list[dict[str, Any]]:
    """Return the reward's versions in the order of their first use."""
    versions = []
    for name in sorted(files.names("versions")):
        if name.endswith(".json") and not name.startswith("."):
            with contextlib.suppress(FileNotFoundError, ValueError):  # its rows still have the fingerprint
                versions.append(files.get_json(f"versions/{name}"))
    return sorted(filter(_is_version, versions), key=lambda version: (version["first_step"], version["seen"]))


def _is_version(content: Any) -> bool:
    """Return whether a version file's content has the expected form."""
    try:
        names = [component["name"] for component in content["components"]]
        texts = [content["fingerprint"], content["reward"], content["seen"], *names, *content["terms"]]
        step = content["first_step"]
    except (TypeError, KeyError):
        return False
    # Steps are 64-bit integers in DuckDB.
    return all(isinstance(text, str) for text in texts) and type(step) is int and abs(step) < 1 << 63


def _sources(version: Mapping[str, Any]) -> dict[str, str]:
    """Return a version's source files; empty if an older version of rewardkit or another program wrote the version."""
    sources = version.get("sources")
    return {str(name): str(text) for name, text in sources.items()} if isinstance(sources, dict) else {}


def versions_table(versions: Iterable[Mapping[str, Any]]) -> pyarrow.Table:
    """Return the run's table ``versions``."""
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


# Superseded rows of resumed trainings: those for which the condition ``superseded(cursor)["scores"]`` is true.


_OF_TRAINING = "row(attempt, rank, part) not in (select row(attempt, rank, part) from parts.evaluations)"
"""The SQL condition for training batches in tables without the column ``training``."""


def superseded(cursor: duckdb.DuckDBPyConnection) -> Mapping[str, str]:
    """Return table -> the SQL condition for superseded rows; empty if there are none."""
    attempts = cursor.execute(
        """select attempt, first, first + (count(*) filter (not training and step = first) = 0)::int
           from everything.scores join (
               select attempt, min(step) as first from everything.scores where training group by attempt
           ) using (attempt) group by attempt, first order by attempt desc"""
    ).fetchall()
    conditions = []
    trained = evaluated = math.inf
    for attempt, first, after in attempts:
        if trained < math.inf:
            conditions.append(f"attempt = {attempt} and (step >= {evaluated} or step >= {trained} and {{training}})")
        trained, evaluated = min(trained, first), min(evaluated, after)
    if not conditions:
        return {}
    evaluations = "select distinct attempt, rank, part from everything.scores where not training"
    cursor.execute(f"create or replace table parts.evaluations as {evaluations}")
    return {
        table: " or ".join(conditions).format(training="training" if "training" in columns else _OF_TRAINING)
        for table, columns in COLUMNS.items()
        if "attempt" in columns
    }


# Snapshot: the set of files to read while other files are being written or replaced, or are damaged.


_TRIES = 20
"""The maximum number of attempts to list the files. The limit is arbitrary: a compaction replaces files within
milliseconds, so a second attempt is nearly always enough."""
_File = tuple[str, Part]


@dataclass
class Snapshot:
    """The parts of a run that a reader has listed; `update` reads new parts."""

    files: Files
    wide: dict[str, list[Part]] = field(default_factory=dict)
    narrow: dict[str, list[Part]] = field(default_factory=dict)
    _tables: dict[_File, pyarrow.Table] = field(default_factory=dict)
    _columns: dict[_File, list[str]] = field(default_factory=dict)
    _known: dict[_File, Stamp] = field(default_factory=dict)
    _broken: dict[_File, Stamp] = field(default_factory=dict)

    def update(self) -> None:
        """List the parts, and read new parts immediately, because they may be replaced later."""
        for _ in range(_TRIES):
            listing = self._listed()
            try:
                while not self._checked(listing):
                    pass
            except FileNotFoundError:  # parts were joined in the meantime
                continue
            return
        raise FileNotFoundError(f"{self.files.root}: files are deleted faster than they can be read. Try again")

    def find_damaged(self) -> bool:
        """Read every wide part completely, and skip damaged parts; return whether any part is damaged."""
        before = len(self._broken)
        listing = self._listed()
        for table, parts in self.wide.items():
            for part in parts:
                try:
                    decoded(self.files.get(f"{table}/{part.name}"))
                except FileNotFoundError:
                    continue
                except Exception as error:
                    self._known.pop((table, part), None)
                    self._skip((table, part), listing[table].get(part, Stamp(0, None)), error)
        return len(self._broken) > before

    def columns(self, table: str) -> dict[Part, list[str]]:
        """Return wide part -> columns, for a table's wide parts."""
        return {part: self._columns[table, part] for part in self.wide[table]}

    def tables(self, table: str) -> list[pyarrow.Table]:
        """Return the data in a table's narrow parts."""
        return [self._tables[table, part] for part in self.narrow[table]]

    def _listed(self) -> dict[str, dict[Part, Stamp]]:
        """Return the parts of all tables; if a compaction occurred while they were listed, list them again."""
        for _ in range(_TRIES):
            scores = self.files.parts(COMMITTING)
            listing = {COMMITTING: scores, **{table: self.files.parts(table) for table in TABLES[1:]}}
            again = self.files.parts(COMMITTING)
            if all(not part.wide for part in again.keys() - scores.keys()):
                break
        return listing

    def _checked(self, listing: Mapping[str, Mapping[Part, Stamp]]) -> bool:
        """Choose the parts and read new parts. If a part is damaged, return False, so that others can be chosen."""
        usable = {
            table: [part for part, stamp in parts.items() if self._broken.get((table, part)) != stamp]
            for table, parts in listing.items()
        }
        committed = widest(usable[COMMITTING])
        chosen = {table: within(parts, committed) for table, parts in usable.items()}
        new = {(table, part): listing[table][part] for table, parts in chosen.items() for part in parts}
        intact = True
        for file, stamp in sorted(new.items(), key=lambda item: item[0]):
            if self._known.get(file) == stamp:
                continue
            try:
                self._read(file)
                self._known[file] = stamp
            except FileNotFoundError:
                raise
            except Exception as error:
                self._skip(file, stamp, error)
                intact = False
        if intact:
            self._tables = {file: rows for file, rows in self._tables.items() if file in new}
            self._columns = {file: columns for file, columns in self._columns.items() if file in new}
            self._known = new
            self.wide = {table: [part for part in parts if part.wide] for table, parts in chosen.items()}
            self.narrow = {table: [part for part in parts if not part.wide] for table, parts in chosen.items()}
        return intact

    def _read(self, file: _File) -> None:
        table, part = file
        name = f"{table}/{part.name}"
        if part.wide:
            import pyarrow.parquet as parquet

            with self.files.system.open(self.files.path(name)) as opened:
                self._columns[file] = parquet.read_metadata(opened).schema.names
        else:
            self._tables[file] = decoded(self.files.get(name))

    def _skip(self, file: _File, stamp: Stamp, error: Exception) -> None:
        table, part = file
        self._broken[file] = stamp
        reason = f"{type(error).__name__}: {error}"
        warnings.warn(
            f"{self.files.path(f'{table}/{part.name}')} cannot be read ({stamp.size} bytes, {reason}) and is "
            "skipped. A power failure can truncate files. To stop this warning, delete the file",
            RewardKitWarning,
            stacklevel=2,
        )


VERSIONS = (
    "(select attempt, rank, part, any_value(version) as version from everything.scores "
    "where version is not null group by all) as batches"
)
"""The SQL subquery for the reward version that scored each batch."""
_STILL = 60.0
"""The seconds without new data after which a run is considered stopped; if longer, five times the run's usual pause is
used instead. The value is arbitrary, but long enough to distinguish a slow run from a stopped run."""
# Arbitrary factor: evaluations and checkpoints cause longer pauses than steps.
_USUAL = 5.0
_KEPT: list[object] = []
"""Connections that must stay open, because DuckDB versions before 2.0 would close them while relations still use
them."""


def open_run(path: str | os.PathLike[str]) -> Run:
    """Open the run recorded in a folder or at a URL that fsspec supports.

    ``rk.open_run("runs/x").scores().df()`` has one row per completion.

    Raises:
        NotARun: the path does not contain a run.
        RunError: the run was written by a newer version of rewardkit.
        MissingExtraError: the extra ``store`` is not installed.
    """
    return Run(Files.at(path))


class Run:
    """A recorded run: its tables as DuckDB relations (``.df()``, ``.pl()``, ``.to_arrow_table()``, ``.fetchall()``).

    The data does not change after the run is opened. Call `refresh` to read new data.

    Args:
        files: the run's files.
        until: (attempt, rank) -> the last batch to read (`queries.Extent.batches`), or None for all batches. With the
            same `until`, several processes read the same rows from a run that is still being written.
    """

    def __init__(self, files: Files, until: Mapping[tuple[int, int], int] | None = None) -> None:
        import duckdb

        self.files = files
        self._until = until
        self._migrations = MIGRATIONS
        self._snapshot = Snapshot(files)
        self.info: dict[str, Any] = {"id": ""}
        self._lock = threading.RLock()
        self._threads = threading.local()
        self._connection = duckdb.connect()
        if not files.local:
            if _is_old_duckdb():
                raise RunError(
                    f"reading {files.root} from {files.system.protocol} needs duckdb 2.0 or newer, because older "
                    f"versions may hang (this is {duckdb.__version__}). Upgrade: pip install --upgrade duckdb. Or copy "
                    "the run to a local folder"
                )
            self._connection.register_filesystem(files.system)
        self._connection.execute("create schema parts; create schema everything")
        with contextlib.suppress(duckdb.Error):  # older DuckDB versions lack this setting
            self._connection.execute("set parquet_metadata_cache = true")
        self._sources: dict[str, object] = {}
        self.refresh()

    def __repr__(self) -> str:
        return f"Run({self.files.root!r})"

    def refresh(self) -> None:
        """Read the data written since the run was opened or last refreshed."""
        import duckdb

        with self._lock:
            info = read_info(self.files, self._migrations)
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
        """Run a query on the tables.

        The tables are ``scores``, ``completions``, ``prompts``, ``metrics``, ``logs``, ``turns``, ``durations``, and
        ``versions``. They omit superseded rows. To include superseded rows, use ``everything.scores`` and so on. Put
        names that contain a slash in double quotes: ``run.sql('select step, avg("components/number") from scores group
        by step')``.

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
        """Return one row per completion: step, total, components, terms, and outcomes.

        Args:
            training: True for training batches, False for evaluations, None for both.
            superseded: if True, also return rows for steps that were trained again after training was resumed.
        """
        return self._table("scores", {"training": training}, superseded)

    def completions(
        self, prompt: str | None = None, step: int | None = None, *, superseded: bool = False
    ) -> duckdb.DuckDBPyRelation:
        """Return all completions as text, or only the completions for one prompt or one step.

        ``run.completions(run.prompts().fetchall()[0][0]).df()`` contains the completions for one prompt.

        Args:
            prompt: a prompt's id (``prompt_id`` in `scores` and `prompts`).
            step: a step number.
            superseded: if True, also return rows for steps that were trained again after training was resumed.

        Raises:
            RunError: the run does not contain the prompt, or `step` is not a whole number.
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
        matches = self.sql(query, [str(prompt), str(prompt)]).fetchall()
        if (prompt,) in matches:
            return
        if matches:
            raise RunError(
                f"{shorten(prompt)} is the text of a prompt, but completions() expects the prompt's id: pass "
                f"{matches[0][0]!r}"
            )
        # Arbitrary limit: the ids are only read for suggestions in an error.
        prompt_ids = [known_id for (known_id,) in self.sql("select prompt_id from prompts limit 100000").fetchall()]
        raise RunError(
            f"{self.files.root} has no prompt with the id {shorten(prompt)}.{near_miss(prompt, prompt_ids)} "
            "Find the ids in run.prompts()"
        )

    def prompts(self) -> duckdb.DuckDBPyRelation:
        """Return one row per prompt: id, text, and dataset columns."""
        return self._table("prompts", {}, True)

    def metrics(self, *, training: bool | None = True, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """Return the metrics for whole batches: name, value, and the reward version at that time."""
        # Metrics of a step without a batch belong to the last step with a batch.
        return self._cursor.sql(
            "select metrics.*, batches.version from "
            f"({_selected('metrics', {'training': training}, superseded)}) as metrics asof left join "
            "(select attempt, training, step, any_value(version) as version from everything.scores group by all) "
            "as batches on metrics.attempt = batches.attempt and metrics.training = batches.training "
            "and metrics.step >= batches.step"
        )

    def logs(self, *, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """Return output, log lines, faults, and slow calls during scoring, with the reward version."""
        return self._cursor.sql(
            f"select logs.*, batches.version from ({_selected('logs', {}, superseded)}) as logs left join {VERSIONS} "
            "using (attempt, rank, part)"
        )

    def turns(self, *, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """Return one row for each turn's share of a component's score: turn (counted from 0), component, and share.

        A completion's shares add up to its raw score. Join the rows with `scores` on attempt, rank, part, and row.

        Args:
            superseded: if True, also return rows for steps that were trained again after training was resumed.
        """
        return self._table("turns", {}, superseded)

    def durations(self, *, superseded: bool = False) -> duckdb.DuckDBPyRelation:
        """Return the durations of each component's calls: component, seconds (to two digits), and count.

        Args:
            superseded: if True, also return rows for steps that were trained again after training was resumed.
        """
        return self._table("durations", {}, superseded)

    def versions(self) -> duckdb.DuckDBPyRelation:
        """Return one row per reward version."""
        return self._cursor.sql("select * from versions order by first_step, seen")

    def version(self, fingerprint: str) -> dict[str, Any]:
        """Return a reward version's description, or an empty dict if unknown."""
        return next((entry for entry in self._versions if entry["fingerprint"] == fingerprint), {})

    def packed(self, fingerprint: str) -> bytes | None:
        """Return a reward version as pickled bytes, or None if it was not stored. Unpickling executes code."""
        if not self.version(fingerprint):
            return None
        try:
            return self.files.get(f"versions/{fingerprint}.pickle")
        except FileNotFoundError:
            return None

    def compare(self, other: Run | str | os.PathLike[str], *, training: bool = True) -> duckdb.DuckDBPyRelation:
        """Compare two runs' means per step: total, components, terms, length, characters, turns, and tool calls.

        ``rk.open_run("runs/x").compare("runs/y").filter("name = 'total'").df()``.

        Args:
            other: the other run, or its folder.
            training: if True, compare training batches. If False, compare evaluations.

        Returns:
            A relation with the columns step, name, left (this run), right (the other run), left_rows, and right_rows. A
            mean is null if the run does not have a value. The last two columns are the numbers of rows in the means.
        """
        import duckdb

        connection = duckdb.connect()
        connection.register("of_left", _means(self, training))
        connection.register("of_right", _means(other if isinstance(other, Run) else open_run(other), training))
        return connection.sql(
            """select step, name, of_left.mean as "left", of_right.mean as "right",
                      of_left.count as left_rows, of_right.count as right_rows
               from of_left full join of_right using (step, name) order by name, step"""
        )

    @property
    def components(self) -> list[str]:
        """The names of the components in all versions."""
        return self._names("components/")

    @property
    def terms(self) -> list[str]:
        """The names of the terms in all versions."""
        return self._names("terms/")

    @property
    def steps(self) -> list[int]:
        """The training steps, in order."""
        query = "select distinct step from scores where training order by step"
        return [step for (step,) in self.sql(query).fetchall()]

    @property
    def state(self) -> str:
        """``finished``, ``stopped`` (before the end of training), or ``running``."""
        for ending in ("finished", "stopped"):
            if ending in self.info:
                return ending
        timestamps = [
            timestamp for (timestamp,) in self.sql("select distinct epoch_us(time) from scores order by 1").fetchall()
        ]
        if not timestamps:
            timestamps = [1e6 * _seconds(self.info["created"])]
        # Use recent pauses only: evaluations and longer completions change their length.
        recent = timestamps[-100:]
        pauses = [(after - before) / 1e6 for before, after in itertools.pairwise(recent)]
        patience = max(_STILL, _USUAL * statistics.median(pauses) if pauses else 0.0)
        return "running" if time.time() - timestamps[-1] / 1e6 < patience else "stopped"

    @property
    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """This thread's connection."""
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
            raise RunError(f"a run is read-only: pass a single select statement, got {shorten(query)}")
        arrow_result = cursor.sql(query, params=None if parameters is None else list(parameters)).arrow()
        return cursor.from_arrow(arrow_result if hasattr(arrow_result, "num_rows") else arrow_result.read_all())

    def _table(self, name: str, equal: Mapping[str, object], superseded: bool) -> duckdb.DuckDBPyRelation:
        return self._cursor.sql(_selected(name, equal, superseded))

    def _names(self, prefix: str) -> list[str]:
        declared = [prefix + name for name in known_names(self._versions, prefix.strip("/"))]
        present = [name for name in self._cursor.sql("select * from scores").columns if name.startswith(prefix)]
        spelling = distinct([*declared, *present], self._known)
        return list(dict.fromkeys(column[len(prefix) :] for column in spelling.values()))

    def _build(self) -> None:
        """Define all tables in the snapshot in one transaction."""
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
        column_names = [*itertools.chain(*(table.column_names for table in narrow), *wide.values())]
        spelling = distinct(column_names, self._known)
        cursor.register("incoming", concatenated(narrow, spelling))
        cursor.execute(f"create or replace table parts.{name} as select * from incoming")
        cursor.unregister("incoming")
        source = f"select * from parts.{name}"
        if wide:
            files = {self._address(f"{name}/{part.name}"): columns for part, columns in wide.items()}
            source = f"{selection(files, spelling)} union all by name {source}"
        if "time" in COLUMNS[name]:
            source = f"select * replace (make_timestamp(epoch_us(time)) as time) from ({source})"
        if self._until is not None and "part" in COLUMNS[name]:
            batches = [f"attempt = {a:d} and rank = {r:d} and part <= {part:d}" for (a, r), part in self._until.items()]
            source = f"select * from ({source}) where {' or '.join(batches) or 'false'}"
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
        """Read an older run completely and migrate it to the current version."""
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
    """Return whether DuckDB is older than 2.0.

    If so, relations do not keep their connection, and fsspec files may hang.
    """
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
    return literal(str(value))


# Comparison of two runs: the same numbers at the same steps, side by side.


_NUMBERS = ("total", "length", "characters", "turns", "calls", "repeated_calls", "tool_errors")


def _means(run: Run, training: bool) -> pyarrow.Table:
    """Return a run's means as a table with the columns step, name, mean, and count."""
    numbers = [name for name in run.scores().columns if _is_number(name)]
    kind = "training" if training else "not training"
    each = " union all ".join(
        f"select step, {literal(name)} as name, avg({quoted(name)}) as mean, count({quoted(name)}) as count "
        f"from scores where {kind} group by step"
        for name in numbers
    )
    means: pyarrow.Table = run.sql(f"select * from ({each}) where count > 0").to_arrow_table()
    return means


def _is_number(column: str) -> bool:
    return column in _NUMBERS or column.startswith(("components/", "terms/"))
