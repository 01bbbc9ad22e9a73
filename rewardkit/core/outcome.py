"""What scoring gives back: Score (one), Column (one component), ScoreTable (all of a batch).

``rk.score(reward, ["<answer>42</answer>", "no idea"], answer=["42", "7"])`` returns a ScoreTable:
``table.total`` is ``array([1., 0.])``, ``table.outcomes["number"][0]`` is ``Outcome.SCORED``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rewardkit.core.errors import near_miss
from rewardkit.core.table_text import render_html, render_text

if TYPE_CHECKING:
    import pandas

Floats = NDArray[np.float64]
Codes = NDArray[np.int8]
Rows = NDArray[np.bool_]


class Outcome(str, Enum):
    """How a score came about. A string too: ``Outcome.FAILED == "failed"``."""

    SCORED = "scored"
    """A finite number within the declared bounds."""
    ABSTAINED = "abstained"
    """The reward does not apply to this sample; it drops out of the sum."""
    FAILED = "failed"
    """Could not be computed, for reasons that are not the completion's (a judge is down, a worker was killed)."""
    ERRORED = "errored"
    """The reward's own code raised or returned nonsense on this completion."""
    SKIPPED = "skipped"
    """Not evaluated: behind a closed gate, or its weight is constantly zero."""

    def __str__(self) -> str:
        return self.value


SCORED, ABSTAINED, FAILED, ERRORED, SKIPPED = range(5)
"""The codes that columns hold: positions in ``list(Outcome)``."""

_MEMBERS = np.empty(len(Outcome), dtype=object)
_MEMBERS[:] = list(Outcome)


@dataclass(frozen=True, slots=True)
class Score:
    """One result with its reason: ``return rk.Score(0.5, note="off by 2", parts={"distance": 2.0})``.

    Args:
        value: a finite number within the reward's bounds.
        note: why; shown beside the score in tables and logs.
        parts: numbers that explain the value; logged, never summed.
    """

    value: float
    note: str = ""
    parts: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def __reduce__(self) -> tuple[Any, ...]:
        return Score, (self.value, self.note, dict(self.parts))


@dataclass(slots=True)
class Column:
    """One reward over a whole batch.

    ``values`` (n,) holds what a row contributes and NaN where nothing does, ``codes`` (n,) says how it came
    about: an errored row may contribute its lowest bound, yet never reads as a scored one.
    """

    values: Floats
    codes: Codes
    notes: dict[int, str] = field(default_factory=dict)
    parts: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def empty(cls, size: int, code: int = SKIPPED) -> Column:
        return cls(np.full(size, np.nan), np.full(size, code, dtype=np.int8))

    @classmethod
    def abstained(cls, size: int) -> Column:
        return cls.empty(size, ABSTAINED)

    @classmethod
    def combined(cls, children: Sequence[tuple[Column, bool]], values: Floats, rows: Rows) -> Column:
        """A composite's column: failed where a live child failed, else `values` where one contributes.

        Args:
            children: each with whether it is live (its weight is not zero). Without any live one, those that were
                scored at weight zero still make the composite scored.
            values: (n,) what the composite gives where something contributes.
            rows: (n,) the rows to fill.
        """
        result = cls.empty(len(rows))
        live = [column for column, is_live in children if is_live]
        scored, failed = np.zeros_like(rows), np.zeros_like(rows)
        for column in live or [column for column, _ in children]:
            scored |= column.contributing
        for column in live:
            failed |= column.unscorable
        result.codes[rows] = np.select([failed, scored], [FAILED, SCORED], ABSTAINED)[rows]
        filled = rows & scored & ~failed
        result.values[filled] = values[filled]
        return result

    @property
    def contributing(self) -> Rows:
        """(n,) rows that have a number to add."""
        return ~np.isnan(self.values)

    @property
    def unscorable(self) -> Rows:
        """(n,) rows that failed without a stand-in value."""
        unscorable: Rows = (self.codes == FAILED) & np.isnan(self.values)
        return unscorable

    def fill(self, rows: Rows, other: Column) -> None:
        """Take over `other` in `rows`."""
        self.values[rows] = other.values[rows]
        self.codes[rows] = other.codes[rows]
        self.notes.update((row, note) for row, note in other.notes.items() if rows[row])
        for name, part in other.parts.items():
            self.parts.setdefault(name, np.full(len(self.values), np.nan))[rows] = part[rows]

    def part(self, start: int, stop: int) -> Column:
        """The rows from `start` up to `stop`."""
        notes = {row - start: note for row, note in self.notes.items() if start <= row < stop}
        parts = {name: values[start:stop] for name, values in self.parts.items()}
        return Column(self.values[start:stop], self.codes[start:stop], notes, parts)

    @property
    def scored(self) -> Floats:
        """(n,) the values of scored rows, NaN elsewhere."""
        return np.where(self.codes == SCORED, self.values, np.nan)


