"""A reward as a base class for tasks: what verifiers gets, and what is refused."""

from __future__ import annotations

import asyncio
import gc
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

import rewardkit as rk
from rewardkit.online.exports import Target, export_to


class Timeout(BaseModel):
    scoring: float | None = None


class Said(BaseModel):
    role: str
    content: Any = None
    tool_calls: list[dict[str, Any]] | None = None
    provider_state: list[Any] | None = None


class Data(BaseModel):
    prompt: Any = None
    image: str | None = None
    timeout: Timeout = Timeout()
    answer: str = ""


class Node:
    def __init__(self, role: str, content: Any = None, *, sampled: bool = False, **more: Any) -> None:
        self.message = Said(role=role, content=content, **more)
        self.sampled = sampled
        self.token_ids, self.mask = [1, 2], [False, sampled]


class Trace:
    def __init__(self, *nodes: Node, scoring: float | None = None) -> None:
        self.branches = [SimpleNamespace(nodes=nodes)] if nodes else []
        self.agent = SimpleNamespace(config=SimpleNamespace(timeout=Timeout(scoring=scoring)))
        self.is_truncated = False


class Task:
    def __init__(self, data: Any, config: Any = None) -> None:
        self.data = data


def made(reward: Any, **options: Any) -> Any:
    return type("MyTask", (rk.to_verifiers(reward, **options), Task), {})


def answered(text: str, **options: Any) -> Trace:
    return Trace(Node("user", "?"), Node("assistant", text, sampled=True), **options)


def scored(task: Any, trace: Any) -> tuple[dict[str, float], dict[str, float]]:
    async def both() -> tuple[dict[str, float], dict[str, float]]:
        return await task.rewardkit_components(trace), await task.rewardkit_terms(trace)

    return asyncio.run(both())


def test_the_endpoint_reads_the_calls_and_leaves_none_in_a_text() -> None:
    metrics, _ = scored(made(rk.agents.calls_between(1, 1))(Data()), answered("[look()]"))
    assert metrics == {"components/calls_between": 0.0}


def test_terms_are_rewards_and_components_are_metrics_of_one_evaluation() -> None:
    calls = []

    @rk.reward
    def right(completion: str, answer: str) -> float:
        calls.append(completion)
        return float(completion == answer)

    kind = made(0.5 * right + rk.monitor(rk.length.between(1, 3, unit="characters").named("short")))
    assert kind.rewardkit_terms.reward is kind.rewardkit_components.metric is True
    metrics, rewards = scored(kind(Data(answer="4")), answered("4"))
    assert metrics == {"components/right": 1.0, "components/short": 1.0}
    assert rewards == {"right": 0.5}
    assert calls == ["4"]


def test_rewards_alone_are_scored_and_nothing_is_kept() -> None:
    kind = made(rk.exact("answer"))
    trace = answered("4")
    assert asyncio.run(kind(Data(answer="4")).rewardkit_terms(trace)) == {"exact": 1.0}
    task = kind(Data(answer="4"))
    asyncio.run(task.rewardkit_components(trace))
    kept = next(cell.cell_contents for cell in kind.rewardkit_terms.__closure__ if hasattr(cell.cell_contents, "first"))
    assert len(kept._scores) == 1
    del trace
    gc.collect()
    assert kept._scores == {}


def test_what_abstains_is_left_out() -> None:
    @rk.reward
    def sometimes(completion: str) -> float | None:
        return None

    metrics, rewards = scored(made(sometimes + rk.exact("answer"))(Data(answer="4")), answered("4"))
    assert metrics == {"components/exact": 1.0}
    assert rewards == {"exact": 1.0}
    with pytest.raises(rk.RewardFailure, match="every component abstained"):
        scored(made(sometimes)(Data()), answered("4"))


def test_a_failed_row_raises_and_a_bug_does_not() -> None:
    @rk.reward
    def down(completion: str) -> float:
        raise rk.RewardFailure("the judge is down")

    @rk.reward
    def broken(completion: str) -> float:
        raise KeyError(completion)

    with pytest.raises(rk.RewardFailure, match="no score: down: the judge is down"):
        scored(made(down)(Data()), answered("4"))
    metrics, rewards = scored(made(broken)(Data()), answered("4"))
    assert (metrics, rewards) == ({}, {"broken": 0.0})


