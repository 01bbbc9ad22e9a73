"""The files and settings with which an environment of OpenEnv uses a reward."""

from __future__ import annotations

from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.online.exports import Export, Target, Tested
from rewardkit_openenv.rewards import OFFERS

TESTED = Tested("openenv-core", ["0.3.0"])
_FILE = '''"""The reward for an environment of OpenEnv."""

from typing import Any

import rewardkit as rk
{imports}


def rubric() -> Any:
    # text= names the field of the action that holds the completion.
    return rk.to_openenv(reward, text="message")
'''
_CONFIG = """\
from rewards_openenv import rubric

super().__init__(rubric=rubric())                                     # in __init__ of your environment
observation.reward = self._apply_rubric(action, observation)          # in its step"""


def export(target: Target) -> Export:
    """Return the export of a reward for OpenEnv.

    Raises:
        RewardDefinitionError: an environment cannot run it. The file alone would not tell: it makes a rubric later.
    """
    OFFERS.check(Scorer(target.load()))
    return Export(
        {"rewards_openenv.py": _FILE.format(imports=target.imports)},
        _CONFIG,
        TESTED,
        ["A completion that cannot be scored has the reward null. Leave such an episode out: it is not a 0."],
    )
