"""Environments for a trainer: ``environment_factory=funcs.environments(Shop)`` creates recorded environments.

Recorded environments store each call with a copy of its arguments. They also distinguish outages from policy errors. If
an environment breaks, its row gets no learning signal, and training continues.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, final

from rewardkit.batch.environments import Watch, record_environment, recording_class, tools_of
from rewardkit.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.progress.bounds import number
from rewardkit.rewards.agents import EnvironmentReward
from rewardkit.tree.reward import Reward, bindings

Made = Callable[[], Any]
"""An environment factory: a class, or a function without arguments."""


@final
@dataclass(frozen=True)
class Environments:
    """A picklable factory for recorded environments.

    Attributes:
        make: the environment class, or a function that creates an environment.
        watch: the settings for recording.
    """

    make: Made
    watch: Watch

    def __call__(self) -> Any:
        if isinstance(self.make, type):
            return recording_class(cast("Any", self.make), self.watch)()
        return record_environment(self.make(), self.watch)

    @property
    def __name__(self) -> str:
        return getattr(self.make, "__name__", type(self.make).__name__)


def environments(
    environment: Made | Mapping[str, Made],
    reward: Reward,
    *,
    timeout: float | None,
    outages: tuple[type[BaseException], ...],
) -> Any:
    """Return the environment factory, or a dictionary of factories, as described in `RewardFunctions.environments`."""
    if timeout is not None and number(timeout, "environments: timeout") <= 0.0:
        raise RewardDefinitionError(
            f"environments: timeout must be a number of seconds greater than 0, got {timeout:g}"
        )
    kinds = (outages,) if isinstance(outages, type) else tuple(outages)
    if not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
        raise RewardTypeError(f"environments: outages= must be exception classes, got {shorten(outages)}")
    uses_environment_reward = any(isinstance(binding.function, EnvironmentReward) for _, binding in bindings(reward))
    is_mapping = isinstance(environment, Mapping)
    watch = Watch(
        None if timeout is None else float(timeout), kinds, hide_reward=uses_environment_reward, mixed=is_mapping
    )
    if uses_environment_reward:
        _check_rewards(list(environment.values()) if isinstance(environment, Mapping) else [environment])
    if isinstance(environment, Mapping):
        return {name: _checked(factory, watch) for name, factory in environment.items()}
    return _checked(environment, watch)


def _check_rewards(factories: Sequence[Made]) -> None:
    if factories and all(isinstance(factory, type) and not hasattr(factory, "get_reward") for factory in factories):
        names = ", ".join(getattr(factory, "__name__", "?") for factory in factories)
        raise RewardDefinitionError(
            f"environments: the reward uses rk.agents.environment_reward(), but {names} has no method "
            "get_reward(). Add one, or remove rk.agents.environment_reward()"
        )


def _checked(make: Made, watch: Watch) -> Environments:
    if not callable(make):
        raise RewardTypeError(
            "environments: expected an environment class, a function that creates an environment, or a dictionary "
            f"of these, got {shorten(make)} ({type(make).__name__})"
        )
    if isinstance(make, Environments):
        return Environments(make.make, watch)
    if isinstance(make, type):
        if not callable(getattr(make, "reset", None)):
            raise RewardDefinitionError(f"environments: {make.__name__} needs a method reset(self, **row)")
        if not list(tools_of(make)):
            raise RewardDefinitionError(
                f"environments: {make.__name__} has no tool. Add a public method with type hints and a docstring"
            )
    return Environments(make, watch)
