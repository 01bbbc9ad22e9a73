"""A rubric is the weighted sum of its functions; a task of 0.4 that of its rewards."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.errors import RewardTypeError
from tests.adapters.verifiers.stand_ins import BindingRubric, Parser, Rubric, RubricGroup, Task, mark, version_four

TEXTS = ["#### 4", "five"]


def correct(parser: Any, completion: Any, answer: str) -> float:
    return float(parser.parse_answer(completion) == answer)


async def length(completion: Any, **kwargs: Any) -> float:
    return float(len(completion[-1].content))


def turns(state: Any) -> float:
    return float(len(state["trajectory"]))


def scored(reward: rk.Reward, **columns: Any) -> rk.ScoreTable:
    return rk.score(reward, TEXTS, prompts=["2+2?"] * 2, answer=["4", "4"], **columns)


def test_functions_are_weighted_components_and_metrics_are_watched() -> None:
    parser = Parser()
    rubric = Rubric([correct, length, parser.get_format_reward_func()], [1.0, 0.5, -0.25], parser)
    rubric.add_metric(turns)
    reward = rk.from_verifiers(rubric)
    table = scored(reward)
    assert list(table.components) == ["correct", "length", "format_reward_func", "turns"]
    assert list(table.terms) == ["correct", "length", "format_reward_func"]
    assert table.total.tolist() == [1.0 + 3.0 - 0.25, 2.0]
    assert table["turns"].tolist() == [1.0, 1.0]


def test_the_name_makes_it_one_component() -> None:
    table = scored(rk.from_verifiers(Rubric([correct, length], [1.0, 0.5]), name="rubric"))
    assert list(table.terms) == ["rubric"]
    assert table["rubric"].tolist() == [4.0, 2.0]


def test_functions_share_a_state_in_order() -> None:
    async def first(state: Any) -> float:
        state["seen"] = len(state["completion"][0].content)
        return 0.0

    def second(state: Any) -> float:
        return float(state["seen"])

    async def third(completion: Any, **kwargs: Any) -> float:
        return float(kwargs["state"]["seen"])

    table = scored(rk.from_verifiers(Rubric([first, correct, second, third], [0.0, 1.0, 1.0, 1.0])))
    assert table["second"].tolist() == table["third"].tolist() == [6.0, 4.0]


def test_a_rubric_that_binds_by_itself_is_asked() -> None:
    def of_provided(provided: int) -> float:
        return float(provided)

    assert scored(rk.from_verifiers(BindingRubric([of_provided]))).total.tolist() == [1.0, 1.0]


def test_groups_and_environments_are_opened() -> None:
    group = RubricGroup([Rubric([correct, length], [1.0, 0.1]), RubricGroup([Rubric([correct], [2.0])])])
    for given in (group, SimpleNamespace(rubric=group)):
        table = scored(rk.from_verifiers(given))
        assert list(table.components) == ["correct", "length", "correct_2"]
        assert table.total.tolist() == pytest.approx([3.6, 0.4])


def test_older_rubrics_have_other_names() -> None:
    old = SimpleNamespace(reward_funcs=[correct], reward_weights=[0.5], parser=Parser(), class_objects={})
    assert scored(rk.from_verifiers(old)).total.tolist() == [0.5, 0.0]


def test_unweighted_lambdas_get_numbers() -> None:
    rubric = Rubric([lambda completion: 1.0, lambda completion: 2.0])
    assert list(scored(rk.from_verifiers(rubric)).terms) == ["<lambda>", "<lambda>_2"]


def test_a_gated_rubric_runs_only_where_the_gate_is_open() -> None:
    called: list[str] = []

    def noted(completion: Any) -> float:
        called.append(completion[-1].content)
        return 1.0

    gated = rk.gate(when=rk.contains(all="####"), then=rk.from_verifiers(Rubric([noted])))
    assert scored(gated).total.tolist() == [1.0, 0.0]
    assert called == ["#### 4"]


def test_each_batch_has_its_own_states() -> None:
    def first_time(state: Any) -> float:
        state["times"] = state.get("times", 0) + 1
        return float(state["times"])

    reward = rk.from_verifiers(Rubric([first_time]))
    assert [scored(reward).total.tolist() for _ in range(2)] == [[1.0, 1.0]] * 2


def test_rubrics_that_cannot_be_split_are_refused() -> None:
    class Own(Rubric):
        async def score_rollout(self, state: Any) -> None: ...

    with pytest.raises(RewardTypeError, match="Own overrides score_rollout"):
        rk.from_verifiers(Own([correct]))
    with pytest.raises(rk.RewardDefinitionError, match="has no reward function"):
        rk.from_verifiers(Rubric())
    with pytest.raises(rk.RewardDefinitionError, match="2 functions and 1 weights"):
        rk.from_verifiers(Rubric([correct, length], [1.0]))
    with pytest.raises(RewardTypeError, match="not a rubric"):
        rk.from_verifiers(RubricGroup(["rubric"]))
    with pytest.raises(RewardTypeError, match=r"instance: from_verifiers\(Rubric\(\.\.\.\)\)"):
        rk.from_verifiers(Rubric)


def test_it_goes_to_trl() -> None:
    functions = rk.to_trl(rk.from_verifiers(Rubric([correct, length], [1.0, 0.5])))
    keywords = {"prompts": ["2+2?"] * 2, "completions": TEXTS, "completion_ids": [[1], [2]], "answer": ["4", "4"]}
    assert [function(**keywords) for function in functions] == [[1.0, 0.0], [3.0, 2.0]]


# Tasks


class Sum(Task):
    @mark("reward", weight=0.5)
    async def close(self, trace: Any) -> float:
        assert "size" in trace.metrics
        return float(trace.last_reply == f"#### {self.data.total:g}")

    @mark("reward")
    async def keyed(self, task: Any, trace: Any) -> dict[str, float]:
        return {"half": 0.5, "tenth": task.total / 40}

    @mark("metric")
    async def size(self, trace: Any) -> float:
        return float(len(trace.last_reply))


@pytest.fixture
def _version_four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "verifiers.v1", version_four())


@pytest.mark.usefixtures("_version_four")
@pytest.mark.parametrize("task", [Sum, Sum(None)], ids=["class", "instance"])
def test_a_tasks_rewards_are_weighted_and_its_metrics_watched(task: Any) -> None:
    table = scored(rk.from_verifiers(task), total=["4", "4"])
    assert list(table.terms) == ["close", "keyed"]
    assert table.total.tolist() == pytest.approx([0.5 + 0.6, 0.6])
    assert table["size"].tolist() == [6.0, 4.0]
    assert table.parts["keyed"]["half"].tolist() == [0.5, 0.5]


@pytest.mark.usefixtures("_version_four")
def test_data_that_does_not_fit_the_task_is_an_error() -> None:
    with pytest.raises(rk.errors.CoercionError, match="row 1 does not fit Data"):
        scored(rk.from_verifiers(Sum), total=["4", "four"])


@pytest.mark.usefixtures("_version_four")
def test_a_trace_holds_the_conversation() -> None:
    class Look(Task):
        @mark("reward")
        async def look(self, trace: Any) -> float:
            assert [node.parent for node in trace.nodes] == [None, 0, 1, 2]
            assert [node.sampled for node in trace.nodes] == [False, True, False, True]
            assert trace.nodes[1].message["content"] == ""
            assert trace.nodes[1].message["tool_calls"][0]["name"] == "add"
            return 1.0

    called = {"type": "function", "function": {"name": "add", "arguments": "{}"}}
    said = [
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "call_0_0", "content": "4"},
        {"role": "assistant", "content": [{"type": "text", "text": "4"}]},
    ]
    table = rk.score(rk.from_verifiers(Look), [said], prompts=["2+2?"], total=[4.0])
    assert table.total.tolist() == [1.0]


def test_a_plugged_judge_is_a_component() -> None:
    class Judge:
        reward_name = "judge"
        config = SimpleNamespace(weight=2.0)

        async def score(self, task: Any, trace: Any) -> float:
            return 0.25

    reward = rk.from_verifiers(Sum(None, SimpleNamespace(judges=[Judge()])))
    assert repr(reward).endswith("2*from_verifiers(judge)")


def test_a_reward_that_needs_a_runtime_is_refused() -> None:
    class Running(Task):
        @mark("reward")
        async def run(self, trace: Any, runtime: Any) -> float:
            return 1.0

    class Derived(Task):
        def __init__(self, data: Any, config: Any = None) -> None:
            super().__init__(data, config)
            self.half = data.total / 2

    with pytest.raises(rk.RewardDefinitionError, match=r"Running\.run needs a rollout"):
        rk.from_verifiers(Running)
    with pytest.raises(RewardTypeError, match="without data"):
        rk.from_verifiers(Derived)
