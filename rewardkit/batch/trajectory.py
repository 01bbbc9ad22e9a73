"""Trajectory: everything between the prompt and the end of a rollout, as turns, tool calls, and results.

``Trajectory.of(messages)`` reads the messages in one completion. A function gets a Trajectory if one of its arguments
is annotated ``rk.Trajectory`` or named ``trajectory``::

    @rk.reward
    def careful(trajectory: rk.Trajectory, city: str) -> float:
        \"\"\"Score 1.0 if the policy asked for the weather of the right city and got a result without an error.\"\"\"
        return float(any(call.name == "weather" and call.has(city=city) and call.ok for call in trajectory.calls))
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, final

from rewardkit.batch.call_arguments import Arguments as Arguments, json_key as json_key
from rewardkit.text.thinking import visible_text

if TYPE_CHECKING:
    from rewardkit.batch.text_calls import Form, TextCall

Stop = Literal["answered", "cut", "pending", "silent"]
"""The reason why a trajectory ended.

``"answered"``: the last turn does not call a tool. ``"cut"``: the last turn reached the token limit. ``"pending"``: the
last turn's calls did not get a result. ``"silent"``: no turn followed the last result, or there were no turns.
"""

Source = Literal["recorded", "id", "name", "order", "guessed"]
"""The method with which a result was matched to its call: by the recorded environment, by its id, by a name that occurs
once in the turn, as the only result for the only call, or by its position, which may be incorrect."""

IsError = Callable[[str], "bool | str | None"]
"""A function that returns True or an error message if a tool result's text is an error."""


@final
@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call.

    Attributes:
        text: the text that the tool returned.
        name: the tool's name, or an empty string if the message does not include it.
        error: the error message, or None if the result is not an error.
        source: the method with which the result was matched to its call.
    """

    text: str
    name: str = ""
    error: str | None = None
    source: Source = "guessed"


@final
@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call: ``call.name``, ``call.arguments``, ``call.result``.

    Attributes:
        name: the tool's name, or an empty string if the call does not have one.
        arguments: the arguments as a read-only mapping, or None if they are not a JSON object.
        fault: the reason why the arguments or the name are missing, or an empty string if the call is well formed.
        turn: the index of the call's turn, starting at 0.
        place: the call's position in its turn, starting at 0.
        result: the call's result, or None if there is no result.
        ran: whether the tool ran, or None if unknown (a dropped result looks like a call that never ran).
        form: for a call that was parsed from text, its notation, such as ``"hermes"``. It is empty for a call in a
            message field.
    """

    name: str
    arguments: Arguments | None
    fault: str = ""
    turn: int = 0
    place: int = 0
    result: ToolResult | None = None
    ran: bool | None = None
    form: str = ""

    @property
    def ok(self) -> bool | None:
        """Whether the result is not an error, or None if there is no result."""
        return None if self.result is None else self.result.error is None

    def has(self, **arguments: Any) -> bool:
        """Return whether the call has all of these arguments, with equal JSON values.

        ``call.has(city="Rome", days=2)`` is True for ``{"city": "Rome", "days": 2.0, "units": "C"}``.
        """
        call_arguments = self.arguments
        return call_arguments is not None and all(
            name in call_arguments and json_key(value) in map(json_key, call_arguments.readings(name))
            for name, value in arguments.items()
        )

    def __str__(self) -> str:
        if self.arguments is None:
            return f"{self.name or '?'}({self.fault})"
        arguments = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.arguments.items())
        return f"{self.name}({', '.join(arguments)})"


@final
@dataclass(frozen=True, slots=True)
class Turn:
    """One assistant message and everything that was returned before the next assistant message.

    Attributes:
        text: the message text, in the same form as the `completion` argument.
        calls: the tool calls in the message.
        results: the results, in the order in which they were returned.
        heard: the messages from a user or the environment, one string per message.
        reasoning: the thinking that the message stores separately from the text (``reasoning_content``).
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
        """The thinking: the message's thinking field if there is one; otherwise, the text before the visible text."""
        if self.reasoning:
            return self.reasoning
        visible = self.visible
        return self.text.removesuffix(visible) if visible != self.text else ""


