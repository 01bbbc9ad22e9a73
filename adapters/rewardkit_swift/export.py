"""The files and settings with which ms-swift uses a reward."""

from __future__ import annotations

import shlex

from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.online.exports import Export, Target, Tested

TESTED = Tested("ms-swift", ["4.6.0"])
_FILE = '''"""The reward for ms-swift."""

import rewardkit as rk
{imports}

names = rk.to_swift(reward)
'''
_CONFIG = """\
--external_plugins {{file}} \\
--reward_funcs {names}"""


def export(target: Target) -> Export:
    """Return the export of a reward for ms-swift."""
    terms = Scorer(target.load()).terms
    names = " ".join(map(shlex.quote, terms)).replace("{", "{{").replace("}", "}}")
    return Export(
        {"rewards_swift.py": _FILE.format(imports=target.imports)},
        _CONFIG.format(names=names),
        TESTED,
        ["A completion that cannot be scored gets the means of the others of its prompt, so its advantage is 0."],
    )
