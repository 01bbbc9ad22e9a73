"""rewardkit and NeMo Gym: ``rk.to_nemo_gym(reward)`` creates a resources server.

`rewardkit serve` also supports the endpoints of a resources server. NeMo Gym is imported only by ``rk.to_nemo_gym``.
"""

from __future__ import annotations

import importlib
import itertools
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from rewardkit.batch.batch import RESERVED
from rewardkit.errors import MissingExtraError, RewardDefinitionError, requirement
from rewardkit.online.batches import check_patience
from rewardkit.online.breaker import LIMITS, Limits
from rewardkit.online.exports import Export, Target, Tested
from rewardkit.online.requests import Requests
from rewardkit.online.rows import COMPONENTS, Row, RowScore
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.scoring.conversations import messages_of
from rewardkit.serve.dialects import Answer, BadRequest, Dialect, Score, list_at
from rewardkit.tree.evaluation.scorer import Scorer

# The replies to ``/verify``: the rollout with its reward, and with failure marks if it has no score.


TERMS = "terms/"
"""The prefix for term names in the response fields. Without it, a term would replace a task field with the same
name."""
_FAILURE = ("_ng_failure_class", "_ng_failure_judge_error", "_ng_failure_terminal")
_OF_NEMO_RL = "_rowidx"
UNSCORED = (
    "this rollout has no score: {why}. NeMo RL generates another rollout after this response. A score of 0 would "
    "count in the group's mean"
)


def reply(rollout: Mapping[str, Any], score: RowScore) -> dict[str, Any]:
    """Return a rollout with its scores. The fields are always the same.

    ``reward_components`` contains the terms, which add up to the reward, as NeMo RL requires. A term that abstained is
    0.0 in ``reward_components``, because NeMo RL also counts a missing term as 0.0. In the metric fields, such a term
    is null, so it is not counted.
    """
    fields = {
        **{name: value for name, value in rollout.items() if name not in _FAILURE},
        "reward": 0.0 if score.total is None else score.total,
        "reward_components": {name: _share(score, value) for name, value in score.terms.items()},
        **{f"{TERMS}{name}": value for name, value in score.terms.items()},
        **{f"{COMPONENTS}{name}": value for name, value in score.components.items()},
    }
    return fields if score.scored else {**fields, **_marks(rollout, score)}


def trains(rollout: Any) -> bool:
    """Return whether NeMo RL requested the reward. Only NeMo RL numbers the rollouts in a step."""
    return isinstance(rollout, Mapping) and _OF_NEMO_RL in rollout


def awaits_another(score: RowScore) -> bool:
    """Return whether this rollout has no score and NeMo RL must replace it with a new one.

    If the gold answer cannot be parsed, none of the rollouts for the prompt can be scored. All of them get the reward
    0.0 and are marked as masked. Even if NeMo RL ignores the mark, their advantages are 0.
    """
    return not (score.scored or score.unparsable)


def _share(score: RowScore, value: float | None) -> float:
    return value if score.scored and value is not None else 0.0


def _marks(rollout: Mapping[str, Any], score: RowScore) -> dict[str, Any]:
    """Return the marks that exclude a rollout from NeMo Gym's collected rollouts and from NeMo RL's loss."""
    config = rollout.get("instance_config")
    return {
        "_ng_failure_class": "judge_failed",
        "_ng_failure_judge_error": score.why,
        **({} if score.failed else {"_ng_failure_terminal": True}),
        "instance_config": {**(config if isinstance(config, Mapping) else {}), "mask_sample": True},
    }


# Convert NeMo Gym's rollouts to rows: the text of the policy, the messages before it, and the fields of the task.


REQUEST, RESPONSE = "responses_create_params", "response"
_METADATA = "verifier_metadata"
_OF_CALLS = ("id", "status", "prompt_token_ids", "generation_token_ids", "generation_log_probs")
"""The keys of an item that describe the model call, not the policy's text."""
_NO_COLUMNS = {REQUEST, RESPONSE, *RESERVED}
_CUT = "max_output_tokens"


def row_of(rollout: Any) -> Row:
    """Return the row for a rollout, which is the body of a ``/verify`` request.

    The columns are all fields except the request and the response, the entries in ``verifier_metadata``, and the
    request's "tools". Names with a special meaning for rewards, such as "prompt", are excluded.

    Raises:
        BadRequest: the rollout has no request or no response.
    """
    request, response = (_object_at(rollout, name) for name in (REQUEST, RESPONSE))
    output = list_at(response, "output")
    ids = [token for item in output for token in _field(item, "generation_token_ids") or ()]
    return Row(
        _messages(output) or [{"role": "assistant", "content": ""}],
        _prompt(request),
        _columns(rollout, request),
        ids or None,
        _was_cut(response),
        runs_calls=bool(request.get("tools")),
    )


