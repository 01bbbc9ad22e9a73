"""rewardkit and ms-swift: ``rk.to_swift(reward)`` trains with a reward, ``rk.from_swift(orm)`` reads an ORM as one.

It imports ms-swift only to register a reward.
"""

from rewardkit_swift.conversion import from_swift as from_swift
from rewardkit_swift.functions import to_swift as to_swift
