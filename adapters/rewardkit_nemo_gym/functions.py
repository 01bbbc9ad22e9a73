"""to_nemo_gym: a reward as a resources server of NeMo Gym."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.online.offers import Offers
from rewardkit.online.requests import Requests
from rewardkit.online.scorer import RowScorer
from rewardkit_nemo_gym.replies import UNSCORED, awaits_another, reply, trains
from rewardkit_nemo_gym.rollouts import row_of

TESTED = ("0.5.1",)
OFFERS = Offers("NeMo Gym", ids=True)
PATIENCE = 150.0
"""Seconds in which a rollout that has failed is scored again before NeMo RL has to generate another one."""


def to_nemo_gym(
    reward: Any,
    *,
    on_failure: Literal["retry", "mask"] = "retry",
    patience: float = PATIENCE,
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    max_failure_rate: float = 0.05,
    max_error_rate: float = 0.05,
) -> type[Any]:
    """Turn a reward into a resources server of NeMo Gym, a subclass of ``SimpleResourcesServer``.

    ::

        Server = rk.to_nemo_gym(reward)     # in my_rewards.py, the entrypoint of the server
        if __name__ == "__main__":
            Server.run_webserver()

    It answers a rollout with the rollout, ``reward``, and ``reward_components``: the terms, which add up to the reward.
    ``terms/<term>`` and ``components/<name>`` are numbers for NeMo Gym's metrics. A rollout that cannot be scored has
    the marks that keep it out of the collected rollouts (it is in the file of failures). NeMo RL gets an error for it
    and generates another one; if the gold answer cannot be read, which another rollout would not change, it gets the
    marks.

    Args:
        reward: a reward, a plain function, or a list of them. The completion is what the policy wrote, with tool calls
            and results; the fields of the task, the entries of its ``verifier_metadata`` and the "tools" of the
            request are the columns.
        on_failure: what NeMo RL gets for a rollout that cannot be scored. ``"retry"``: an error. ``"mask"``: the
            reward 0.0 and ``instance_config.mask_sample``, which keeps it out of the loss in NeMo RL's ``grpo.py``,
            but not out of the mean of its group, and not out of the loss in its other loops.
        patience: seconds during which a rollout of NeMo RL that has failed is scored again before that.
        examples: rows of columns, such as ``[{"answer": "42"}]``: the reward is tried on them at once, so that a
            missing column or a bug shows before the training starts.
        deadline: seconds after which a rollout cannot be scored; None waits as long as the reward takes.
        special_tokens: a tokenizer or a list of texts to remove from completions.
        record: the folder of a run to record everything into, for ``rewardkit view``.
        max_failure_rate, max_error_rate: the shares of failed and errored rollouts above which every further one is
            refused: nothing is learned from them.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward compares completions or follows the training progress: neither arrives with a
            rollout. Or `on_failure` or `patience` is out of its range.
        BindingError, CoercionError, RewardFailure: it cannot score `examples`.
    """
    if on_failure not in ("retry", "mask"):
        raise RewardDefinitionError(f"to_nemo_gym: on_failure= is 'retry' or 'mask', got {on_failure!r}")
    if not 0 <= patience < math.inf:
        raise RewardDefinitionError(f"patience= is a number of seconds, 0 or more, got {patience!r}")
    scorer = RowScorer(
        reward,
        OFFERS,
        special_tokens=special_tokens,
        record=record,
        max_failure_rate=max_failure_rate,
        max_error_rate=max_error_rate,
        examples=examples,
    )
    return _server(Requests(scorer, deadline=deadline), on_failure == "retry", patience)


def _server(requests: Requests, retries: bool, patience: float) -> type[Any]:
    fastapi, gym = (importlib.import_module(name) for name in ("fastapi", "nemo_gym.base_resources_server"))

    class VerifyRequest(gym.BaseVerifyRequest):  # type: ignore[misc, name-defined]
        """A rollout with the fields of its task."""

        model_config: ClassVar[Any] = {"extra": "allow"}

    class VerifyResponse(gym.BaseMultiRewardVerifyResponse):  # type: ignore[misc, name-defined]
        """The same with its reward."""

        model_config: ClassVar[Any] = {"extra": "allow"}

    class Config(gym.BaseResourcesServerConfig):  # type: ignore[misc, name-defined]
        """The configuration of the server."""

        REVERIFY_MODE: ClassVar[Any] = gym.ReverifyMode.STATELESS

    class RewardServer(gym.SimpleResourcesServer):  # type: ignore[misc, name-defined]
        """A reward as a resources server."""

        config: Config

        async def verify(self, body: Any) -> Any:
            """Score a rollout."""
            rollout = body.model_dump()
            training = trains(rollout)
            score = await requests.score(row_of(rollout), patience=patience if training else 0.0)
            if training and retries and awaits_another(score):
                raise fastapi.HTTPException(503, UNSCORED.format(why=score.why))
            return VerifyResponse.model_validate(reply(rollout, score))

    # FastAPI looks for the names in annotations among the globals of the module.
    RewardServer.verify.__annotations__ = {"body": VerifyRequest, "return": VerifyResponse}
    return RewardServer
