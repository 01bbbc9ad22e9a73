"""verifiers' own tasks and rollouts with `rk.to_verifiers`: the same totals, and what becomes of failed rows."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import rewardkit as rk
from tests.trainers.reward import agrees, expected, reward, rows
from tests.trainers.traces import RolloutTimeouts, answered, closed, trace_of, vf

KEYS = {"components/readable", "components/number", "components/concise", "components/checked", "components/modest"}


class Data(vf.TaskData):
    answer: str = ""
    calls: str = ""


class Scored(rk.to_verifiers(reward, limits=rk.Limits(max_failure_rate=1.0)), vf.Task[Data]):  # type: ignore[misc]
    pass


def test_the_marks_are_those_of_verifiers() -> None:
    async def signal(self: Any, trace: Any) -> dict[str, float]:
        return {}

    async def other(self: Any, trace: Any) -> dict[str, float]:
        return {}

    assert vars(Scored.rewardkit_terms) == vars(vf.reward(signal))
    assert vars(Scored.rewardkit_components) == vars(vf.metric(other))


def test_totals_are_those_of_score() -> None:
    given = rows()

    async def scored() -> list[Any]:
        tasks = [Scored(Data(prompt="?", answer=gold)) for _, gold in given]
        traces = [answered(task, text) for task, (text, _) in zip(tasks, given, strict=True)]
        closings = (closed(*pair, RolloutTimeouts(scoring=600)) for pair in zip(tasks, traces, strict=True))
        return await asyncio.gather(*closings)

    traces = asyncio.run(scored())
    totals = [trace.reward if trace.ok else None for trace in traces]
    wrong = [
        place for place, (own, total) in enumerate(zip(totals, expected(given), strict=True)) if not agrees(own, total)
    ]
    assert wrong == [], [(given[place], totals[place], traces[place].errors) for place in wrong[:3]]
    assert 100 < totals.count(None) < 2_000
    scored_ones = [trace for trace in traces if trace.ok]
    assert {name for trace in scored_ones for name in trace.metrics} == KEYS
    assert {name for trace in scored_ones for name in trace.rewards} == {"number", "concise", "checked"}
    failed = [trace for trace in traces if not trace.ok]
    assert {trace.errors[-1].type for trace in failed} == {"TaskError"}
    assert all("the judge is down" in trace.errors[-1].message for trace in failed)


def test_a_deadline_ends_before_scoring_does() -> None:
    @rk.reward
    def hanging(completion: str) -> float:
        time.sleep(1.0)
        return 1.0

    class Hanging(rk.to_verifiers(hanging), vf.Task[Data]):  # type: ignore[misc]
        pass

    class Late(vf.Task[Data]):
        @vf.reward  # type: ignore[untyped-decorator]
        async def late(self) -> float:
            await asyncio.sleep(1.0)
            return 1.0

    agent = vf.AgentConfig(timeout={"scoring": 0.3})
    timeouts = RolloutTimeouts(scoring=0.3)
    task, late = Hanging(Data(prompt="?")), Late(Data(prompt="?"))
    trace = asyncio.run(closed(task, answered(task, "4", agent), timeouts))
    assert (trace.ok, trace.is_timeout) == (False, False)
    assert "it took more than 0.27 s" in trace.errors[-1].message
    trained_on = asyncio.run(closed(late, answered(late, "4", agent), timeouts))
    # This is why the deadline must end first.
    assert (trained_on.ok, trained_on.is_timeout, trained_on.reward) == (True, True, 0.0)


def test_a_deadline_that_is_too_late_is_refused() -> None:
    class Patient(rk.to_verifiers(rk.exact("answer"), deadline=60), vf.Task[Data]):  # type: ignore[misc]
        pass

    with pytest.raises(rk.RewardDefinitionError, match=r"deadline=60 is not below timeout\.scoring=30"):
        Patient(Data(prompt="?", timeout={"scoring": 30}))
    task = Patient(Data(prompt="?", answer="4", timeout={"scoring": 90}))
    strict, free = vf.AgentConfig(timeout={"scoring": 60}), vf.AgentConfig()
    refused = asyncio.run(closed(task, answered(task, "4", strict), RolloutTimeouts(scoring=60)))
    assert not refused.ok
    assert "not below timeout.scoring=60" in refused.errors[-1].message
    assert asyncio.run(closed(task, answered(task, "4", free), RolloutTimeouts(scoring=90))).reward == 1.0


def test_tool_calls_are_a_trajectory_and_the_data_are_columns() -> None:
    seen = []

    @rk.reward(bounds=(0, 9))
    def turns(trajectory: rk.Trajectory, prompt: str, example: dict[str, Any]) -> float:
        seen.append((prompt, example))
        return float(len(trajectory.turns))

    told = rk.gate(rk.agents.finished(), rk.exact("answer") + rk.tool_calls("calls")) + rk.monitor(turns)

    class Weather(rk.to_verifiers(told), vf.Task[Data]):  # type: ignore[misc]
        pass

    gold = '[{"name": "weather", "arguments": {"city": "Rome"}}]'
    task = Weather(Data(prompt="How warm is it?", system_prompt="Be brief.", answer="18", calls=gold, idx=3))
    call = {"id": "c1", "name": "weather", "arguments": '{"city": "Rome"}'}
    trace = trace_of(
        task,
        [
            {"role": "user", "content": "How warm is it?"},
            {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "18"}]},
            {"role": "assistant", "content": "18"},
        ],
    )
    ended = asyncio.run(closed(task, trace, RolloutTimeouts()))
    assert ended.ok, ended.errors
    assert {name: one.score for name, one in ended.rewards.items()} == {"exact": 1.0, "tool_calls": 1.0}
    assert ended.metrics["components/turns"] == 2.0
    known = {"idx": 3, "id": None, "name": None, "description": None, "answer": "18", "calls": gold}
    assert seen == [("How warm is it?", known)]  # once for the metrics and the rewards


def test_what_abstains_is_absent_and_a_bug_scores_the_lowest_bound() -> None:
    @rk.reward(bounds=(-1, 9))
    def read(completion: str) -> float:
        return float(completion)

    @rk.reward
    def sometimes(completion: str) -> float | None:
        return None if completion == "4" else 1.0

    class Mixed(rk.to_verifiers(0.5 * read + sometimes, limits=rk.Limits(max_error_rate=1.0)), vf.Task[Data]):  # type: ignore[misc]
        pass

    class Alone(rk.to_verifiers(sometimes), vf.Task[Data]):  # type: ignore[misc]
        pass

    def ended(kind: Any, text: str) -> Any:
        task = kind(Data(prompt="?"))
        return asyncio.run(closed(task, answered(task, text), RolloutTimeouts()))

    right = ended(Mixed, "4")
    assert {name: one.value for name, one in right.rewards.items()} == {"read": 2.0}
    assert right.metrics == {"components/read": 4.0}
    wrong = ended(Mixed, "four")
    assert wrong.ok, wrong.errors
    assert {name: one.value for name, one in wrong.rewards.items()} == {"read": -0.5, "sometimes": 1.0}
    nothing = ended(Alone, "4")
    assert (nothing.ok, nothing.is_timeout) == (False, False)
    assert "every component abstained" in nothing.errors[-1].message
