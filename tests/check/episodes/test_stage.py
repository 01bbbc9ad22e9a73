"""Stages: the calls of a completion run as a trainer runs them."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, Literal

import pytest

import rewardkit as rk
from rewardkit.check.variants.episodes.messages import calling
from rewardkit.check.variants.episodes.stage import Stage, least_arguments, stage_of
from rewardkit.testing import play


class Drawers:
    """Drawers with numbers in them."""

    def reset(self, numbers: dict[str, str] | None = None, **row: Any) -> None:
        self.numbers = numbers or {"red": "18"}
        self.opened: list[str] = []

    def open(self, color: str) -> str:
        """Open a drawer."""
        self.opened.append(color)
        return self.numbers[color]

    async def wait(self, seconds: float = 0.0) -> str:
        """Wait."""
        await asyncio.sleep(seconds)
        return "waited"


def asked(*calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [calling(*calls), {"role": "assistant", "content": "done"}]


def test_real_results_take_the_place_of_given_ones() -> None:
    given = [*asked(("open", {"color": "red"}))]
    given.insert(1, {"role": "tool", "name": "open", "content": "a lie"})
    messages, environment = play(Drawers, given, {"numbers": {"red": "7"}})
    assert [one.text for one in rk.Trajectory.of(messages).results] == ["7"]
    assert environment.opened == ["red"]


def test_synchronous_tools_run_first_as_in_trl() -> None:
    messages, _ = play(Drawers, asked(("wait", {}), ("open", {"color": "red"})))
    assert [message["name"] for message in messages if message["role"] == "tool"] == ["open", "wait"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("open", {"color": "blue"}), "{'error': \"'blue'\"}"),
        (("sing", {}), "{'error': 'Tool sing not found.'}"),
        (("open", {"colour": "red"}), "unexpected keyword"),
    ],
)
def test_errors_are_written_as_trl_writes_them(call: tuple[str, dict[str, Any]], said: str) -> None:
    messages, _ = play(Drawers, asked(call))
    assert said in messages[1]["content"]
    assert rk.Trajectory.of(messages).calls[0].ok is False


def test_every_episode_has_an_environment_of_its_own() -> None:
    first, second = (play(Drawers, asked(("open", {"color": "red"})))[1] for _ in range(2))
    assert first is not second
    assert (first.opened, second.opened) == (["red"], ["red"])


def test_texts_are_played_too() -> None:
    messages, environment = play(Drawers, "just words")
    assert messages == "just words"
    assert environment.opened == []


def test_tools_without_an_environment() -> None:
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    stage = Stage(tools=(add,))
    messages, environment = stage.played(asked(("add", {"a": 1, "b": 2})), {})
    assert (messages[1]["content"], environment, stage.name) == ("3", None, "")


def test_least_arguments_of_every_type() -> None:
    def tool(
        text: str, number: int, share: float, flag: bool, items: list[str], options: dict[str, int],
        choice: Literal["a", "b"], later: str = "x", **more: Any,
    ) -> None:  # fmt: skip
        """Do it."""

    signature = inspect.signature(tool, eval_str=True)
    expected = {"text": "", "number": 0, "share": 0.0, "flag": False, "items": [], "options": {}, "choice": "a"}
    assert least_arguments(signature) == expected


def test_what_cannot_be_played_is_refused() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="needs a method reset"):
        stage_of(int, ())
    with pytest.raises(rk.RewardDefinitionError, match="tools= must contain functions"):
        stage_of(None, ["open"])
