"""verifiers 0.4: five ``@vf.reward`` methods of a task, scored with ``Task.score`` for every trace at once.

verifiers has scored this way since 0.4.0, which removed ``vf.Rubric``: each rollout scores its own trace, and the
rollouts of a batch run concurrently on one event loop (``verifiers/v1/rollout.py`` and ``cli/replay.py``). Traces and
tasks exist when a rollout ends, so creating them is not timed. ``benchmarks/speed/rubric.py --peers`` runs this
script in its own environment.
"""
# mypy: disable-error-code="import-not-found,misc,untyped-decorator"

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import verifiers.v1 as vf

from benchmarks.peers.report import print_report
from benchmarks.speed import rubric_components as fast
from benchmarks.speed.rubric_floor import EMPTY_FLOOR, FLOOR
from benchmarks.speed.rubric_measurement import Columns, Contestant
from benchmarks.speed.rubric_workload import COMPONENTS, WEIGHTS, Workload

Rollouts = list[tuple[vf.Task, vf.Trace]]


class InvoiceData(vf.TaskData):
    """One row: the prompt, the gold total and the length range."""

    total: str
    low: int
    high: int


class InvoiceTask(vf.Task[InvoiceData]):
    """The five components of the rubric."""

    @vf.reward(weight=WEIGHTS["tags"])
    async def tags(self, trace: vf.Trace) -> float:
        return fast.tags(trace.last_reply)

    @vf.reward(weight=WEIGHTS["json_valid"])
    async def json_valid(self, trace: vf.Trace) -> float:
        return fast.json_valid(trace.last_reply)

    @vf.reward(weight=WEIGHTS["schema"])
    async def schema(self, trace: vf.Trace) -> float:
        return fast.schema(trace.last_reply)

    @vf.reward(weight=WEIGHTS["closeness"])
    async def closeness(self, trace: vf.Trace) -> float:
        return fast.closeness(trace.last_reply, self.data.total)

    @vf.reward(weight=WEIGHTS["length"])
    async def length(self, trace: vf.Trace) -> float:
        return fast.length(trace.last_reply, self.data.low, self.data.high)


class EmptyTask(vf.Task[InvoiceData]):
    """Five rewards that do nothing."""

    @vf.reward
    async def first(self, trace: vf.Trace) -> float:
        return 1.0

    @vf.reward
    async def second(self, trace: vf.Trace) -> float:
        return 1.0

    @vf.reward
    async def third(self, trace: vf.Trace) -> float:
        return 1.0

    @vf.reward
    async def fourth(self, trace: vf.Trace) -> float:
        return 1.0

    @vf.reward
    async def fifth(self, trace: vf.Trace) -> float:
        return 1.0


def _rollouts(task_type: type[vf.Task], workload: Workload) -> Rollouts:
    agent = vf.AgentInfo(config=vf.AgentConfig())
    low, high = workload.lengths
    rollouts = []
    for completion, prompt, total in zip(workload.completions, workload.prompts, workload.totals, strict=True):
        data = InvoiceData(prompt=prompt, total=total, low=low, high=high)
        nodes = [
            vf.MessageNode(message=vf.UserMessage(content=prompt)),
            vf.MessageNode(parent=0, message=vf.AssistantMessage(content=completion), sampled=True),
        ]
        trace = vf.Trace(task=vf.TraceTask(type=task_type.__name__, data=data), agent=agent, nodes=nodes)
        rollouts.append((task_type(data), trace))
    return rollouts


# In training, a rollout scores itself while its runtime exists; without a runtime, Task.score does more work.
_RUNTIME = SimpleNamespace()


async def _score_all(rollouts: Rollouts) -> None:
    await asyncio.gather(*(task.score(trace, _RUNTIME) for task, trace in rollouts))


def _score(rollouts: Rollouts) -> Rollouts:
    asyncio.run(_score_all(rollouts))
    return rollouts


def _columns(rollouts: Rollouts) -> Columns:
    return {name: [trace.rewards[name].score for _, trace in rollouts] for name in COMPONENTS}


def _totals(rollouts: Rollouts) -> list[float]:
    return [trace.reward for _, trace in rollouts]


if __name__ == "__main__":
    rubric = Contestant(
        "verifiers 0.4, Task.score",
        lambda workload: _rollouts(InvoiceTask, workload),
        _score,
        _columns,
        _totals,
    )
    empty = Contestant("verifiers 0.4, Task.score", lambda workload: _rollouts(EmptyTask, workload), _score)
    print_report("verifiers", [FLOOR, rubric], [EMPTY_FLOOR, empty])
