"""The file with which a hosted service uses a reward."""

from __future__ import annotations

from rewardkit.online.exports import Export, Target, Tested

TESTED = Tested("predibase", ["2025.10.3"])
_FILE = '''"""The functions for a hosted service, which ask the server that serves the reward."""

import rewardkit as rk
{imports}

# Where `rewardkit serve` answers, as the service reaches it.
hosted = rk.to_hosted(reward, url="https://rewards.example.com")
functions = list(hosted.functions)
'''
_CONFIG = "RewardFunctionsConfig(functions=functions)    # from {file}"


def export(target: Target) -> Export:
    """Return the export of a reward for a hosted service."""
    return Export(
        {"rewards_hosted.py": _FILE.format(imports=target.imports)},
        _CONFIG,
        TESTED,
        ["Serve the reward with `rewardkit serve`, put its address into the file, and set REWARDKIT_TOKEN for both."],
    )
