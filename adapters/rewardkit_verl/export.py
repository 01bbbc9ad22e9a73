"""The files and settings with which verl uses a reward."""

from __future__ import annotations

from rewardkit.online.exports import Export, Target, Tested

TESTED = Tested("verl", ["0.9.1"])
_FILE = '''"""The reward for verl."""

import rewardkit as rk
{imports}

# gold= names the column of the reward that verl's reward_model.ground_truth fills.
compute_score = rk.to_verl(reward, gold="{gold}")
'''
_CONFIG = """\
reward.custom_reward_function.path={file}
reward.custom_reward_function.name=compute_score
reward.reward_manager.name=naive"""


def export(target: Target) -> Export:
    """Return the export of a reward for verl."""
    return Export(
        {"rewards_verl.py": _FILE.format(imports=target.imports, gold=target.gold)},
        _CONFIG,
        TESTED,
        ["A completion that cannot be scored raises; verl 0.9 leaves it out (trainer.use_v1=True, the default)."],
    )
