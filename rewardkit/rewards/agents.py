"""Rewards for agents: the turns and calls in a trajectory, claims in its answer, and the environment's final state.

``rk.agents.tool_errors(each=-0.1, free=1)`` gives -0.2 to a trajectory with three errors. No reward in this module
scores a fraction of all calls, because nine trivial successes would hide a failure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from rewardkit.batch.batch import Batch
from rewardkit.batch.journals import Watch, own_reward
from rewardkit.batch.score import Score
from rewardkit.batch.text_calls import Form, check_form
from rewardkit.batch.trajectory import (
    TextCallsOf,
    ToolCall as ToolCall,
    ToolResult as ToolResult,
    Trajectory,
    Turn as Turn,
)
from rewardkit.errors import BindingError, RewardDefinitionError, RewardTypeError, shorten, shorten_line
from rewardkit.progress.bounds import Bounds, number
from rewardkit.rewards.tool_calls import tool_calls as tool_calls
from rewardkit.text.claims import asked
from rewardkit.text.visibility import has_visible_character, unmasked
from rewardkit.tree.binding import Binding, name_of
from rewardkit.tree.decorator import checked_bounds, policy_number
from rewardkit.tree.leaf import Leaf, expression, primitive
from rewardkit.tree.parameters import ENVIRONMENT, Parameter, caller_locals, may_abstain, parameters_of
from rewardkit.tree.results import ON_ERROR_REMEDY, ReturnPolicy
from rewardkit.tree.reward import Reward, checked_name

__all__ = [
    "ToolCall",
    "ToolResult",
    "Turn",
    "calls_between",
    "environment_reward",
    "final_state",
    "finished",
    "no_claim_without_call",
    "tool_calls",
    "tool_errors",
    "tool_success",
    "turns_between",
]

_OUTAGES = (ConnectionError,)


def final_state(
    check: Callable[..., Any],
    *,
    name: str | None = None,
    bounds: Bounds = (0.0, 1.0),
    on_error: Literal["raise"] | float | None = None,
) -> Reward:
    """Score the environment's state after the rollout with your function.

    ``rk.agents.final_state(sold)`` calls ``sold(environment, item="tea")`` for each completion, where "item" is a
    dataset column.

    Args:
        check: accepts the environment as its first argument, followed by the same arguments as a function with
            ``@rk.reward``: columns by name and type, ``trajectory``, ``completion``. It returns a bool, a number, or an
            ``rk.Score``. If it is annotated ``-> float | None``, it can return None to abstain. It must not change the
            environment. It can be async. If it raises a ConnectionError, TimeoutError, or ``rk.RewardFailure``, the
            score could not be computed. Any other exception is a bug.
        name: the component's name, by default the function's name.
        bounds: the lowest and the highest score.
        on_error: the behavior if the function has a bug, as in ``@rk.reward``.

    Raises:
        RewardTypeError: `check` is not a function.
        RewardDefinitionError: `check` has no argument for the environment, or its other arguments are invalid.
        BindingError: while scoring: there are no environments. Train with
            ``environment_factory=funcs.environments(Shop)``. Asynchronous GRPO does not pass environments to rewards.
    """
    if isinstance(check, (Reward, type)) or not callable(check):
        raise RewardTypeError(
            f"agents.final_state expects a function of the environment, got {shorten(check)} ({type(check).__name__})"
        )
    function_name = name_of(check)
    label = checked_name(name if name is not None else "final_state" if function_name == "<lambda>" else function_name)
    names = caller_locals(1)
    parameters = parameters_of(check, "sample", label, names, first=ENVIRONMENT)
    if not parameters or parameters[0].keyword_only:
        raise RewardDefinitionError(
            f"agents.final_state: {label!r} has no argument for the environment. Write it as "
            f"{function_name}(environment, ...)"
        )
    binding = Binding(check, parameters, deterministic=False)
    contract = ReturnPolicy(
        label,
        checked_bounds(label, bounds),
        may_abstain(check, label, "sample", names),
        on_error=on_error if on_error in (None, "raise") else policy_number(label, "on_error", on_error),
        remedy=ON_ERROR_REMEDY,
        outages=_OUTAGES,
    )
    return Leaf(binding, contract)


@dataclass(frozen=True)
class EnvironmentReward:
    """A reward function that calls each environment's ``get_reward``."""

    def check(self, batch: Batch, name: str) -> None:
        """Raise a BindingError if no environment has ``get_reward``."""
        environments = batch.rollouts.environments or []
        if environments and not any(map(_may_pay, environments)):
            raise BindingError(
                f"reward {name!r} uses the environments' own reward, but {type(environments[0]).__name__} has no "
                "method get_reward(). Add one, or remove rk.agents.environment_reward()"
            )

    def __call__(self, environment: Any) -> Any:
        return own_reward(environment)


