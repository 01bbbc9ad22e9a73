"""Checks on a trainer's first call that its sum equals the reward's total."""

from __future__ import annotations

import math
import sys
import tokenize
from collections.abc import Mapping, Sequence
from io import StringIO
from itertools import pairwise

from rewardkit import schedules
from rewardkit.errors import BindingError, RewardDefinitionError, RewardFailure, warn
from rewardkit.online.trainers import warn_of_other_functions
from rewardkit.progress.schedule import Schedule, Weight, multiplied
from rewardkit.tree.algebra import summands
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.names import terms_of
from rewardkit.tree.reward import Reward
from rewardkit_adapters.trl.layout import TOTAL, RewardColumns
from rewardkit_adapters.trl.trainer import Trainer

# Expressions: a reward as Python code that creates it, for pasting into a training script.


_ALSO_REWARDS = {"maximum", "minimum"}
_NAMESPACES = {"agents", "length"}
"""The namespaces of functions, which come before a dot in expressions such as ``length.between(1, 5)``."""


def weighted_expression(layout: RewardColumns, trainer_weights: Mapping[str, float]) -> str | None:
    """Return the effective reward with the trainer's weights `trainer_weights`, or None if no sum is equivalent.

    The result is an expression: ``"1.0 * rk.from_trl(b1) + 0.6 * rk.exact('answer')"``. The tree's weights and the
    trainer's weights are multiplied.
    """
    scorer = Scorer(layout.scored)
    if layout.columns == "components":
        nodes = {TOTAL: scorer.reward, **dict(scorer.names.components)}
        parts: list[tuple[Weight, Reward]] = [
            (weight, nodes[name]) for name, weight in trainer_weights.items() if weight
        ]
        return _written(parts)
    names = {node: name for name, node in scorer.names.terms}
    parts = []
    for inner, reward in summands(scorer.reward):
        weights = {trainer_weights[names[term]] for term in terms_of(reward)}
        if len(weights) > 1:
            return None
        parts += [(multiplied(weight, inner), reward) for weight in weights or {1.0}]
    return _written(parts)


def _written(parts: Sequence[tuple[Weight, Reward]]) -> str:
    return " + ".join(f"{_weight(weight)} * {pasted(repr(reward))}" for weight, reward in parts)


def _weight(weight: Weight) -> str:
    return f"({pasted(weight.text)})" if isinstance(weight, Schedule) else repr(weight)