def test_the_completion_is_what_the_policy_wrote() -> None:
    seen: list[Any] = []

    @rk.reward
    def looked(messages: list[Any], prompt: str, completion_ids: list[int], example: dict[str, Any]) -> float:
        seen.append((messages, prompt, completion_ids, example))
        return 1.0

    call = {"id": "c1", "name": "open", "arguments": "{}"}
    trace = Trace(
        Node("system", "Be brief."),
        Node("user", "Example?"),
        Node("assistant", "an example that nobody sampled"),
        Node("user", "Open it."),
        Node("assistant", sampled=True, tool_calls=[call], provider_state=["opaque"]),
        Node("tool", "opened"),
        Node("assistant", "words that the harness put in"),
        Node("assistant", "done", sampled=True),
    )
    task = made(looked)(Data(prompt=[Said(role="user", content="Open it.")], image="busybox", answer="yes"))
    scored(task, trace)
    ((messages, prompt, ids, example),) = seen
    assert messages == [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "opened"},
        {"role": "assistant", "content": "done"},
    ]
    assert (prompt, ids, example) == ("Open it.", [2, 2], {"answer": "yes"})


@pytest.mark.parametrize("trace", [Trace(), Trace(Node("user", "Hello?"))])
def test_a_trace_without_a_turn_is_an_empty_completion(trace: Trace) -> None:
    metrics, _ = scored(made(rk.length.between(1, 9, unit="characters"))(Data()), trace)
    assert list(metrics.values()) == [0.0]


def test_where_the_user_opens_the_conversation_that_is_the_prompt() -> None:
    @rk.reward
    def echoes(completion: str, prompt: str) -> float:
        return float(completion == prompt)

    _, rewards = scored(made(echoes)(Data()), Trace(Node("user", "hi"), Node("assistant", "hi", sampled=True)))
    assert rewards == {"echoes": 1.0}


def test_the_deadline_is_below_the_limit_of_verifiers() -> None:
    @rk.reward
    async def slow(completion: str) -> float:
        await asyncio.sleep(5)
        return 1.0

    with pytest.raises(rk.RewardFailure, match=r"took more than 0\.18 s"):
        scored(made(slow)(Data()), answered("4", scoring=0.2))
    with pytest.raises(rk.RewardFailure, match=r"0\.1 s"):
        scored(made(slow, deadline=0.1)(Data()), answered("4"))
    with pytest.raises(rk.RewardDefinitionError, match="Lower deadline=, or raise"):
        made(slow, deadline=60)(Data(timeout=Timeout(scoring=60)))
    with pytest.raises(rk.RewardDefinitionError, match=r"timeout\.scoring=50"):
        scored(made(slow, deadline=60)(Data(timeout=Timeout(scoring=90))), answered("4", scoring=50))
    with pytest.raises(rk.RewardDefinitionError, match="greater than 0"):
        made(slow, deadline=0)


def test_what_a_trace_does_not_bring_is_refused() -> None:
    @rk.reward(scope="group")
    def best(completion: list[str]) -> list[float]:
        return [1.0 for _ in completion]

    with pytest.raises(rk.RewardDefinitionError, match="'best' compares completions"):
        made(best)
    with pytest.raises(rk.RewardDefinitionError, match="does not pass the step"):
        made(rk.exact("answer") * rk.schedules.linear(0, 1))
    with pytest.raises(rk.errors.BindingError, match="needs the column 'answer'"):
        made(rk.exact("answer"), examples=[{"solution": "4"}])


def test_the_exported_file_is_a_base_class(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "reward_of_the_exported_task.py").write_text("import rewardkit as rk\n\nreward = rk.exact('answer')\n")
    export = export_to(
        "verifiers",
        Target("reward_of_the_exported_task", "reward", str(tmp_path)),
        {"verifiers": "rewardkit_adapters.verifiers.mixin"},
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    ((_, text),) = export.files.items()
    module: dict[str, Any] = {}
    exec(text, module)
    task = type("MyTask", (module["Scored"], Task), {})(Data(answer="4"))
    assert scored(task, answered("4"))[1] == {"exact": 1.0}


def test_a_trace_whose_gold_cannot_be_read_raises_and_is_left_out() -> None:
    kind = made(rk.number("answer"))
    for _ in range(100):
        scored(kind(Data(answer="4")), answered("4"))
        with pytest.raises(rk.RewardFailure, match="column 'answer': 'N/A' cannot be parsed"):
            scored(kind(Data(answer="N/A")), answered("4"))