def _may_pay(environment: Any) -> bool:
    """Return whether an environment, or another environment in the same mixed run, may have ``get_reward``."""
    kind = type(environment)
    watch = getattr(kind, "_rewardkit_watch", None)
    mixed = isinstance(watch, Watch) and watch.mixed
    return mixed or hasattr(kind, "get_reward") or hasattr(kind, "_rewardkit_reward")


def environment_reward(*, bounds: Bounds = (-math.inf, math.inf)) -> Reward:
    """Use the environment's own reward, the result of its ``get_reward()``, as a component.

    ``rk.gate(rk.agents.finished(), rk.agents.environment_reward(bounds=(0, 1)))`` uses that reward only for rollouts
    that end with an answer. With ``environment_factory=funcs.environments(Shop)``, TRL does not see ``get_reward``, so
    the reward is counted once. Without ``funcs.environments``, TRL also adds the reward to the sum, so it is counted
    twice.

    If the result is None, the component abstains. In a mixed run, it also abstains for environments without a reward.

    Args:
        bounds: the lowest and the highest value that ``get_reward`` returns. Gates, penalties, and normalization need
            finite bounds.

    Raises:
        RewardDefinitionError: the bounds are invalid.
        BindingError: while scoring: there are no environments, or none of them has ``get_reward``.
    """
    label = "environment_reward"
    binding = Binding(EnvironmentReward(), (Parameter("environment", ENVIRONMENT),), deterministic=False)
    limits = checked_bounds(label, bounds)
    call_text = f"agents.environment_reward({'' if limits == (-math.inf, math.inf) else f'bounds={limits!r}'})"
    remedy = "Fix the environment's get_reward(), or pass bounds= that contain all of its values"
    return Leaf(binding, ReturnPolicy(label, limits, may_abstain=True, remedy=remedy, outages=_OUTAGES), call_text)


_TRAJECTORY = Parameter("trajectory", "trajectory")


@dataclass(frozen=True)
class Between:
    """A score that is 1.0 between two counts and falls to 0.0 over a margin outside them."""

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
        unit = "turns" if not self.calls else f"calls of {self.tool}" if self.tool else "calls"
        return Score(credit, f"{count} {unit}, expected {self.low:g} to {self.high:g}")


def turns_between(low: float, high: float, *, margin: float = 0.0) -> Reward:
    """Score 1.0 if there are `low` to `high` turns. Outside this range, the score falls to 0.0 over `margin`.

    ``rk.agents.turns_between(1, 4)`` gives 1.0 to three assistant messages, and 0.0 to five.

    Args:
        low: the minimum number of turns that scores 1.0, at least 0.
        high: the maximum number of turns that scores 1.0, at least `low`. Pass ``math.inf`` for no limit.
        margin: the number of turns outside the range at which the score reaches 0.0. With 0, any count outside the
            range scores 0.0.

    Raises:
        RewardDefinitionError: `low` is above `high`, or a number is negative.
    """
    return _between("turns_between", Between(*_limits("turns_between", low, high, margin), calls=False))


