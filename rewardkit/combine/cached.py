"""Cached rewards: ``rk.cached(slow, "scores.sqlite")`` keeps the scores of a slow reward for later batches and runs."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, final

import numpy as np

from rewardkit import __version__
from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column, Rows
from rewardkit.batch.score import ABSTAINED, SCORED
from rewardkit.errors import RewardDefinitionError, shorten, warn
from rewardkit.progress.bounds import TOLERANCE
from rewardkit.tree.binding import Binding, available_parameters
from rewardkit.tree.conversion import RewardLike, reward_of
from rewardkit.tree.fingerprints import described
from rewardkit.tree.parameters import ENVIRONMENT, WHOLE_BATCH
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps
from rewardkit.workers.shared_file import SqliteCache, checked_path

FORMAT = 1
"""The format version for keys and entries; entries with other versions are not found."""

_NAME = f"scores_{FORMAT}"
_ATOMS = (str, int, bool, type(None))
_DEEPEST = 50
"""The maximum nesting depth of a cell. The limit is arbitrary: cells are a few levels deep, but a value that contains
itself would recurse forever."""


class _Unwritable(Exception):
    """A value that cannot be part of a cache key."""


@final
@dataclass(frozen=True)
class Cached(Reward):
    """A reward whose scores are cached in the SQLite file `path`."""

    reward: Reward
    path: str
    version: str = ""

    @cached_property
    def facts(self) -> NodeSpec:
        inner = self.reward.facts
        return NodeSpec(
            name=inner.name,
            call=inner.call,
            generic=inner.generic,
            bounds=inner.bounds,
            children=(self.reward,),
            stands_for=self.reward,
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        keys = self._keys(evaluation.batch, rows)
        saved = self._saved.many(list(dict.fromkeys(keys.values())))
        column = Column.empty(len(rows))
        missing = rows.copy()
        for row, key in keys.items():
            if key in saved and _restored(saved[key], self.bounds, column, row):
                missing[row] = False
        if missing.any():
            (fresh_column,) = yield [(self.reward, missing)]
            column.fill(missing, fresh_column)
            cacheable_rows = {
                key: row for row, key in keys.items() if missing[row] and fresh_column.codes[row] in (SCORED, ABSTAINED)
            }
            self._saved.put(
                {key: _written(fresh_column, row) for key, row in cacheable_rows.items()}
            )  # failures are left out: they may be temporary
        return column

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        (reward,) = children
        return Cached(reward, self.path, self.version)

    def describe(self) -> str:
        """Return the inner reward's description, because the file's path does not affect the scores."""
        return described(self.reward)

    @property
    def _saved(self) -> SqliteCache:
        return SqliteCache(self.path, _NAME, f"the reward {self.name!r}")

    @cached_property
    def _identity(self) -> str:
        return f"{FORMAT} {__version__} {self.version!r} {described(self.reward)}"

    def _keys(self, batch: Batch, rows: Rows) -> dict[int, str]:
        """Return each row's cache key. Rows whose arguments cannot be written as JSON are omitted."""
        binding = self.reward.facts.binding
        assert binding is not None
        parameters = available_parameters(binding.parameters, batch)
        keys: dict[int, str] = {}
        for row in np.flatnonzero(rows).tolist():
            if row in batch.rollouts.broken:  # the reward fails on this row
                continue
            try:
                arguments = {
                    parameter.name: _plain(_argument(parameter.source, batch, row)) for parameter in parameters
                }
            except _Unwritable as unwritable:
                _warn_once(self.name, str(unwritable))
                continue
            arguments_json = json.dumps(arguments, sort_keys=True, separators=(",", ":"))
            keys[row] = hashlib.sha256(f"{self._identity} {arguments_json}".encode(errors="surrogatepass")).hexdigest()
        return keys

    def __repr__(self) -> str:
        version = f", version={self.version!r}" if self.version else ""
        return f"cached({self.reward!r}, {self.path!r}{version})"


# --- Keys ------------------------------------------------------------------------------------------------


def _argument(source: str, batch: Batch, row: int) -> Any:
    """Return the value in the batch that an argument with this `source` is computed from."""
    if source == "completion":
        return batch.texts[row]
    if source == "messages":
        return batch.messages(row)
    if source == "trajectory":
        return _of_trajectory(batch, row)
    if source == "prompt":
        return batch.prompt_texts[row]
    if source == "example":
        return batch.example(row)
    if source == "completion_ids":
        return (batch.completion_ids or [])[row]
    return batch.columns[source][row]


def _of_trajectory(batch: Batch, row: int) -> Any:
    """Return the part of the key that identifies a trajectory: its messages and its environment's record."""
    records = (batch.rollouts.records or [None] * batch.size)[row]
    cut = batch.rollouts.cut is not None and batch.rollouts.cut[row]
    record_fields = [[record.name, dict(record.arguments), record.text, record.error] for record in records or ()]
    return [list(batch.messages(row)), record_fields, bool(cut), described(batch.rollouts.is_error)]


