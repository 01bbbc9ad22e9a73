"""parametrize_with_laws: a decorator that runs one test per reward and law.

::

    from rewardkit.testing import parametrize_with_laws

    @parametrize_with_laws([reward], examples=[{"answer": "42"}], good=["It is 42"], bad=["It is 41"])
    def test_reward(reward, law):
        law(reward)

This creates the tests ``test_reward[number('answer')-total]`` and so on, like scikit-learn's
``parametrize_with_checks``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from rewardkit.check.findings import LawResult
from rewardkit.check.reports import law_as_text
from rewardkit.check.reward_under_test.bound_reward import BoundReward, bind_reward
from rewardkit.check.run.selection import LawLike
from rewardkit.errors import RewardDefinitionError, shorten


@dataclass(frozen=True, eq=False)
class LawCheck:
    """A law with examples. Calling it with a reward passes, fails, or skips the running test."""

    law: str
    bound: BoundReward

    def __call__(self, reward: Any) -> None:
        """Fail the test with the counterexample if `reward` breaks the law. Skip the test if the law does not apply.

        A test may pass a reward other than the one it received. The examples stay the same.
        """
        __tracebackhide__ = True
        checked = self.bound if reward is self.bound.reward else self.bound.of(reward)
        assert_law(checked.result(self.law), checked.name)

    def want(self) -> None:
        """Announce that this law will be checked, so that it runs together with the other laws."""
        self.bound.wanted.add(self.law)

    def __repr__(self) -> str:
        return self.law


def parametrize_with_laws(
    rewards: Iterable[Any],
    *,
    examples: Iterable[Mapping[str, Any]] = (),
    good: Any = (),
    bad: Any = (),
    laws: Iterable[LawLike] | None = None,
    without: Iterable[LawLike] = (),
    **options: Any,
) -> pytest.MarkDecorator:
    """Decorate a test ``def test_reward(reward, law)`` to run for each reward and law.

    Args:
        rewards: rewards, or reward functions for a trainer. A mapping gives a reward separate examples instead of the
            shared ones: ``{"reward": closeness, "examples": [...], "good": [...]}``. ``"id"`` sets the reward's name in
            test names.
        examples: rows with the columns that the rewards read. The default is one row without columns.
        good: correct completions, as in `check_reward`.
        bad: incorrect completions, in the same format.
        laws: laws, as in `check_reward`. By default, all laws are checked, including exploit laws.
        without: laws to exclude. State the reason in a comment.
        options: other arguments of `check_reward`: ``declarations=``, ``budget=``, ``seed=``, ...

    Raises:
        RewardDefinitionError: `rewards` is empty, or a law or option is unknown.
    """
    if isinstance(rewards, (str, Mapping)) or not isinstance(rewards, Iterable):
        raise RewardDefinitionError(f"parametrize_with_laws: pass a list of rewards, got {shorten(rewards)}")
    shared = {"examples": list(examples) or [{}], "good": good, "bad": bad, **options}
    chosen: dict[str, Any] = {"laws": laws, "without": without}
    chosen = {name: value if isinstance(value, (str, type(None))) else list(value) for name, value in chosen.items()}
    items = [_bind_item(item, shared, chosen) for item in rewards]
    if not items:
        raise RewardDefinitionError("parametrize_with_laws: the list of rewards is empty. Pass at least one reward")
    return pytest.mark.parametrize(
        ("reward", "law"),
        [
            pytest.param(item.reward, check, id=f"{item.name}-{check}", marks=pytest.mark.rewardkit)
            for item in items
            for check in (LawCheck(law.name, item) for law in item.laws)
        ],
    )


def _bind_item(item: Any, shared: Mapping[str, Any], chosen: Mapping[str, Any]) -> BoundReward:
    if not isinstance(item, Mapping):
        return bind_reward(item, shared, **chosen)
    if "reward" not in item:
        raise RewardDefinitionError(f'parametrize_with_laws: add a "reward" to the mapping {shorten(item)}')
    item_options = {name: value for name, value in item.items() if name not in ("reward", "id", *chosen)}
    own_laws = {name: item[name] for name in chosen if name in item}
    return bind_reward(item["reward"], {**shared, **item_options}, name=item.get("id", ""), **{**chosen, **own_laws})


def assert_law(result: LawResult, reward: str) -> None:
    """Fail the running test if the law is broken. Skip the test if the law does not apply or is unfinished."""
    __tracebackhide__ = True
    if result.outcome == "broken":
        pytest.fail(law_as_text(result, reward), pytrace=False)
    if result.outcome == "unfinished":
        pytest.skip(f"not done: {result.reason}")
    if result.outcome == "skipped":
        pytest.skip(result.reason)