@final
@dataclass(frozen=True, slots=True)
class Trajectory:
    """Everything between the prompt and the end of a rollout: the turns, and the reason why the rollout ended.

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
        turns: one turn for each assistant message.
        stop: the reason why the rollout ended: ``"answered"``, ``"cut"``, ``"pending"``, or ``"silent"``.
        opening: the messages before the first turn, one string per message; usually empty.
        runs_calls: whether the trainer is known to parse and run the policy's calls. If so, calls that remain in the
            text do not count.
    """

    turns: tuple[Turn, ...]
    stop: Stop = "silent"
    opening: tuple[str, ...] = ()
    runs_calls: bool = False

    @classmethod
    def of(cls, completion: Any, *, cut: bool = False, is_error: IsError | None = None) -> Trajectory:
        """Read a completion, which is text or chat messages in any form that trainers and providers use.

        Args:
            completion: text (one turn) or a list of messages. Parts in an unknown form are ignored.
            cut: whether the completion reached the token limit.
            is_error: a function that accepts a tool result's text and, if the result is an error, returns True or the
                error message. By default, a result is an error if it is an object whose only key is ``error``, which is
                TRL's format.
        """
        from rewardkit.batch.transcripts import read

        return read(completion, cut=cut, is_error=is_error)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All calls, in the order in which they were made."""
        return tuple(call for turn in self.turns for call in turn.calls)

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """All results, in the order in which they were returned."""
        return tuple(result for turn in self.turns for result in turn.results)

    @property
    def calls_are_run(self) -> bool:
        """Whether only calls in message fields count, because the trainer runs them or a message contains one."""
        return self.runs_calls or any(not call.form for call in self.calls)

    @property
    def errors(self) -> int:
        """The number of errors that the policy caused: error results and malformed calls."""
        return sum(bool(call.fault) or call.ok is False for call in self.calls)

    @property
    def finished(self) -> bool:
        """Whether the rollout ended with an answer."""
        return self.stop == "answered"

    @property
    def answer(self) -> str:
        """The visible text of the last turn if the trajectory is finished; otherwise, an empty string."""
        return self.turns[-1].visible if self.finished and self.turns else ""

    @property
    def rounds(self) -> tuple[tuple[Turn, ...], ...]:
        """The turns, grouped by the user message that they follow."""
        rounds: list[list[Turn]] = [[]]
        for turn in self.turns:
            rounds[-1].append(turn)
            if turn.heard:
                rounds.append([])
        return tuple(tuple(turns) for turns in rounds if turns)

    def with_text_calls(self, form: Form = "auto") -> Trajectory:
        """Return the trajectory with the calls that the policy wrote as text, unless a message field contains a call.

        ``rk.Trajectory.of('<tool_call>{"name": "look"}</tool_call>').with_text_calls().calls`` has one call. The turn
        keeps the text, and the trajectory's `stop` is ``"pending"``.

        Args:
            form: ``"auto"`` reads every form, but reads no calls if the trainer is known to run calls. ``"messages"``
                reads no calls from text. With a specific form, such as ``"hermes"``, a call in another form has a
                fault. docs/agents.md lists all forms.
        """
        if form == "messages" or self.calls or (form == "auto" and self.runs_calls):
            return self
        from rewardkit.batch.text_calls import read_text_calls  # large, and few rewards need it

        turns = []
        for number, turn in enumerate(self.turns):
            parsed_calls = read_text_calls(turn.text).calls
            calls = [_text_call(call, number, index, form) for index, call in enumerate(parsed_calls)]
            turns.append(replace(turn, calls=tuple(calls)) if calls else turn)
        if not any(turn.calls for turn in turns):
            return self
        stop: Stop = "pending" if turns[-1].calls and self.stop in ("answered", "cut") else self.stop
        return replace(self, turns=tuple(turns), stop=stop)

    def upto(self, turns: int) -> Trajectory:
        """Return the trajectory's first `turns` turns."""
        if turns >= len(self.turns):
            return self
        last = self.turns[:turns]
        calls = last[-1].calls if last else ()
        stop: Stop = "silent" if not last or calls else "answered"
        return Trajectory(last, stop, self.opening, self.runs_calls)


@final
@dataclass(frozen=True)
class TextCallsOf:
    """A view of a trajectory that includes the calls that were written as text, in one form or in any form."""

    form: Form

    def __call__(self, trajectory: Trajectory) -> Trajectory:
        return trajectory.with_text_calls(self.form)


_ALSO = {"llama": "json", "mistral": "json"}
"""Form -> the form that remains after a trainer removes special tokens: ``<|python_tag|>``, ``[TOOL_CALLS]``."""


def _text_call(call: TextCall, turn: int, index: int, form: Form) -> ToolCall:
    if form == "auto" or call.form in (form, _ALSO.get(form)):
        return ToolCall(call.name, call.arguments, call.fault, turn, index, form=call.form)
    fault = call.fault or f"written in the form {call.form!r}, not {form!r}"
    return ToolCall(call.name, None, fault, turn, index, form=call.form)
