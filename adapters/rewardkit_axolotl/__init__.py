"""rewardkit and Axolotl: ``rk.to_axolotl(reward)`` makes the reward functions that its configuration names.

It does not import Axolotl.
"""

from rewardkit_axolotl.functions import to_axolotl as to_axolotl