def calls_between(
    low: float, high: float, *, tool: str | None = None, margin: float = 0.0, form: Form = "auto"
) -> Reward:
    """Score 1.0 if there are `low` to `high` tool calls. Outside this range, the score falls to 0.0 over `margin`.

    ``rk.agents.calls_between(0, 3, margin=2)`` gives 0.5 to four calls. Every call counts, even if it failed.

    Args:
        low: the minimum number of calls that scores 1.0, at least 0.
        high: the maximum number of calls that scores 1.0, at least `low`. Pass ``math.inf`` for no limit.
        tool: the tool whose calls are counted, or None for all tools.
        margin: the number of calls outside the range at which the score reaches 0.0. With 0, any count outside the
            range scores 0.0.
        form: the notation for calls, as in `tool_calls`: ``"auto"``, ``"messages"``, or a form such as ``"hermes"``.

    Raises:
        RewardDefinitionError: `low` is above `high`, a number is negative, `tool` is not a name, or the form is
            unknown.
    """
    if tool is not None and (not isinstance(tool, str) or not tool):
        raise RewardDefinitionError(f"agents.calls_between: tool must be the name of a tool, got {shorten(tool)}")
    between = Between(*_limits("calls_between", low, high, margin), calls=True, tool=tool)
    return _between("calls_between", between, form)


def _limits(name: str, low: float, high: float, margin: float) -> tuple[float, float, float]:
    top = math.inf if high == math.inf else number(high, f"agents.{name}: high")
    bottom, slope = number(low, f"agents.{name}: low"), number(margin, f"agents.{name}: margin")
    if not 0.0 <= bottom <= top:
        raise RewardDefinitionError(
            f"agents.{name}: low and high must satisfy 0 <= low <= high, got low {bottom:g} and high {top:g}"
        )
    if slope < 0.0:
        raise RewardDefinitionError(f"agents.{name}: margin must be a distance of 0 or more, got {slope:g}")
    return bottom, top, slope


def _between(name: str, function: Between, form: Form = "messages") -> Reward:
    call_text = expression(
        f"agents.{name}",
        _short(function.low),
        _short(function.high),
        tool=(function.tool, None),
        margin=(_short(function.margin), 0),
        **({"form": (form, "auto")} if function.calls else {}),
    )
    return primitive(function, name, call_text, _calls_in(form, f"agents.{name}") if function.calls else _TRAJECTORY)


def _calls_in(form: Form, name: str) -> Parameter:
    """Return the parameter for a trajectory with calls in messages, or in text in the notation `form`."""
    check_form(form, name)
    return Parameter("trajectory", "trajectory", view=TextCallsOf(form))


def _short(value: float) -> float:
    return int(value) if value.is_integer() else value


@dataclass(frozen=True)
class ToolSuccess:
    """A check that each of several tools returned at least one result without an error."""

    tools: tuple[str, ...]
    partial: bool

    def __call__(self, trajectory: Trajectory) -> float | Score:
        worked = {call.name for call in trajectory.calls if call.ok}
        missing = [tool for tool in self.tools if tool not in worked]
        if not missing:
            return 1.0
        credit = 1.0 - len(missing) / len(self.tools) if self.partial else 0.0
        return Score(credit, f"no successful call to {', '.join(missing)}")


def tool_success(*tools: str, partial: bool = False) -> Reward:
    """Score 1.0 if each named tool returned at least one result without an error, else 0.0 or partial credit.

    ``rk.agents.tool_success("book", "pay")`` gives 1.0 to a trajectory in which a call to ``book`` and a call to
    ``pay`` succeeded, no matter how many other calls failed.

    Args:
        tools: the names of one or more tools. The number of tools is fixed, so extra calls cannot hide a failure.
        partial: if True, score the fraction of the tools that succeeded.

    Raises:
        RewardDefinitionError: no tool names are given.
    """
    if not tools or not all(isinstance(tool, str) and tool for tool in tools):
        raise RewardDefinitionError(
            "agents.tool_success: pass the name of at least one tool, rk.agents.tool_success('book'), got "
            f"{shorten(tools)}. The share of successful calls cannot be a reward, because trivial calls "
            "would hide a failure"
        )
    if type(partial) is not bool:
        raise RewardDefinitionError(f"agents.tool_success: partial must be True or False, got {shorten(partial)}")
    names = tuple(dict.fromkeys(tools))
    call_text = expression("agents.tool_success", *names, partial=(partial, False))
    return primitive(ToolSuccess(names, partial), "tool_success", call_text, _TRAJECTORY)


