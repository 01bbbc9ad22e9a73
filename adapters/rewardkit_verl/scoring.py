"""Scores for verl, and the end of a run from which nothing can be learned any more.

verl leaves out a sample whose reward raises, whatever was raised, and goes on; in its asynchronous modes it replaces
the sample and never stops. So a run that must end is ended in the trainer itself: it reads the status of every prompt
from its queue, and raises on a status that it does not know.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
from typing import Any, NoReturn, final

from rewardkit.online.patience import RunExit
from rewardkit.online.requests import Requests
from rewardkit.online.rows import Row, RowScore
from rewardkit.online.scorer import RowScorer

_LOG = logging.getLogger("rewardkit")
_OF_VERL = {
    "score", "reward", "acc", "acc_success_only", "pred", "input", "output", "gts", "step", "uid", "data_source",
    "reward_model", "extra_info", "raw_prompt", "prompt", "ability", "index", "agent_name", "tools_kwargs",
    "interaction_kwargs", "multi_modal_data", "multi_modal_inputs", "turn_scores", "tool_rewards", "extras",
    "global_steps", "min_global_steps", "max_global_steps", "num_turns", "dummy_tensor", "prompts", "responses",
    "input_ids", "attention_mask", "position_ids", "response_mask", "loss_mask", "rm_scores", "token_level_scores",
    "token_level_rewards", "values", "advantages", "returns", "old_log_probs", "ref_log_prob", "rollout_log_probs",
    "request_id",
}  # fmt: skip
"""Keys with a meaning for verl: "acc" counts a sample that was left out as 0, "uid" is the group."""

Metrics = dict[str, float | None]


@final
class Scoring:
    """Scores samples, and ends the run.

    Args:
        deadline: seconds after which a sample has no score; None for no limit.
        patience: seconds during which a sample that has failed is scored again.
    """

    def __init__(self, scorer: RowScorer, *, deadline: float | None, patience: float) -> None:
        self.requests = Requests(scorer, deadline=deadline)
        self.patience = patience
        self._ended = False

    async def score(self, row: Row, **options: Any) -> Metrics:
        """Return the total as "score", the terms, and the components as ``components/<name>``.

        Raises:
            RewardFailure: the sample has no score, so verl must leave it out.
            RunExit: the run must end.
        """
        try:
            score = await self.requests.score(row, patience=self.patience, **options)
        except Exception as error:
            await self.end(str(error), error)
        return {"score": score.value(), **metrics(score)}

    async def end(self, reason: str, error: Exception | None = None) -> NoReturn:
        """End the run.

        Raises:
            RunExit: always.
        """
        if not self._ended:
            self._ended = True
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, self.requests.scorer.flush)
            await loop.run_in_executor(None, end_run, reason)
        raise RunExit(f"verl: this run ends: {reason}") from error


def metrics(score: RowScore) -> Metrics:
    """Return the terms and components for verl's metrics; a name that has a meaning there gets ``terms/`` before it."""
    return {f"terms/{name}" if name in _OF_VERL else name: value for name, value in score.numbers().items()}


def end_run(reason: str) -> None:
    """Make verl's trainer raise when it looks for samples the next time. Never raises itself."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return
    status = (
        f"rewardkit ends this run: {reason}. If this comes again as soon as you resume, delete the folder "
        "transfer_queue of the checkpoint"
    )
    tag = {"is_prompt": True, "global_steps": 0, "status": status}
    try:
        importlib.import_module("transfer_queue").kv_put(key="rewardkit", partition_id="train", tag=tag)
    except Exception as error:  # no queue: trainer.use_v1=False, where every error of a reward ends the run
        _LOG.warning("verl: the trainer is not told that the run ends (%s: %s)", type(error).__name__, error)