def _plain(value: Any, depth: int = 0) -> Any:
    """Return `value` as a JSON value that differs for different values, even for 1, 1.0, True, and "1"."""
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is float:
        return {"float": value.hex()}
    if kind is bytes:
        return {"bytes": value.hex()}
    if depth > _DEEPEST:
        raise _Unwritable("a value that is nested too deeply")
    if kind in (list, tuple):
        return [kind.__name__, *(_plain(item, depth + 1) for item in value)]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _plain(item, depth + 1) for key, item in value.items()}}
    if isinstance(value, np.ndarray) and value.dtype != object:
        return {"array": [str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]}
    raise _Unwritable(f"a value of type {kind.__name__}")


_warned: set[str] = set()


def _warn_once(name: str, unwritable: str) -> None:
    if name not in _warned:
        _warned.add(name)
        warn(
            f"cached: {name!r} reads {unwritable}, which cannot be part of a cache key, so rows with such values are "
            "scored every time. Remove rk.cached, or store text or numbers in the column"
        )


# --- Entries ---------------------------------------------------------------------------------------------


def _written(column: Column, row: int) -> str:
    value = None if column.codes[row] == ABSTAINED else float(column.values[row])
    parts = {name: float(part[row]) for name, part in column.parts.items() if not math.isnan(part[row])}
    return json.dumps([value, column.notes.get(row, ""), parts, *([column.turns[row]] if row in column.turns else [])])


def _restored(text: str, bounds: tuple[float, float], column: Column, row: int) -> bool:
    """Write the cache entry `text` into `column`; return False if the entry is not valid."""
    try:
        value, note, parts, *shares = json.loads(text)
        turns = shares[0] if shares else []
        numbers = [*parts.values(), *turns, *([] if value is None else [value])]
        is_valid = isinstance(note, str) and all(type(number) is float and math.isfinite(number) for number in numbers)
        if not is_valid or not (value is None or bounds[0] - TOLERANCE <= value <= bounds[1] + TOLERANCE):
            return False
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False
    column.codes[row] = ABSTAINED if value is None else SCORED
    if value is not None:
        column.values[row] = value
    if note:
        column.notes[row] = note
    if turns:
        column.turns[row] = turns
    for name, part in parts.items():
        column.parts.setdefault(name, np.full(len(column.values), np.nan))[row] = part
    return True


# --- The factory -----------------------------------------------------------------------------------------


def cached(reward: RewardLike, path: str | PathLike[str], *, version: str = "") -> Reward:
    """Return a reward that scores equal completions for the same row only once, even across batches and runs.

    ``rk.cached(rk.code_tests("tests"), "scores.sqlite")`` never runs a program twice. The name, scores, notes, and
    parts are the same as without the cache. The cache key consists of the arguments and the reward (its options, its
    function's source code, and the rewardkit version). Scores and abstentions are cached. Failures and bugs are not
    cached, so the reward is called again the next time.

    Args:
        reward: a function or ready reward that scores single completions. Cache the slow rewards in a tree instead of
            the whole tree.
        path: an SQLite file, which is created if it does not exist. All processes on a machine can share it, and so can
            several rewards and judges. It must not be on a network file system. If the file is locked or the disk is
            full, a warning is issued and the reward is called instead.
        version: any string. Change it if the scores change for a reason that the function's source code does not show,
            such as a change in a helper function that it calls or a new version of a model at the same path.

    Raises:
        MissingExtraError: the extra ``cache`` is not installed.
        RewardDefinitionError: the scores of `reward` depend on more than its arguments: it is random, receives a group
            or a batch, reads the training progress, writes logs, or has its own cache.
        RewardTypeError: `reward` is not a reward.
        RunStopped: during scoring, if the file is not a cache.
    """
    item = reward_of(reward, "cached")
    if not isinstance(version, str):
        raise RewardDefinitionError(f"cached: version must be text, got {shorten(version)}")
    file = checked_path(path, "rk.cached", "path", "cache")
    inner = item.facts.stands_for
    if inner is not None and not isinstance(item, Cached):
        return cached(inner, path, version=version).named(item.name)
    obstacles = "; ".join(_obstacles(item))
    if obstacles:
        raise RewardDefinitionError(f"cached: {shorten(item)} cannot be cached: {obstacles}")
    return Cached(item, file, version)


def _obstacles(reward: Reward) -> Iterator[str]:
    """Yield the reasons why the scores of `reward` depend on more than its arguments."""
    binding: Binding | None = reward.facts.binding
    if isinstance(reward, Cached):
        yield "it is cached already"
    elif binding is None:
        yield "it combines other rewards. Cache the slow ones inside it: rk.gate(a, rk.cached(b, path))"
    elif binding.foreign or binding.reads(WHOLE_BATCH):
        yield "it receives the whole batch. Write it as a function of one completion"
    elif binding.reads(ENVIRONMENT):
        yield "it reads the live environment"
    elif binding.scope != "sample":
        yield f"it scores a whole {binding.scope}, which hardly ever occurs again"
    elif not binding.deterministic:
        yield "it is declared with deterministic=False"
    elif binding.follows_progress:
        yield "it reads the training progress"
    elif binding.logs:
        yield "it logs, but a score from the file would not be logged"
    elif binding.measures:
        yield "judges have their own cache. Pass cache= to the judge"