def pasted(code: str) -> str:
    """Return `code` with rewardkit's names as users write them: ``exact("a")`` becomes ``rk.exact("a")``."""
    try:
        tokens = list(tokenize.generate_tokens(StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return code
    result, end = "", 0
    previous_tokens = ["", ""]
    for token, next_token in pairwise(tokens):
        is_namespace = (
            token.string in _NAMESPACES and next_token.string == "."
        )  # a user's own function may be called length
        named = next_token.string == "(" or is_namespace or token.string == "REFUSALS"
        if token.type == tokenize.NAME and named and previous_tokens[-1] != ".":
            result += code[end : token.start[1]] + _home(token.string, previous_tokens)
            end = token.start[1]
        previous_tokens = [previous_tokens[-1], token.string]
    return result + code[end:]


def _home(name: str, before: Sequence[str]) -> str:
    if list(before) == ["extract", "="]:
        return "rk.extract."
    return "rk.schedules." if name in schedules.__all__ and name not in _ALSO_REWARDS else "rk."


def honored(trainer: Trainer, layout: RewardColumns) -> RewardColumns:
    """Return `layout` with the trainer's weights if the layout allows arbitrary weights."""
    trainer_weights = dict(trainer.weights()) if layout.honors else {}
    if trainer_weights.keys() != set(layout.names) or _agree(trainer_weights, layout):
        return layout
    return layout.holding([trainer_weights[name] for name in layout.names])


def check_trainer(trainer: Trainer, layout: RewardColumns) -> None:
    """Check that the trainer's sum equals the total, and warn about settings that change the reward's meaning.

    Raises:
        RewardFailure: functions are missing, or the trainer's weights differ from the reward's weights.
        RewardDefinitionError: another of the trainer's functions has the same name as one of the reward's functions.
    """
    weight_pairs = trainer.weights()
    if not weight_pairs:
        return
    if sorted(name for name, _ in weight_pairs) != sorted(layout.names):
        raise RewardFailure(
            f"the trainer has the reward functions {[name for name, _ in weight_pairs]}, but the reward is the sum of "
            f"{list(layout.names)}: pass the whole list that to_trl returned, exactly once"
        )
    if not _agree(dict(weight_pairs), layout):
        raise RewardFailure(_mismatch(dict(weight_pairs), layout))
    _check_names(trainer.reward_names, layout)
    _warn_of_settings(trainer, layout)


def _agree(trainer_weights: Mapping[str, float], layout: RewardColumns) -> bool:
    needed = zip(layout.names, layout.weights, strict=True)
    # The tolerances fit float32, in which TRL stores its weights.
    return all(math.isclose(trainer_weights[name], weight, rel_tol=1e-5, abs_tol=1e-7) for name, weight in needed)


def _mismatch(trainer_weights: Mapping[str, float], layout: RewardColumns) -> str:
    """Return the error message for different weights, with the settings that make the trainer and the reward agree.

    The advice never drops a weight."""
    needed = dict(zip(layout.names, layout.weights, strict=True))
    fault = f"the trainer has the reward weights {trainer_weights}, but the reward needs {needed}"
    as_needed = "pass GRPOConfig(reward_weights=funcs.reward_weights)"
    if set(trainer_weights.values()) == {1.0}:  # TRL's default: the user set no weights
        return f"{fault}: {as_needed}"
    if layout.given:
        return (
            f"{fault}, from to_trl(weights=...). Give the weights once: {as_needed} to train with the weights from "
            "to_trl, or drop weights= to train with the trainer's weights"
        )
    expression = weighted_expression(layout, trainer_weights)
    if layout.columns == "components":
        suggestion = "" if expression is None else f', rk.to_trl({expression}, outputs="components")'
        return (
            f"{fault}. To train with the reward's weights, {as_needed}. To train with the trainer's weights, "
            f"write them into the reward{suggestion}"
        )
    suggestion = "" if expression is None else f", rk.to_trl({expression}),"
    return (
        f"{fault}. One reward has several columns, so the trainer's weights cannot be matched to rewards. "
        f"Write them into the reward{suggestion} and remove reward_weights"
    )


def check_alone(layout: RewardColumns) -> None:
    """Raise BindingError if the reward needs rows from other processes but has no trainer to reach these processes."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return
    if torch.distributed.get_world_size() > 1 and (layout.follows or layout.together != "sample"):
        raise BindingError(
            "this reward needs the completions of all processes (for a schedule that follows performance, or a reward "
            "relative to the group), but the trainer does not pass log_metric, which is the only way to "
            "get them. Use TRL 1.0 or later, or one process"
        )


def _check_names(names: Sequence[str], layout: RewardColumns) -> None:
    for name in layout.names:
        if names.count(name) > 1:
            raise RewardDefinitionError(clash(name, names.count(name)))


def check_plain_sum(layout: RewardColumns) -> None:
    """Raise RewardFailure if the plain sum of the columns does not equal the total."""
    needed = dict(zip(layout.names, layout.weights, strict=True))
    if set(layout.weights) != {1.0}:
        raise RewardFailure(
            f"the reward needs the weights {needed}, but this process cannot see the trainer's weights, and "
            "asynchronous GRPO does not use weights. Write them into the reward: rk.to_trl("
            f'{weighted_expression(layout, needed)}, outputs="terms")'
        )


def clash(name: str, count: int) -> str:
    """Return the error message for `count` reward functions with the same name."""
    return (
        f"{count} reward functions are called {name!r}, so TRL would mix their metrics. Pass all of them to one "
        'to_trl([...]), and rename one: rk.from_trl(function, name="...")'
    )


def _warn_of_settings(trainer: Trainer, layout: RewardColumns) -> None:
    """Warn about trainer settings with which the trained reward differs from the defined reward."""
    if len(trainer.own) < len(trainer.reward_functions):
        warn_of_other_functions()
    if trainer.normalizes_each and not layout.separable:
        warn(
            'multi_objective_aggregation="normalize_then_sum" normalizes each reward function separately, so weights '
            "inside a term cancel out, and a total counts as one function. Write the reward as a plain "
            "weighted sum, and pass "
            'outputs="components" and reward_weights=funcs.reward_weights'
        )
