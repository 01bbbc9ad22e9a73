"""Reward: what all nodes of a tree can do."""

from __future__ import annotations

import pickle
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.progress.schedule import Schedule
from rewardkit.tree.reward import Reward, leaves


def leaf(name: str, value: float | None = 0.5) -> rk.Reward:
    def function(completion: str) -> float | None:
        return value

    return rk.reward(name=name)(function)


A, B = leaf("a", 0.5), leaf("b", 0.25)


@pytest.mark.parametrize(
    ("build", "hint"),
    [
        (lambda: A * B, "rk.product"),
        (lambda: A + 1, "Remove the constant"),
        (lambda: A + rk.schedules.linear(0, 1), "reward \\* schedule"),
        (lambda: A + rk.extract.boxed(), "extract="),
        (lambda: A + len, "@rk.reward"),
        (lambda: A + "b", "must be a reward"),
        (lambda: A * "2", "must be a number"),
        (lambda: A * True, "must be a number"),
        (lambda: rk.score("a", ["x"]), "must be a reward"),
        (lambda: rk.score(rk.exact, ["x"]), "Call it"),
        (lambda: rk.exact("answer", extract=A), "extract="),
    ],
)
def test_other_values_raise_a_type_error_with_a_hint(build: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: A * float("nan"),
        lambda: A * float("inf"),
        lambda: A / 0,
        lambda: A.clip(1, 0),
        lambda: A.clip(float("nan"), 1),
    ],
)
def test_invalid_numbers_are_refused(build: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError):
        build()


def test_leaves_from_left_to_right() -> None:
    assert [reward.name for reward in leaves(rk.gate(A, B + A))] == ["a", "b", "a"]


def my_extractor(text: str) -> str | None:
    return text.upper()


@rk.reward
def module_level(completion: str) -> float:
    return 1.0


def test_a_tree_pickles() -> None:
    tree = module_level + 0.5 * rk.gate(rk.tags("a"), rk.exact("answer", extract=my_extractor))
    assert pickle.loads(pickle.dumps(tree)) == tree


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\u202e", None, 3])
def test_a_name_must_be_printable(name: object) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="a reward's name must be"):
        A.named(name)  # type: ignore[arg-type]


def trl_function(completions: list[str], **kwargs: Any) -> list[float]:
    return [0.5] * len(completions)


def test_a_decorated_function_can_still_be_called() -> None:
    assert module_level("any text") == 1.0
    assert rk.tags("answer")("<answer>42</answer>") == rk.Score(1.0)
    assert float(rk.tags("answer")("42")) == 0.0


@pytest.mark.parametrize("tree", [A + B, rk.gate(A, B), A.named("x"), rk.from_trl(trl_function)], ids=repr)
def test_other_rewards_say_how_to_use_them_instead(tree: rk.Reward) -> None:
    with pytest.raises(TypeError, match=r"rk\.to_trl\(reward\).*rk\.score\(reward, completions\)"):
        tree("any text")


def test_a_trainer_that_calls_a_reward_gets_an_error_about_to_trl() -> None:
    with pytest.raises(TypeError, match="reward_funcs="):
        module_level(completions=["a"], prompts=["p"])


def test_no_method_with_a_body_is_overridden() -> None:
    for package in ("combine", "rewards", "rewards.judges", "schedules"):
        for module in pkgutil.iter_modules(import_module(f"rewardkit.{package}").__path__, f"rewardkit.{package}."):
            import_module(module.name)
    for kind in [*subclasses(Reward), *subclasses(Schedule)]:
        for name in vars(kind) if kind.__module__.startswith("rewardkit") else ():
            above = [vars(parent)[name] for parent in kind.__mro__[1:-1] if name in vars(parent)]
            written = [value for value in above if isinstance(value, (FunctionType, property))]
            assert all(getattr(value, "__isabstractmethod__", False) for value in written), (kind, name)


def subclasses(base: type[Any]) -> Iterator[type[Any]]:
    for kind in base.__subclasses__():
        yield kind
        yield from subclasses(kind)
