"""Checks at the first call of a trainer: will its sum be the total of the reward?"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from rewardkit.core.errors import BindingError, RewardDefinitionError, RewardFailure, warn
from rewardkit_trl.layout import Layout
from rewardkit_trl.trainer import Trainer


def check_trainer(trainer: Trainer, layout: Layout, evaluator: object) -> None:
    """Check that the sum of the trainer is the total, and warn of settings that change what the reward means.

    Raises:
        RewardFailure: functions are missing, or their weights are wrong.
        RewardDefinitionError: another function of the trainer has the name of one of ours.
    """
    held = trainer.weights_of(evaluator)
    if held:
        _check_weights(held, layout)
        _check_names(trainer.reward_names, layout)
        _warn_of_settings(trainer, layout, evaluator)


def check_alone(layout: Layout) -> None:
    """Raise BindingError if the reward needs the other processes, but there is no trainer to reach them by."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return
    if torch.distributed.get_world_size() > 1 and (layout.follows or layout.together != "sample"):
        raise BindingError(
            "this reward needs the completions of all processes (for a schedule that follows performance, or a reward "
            "relative to the group), but the trainer passes no log_metric, which is the only way to reach them: use "
            "TRL 1.0 or later, or one process"
        )


def _check_weights(held: list[tuple[str, float]], layout: Layout) -> None:
    needed = dict(zip(layout.names, layout.weights, strict=True))
    if sorted(name for name, _ in held) != sorted(needed):
        raise RewardFailure(
            f"the trainer has the reward functions {[name for name, _ in held]}, but the reward is the sum of "
            f"{list(needed)}: pass the whole list that to_trl returned, once"
        )
    if not np.allclose([weight for _, weight in held], [needed[name] for name, _ in held], rtol=1e-5, atol=1e-7):
        raise RewardFailure(
            f"the trainer has the reward weights {dict(held)}, but the reward needs {needed}: pass "
            "GRPOConfig(reward_weights=funcs.reward_weights)"
            + (", or leave reward_weights out" if set(layout.weights) == {1.0} else "")
        )


def _check_names(names: Sequence[str], layout: Layout) -> None:
    for name in layout.names:
        if names.count(name) > 1:
            raise RewardDefinitionError(clash(name, names.count(name)))


def check_plain_sum(layout: Layout) -> None:
    """Raise RewardFailure if the plain sum of the columns is not the total."""
    needed = dict(zip(layout.names, layout.weights, strict=True))
    if set(layout.weights) != {1.0}:
        raise RewardFailure(
            f"the reward needs the weights {needed}, but this process cannot see the weights of the trainer, and "
            'asynchronous GRPO has none. Use columns="terms"'
        )


def clash(name: str, count: int) -> str:
    """Return the message for `count` reward functions of the same name."""
    return (
        f"{count} reward functions are called {name!r}, so TRL would mix their metrics. Pass all of them to one "
        'to_trl([...]), and rename one: rk.from_trl(function, name="...")'
    )


def _warn_of_settings(trainer: Trainer, layout: Layout, evaluator: object) -> None:
    """Warns of settings under which the trainer does something else than the reward says."""
    if any(getattr(function, "evaluator", None) is not evaluator for function in trainer.reward_functions):
        warn(
            "the trainer has other reward functions besides rewardkit's: a completion that rewardkit cannot score "
            "still gets their rewards, so it keeps a learning signal"
        )
    if trainer.normalizes_each and not layout.separable:
        warn(
            'multi_objective_aggregation="normalize_then_sum" normalizes each reward function separately, so weights '
            "inside a term cancel, and a total counts as one. Write the reward as a plain weighted sum, and pass "
            'columns="components" and reward_weights=funcs.reward_weights'
        )
