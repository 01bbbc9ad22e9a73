"""rewardkit and slime: ``rk.to_slime(reward)`` trains with a reward.

It imports slime only to log and to drop groups, when slime is running.
"""

from rewardkit_slime.rewards import to_slime as to_slime
