"""Check the columns: does the data have those that the reward needs, and does TRL pass them on?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.rollouts import Rollouts
from rewardkit.core.errors import BindingError
from rewardkit.core.evaluation.plan import check_node
from rewardkit.core.tree.reward import Reward, applied, walk
from rewardkit_runner.preflight.findings import Finding
from rewardkit_runner.preflight.table import HIDDEN, Table

_TWICE = ("prompts", "completions")
_OVERWRITTEN = ("trainer_state", "log_metric", "log_extra", "environments")
_PICTURES = ("image", "images")


def columns(tree: Reward, table: Table, *, acts: bool = False) -> Iterator[Finding]:
    """Find missing columns, and column names that TRL treats in a special way.

    Args:
        acts: whether the policy acts in an environment, whose ``reset`` gets all columns.
    """
    for name in table.columns:
        yield from _trap(name)
    taken = {*_TWICE, *_OVERWRITTEN}
    given: dict[str, list[Any]] = {name: [] for name in table.given if name not in taken}
    rollouts = Rollouts(environments=[] if acts else None)
    batch = Batch([], prompts=[], completion_ids=[], columns=given, rollouts=rollouts)
    for what in dict.fromkeys(_lacking(tree, batch)):
        yield Finding(
            "error",
            f"{table.name} data",
            what,
            "rename a column with dataset.columns: {ours: theirs}, or add it to the data",
        )
    yield from _mappings(table)
    others = [name for name in table.given if name not in table.read]
    unnamed = " and possibly others" if table.read != table.named else ""
    if table.name == "training":
        unread = "only the environment gets" if acts else "unused"
        said = f"the reward reads {', '.join(table.named) or 'none'}{unnamed}"
        yield Finding("fact", "columns", said + (f"; {unread}: {', '.join(others)}" if others else ""))


def _lacking(tree: Reward, batch: Batch) -> Iterator[str]:
    for node in dict.fromkeys(node for node, _, _ in walk(tree)):
        try:
            check_node(node, batch, node.name)
            applied(node, batch, _nowhere())
        except BindingError as error:
            yield str(error)


def _nowhere() -> Any:
    import numpy as np

    return np.zeros(0, dtype=np.bool_)


def _trap(name: str) -> Iterator[Finding]:
    where = f"column {name!r}"
    rename = f"rename it, as in dataset.columns: {{gold_{name}: {name}}}"
    if name in _TWICE:
        yield Finding("error", where, "TRL passes an argument of the same name and fails on the second one", rename)
    elif name in _OVERWRITTEN:
        yield Finding("error", where, "TRL overwrites it with its own object", rename)
    elif name in HIDDEN:
        yield Finding("warning", where, "TRL does not pass a column of this name to rewards", rename)
    elif name in _PICTURES:
        what = "TRL treats data with this column as multimodal and loads an image processor"
        yield Finding("warning", where, what, f"keep it only for a vision model; else {rename}")


def _mappings(table: Table) -> Iterator[Finding]:
    import pyarrow as pa

    for field in table.dataset.features.arrow_schema:
        if field.name in table.given and _holds_mappings(field.type, pa):
            yield Finding(
                "warning",
                f"column {field.name!r}",
                "holds mappings, and Arrow gives all of them the same keys: missing ones become None",
                "store such cells as JSON text; the reward's annotation parses it",
            )


def _holds_mappings(kind: Any, pa: Any) -> bool:
    if pa.types.is_struct(kind):
        return True
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind)) and _holds_mappings(kind.value_type, pa)
