"""Check the cells by reading every row as the reward will read it.

Without this check, a cell that does not match a function's annotation could stop the run after hours, and rows with an
unreadable gold answer would not get a score.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Rows
from rewardkit.batch.equality import equality
from rewardkit.errors import BindingError, CoercionError, shorten
from rewardkit.tree.binding import Binding, coerce_column
from rewardkit.tree.coercion import is_missing
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward, child_rows
from rewardkit_adapters.runner.preflight.findings import Finding, Table

SHOWN = 10
"""The maximum number of rows listed in a finding. The limit is arbitrary and keeps reports readable."""
_VALUE, _REASON = 80, 120
"""The maximum numbers of characters in a value and in the reason why it cannot be read. The limits are arbitrary and
keep findings short."""
_MOST_UNREADABLE = 0.01
"""The share of unreadable distinct gold answers above which a run does not start. If so many are unreadable, the
problem is their format, not a few bad cells.

The share of rows must also be above this limit, because a single row with the option "E" can be one of five distinct
gold answers.
"""
_SHOWN_GOLDS = 50
"""The maximum number of gold answers that are listed. It is higher than for other cells, because all of them must be
fixed."""
_SLOW = 1.0
"""The time for reading one gold answer, in seconds, above which the gold answer is reported. The limit is arbitrary. In
every process, the whole batch waits for each gold answer."""


def cells(tree: Reward, table: Table) -> Iterator[Finding]:
    """Find cells that do not match the reward's annotations, are None, or do not match any route.

    Rows whose gold answer a ready-made reward cannot read are added to ``table.unreadable``.
    """
    batch = Batch([""] * table.size, prompts=table.prompts, columns={name: table.values(name) for name in table.named})
    checked_keys: set[tuple[Parameter, str, bool, bytes]] = set()
    for node, rows in _rows_by_node(tree, batch):
        if node.facts.choose is not None:
            yield from _unrouted(node, batch, rows, table)
        binding = node.facts.binding
        if binding is None or any(column.source not in batch.columns for column in binding.columns):
            continue
        where = np.flatnonzero(rows).tolist()
        for parameter in binding.columns:
            key = (parameter, repr(parameter.annotation), binding.trusted, rows.tobytes())
            if key not in checked_keys:
                checked_keys.add(key)
                yield from _cells_of(table.label(node), parameter, where, table, gold=binding.trusted)
        if binding.trusted and len(binding.columns) > 1:
            yield from _joint_findings(node, binding, where, table)


def _rows_by_node(tree: Reward, batch: Batch) -> list[tuple[Reward, Rows]]:
    """Return each node with a mask for the rows that routes select for the node."""
    rows_by_node: dict[Reward, Rows] = {}
    stack = [(tree, np.ones(batch.size, dtype=np.bool_))]
    while stack:
        node, rows = stack.pop()
        rows_by_node[node] = rows_by_node[node] | rows if node in rows_by_node else rows
        try:
            parts = child_rows(node, batch, rows)
        except BindingError:  # a route by a missing column, which another check reports
            continue
        stack += zip(node.children, parts, strict=True)
    return list(rows_by_node.items())


@dataclass
class _Cell:
    """A distinct cell in a column.

    Attributes:
        rows: the rows that contain the cell.
        seconds: the time for reading the cell, in seconds.
        problem: the reason why the cell cannot be read, or "" if it can be read."""

    value: Any
    rows: list[int]
    seconds: float = 0.0
    problem: str = ""


def _cells_of(name: str, parameter: Parameter, rows: list[int], table: Table, *, gold: bool) -> Iterator[Finding]:
    """Find unreadable cells, and cells that are None.

    Args:
        gold: whether a ready-made reward reads the cells. In this case, only the rows with an unreadable cell lose
            their score.
    """
    column = table.values(parameter.source)
    where = f"column {parameter.source!r} ({table.name})"
    values = [None if is_missing(column[row]) else column[row] for row in rows]
    if gold:
        yield from _golds_of(name, parameter, _read(parameter, values, rows), where, table)
    elif not _fits(parameter, values, rows):
        bad = [cell for cell in _read(parameter, values, rows) if cell.problem]
        values_by_row = {row: shorten(cell.value, _VALUE) for cell in bad for row in cell.rows}
        yield Finding(
            "error",
            where,
            f"{len(values_by_row):,} of {len(rows):,} cells do not fit the annotation of {name!r}: {bad[0].problem}",
            "fix these rows, exclude them with dataset.filter, or change the annotation",
            shown(dict(sorted(values_by_row.items())), table),
        )
    absent = [row for row, value in zip(rows, values, strict=True) if value is None]
    if absent and not parameter.coercer.optional:
        yield Finding(
            "warning",
            where,
            f"{len(absent):,} of {len(rows):,} cells are None: {name!r} abstains in these rows, and if all "
            "components abstain, the prompt gives no learning signal",
            "fill them, or exclude these rows with dataset.filter",
            (_locations(absent, table),),
        )


def _fits(parameter: Parameter, values: list[Any], rows: list[int]) -> bool:
    try:
        coerce_column(parameter.coercer, values, parameter.source, rows)
    except CoercionError:
        return False
    return True


def _read(parameter: Parameter, values: list[Any], rows: list[int]) -> list[_Cell]:
    """Read each distinct cell once, but skip cells that are None."""
    cells: dict[int, _Cell] = {}
    for number, value, row in zip(equality(values).numbers.tolist(), values, rows, strict=True):
        if value is not None:
            cells.setdefault(number, _Cell(value, [])).rows.append(row)
    for cell in cells.values():
        began = time.perf_counter()
        try:
            parameter.coercer(cell.value)
        except CoercionError as error:
            cell.problem = str(error)
        cell.seconds = time.perf_counter() - began
    return list(cells.values())


def _golds_of(name: str, parameter: Parameter, cells: list[_Cell], where: str, table: Table) -> Iterator[Finding]:
    """Find gold answers that the ready-made reward `name` cannot read or reads slowly."""
    bad = [cell for cell in cells if cell.problem]
    table.unreadable |= {row for cell in bad for row in cell.rows}
    if bad:
        accepted = parameter.on_unparsable_gold == "fail"
        stops = parameter.on_unparsable_gold == "raise" or len(bad) == len(cells)
        exceeds_limit = not accepted and _exceeds(len(bad), len(cells)) and _exceeds(_count(bad), _count(cells))
        consequence = f"so {_count(bad):,} row{'s get' if _count(bad) != 1 else ' gets'} no score"
        if parameter.on_unparsable_gold == "raise":
            consequence = 'and on_unparsable_gold="raise" stops the run there'
        problem = f"{name!r} cannot read {len(bad):,} of {len(cells):,} distinct cells, {consequence}"
        remedy = (
            "fix these cells, or exclude the rows with dataset.filter. If the answer is only a part of the "
            "cell, pass gold="
        )
        if exceeds_limit and not stops:
            problem += f": more than {_MOST_UNREADABLE:.0%}"
            remedy += '. rk.number, rk.choice, and rk.math_equal accept them with on_unparsable_gold="fail"'
        max_listed = _SHOWN_GOLDS
        if len(bad) == len(cells):  # the column itself is wrong, which a few cells show
            max_listed, remedy = (
                SHOWN,
                "name the column with the gold answers. If the answer is only a part of the cell, pass gold=",
            )
        lines = _listed(bad, max_listed, "problem", table)
        yield Finding("error" if stops or exceeds_limit else "warning", where, problem, remedy, lines)
    slow = sorted((cell for cell in cells if cell.seconds > _SLOW and not cell.problem), key=lambda cell: -cell.seconds)
    if slow:
        yield Finding(
            "warning",
            where,
            f"{len(slow):,} of {len(cells):,} distinct cells take {name!r} more than {_SLOW:g} s to read, and batches "
            "must wait for them",
            "write them in a simpler form, or exclude the rows with dataset.filter",
            _listed(slow, _SHOWN_GOLDS, "seconds", table),
        )


def _count(cells: Sequence[_Cell]) -> int:
    return sum(len(cell.rows) for cell in cells)


def _exceeds(bad: int, total: int) -> bool:
    return bad > _MOST_UNREADABLE * total


def _listed(cells: Sequence[_Cell], most: int, detail: Literal["problem", "seconds"], table: Table) -> tuple[str, ...]:
    """Return a line for each of the first `most` cells: ``line 3 (and 2 more): 'N/A' is not a number``."""
    lines = []
    for cell in cells[:most]:
        more = f" (and {len(cell.rows) - 1:,} more)" if len(cell.rows) > 1 else ""
        ending = f"takes {cell.seconds:.1f} s" if detail == "seconds" else _reason(cell)
        lines.append(f"{table.location(cell.rows[0])}{more}: {shorten(cell.value, _VALUE)} {ending}")
    return (*lines, f"... and {len(cells) - most:,} more") if len(cells) > most else tuple(lines)


def _reason(cell: _Cell) -> str:
    """Return the reason why a cell cannot be read. Most reasons begin with the cell's value, which is removed."""
    reason = cell.problem.removeprefix(f"{shorten(cell.value)} cannot be parsed: ")
    for value in (shorten(cell.value), shorten(cell.value, 60)):
        if reason.startswith(value):
            reason = reason.removeprefix(value).strip()
            return _cut(reason.partition(". ")[0])  # later sentences say how to fix it
    return _cut(f"cannot be read: {reason}")


