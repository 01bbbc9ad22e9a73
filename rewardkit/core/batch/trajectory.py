"""Trajectory: everything between the prompt and the end of a rollout, as turns, tool calls and results.

``Trajectory.of(messages)`` reads the messages of one completion. A function gets one if an argument is annotated
``rk.Trajectory``, or named ``trajectory``::

    @rk.reward
    def careful(trajectory: rk.Trajectory, city: str) -> float:
        \"\"\"Score 1.0 if the weather of the right city was asked for, and a result came back without an error.\"\"\"
        return float(any(call.name == "weather" and call.has(city=city) and call.ok for call in trajectory.calls))
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

from rewardkit.core.batch.call_arguments import Arguments as Arguments, json_key as json_key
from rewardkit.core.text.thinking import visible_text

Stop = Literal["answered", "cut", "pending", "silent"]
"""Why a trajectory ended.

``"answered"``: the last turn calls no tool; ``"cut"``: it ran into the token limit; ``"pending"``: its calls got no
result; ``"silent"``: a result came and no turn followed, or there was no turn at all.
"""

Source = Literal["recorded", "id", "name", "order", "guessed"]
"""How a result was matched to its call: by a recorded environment, by its id, by a name that occurs once in the turn,
as the only result of the only call, or by its position, which may be wrong."""

IsError = Callable[[str], "bool | str | None"]
"""Tells whether the text of a tool's result is an error: True, or what it says."""


@final
@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call.

    Attributes:
        text: the text that the tool returned.
        name: the name of the tool, empty if the message does not say it.
        error: what the tool's error says; None if it is not an error.
        source: how the result was matched to its call.
    """

    text: str
    name: str = ""
    error: str | None = None
    source: Source = "guessed"


@final
@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool: ``call.name``, ``call.arguments``, ``call.result``.

    Attributes:
        name: the name of the tool, empty if the call has none.
        arguments: the arguments as a read-only mapping; None if they are not a JSON object.
        fault: why there are no arguments or no name; empty if the call is well formed.
        turn: the number of its turn, from 0.
        place: its place among the calls of that turn, from 0.
        result: the result; None if none came.
        ran: whether the tool ran; None if nothing tells (a dropped result looks like a call that never ran).
    """

    name: str
    arguments: Arguments | None
    fault: str = ""
    turn: int = 0
    place: int = 0
    result: ToolResult | None = None
    ran: bool | None = None

    @property
    def ok(self) -> bool | None:
        """Whether the result is not an error; None without a result."""
        return None if self.result is None else self.result.error is None

    def has(self, **arguments: Any) -> bool:
        """Return whether the call has all of these arguments, with equal JSON values.

        ``call.has(city="Rome", days=2)`` is True for ``{"city": "Rome", "days": 2.0, "units": "C"}``.
        """
        if self.arguments is None:
            return False
        held = self.arguments.keys_by_name
        return all(held.get(name) == json_key(value) for name, value in arguments.items())

    def __str__(self) -> str:
        if self.arguments is None:
            return f"{self.name or '?'}({self.fault})"
        given = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.arguments.items())
        return f"{self.name}({', '.join(given)})"


@final
@dataclass(frozen=True, slots=True)
class Turn:
    """One assistant message, and everything that came back before the next one.

    Attributes:
        text: the text of the message, as `completion` has it.
        calls: its tool calls.
        results: the results that came back, in the order in which they came.
        heard: what a user or the environment said, one text per message.
        reasoning: the thinking that the message holds apart from its text (``reasoning_content``).
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    heard: tuple[str, ...] = ()
    reasoning: str = ""

    @property
    def visible(self) -> str:
        """The text without thinking."""
        return visible_text(self.text)

    @property
    def thinking(self) -> str:
        """The thinking: what the message holds apart, else what is before the visible text."""
        if self.reasoning:
            return self.reasoning
        visible = self.visible
        return self.text.removesuffix(visible) if visible != self.text else ""


@final
@dataclass(frozen=True, slots=True)
class Trajectory:
    """Everything between the prompt and the end of a rollout: its turns, and why it stopped.

    ::

        trajectory = rk.Trajectory.of(
            [
                {"role": "assistant", "tool_calls": [{"function": {"name": "open", "arguments": {"color": "red"}}}]},
                {"role": "tool", "name": "open", "content": "18"},
                {"role": "assistant", "content": "It is 18."},
            ]
        )
        trajectory.calls[0].has(color="red")  # True
        trajectory.stop, trajectory.answer    # ("answered", "It is 18.")

    Attributes:
        turns: one for each assistant message.
        stop: why it ended: ``"answered"``, ``"cut"``, ``"pending"`` or ``"silent"``.
        opening: what was said before the first turn, one text per message; usually nothing.
    """

    turns: tuple[Turn, ...]
    stop: Stop = "silent"
    opening: tuple[str, ...] = ()

    @classmethod
    def of(cls, completion: Any, *, cut: bool = False, is_error: IsError | None = None) -> Trajectory:
        """Read a completion: text, or chat messages in any of the shapes that trainers and providers use.

        Args:
            completion: text (one turn), or a list of messages. Unknown shapes are read as far as they go.
            cut: the completion ran into the token limit.
            is_error: tells whether the text of a result is an error: returns True, or what the error says. Without it,
                a result is an error if it is an object with the one key ``error``, as TRL writes it.
        """
        from rewardkit.core.batch.transcripts import read

        return read(completion, cut=cut, is_error=is_error)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All calls, in the order in which they were made."""
        return tuple(call for turn in self.turns for call in turn.calls)

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """All results, in the order in which they came."""
        return tuple(result for turn in self.turns for result in turn.results)

    @property
    def errors(self) -> int:
        """The number of faults of the policy: results with an error, and calls that are not well formed."""
        return sum(bool(call.fault) or call.ok is False for call in self.calls)

    @property
    def finished(self) -> bool:
        """Whether it stopped by answering."""
        return self.stop == "answered"

    @property
    def answer(self) -> str:
        """The visible text of the last turn if the trajectory is finished, else empty."""
        return self.turns[-1].visible if self.finished and self.turns else ""

    @property
    def rounds(self) -> tuple[tuple[Turn, ...], ...]:
        """The turns between one message of the user and the next."""
        rounds: list[list[Turn]] = [[]]
        for turn in self.turns:
            rounds[-1].append(turn)
            if turn.heard:
                rounds.append([])
        return tuple(tuple(turns) for turns in rounds if turns)

    def upto(self, turns: int) -> Trajectory:
        """Return the trajectory as it stood after so many turns."""
        if turns >= len(self.turns):
            return self
        last = self.turns[:turns]
        calls = last[-1].calls if last else ()
        stop: Stop = "silent" if not last or calls else "answered"
        return Trajectory(last, stop, self.opening)
