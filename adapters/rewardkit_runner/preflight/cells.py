"""Cells: every row as the reward will read it. What cannot be read now would stop the run hours later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rewardkit.core.batch.batch import Batch, equality
from rewardkit.core.batch.column import Rows
from rewardkit.core.errors import BindingError, CoercionError, shorten
from rewardkit.core.tree.coercion import coerce_column
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward, applied
from rewardkit_runner.preflight.findings import Finding
from rewardkit_runner.preflight.table import Table

SHOWN = 10
_VALUE = 80


def cells(tree: Reward, table: Table) -> Iterator[Finding]:
    """Cells that cannot be read as the reward's annotations ask, that are None, and that no route takes."""
    batch = Batch([""] * table.size, prompts=table.prompts, columns={name: table.values(name) for name in table.named})
    seen: set[tuple[str, str, bytes]] = set()
    for node, rows in _applied(tree, batch):
        if node.facts.choose is not None:
            yield from _unrouted(node, batch, rows, table)
        for parameter in node.facts.binding.columns if node.facts.binding is not None else ():
            key = (parameter.source, repr(parameter.annotation), rows.tobytes())
            if parameter.source in batch.columns and key not in seen:
                seen.add(key)
                yield from _cells_of(node.name, parameter, np.flatnonzero(rows).tolist(), table)


def _applied(tree: Reward, batch: Batch) -> list[tuple[Reward, Rows]]:
    """Each node with the rows in which it applies: those of its own routes."""
    found: dict[Reward, Rows] = {}
    stack = [(tree, np.ones(batch.size, dtype=np.bool_))]
    while stack:
        node, rows = stack.pop()
        found[node] = found[node] | rows if node in found else rows
        try:
            parts = applied(node, batch, rows)
        except BindingError:  # a route by a column that is not there, which is said already
            continue
        stack += zip(node.children, parts, strict=True)
    return list(found.items())


def _cells_of(name: str, parameter: Parameter, rows: list[int], table: Table) -> Iterator[Finding]:
    column = table.values(parameter.source)
    where = f"column {parameter.source!r} ({table.name})"
    values = [column[row] for row in rows]
    bad = _unreadable(parameter, values, rows)
    if bad:
        yield Finding(
            "error",
            where,
            f"{len(bad):,} of {len(rows):,} cells cannot be read as {name!r} asks: {next(iter(bad.values()))}",
            "mend these rows, leave them out with dataset.filter, or change the annotation",
            shown({row: shorten(column[row], _VALUE) for row in bad}),
        )
    absent = [row for row, value in zip(rows, values, strict=True) if value is None]
    if absent and not parameter.coercer.optional:
        yield Finding(
            "warning",
            where,
            f"{len(absent):,} of {len(rows):,} cells are None: {name!r} abstains there, and the prompt teaches "
            "nothing if all others do too",
            "fill them, or leave these rows out with dataset.filter",
            (f"rows {', '.join(map(str, absent[:SHOWN]))}{', ...' if len(absent) > SHOWN else ''}",),
        )


def _unreadable(parameter: Parameter, values: list[Any], rows: list[int]) -> dict[int, str]:
    """Row -> why its cell cannot be read."""
    try:
        coerce_column(parameter.coercer, values, parameter.source, rows)
        return {}
    except CoercionError:
        pass
    numbers = equality(values).numbers.tolist()
    reasons: dict[int, str] = {}
    for number, value in dict(zip(numbers, values, strict=True)).items():
        if value is not None:
            try:
                parameter.coercer(value)
            except CoercionError as error:
                reasons[number] = str(error)
    return {row: reasons[number] for row, number in zip(rows, numbers, strict=True) if number in reasons}


def _unrouted(route: Reward, batch: Batch, rows: Rows, table: Table) -> Iterator[Finding]:
    (by,) = route.facts.columns
    if by not in batch.columns:
        return
    lost = rows & ~np.logical_or.reduce(applied(route, batch, rows))
    where = np.flatnonzero(lost).tolist()
    if where:
        known = ", ".join(map(repr, route.facts.prefixes))
        yield Finding(
            "error",
            f"column {by!r} ({table.name})",
            f"{len(where):,} rows have a value without a branch (there are: {known}), which stops the run",
            "add a branch for it, a default=, or leave these rows out with dataset.filter",
            shown({row: shorten(batch.columns[by][row], _VALUE) for row in where}),
        )


def shown(texts: dict[int, str]) -> tuple[str, ...]:
    """``row 3: 'N/A'`` for the first of them."""
    lines = [f"row {row}: {text}" for row, text in list(texts.items())[:SHOWN]]
    return (*lines, f"... and {len(texts) - SHOWN:,} more") if len(texts) > SHOWN else tuple(lines)


def prompts(table: Table) -> Iterator[Finding]:
    """Prompts that are none, or empty, or of two kinds."""
    absent = [row for row, prompt in enumerate(table.prompts) if prompt is None]
    if absent:
        yield _about(table, "error", absent, "prompts are None", "fill them, or leave them out with dataset.filter")
    empty = [row for row, text in enumerate(table.prompt_texts) if table.prompts[row] is not None and not text.strip()]
    if empty:
        yield _about(table, "warning", empty, "prompts are empty", "leave them out with dataset.filter")
    kinds = {isinstance(prompt, str) for prompt in table.prompts if prompt is not None}
    if len(kinds) > 1:
        yield Finding(
            "error",
            f"prompts ({table.name})",
            "some are texts and others are messages; TRL takes all for what the first one is",
            "write all of them in one form: dataset.prompt or dataset.messages",
        )


def _about(table: Table, kind: Any, rows: Sequence[int], what: str, remedy: str) -> Finding:
    listed = ", ".join(map(str, rows[:SHOWN])) + (", ..." if len(rows) > SHOWN else "")
    return Finding(kind, f"prompts ({table.name})", f"{len(rows):,} {what}: rows {listed}", remedy)


def duplicates(training: Table, held_out: Table | None) -> Iterator[Finding]:
    """Prompts that stand in training and evaluation, or twice with different answers."""
    firsts: dict[str, int] = {}
    again, contradicting = 0, {}
    for row, text in enumerate(training.prompt_texts):
        first = firsts.setdefault(text, row)
        if first != row:
            again += 1
            names = [one for one in training.named if training.values(one)[row] != training.values(one)[first]]
            if names:
                contradicting[row] = (
                    f"as row {first}, but {names[0]} is {shorten(training.values(names[0])[row], _VALUE)}"
                )
    if contradicting:
        yield Finding(
            "warning",
            "prompts (training)",
            f"{len(contradicting):,} rows have the prompt of another one and ask for something else",
            "a prompt with two answers teaches neither: keep one of them",
            shown(contradicting),
        )
    elif again:
        yield Finding("fact", "prompts", f"{again:,} of {training.size:,} stand there more than once")
    if held_out is not None:
        common = {
            row: f"as row {firsts[text]} of the training"
            for row, text in enumerate(held_out.prompt_texts)
            if text in firsts
        }
        if common:
            yield Finding(
                "warning",
                "prompts (held out)",
                f"{len(common):,} of {held_out.size:,} are trained on as well: their evaluation measures memory",
                "take another split, or eval: {hold_out: N}, which keeps equal prompts on one side",
                shown(common),
            )
