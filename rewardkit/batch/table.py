"""ScoreTable: all scores for one batch, column by column.

``rk.score(reward, ["<answer>42</answer>", "no idea"], answer=["42", "7"])`` returns a ScoreTable:
``table.total`` is ``array([1., 0.])``, ``table.outcomes["number"][0]`` is ``Outcome.SCORED``.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.column import Column, Floats, Rows
from rewardkit.batch.score import FAILED, SCORED, Fault, Measured, Outcome
from rewardkit.batch.table_text import render_text, visible
from rewardkit.errors import near_miss

if TYPE_CHECKING:
    import pandas


# Tables as HTML for a notebook: styled, wrapped, light or dark like the notebook, and without JavaScript.


_CUT = 160
"""The number of characters of a text that are shown before the reader expands it. Like `_LINES`, the number is
arbitrary: a table should fit on a screen."""
_LINES = 4
"""The number of lines of a text that are shown before the reader expands it."""
_MOST = 5_000
"""The maximum number of characters in an expanded text. The limit is arbitrary: a notebook stores all of the
characters."""
_TEXTUAL = ("completion", "note")
# Semitransparent gray is visible on light and dark backgrounds; all other colors are the notebook's own.
_STYLE = """
.rewardkit-scores{overflow-x:auto;margin:.4em 0}
.rewardkit-scores table{border-collapse:collapse;table-layout:auto;margin:0;font-size:13px;line-height:1.45;
color:inherit}
.rewardkit-scores th,.rewardkit-scores td{padding:5px 10px;border:0;border-bottom:1px solid rgba(128,128,128,.3);
vertical-align:top;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.rewardkit-scores th{font-weight:600;vertical-align:bottom;border-bottom:2px solid rgba(128,128,128,.5);
white-space:normal;overflow-wrap:break-word}
.rewardkit-scores tr>.text{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:14em;max-width:44em}
.rewardkit-scores .row,.rewardkit-scores .rest,.rewardkit-scores summary::marker{opacity:.6}
.rewardkit-scores .none{font-style:italic;opacity:.7}
.rewardkit-scores .bad{background:rgba(214,64,54,.2)}
.rewardkit-scores .total{font-weight:600}
.rewardkit-scores details,.rewardkit-scores summary{margin:0;padding:0;border:0;background:none}
.rewardkit-scores summary{cursor:pointer}
.rewardkit-scores details[open]>summary>span{display:none}
.rewardkit-scores details[open]>summary::after{content:"in full";opacity:.6}
.rewardkit-scores pre{margin:5px 0 2px;padding:6px 8px;background:rgba(128,128,128,.14);color:inherit;font-size:12px;
white-space:pre-wrap;overflow-wrap:anywhere;max-height:24em;overflow-y:auto}
""".strip().replace("\n", "")


def render_html(header: Sequence[str], cells: Sequence[Sequence[str]], *, left: int) -> str:
    """Return an HTML table.

    The first column contains row numbers, and `left` is the number of rows that are not shown.
    """
    kinds = ["row" if index == 0 else "text" if name in _TEXTUAL else name for index, name in enumerate(header)]
    head = "".join(
        f'<th class="text">{html.escape(name)}</th>' if kind == "text" else f"<th>{html.escape(visible(name))}</th>"
        for name, kind in zip(header, kinds, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(_cell(cell, kind) for cell, kind in zip(line, kinds, strict=True))}</tr>" for line in cells
    )
    rest = f'<div class="rest">... and {left:,} more rows</div>' if left else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="rewardkit-scores"><style>{_STYLE}</style>{table}{rest}</div>'


def _cell(cell: str, kind: str) -> str:
    if kind == "text":
        return f'<td class="text">{_text(cell)}</td>'
    classes = [kind] if kind in ("row", "total") else []
    if cell in ("failed", "errored", "unscorable"):
        classes.append("bad")
    elif cell in ("abstained", "skipped"):
        classes.append("none")
    return f'<td class="{" ".join(classes)}">{html.escape(cell)}</td>' if classes else f"<td>{html.escape(cell)}</td>"


def _text(text: str) -> str:
    """Return HTML for a text; if it is long, it is truncated, with an element that expands it."""
    short = "\n".join(text[:_CUT].split("\n", _LINES)[:_LINES])
    if short == text:
        return _shown(text, "<br>")
    full = _shown(text[:_MOST], "\n") + (f"\n... ({len(text):,} characters)" if len(text) > _MOST else "")
    return f"<details><summary><span>{_shown(short, '<br>')}...</span></summary><pre>{full}</pre></details>"


def _shown(text: str, line_break: str) -> str:
    return line_break.join(html.escape(visible(line)) for line in text.split("\n"))


_MEMBERS = np.empty(len(Outcome), dtype=object)
_MEMBERS[:] = list(Outcome)


class _Named(Mapping[str, Any]):
    """A read-only mapping by component, which reads entries from columns on access and suggests similar names."""

    def __init__(self, columns: Mapping[str, Column], read: Callable[[Column], Any]) -> None:
        self._columns = columns
        self._read = read

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            components = ", ".join(self._columns) or "none"
            raise KeyError(f"no component {name!r}. Components: {components}.{near_miss(name, self._columns)}")
        return self._read(self._columns[name])

    def __repr__(self) -> str:
        return repr(dict(self))


def _notes(column: Column) -> list[str]:
    return [column.notes.get(row, "") for row in range(len(column.values))]


def _turns(column: Column) -> list[Floats]:
    return [np.asarray(column.turns.get(row, ()), dtype=np.float64) for row in range(len(column.values))]


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """All scores for one batch of n completions, column by column.

    Attributes:
        completions: the n completions that were scored, as text.
        components: name -> the Column for each named reward, before weights and gates.
        terms: name -> (n,) the additive share of the total. It is NaN if the reward abstained or the row is unscorable,
            and 0.0 behind a closed gate and in the branches of a route that do not apply.
        total: (n,) the ``nansum`` of the terms, or NaN if the row is unscorable.
        weights: term name -> the term's weight in this batch, averaged over the rows in which the term counts.
        reached: term name -> the number of rows in which the term counts: the rows behind open gates and in the term's
            routes.
        passed: gate name -> the rows (n,) that reached the gate, and the rows that passed it.
        gauges: ``threshold/<gate>`` or ``stage/<curriculum>`` -> the current value, if it changes during training.
        measures: component name -> measurements in this batch: calls, tokens, or money.
        timings: component name -> the seconds spent in the component.
        faults: the rows that failed or errored.
        metrics: the averages of the values that functions logged with ``log_metric``. Empty if a trainer logs them.
        extras: the values that functions logged with ``log_extra``, one value per completion. Empty if a trainer logs
            them.
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
        """The reason why the run must stop, or None if it can continue."""
        return next((fault.reason for fault in self.faults if fault.stops), None)

    def unparsable(self, name: str) -> Rows:
        """Return the rows (n,) in which a component, or a part of it, failed because a gold cell is unreadable."""
        rows = np.zeros(len(self), dtype=np.bool_)
        rows[[fault.row for fault in self.faults if fault.unparsable]] = True
        outages = [fault for fault in self.faults if fault.outcome is Outcome.FAILED and not fault.unparsable]
        rows[[fault.row for fault in outages if fault.component == name]] = False
        unparsable: Rows = rows & (self.components[name].codes == FAILED)
        return unparsable

    def __getitem__(self, name: str) -> Floats:
        """Return a component's raw values (n,); NaN in rows that were not scored."""
        values: Floats = _Named(self.components, lambda column: column.scored)[name]
        return values

    def __contains__(self, name: object) -> bool:
        return name in self.components

    @property
    def gates(self) -> Mapping[str, float]:
        """Gate -> the fraction (0 to 1) of the rows reaching the gate that pass it. Unreached gates are omitted."""
        gates = self.passed.items()
        return {name: float(passed.sum() / reached.sum()) for name, (reached, passed) in gates if reached.any()}

    @property
    def measured(self) -> Mapping[str, float]:
        """The measurements of all components in this batch, such as ``judge_calls/<judge>``."""
        return {
            f"{measure}/{name}": number
            for name, usage in self.measures.items()
            for measure, number in usage.numbers().items()
        }

    def part(self, start: int, stop: int) -> ScoreTable:
        """Return the rows from `start` to `stop` (excluded). Weights and timings still refer to all rows."""
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
        return _Named(self.components, lambda column: _MEMBERS[column.codes])

    @property
    def notes(self) -> Mapping[str, list[str]]:
        """Component -> n notes, which are empty for rows without a note."""
        return _Named(self.components, _notes)

    @property
    def parts(self) -> Mapping[str, dict[str, Floats]]:
        """Component -> part -> (n,) numbers, which are NaN for rows without that part."""
        return _Named(self.components, lambda column: column.parts)

    @property
    def turns(self) -> Mapping[str, list[Floats]]:
        """Component -> for each row, each turn's share of the value (turns,); empty if unknown."""
        return _Named(self.components, _turns)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with one row per completion: its text, total, and component values, outcomes, and notes.

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
            notes = []
            for name, column in self.components.items():
                code = int(column.codes[row])
                line.append(f"{column.values[row]:.3g}" if code == SCORED else str(_MEMBERS[code]))
                if row in column.notes:
                    notes.append(f"{name}: {column.notes[row]}")
            total = self.total[row]
            line += ["unscorable" if np.isnan(total) else f"{total:.3g}", between_notes.join(notes)]
            cells.append(line)
        return ["", "completion", *names, "total", "note"], cells

    def __repr__(self) -> str:
        # Arbitrary number of rows, here and below: a table should fit a terminal, and a notebook.
        header, cells = self._cells(rows=20, between_notes="; ")
        return render_text(header, cells, left=len(self) - len(cells))

    def _repr_html_(self) -> str:
        header, cells = self._cells(rows=50, between_notes="\n")
        return render_html(header, cells, left=len(self) - len(cells))
