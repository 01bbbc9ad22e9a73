"""What is known of a run before a model is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit_runner.configuration.config import RunConfig

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True)
class Plan:
    """The configuration with the reward and the rows that it names.

    Attributes:
        held_out: None where nothing is evaluated.
        checkpoint: where the training goes on; None where it begins.
    """

    config: RunConfig
    reward: Any
    training: Dataset
    held_out: Dataset | None
    checkpoint: Path | None

    @classmethod
    def of(cls, config: RunConfig, checkpoint: Path | None) -> Plan:
        """Loads them.

        Raises:
            ConfigError: the data cannot be had, or is not what the configuration says of it.
            RewardDefinitionError: there is no such reward.
        """
        from rewardkit_runner.data.datasets import training_and_held_out
        from rewardkit_runner.rewards import reward_of

        return cls(config, reward_of(config), *training_and_held_out(config), checkpoint)

    @property
    def output(self) -> Path:
        return self.config.output_path()
