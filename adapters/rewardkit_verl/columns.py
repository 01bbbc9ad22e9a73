"""The columns of a sample of verl: ``reward_model.ground_truth``, the entries of ``extra_info``, and "data_source"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rewardkit.core.batch.batch import RESERVED
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree.reward import bindings

_OF_VERL = {
    "rollout_reward_scores", "turn_scores", "tool_rewards", "tools_kwargs", "interaction_kwargs", "need_tools_kwargs",
    "global_steps", "min_global_steps", "max_global_steps", "num_cached_tokens", "num_preempted", "extras",
    "uid", "index", "session_id", "agent_name", "raw_prompt", "dummy_tensor", "prompt_len", "response_len",
    "multi_modal_data", "multi_modal_inputs", "reward_model", "extra_info", "tool_extra_fields", "__num_turns__",
    "reward_scores", "routed_experts", "teacher_ids", "teacher_logprobs",
}  # fmt: skip
"""What verl itself hands over with a sample. It is a column only for a reward that reads it."""


@final
@dataclass(frozen=True)
class Columns:
    """How the fields of a sample become columns.

    Attributes:
        gold: the column for ``reward_model.ground_truth``.
        read: the columns that the reward reads.
    """

    gold: str
    read: frozenset[str] = frozenset()

    @classmethod
    def of(cls, scorer: Scorer, gold: str) -> Columns:
        """Return the columns for a reward."""
        return cls(gold, frozenset(one.source for _, binding in bindings(scorer.reward) for one in binding.columns))

    def row(self, data_source: Any, ground_truth: Any, *fields: Any) -> dict[str, Any]:
        """Return the columns of one sample.

        Args:
            fields: mappings whose entries are columns with their names; later ones count.
        """
        cells: dict[str, Any] = {}
        for mapping in fields:
            if isinstance(mapping, Mapping):
                cells |= {str(name): plain(cell) for name, cell in mapping.items() if self._is_column(str(name))}
        gold = plain(ground_truth)
        return {**cells, "data_source": plain(data_source), "ground_truth": gold, self.gold: gold}

    def _is_column(self, name: str) -> bool:
        return name not in RESERVED and (name not in _OF_VERL or name in self.read)


def plain(cell: Any) -> Any:
    """Return a value of numpy as Python's."""
    if isinstance(cell, np.generic):
        return cell.item()
    return cell.tolist() if isinstance(cell, np.ndarray) else cell
