"""to_verl: a reward as the custom reward function of verl, or as its reward manager."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, overload

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.online.offers import Offers
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer
from rewardkit_verl.columns import Columns
from rewardkit_verl.manager import manager_of
from rewardkit_verl.scoring import Metrics, Scoring

OF_FUNCTIONS = Offers(
    "verl",
    prompt=False,
    instead="rk.to_verl(reward, manager=True) gets the prompt, the token ids and the step.",
)
OF_MANAGERS = Offers("verl", step=True, ids=True)
_MAKES_ZEROS = "RateLimitedRewardManager"
"""The reward manager of verl that scores 0.0 where a reward raises or takes too long."""
_PASSED = {"reward_router_address", "reward_model_tokenizer"}

ComputeScore = Callable[..., Awaitable[Metrics]]


@overload
def to_verl(
    reward: Any,
    *,
    manager: Literal[False] = False,
    gold: str = "answer",
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    patience: float = 0.0,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    max_failure_rate: float = 0.05,
    max_error_rate: float = 0.05,
) -> ComputeScore: ...
@overload
def to_verl(
    reward: Any,
    *,
    manager: Literal[True],
    gold: str = "answer",
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    patience: float = 0.0,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    max_failure_rate: float = 0.05,
    max_error_rate: float = 0.05,
) -> type[Any]: ...
def to_verl(
    reward: Any,
    *,
    manager: bool = False,
    gold: str = "answer",
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    patience: float = 0.0,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    max_failure_rate: float = 0.05,
    max_error_rate: float = 0.05,
) -> Any:
    """Turn a reward into a custom reward function of verl, or into a reward manager.

    ::

        compute_score = rk.to_verl(reward, gold="answer")     # in my_rewards.py
        # reward.custom_reward_function.path=my_rewards.py reward.reward_manager.name=naive

        Manager = rk.to_verl(reward, manager=True)
        # reward.reward_manager.source=importlib reward.reward_manager.module.path=pkg://my_rewards
        # reward.reward_manager.name=Manager

    Both give ``{"score": total, "<term>": ..., "components/<name>": ...}``, always with the same keys. Completions that
    arrive together are scored together. A completion that cannot be scored raises, and verl leaves it out.

    Args:
        reward: a reward, a plain function, or a list of them.
        manager: return a reward manager, for rewards that read the prompt, the token ids or the training progress. It
            needs verl to be installed here.
        gold: the column of the reward for ``reward_model.ground_truth``, which is also the column "ground_truth". The
            entries of ``extra_info`` are columns, too, as is "data_source"; with `manager` all columns of the data.
        examples: rows of columns, such as ``[{"answer": "42"}]``: the reward is tried on them at once, so that a
            missing column or a bug shows before the training starts.
        deadline: seconds after which a completion cannot be scored; None waits as long as the reward takes.
        patience: seconds during which a completion that has failed is scored again. Pass it with
            ``trainer.use_v1=False``, where one completion without a score ends the run.
        special_tokens: a tokenizer or a list of texts to remove from completions; verl removes its own.
        record: the folder of a run to record everything into, for ``rewardkit view``.
        max_failure_rate, max_error_rate: the shares of failed and errored completions above which the run ends, because
            nothing is learned from them.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward compares completions; or, without `manager`, it follows the training progress
            or asks for the prompt: none of these arrives with a completion. Or an argument is out of its range.
        BindingError, CoercionError, RewardFailure: it cannot score `examples`.
        ImportError: verl is needed for `manager`, and not installed.
    """
    if not 0 <= patience < math.inf:
        raise RewardDefinitionError(f"patience= is a number of seconds, 0 or more, got {patience!r}")
    scorer = RowScorer(
        reward,
        OF_MANAGERS if manager else OF_FUNCTIONS,
        special_tokens=special_tokens,
        record=record,
        max_failure_rate=max_failure_rate,
        max_error_rate=max_error_rate,
        examples=examples,
    )
    scoring = Scoring(scorer, deadline=deadline, patience=patience)
    columns = Columns.of(scorer.scorer, gold)
    return manager_of(scoring, columns) if manager else function_of(scoring, columns)


def function_of(scoring: Scoring, columns: Columns) -> ComputeScore:
    """Return the function that verl awaits for each completion."""

    async def compute_score(
        data_source: Any = "", solution_str: str = "", ground_truth: Any = None, extra_info: Any = None, **more: Any
    ) -> Metrics:
        if reason := _refused(more):
            await scoring.end(reason)
        return await scoring.score(Row(solution_str, columns=columns.row(data_source, ground_truth, extra_info)))

    return compute_score


def _refused(more: Mapping[str, Any]) -> str:
    """Return why a call cannot be scored honestly; else an empty text."""
    if unknown := sorted(more.keys() - _PASSED):
        return (
            f"the reward takes no arguments from verl's configuration, but reward_kwargs has {', '.join(unknown)}. "
            "Remove reward.custom_reward_function.reward_kwargs, and put its values into the reward"
        )
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if type(frame.f_locals.get("self")).__name__ == _MAKES_ZEROS:
            return (
                "the reward manager rate_limited scores 0.0 where a reward fails or takes too long, which punishes "
                "completions for an outage. Set reward.reward_manager.name=naive; rk.judge limits its requests itself: "
                "requests_per_minute=, concurrency="
            )
    return ""
