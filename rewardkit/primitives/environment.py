"""Rewards that read the environment after a rollout: its state, or its own reward.

::

    def sold(environment, item: str) -> bool:
        return item in environment.sold

    reward = rk.final_state(sold)
    trainer = GRPOTrainer(reward_funcs=funcs, environment_factory=funcs.environments(Shop))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.journals import Watch, own_reward
from rewardkit.core.errors import BindingError, RewardDefinitionError, RewardTypeError, shorten
from rewardkit.core.progress.bounds import Bounds
from rewardkit.core.tree.binding import Binding, name_of
from rewardkit.core.tree.decorator import checked_bounds, policy_number
from rewardkit.core.tree.leaf import Leaf
from rewardkit.core.tree.parameters import ENVIRONMENT, Parameter, caller_locals, may_abstain, parameters_of
from rewardkit.core.tree.results import Contract
from rewardkit.core.tree.reward import Reward, checked_name

_OUTAGES = (ConnectionError,)


def final_state(
    check: Callable[..., Any],
    *,
    name: str | None = None,
    bounds: Bounds = (0.0, 1.0),
    on_error: Literal["raise"] | float | None = None,
) -> Reward:
    """Score the environment as it is after the rollout, with a function of yours.

    ``rk.final_state(sold)`` calls ``sold(environment, item="tea")`` for each completion, where "item" is a dataset
    column.

    Args:
        check: takes the environment first, and then what functions with ``@rk.reward`` take: columns by name and type,
            ``trajectory``, ``completion``. It returns a bool, a number or an ``rk.Score``; None to abstain if it is
            annotated ``-> float | None``. It must not change the environment. May be async. An exception is a bug, but
            a ConnectionError, TimeoutError or ``rk.RewardFailure`` means that the score could not be computed.
        name: the name of the component; the function's name by default.
        bounds: lowest and highest score.
        on_error: what to do if the function has a bug, as for ``@rk.reward``.

    Raises:
        RewardTypeError: `check` is not a function.
        RewardDefinitionError: it takes no argument for the environment, or its other arguments are not valid.
        BindingError: while scoring: there are no environments. Train with
            ``environment_factory=funcs.environments(Shop)``; asynchronous GRPO does not pass environments on.
    """
    if isinstance(check, (Reward, type)) or not callable(check):
        raise RewardTypeError(
            f"final_state takes a function of the environment, got {shorten(check)} ({type(check).__name__})"
        )
    own = name_of(check)
    label = checked_name(name if name is not None else "final_state" if own == "<lambda>" else own)
    names = caller_locals(1)
    parameters = parameters_of(check, "sample", label, names, first=ENVIRONMENT)
    if not parameters or parameters[0].keyword_only:
        raise RewardDefinitionError(
            f"final_state: {label!r} takes no argument for the environment. Write it as {own}(environment, ...)"
        )
    binding = Binding(check, parameters, deterministic=False)
    contract = Contract(
        label,
        checked_bounds(label, bounds),
        may_abstain(check, label, "sample", names),
        on_error=on_error if on_error in (None, "raise") else policy_number(label, "on_error", on_error),
        outages=_OUTAGES,
    )
    return Leaf(binding, contract)


@dataclass(frozen=True)
class EnvironmentReward:
    """Ask each environment for its own reward."""

    def check(self, batch: Batch, name: str) -> None:
        """Raise a BindingError if no environment has a reward of its own."""
        environments = batch.rollouts.environments or []
        if environments and not any(map(_may_pay, environments)):
            raise BindingError(
                f"reward {name!r} asks the environments for their own reward, but {type(environments[0]).__name__} has "
                "no method get_reward(). Add one, or remove rk.environment_reward()"
            )

    def __call__(self, environment: Any) -> Any:
        return own_reward(environment)


def _may_pay(environment: Any) -> bool:
    """Return whether an environment has a reward of its own, or is one of several kinds, of which another may."""
    kind = type(environment)
    watch = getattr(kind, "_rewardkit_watch", None)
    mixed = isinstance(watch, Watch) and watch.mixed
    return mixed or hasattr(kind, "get_reward") or hasattr(kind, "_rewardkit_reward")


def environment_reward(*, bounds: Bounds = (-math.inf, math.inf)) -> Reward:
    """Take the environment's own reward, what its ``get_reward()`` returns, as a component.

    ``rk.gate(rk.finished(), rk.environment_reward(bounds=(0, 1)))`` pays it only for rollouts that answer. With
    ``environment_factory=funcs.environments(Shop)`` TRL does not see ``get_reward`` then, so that it is counted once;
    without ``funcs.environments``, TRL adds it to the sum by itself.

    Args:
        bounds: the lowest and the highest value that ``get_reward`` returns. Gates, penalties and normalization need
            finite ones. None abstains: environments without a reward in a mixed run.

    Raises:
        RewardDefinitionError: the bounds are not valid.
        BindingError: while scoring: there are no environments, or none of them has ``get_reward``.
    """
    label = "environment_reward"
    binding = Binding(EnvironmentReward(), (Parameter("environment", ENVIRONMENT),), deterministic=False)
    limits = checked_bounds(label, bounds)
    shown = f"environment_reward({'' if limits == (-math.inf, math.inf) else f'bounds={limits!r}'})"
    remedy = "Fix get_reward() of the environment, or pass the bounds= that its values keep."
    return Leaf(binding, Contract(label, limits, may_abstain=True, remedy=remedy, outages=_OUTAGES), shown)
