"""Rewards that read the environment: its state, or its own reward."""

from __future__ import annotations

import asyncio
import math
import pickle
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import rewardkit as rk
from rewardkit.batch.environments import Watch, recording_class
from rewardkit.check.variants import strategies
from tests.record.conversations import OPENED, says

RECORDED = Watch()


class Shop:
    def __init__(self) -> None:
        self.sold: list[str] = []

    def reset(self, **row: Any) -> None:
        self.sold = []

    def buy(self, item: str) -> str:
        """Buys."""
        self.sold.append(item)
        return "bought"

    def get_reward(self) -> float | None:
        return len(self.sold) / 4 if self.sold else None


class Bare:
    def reset(self, **row: Any) -> None: ...

    def work(self) -> str:
        """Works."""
        return "done"


def shop(*items: str, kind: type = Shop, watch: Watch | None = RECORDED) -> Any:
    environment = (kind if watch is None else recording_class(kind, watch))()
    environment.reset()
    for item in items:
        environment.buy(item=item)
    return environment


def sold(environment: Shop, item: str) -> bool:
    return item in environment.sold


def counted(environment, count: int, trajectory: rk.Trajectory, completion: str) -> float:  # type: ignore[no-untyped-def]
    assert isinstance(trajectory, rk.Trajectory)
    assert isinstance(completion, str)
    return min(1.0, len(environment.sold) / count)


async def slowly(environment: Shop, item: str) -> rk.Score:
    await asyncio.sleep(0)
    return rk.Score(float(item in environment.sold), f"sold {environment.sold}")


def perhaps(environment: Shop) -> float | None:
    return None if not environment.sold else 1.0


def test_a_check_gets_the_environment_and_columns_by_name_and_type() -> None:
    environments = [shop("tea"), shop()]
    rows: dict[str, Any] = {"item": ["tea", "tea"], "count": ["2", "2"], "environments": environments}
    assert rk.score(rk.agents.final_state(sold), ["x", "x"], **rows).total.tolist() == [1.0, 0.0]
    assert rk.score(rk.agents.final_state(counted), [OPENED, OPENED], **rows).total.tolist() == [0.5, 0.0]
    table = rk.score(rk.agents.final_state(slowly), ["x", "x"], **rows)
    assert table.total.tolist() == [1.0, 0.0]
    assert table.notes["slowly"] == ["sold ['tea']", "sold []"]
    table = rk.score(rk.agents.final_state(perhaps), ["x", "x"], **rows)
    assert [str(outcome) for outcome in table.outcomes["perhaps"]] == ["scored", "abstained"]


def test_equal_completions_are_not_scored_once() -> None:
    """The same words may leave two environments in two states."""
    table = rk.score(
        rk.agents.final_state(sold), ["done"] * 3, item=["tea"] * 3, environments=[shop("tea"), shop(), shop("tea")]
    )
    assert table.total.tolist() == [1.0, 0.0, 1.0]


def test_names() -> None:
    assert rk.agents.final_state(sold).name == "sold"
    assert rk.agents.final_state(sold, name="right_item").name == "right_item"
    assert rk.agents.final_state(lambda environment: True).name == "final_state"


def test_bounds_are_checked() -> None:
    reward = rk.agents.final_state(lambda environment: 7.0, bounds=(0, 10))
    assert rk.score(reward, ["x"], environments=[shop()]).total.tolist() == [7.0]
    with pytest.raises(rk.errors.RewardBug, match="7"):
        rk.score(rk.agents.final_state(lambda environment: 7.0), ["x"], environments=[shop()])


def test_a_bug_in_a_check_is_errored_and_an_outage_failed() -> None:
    def broken(environment: Shop) -> float:
        if not environment.sold:
            raise KeyError("stock")
        if environment.sold == ["gold"]:
            raise ConnectionError("down")
        return 1.0

    reward = rk.agents.final_state(broken, on_error=0.0)
    table = rk.Scorer(reward).score(batch(shop(), shop("gold"), shop("tea")), strict=False)
    assert [str(outcome) for outcome in table.outcomes["broken"]] == ["errored", "failed", "scored"]
    with pytest.raises(rk.errors.RewardBug, match="KeyError"):
        rk.score(rk.agents.final_state(broken), ["x"], environments=[shop()])


def batch(*environments: Any) -> rk.Batch:
    from rewardkit.batch.environments import journals
    from rewardkit.batch.rollouts import RolloutInfo

    size = len(environments)
    return rk.Batch(["x"] * size, rollouts=RolloutInfo(**journals(list(environments))))


@pytest.mark.parametrize("reward", [rk.agents.final_state(sold), rk.agents.environment_reward()])
def test_without_environments_the_error_says_what_to_do(reward: rk.Reward) -> None:
    with pytest.raises(rk.errors.BindingError, match=r"environment_factory=funcs\.environments\(Shop\)"):
        rk.score(reward, ["x"], item=["tea"])