def _prompt(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    request_input, system = request.get("input"), request.get("instructions")
    messages = (
        [{"role": "user", "content": request_input}]
        if isinstance(request_input, str)
        else _messages(request_input or ())
    )
    return [{"role": "system", "content": system}, *messages] if isinstance(system, str) else list(messages)


def _messages(items: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Convert items from OpenAI's Responses API to chat messages."""
    if not isinstance(items, Sequence) or not all(isinstance(item, Mapping) for item in items):
        raise BadRequest("expected input and output to be lists of items from OpenAI's Responses API")
    cleaned = [{name: value for name, value in item.items() if name not in _left_out(item)} for item in items]
    converted = messages_of(cleaned)
    return [item for item in cleaned if "role" in item] if converted is None else list(converted)


def _left_out(item: Mapping[str, Any]) -> Sequence[str]:
    is_call = str(item.get("type", "")).endswith("_call")  # a call that the provider ran has no id but this one
    return _OF_CALLS[1:] if is_call else _OF_CALLS


def _columns(rollout: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    metadata = rollout.get(_METADATA)
    tools = {"tools": request["tools"]} if request.get("tools") else {}
    cells = {**tools, **(metadata if isinstance(metadata, Mapping) else {}), **rollout}
    return {name: cell for name, cell in cells.items() if name not in _NO_COLUMNS and name[:1] != "_"}


def _was_cut(response: Mapping[str, Any]) -> bool | None:
    if "incomplete_details" not in response:
        return None
    return bool(_field(response["incomplete_details"], "reason") == _CUT)


def _object_at(payload: Any, name: str) -> Mapping[str, Any]:
    value = _field(payload, name)
    if not isinstance(value, Mapping):
        raise BadRequest(
            f"expected a NeMo Gym rollout, an object with {REQUEST!r} and {RESPONSE!r}, but {name!r} is not an object"
        )
    return value


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


# to_nemo_gym: turn a reward into a NeMo Gym resources server.


TESTED = ("0.5.1",)
OFFERS = TrainerInputs("NeMo Gym", ids=True)
PATIENCE = 150.0
"""The number of seconds for which a failed rollout is retried before NeMo RL must generate another one."""


def to_nemo_gym(
    reward: Any,
    *,
    on_failure: Literal["retry", "mask"] = "retry",
    patience: float = PATIENCE,
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    limits: Limits = LIMITS,
) -> type[Any]:
    """Turn a reward into a NeMo Gym resources server, a subclass of ``SimpleResourcesServer``.

    ::

        Server = rk.to_nemo_gym(reward)     # in my_rewards.py, the entrypoint of the server
        if __name__ == "__main__":
            Server.run_webserver()

    The server's response contains the rollout itself, ``reward``, and ``reward_components``: the terms, which add up to
    the reward. It also contains ``terms/<term>`` and ``components/<name>``, numbers for NeMo Gym's metrics. A rollout
    that cannot be scored is marked so that NeMo Gym lists it in the failures file instead of the collected rollouts.
    NeMo RL receives an error for such a rollout and generates another one. However, if the gold answer cannot be
    parsed, another rollout would not help, so NeMo RL receives the marked rollout instead of an error.

    Args:
        reward: a reward, a plain function, or a list of them. The completion is the policy's text, including tool calls
            and their results. The columns are the task's fields, the entries in its ``verifier_metadata``, and the
            request's "tools".
        on_failure: the response to NeMo RL if a rollout cannot be scored. ``"retry"`` returns an error. ``"mask"``
            returns the reward 0.0 and ``instance_config.mask_sample``. The mask excludes the rollout from the loss in
            NeMo RL's ``grpo.py``, but not from its group's mean or from the loss in NeMo RL's other training loops.
        patience: the number of seconds for which a failed NeMo RL rollout is retried before `on_failure` applies.
        examples: example rows, such as ``[{"answer": "42"}]``. The reward is tried on them immediately, so that missing
            columns and bugs are found before training starts.
        deadline: the maximum number of seconds for scoring a rollout. If scoring takes longer, the rollout counts as
            unscorable. None means no limit.
        special_tokens: a tokenizer whose special tokens are removed from completions, or a list of strings to remove.
        record: the folder in which the run is recorded. ``rewardkit view`` displays the record.
        limits: an ``rk.Limits`` with the fractions of failed and errored rollouts above which all further rollouts are
            rejected, because training on such scores is useless.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward compares completions or depends on training progress, neither of which works
            with NeMo Gym; or `on_failure` or `patience` is invalid.
        BindingError, CoercionError, RewardFailure: the reward cannot score `examples`.
        MissingExtraError: NeMo Gym is not installed.
    """
    if on_failure not in ("retry", "mask"):
        raise RewardDefinitionError(f"to_nemo_gym: on_failure= must be 'retry' or 'mask', got {on_failure!r}")
    check_patience(patience)
    scorer = RowScorer(
        reward,
        OFFERS,
        special_tokens=special_tokens,
        record=record,
        limits=limits,
        examples=examples,
    )
    return _server(Requests(scorer, deadline=deadline), on_failure == "retry", patience)


def _server(requests: Requests, retries: bool, patience: float) -> type[Any]:
    try:
        fastapi, gym = map(importlib.import_module, ("fastapi", "nemo_gym.base_resources_server"))
    except ImportError as error:
        raise MissingExtraError(
            f"rk.to_nemo_gym creates a NeMo Gym class, but NeMo Gym cannot be imported ({error}). Install NeMo Gym "
            "here, or run `rewardkit serve`, which is a resources server and does not need NeMo Gym"
        ) from error

    class VerifyRequest(gym.BaseVerifyRequest):  # type: ignore[name-defined]
        """A rollout with the fields from its task."""

        model_config: ClassVar[Any] = {"extra": "allow"}

    class VerifyResponse(gym.BaseMultiRewardVerifyResponse):  # type: ignore[name-defined]
        """The same rollout with its reward."""

        model_config: ClassVar[Any] = {"extra": "allow"}

    class Config(gym.BaseResourcesServerConfig):  # type: ignore[name-defined]
        """The server's configuration."""

        REVERIFY_MODE: ClassVar[Any] = gym.ReverifyMode.STATELESS

    class RewardServer(gym.SimpleResourcesServer):  # type: ignore[name-defined]
        """A resources server that scores rollouts with the reward."""

        config: Config

        async def verify(self, body: Any) -> Any:
            """Score a rollout."""
            rollout = body.model_dump()
            training = trains(rollout)
            score = await requests.score(row_of(rollout), patience=patience if training else 0.0)
            if training and retries and awaits_another(score):
                raise fastapi.HTTPException(503, UNSCORED.format(why=score.why))
            return VerifyResponse.model_validate(reply(rollout, score))

    # FastAPI looks up the names in annotations among the module's globals, where these local classes are missing.
    RewardServer.verify.__annotations__ = {"body": VerifyRequest, "return": VerifyResponse}
    return RewardServer


# The replies to ``/aggregate_metrics``: the statistics that NeMo Gym computes from the replies to ``/verify``.


Numbers = dict[str, float]

_TASK, _ROLLOUT = "_ng_task_index", "_ng_rollout_index"
_INDICES = (_TASK, _ROLLOUT)


def aggregated(responses: Sequence[Any]) -> dict[str, Any]:
    """Return statistics for each task and for all rollouts, and separately the overall means.

    Args:
        responses: responses from ``/verify``. All numeric fields are included, as are the numbers in the ``usage`` of
            the model's response.

    Raises:
        BadRequest: a response lacks the index of its task or rollout, or two responses have the same indices.
    """
    ordered = sorted(map(_check_response, responses), key=_place)
    duplicate = next(
        (response for response, other in itertools.pairwise(ordered) if _place(response) == _place(other)), None
    )
    if duplicate is not None:
        raise BadRequest(
            f"two verify responses have the same {_TASK} {duplicate[_TASK]} and {_ROLLOUT} {duplicate[_ROLLOUT]}"
        )
    overall = _statistics([_numbers(response, _usage(response)) for response in ordered])
    return {
        "group_level_metrics": [
            _task_metrics(task, list(rollouts))
            for task, rollouts in itertools.groupby(ordered, key=lambda response: response[_TASK])
        ],
        "agent_metrics": overall,
        "key_metrics": {name: value for name, value in overall.items() if name.startswith("mean/")},
    }


def _task_metrics(task: int, rollouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        _TASK: task,
        **_statistics([_numbers(rollout, _usage(rollout)) for rollout in rollouts]),
        "sample": {"agent_ref": {"name": "agent"}},
        "num_rollouts": len(rollouts),
        "expected_num_rollouts": len(rollouts),
        "missing_num_rollouts": 0,
        "reward_profile_completion_pct": 100.0,
        "rollout_infos": [
            {
                "rollout_id": f"{task}:{rollout[_ROLLOUT]}",
                _TASK: task,
                _ROLLOUT: rollout[_ROLLOUT],
                **({"reward": rollout["reward"]} if "reward" in rollout else {}),
                **_numbers(_usage(rollout), rollout),
            }
            for rollout in rollouts
        ],
    }


def _statistics(rows: Sequence[Numbers]) -> Numbers:
    """Return statistics for each number, by name.

    If a number has a single value, its standard deviation is omitted. However, if there is only one row, all standard
    deviations are 0."""
    columns = {name: np.array([row[name] for row in rows if name in row]) for row in rows for name in row}
    is_single = all(len(values) < 2 for values in columns.values())
    statistics = {}
    for name, values in columns.items():
        spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0 if is_single and len(rows) == 1 else math.nan
        for kind, value in (
            ("mean", values.mean()), ("max", values.max()), ("min", values.min()), ("median", np.median(values)),
            ("std", spread),
        ):  # fmt: skip
            if not math.isnan(value):
                statistics[f"{kind}/{name}"] = float(value)
    return statistics


def _numbers(*sources: Mapping[str, Any]) -> Numbers:
    """Return the numbers in all `sources` by name, without the indices. True counts as 1."""
    return {name: value for source in sources for name, value in _numeric(source)}


def _numeric(source: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in source.items():
        if isinstance(value, (int, float)) and name not in _INDICES and not math.isnan(value):
            yield name, int(value) if isinstance(value, bool) else value


def _usage(response: Mapping[str, Any]) -> Mapping[str, Any]:
    body = response.get("response")
    usage = body.get("usage") if isinstance(body, Mapping) else None
    return usage if isinstance(usage, Mapping) else {}


def _place(response: Mapping[str, Any]) -> tuple[int, int]:
    return response[_TASK], response[_ROLLOUT]


def _check_response(response: Any) -> Mapping[str, Any]:
    if not isinstance(response, Mapping) or not all(isinstance(response.get(name), int) for name in _INDICES):
        raise BadRequest(f"each item of verify_responses must be an object with the numbers {_TASK!r} and {_ROLLOUT!r}")
    return response


# NeMo Gym's paths of the reward server: those of a resources server.


STATELESS = "stateless"


async def verify(payload: Any, score: Score) -> Answer:
    """Score a NeMo Gym rollout."""
    row, training = row_of(payload), trains(payload)
    [row_score] = await score([row], patience=PATIENCE if training else 0.0)
    if training and awaits_another(row_score):
        return Answer({"error": UNSCORED.format(why=row_score.why)}, 503)
    return Answer(reply(payload, row_score))


async def seed_session(payload: Any, score: Score) -> Answer:
    """Begin a NeMo Gym rollout. No state is stored for it."""
    return Answer({})


async def aggregate_metrics(payload: Any, score: Score) -> Answer:
    """Return statistics for verified rollouts."""
    return Answer(aggregated(list_at(payload, "verify_responses")))


async def reverify_mode(payload: Any, score: Score) -> Answer:
    """Return the reverify mode, which indicates that rollouts can be verified again."""
    return Answer(STATELESS)


_POSTED = {"/verify": verify, "/seed_session": seed_session, "/aggregate_metrics": aggregate_metrics}
_OBSERVED = "/ng-rollout/{rollout_id}"
"""The path prefix that NeMo Gym uses while it observes rollouts."""

dialect: Dialect = {
    **_POSTED,
    **{f"{_OBSERVED}{path}": handler for path, handler in _POSTED.items()},
    "GET /reverify_mode": reverify_mode,
}


# Export: the files and settings with which NeMo Gym uses a reward.


_FILE = '''"""The reward as a resources server of NeMo Gym."""

import rewardkit as rk
{imports}

if __name__ == "__main__":
    rk.to_nemo_gym(reward).run_webserver()
'''
_REQUIREMENTS = """\
-e nemo-gym[dev] @ ../../
{rewardkit}
"""
_CONFIG = """\
my_reward:
  resources_servers:
    my_reward:                            # the folder resources_servers/my_reward
      entrypoint: rewards_nemo_gym.py
      domain: other
my_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: my_reward}
      model_server: {type: responses_api_models, name: policy_model}"""


def export(target: Target) -> Export:
    """Return the files and settings for using a reward with NeMo Gym.

    Raises:
        RewardDefinitionError: NeMo Gym cannot run the reward. This is checked during the export, because the exported
            file creates the server only when it runs.
    """
    OFFERS.check(Scorer(target.load()))
    return Export(
        {
            "rewards_nemo_gym.py": _FILE.format(imports=target.imports),
            "requirements.txt": _REQUIREMENTS.format(rewardkit=requirement()),
        },
        _CONFIG.replace("{", "{{").replace("}", "}}"),
        Tested("nemo-gym", TESTED),
        [
            "Put the files into the folder resources_servers/my_reward in your project. Add the packages that the "
            "reward needs to requirements.txt.",
            "A rollout that cannot be scored is excluded from the collected rollouts, and NeMo RL "
            "generates another one.",
        ],
    )
