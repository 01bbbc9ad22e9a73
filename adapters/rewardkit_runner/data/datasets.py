"""Rows for a training: a column ``prompt``, and the columns that the reward reads.

With ``prompt: "Q: {question}"``, ``{"question": "6*7?", "gold": {"value": 42}}`` becomes
``{"question": "6*7?", "gold": '{"value": 42}', "prompt": "Q: 6*7?"}``. Objects become JSON text, because Arrow would
give all of them the same keys.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import ConfigError, near_miss, shorten
from rewardkit_runner.configuration.config import RunConfig
from rewardkit_runner.configuration.packages import require
from rewardkit_runner.configuration.rows import DatasetConfig
from rewardkit_runner.data.sources import table_of
from rewardkit_runner.data.templates import Template
from rewardkit_runner.rewards import named

if TYPE_CHECKING:
    from datasets import Dataset


def training_and_held_out(config: RunConfig) -> tuple[Dataset, Dataset | None]:
    """Return the rows to train on, and those to evaluate on (None without ``eval``).

    Raises:
        ConfigError: the data cannot be loaded, or does not fit the configuration; a package of the reward is missing.
    """
    require(config.reward.packages)  # a filter may be in the same module as the reward
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
    """Load the rows of a dataset: rename columns, filter, make prompts, sample; the order stays.

    Args:
        config: the dataset.
        base: the folder that its paths are relative to.
        seed: for the sample.
        modules: the folder for the module of a filter; None: `base`.

    Raises:
        ConfigError: the data cannot be loaded, or does not fit the configuration.
    """
    found = table_of(config, base)
    if not len(found):
        raise ConfigError(f"dataset.path: {config.path} has no rows")
    rows = _renamed(found, config.columns)
    rows = _filtered(rows, config.filter, base, modules or base)
    rows = _with_prompts(rows, config)
    return _sampled(rows, config.sample, f"{seed}/sample")


def _renamed(rows: Dataset, columns: Mapping[str, str]) -> Dataset:
    twice = [theirs for theirs in columns.values() if list(columns.values()).count(theirs) > 1]
    if twice:
        raise ConfigError(
            f"dataset.columns: {twice[0]!r} has several new names ({', '.join(columns)}). Keep one of them"
        )
    for ours, theirs in columns.items():
        if theirs not in rows.column_names:
            raise ConfigError(_no_column(theirs, f"which dataset.columns ({ours}: {theirs}) renames", rows))
        if ours in rows.column_names and ours not in columns.values() and ours != theirs:
            raise ConfigError(
                f"dataset.columns: {theirs!r} cannot be renamed to {ours!r}: the dataset has a column of that name. "
                f"Rename that one, too: {{{ours}: {theirs}, other: {ours}}}"
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
                raise ConfigError(_no_column(name, "which dataset.filter reads", rows))
        keep = _allowed(filter_)
    kept = [number for number, row in enumerate(rows) if keep(number, row)]
    if not kept:
        raise ConfigError(
            f"dataset.filter: none of the {len(rows):,} rows passes: {shorten(filter_)}. Change the filter"
        )
    return rows.select(kept)


def _allowed(filter_: Mapping[str, Any]) -> Callable[[int, Mapping[str, Any]], bool]:
    allowed = {name: _as_set(value if isinstance(value, list) else [value]) for name, value in filter_.items()}
    return lambda number, row: all(_as_set([row[name]]) <= values for name, values in allowed.items())


def _as_set(values: Sequence[Any]) -> set[str]:
    """Return texts to compare: a cell ``"1"`` of a CSV file equals a ``1`` in the filter."""
    return {value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str) for value in values}


def _asked(keep: Any, target: str) -> Callable[[int, Mapping[str, Any]], bool]:
    if not callable(keep):
        raise ConfigError(f"dataset.filter: expected a function that takes a row, but {target} is {shorten(keep)}")

    def asked(number: int, row: Mapping[str, Any]) -> bool:
        try:
            answer = keep(dict(row))
        except Exception as error:
            raise ConfigError(
                f"dataset.filter: {target} raised {type(error).__name__} in row {number}: {shorten(str(error))}. "
                f"The row: {shorten(dict(row))}"
            ) from error
        if answer is None:
            raise ConfigError(
                f"dataset.filter: {target} returned None in row {number}. Return True to keep the row, or False"
            )
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
            _no_column("prompt", "which the model needs", rows)
            + ' Rename a column (columns: {prompt: question}), or write a template (prompt: "Q: {question}\\nA:").'
        )
    return rows


def _sampled(rows: Dataset, count: int | None, seed: str) -> Dataset:
    """Return at most `count` rows, in their order; the same seed gives the same rows."""
    if count is None or count >= len(rows):
        return rows
    return rows.select(sorted(random.Random(seed).sample(range(len(rows)), count)))


def _parted(rows: Dataset, count: int, seed: int) -> tuple[Dataset, Dataset]:
    """Split into training rows and at least `count` held-out rows; equal prompts stay on one side."""
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
            f"eval.hold_out: {count} held-out rows leave none to train on, because there are {len(rows)} with "
            f"{len(by_prompt)} different prompts. Lower it"
        )
    return rows.select(sorted(number for group in groups for number in group)), rows.select(sorted(held_out))


def _no_column(name: str, why: str, rows: Dataset) -> str:
    known = rows.column_names
    hint = near_miss(name, known)
    return f"the dataset has no column {name!r}, {why}. Its columns: {', '.join(known)}.{hint}"
