"""Checks at the first call of a trainer: will its sum be the total of the reward?"""

from __future__ import annotations

from collections.abc import Sequence

from rewardkit.core.errors import RewardDefinitionError, warn
from rewardkit_swift.trainer import Trainer


def check_trainer(trainer: Trainer, terms: Sequence[str], evaluator: object) -> None:
    """Check that the sum of the trainer is the total, and warn of other reward functions.

    Raises:
        RewardDefinitionError: a term is missing or there twice, or has another weight than 1.
    """
    own = [getattr(function, "evaluator", None) is evaluator for function in trainer.functions]
    names = [type(function).__name__ for function, ours in zip(trainer.functions, own, strict=True) if ours]
    if sorted(names) != sorted(terms):
        raise RewardDefinitionError(
            f"ms-swift: the trainer has the reward functions {names}, but the reward is the sum of {list(terms)}. Pass "
            f"all of them, once: --reward_funcs {' '.join(terms)}"
        )
    weights = [weight for weight, ours in zip(trainer.weights, own, strict=False) if ours]
    if any(weight != 1.0 for weight in weights):
        raise RewardDefinitionError(
            f"ms-swift: the trainer has the reward weights {weights} for {names}, but the terms have their weights in "
            "the reward. Multiply these into the reward, such as 0.5 * correct, and pass 1 for each of its terms, or "
            "drop --reward_weights"
        )
    if not all(own) or trainer.others:
        warn(
            "the trainer has other reward functions besides rewardkit's: a completion that rewardkit cannot score "
            "still gets their rewards, so it keeps a learning signal"
        )
