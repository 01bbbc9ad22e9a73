"""to_verifiers: turn a reward into a base class for verifiers 0.4 tasks, which prime-rl uses for training."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, final

from rewardkit.errors import RewardDefinitionError, RewardFailure
from rewardkit.online.breaker import LIMITS, Limits
from rewardkit.online.exports import Export, Target, Tested
from rewardkit.online.requests import Requests
from rewardkit.online.rows import COMPONENTS, Row, RowScore
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs

# Convert traces of verifiers 0.4 to rows: the text of the policy, its prompt, and the data of the task as columns.


_SETTINGS = (
    "prompt",
    "system_prompt",
    "image",
    "workdir",
    "agent_user",
    "skills",
    "network_allow",
    "network_block",
    "artifacts",
    "artifact_max_bytes",
    "timeout",
    "resources",
)
"""The fields in every task's data that configure how the task runs. They are not columns."""


def row_of(data: Any, trace: Any) -> Row:
    """Return the row for a finished trace.

    The completion consists of the last branch's messages, starting with the policy's first message. It includes tool
    calls and their results, so that it can be read as a trajectory.

    Args:
        data: the task's data, whose fields are the columns.
    """
    branches = trace.branches
    nodes: Sequence[Any] = branches[-1].nodes if branches else []
    first = next((index for index, node in enumerate(nodes) if node.sampled), len(nodes))
    completion_nodes = [node for node in nodes[first:] if node.sampled or node.message.role != "assistant"]
    ids = [
        token for node in completion_nodes for token, sampled in zip(node.token_ids, node.mask, strict=True) if sampled
    ]
    return Row(
        _messages(node.message for node in completion_nodes),
        _prompt(data.prompt, nodes[:first]),
        {name: cell for name, cell in data.model_dump().items() if name not in _SETTINGS},
        ids or None,
        bool(trace.is_truncated),
        runs_calls=True,  # the policy's endpoint parses the calls
    )


def _prompt(prompt: Any, nodes: Sequence[Any]) -> Any:
    """Return the task's prompt, or the messages before the policy's first message if the task has no prompt."""
    if isinstance(prompt, str):
        return prompt
    return _messages(prompt if prompt is not None else (node.message for node in nodes))


def _messages(messages: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        {"content": "", **message.model_dump(exclude_none=True, exclude={"provider_state"})} for message in messages
    ]


# Export: the files and settings with which verifiers and prime-rl use a reward.


TESTED = Tested("verifiers", ["0.4.0"])
_FILE = '''"""The reward for verifiers, and so for prime-rl."""

import rewardkit as rk
{imports}

Scored = rk.to_verifiers(reward)
'''
_CONFIG = """\
from rewards_verifiers import Scored

class MyTask(Scored, vf.Task[MyData]): ...    # in your taskset; the fields of MyData are the columns"""


def export(target: Target) -> Export:
    """Return the files and settings for using a reward with verifiers."""
    return Export(
        {"rewards_verifiers.py": _FILE.format(imports=target.imports)},
        _CONFIG,
        TESTED,
        ["A completion that cannot be scored becomes an error of its trace, and prime-rl ignores it in its group."],
    )


OFFERS = TrainerInputs("verifiers", ids=True)
_LONGEST = 300.0
"""The maximum number of seconds for a trace if scoring has no other limit. The value is arbitrary, but a limit is
necessary so that a judge that hangs does not block its rollout forever."""
_SHARE = 0.9
"""The fraction of ``timeout.scoring`` available for a trace. It must be less than 1, because verifiers gives a score of
0 after the full timeout."""

Signal = Callable[[Any, Any], Awaitable[dict[str, float]]]
"""An async task method that scores a trace."""


