"""``@rk.reward``: its options, and the leaf that it makes."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
from dataclasses import dataclass
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.tree.leaf import Leaf
from rewardkit.tree.results import ReturnPolicy


@rk.reward
def closeness(completion: str, answer: float) -> float:
    """1 at the right number."""
    return 1.0 if float(completion) == answer else 0.0


@dataclass(frozen=True)
class Longer:
    """A reward with settings of its own."""

    limit: int

    def __call__(self, completion: str) -> float:
        return 1.0 if len(completion) > self.limit else 0.0


@dataclass
class Unhashable:
    limit: int

    def __call__(self, completion: str) -> float:
        return 0.0


def plain(completion: str) -> float:
    return 0.5


def test_a_reward_is_still_the_function_that_it_was() -> None:
    assert closeness("3", answer=3.0) == 1.0
    assert closeness.__doc__ == "1 at the right number."
    assert closeness.__name__ == "closeness" == closeness.name  # type: ignore[attr-defined]


def test_options_are_kept_and_a_function_can_be_wrapped_later() -> None:
    reward = rk.reward(name="other", bounds=(-1, 2), on_failure=0, on_error="raise", deterministic=False)(plain)
    assert isinstance(reward, Leaf)
    assert reward.contract == ReturnPolicy("other", (-1.0, 2.0), on_failure=0.0, on_error="raise")
    assert not reward.binding.deterministic
    assert rk.reward(plain).name == "plain"


def test_a_frozen_callable_object_becomes_a_reward() -> None:
    short, long = rk.reward(name="short")(Longer(1)), rk.reward(name="long")(Longer(3))
    assert rk.score(short + long, ["ab"]).total.tolist() == [1.0]
    assert rk.reward(Longer(1)).name == "Longer"
    assert rk.reward(Longer(1)) == rk.reward(Longer(1)) != rk.reward(Longer(2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scope": "groups"}, "scope"),
        ({"pure": True, "deterministic": False}, "pure=True contradicts deterministic=False"),
        ({"bounds": (1, 0)}, "bounds"),
        ({"bounds": (0, 0)}, "bounds"),
        ({"bounds": (math.nan, 1)}, "bounds"),
        ({"bounds": 1.0}, "bounds"),
        ({"bounds": (0, 1, 2)}, "bounds"),
        ({"on_failure": "skip"}, "on_failure"),
        ({"on_failure": math.nan}, "on_failure"),
        ({"on_failure": True}, "on_failure"),
        ({"on_error": "unscorable"}, "on_error"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": math.inf}, "timeout"),
        ({"timeout": "1"}, "timeout"),
        ({"name": ""}, "a reward's name"),
        ({"name": "a\nb"}, "a reward's name"),
        ({"name": "\u202e"}, "a reward's name"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        rk.reward(**options)(plain)


@pytest.mark.parametrize("value", [int, "text", 3, None, rk.reward(plain), rk.reward(plain) + rk.reward(Longer(1))])
def test_decorating_something_else_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError):
        rk.reward(name="r")(value)


def test_an_unhashable_object_is_refused_with_a_fix() -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"@dataclass\(frozen=True\)"):
        rk.reward(Unhashable(1))


@pytest.mark.parametrize("reward", [closeness, rk.reward(plain), rk.reward(name="x")(Longer(2))])
def test_pickle_and_copy_give_an_equal_reward(reward: Leaf) -> None:
    for again in (pickle.loads(pickle.dumps(reward)), copy.deepcopy(reward)):
        assert again == reward
        assert hash(again) == hash(reward)
        assert again.fingerprint == reward.fingerprint
    assert pickle.loads(pickle.dumps(closeness)) is closeness


def test_a_closure_cannot_be_pickled_and_the_error_says_why() -> None:
    def inner(completion: str) -> float:
        return 0.0

    for reward in (rk.reward(inner), rk.reward(name="x")(lambda completion: 0.0)):
        with pytest.raises(TypeError, match="top level of a module"):
            pickle.dumps(reward)
        assert copy.deepcopy(reward) is reward


def test_every_public_option_is_documented() -> None:
    documented = inspect.getdoc(rk.reward) or ""
    for name in inspect.signature(rk.reward).parameters:
        assert name == "function" or f"{name}:" in documented
