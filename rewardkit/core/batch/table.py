"""ScoreTable: all scores of one batch, column by column.

``rk.score(reward, ["<answer>42</answer>", "no idea"], answer=["42", "7"])`` returns a ScoreTable:
``table.total`` is ``array([1., 0.])``, ``table.outcomes["number"][0]`` is ``Outcome.SCORED``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rewardkit.core.batch.column import Column, Floats, Rows
from rewardkit.core.batch.score import FAILED, SCORED, Fault, Measured, Outcome
from rewardkit.core.batch.table_html import render_html
from rewardkit.core.batch.table_text import render_text
from rewardkit.core.errors import near_miss

if TYPE_CHECKING:
    import pandas

_MEMBERS = np.empty(len(Outcome), dtype=object)
_MEMBERS[:] = list(Outcome)


class _Named(Mapping[str, Any]):
    """A read-only mapping by component that computes its entries on access and suggests near misses."""

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
            raise KeyError(f"no component {name!r}. Components: {known}.{near_miss(name, self._columns)}") from None

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


class _Turns(_Named):
    def __getitem__(self, name: str) -> list[Floats]:
        column = self.column(name)
        return [np.asarray(column.turns.get(row, ()), dtype=np.float64) for row in range(len(column.values))]


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """All scores of one batch of n completions, column by column.

    Attributes:
        completions: the n texts that were scored.
        components: name -> Column of each named reward, before weights and gates.
        terms: name -> (n,) additive share of the total: NaN where the reward abstained or the row is unscorable, 0.0
            behind a closed gate and in the other branches of a route.
        total: (n,) ``nansum`` of the terms, NaN where the row is unscorable.
        weights: name of a term -> its weight in this batch, averaged over the rows where it counts.
        reached: name of a term -> how many rows it counts in: behind open gates, in its own routes.
        passed: name of a gate -> the rows (n,) that reached it, and the rows that passed it.
        gauges: ``threshold/<gate>``, ``stage/<curriculum>`` -> its current value, if it moves with training.
        measures: name of a component -> its other measurements in this batch: calls, tokens, money.
        timings: name of a component -> seconds spent in it.
        faults: the rows that failed or errored.
        metrics: what functions logged with ``log_metric``, averaged; empty if a trainer logs it.
        extras: what functions logged with ``log_extra``, one value per completion; empty if a trainer logs it.
    """

    completions: Sequence[str]
    components: Mapping[str, Column]
    terms: Mapping[str, Floats]
    total: Floats
    weights: Mapping[str, float] = field(default_factory=dict)
    reached: Mapping[str, int] = field(default_factory=dict)
    passed: Mapping[str, tuple[Rows, Rows]] = field(default_factory=dict)
    gauges: Mapping[str, float] = field(default_factory=dict)
    measures: Mapping[str, Measured] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    extras: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.total)

    @property
    def stop(self) -> str | None:
        """Why the run has to stop; None if it can continue."""
        return next((fault.reason for fault in self.faults if fault.stops), None)

    def unparsable(self, name: str) -> Rows:
        """Return (n,) whether a component failed because a gold cell cannot be read, itself or in one of its parts."""
        rows = np.zeros(len(self), dtype=np.bool_)
        rows[[fault.row for fault in self.faults if fault.unparsable]] = True
        outages = [fault for fault in self.faults if fault.outcome is Outcome.FAILED and not fault.unparsable]
        rows[[fault.row for fault in outages if fault.component == name]] = False
        unparsable: Rows = rows & (self.components[name].codes == FAILED)
        return unparsable

    def __getitem__(self, name: str) -> Floats:
        """Return (n,) the raw values of one component, NaN where it was not scored."""
        return _Named(self.components).column(name).scored

    def __contains__(self, name: object) -> bool:
        return name in self.components

    @property
    def gates(self) -> Mapping[str, float]:
        """Gate -> share of the rows that reached it and passed (0 to 1); gates that no row reached are left out."""
        gates = self.passed.items()
        return {name: float(passed.sum() / reached.sum()) for name, (reached, passed) in gates if reached.any()}

    @property
    def measured(self) -> Mapping[str, float]:
        """The measurements of all components in this batch, such as ``judge_calls/<judge>``."""
        return {
            f"{what}/{name}": number
            for name, found in self.measures.items()
            for what, number in found.numbers().items()
        }

    def part(self, start: int, stop: int) -> ScoreTable:
        """Return the rows from `start` up to `stop`; weights and timings stay those of all rows."""
        rows = slice(start, stop)
        return replace(
            self,
            completions=self.completions[rows],
            components={name: column.part(start, stop) for name, column in self.components.items()},
            terms={name: values[rows] for name, values in self.terms.items()},
            total=self.total[rows],
            passed={name: (reached[rows], passed[rows]) for name, (reached, passed) in self.passed.items()},
            faults=tuple(replace(fault, row=fault.row - start) for fault in self.faults if start <= fault.row < stop),
        )

    @property
    def outcomes(self) -> Mapping[str, NDArray[np.object_]]:
        """Component -> (n,) array of :class:`Outcome`."""
        return _Outcomes(self.components)

    @property
    def notes(self) -> Mapping[str, list[str]]:
        """Component -> n notes, empty for rows without one."""
        return _Notes(self.components)

    @property
    def parts(self) -> Mapping[str, dict[str, Floats]]:
        """Component -> part -> (n,) numbers, NaN for rows without that part."""
        return _Parts(self.components)

    @property
    def turns(self) -> Mapping[str, list[Floats]]:
        """Component -> for each row (turns,) the share of each turn in the value; empty where none is known."""
        return _Turns(self.components)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with one row per completion: text, total, and each component's value, outcome and note.

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

    def _cells(self, rows: int, between_notes: str) -> tuple[list[str], list[list[str]]]:
        """Return the header and the first `rows` rows as text."""
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
            line += ["unscorable" if np.isnan(total) else f"{total:.3g}", between_notes.join(said)]
            cells.append(line)
        return ["", "completion", *names, "total", "note"], cells

    def __repr__(self) -> str:
        header, cells = self._cells(rows=20, between_notes="; ")
        return render_text(header, cells, left=len(self) - len(cells))

    def _repr_html_(self) -> str:
        header, cells = self._cells(rows=50, between_notes="\n")
        return render_html(header, cells, left=len(self) - len(cells))
