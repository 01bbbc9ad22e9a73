"""Load the reward and the environment that a configuration specifies, and other user functions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rewardkit.errors import ConfigError, RewardDefinitionError
from rewardkit.tree.loading import load
from rewardkit.tree.reward import Reward
from rewardkit_adapters.runner.config import RunConfig, require
from rewardkit_adapters.trl.layout import layout_of


def reward_of(config: RunConfig) -> Any:
    """Load the object specified by ``reward: reward.py:reward``: a Reward, a TRL reward function, or a list of them.

    Raises:
        ConfigError: a package in the reward's ``packages`` is not installed.
        RewardDefinitionError: the module, file, or name does not exist or cannot be imported.
    """
    require(config.reward.packages)  # first, because the module of the reward may import them
    return named(config.reward_target(), config.modules_path())


def environment_of(config: RunConfig) -> Any:
    """Load the environment specified by ``environment: environment.py:Shop``, or return None if there is none.

    Raises:
        ConfigError: the module, file, or name does not exist or cannot be imported.
    """
    target = config.environment_target()
    try:
        return None if target is None else named(target, config.modules_path())
    except RewardDefinitionError as error:
        raise ConfigError(f"environment: {error}") from error


def trained(config: RunConfig, reward: Any) -> Reward:
    """Return the tree for the loaded `reward`, with the weights from ``grpo: {reward_weights: ...}``.

    Raises:
        RewardDefinitionError: the number of weights differs from the number of items in the list, or names clash.
        RewardTypeError: `reward` is neither a reward nor a function.
    """
    return layout_of(reward, config.outputs, config.reward_weights).reward


def named(target: str, modules: Path) -> Any:
    """Load ``path.py:name`` or ``module:name``. The folder `modules` is also searched for modules.

    Raises:
        RewardDefinitionError: the module, file, or name does not exist or cannot be imported.
    """
    if str(modules.absolute()) not in sys.path:
        sys.path.insert(0, str(modules.absolute()))
    return load(target)[0].reward
