"""Import of runs that were logged by TRL without rewardkit: ``import_run("trl_output", into="runs/y")``.

With ``log_completions=True``, TRL writes a file such as ``completions/completions_00012.parquet`` at each logging step.
It contains the prompts, completions, rewards, and advantages in the last batch before that step. Parquet gives all tool
calls in a file the same arguments, so ``{"k": 2}`` is read back as ``{"k": 2.0, "letter": None}``. Therefore, arguments
that are None are omitted.
"""

from __future__ import annotations

import glob
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column
from rewardkit.batch.messages import completion_text
from rewardkit.batch.score import ABSTAINED, SCORED
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import NotARun, RunError, near_miss, shorten
from rewardkit.record.parts import Files, decoded
from rewardkit.record.recorder import Recorder
from rewardkit.record.records import ComponentDescription, Record, Version
from rewardkit.record.run import Run, open_run
from rewardkit.record.schema import COMMITTING
from rewardkit.record.trajectories import Trajectories
from rewardkit.tree.fingerprints import fingerprint

if TYPE_CHECKING:
    import pyarrow

_OWN = ("step", "prompt", "completion", "advantage")
_RAW = "components/"
"""The prefix of raw components, which rewardkit logs in addition to the rewards. In that case, the rewards are
rewardkit's terms."""
_NOTE = (
    "Imported from TRL's completions, which store the same arguments for all tool calls in a file. Arguments that "
    "were None are missing here, and whole numbers may have become fractions (2 as 2.0). An argument that the policy "
    "set to null is also missing."
)
"""The note in run.json for a run whose tool calls were read from TRL's files."""


def import_run(
    source: str | os.PathLike[str],
    into: str | os.PathLike[str],
    *,
    rewards: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
) -> Run:
    """Create a run from the completions that TRL logged.

    For example, ``import_run("trl_output", into="runs/y").scores().df()`` returns the scores. If tool-call arguments
    had to be omitted (see the module docstring), the run has a note: ``run.info["note"]``.

    Args:
        source: the trainer's ``output_dir`` or the folder ``completions`` inside it.
        into: a folder that does not contain a run.
        rewards: the columns that are rewards. The default is all numeric columns.
        weights: reward name -> the reward's weight in the total. The default is 1, as in TRL.

    Raises:
        NotARun: `source` does not contain completions from TRL.
        RunError: `into` already contains a run, a reward does not exist, or a file was not written by TRL.
    """
    target = Files.at(into)
    if target.parts(COMMITTING) or "run.json" in target.names(""):
        raise RunError(f"{target.root} already contains a run: pass another folder, or delete it")
    paths = _paths(os.fspath(source))
    logged, raw = _columns(paths)
    names = logged if rewards is None else list(rewards)
    for name in (*names, *(weights or {})):
        if name not in logged:
            available = ", ".join(logged) or "none"
            raise RunError(f"no reward {name!r} in {source}. Rewards: {available}.{near_miss(name, logged)}")
    chosen = dict.fromkeys(names, 1.0) | dict(weights or {})
    title = os.path.basename(os.path.abspath(os.fspath(source)))
    united = False
    with Recorder(into, title=title, patience=math.inf) as recorder:
        for record, changed in _records(paths, raw, chosen):
            recorder.record(record)
            united |= changed
    if united:
        target.put_json("run.json", {**target.get_json("run.json"), "note": _NOTE})
    return open_run(into)


def _paths(source: str) -> list[str]:
    for folder in (os.path.join(source, "completions"), source):
        paths = sorted(glob.glob(os.path.join(glob.escape(folder), "completions_*.parquet")))
        if paths:
            return paths
    raise NotARun(
        f"{source} has no completions/completions_*.parquet: train with GRPOConfig(log_completions=True) to write them"
    )