def _cut(reason: str) -> str:
    return reason.rstrip(".") if len(reason) <= _REASON else f"{reason[:_REASON]} ..."


def _joint_findings(node: Reward, binding: Binding, rows: list[int], table: Table) -> Iterator[Finding]:
    """Find rows whose cells do not match each other, such as an instruction with arguments for another one."""
    if binding.expensive or binding.waits or binding.scope != "sample":
        return
    readable = [row for row in rows if row not in table.unreadable]
    columns = {
        parameter.source: [table.values(parameter.source)[row] for row in readable] for parameter in binding.columns
    }
    batch = Batch([""] * len(readable), prompts=[""] * len(readable), columns=columns)
    faults = Scorer(node).score(batch, strict=False, on_unparsable_gold="fail").faults if readable else ()
    bad = {readable[fault.row]: _cut(fault.reason) for fault in faults if fault.unparsable}
    table.unreadable |= bad.keys()
    if bad:
        yield Finding(
            "error" if _exceeds(len(bad), len(rows)) else "warning",
            f"columns {', '.join(map(repr, columns))} ({table.name})",
            f"in {len(bad):,} of {len(rows):,} rows, they do not fit each other, so {table.label(node)!r} gives "
            "these rows no score",
            "fix these rows, or exclude them with dataset.filter",
            shown(bad, table),
        )


