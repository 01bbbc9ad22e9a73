"""rewardkit and OpenRLHF: ``rk.to_openrlhf(reward)`` trains with a reward.

It does not import OpenRLHF.
"""

from rewardkit_openrlhf.functions import to_openrlhf as to_openrlhf