def weighted_total(columns: Sequence[tuple[float, Column]]) -> Floats:
    """(n,) the sum of what contributes, by weight."""
    total = np.zeros(len(columns[0][1].values))
    for weight, column in columns:
        if weight != 0.0:
            total += np.where(column.contributing, weight * column.values, 0.0)
    return total


@dataclass(frozen=True, slots=True)
class Fault:
    """One row that failed or errored, with what is needed to find out why.

    Attributes:
        stops: whether every later row would meet it too, so that the run has to stop.
    """

    component: str
    row: int
    outcome: Outcome
    reason: str
    traceback: str = ""
    stops: bool = False


class Measured(Protocol):
    """What was measured of a reward while it was evaluated on some rows."""

    def __add__(self, other: Any, /) -> Measured:
        """Both as one: of all their rows."""

    def numbers(self) -> Mapping[str, float]:
        """Name -> number, for logs: ``{"judge_calls": 12.0}``."""


class _Named(Mapping[str, Any]):
    """A read-only mapping by component that computes its entries when asked and names near misses."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def column(self, name: str) -> Column:
        try:
            return self._columns[name]
        except KeyError:
            known = ", ".join(self._columns) or "none"
            raise KeyError(f"no component {name!r}; there are: {known}.{near_miss(name, self._columns)}") from None

    def __getitem__(self, name: str) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return repr(dict(self))


class _Outcomes(_Named):
    def __getitem__(self, name: str) -> NDArray[np.object_]:
        members: NDArray[np.object_] = _MEMBERS[self.column(name).codes]
        return members


class _Notes(_Named):
    def __getitem__(self, name: str) -> list[str]:
        column = self.column(name)
        return [column.notes.get(row, "") for row in range(len(column.values))]


class _Parts(_Named):
    def __getitem__(self, name: str) -> dict[str, Floats]:
        return self.column(name).parts


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """All scores of one batch of n completions, by column.

    Attributes:
        completions: the n texts that were scored.
        components: name -> Column of each named reward, raw (before weights and gates).
        terms: name -> (n,) additive share of the total: NaN where the reward abstained or the row is unscorable, 0.0
            behind a closed gate and where another branch of a route was taken.
        total: (n,) ``nansum`` of the terms, NaN where the row is unscorable.
        weights: name of a term -> its weight in this batch, averaged over the rows where it counts.
        reached: name of a term -> how many rows it counts in: behind open gates, in its own routes.
        passed: name of a gate -> how many rows reached it, and how many of them it let through.
        gauges: ``threshold/<gate>``, ``stage/<curriculum>`` -> what it is now, where it moves with training.
        measures: name of a component -> what else was measured of it in this batch.
        timings: name of a component -> seconds spent in it.
        faults: the rows that failed or errored.
    """

    completions: Sequence[str]
    components: Mapping[str, Column]
    terms: Mapping[str, Floats]
    total: Floats
    weights: Mapping[str, float] = field(default_factory=dict)
    reached: Mapping[str, int] = field(default_factory=dict)
    passed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    gauges: Mapping[str, float] = field(default_factory=dict)
    measures: Mapping[str, Measured] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    def __len__(self) -> int:
        return len(self.total)

    @property
    def stop(self) -> str | None:
        """Why the run has to stop, if it has to."""
        return next((fault.reason for fault in self.faults if fault.stops), None)

    def __getitem__(self, name: str) -> Floats:
        """(n,) raw values of one component, NaN where it was not scored."""
        return _Named(self.components).column(name).scored

    def __contains__(self, name: object) -> bool:
        return name in self.components

    @property
    def gates(self) -> Mapping[str, float]:
        """Gate -> share of the rows reaching it that it let through (0 to 1); without those that no row reached."""
        return {name: passed / reached for name, (reached, passed) in self.passed.items() if reached}

    @property
    def measured(self) -> Mapping[str, float]:
        """``judge_calls/<judge>`` and the like: what was measured of components in this batch."""
        return {
            f"{what}/{name}": number
            for name, found in self.measures.items()
            for what, number in found.numbers().items()
        }

    def part(self, start: int, stop: int) -> ScoreTable:
        """The rows from `start` up to `stop`; weights, pass rates and timings stay those of all rows."""
        rows = slice(start, stop)
        return replace(
            self,
            completions=self.completions[rows],
            components={name: column.part(start, stop) for name, column in self.components.items()},
            terms={name: values[rows] for name, values in self.terms.items()},
            total=self.total[rows],
            faults=tuple(replace(fault, row=fault.row - start) for fault in self.faults if start <= fault.row < stop),
        )

    @property
    def outcomes(self) -> Mapping[str, NDArray[np.object_]]:
        """Component -> (n,) array of :class:`Outcome`."""
        return _Outcomes(self.components)

    @property
    def notes(self) -> Mapping[str, list[str]]:
        """Component -> n notes, empty where there is nothing to say."""
        return _Notes(self.components)

    @property
    def parts(self) -> Mapping[str, dict[str, Floats]]:
        """Component -> part -> (n,) numbers, NaN where a row has no such part."""
        return _Parts(self.components)

    def to_pandas(self) -> pandas.DataFrame:
        """One row per completion: text, total, and for each component its value, outcome and note.

        Raises:
            ImportError: pandas is not installed.
        """
        import pandas

        columns: dict[str, Any] = {"completion": list(self.completions), "total": self.total}
        for name in self.components:
            columns[f"component.{name}" if name in ("completion", "total") else name] = self[name]
            columns[f"{name}.outcome"] = [str(outcome) for outcome in self.outcomes[name]]
            columns[f"{name}.note"] = self.notes[name]
        columns.update({f"term.{name}": values for name, values in self.terms.items()})
        return pandas.DataFrame(columns)

    def _cells(self, rows: int) -> tuple[list[str], list[list[str]]]:
        """Header and the first `rows` rows of the table a person reads."""
        names = list(self.components)
        cells = []
        for row in range(min(rows, len(self))):
            line = [str(row), self.completions[row]]
            said = []
            for name, column in self.components.items():
                code = int(column.codes[row])
                line.append(f"{column.values[row]:.3g}" if code == SCORED else str(_MEMBERS[code]))
                if row in column.notes:
                    said.append(f"{name}: {column.notes[row]}")
            total = self.total[row]
            line += ["unscorable" if np.isnan(total) else f"{total:.3g}", "; ".join(said)]
            cells.append(line)
        return ["", "completion", *names, "total", "note"], cells

    def __repr__(self) -> str:
        header, cells = self._cells(rows=20)
        return render_text(header, cells, left=len(self) - len(cells))

    def _repr_html_(self) -> str:
        header, cells = self._cells(rows=50)
        return render_html(header, cells, left=len(self) - len(cells))
