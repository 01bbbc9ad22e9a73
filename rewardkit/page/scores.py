"""A run's scores in memory, with one row per completion, in step order.

``Scores.of(relation.to_arrow_table())`` reads the scores. The pages compute all counts and averages from these arrays.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.score import Outcome
from rewardkit.record.schema import KEY, Key

if TYPE_CHECKING:
    import pyarrow

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rows = NDArray[np.bool_]
Texts = NDArray[np.object_]

OUTCOMES = [str(outcome) for outcome in Outcome]
_UNKNOWN = len(OUTCOMES)
_NUMBERS = {
    **{name: name for name in ("epoch", "length", "total", "advantage", "turns", "calls", "broken", "prompt_length")},
    **{"repeated": "repeated_calls", "errors": "tool_errors"},
    **{f"foreign_{name}": f"foreign/{name}" for name in ("own", "total", "form")},
}
"""Field in `Scores` -> column in the record."""


def key_text(key: Key) -> str:
    """Format a completion's key for a URL: ``1.0.12.5``."""
    return ".".join(map(str, key))


def read_key(text: str) -> Key | None:
    """Parse a key in the format of `key_text`; return None if `text` is not a key."""
    parts = text.split(".")
    # Fewer than ten digits: the columns are 32-bit integers.
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2]), int(parts[3])


