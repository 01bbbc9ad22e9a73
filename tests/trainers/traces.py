"""Traces of verifiers, and the end of its rollouts, without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from tests.trainers.stubs import stub

stub("gepa", "prime_sandboxes", "prime_tunnel", "prime_runs")

import verifiers.v1  # noqa: E402
from verifiers.v1.rollout import Rollout, RolloutTimeouts as RolloutTimeouts  # noqa: E402

vf = verifiers.v1


def trace_of(task: Any, messages: Sequence[Mapping[str, Any]], agent: Any = None) -> Any:
    """Return a trace whose first message is the prompt."""
    nodes = [
        vf.MessageNode(
            parent=place - 1 if place else None,
            message=message,
            sampled=bool(place) and message["role"] == "assistant",
            token_ids=[1, 2, 3],
            mask=[False, place > 0, place > 0],
        )
        for place, message in enumerate(messages)
    ]
    seat = vf.AgentInfo(config=agent or vf.AgentConfig())
    return vf.Trace(task=vf.TraceTask(type=type(task).__name__, data=task.data), agent=seat, nodes=nodes)


def answered(task: Any, text: str, agent: Any = None) -> Any:
    return trace_of(task, [{"role": "user", "content": "?"}, {"role": "assistant", "content": text}], agent)


async def closed(task: Any, trace: Any, timeouts: Any) -> Any:
    """End a rollout as verifiers does: score it, and record what went wrong."""

    async def nothing(*_: Any, **__: Any) -> None:
        return None

    harness = SimpleNamespace(score=nothing, cleanup=nothing, config=SimpleNamespace(name="none"))
    rollout = Rollout.__new__(Rollout)
    rollout.task, rollout.trace, rollout.harness, rollout.runtime = task, trace, harness, SimpleNamespace(stop=nothing)
    rollout._timeouts, rollout._opened, rollout._closed, rollout._failed = timeouts, True, False, False
    rollout._harness_session, rollout._agent_runtime, rollout._borrowed_runtime = None, None, None
    rollout._stack, rollout._collect_artifacts = SimpleNamespace(aclose=nothing), False
    return await rollout.close()