@dataclass(frozen=True)
class ToolErrors:
    """A penalty for each tool error after the first `free` ones."""

    each: float
    most: float
    free: int

    def __call__(self, trajectory: Trajectory) -> float | Score:
        errors = trajectory.errors
        if errors <= self.free:
            return 0.0
        first = next(call for call in trajectory.calls if call.fault or call.ok is False)
        reason = first.fault or (first.result.error if first.result else "") or ""
        return Score(
            max(self.most, self.each * (errors - self.free)),
            f"{errors} errors, first {shorten_line(str(first), 160)}: {shorten(reason)}",
        )


# Arbitrary defaults: errors should cost less than the task is worth.
def tool_errors(*, each: float = -0.1, most: float = -0.5, free: int = 0, form: Form = "auto") -> Reward:
    """Penalize tool call errors, from 0.0 down to `most`. Add the penalty to other rewards.

    ``rk.agents.tool_errors(each=-0.1, free=1)`` gives 0.0 to one error, and -0.2 to three.

    An error is a tool result that is marked as an error, or a malformed call. A call without a result is not an error.
    If the environment itself failed, the row fails and no errors are counted.

    Args:
        each: the penalty for one error, below 0.
        most: the largest total penalty, `each` or lower.
        free: the number of errors that are not penalized.
        form: the notation for calls, as in `tool_calls`: ``"auto"``, ``"messages"``, or a form such as ``"hermes"``.

    Raises:
        RewardDefinitionError: a penalty is not below 0, `most` is above `each`, or the form is unknown.
    """
    penalty, worst = number(each, "agents.tool_errors: each"), number(most, "agents.tool_errors: most")
    if not worst <= penalty < 0.0:
        raise RewardDefinitionError(
            f"agents.tool_errors: each and most must satisfy most <= each < 0, got each {penalty:g} and most {worst:g}"
        )
    if type(free) is not int or free < 0:
        raise RewardDefinitionError(
            f"agents.tool_errors: free must be a number of errors, 0 or more, got {shorten(free)}"
        )
    reads = _calls_in(form, "agents.tool_errors")
    call_text = expression(
        "agents.tool_errors", each=(penalty, -0.1), most=(worst, -0.5), free=(free, 0), form=(form, "auto")
    )
    return primitive(ToolErrors(penalty, worst, free), "tool_errors", call_text, reads, bounds=(worst, 0.0))


@dataclass(frozen=True)
class Finished:
    """A check that the trajectory ended with an answer."""

    reads_cut = True
    """Whether the reward needs to know which completions were cut off at the token limit. This one does."""

    def __call__(self, trajectory: Trajectory) -> float | Score:
        if trajectory.finished:
            return 1.0
        reasons = {
            "cut": "it reached the token limit",
            "pending": "its last calls got no result",
            "silent": "no answer after the last result" if trajectory.turns else "no turn",
        }
        return Score(0.0, reasons.get(trajectory.stop, ""))


def finished() -> Reward:
    """Score 1.0 if the trajectory ended with an answer, else 0.0. Use it as a gate's condition.

    ``rk.gate(rk.agents.finished(), rk.exact("answer"))`` scores an answer only if the last turn does not call a tool
    and was not cut off at the token limit.
    """
    return primitive(Finished(), "finished", "agents.finished()", _TRAJECTORY)


# A comma also ends a clause: in "I could not pay, so I booked a flight", the booking is claimed.
_CLAUSE = re.compile(r"[.!?;:,\n]")
# "I have not booked" and "once you have booked" claim nothing; "I booked it, not him" does, as the denial comes later.
_DENIED = re.compile(
    r"(?:\bnot\b|n't\b|n’t\b|\b(?:never|no|cannot|unable|without|neither|nor|failed|nothing|if|unless|before|until|"
    r"once|whether|to be|will be|would be|can be|should be)\b)"
)
_SILENCE = (
    "agents.no_claim_without_call: it scores 1.0 if nothing is claimed, so used alone, it rewards a policy for "
    "saying nothing. Put it into a gate, or combine it with a reward for the answer"
)


