"""The plan for a run: everything known before the model is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit_adapters.runner.config import RunConfig

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True)
class Plan:
    """A run's configuration with its reward and rows.

    Attributes:
        held_out: the rows for the evaluation, or None if nothing is evaluated.
        checkpoint: the checkpoint from which to resume, or None to start from the beginning.
        locations: two functions, for the training rows and the held-out rows, that return the location of a row in the
            data, such as ``"line 18"``.
    """

    config: RunConfig
    reward: Any
    training: Dataset
    held_out: Dataset | None
    checkpoint: Path | None
    locations: tuple[Callable[[int], str], ...] = ()

    @classmethod
    def of(cls, config: RunConfig, checkpoint: Path | None) -> Plan:
        """Load the reward and the rows.

        Raises:
            ConfigError: the data cannot be loaded or does not match the configuration.
            RewardDefinitionError: there is no such reward.
        """
        from rewardkit_adapters.runner.data import located_rows
        from rewardkit_adapters.runner.rewards import reward_of

        reward = reward_of(config)
        training, held_out = located_rows(config)
        if held_out is None:
            return cls(config, reward, training.dataset, None, checkpoint, (training.location,))
        locations = (training.location, held_out.location)
        return cls(config, reward, training.dataset, held_out.dataset, checkpoint, locations)

    @property
    def output(self) -> Path:
        return self.config.output_path()
