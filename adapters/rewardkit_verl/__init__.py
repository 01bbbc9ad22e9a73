"""rewardkit and verl: ``rk.to_verl(reward)`` trains with a reward, ``rk.from_verl(compute_score)`` reads one.

Neither imports verl.
"""

from rewardkit_verl.conversion import from_verl as from_verl
from rewardkit_verl.functions import to_verl as to_verl
