"""The files and settings with which verl uses a reward."""

from __future__ import annotations

import warnings

from rewardkit.core.errors import RewardDefinitionError, RewardKitWarning
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.online.exports import Export, Target, Tested
from rewardkit_verl.functions import OF_FUNCTIONS, OF_MANAGERS

TESTED = Tested("verl", ["0.9.1"])
_FILE = '''"""The reward for verl."""

import rewardkit as rk
{imports}

# gold= names the column of the reward that verl's reward_model.ground_truth fills.
{made}
'''
_CONFIG = """\
reward.custom_reward_function.path={file}
reward.custom_reward_function.name=compute_score
reward.reward_manager.name=naive"""
_MANAGER_CONFIG = """\
reward.reward_manager.source=importlib
reward.reward_manager.module.path={file}
reward.reward_manager.name=Manager"""


def export(target: Target) -> Export:
    """Return the export of a reward for verl: a function, or a manager for a reward that needs more.

    Raises:
        RewardDefinitionError: verl cannot run it.
    """
    if fits_function(Scorer(target.load())):
        made, config = f'compute_score = rk.to_verl(reward, gold="{target.gold}")', _CONFIG
    else:
        made, config = f'Manager = rk.to_verl(reward, gold="{target.gold}", manager=True)', _MANAGER_CONFIG
    return Export(
        {"rewards_verl.py": _FILE.format(imports=target.imports, made=made)},
        config,
        TESTED,
        ["A completion that cannot be scored raises; verl 0.9 leaves it out (trainer.use_v1=True, the default)."],
    )


def fits_function(scorer: Scorer) -> bool:
    """Return whether a function gets all that the reward reads: no prompt, no token ids, no progress.

    Raises:
        RewardDefinitionError: a manager does not get it either.
    """
    OF_MANAGERS.check(scorer)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RewardKitWarning)
            OF_FUNCTIONS.check(scorer)
    except (RewardDefinitionError, RewardKitWarning):
        return False
    return True
