"""Rows for a training: a column ``prompt``, and the columns that the reward asks for.

``{"question": "6*7?", "gold": {"value": 42}}`` under ``prompt: "Q: {question}"`` is
``{"question": "6*7?", "gold": '{"value": 42}', "prompt": "Q: 6*7?"}``: objects stay JSON texts, because Arrow would
give all of them the same keys.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import near_miss, shorten
from rewardkit_runner.configuration.config import DatasetConfig, RunConfig
from rewardkit_runner.configuration.faults import ConfigError
from rewardkit_runner.data.sources import table_of
from rewardkit_runner.data.templates import Template
from rewardkit_runner.rewards import named

if TYPE_CHECKING:
    from datasets import Dataset


def training_and_held_out(config: RunConfig) -> tuple[Dataset, Dataset | None]:
    """The rows to train on, and those to evaluate on; None without ``eval``.

    Raises:
        ConfigError: the data cannot be had, or is not what the configuration says of it.
    """
    modules = config.modules_path()
    training = rows_of(config.dataset, config.base, config.seed, modules)
    if config.eval is None:
        return training, None
    separate = config.held_out_dataset()
    if separate is not None:
        held_out = rows_of(separate, config.base, config.seed, modules)
    else:
        training, held_out = _parted(training, config.eval.hold_out or 0, config.seed)
    return training, _sampled(held_out, config.eval.prompts, f"{config.seed}/evaluated")


def rows_of(config: DatasetConfig, base: Path, seed: int, modules: Path | None = None) -> Dataset:
    """The rows of a dataset: read, renamed, filtered, given their prompts, sampled; in their order.

    Args:
        config: where they are, and what becomes of them.
        base: the folder that its paths are relative to.
        seed: of the sample.
        modules: where the module of a filter is looked for; None: in `base`.

    Raises:
        ConfigError: the data cannot be had, or is not what the configuration says of it.
    """
    found = table_of(config, base)
    if not len(found):
        raise ConfigError(f"{config.path} has no row")
    rows = _renamed(found, config.columns)
    rows = _filtered(rows, config.filter, base, modules or base)
    rows = _with_prompts(rows, config)
    return _sampled(rows, config.sample, f"{seed}/sample")


def _renamed(rows: Dataset, columns: Mapping[str, str]) -> Dataset:
    twice = [theirs for theirs in columns.values() if list(columns.values()).count(theirs) > 1]
    if twice:
        raise ConfigError(f"columns: {twice[0]!r} can have one name only: {', '.join(columns)} are several")
    for ours, theirs in columns.items():
        if theirs not in rows.column_names:
            raise ConfigError(_no_column(theirs, f"which columns ({ours}: {theirs}) renames", rows))
        if ours in rows.column_names and ours not in columns.values() and ours != theirs:
            raise ConfigError(
                f"columns: {theirs!r} cannot be called {ours!r}, because the dataset has a column of that name. Give "
                f"that one another name first: {{{ours}: {theirs}, other: {ours}}}"
            )
    names = {theirs: ours for ours, theirs in columns.items()}
    return rows.rename_columns(names) if names else rows


def _filtered(rows: Dataset, filter_: dict[str, Any] | str | None, base: Path, modules: Path) -> Dataset:
    if filter_ is None:
        return rows
    if isinstance(filter_, str):
        keep = _asked(named(_target(filter_, base), modules), filter_)
    else:
        for name in filter_:
            if name not in rows.column_names:
                raise ConfigError(_no_column(name, "which filter looks at", rows))
        keep = _allowed(filter_)
    kept = [number for number, row in enumerate(rows) if keep(number, row)]
    if not kept:
        raise ConfigError(f"none of the {len(rows):,} rows passes the filter: {shorten(filter_)}")
    return rows.select(kept)


def _allowed(filter_: Mapping[str, Any]) -> Callable[[int, Mapping[str, Any]], bool]:
    allowed = {name: _as_set(value if isinstance(value, list) else [value]) for name, value in filter_.items()}
    return lambda number, row: all(_as_set([row[name]]) <= values for name, values in allowed.items())


def _as_set(values: Sequence[Any]) -> set[str]:
    """Texts to compare: a cell of a CSV file is ``"1"`` where the filter says ``1``."""
    return {value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str) for value in values}


def _asked(keep: Any, target: str) -> Callable[[int, Mapping[str, Any]], bool]:
    if not callable(keep):
        raise ConfigError(f"filter: {target} is {shorten(keep)}; a function of a row is due, which says if it stays")

    def asked(number: int, row: Mapping[str, Any]) -> bool:
        try:
            answer = keep(dict(row))
        except Exception as error:
            raise ConfigError(
                f"filter: {target} raised {type(error).__name__} in row {number}: {shorten(str(error))}. "
                f"The row: {shorten(dict(row))}"
            ) from error
        if answer is None:
            raise ConfigError(f"filter: {target} returned None in row {number}: return True to keep the row, or False")
        return bool(answer)

    return asked


def _target(target: str, base: Path) -> str:
    source, _, name = target.rpartition(":")
    return f"{(base / source).absolute()}:{name}" if source.endswith(".py") else target


def _with_prompts(rows: Dataset, config: DatasetConfig) -> Dataset:
    if config.prompt is None and config.messages is None:
        return _own_prompts(rows)
    columns = rows.column_names
    prompts: list[Any]
    if config.prompt is not None:
        prompts = Template(config.prompt, "dataset.prompt", columns).of(rows)
    else:
        messages = config.messages or []
        contents = [
            Template(message.content, f"dataset.messages[{place}].content", columns).of(rows)
            for place, message in enumerate(messages)
        ]
        roles = [message.role for message in messages]
        prompts = [
            [{"role": role, "content": content} for role, content in zip(roles, texts, strict=True)]
            for texts in zip(*contents, strict=True)
        ]
    others = rows.remove_columns("prompt") if "prompt" in columns else rows
    return others.add_column("prompt", prompts)


def _own_prompts(rows: Dataset) -> Dataset:
    if "prompt" not in rows.column_names:
        raise ConfigError(
            _no_column("prompt", "which is what the model is given", rows)
            + " Rename one (columns: {prompt: question}), or write a template (prompt: 'Q: {question}\\nA:')."
        )
    return rows


def _sampled(rows: Dataset, count: int | None, seed: str) -> Dataset:
    """At most `count` rows, in their order, the same for the same seed."""
    if count is None or count >= len(rows):
        return rows
    return rows.select(sorted(random.Random(seed).sample(range(len(rows)), count)))


def _parted(rows: Dataset, count: int, seed: int) -> tuple[Dataset, Dataset]:
    """Training rows, and at least `count` held-out ones; rows with the same prompt are on the same side."""
    by_prompt: dict[str, list[int]] = {}
    for number, prompt in enumerate(rows["prompt"]):
        by_prompt.setdefault(json.dumps(prompt, sort_keys=True), []).append(number)
    groups = list(by_prompt.values())
    random.Random(f"{seed}/held-out").shuffle(groups)
    held_out: list[int] = []
    while groups and len(held_out) < count:
        held_out += groups.pop()
    if not groups:
        raise ConfigError(
            f"eval.hold_out: {count} rows to hold out leave none to train on: there are {len(rows)} with "
            f"{len(by_prompt)} different prompts"
        )
    return rows.select(sorted(number for group in groups for number in group)), rows.select(sorted(held_out))


def _no_column(name: str, why: str, rows: Dataset) -> str:
    known = rows.column_names
    hint = near_miss(name, known)
    return f"the dataset has no column {name!r}, {why}. It has: {', '.join(known)}.{hint}"
