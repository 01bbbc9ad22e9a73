"""rewardkit and verifiers: ``rk.from_verifiers(rubric)`` wraps rewards, ``rk.to_verifiers(reward)`` trains with them.

verifiers is not imported, except for ``verifiers.v1`` when a verifiers 0.4 task scores its first batch.
"""

from rewardkit_adapters.verifiers.conversion import from_verifiers
from rewardkit_adapters.verifiers.mixin import to_verifiers

__all__ = ["from_verifiers", "to_verifiers"]
