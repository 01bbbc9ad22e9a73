"""rewardkit for ms-swift: ``rk.from_swift(orm)`` turns an outcome reward model (ORM) of ms-swift into a Reward.

It does not import ms-swift.
"""

from rewardkit_swift.conversion import from_swift

__all__ = ["from_swift"]
