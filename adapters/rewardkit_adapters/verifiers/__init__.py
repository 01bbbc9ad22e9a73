"""rewardkit and verifiers: ``rk.from_verifiers(rubric)`` reads rewards, ``rk.to_verifiers(reward)`` trains with them.

verifiers is not imported, except ``verifiers.v1`` when a task of verifiers 0.4 scores its first batch.
"""

from rewardkit_adapters.verifiers.conversion import from_verifiers
from rewardkit_adapters.verifiers.mixin import to_verifiers

__all__ = ["from_verifiers", "to_verifiers"]