def _columns(paths: list[str]) -> tuple[list[str], list[str]]:
    """Return the names of the rewards in the files (numeric columns except TRL's own) and of the raw components."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rewards: dict[str, None] = {}
    raw: dict[str, None] = {}
    for path in paths:
        try:
            schema = parquet.read_schema(path)
        except (OSError, pa.ArrowException) as error:
            raise RunError(
                f"{path} cannot be read ({shorten(str(error))}): restore it, or delete it to import the other files"
            ) from error
        lacking = [name for name in _OWN[:3] if name not in schema.names]
        if lacking:
            raise RunError(
                f"{path} has no column {lacking[0]!r}, so TRL did not write the file: move it out of the folder"
            )
        for field in schema:
            is_number = any(test(field.type) for test in (pa.types.is_floating, pa.types.is_integer, pa.types.is_null))
            if field.name not in (*_OWN, "__index_level_0__") and is_number:
                (raw if field.name.startswith(_RAW) else rewards)[field.name.removeprefix(_RAW)] = None
    return list(rewards), list(raw)


def _records(paths: list[str], raw: list[str], weights: Mapping[str, float]) -> Iterator[tuple[Record, bool]]:
    """Yield each file's record, and whether tool-call arguments were omitted."""
    components = raw or list(weights)
    version = Version(
        fingerprint(("imported", tuple(components), tuple(weights.items()))),
        " + ".join(f"{weight:g} * {name}" for name, weight in weights.items()),
        tuple(ComponentDescription(name, kind="imported") for name in components),
        tuple(weights),
    )
    for path in paths:
        with open(path, "rb") as opened:
            rows = decoded(opened.read())
        if rows.num_rows:
            yield _record(rows, {name: f"{_RAW if raw else ''}{name}" for name in components}, weights, version, path)


def _record(
    rows: pyarrow.Table, raw: Mapping[str, str], weights: Mapping[str, float], version: Version, path: str
) -> tuple[Record, bool]:
    completions, changed = _without_none(rows["completion"].to_pylist())
    prompts, changed_too = _without_none(rows["prompt"].to_pylist())
    components = {}
    for name, column in raw.items():
        values = _numbers(rows, column)
        components[name] = Column(values, np.where(np.isnan(values), ABSTAINED, SCORED).astype(np.int8))
    terms = {name: weight * _numbers(rows, name) for name, weight in weights.items()}
    texts = [completion_text(value, row) for row, value in enumerate(completions)]
    absent = np.isnan(list(terms.values())).all(axis=0) if terms else np.full(rows.num_rows, True)
    total = np.where(absent, np.nan, np.nansum([np.zeros(rows.num_rows), *terms.values()], axis=0))
    means = {name: column.values[column.contributing] for name, column in components.items()}
    record = Record(
        ScoreTable(texts, components, terms, total, dict(weights)),
        version,
        step=int(rows["step"][0].as_py()),
        prompts=prompts,
        completions=completions,
        advantages=_numbers(rows, "advantage"),
        metrics={f"components/{name}": float(values.mean()) for name, values in means.items() if len(values)},
        trajectories=Trajectories.of(Batch(completions)),
        time=os.path.getmtime(path),
    )
    return record, changed or changed_too


def _without_none(cells: list[Any]) -> tuple[list[Any], bool]:
    """Return completions or prompts without tool-call arguments that are None, and whether any were removed."""
    changed = False
    for message in (message for cell in cells if isinstance(cell, list) for message in cell):
        for call in (message.get("tool_calls") or ()) if isinstance(message, dict) else ():
            function = call.get("function") if isinstance(call, dict) else None
            holder = function if isinstance(function, dict) else call
            if isinstance(holder, dict) and isinstance(holder.get("arguments"), dict):
                arguments = holder["arguments"]
                holder["arguments"] = _set(arguments)
                changed |= holder["arguments"] != arguments
    return cells, changed


def _set(value: Any) -> Any:
    """Return a JSON value without object fields that are None."""
    if isinstance(value, dict):
        return {name: _set(item) for name, item in value.items() if item is not None}
    return list(map(_set, value)) if isinstance(value, list) else value


def _numbers(rows: pyarrow.Table, name: str) -> Any:
    """Return a column's numbers (n,), or NaN for missing values or a missing column."""
    if name not in rows.column_names:
        return np.full(rows.num_rows, np.nan)
    return np.array([np.nan if value is None else value for value in rows[name].to_pylist()], dtype=np.float64)
