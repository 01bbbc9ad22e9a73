"""verifiers 0.3.1: ``vf.Rubric(funcs=[...], weights=[...])``, scored with ``Rubric.score_group``.

This is the last version with ``Rubric`` (under ``verifiers.legacy``; 0.4.0 removed it). Its environments score the
rollouts of one prompt together and run the groups of a batch concurrently on one event loop
(``Environment._run_group_states``). States exist when a rollout ends, so creating them is not timed.
``benchmarks/speed/rubric.py --peers`` runs this script in its own environment.
"""
# mypy: disable-error-code="import-not-found,import-untyped,misc"

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import verifiers.legacy as vf
from verifiers.legacy.types import AssistantMessage, State, UserMessage

from benchmarks.peers.report import print_report
from benchmarks.speed import rubric_components as fast
from benchmarks.speed.rubric_floor import EMPTY_FLOOR, FLOOR
from benchmarks.speed.rubric_measurement import Columns, Contestant
from benchmarks.speed.rubric_workload import COMPONENTS, WEIGHTS, Workload

Completion = list[AssistantMessage]
Groups = tuple[vf.Rubric, list[list[State]]]

# Rubric catches exceptions of reward functions and only logs them; show them here.
logging.basicConfig(level=logging.ERROR)


def make_rubric(lengths: tuple[int, int]) -> vf.Rubric:
    """Make a Rubric of the five components; a reward function's arguments name what it needs from the state."""

    def tags(completion: Completion) -> float:
        return fast.tags(completion[-1].content)

    def json_valid(completion: Completion) -> float:
        return fast.json_valid(completion[-1].content)

    def schema(completion: Completion) -> float:
        return fast.schema(completion[-1].content)

    def closeness(completion: Completion, answer: str) -> float:
        return fast.closeness(completion[-1].content, answer)

    def length(completion: Completion) -> float:
        return fast.length(completion[-1].content, *lengths)

    functions = [tags, json_valid, schema, closeness, length]
    return vf.Rubric(funcs=functions, weights=[WEIGHTS[component] for component in COMPONENTS])


def make_empty_rubric(lengths: tuple[int, int]) -> vf.Rubric:
    """Make a Rubric of five rewards that do nothing."""

    def named(name: str) -> Callable[..., float]:
        def constant(completion: Completion) -> float:
            return 1.0

        constant.__name__ = name
        return constant

    return vf.Rubric(funcs=[named(name) for name in COMPONENTS])


def _prepare(rubric: vf.Rubric, workload: Workload) -> Groups:
    states = [
        State(input={"prompt": [UserMessage(content=prompt)], "answer": total, "example_id": row}, trajectory=[])
        for row, (prompt, total) in enumerate(zip(workload.prompts, workload.totals, strict=True))
    ]
    for state, completion in zip(states, workload.completions, strict=True):
        state["completion"] = [AssistantMessage(content=completion)]
    return rubric, [[states[row] for row in rows] for rows in workload.groups]


async def _score_all(groups: Groups) -> None:
    rubric, states = groups
    await asyncio.gather(*(rubric.score_group(group) for group in states))


def _score(groups: Groups) -> list[State]:
    asyncio.run(_score_all(groups))
    return [state for group in groups[1] for state in group]


def _columns(states: list[State]) -> Columns:
    return {name: [state["metrics"][name] for state in states] for name in COMPONENTS}


def _totals(states: list[State]) -> list[Any]:
    return [state["reward"] for state in states]


if __name__ == "__main__":
    rubric = Contestant(
        "verifiers 0.3, Rubric",
        lambda workload: _prepare(make_rubric(workload.lengths), workload),
        _score,
        _columns,
        _totals,
    )
    empty = Contestant(
        "verifiers 0.3, Rubric",
        lambda workload: _prepare(make_empty_rubric(workload.lengths), workload),
        _score,
    )
    print_report("verifiers", [FLOOR, rubric], [EMPTY_FLOOR, empty])