def epoch_of(epoch: float) -> int:
    """Return the epoch number (counted from 1) for a fractional `epoch`.

    A whole number belongs to the epoch that it ends.
    """
    # The trainer adds up fractions of an epoch, so a whole number may be slightly larger.
    return max(math.ceil(epoch - 1e-6), 1)


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores' columns, (n,) each, with NaN for missing values."""

    attempt: Integers
    rank: Integers
    part: Integers
    row: Integers
    step: Integers
    epoch: Floats
    training: Rows
    group: Integers
    length: Floats
    total: Floats
    advantage: Floats
    prompt: Integers
    version: Integers
    prompt_ids: tuple[str, ...]
    versions: tuple[str, ...]
    components: dict[str, Floats]
    outcomes: dict[str, NDArray[np.int8]]
    terms: dict[str, Floats]
    length_unit: str
    turns: Floats
    calls: Floats
    repeated: Floats
    errors: Floats
    broken: Floats
    stop: Texts
    tools: Texts
    prompt_length: Floats
    foreign_own: Floats
    foreign_total: Floats
    foreign_form: Floats
    tried: dict[str, Floats] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.step)

    @classmethod
    def of(cls, table: pyarrow.Table) -> Scores:
        """Read the store's ``scores`` table."""
        numbers = {name: _numbers(table, column) for name, column in _NUMBERS.items()}
        if np.isnan(numbers["length"]).all():
            numbers["length"], unit = _numbers(table, "characters"), "characters"
        else:
            unit = "tokens"
        columns: dict[str, Any] = {**numbers, **{name: _integers(table, name) for name in (*KEY, "step", "group")}}
        prompt, prompt_ids = _codes(table, "prompt_id")
        version, versions = _codes(table, "version")
        scores = cls(
            **columns,
            training=np.asarray(table["training"].to_numpy(zero_copy_only=False), dtype=bool),
            prompt=prompt,
            version=version,
            prompt_ids=prompt_ids,
            versions=versions,
            components={name: _numbers(table, column) for column, name in _named(table, "components/")},
            outcomes={name: _outcomes(table, column) for column, name in _named(table, "outcomes/")},
            terms={name: _numbers(table, column) for column, name in _named(table, "terms/")},
            length_unit=unit,
            stop=_texts(table, "stop"),
            tools=_texts(table, "tools"),
        )
        return scores.in_order()

    def in_order(self) -> Scores:
        """Return the rows sorted by step. Within a step, the recording order is kept."""
        if (np.diff(self.step) >= 0).all():
            return self
        order = np.argsort(self.step, kind="stable")
        return Scores(**{attribute.name: _reorder(getattr(self, attribute.name), order) for attribute in fields(self)})

    def with_tried(self, columns: dict[str, Floats]) -> Scores:
        """Return the same rows with the results of a reward on trial, (n,) each."""
        scores = copy.copy(self)  # keeps all cached properties
        object.__setattr__(scores, "tried", columns)
        return scores

    def joined(self, new: Scores) -> Scores:
        """Return these rows followed by the rows of `new`."""
        prompt, prompt_ids = _joined_codes(self.prompt, self.prompt_ids, new.prompt, new.prompt_ids)
        version, versions = _joined_codes(self.version, self.versions, new.version, new.versions)
        sizes = len(self), len(new)
        values: dict[str, Any] = {}
        for attribute in fields(self):
            old_value, new_value = getattr(self, attribute.name), getattr(new, attribute.name)
            if isinstance(old_value, np.ndarray):
                values[attribute.name] = np.concatenate([old_value, new_value])
            elif isinstance(old_value, dict):
                names = dict.fromkeys([*old_value, *new_value])
                missing = np.int8(_UNKNOWN) if attribute.name == "outcomes" else np.nan
                values[attribute.name] = {
                    name: np.concatenate(
                        [
                            old_value.get(name, np.full(sizes[0], missing)),
                            new_value.get(name, np.full(sizes[1], missing)),
                        ]
                    )
                    for name in names
                }
            else:
                values[attribute.name] = old_value if sizes[0] else new_value
        coded = {"prompt": prompt, "prompt_ids": prompt_ids, "version": version, "versions": versions}
        return Scores(**{**values, **coded}).in_order()

    @cached_property
    def by_prompt(self) -> tuple[Integers, Integers]:
        """The rows sorted by prompt (n,), and each prompt's start in that order, plus the end (prompts + 1,)."""
        order = np.argsort(self.prompt, kind="stable")
        starts = np.searchsorted(self.prompt[order], np.arange(len(self.prompt_ids) + 1))
        return order, starts

    @cached_property
    def code_of(self) -> dict[str, int]:
        return {prompt: code for code, prompt in enumerate(self.prompt_ids)}

    @cached_property
    def by_epoch(self) -> bool:
        """Whether visits are epochs (if the run has at least two) instead of steps."""
        epochs = self.epoch[self.training]
        epochs = epochs[~np.isnan(epochs)]
        return bool(len(epochs)) and float(epochs.max()) > 1.0

    @cached_property
    def visit(self) -> Integers:
        """Each row's epoch (n,), counted from 1, or its step if the run has fewer than two epochs."""
        if not self.by_epoch:
            return self.step
        # The last step of an epoch has a whole number and belongs to the epoch that it ends.
        return np.nan_to_num(np.maximum(np.ceil(self.epoch - 1e-6), 1.0)).astype(np.int64)

    @property
    def visit_word(self) -> str:
        return "epoch" if self.by_epoch else "step"

    def rows_of(self, prompt_id: str) -> Integers:
        """Return one prompt's rows in step order."""
        code = self.code_of.get(prompt_id)
        if code is None:
            return np.empty(0, dtype=np.int64)
        order, starts = self.by_prompt
        return order[starts[code] : starts[code + 1]]

    def key(self, row: int) -> Key:
        return int(self.attempt[row]), int(self.rank[row]), int(self.part[row]), int(self.row[row])

    def keys(self, rows: Integers) -> list[Key]:
        """Return the keys of the completions at `rows`."""
        columns = (self.attempt, self.rank, self.part, self.row)
        return list(zip(*(column[rows].tolist() for column in columns), strict=True))

    def find(self, key: Key | None) -> int | None:
        """Return the row of the completion with this key, or None if no completion has the key."""
        if key is None:
            return None
        attempt, rank, part, row = key
        same = (self.part == part) & (self.row == row) & (self.rank == rank) & (self.attempt == attempt)
        matches = np.flatnonzero(same)
        return int(matches[0]) if len(matches) else None

    @cached_property
    def index(self) -> RowIndex:
        """An index for finding completions by key."""
        return RowIndex([self.attempt, self.rank, self.part, self.row])

    def outcome(self, name: str, row: int) -> str:
        codes = self.outcomes.get(name)
        return OUTCOMES[codes[row]] if codes is not None and codes[row] < _UNKNOWN else ""

    @cached_property
    def has_turns(self) -> bool:
        """Whether any completion has more than one turn, or a tool call."""
        return bool(((self.turns > 1.0) | (self.calls > 0.0)).any())

    @cached_property
    def length_known(self) -> bool:
        return not bool(np.isnan(self.length).all())


