"""The files and settings with which NeMo Gym uses a reward."""

from __future__ import annotations

from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.online.exports import Export, Target, Tested
from rewardkit_nemo_gym.functions import OFFERS, TESTED

_FILE = '''"""The reward as a resources server of NeMo Gym."""

import rewardkit as rk
{imports}

if __name__ == "__main__":
    rk.to_nemo_gym(reward).run_webserver()
'''
_REQUIREMENTS = """\
-e nemo-gym[dev] @ ../../
rewardkit-sdk
"""
_CONFIG = """\
my_reward:
  resources_servers:
    my_reward:                            # the folder resources_servers/my_reward
      entrypoint: rewards_nemo_gym.py
      domain: other
my_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: my_reward}
      model_server: {type: responses_api_models, name: policy_model}"""


def export(target: Target) -> Export:
    """Return the export of a reward for NeMo Gym.

    Raises:
        RewardDefinitionError: NeMo Gym cannot run it. The file alone would not tell: it makes the server later.
    """
    OFFERS.check(Scorer(target.load()))
    return Export(
        {"rewards_nemo_gym.py": _FILE.format(imports=target.imports), "requirements.txt": _REQUIREMENTS},
        _CONFIG.replace("{", "{{").replace("}", "}}"),
        Tested("nemo-gym", TESTED),
        [
            "Put the files into resources_servers/my_reward of your project. Add the packages that the reward needs to "
            "requirements.txt.",
            "A rollout that cannot be scored is kept out of the collected rollouts; NeMo RL generates another one.",
        ],
    )
