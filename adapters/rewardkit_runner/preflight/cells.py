"""Check the cells: read every row as the reward will. A bad cell would stop the run hours later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.column import Rows
from rewardkit.core.batch.equality import equality
from rewardkit.core.errors import BindingError, CoercionError, shorten
from rewardkit.core.tree.columns import coerce_column
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward, applied
from rewardkit_runner.preflight.findings import Finding
from rewardkit_runner.preflight.table import Table

SHOWN = 10
_VALUE = 80


def cells(tree: Reward, table: Table) -> Iterator[Finding]:
    """Find cells that do not fit the annotations of the reward, are None, or match no route."""
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
    """Return each node with the rows that its routes select."""
    found: dict[Reward, Rows] = {}
    stack = [(tree, np.ones(batch.size, dtype=np.bool_))]
    while stack:
        node, rows = stack.pop()
        found[node] = found[node] | rows if node in found else rows
        try:
            parts = applied(node, batch, rows)
        except BindingError:  # a route by a missing column, which another check reports
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
            f"{len(bad):,} of {len(rows):,} cells do not fit the annotation of {name!r}: {next(iter(bad.values()))}",
            "fix these rows, exclude them with dataset.filter, or change the annotation",
            shown({row: shorten(column[row], _VALUE) for row in bad}),
        )
    absent = [row for row, value in zip(rows, values, strict=True) if value is None]
    if absent and not parameter.coercer.optional:
        yield Finding(
            "warning",
            where,
            f"{len(absent):,} of {len(rows):,} cells are None: {name!r} abstains there, and if all components "
            "abstain, the prompt teaches nothing",
            "fill them, or exclude these rows with dataset.filter",
            (f"rows {', '.join(map(str, absent[:SHOWN]))}{', ...' if len(absent) > SHOWN else ''}",),
        )


def _unreadable(parameter: Parameter, values: list[Any], rows: list[int]) -> dict[int, str]:
    """Return the rows with bad cells, each with the reason."""
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
            f"{len(where):,} rows have a value without a branch (branches: {known}), which stops the run",
            "add a branch or default=, or exclude these rows with dataset.filter",
            shown({row: shorten(batch.columns[by][row], _VALUE) for row in where}),
        )


def shown(texts: dict[int, str]) -> tuple[str, ...]:
    """Return lines like ``row 3: 'N/A'`` for the first rows."""
    lines = [f"row {row}: {text}" for row, text in list(texts.items())[:SHOWN]]
    return (*lines, f"... and {len(texts) - SHOWN:,} more") if len(texts) > SHOWN else tuple(lines)


def prompts(table: Table) -> Iterator[Finding]:
    """Find prompts that are None, empty, or of two kinds."""
    absent = [row for row, prompt in enumerate(table.prompts) if prompt is None]
    if absent:
        yield _about(table, "error", absent, "prompts are None", "fill them, or exclude them with dataset.filter")
    empty = [row for row, text in enumerate(table.prompt_texts) if table.prompts[row] is not None and not text.strip()]
    if empty:
        yield _about(table, "warning", empty, "prompts are empty", "exclude them with dataset.filter")
    kinds = {isinstance(prompt, str) for prompt in table.prompts if prompt is not None}
    if len(kinds) > 1:
        yield Finding(
            "error",
            f"prompts ({table.name})",
            "some are texts and others are messages; TRL treats all of them like the first",
            "write all of them in one form with dataset.prompt or dataset.messages",
        )


def _about(table: Table, kind: Any, rows: Sequence[int], what: str, remedy: str) -> Finding:
    listed = ", ".join(map(str, rows[:SHOWN])) + (", ..." if len(rows) > SHOWN else "")
    return Finding(kind, f"prompts ({table.name})", f"{len(rows):,} {what}: rows {listed}", remedy)


def duplicates(training: Table, held_out: Table | None, *, acts: bool = False) -> Iterator[Finding]:
    """Find prompts that are both in training and evaluation, or repeated with different answers.

    Args:
        acts: whether the policy acts in an environment, which may answer the same prompt differently.
    """
    firsts: dict[str, int] = {}
    again, contradicting = 0, {}
    for row, text in enumerate(training.prompt_texts):
        first = firsts.setdefault(text, row)
        if first != row:
            again += 1
            names = [
                one for one in training.named if not acts and training.values(one)[row] != training.values(one)[first]
            ]
            if names:
                contradicting[row] = (
                    f"same as row {first}, but {names[0]} is {shorten(training.values(names[0])[row], _VALUE)}"
                )
    if contradicting:
        yield Finding(
            "warning",
            "prompts (training)",
            f"{len(contradicting):,} rows repeat a prompt with another answer",
            "keep one row for each prompt: two answers teach neither",
            shown(contradicting),
        )
    elif again:
        yield Finding("fact", "prompts", f"{again:,} of {training.size:,} are repetitions")
    if held_out is not None:
        common = {
            row: f"same as row {firsts[text]} of the training"
            for row, text in enumerate(held_out.prompt_texts)
            if text in firsts
        }
        if common:
            yield Finding(
                "warning",
                "prompts (held out)",
                f"{len(common):,} of {held_out.size:,} are also in the training data: their scores measure memory",
                "use another split, or eval: {hold_out: N}, which keeps equal prompts on one side",
                shown(common),
            )