@dataclass(frozen=True)
class NoClaimWithoutCall:
    """A check that a tool result supports each claim in the answer."""

    claims: tuple[tuple[str, tuple[str, ...]], ...]

    limits: ClassVar[tuple[str, ...]] = ()
    traps: ClassVar[Mapping[str, str]] = {"answers": _SILENCE}

    def __call__(self, trajectory: Trajectory) -> float | Score:
        answer = unmasked(trajectory.answer)
        if not answer:
            return 1.0
        worked = {call.name for call in trajectory.calls if call.ok}
        for tool, patterns in self._patterns:
            if tool not in worked:
                for pattern in patterns:
                    for match in pattern.finditer(answer):
                        if not _denied(answer, match.start(), match.end()):
                            return Score(0.0, f"claims {shorten(match.group(), 60)}, but no call to {tool} succeeded")
        return 1.0

    @cached_property
    def _patterns(self) -> list[tuple[str, list[re.Pattern[str]]]]:
        return [(tool, list(map(_pattern, phrases))) for tool, phrases in self.claims]

    def __reduce__(self) -> tuple[object, ...]:
        return NoClaimWithoutCall, (self.claims,)  # without the compiled patterns


def _pattern(phrase: str) -> re.Pattern[str]:
    before = r"(?<!\w)" if re.match(r"\w", phrase) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", phrase) else ""
    return re.compile(before + re.escape(phrase) + after)


def _denied(text: str, start: int, end: int) -> bool:
    """Return whether the clause negates the phrase or makes it hypothetical, or the sentence is a question."""
    # 200 characters is arbitrary, but longer than a clause; with a limit, time stays linear.
    begin = max(
        (match.end() for match in _CLAUSE.finditer(text, max(0, start - 200), start)), default=max(0, start - 200)
    )
    return _DENIED.search(text, begin, start) is not None or asked(text, end)


def no_claim_without_call(claims: Mapping[str, str | Iterable[str]]) -> Reward:
    """Score 0.0 if the answer claims an action that no tool performed, else 1.0.

    ``rk.agents.no_claim_without_call({"book": ["booked", "reserved"]})`` gives 0.0 to the answer ``Your table is
    booked.`` unless a call to ``book`` returned without an error, and 1.0 to ``I could not get it booked.``

    An answer without claims scores 1.0, so use this reward in a gate, or add a reward for the answer. For claims in
    free-form wording, use a judge whose rubric contains ``{transcript}``.

    Args:
        claims: a map from each tool name to the phrases that claim that the tool succeeded. Phrases match whole words
            in the visible answer. Case, white space, and invisible characters are ignored. A phrase is not a claim if
            it is in a question, or in a clause that negates it or makes it hypothetical ("not booked", "once it is
            booked").

    Raises:
        RewardDefinitionError: there are no claims, or a phrase has no visible characters.
    """
    pairs = []
    for tool, phrasing in claims.items() if isinstance(claims, Mapping) else ():
        phrases = [phrasing] if isinstance(phrasing, str) else list(phrasing) if isinstance(phrasing, Iterable) else []
        are_valid = all(isinstance(phrase, str) and has_visible_character(phrase) for phrase in phrases)
        if not isinstance(tool, str) or not tool or not phrases or not are_valid:
            raise RewardDefinitionError(
                f"agents.no_claim_without_call: pass phrases for the tool {shorten(tool)}, each with visible "
                f"characters, got {shorten(phrasing)}"
            )
        pairs.append((tool, tuple(dict.fromkeys(map(unmasked, phrases)))))
    if not pairs:
        raise RewardDefinitionError(
            f'agents.no_claim_without_call: pass a mapping such as {{"book": ["booked"]}}, got {shorten(claims)}'
        )
    call_text = expression("agents.no_claim_without_call", {tool: list(phrases) for tool, phrases in pairs})
    function = NoClaimWithoutCall(tuple(pairs))
    return primitive(function, "no_claim_without_call", call_text, Parameter("trajectory", "trajectory"))
