"""Load the reward that a configuration names, the environment, and other functions of the user."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rewardkit.errors import ConfigError, RewardDefinitionError
from rewardkit.tree.loading import load
from rewardkit.tree.reward import Reward
from rewardkit_adapters.runner.config import RunConfig, require
from rewardkit_adapters.trl.given import layout_of


def reward_of(config: RunConfig) -> Any:
    """Load what ``reward: reward.py:reward`` names: a Reward, a function written for TRL, or a list of them.

    Raises:
        ConfigError: a package that the configuration lists for the reward is missing.
        RewardDefinitionError: there is no such module, file or name, or it cannot be imported.
    """
    require(config.reward.packages)  # first: the module may import them
    return named(config.reward_target(), config.modules_path())


def environment_of(config: RunConfig) -> Any:
    """Load what ``environment: environment.py:Shop`` names; None without an environment.

    Raises:
        ConfigError: there is no such module, file or name, or it cannot be imported.
    """
    target = config.environment_target()
    try:
        return None if target is None else named(target, config.modules_path())
    except RewardDefinitionError as error:
        raise ConfigError(f"environment: {error}") from error


def trained(config: RunConfig, reward: Any) -> Reward:
    """Return the tree of `reward`, which `reward_of` loaded, with the weights in ``grpo: {reward_weights: ...}``.

    Raises:
        RewardDefinitionError: there is not one weight for each item of the list, or names clash.
        RewardTypeError: it is neither a reward nor a function.
    """
    return layout_of(reward, config.outputs, config.reward_weights).reward


def named(target: str, modules: Path) -> Any:
    """Load ``path.py:name`` or ``module:name``; modules are also searched in the folder `modules`.

    Raises:
        RewardDefinitionError: there is no such module, file or name, or it cannot be imported.
    """
    if str(modules.absolute()) not in sys.path:
        sys.path.insert(0, str(modules.absolute()))
    return load(target)[0].reward
