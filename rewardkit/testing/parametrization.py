"""parametrize_with_laws: one test per law, for any number of rewards.

::

    from rewardkit.testing import parametrize_with_laws

    @parametrize_with_laws([reward], examples=[{"answer": "42"}], good=["It is 42"], bad=["It is 41"])
    def test_reward(reward, law):
        law(reward)

gives ``test_reward[number('answer')-total]`` and so on, as scikit-learn's ``parametrize_with_checks`` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.testing.bound_reward import BoundReward, bound
from rewardkit.testing.findings import LawResult
from rewardkit.testing.laws import Law
from rewardkit.testing.reports import law_as_text


@dataclass(frozen=True, eq=False)
class LawCheck:
    """One law and the examples to hold a reward to it on: called with the reward, it passes, fails or skips."""

    law: str
    bound: BoundReward

    def __call__(self, reward: Any) -> None:
        """Fails the test with the counterexample if `reward` breaks the law, skips it if the law does not apply.

        Any reward can be held to it: what a test makes of the one it is given is checked on the same examples.
        """
        __tracebackhide__ = True
        checked = self.bound if reward is self.bound.reward else self.bound.of(reward)
        settle(checked.result(self.law), checked.name)

    def want(self) -> None:
        """Says that this law will be asked for, so that it runs together with the others."""
        self.bound.wanted.add(self.law)

    def __repr__(self) -> str:
        return self.law


def parametrize_with_laws(
    rewards: Iterable[Any],
    *,
    examples: Iterable[Mapping[str, Any]] = (),
    good: Any = (),
    bad: Any = (),
    laws: Iterable[Law | str] | None = None,
    without: Iterable[Law | str] = (),
    exploits: bool = True,
    **options: Any,
) -> pytest.MarkDecorator:
    """A decorator that runs a test ``def test_reward(reward, law)`` for each reward and law.

    Args:
        rewards: rewards and trainer's reward functions. A mapping binds a reward to examples of its own:
            ``{"reward": closeness, "examples": [...], "good": [...]}``, over what is said for all; ``"id"`` names it.
        examples: rows with the columns that the rewards read; by default one row without columns.
        good: right completions, as `check_reward` takes them, `bad` wrong ones.
        laws: laws or their names; all of them by default, the exploits among them.
        without: laws that the rewards are not held to. Say why in a comment.
        exploits: False leaves out the exploits and the search for them.
        options: what else `check_reward` takes: ``seed=``, ``budget=``, ``chains=``, ``indifferent=``, ...

    Raises:
        RewardDefinitionError: no rewards, an unknown law or option.
    """
    if isinstance(rewards, (str, Mapping)) or not isinstance(rewards, Iterable):
        raise RewardDefinitionError(f"parametrize_with_laws takes a list of rewards, got {shorten(rewards)}")
    shared = {"examples": list(examples) or [{}], "good": good, "bad": bad, **options}
    chosen: dict[str, Any] = {"laws": laws, "without": without, "exploits": exploits}
    chosen = {
        name: value if isinstance(value, (bool, str, type(None))) else list(value) for name, value in chosen.items()
    }
    items = [_bound(item, shared, chosen) for item in rewards]
    if not items:
        raise RewardDefinitionError("parametrize_with_laws needs at least one reward")
    return pytest.mark.parametrize(
        ("reward", "law"),
        [
            pytest.param(item.reward, check, id=f"{item.name}-{check}", marks=pytest.mark.rewardkit)
            for item in items
            for check in (LawCheck(law.name, item) for law in item.laws)
        ],
    )


def _bound(item: Any, shared: Mapping[str, Any], chosen: Mapping[str, Any]) -> BoundReward:
    if not isinstance(item, Mapping):
        return bound(item, shared, **chosen)
    if "reward" not in item:
        raise RewardDefinitionError(f'a mapping in parametrize_with_laws needs a "reward", got {shorten(item)}')
    own = {name: value for name, value in item.items() if name not in ("reward", "id", *chosen)}
    own_laws = {name: item[name] for name in chosen if name in item}
    return bound(item["reward"], {**shared, **own}, name=item.get("id", ""), **{**chosen, **own_laws})


def settle(result: LawResult, reward: str) -> None:
    """Fails the running test if the law is broken, skips it if the law does not apply or is unfinished."""
    __tracebackhide__ = True
    if result.outcome == "broken":
        pytest.fail(law_as_text(result, reward), pytrace=False)
    if result.outcome == "unfinished":
        pytest.skip(f"not done: {result.reason}")
    if result.outcome == "skipped":
        pytest.skip(result.reason)
