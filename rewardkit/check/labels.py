"""Labeled data as examples: ``labeled(reward, "solutions.jsonl")`` reads rows with correct and incorrect completions.

A file has one completion per line, with or without a label (`labeled`), or one example per line with lists of correct
and incorrect completions, ``{"prompt": "6*7?", "answer": "42", "good": ["<answer>42</answer>"], "bad": []}``
(`listed_examples`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.batch.batch import RESERVED
from rewardkit.check.declarations import with_declarations
from rewardkit.check.examples import Example
from rewardkit.check.reward_under_test.bound_reward import BoundReward, bind_reward
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.vocabulary import parameters_of, uses_argument
from rewardkit.check.run.selection import selected
from rewardkit.errors import DataError, NoExamples
from rewardkit.tree.conversion import tree_of
from rewardkit.tree.loading import Loaded
from rewardkit.tree.parameters import MISSING
from rewardkit.tree.reward import Reward, bindings

if TYPE_CHECKING:
    from rewardkit.scoring.samples import Records

_OWN = ("prompt", "completion", "completion_ids")
_OF_TRAINERS = ("completions", "prompts", "trainer_state", "log_extra", "log_metric")
# The most examples that the laws use. Arbitrary: every law runs on all of them, within one budget.
_MOST_EXAMPLES = 24
_MOST_COMPLETIONS = 3
"""The maximum number of correct completions, and of incorrect completions, per example that the laws use.
Calibration uses all completions. Arbitrary: further completions are mostly variants, which the laws also generate."""


@dataclass
class _Row:
    columns: dict[str, Any]
    good: list[Any] = field(default_factory=list)
    bad: list[Any] = field(default_factory=list)
    completions: int = 0


@dataclass(frozen=True)
class Labeled:
    """The contents of a file of completions.

    Attributes:
        options: ``examples``, ``good``, and ``bad`` for `check_reward`.
        records: all records of the file.
        prompts: the number of distinct examples in the file.
        used: the number of examples in `options`.
        has_labels: whether each record has a label.
        has_groups: whether some prompt has several completions.
    """

    options: dict[str, Any]
    records: Records
    prompts: int
    used: int
    has_labels: bool
    has_groups: bool


def labeled(reward: Any, path: str | Path, label: str = "label") -> Labeled:
    """Read labeled completions.

    True means correct, and false means incorrect. If the labels are grades, only the highest grade means correct.

    Args:
        reward: the reward. Rows with equal values in the columns that it reads belong to one example.
        path: a .jsonl, .json, .csv, or .parquet file. Each row has a ``completion``, usually a ``prompt``, other
            columns, and a label.
        label: the column with the labels. Without it, the rows are examples without correct or incorrect completions.

    Raises:
        DataError: the file cannot be read. The message names the line.
    """
    records = _read(path)
    has_labels = any(label in record for record in records.records)
    right = _right(records, label) if has_labels else None
    completions = records.column("completion", "the completion") if "completion" in records.columns else None
    read_columns = _columns(reward, [name for name in records.columns if name not in (label, *_OWN)])
    rows: dict[str, _Row] = {}
    for number, record in enumerate(records.records):
        columns = {name: value for name, value in record.items() if name == "prompt" or name in read_columns}
        row = rows.setdefault(json.dumps(columns, sort_keys=True, default=repr), _Row(columns))
        row.completions += 1
        if right is not None and completions is not None:
            (row.good if right[number] else row.bad).append(completions[number])
    # Prompts with both right and wrong completions are the most useful.
    chosen = sorted(rows.values(), key=lambda row: -(bool(row.good) + bool(row.bad)))[:_MOST_EXAMPLES]
    return Labeled(
        options=_options(chosen),
        records=records,
        prompts=len(rows),
        used=len(chosen),
        has_labels=has_labels and completions is not None,
        has_groups=completions is not None
        and "prompt" in records.columns
        and any(row.completions > 1 for row in rows.values()),
    )


def listed_examples(path: str | Path) -> dict[str, Any]:
    """Read `check_reward` options from a file with one example per row, each with ``good`` and ``bad`` completions.

    Raises:
        DataError: the file cannot be read. The message names the line.
    """
    rows = []
    for record in _read(path).records:
        columns = {name: value for name, value in record.items() if name not in ("good", "bad")}
        rows.append(_Row(columns, _as_completions(record.get("good")), _as_completions(record.get("bad"))))
    return _options(rows)


def bound_with(
    loaded: Loaded,
    *,
    data: str | Path | None = None,
    examples: str | Path | None = None,
    label: str = "label",
    options: Mapping[str, Any] | None = None,
    laws: Iterable[str] | None = None,
    without: Iterable[str] = (),
) -> BoundReward:
    """Bind a reward to the options from its module and from data files. Arguments take precedence over the module.

    Raises:
        RewardDefinitionError: the reward reads columns, but neither its module nor a file has examples.
        DataError: a file cannot be read.
    """
    settings = with_declarations(loaded.constants)
    own_laws, own_without = settings.pop("laws", None), settings.pop("without", ())
    laws_by_name = {law.name: law for law in selected(own_laws)} if own_laws and laws is not None else {}
    if data is not None or examples is not None:
        files = [] if examples is None else [listed_examples(examples)]
        files += [] if data is None else [labeled(loaded.reward, data, label).options]
        settings.update({name: [row for file in files for row in file[name]] for name in ("examples", "good", "bad")})
    if "examples" not in settings:
        needed = _columns(loaded.reward)
        if needed or _takes_any(loaded.reward):
            reads = f"reads {', '.join(needed)}" if needed else "may read the prompt or any column"
            if lists := [name for name in loaded.misnamed if name.lower().endswith("examples")]:
                raise NoExamples(
                    f"{loaded.name} {reads}, but has no examples. Write {lists[0]} as {lists[0].upper()}, because "
                    "the check reads only names in capital letters.",
                    needed,
                )
            raise NoExamples(
                f"{loaded.name} {reads}, but has no examples. Define "
                'EXAMPLES = [{"prompt": ..., <columns>}] in its module ([{}] if it reads no columns), with GOOD and '
                f"BAD completions (or {loaded.name.upper()}_EXAMPLES for only this reward), or pass a file with --data "
                "or --examples (in pytest: --rewardkit-data, --rewardkit-examples).",
                needed,
            )
        settings["examples"] = [{}]
    return bind_reward(
        loaded.reward,
        {**settings, **(options or {})},
        name=loaded.name,
        laws=own_laws if laws is None else [laws_by_name.get(law, law) for law in laws],
        without=[*own_without, *without],
    )


def _options(rows: list[_Row]) -> dict[str, Any]:
    def told(row: _Row, completions: list[Any]) -> list[dict[str, Any]]:
        distinct = {json.dumps(completion, default=repr): completion for completion in completions}
        return [{**row.columns, "completion": completion} for completion in list(distinct.values())[:_MOST_COMPLETIONS]]

    return {
        "examples": [row.columns for row in rows],
        "good": [labeled_row for row in rows for labeled_row in told(row, row.good)],
        "bad": [labeled_row for row in rows for labeled_row in told(row, row.bad)],
    }


def _as_completions(value: Any) -> list[Any]:
    """Return the completions in `value` as a list. A list of chat messages is one completion."""
    if value is None:
        return []
    if isinstance(value, list) and not (value and all(isinstance(part, Mapping) for part in value)):
        return value
    return [value]


def _right(records: Records, label: str) -> list[bool]:
    labels = records.labels(label)
    if labels.dtype == np.bool_:
        return [bool(grade) for grade in labels]
    return [bool(grade >= labels.max()) for grade in labels]


def _columns(reward: Any, column_names: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the columns that a reward names, or, if it accepts any column, the columns that its code mentions."""
    from rewardkit.scoring.columns import asked_for

    tree = tree_of(reward, "a reward with labels")
    named, takes_all = asked_for(tree)
    if takes_all:
        subject = RewardUnderTest(tree, [Example(None, dict.fromkeys(column_names))], plain=True)
        named |= subject.columns_read | {
            name for _, binding in subject.bindings for name in _parameters(binding.original)
        }
    return tuple(sorted(named - {*RESERVED, *_OF_TRAINERS}))


def _takes_any(reward: Any) -> bool:
    """Return whether a reward accepts `example`, `prompt`, or plain ``**kwargs``, so that it may read any column."""
    reward_bindings = [binding for _, binding in bindings(tree_of(reward, "a reward with labels"))]
    plain = [binding.original for binding in reward_bindings if binding.foreign and not isinstance(reward, Reward)]
    needed = [each.source for binding in reward_bindings for each in binding.parameters if each.default is MISSING]
    return "example" in needed or "prompt" in needed or any(map(_takes_keywords, plain))


def _takes_keywords(function: Any) -> bool:
    parameters = (parameters_of(function) or {}).values()
    # A TRL function has **kwargs because TRL passes every column; if the code never mentions them, it reads none.
    return any(
        parameter.kind is parameter.VAR_KEYWORD and uses_argument(function, parameter.name) for parameter in parameters
    )


def _parameters(function: Any) -> list[str]:
    parameters = (parameters_of(function) or {}).values()
    return [
        parameter.name
        for parameter in parameters
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]


def _read(path: str | Path) -> Records:
    from rewardkit.scoring.samples import read

    try:
        return read(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