def _unrouted(route: Reward, batch: Batch, rows: Rows, table: Table) -> Iterator[Finding]:
    (by,) = route.facts.columns
    if by not in batch.columns:
        return
    unrouted = rows & ~np.logical_or.reduce(child_rows(route, batch, rows))
    where = np.flatnonzero(unrouted).tolist()
    if where:
        branches = ", ".join(map(repr, route.facts.prefixes))
        yield Finding(
            "error",
            f"column {by!r} ({table.name})",
            f"{len(where):,} rows have a value without a branch (branches: {branches}), which stops the run",
            "add a branch or default=, or exclude these rows with dataset.filter",
            shown({row: shorten(batch.columns[by][row], _VALUE) for row in where}, table),
        )


def _locations(rows: Sequence[int], table: Table) -> str:
    """Return the locations of the first rows, such as ``line 3, line 7, ...``."""
    return ", ".join(map(table.location, rows[:SHOWN])) + (", ..." if len(rows) > SHOWN else "")


def shown(texts: dict[int, str], table: Table) -> tuple[str, ...]:
    """Return lines such as ``line 3: 'N/A'`` for the first rows."""
    lines = [f"{table.location(row)}: {text}" for row, text in list(texts.items())[:SHOWN]]
    return (*lines, f"... and {len(texts) - SHOWN:,} more") if len(texts) > SHOWN else tuple(lines)


def prompts(table: Table) -> Iterator[Finding]:
    """Find prompts that are None or empty, and a mix of text and message prompts."""
    absent = [row for row, prompt in enumerate(table.prompts) if prompt is None]
    if absent:
        yield _make_finding(
            table, "error", absent, "prompts are None", "fill them, or exclude them with dataset.filter"
        )
    empty = [row for row, text in enumerate(table.prompt_texts) if table.prompts[row] is not None and not text.strip()]
    if empty:
        yield _make_finding(table, "warning", empty, "prompts are empty", "exclude them with dataset.filter")
    kinds = {isinstance(prompt, str) for prompt in table.prompts if prompt is not None}
    if len(kinds) > 1:
        yield Finding(
            "error",
            f"prompts ({table.name})",
            "some are strings and others are messages, but TRL treats all of them like the first",
            "write all prompts in one form with dataset.prompt or dataset.messages",
        )


def _make_finding(table: Table, kind: Any, rows: Sequence[int], problem: str, remedy: str) -> Finding:
    return Finding(kind, f"prompts ({table.name})", f"{len(rows):,} {problem}: {_locations(rows, table)}", remedy)


def duplicates(training: Table, held_out: Table | None, *, acts: bool = False) -> Iterator[Finding]:
    """Find prompts that are in both the training data and the evaluation data, or are repeated with different answers.

    Args:
        acts: whether the policy acts in an environment, in which case the same prompt may have different answers.
    """
    firsts: dict[str, int] = {}
    repetitions, contradictions = 0, {}
    for row, text in enumerate(training.prompt_texts):
        first = firsts.setdefault(text, row)
        if first != row:
            repetitions += 1
            names = [
                column
                for column in training.named
                if not acts and training.values(column)[row] != training.values(column)[first]
            ]
            if names:
                value = shorten(training.values(names[0])[row], _VALUE)
                contradictions[row] = f"same as {training.location(first)}, but {names[0]} is {value}"
    if contradictions:
        yield Finding(
            "warning",
            "prompts (training)",
            f"{len(contradictions):,} rows repeat a prompt with a different answer",
            "keep one row for each prompt: from two answers, the model learns neither",
            shown(contradictions, training),
        )
    elif repetitions:
        yield Finding("fact", "prompts", f"{repetitions:,} of {training.size:,} are duplicates")
    if held_out is not None:
        common = {
            row: f"same as {training.location(firsts[text])} in the training data"
            for row, text in enumerate(held_out.prompt_texts)
            if text in firsts
        }
        if common:
            yield Finding(
                "warning",
                "prompts (held out)",
                f"{len(common):,} of {held_out.size:,} are also in the training data: their scores measure "
                "memorization",
                "use another split, or eval: {hold_out: N}, which keeps equal prompts on one side",
                shown(common, held_out),
            )
