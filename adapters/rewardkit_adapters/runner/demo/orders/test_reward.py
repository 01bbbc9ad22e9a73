"""Tests for the reward: only correct answers score above 0. Run them with `pytest`."""

from collections.abc import Callable

import pytest
from reward import BAD, EXAMPLES, GOOD, reward

import rewardkit as rk

ORDER = '{"name":"Mia","qty":31,"item":"toy","color":"red"}'


@pytest.mark.parametrize(
    ("completion", "total"),
    [
        (ORDER, 1.0),
        ('{"name":"Mia","qty":30,"item":"toy","color":"red"}', 0.5),  # three of four fields: 0.2 + 0.4 * 3/4
        ("Sure, here it is: " + ORDER, 0.0),
    ],
)
def test_total(completion: str, total: float) -> None:
    # Outside a training run, schedules have their final value.
    assert rk.score(reward, [completion], order=[ORDER]).total[0] == pytest.approx(total)


def test_laws(check_reward: Callable[..., object]) -> None:  # check_reward is a fixture that comes with rewardkit
    check_reward(reward, examples=EXAMPLES, good=GOOD, bad=BAD)
