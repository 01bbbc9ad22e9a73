"""Run all checks of the preflight. None of them loads a model or calls a judge."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import RewardKitError
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree.parameters import ENVIRONMENT
from rewardkit.core.tree.reward import Reward, bindings, walk
from rewardkit.data.reward_names import load
from rewardkit_runner.configuration.config import PreflightConfig, RunConfig
from rewardkit_runner.preflight.batches import batches_of, split_groups
from rewardkit_runner.preflight.cells import cells, duplicates, prompts
from rewardkit_runner.preflight.columns import columns
from rewardkit_runner.preflight.environment import output, packages
from rewardkit_runner.preflight.findings import Finding, Preflight
from rewardkit_runner.preflight.golds import Golds, golds
from rewardkit_runner.preflight.judges import asks, judges
from rewardkit_runner.preflight.laws import laws
from rewardkit_runner.preflight.memory import memory
from rewardkit_runner.preflight.sizes import lengths, shape_of
from rewardkit_runner.preflight.table import Table
from rewardkit_runner.preflight.tools import tools
from rewardkit_runner.rewards import trained
from rewardkit_trl.functions import checked_tree

if TYPE_CHECKING:
    from datasets import Dataset

_GOLD_SHARE = 0.3
"""The share of the time for the laws that the golds may take before them."""


def preflight(config: RunConfig, *, reward: Any, training: Dataset, held_out: Dataset | None) -> Preflight:
    """Check a training before the model is loaded.

    ``found = preflight(config, reward=reward, training=rows, held_out=None)``; ``print(found.text())``.

    Args:
        config: of the run.
        reward: what ``reward:`` names: a Reward, a function written for TRL, or a list of them.
        training: rows with a column ``prompt``.
        held_out: the rows of the evaluation, if any.
    """
    options = config.preflight or PreflightConfig()
    if not len(training):
        return Preflight((Finding("error", "data", "the dataset has no rows", "fix dataset.path or dataset.filter"),))
    where, remedy = "reward", "name a reward, a function, or a list of them"
    try:
        checked_tree(reward)
        if config.reward_weights is not None:
            where, remedy = "grpo.reward_weights", "weight each item of the list, or delete it and weight the reward"
        tree = trained(config, reward)
    except RewardKitError as error:
        return Preflight((Finding("error", where, str(error), remedy),))
    table = Table(training, tree, "training", options.rows)
    other = None if held_out is None else Table(held_out, tree, "held out", options.rows)
    found = [*_tried("settings", packages(config)), *_tried("data", _data(config, tree, table, other))]
    found += _tried("environment", tools(config, tree, table))
    if not any(finding.kind == "error" for finding in found):
        found += _tried("reward", _reward(config, options, reward, tree, table))
    found += _tried("training", _training(config, tree, table, other))
    found += _tried("output", output(config))
    return Preflight(tuple(dict.fromkeys(found)))  # a problem of both training and held-out rows is reported once


def _tried(where: str, check: Iterator[Finding]) -> Iterator[Finding]:
    """Yield the findings of a check. If the check itself fails, yield a warning: that must not stop the training."""
    try:
        yield from check
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = f"the check itself failed: {type(error).__name__}: {error} ({place.name}:{place.lineno})"
        yield Finding("warning", where, what, "report it as a bug; the run can start")


def _data(config: RunConfig, tree: Reward, table: Table, other: Table | None) -> Iterator[Finding]:
    acts = config.environment is not None
    for one in (table, other) if other is not None else (table,):
        yield from columns(tree, one, acts=acts)
        yield from prompts(one)
        yield from cells(tree, one)
    yield from duplicates(table, other, acts=acts)


def _reward(config: RunConfig, options: PreflightConfig, reward: Any, tree: Reward, table: Table) -> Iterator[Finding]:
    """Score the gold answers and test the laws, unless the reward calls a judge."""
    if asks(tree):
        what = "gold answers and laws were not tested, because the reward calls judges or models. Use rewardkit check"
        yield Finding("fact", "reward", what)
        return
    if any(binding.reads(ENVIRONMENT) for _, binding in bindings(tree)):
        what = "gold answers and laws were not tested, because the reward reads the environment. Use rewardkit check"
        yield Finding("fact", "reward", what)
        return
    found: Golds = golds(tree, table, options.budget * _GOLD_SHARE)
    yield from found.findings
    if options.laws and not any(finding.kind == "error" for finding in found.findings):
        constants = load(config.reward_target())[0].constants
        yield from laws(reward, tree, table, constants, found.best, options.budget, config.seed)


def _training(config: RunConfig, tree: Reward, table: Table, other: Table | None) -> Iterator[Finding]:
    batches, found = batches_of(config, table.total)
    shape = shape_of(config)
    longest, said = lengths(config, table, shape)
    yield from said
    yield from found
    if batches is None:
        return
    for late in Scorer(tree).late(batches.steps):
        what, _, remedy = late.rpartition(". ")
        yield Finding("error", "reward", what, remedy[:1].lower() + remedy[1:])
    yield from split_groups(batches, any(node.facts.together == "group" for node, _, _ in walk(tree)))
    yield from memory(config, shape, batches, longest)
    every = config.eval.every if config.eval is not None else None
    times = 0 if other is None else 2 + (batches.steps // every if every else 0)
    yield from judges(tree, batches, times * (0 if other is None else other.total))
