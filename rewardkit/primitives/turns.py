"""Turns and calls of a trajectory: how many, how they went, and whether it ended with an answer.

``rk.tool_errors(each=-0.1, free=1)`` gives -0.2 to a trajectory with three errors. Shares of calls are never a value:
nine trivial successes would hide a failure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rewardkit.core.batch.score import Score
from rewardkit.core.batch.text_calls import Form, check_form
from rewardkit.core.batch.trajectory import TextCallsOf, Trajectory
from rewardkit.core.errors import RewardDefinitionError, shorten, shorten_line
from rewardkit.core.progress.bounds import number
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward

_TRAJECTORY = Parameter("trajectory", "trajectory")


@dataclass(frozen=True)
class Between:
    """1.0 between two counts, falling to 0.0 over a margin outside them."""

    low: float
    high: float
    margin: float
    calls: bool
    tool: str | None = None

    @property
    def limits(self) -> tuple[str, ...]:
        return ("answers", "calls") if self.calls and self.high < math.inf else ("answers",)

    def __call__(self, trajectory: Trajectory) -> float | Score:
        if self.calls:
            count = sum(self.tool in (None, call.name) for call in trajectory.calls)
        else:
            count = len(trajectory.turns)
        outside = max(self.low - count, count - self.high)
        if outside <= 0:
            return 1.0
        credit = max(0.0, 1.0 - outside / self.margin) if self.margin else 0.0
        what = "turns" if not self.calls else f"calls of {self.tool}" if self.tool else "calls"
        return Score(credit, f"{count} {what}, expected {self.low:g} to {self.high:g}")


def turns_between(low: float, high: float, *, margin: float = 0.0) -> Reward:
    """Score 1.0 if the number of turns is between `low` and `high`; outside them 0.0, or less and less over a margin.

    ``rk.turns_between(1, 4)`` gives 1.0 to three assistant messages, and 0.0 to five.

    Args:
        low: the fewest turns that score 1.0, 0 or more.
        high: the most, `low` or more; ``math.inf`` for no limit.
        margin: the number of turns beyond `low` or `high` at which the score reaches 0.0.

    Raises:
        RewardDefinitionError: `low` above `high`, or a negative number.
    """
    return _between("turns_between", Between(*_limits("turns_between", low, high, margin), calls=False))


def calls_between(
    low: float, high: float, *, tool: str | None = None, margin: float = 0.0, form: Form = "auto"
) -> Reward:
    """Score 1.0 if the number of tool calls is between `low` and `high`; else 0.0, or less and less over a margin.

    ``rk.calls_between(0, 3, margin=2)`` gives 0.5 to four calls. Every call counts, also one that failed.

    Args:
        low: the fewest calls that score 1.0, 0 or more.
        high: the most, `low` or more; ``math.inf`` for no limit.
        tool: counts the calls of this tool alone.
        margin: the number of calls beyond `low` or `high` at which the score reaches 0.0.
        form: where calls are read, as in `tool_calls`: ``"auto"``, ``"messages"``, or a form such as ``"hermes"``.

    Raises:
        RewardDefinitionError: `low` above `high`, a negative number, `tool` is not a name, or an unknown form.
    """
    if tool is not None and (not isinstance(tool, str) or not tool):
        raise RewardDefinitionError(f"calls_between: tool must be the name of a tool, got {shorten(tool)}")
    between = Between(*_limits("calls_between", low, high, margin), calls=True, tool=tool)
    return _between("calls_between", between, form)


def _limits(name: str, low: float, high: float, margin: float) -> tuple[float, float, float]:
    top = math.inf if high == math.inf else number(high, f"{name}: high")
    bottom, slope = number(low, f"{name}: low"), number(margin, f"{name}: margin")
    if not 0.0 <= bottom <= top:
        raise RewardDefinitionError(
            f"{name}: low and high must satisfy 0 <= low <= high, got low {bottom:g} and high {top:g}"
        )
    if slope < 0.0:
        raise RewardDefinitionError(f"{name}: margin must be a distance of 0 or more, got {slope:g}")
    return bottom, top, slope


def _between(name: str, function: Between, form: Form = "messages") -> Reward:
    shown = expression(
        name,
        _short(function.low),
        _short(function.high),
        tool=(function.tool, None),
        margin=(_short(function.margin), 0),
        **({"form": (form, "auto")} if function.calls else {}),
    )
    return primitive(function, name, shown, _calls_in(form, name) if function.calls else _TRAJECTORY)


def _calls_in(form: Form, name: str) -> Parameter:
    """Return the argument that gets a trajectory with its calls in messages, or in text of a form."""
    check_form(form, name)
    return Parameter("trajectory", "trajectory", view=TextCallsOf(form))


def _short(value: float) -> float:
    return int(value) if value.is_integer() else value


@dataclass(frozen=True)
class ToolSuccess:
    """Check that each of some tools has answered at least once without an error."""

    tools: tuple[str, ...]
    partial: bool

    def __call__(self, trajectory: Trajectory) -> float | Score:
        worked = {call.name for call in trajectory.calls if call.ok}
        missing = [tool for tool in self.tools if tool not in worked]
        if not missing:
            return 1.0
        credit = 1.0 - len(missing) / len(self.tools) if self.partial else 0.0
        return Score(credit, f"no successful call of {', '.join(missing)}")


def tool_success(*tools: str, partial: bool = False) -> Reward:
    """Score 1.0 if each named tool has answered at least once without an error; else 0.0, or their share.

    ``rk.tool_success("book", "pay")`` gives 1.0 to a trajectory in which a call of ``book`` and a call of ``pay``
    worked, however many others failed.

    Args:
        tools: the names of one or more tools. The denominator is fixed, so no call can dilute a failure.
        partial: give the share of the tools that worked.

    Raises:
        RewardDefinitionError: no names.
    """
    if not tools or not all(isinstance(tool, str) and tool for tool in tools):
        raise RewardDefinitionError(
            f"tool_success: pass the name of at least one tool, rk.tool_success('book'), got {shorten(tools)}. The "
            "share of all calls that worked is no reward: trivial calls would hide a failure"
        )
    if type(partial) is not bool:
        raise RewardDefinitionError(f"tool_success: partial must be True or False, got {shorten(partial)}")
    names = tuple(dict.fromkeys(tools))
    shown = expression("tool_success", *names, partial=(partial, False))
    return primitive(ToolSuccess(names, partial), "tool_success", shown, _TRAJECTORY)


@dataclass(frozen=True)
class ToolErrors:
    """A penalty for each error beyond some."""

    each: float
    most: float
    free: int

    def __call__(self, trajectory: Trajectory) -> float | Score:
        errors = trajectory.errors
        if errors <= self.free:
            return 0.0
        first = next(call for call in trajectory.calls if call.fault or call.ok is False)
        why = first.fault or (first.result.error if first.result else "") or ""
        return Score(
            max(self.most, self.each * (errors - self.free)),
            f"{errors} errors, first {shorten_line(str(first), 160)}: {shorten(why)}",
        )


def tool_errors(*, each: float = -0.1, most: float = -0.5, free: int = 0, form: Form = "auto") -> Reward:
    """Penalize errors of tool calls, from 0.0 down to `most`. Add it.

    ``rk.tool_errors(each=-0.1, free=1)`` gives 0.0 to one error, and -0.2 to three.

    An error is a result that is one, or a call that is not well formed. A call without a result is not an error. If the
    environment itself broke, the row has failed and nothing is counted.

    Args:
        each: the penalty for one error, below 0.
        most: the largest penalty, `each` or lower.
        free: so many errors cost nothing.
        form: where calls are read, as in `tool_calls`: ``"auto"``, ``"messages"``, or a form such as ``"hermes"``.

    Raises:
        RewardDefinitionError: a penalty that is not below 0, `most` above `each`, or an unknown form.
    """
    one, worst = number(each, "tool_errors: each"), number(most, "tool_errors: most")
    if not worst <= one < 0.0:
        raise RewardDefinitionError(
            f"tool_errors: each and most must satisfy most <= each < 0, got each {one:g} and most {worst:g}"
        )
    if type(free) is not int or free < 0:
        raise RewardDefinitionError(f"tool_errors: free must be a number of errors, 0 or more, got {shorten(free)}")
    reads = _calls_in(form, "tool_errors")
    shown = expression("tool_errors", each=(one, -0.1), most=(worst, -0.5), free=(free, 0), form=(form, "auto"))
    return primitive(ToolErrors(one, worst, free), "tool_errors", shown, reads, bounds=(worst, 0.0))


@dataclass(frozen=True)
class Finished:
    """Check that the trajectory stopped by answering."""

    reads_cut = True
    """It must know which completions ran into the token limit."""

    def __call__(self, trajectory: Trajectory) -> float | Score:
        if trajectory.finished:
            return 1.0
        why = {
            "cut": "it ran into the token limit",
            "pending": "its last calls got no result",
            "silent": "no answer after the last result" if trajectory.turns else "no turn",
        }
        return Score(0.0, why.get(trajectory.stop, ""))


def finished() -> Reward:
    """Score 1.0 if the trajectory stopped by answering, else 0.0: the condition of a gate.

    ``rk.gate(rk.finished(), rk.exact("answer"))`` pays an answer only in a last turn that calls no tool and was not
    cut at the token limit.
    """
    return primitive(Finished(), "finished", "finished()", _TRAJECTORY)
