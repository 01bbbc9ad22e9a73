"""The file and settings with which Axolotl uses a reward."""

from __future__ import annotations

from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.online.exports import Export, Target, Tested

TESTED = Tested("axolotl", ["0.19.0"])
_FILE = '''"""The reward for Axolotl: keep it beside the configuration."""

import rewardkit as rk
{imports}

globals().update(rk.to_axolotl(reward, prefix="rk_"))
'''
_CONFIG = """\
rl: grpo
trl:
  reward_funcs: [{names}]"""


def export(target: Target) -> Export:
    """Return the export of a reward for Axolotl."""
    terms = Scorer(target.load()).terms
    return Export(
        {"rewards_axolotl.py": _FILE.format(imports=target.imports)},
        _CONFIG.format(names=", ".join(f"rewards_axolotl.rk_{term}" for term in terms)),
        TESTED,
        [
            "A completion that cannot be scored is left out of its group.",
            "Start axolotl in the folder of rewards_axolotl.py: it imports the file by its name.",
        ],
    )
