"""to_verl: a reward as the custom reward function of verl."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from rewardkit.online.offers import Offers
from rewardkit.online.requests import Requests
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer

OFFERS = Offers(
    "verl",
    prompt=False,
    instead="A reward manager gets prompt, token ids and step: rk.to_verl(reward, manager=True).",
)
_OF_VERL = ("num_turns", "rollout_reward_scores")
"""What verl adds to a row's ``extra_info``, which is no column of the data."""

ComputeScore = Callable[..., Awaitable[dict[str, float | None]]]


def to_verl(
    reward: Any,
    *,
    gold: str = "answer",
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    max_failure_rate: float = 0.05,
    max_error_rate: float = 0.05,
) -> ComputeScore:
    """Turn a reward into a custom reward function of verl.

    ::

        compute_score = rk.to_verl(reward, gold="answer")     # in my_rewards.py
        # reward.custom_reward_function.path=my_rewards.py reward.reward_manager.name=naive

    The function is asynchronous: verl awaits it, and completions that arrive together are scored together. It returns
    ``{"score": total, "<term>": ..., "components/<name>": ...}``, always with the same keys. A completion that cannot
    be scored raises, and verl leaves it out.

    Args:
        reward: a reward, a plain function, or a list of them.
        gold: the column of the reward for ``reward_model.ground_truth``, which is also the column "ground_truth". The
            entries of ``extra_info`` are columns, too, as is "data_source".
        examples: rows of columns, such as ``[{"answer": "42"}]``: the reward is tried on them at once, so that a
            missing column or a bug shows before the training starts.
        deadline: seconds after which a completion cannot be scored; None waits as long as the reward takes.
        special_tokens: a tokenizer or a list of texts to remove from completions; verl removes its own.
        record: the folder of a run to record everything into, for ``rewardkit view``.
        max_failure_rate, max_error_rate: the shares of failed and errored completions above which every further one
            raises: nothing is learned from them.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward compares completions, follows the training progress, or asks for the prompt:
            none of these arrives with a completion.
        BindingError, CoercionError, RewardFailure: it cannot score `examples`.
    """
    scorer = RowScorer(
        reward,
        OFFERS,
        special_tokens=special_tokens,
        record=record,
        max_failure_rate=max_failure_rate,
        max_error_rate=max_error_rate,
    )
    if examples is not None:
        scorer.probe(examples)
    requests = Requests(scorer, deadline=deadline)

    async def compute_score(
        data_source: str = "", solution_str: str = "", ground_truth: Any = None, extra_info: Any = None, **_: Any
    ) -> dict[str, float | None]:
        score = await requests.score(Row(solution_str, columns=columns(data_source, ground_truth, extra_info, gold)))
        return {"score": score.value(), **score.numbers()}

    return compute_score


def columns(data_source: str, ground_truth: Any, extra_info: Any, gold: str) -> dict[str, Any]:
    """Return the columns of a row: the entries of ``extra_info``, the source, and the gold answer."""
    extra = extra_info if isinstance(extra_info, Mapping) else {}
    return {
        **{str(name): cell for name, cell in extra.items() if name not in _OF_VERL},
        "data_source": data_source,
        "ground_truth": ground_truth,
        gold: ground_truth,
    }
