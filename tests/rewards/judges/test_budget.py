"""The options of a budget; test_spending.py tests what is spent of it."""

from __future__ import annotations

from typing import Any

import pytest

import rewardkit as rk
from rewardkit.rewards.judges.budget import Budget

apsw = pytest.importorskip("apsw")
PRICES = {"small": (0.25, 2.0), "large": (2.5, 10.0)}


def test_the_order_of_prices_does_not_count() -> None:
    assert Budget(money=1, prices=PRICES).prices == Budget(money=1, prices=dict(reversed(PRICES.items()))).prices


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "has no limit"),
        ({"calls": 0}, "calls must be"),
        ({"calls": True}, "calls"),
        ({"money": float("nan")}, "money"),
        ({"money": 1.0}, "needs prices"),
        ({"money": 1.0, "prices": {"m": 1.0}}, "per million"),
        ({"money": 1.0, "prices": {"m": (1.0, 2.0, 3.0)}}, "per million"),
        ({"money": 1.0, "prices": {"m": (-1.0, 2.0)}}, "per million"),
        ({"calls": 1, "on_exhausted": "give up"}, "fall_back"),
        ({"calls": 1, "warn_at": 80}, "warn_at"),
        ({"calls": 1, "store": ""}, "store"),
    ],
    ids=str,
)
def test_invalid_budgets(options: dict[str, Any], said: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=said):
        Budget(**options)


def test_money_needs_the_price_of_the_model_that_judges() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="Did you mean 'small'"):
        Budget(money=1.0, prices=PRICES).check("smal")
    Budget(money=1.0, prices=PRICES).check("small")
    Budget(calls=1).check("anything")
