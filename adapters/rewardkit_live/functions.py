"""to_trl: turn a reward into reward functions for GRPOTrainer, which a live update can change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rewardkit.core.batch.trajectory import IsError
from rewardkit.core.tree.reward import Reward
from rewardkit_live.updates import Updates
from rewardkit_trl.functions import RewardFunctions, to_trl as functions_for_trl
from rewardkit_trl.layout import Columns


def to_trl(
    reward: Reward | Callable[..., Any] | Iterable[Any],
    *,
    weights: Sequence[float] | None = None,
    columns: Columns = "terms",
    record: str | os.PathLike[str] | None = None,
    logs: bool = True,
    max_failure_rate: float = 0.05,
    max_error_rate: float = 0.05,
    failure_window: int = 20,
    updates: bool = True,
    transcripts: str | None = None,
    is_error: IsError | None = None,
    radar: bool = True,
) -> RewardFunctions:
    """Make the list of functions that TRL's GRPOTrainer takes.

    ::

        trainer = GRPOTrainer(model, reward_funcs=rk.to_trl(reward), args=args, train_dataset=dataset)

    Args:
        reward: a tree, or a list of rewards and plain TRL functions, which are summed. If each item of the list gives
            one column, as plain functions do, ``GRPOConfig(reward_weights=...)`` weights them as in TRL.
        weights: one number for each item of the list; pass ``reward_weights=funcs.reward_weights`` to GRPOConfig.
        columns: ``"terms"``: one function per term; their plain sum is the total. ``"components"``: one per component,
            with raw scores; pass ``reward_weights=funcs.reward_weights`` to GRPOConfig (GDPO needs this form).
        record: the folder (or fsspec address) for the record: completions, scores, terms, advantages, and the output of
            reward functions. ``rk.open_run`` and ``rewardkit view`` can read it during the training.
        logs: log raw means, weights, gate pass rates and faults through ``log_metric``, and scores and notes of each
            completion through ``log_extra``.
        max_failure_rate: the run stops if a larger share of rows of a component failed in `failure_window` batches.
        max_error_rate: the same for errored rows.
        failure_window: number of batches.
        updates: if `record` is a local folder, accept ``rewardkit update`` and ``rk.update_config`` while it trains.
        transcripts: for a trainer with ``rollout_func``: the field that it returns with the messages of each episode.
            They take the place of the completions, so that what an environment said is never read as the answer.
        is_error: tells whether the text of a tool's result is an error: returns True, or what the error says. By
            default a result is an error if it is an object with the one key ``error``, as TRL writes it.
        radar: look for signs that the reward is gamed, in at most 1 % of the training's time: some completions are
            scored again with the gold answers of other prompts (never by judges, tested programs, or functions that
            wait or were not written for rewardkit). It logs ``radar/foreign`` and ``radar/strength``, and changes
            nothing in the training.

    Returns:
        A list of uniquely named, picklable functions with ``.reward_weights`` and ``.callback()``. They share
        one evaluation per batch.

    Raises:
        RewardDefinitionError: names clash, no term of the tree trains, or a limit or a weight is invalid.
        RewardTypeError: an item is neither a reward nor a function.
        MissingExtraError: `record` is given, but the extra ``store`` is not installed.
    """
    return functions_for_trl(
        reward,
        weights=weights,
        columns=columns,
        record=record,
        logs=logs,
        max_failure_rate=max_failure_rate,
        max_error_rate=max_error_rate,
        failure_window=failure_window,
        transcripts=transcripts,
        is_error=is_error,
        radar=radar,
        make_updates=Updates if updates else None,
    )
