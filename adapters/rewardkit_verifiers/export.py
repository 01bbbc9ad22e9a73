"""The files and settings with which verifiers and prime-rl use a reward."""

from __future__ import annotations

from rewardkit.online.exports import Export, Target, Tested

TESTED = Tested("verifiers", ["0.4.0"])
_FILE = '''"""The reward for verifiers, and so for prime-rl."""

import rewardkit as rk
{imports}

Scored = rk.to_verifiers(reward)
'''
_CONFIG = """\
from rewards_verifiers import Scored

class MyTask(Scored, vf.Task[MyData]): ...    # in your taskset; the fields of MyData are the columns"""


def export(target: Target) -> Export:
    """Return the export of a reward for verifiers."""
    return Export(
        {"rewards_verifiers.py": _FILE.format(imports=target.imports)},
        _CONFIG,
        TESTED,
        ["A completion that cannot be scored is an error of its trace; prime-rl leaves it out of its group."],
    )
