"""The files and settings with which OpenRLHF uses a reward."""

from __future__ import annotations

from rewardkit.online.exports import Export, Target, Tested
from rewardkit_openrlhf.functions import TESTED

_FILE = '''"""The reward for OpenRLHF."""

import rewardkit as rk
{imports}

# gold= names the column of the reward that the label fills. Pass special_tokens=tokenizer: the one of your model.
# Pass dynamic_filtering=True if you train with --algo.dynamic_filtering_enable.
reward_func = rk.to_openrlhf(reward, gold="{gold}")
'''
_CONFIG = """\
--reward.remote_url {file}
--data.label_key {gold}"""


def export(target: Target) -> Export:
    """Return the export of a reward for OpenRLHF."""
    return Export(
        {"rewards_openrlhf.py": _FILE.format(imports=target.imports, gold=target.gold)},
        _CONFIG.replace("{gold}", target.gold),
        Tested("openrlhf", TESTED),
        [
            "A completion that cannot be scored is scored again for 300 s, and then the training ends. With "
            "--algo.dynamic_filtering_enable and dynamic_filtering=True its group is replaced instead."
        ],
    )