def to_verifiers(
    reward: Any,
    *,
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    limits: Limits = LIMITS,
) -> type[Any]:
    """Turn a reward into a base class for verifiers 0.4 tasks, which prime-rl uses for training.

    ::

        class Math(rk.to_verifiers(reward), vf.Task[MathData]): ...     # before vf.Task

    In the trace, every reward term becomes a reward with weight 1, and every component becomes a metric
    ``components/<name>``. Both come from one evaluation. A term or component that abstained is omitted from the trace,
    because verifiers does not accept None. If a completion cannot be scored, an exception is raised. The trace then has
    an error, and prime-rl excludes it from the group's mean and the loss.

    Args:
        reward: a reward, a plain function, or a list of them. The completion is the policy's text, including tool calls
            and their results. The columns are the fields in the task's data.
        examples: example rows, such as ``[{"answer": "42"}]``. The reward is tried on them immediately, so that missing
            columns and bugs are found before training starts.
        deadline: the maximum number of seconds for scoring a trace. If scoring takes longer, the trace counts as
            unscorable. The deadline must be less than the agent's or the task's ``timeout.scoring``, after which
            verifiers gives a score of 0. By default, it is nine tenths of ``timeout.scoring``, or 300 s if there is no
            such limit.
        special_tokens: a tokenizer whose special tokens are removed from completions, or a list of strings to remove.
        record: the folder in which the run is recorded. ``rewardkit view`` displays the record.
        limits: an ``rk.Limits`` with the fractions of failed and errored traces above which every further trace raises
            an error, because training on such scores is useless.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward compares completions or depends on training progress, neither of which works
            with verifiers. Also raised when a task is created or scored if the deadline is not less than
            ``timeout.scoring``.
        BindingError, CoercionError, RewardFailure: the reward cannot score `examples`.
    """
    scorer = RowScorer(
        reward,
        OFFERS,
        special_tokens=special_tokens,
        record=record,
        limits=limits,
        examples=examples,
    )
    traces = Traces(Requests(scorer, deadline=deadline))

    class RewardTask:
        """A base class for tasks, with the reward's terms as rewards and its components as metrics."""

        data: Any

        def __init__(self, *arguments: Any, **keywords: Any) -> None:
            super().__init__(*arguments, **keywords)
            seconds(deadline, self.data.timeout.scoring)

        @metric
        async def rewardkit_components(self, trace: Any) -> dict[str, float]:
            components = (await traces.first(self.data, trace)).components
            return present({f"{COMPONENTS}{name}": value for name, value in components.items()})

        @reward_of_weight_1
        async def rewardkit_terms(self, trace: Any) -> dict[str, float]:
            return present((await traces.second(self.data, trace)).terms)

    return RewardTask


def metric(method: Signal) -> Signal:
    """Mark a method as ``vf.metric`` does, but without importing verifiers, which may not be installed."""
    vars(method).update(metric=True, metric_priority=0)
    return method


def reward_of_weight_1(method: Signal) -> Signal:
    """Mark a method as ``vf.reward`` does."""
    vars(method).update(reward=True, reward_priority=0, _vf_weight=1.0)
    return method


@final
class Traces:
    """A cache that scores each trace once. verifiers requests scores twice: for metrics, then for rewards."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._scores: dict[int, tuple[weakref.ref[Any], RowScore]] = {}

    async def first(self, data: Any, trace: Any) -> RowScore:
        """Score a trace, and store the scores for `second`.

        Raises:
            RewardFailure: the trace has no score.
        """
        score, key = await self._scored(data, trace), id(trace)
        self._scores[key] = weakref.ref(trace, lambda _: self._scores.pop(key, None)), score
        return score

    async def second(self, data: Any, trace: Any) -> RowScore:
        """Return the stored scores. If there are none, because the metrics were overridden, score the trace now."""
        entry = self._scores.pop(id(trace), None)
        return entry[1] if entry is not None and entry[0]() is trace else await self._scored(data, trace)

    async def _scored(self, data: Any, trace: Any) -> RowScore:
        timeout = None if trace.agent is None else trace.agent.config.timeout.scoring
        allowed = seconds(self._requests.deadline, data.timeout.scoring if timeout is None else timeout)
        try:
            score = await asyncio.wait_for(self._requests.score(row_of(data, trace)), allowed)
        except (asyncio.TimeoutError, TimeoutError):
            raise RewardFailure(f"this completion has no score: it took more than {allowed:g} s") from None
        score.value()
        return score


def seconds(deadline: float | None, limit: float | None) -> float:
    """Return the maximum number of seconds for scoring one trace.

    Args:
        deadline: the deadline that the user passed, or None for the default.
        limit: ``timeout.scoring``, after which verifiers gives the trace a reward of 0 and prime-rl trains on it.

    Raises:
        RewardDefinitionError: the deadline is not less than the limit.
    """
    if limit is None:
        return _LONGEST if deadline is None else deadline
    if deadline is None:
        return limit * _SHARE
    if deadline >= limit:
        raise RewardDefinitionError(
            f"to_verifiers: deadline={deadline:g} is not below timeout.scoring={limit:g}. After that limit, "
            "verifiers gives the trace the score 0, and prime-rl trains on it. Lower deadline=, or raise "
            "timeout.scoring"
        )
    return deadline


def present(numbers: Mapping[str, float | None]) -> dict[str, float]:
    """Return the numbers without abstentions, because verifiers treats None as a task error."""
    return {name: value for name, value in numbers.items() if value is not None}
