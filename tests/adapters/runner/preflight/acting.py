"""Environments and rewards for the tests of the preflight."""

from __future__ import annotations

from typing import Any

import rewardkit as rk


class Shop:
    """Sells one thing."""

    def reset(self, answer: str, **row: Any) -> None:
        self.price = answer

    def look(self, thing: str) -> str:
        """Say what a thing costs.

        Args:
            thing: its name.
        """
        return self.price

    @staticmethod
    def add(first: int, second: int) -> int:
        """Add two numbers.

        Args:
            first: a number.
            second: another one.
        """
        return first + second


class Narrow(Shop):
    """Takes one column alone."""

    def reset(self, answer: str) -> None:  # type: ignore[override]
        self.price = answer


class Silent(Shop):
    """Has a tool that nothing is known of."""

    def buy(self, thing):  # type: ignore[no-untyped-def]
        return thing


class Toolless:
    """Has no tool."""

    def reset(self, **row: Any) -> None: ...


PRICE = 3
SHOPS = {"small": Shop, "large": Narrow}


def made() -> Shop:
    raise AssertionError("the preflight makes no environment")


def paid(environment: Shop) -> bool:
    return environment.price == "1"


reward = rk.exact("answer")
state = reward + rk.agents.final_state(paid)
