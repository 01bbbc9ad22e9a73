"""What is checked when a trainer calls for the first time: is the sum that it will make the total?"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from rewardkit.core.errors import BindingError, RewardDefinitionError, RewardFailure, warn
from rewardkit_trl.layout import Layout
from rewardkit_trl.trainer import Trainer


def check_trainer(trainer: Trainer, layout: Layout, evaluator: object) -> None:
    """Raises where a trainer would make another total, and warns where it does something else than the reward says."""
    held = trainer.weights_of(evaluator)
    if held:
        check_weights(held, layout)
        check_names(trainer.reward_names, layout)
        warn_of(trainer, layout, evaluator)


def check_alone(layout: Layout) -> None:
    """Raises BindingError where one of several processes is to answer for all without a trainer to reach the others."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return
    if torch.distributed.get_world_size() > 1 and (layout.follows or layout.together != "sample"):
        raise BindingError(
            "this reward looks at the completions of all processes (a schedule that follows performance, or a reward "
            "relative to the group), but the trainer passes no log_metric through which to reach them: use TRL 1.0 or "
            "later, or one process"
        )


def check_weights(held: list[tuple[str, float]], layout: Layout) -> None:
    """Raises RewardFailure where the trainer's functions and weights do not make the total."""
    needed = dict(zip(layout.names, layout.weights, strict=True))
    if sorted(name for name, _ in held) != sorted(needed):
        raise RewardFailure(
            f"the trainer holds the reward functions {[name for name, _ in held]} out of {list(needed)}: pass the "
            "whole list that to_trl returned, once; only together are they the reward"
        )
    if not np.allclose([weight for _, weight in held], [needed[name] for name, _ in held], rtol=1e-5, atol=1e-7):
        raise RewardFailure(
            f"the trainer holds the reward weights {dict(held)}, but {needed} are needed: pass "
            "GRPOConfig(reward_weights=funcs.reward_weights)"
            + (", or leave reward_weights out" if set(layout.weights) == {1.0} else "")
        )


def check_names(names: Sequence[str], layout: Layout) -> None:
    """Raises RewardDefinitionError where another of the trainer's functions is called like one of ours."""
    for name in layout.names:
        if names.count(name) > 1:
            raise RewardDefinitionError(clash(name, names.count(name)))


def check_plain_sum(layout: Layout) -> None:
    """Raises RewardFailure where adding up the columns as they are does not make the total."""
    needed = dict(zip(layout.names, layout.weights, strict=True))
    if set(layout.weights) != {1.0}:
        raise RewardFailure(
            f"the reward weights {needed} are needed, but this is another process than the trainer's, where nothing "
            'says that there are any: asynchronous GRPO has none. Use columns="terms"'
        )


def clash(name: str, count: int) -> str:
    return (
        f"{count} reward functions are called {name!r}: TRL would mix their metrics. Put all of them into one "
        "to_trl([...]), with rk.from_trl(function, name=...) where names clash"
    )


def warn_of(trainer: Trainer, layout: Layout, evaluator: object) -> None:
    """Warns of settings under which the trainer does something else than the reward says."""
    if any(getattr(function, "evaluator", None) is not evaluator for function in trainer.reward_functions):
        warn(
            "other reward functions stand beside rewardkit's: a completion that cannot be scored still gets "
            "theirs, so it keeps a learning signal"
        )
    if trainer.normalizes_each and not layout.separable:
        warn(
            'multi_objective_aggregation="normalize_then_sum" normalizes every reward function by itself: weights '
            "inside a term cancel, and a total is not taken apart. Write a plain weighted sum and pass it with "
            'columns="components" and reward_weights=funcs.reward_weights'
        )