class RowIndex:
    """An index of rows by integer columns: ``RowIndex([x, y]).places(np.array([[1, 2]]))`` is the row with x 1, y 2."""

    def __init__(self, columns: Sequence[Integers]) -> None:
        self._values = [np.unique(column) for column in columns]
        # Replace values by their ranks, so that the combined numbers stay small.
        self.numbers = self._packed([np.searchsorted(*pair) for pair in zip(self._values, columns, strict=True)])
        self._order = np.argsort(self.numbers, kind="stable")
        self._sorted = self.numbers[self._order]

    def places(self, keys: Integers) -> Integers:
        """Return each key's row (m,), for `keys` of shape (m, columns), or -1 if there is no row."""
        if not len(self._sorted):
            return np.full(len(keys), -1)
        positions, is_present = [], np.ones(len(keys), dtype=np.bool_)
        for values, column in zip(self._values, keys.T, strict=True):
            position = np.minimum(np.searchsorted(values, column), len(values) - 1)
            is_present &= values[position] == column
            positions.append(position)
        numbers = self._packed(positions)
        indices = np.minimum(np.searchsorted(self._sorted, numbers), len(self._sorted) - 1)
        return np.where(is_present & (self._sorted[indices] == numbers), self._order[indices], -1)

    def _packed(self, columns: Sequence[Integers]) -> Integers:
        numbers = np.zeros(len(columns[0]), dtype=np.int64)
        for values, column in zip(self._values, columns, strict=True):
            numbers = numbers * len(values) + column
        return numbers


def _named(table: pyarrow.Table, prefix: str) -> list[tuple[str, str]]:
    return [(name, name[len(prefix) :]) for name in table.column_names if name.startswith(prefix)]


def _numbers(table: pyarrow.Table, name: str) -> Floats:
    import pyarrow as pa

    return np.asarray(table[name].cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _integers(table: pyarrow.Table, name: str) -> Integers:
    import pyarrow.compute as compute

    return np.asarray(compute.fill_null(table[name], 0).to_numpy(zero_copy_only=False), dtype=np.int64)


def _codes(table: pyarrow.Table, name: str) -> tuple[Integers, tuple[str, ...]]:
    import pyarrow as pa
    import pyarrow.compute as compute

    if not table.num_rows:
        return np.empty(0, dtype=np.int64), ()
    column = compute.fill_null(table[name].cast(pa.string()), "").combine_chunks().dictionary_encode()
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return np.asarray(column.indices, dtype=np.int64), tuple(column.dictionary.to_pylist())


def _texts(table: pyarrow.Table, name: str) -> Texts:
    """Return a text column (n,). Equal texts share one object."""
    codes, names = _codes(table, name)
    lookup = np.array([*names, ""], dtype=np.object_)
    return lookup[codes]


def _outcomes(table: pyarrow.Table, name: str) -> NDArray[np.int8]:
    codes, names = _codes(table, name)
    code_by_name = {outcome: code for code, outcome in enumerate(OUTCOMES)}
    lookup = np.array([code_by_name.get(outcome_name, _UNKNOWN) for outcome_name in names] or [_UNKNOWN], dtype=np.int8)
    return lookup[codes] if len(codes) else np.empty(0, dtype=np.int8)


def _reorder(value: Any, order: Integers) -> Any:
    if isinstance(value, np.ndarray):
        return value[order]
    return {name: array[order] for name, array in value.items()} if isinstance(value, dict) else value


def _joined_codes(
    old: Integers, old_names: tuple[str, ...], new: Integers, new_names: tuple[str, ...]
) -> tuple[Integers, tuple[str, ...]]:
    names = {name: code for code, name in enumerate(old_names)}
    lookup = np.array([names.setdefault(name, len(names)) for name in new_names] or [0], dtype=np.int64)
    return np.concatenate([old, lookup[new] if len(new) else new]), tuple(names)