def test_a_check_must_be_a_function_with_an_argument_for_the_environment() -> None:
    for wrong in (Shop, rk.agents.finished(), "sold", None):
        with pytest.raises(rk.errors.RewardTypeError, match="expects a function of the environment"):
            rk.agents.final_state(wrong)  # type: ignore[arg-type]
    with pytest.raises(rk.RewardDefinitionError, match="has no argument for the environment"):
        rk.agents.final_state(lambda: True)

    def keyword(*, environment: Shop) -> bool:
        return True

    with pytest.raises(rk.RewardDefinitionError, match="has no argument for the environment"):
        rk.agents.final_state(keyword)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(rk.errors.BindingError, match="'item'"):
        rk.score(rk.agents.final_state(sold), ["x"], environments=[shop()])


@pytest.mark.parametrize("watch", [None, Watch(), Watch(hide_reward=True)])
def test_the_environments_own_reward_is_a_component(watch: Watch | None) -> None:
    environments = [shop("tea", watch=watch), shop(watch=watch), shop("a", "b", watch=watch)]
    table = rk.score(rk.agents.environment_reward(), ["x"] * 3, environments=environments)
    assert [str(value) for value in table["environment_reward"]] == ["0.25", "nan", "0.5"]
    assert [str(outcome) for outcome in table.outcomes["environment_reward"]] == ["scored", "abstained", "scored"]


class Asynchronous(Shop):
    async def get_reward(self) -> float:  # type: ignore[override]
        await asyncio.sleep(0)
        return 0.75


@pytest.mark.parametrize("watch", [None, Watch(), Watch(hide_reward=True)])
def test_it_may_be_asynchronous(watch: Watch | None) -> None:
    environments = [shop(kind=Asynchronous, watch=watch)]
    assert rk.score(rk.agents.environment_reward(), ["x"], environments=environments).total.tolist() == [0.75]


def test_it_must_keep_its_bounds() -> None:
    class Rich(Shop):
        def get_reward(self) -> float:
            return math.inf

    with pytest.raises(rk.errors.RewardBug):
        rk.score(rk.agents.environment_reward(), ["x"], environments=[shop(kind=Rich)])
    with pytest.raises(rk.errors.RewardBug):
        rk.score(rk.agents.environment_reward(bounds=(0, 0.2)), ["x"], environments=[shop("tea")])
    gated = rk.gate(rk.agents.finished(), rk.agents.environment_reward(bounds=(0, 1)))
    table = rk.score(gated, [[says("x")], OPENED[:1]], environments=[shop("tea"), shop("tea")])
    assert table.total.tolist() == [0.25, 0.0]


def test_environments_without_one_abstain_beside_others_and_are_refused_alone() -> None:
    bare = recording_class(Bare, Watch())()
    table = rk.score(rk.agents.environment_reward(), ["x", "x"], environments=[bare, shop("tea")])
    assert [str(outcome) for outcome in table.outcomes["environment_reward"]] == ["abstained", "scored"]
    with pytest.raises(rk.errors.BindingError, match=r"Bare has no method get_reward\(\)"):
        rk.score(rk.agents.environment_reward(), ["x"], environments=[bare])


def test_a_batch_of_a_mixed_run_may_have_none() -> None:
    bare = recording_class(Bare, Watch(mixed=True))()
    table = rk.score(rk.agents.environment_reward(), ["x"], environments=[bare])
    assert [str(outcome) for outcome in table.outcomes["environment_reward"]] == ["abstained"]


def test_they_are_shown_and_pickled() -> None:
    assert repr(rk.agents.environment_reward()) == "agents.environment_reward()"
    assert repr(rk.agents.environment_reward(bounds=(0, 1))) == "agents.environment_reward(bounds=(0.0, 1.0))"
    for reward in (rk.agents.environment_reward(bounds=(0, 1)), rk.agents.final_state(sold)):
        again = pickle.loads(pickle.dumps(reward))
        table = rk.score(again, ["x"], item=["tea"], environments=[shop("tea")])
        assert table.total[0] > 0.0


@settings(max_examples=20)
@given(st.lists(strategies.episodes(Shop), min_size=1, max_size=4))
def test_the_state_is_what_was_played(episodes: list[Any]) -> None:
    items = [episode.environment.sold[0] if episode.environment.sold else "none" for episode in episodes]
    table = rk.score(
        rk.agents.final_state(sold),
        [episode.messages for episode in episodes],
        environments=[episode.environment for episode in episodes],
        item=items,
    )
    assert table.total.tolist() == [float(bool(episode.environment.sold)) for episode in episodes]
