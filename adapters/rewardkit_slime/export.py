"""The files and settings with which slime uses a reward."""

from __future__ import annotations

from rewardkit.online.exports import Export, Target, Tested

TESTED = Tested("", ["commit 624b824a (2026-08-21)"])
_FILE = '''"""The reward for slime."""

import rewardkit as rk
{imports}

# gold= names the column of the reward that --label-key fills. Pass special_tokens=tokenizer: the one of your model.
rewards = rk.to_slime(reward, gold="{gold}")
score = rewards.score
normalize = rewards.normalize
keep_group = rewards.keep_group
step = rewards.step
log = rewards.log
log_eval = rewards.log_eval
'''
_CONFIG = """\
--custom-rm-path rewards_slime.score
--custom-reward-post-process-path rewards_slime.normalize
--custom-rollout-log-function-path rewards_slime.log
--custom-eval-rollout-log-function-path rewards_slime.log_eval
--rollout-sample-hook-path rewards_slime.step
--label-key {gold}"""


def export(target: Target) -> Export:
    """Return the export of a reward for slime."""
    return Export(
        {"rewards_slime.py": _FILE.format(imports=target.imports, gold=target.gold)},
        _CONFIG.replace("{gold}", target.gold),
        TESTED,
        [
            "slime imports the module by its name: add its folder to PYTHONPATH.",
            "A completion that cannot be scored is masked, and the advantages of its group are computed without it. "
            "Add --group-rm if the reward compares the completions of a prompt.",
        ],
    )
