"""to_openenv: a rubric with children, of which each environment has its own."""

from __future__ import annotations

import asyncio
import pickle
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

import rewardkit as rk
from rewardkit.online.exports import Target, export_to
from tests.adapters.openenv.stand_ins import modules


@pytest.fixture(autouse=True)
def _openenv(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, module in modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    yield
    sys.modules.pop("rewardkit_adapters.openenv.rubrics", None)


class Action(BaseModel):
    message: str


class Observation(BaseModel):
    done: bool = True
    reward: float | None = None
    metadata: dict[str, Any] = {}
    answer: str = "4"
    numbers: dict[str, float | None] | None = None


@rk.reward
def down(completion: str) -> float:
    if completion == "?":
        raise rk.RewardFailure("the judge is down")
    return 1.0


@rk.reward
def echoes(completion: str, prompt: str) -> float:
    return float(completion == prompt)


REWARD = 0.75 * rk.exact("answer") + 0.25 * down
KEYS = ["exact", "down", "components/exact", "components/down"]


def test_children_are_terms_and_components() -> None:
    rubric = rk.to_openenv(REWARD, text="message", numbers="numbers")
    observation = Observation()
    assert rubric(Action(message="4"), observation) == 1.0
    assert {name: one.last_score for name, one in rubric.named_rubrics()} == dict(
        zip(KEYS, (0.75, 0.25, 1, 1), strict=True)
    )
    assert observation.numbers == dict(zip(KEYS, (0.75, 0.25, 1, 1), strict=True))
    assert rubric(Action(message="5"), Observation()) == rubric.last_score == 0.25
    assert rubric.get_rubric("components/exact")(Action(message="4"), Observation()) == 1.0  # by itself


def test_a_failed_row_is_none_everywhere() -> None:
    rubric = rk.to_openenv(REWARD, text="message")
    assert rubric(Action(message="?"), Observation()) is rubric.last_score is None
    scores = {name: one.last_score for name, one in rubric.named_rubrics()}
    assert scores == {"exact": None, "down": None, "components/exact": 0.0, "components/down": None}


def test_the_hooks_of_a_child_see_its_score() -> None:
    seen = []
    rubric = rk.to_openenv(REWARD, text="message")
    rubric.get_rubric("exact").register_forward_hook(lambda *arguments: seen.append(arguments[1:]))
    action, observation = Action(message="4"), Observation()
    rubric(action, observation)
    assert seen == [(action, observation, 0.75)]


def test_columns_are_fields_and_metadata_or_what_the_function_says() -> None:
    rubric = rk.to_openenv(rk.exact("gold") + echoes, text=lambda action, observation: action.message.strip())
    hidden = {"gold": "4", "prompt": "4", "messages": ["reserved"]}
    assert rubric(Action(message=" 4"), Observation(metadata=hidden)) == 2.0
    plain = SimpleNamespace(done=True, gold="4", prompt="5")
    assert rubric(Action(message=" 4"), plain) == 1.0
    told = rk.to_openenv(rk.exact("gold"), text="message", columns=lambda action, observation: {"gold": "5"})
    assert told(Action(message="4"), Observation(metadata=hidden)) == 0.0
    with pytest.raises(
        rk.errors.BindingError, match=r"text='mesage' is not a field of Action\. Fields: message\. .*message"
    ):
        rk.to_openenv(REWARD, text="mesage")(Action(message="4"), Observation())


def test_messages_are_a_trajectory() -> None:
    def told(action: Any, observation: Any) -> list[dict[str, Any]]:
        call = {"function": {"name": "open", "arguments": {}}}
        asked = {"role": "assistant", "content": "", "tool_calls": [call]}
        return [asked, {"role": "tool", "content": "open"}, {"role": "assistant", "content": action.message}]

    rubric = rk.to_openenv(rk.agents.tool_success("open"), text=told)
    assert rubric(Action(message="done"), Observation()) == 1.0


def test_an_asynchronous_rubric_is_awaited() -> None:
    rubric = rk.to_openenv(REWARD, text="message", asynchronous=True)

    async def several() -> list[Any]:
        return await asyncio.gather(*[rubric(Action(message=text), Observation()) for text in ("4", "5", "?")])

    assert asyncio.run(several()) == [1.0, 0.25, None]


def test_environments_share_everything_but_the_last_scores() -> None:
    both = [rk.to_openenv(REWARD, text="message") for _ in range(2)]
    barrier = threading.Barrier(2)

    def step(pair: tuple[Any, str]) -> Any:
        barrier.wait()
        return pair[0](Action(message=pair[1]), Observation())

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(step, zip(both, ("4", "5"), strict=True))) == [1.0, 0.25]
    assert [one.get_rubric("exact").last_score for one in both] == [0.75, 0.0]
    assert both[0]._requests is both[1]._requests
    assert rk.to_openenv(REWARD, text="message", deadline=5)._requests is not both[0]._requests
    assert rk.to_openenv([rk.exact("answer")], text="message", special_tokens=["<eos>"]) is not None
    unhashable = SimpleNamespace(all_special_tokens=["</s>"])
    assert (
        rk.to_openenv(REWARD, text="message", special_tokens=unhashable)(Action(message="4</s>"), Observation()) == 1.0
    )


def test_a_rubric_can_be_pickled() -> None:
    revived = pickle.loads(pickle.dumps(rk.to_openenv(rk.exact("answer"), text="message")))
    assert revived(Action(message="4"), Observation()) == 1.0


def test_what_a_step_does_not_bring_is_refused() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="OpenEnv: the reward follows training progress"):
        rk.to_openenv(rk.exact("answer") * rk.schedules.linear(0, 1), text="message")
    with pytest.raises(rk.RewardDefinitionError, match="compares completions"):
        rk.to_openenv(rk.length.shortest_correct(rk.exact("answer")), text="message")
    with pytest.raises(rk.errors.BindingError, match="needs the column 'answer'"):
        rk.to_openenv(rk.exact("answer"), text="message", examples=[{"gold": "4"}])


def test_a_deadline_gives_none() -> None:
    @rk.reward
    async def slow(completion: str) -> float:
        await asyncio.sleep(5)
        return 1.0

    assert rk.to_openenv(slow, text="message", deadline=0.05)(Action(message="4"), Observation()) is None


def test_the_exported_file_makes_a_rubric(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "exact_reward.py").write_text("import rewardkit as rk\n\nreward = rk.exact('answer')\n")
    export = export_to(
        "openenv", Target("exact_reward", "reward", str(tmp_path)), {"openenv": "rewardkit_adapters.openenv.rewards"}
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    ((_, text),) = export.files.items()
    module: dict[str, Any] = {}
    exec(text, module)
    assert module["rubric"]()(Action(message="4"), Observation()) == 1.0


def test_the_export_refuses_what_an_environment_cannot_run(tmp_path: Any) -> None:
    (tmp_path / "rising_reward.py").write_text(
        "import rewardkit as rk\n\nreward = rk.exact('answer') * rk.schedules.linear(0, 1)\n"
    )
    with pytest.raises(rk.RewardDefinitionError, match="OpenEnv: the reward follows training progress"):
        export_to(
            "openenv",
            Target("rising_reward", "reward", str(tmp_path)),
            {"openenv": "rewardkit_adapters.openenv.rewards"},
        )


def test_a_gold_that_cannot_be_read_is_none() -> None:
    rubric = rk.to_openenv(rk.number("answer") + down, text="message")
    for _ in range(100):
        assert rubric(Action(message="4"), Observation()) == 2.0
        assert rubric(Action(message="4"), Observation(answer="N/A")) is None
