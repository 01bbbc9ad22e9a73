"""Episodes: play an environment with drawn calls, and get the messages and the environment as they are afterwards.

``episodes(Shop)`` draws calls of the tools of ``Shop``; ``episodes(Shop, st.just([("buy", {"item": "tea"})]))`` plays
one policy. Score them with ``rk.score(reward, [episode.messages], environments=[episode.environment])``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.testing.episodes.messages import Made, calling
from rewardkit.testing.episodes.stage import stage_of
from rewardkit.testing.strategies.texts import bodies
from rewardkit.testing.strategies.trajectories import Tool, tool_of


class Episode(NamedTuple):
    """One episode: its messages with the real results, and the environment after it, which recorded the calls."""

    messages: list[dict[str, Any]]
    environment: Any


Policy = Sequence[Made | Sequence[Made]]
"""The calls of an episode: for each turn one call, (name, arguments), or a list of parallel calls."""


def episodes(
    environment: Callable[[], Any],
    policies: SearchStrategy[Policy] | None = None,
    *,
    row: Mapping[str, Any] | None = None,
    turns: tuple[int, int] = (0, 4),
) -> SearchStrategy[Episode]:
    """Draw episodes: an environment is made, reset, and its tools are called as TRL calls them.

    Args:
        environment: the class of the environment, or a function that makes one.
        policies: draws the calls of an episode; by default calls with arguments that fit the type hints of the tools.
        row: what ``reset`` gets.
        turns: the fewest and the most turns with calls, if they are drawn.

    Raises:
        RewardDefinitionError: `environment` cannot be made or has no tool, or a policy makes calls of another form.
    """
    stage = stage_of(environment, ())
    if policies is None:
        policies = _policies([tool_of(tool) for tool in stage.functions(stage.make(row or {})).values()], turns)

    def played(policy: Policy, answer: str) -> Episode:
        asked = [calling(*_together(turn)) for turn in policy]
        return Episode(*stage.played([*asked, {"role": "assistant", "content": answer}], row or {}))

    return st.builds(played, policies, bodies())


def _together(turn: Any) -> list[Made]:
    calls = [turn] if isinstance(turn, tuple) and len(turn) == 2 and isinstance(turn[0], str) else list(turn)
    for call in calls:
        if not (isinstance(call, (tuple, list)) and len(call) == 2 and isinstance(call[1], Mapping)):
            raise RewardDefinitionError(
                f'episodes: a policy is a list of calls such as ("buy", {{"item": "tea"}}), got {shorten(call)}'
            )
    return [(name, arguments) for name, arguments in calls]


@st.composite
def _policies(draw: DrawFn, tools: Sequence[Tool], turns: tuple[int, int]) -> list[list[Made]]:
    least, most = turns
    if not tools:
        raise RewardDefinitionError("episodes: the environment has no tool. Add a public method with type hints")

    def one() -> Made:
        tool = draw(st.sampled_from(tools))
        return tool.name, draw(tool.arguments)

    return [[one() for _ in range(draw(st.integers(1, 3)))] for _ in range(draw(st.integers(least, most)))]
