"""Check the environment that the policy acts in: can it be loaded, what are its tools, do the data fit it?

A tool without a docstring, say, is an error: the trainer could not describe it to the model.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from types import MethodType
from typing import Any

from rewardkit.core.batch.environments import tools_of
from rewardkit.core.errors import RewardKitError, shorten
from rewardkit.core.tree.reward import Reward
from rewardkit_runner.configuration.config import RunConfig
from rewardkit_runner.preflight.cells import shown
from rewardkit_runner.preflight.findings import Finding
from rewardkit_runner.preflight.table import Table
from rewardkit_runner.rewards import environment_of
from rewardkit_trl.environments import environments

CHOICE = "environment"
"""The column that chooses from a dictionary of environments."""


def tools(config: RunConfig, tree: Reward, table: Table) -> Iterator[Finding]:
    """Find what is wrong with ``environment:``; yield nothing without an environment."""
    if config.environment is None:
        return
    try:
        loaded = environment_of(config)
        environments(loaded, tree, timeout=None, outages=())
    except RewardKitError as error:
        yield Finding("error", "environment", str(error), "name a class with a method reset and a tool")
        return
    kinds = dict(loaded) if isinstance(loaded, Mapping) else {None: loaded}
    yield from _unchosen(kinds, table)
    for kind in dict.fromkeys(kinds.values()):
        if isinstance(kind, type):  # a function would have to make one first, which may start a sandbox
            yield from _reset(kind, table)
            yield from _tools(kind)
    texts = [row for row, prompt in enumerate(table.prompts) if isinstance(prompt, str)]
    if texts:
        what = (
            f"{len(texts):,} prompts are texts, and TRL's tools need chats: it ends with AttributeError: 'str' object "
            "has no attribute 'get'"
        )
        yield Finding("error", f"prompts ({table.name})", what, "write dataset.messages instead of dataset.prompt")


def _unchosen(kinds: Mapping[Any, Any], table: Table) -> Iterator[Finding]:
    """Find rows that choose none of several environments."""
    if None in kinds:
        return
    known = ", ".join(map(repr, kinds))
    if CHOICE not in table.columns:
        what = f"the data has no column {CHOICE!r}, which chooses from {known}"
        yield Finding("error", "environment", what, "add it to the data, or name one class")
        return
    lost = {row: shorten(name) for row, name in enumerate(table.values(CHOICE)) if name not in kinds}
    if lost:
        what = f"{len(lost):,} rows choose none of the environments ({known})"
        remedy = "fix these rows, or exclude them with dataset.filter"
        yield Finding("error", f"column {CHOICE!r} ({table.name})", what, remedy, shown(lost))


def _reset(kind: type, table: Table) -> Iterator[Finding]:
    """Find a ``reset`` that does not take the columns of a row."""
    columns = [name for name in table.columns if name != CHOICE]
    try:
        inspect.signature(MethodType(kind.reset, object())).bind(**dict.fromkeys(columns))  # type: ignore[attr-defined]
    except TypeError as error:
        what = f"reset cannot take a row with the columns {', '.join(columns)}: {error}"
        yield Finding("error", f"environment {kind.__name__}", what, "write def reset(self, **row)")


def _tools(kind: type) -> Iterator[Finding]:
    from transformers.utils import get_json_schema

    names = []
    for name, function in tools_of(kind):
        static = isinstance(inspect.getattr_static(kind, name), staticmethod)
        try:
            get_json_schema(function if static else MethodType(function, object()))
            names.append(name)
        except Exception as error:
            what = f"the tool {name!r} cannot be described to the model: {' '.join(str(error).split())}"
            remedy = "add type hints and a docstring with a description of each argument under Args:"
            yield Finding("error", f"environment {kind.__name__}", what, f"{remedy}; or put _ before its name")
    if names:
        yield Finding("fact", f"environment {kind.__name__}", f"its tools are {', '.join(names)}")
