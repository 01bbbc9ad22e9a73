"""Tool calls: ``rk.tool_calls("calls")`` gives 1.0 if the policy made the gold calls and no other.

If the gold is ``[{"name": "open", "arguments": {"color": "red"}}]``, the one call ``open(color="red")`` scores 1.0, and
the same call beside two others 0.5: F1, ``2 * matched / (gold + made)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import PlainValidator

from rewardkit.core.batch.score import Score
from rewardkit.core.batch.text_calls import Form, begins_like_a_call, check_form, read_text_calls
from rewardkit.core.batch.trajectory import TextCallsOf, ToolCall, Trajectory, Turn
from rewardkit.core.errors import MissingExtraError, RewardDefinitionError, hashable, near_miss, shorten, shorten_line
from rewardkit.core.text.thinking import visible_text
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.calls.gold import GoldCalls, read_gold_calls
from rewardkit.primitives.calls.pairing import Credit, Paired, Rules, paired

Order = Literal["any", "kept"]
Extra = Literal["cost", "allow"]

MOST_CALLS = 400
_SPRAYING = (
    'tool_calls(extra="allow"): calls beyond the gold cost nothing, so a policy is paid for trying everything. Use the '
    "default, or add a penalty on calls, such as rk.calls_between(0, 4)"
)


@dataclass(frozen=True)
class ToolCalls:
    """F1 of the calls that were made against the gold calls."""

    rules: Rules
    extra: Extra
    free: int
    form: Form = "auto"

    @property
    def traps(self) -> Mapping[str, str]:
        """What may not work as intended, unless another reward limits what the key names."""
        return {"calls": _SPRAYING} if self.extra == "allow" else {}

    def __call__(self, trajectory: Trajectory, expected: GoldCalls) -> float | Score:
        made = len(trajectory.calls)
        if made > MOST_CALLS:
            return Score(0.0, f"{made:,} calls, more than {MOST_CALLS}")
        rounds = list(trajectory.rounds) if expected.by_round else [trajectory.turns]
        found: list[tuple[Paired, int]] = []
        for number in range(max(len(rounds), len(expected.rounds))):
            turns: tuple[Turn, ...] = rounds[number] if number < len(rounds) else ()
            wanted = expected.rounds[number] if number < len(expected.rounds) else ()
            calls = [turn.calls for turn in turns if turn.calls]
            found.append((paired(wanted, calls, self.rules), sum(map(len, calls))))
        worth = sum(one.worth for one, _ in found)
        surplus = made - sum(one.calls for one, _ in found)
        value = self._value(worth, expected.count, made - min(self.free, surplus))
        return value if value == 1.0 else Score(value, self._note(trajectory, expected, found, surplus))

    def _value(self, worth: float, gold: int, made: int) -> float:
        if self.extra == "allow":
            return min(1.0, worth / gold) if gold else 1.0
        return min(1.0, 2.0 * worth / (gold + made)) if gold + made else 1.0

    def _note(self, trajectory: Trajectory, gold: GoldCalls, found: list[tuple[Paired, int]], surplus: int) -> str:
        missed = [wanted[place] for wanted, (one, _) in zip(gold.rounds, found, strict=False) for place in one.missed]
        said = []
        if missed:
            more = f" and {len(missed) - 2} more" if len(missed) > 2 else ""
            said.append(f"not called as expected: {shorten_line(', '.join(map(str, missed[:2])), 160)}{more}")
        if surplus:
            said.append(f"{surplus} other call{'s' * (surplus != 1)}{_broken(trajectory.calls)}")
        if missed and not trajectory.calls and (unread := self._unread(trajectory)):
            said.append(unread)
        return "; ".join(said)

    def _unread(self, trajectory: Trajectory) -> str:
        """Return why what looks like a call in the last turn is none; empty if nothing does."""
        text = trajectory.turns[-1].text if trajectory.turns else ""
        if self.form == "messages" or (self.form == "auto" and trajectory.runs_calls):
            begins = begins_like_a_call(visible_text(text))
            why = "form='messages'" if self.form == "messages" else "the trainer runs the calls of messages"
            return f"the text begins like a call, which does not count: {why}" if begins else ""
        where = read_text_calls(text).unread
        return f"a call {where} does not count" if where else ""


def _broken(calls: Sequence[ToolCall]) -> str:
    """Return how many of the calls cannot be read, and why."""
    faults = [call.fault for call in calls if call.fault]
    if not faults:
        return ""
    first = shorten_line(faults[0], 160)
    if len(calls) == 1:
        return f", which cannot be read: {first}"
    return f" ({len(faults)} cannot be read: {first})"


def tool_calls(
    column: str,
    *,
    order: Order = "any",
    arguments: Credit = "exact",
    extra: Extra = "cost",
    free: int = 0,
    same: Mapping[str, Callable[[Any, Any], object]] | None = None,
    form: Form = "auto",
) -> Reward:
    """Score the tool calls of a trajectory against the gold calls: 1.0 only for all of them and no other (F1).

    ``rk.tool_calls("calls")`` gives 1.0 to the call ``open(color="red")`` if "calls" is
    ``[{"name": "open", "arguments": {"color": "red"}}]``, and 0.4 if four other calls are made beside it.

    The score is ``2 * S / (gold + made)``, where ``S`` is the worth of the best pairing of made and gold calls. A call
    can be paired once, so repeating it earns nothing; every call that was made counts: failed, unknown, without a
    result, after the answer. Arguments are equal by JSON value: 1 equals 1.0, True is not 1, texts are compared as they
    are. docs/agents.md has examples and the laws.

    Args:
        column: the column of the gold calls: JSON text of a list of ``{"name", "arguments"}``; ``[]`` if no call is
            right. An argument may be ``{"any_of": [...]}`` or ``{"optional": value}``. A list of lists has one list
            per round, that is, for the turns between one message of the user and the next. Keep it as text: Arrow
            gives all dicts of a column the same keys and fills the gaps with None, so outside a text an argument that
            is None may be missing.
        order: ``"any"``, or ``"kept"``: gold calls must be made in their order. The calls of one turn have no order.
        arguments: ``"exact"``: a call is right or not; ``"partial"``: it is worth the share of equal top-level
            arguments among all that either side names; ``"names"``: only names are compared.
        extra: ``"cost"``, or ``"allow"``: the score is ``S / gold``, so further calls cost nothing.
        free: so many calls beyond the gold cost nothing, such as a retry after an error.
        same: argument -> a function of the made and the gold value that returns whether they are equal.
        form: where calls are read. ``"auto"``: in messages, and if no message has one, in the text, in any form of the
            usual chat templates; a trainer that is known to run calls reads them itself, and its texts have none.
            ``"messages"``: in messages alone. ``"hermes"``, ``"llama"``, ``"mistral"``, ``"deepseek"``, ``"kimi"``,
            ``"harmony"``, ``"gemma"``, ``"xml"``, ``"pythonic"``, ``"json"`` or ``"react"``: a call that is written in
            another form counts and matches nothing. docs/agents.md shows all forms.

    Returns:
        A reward in [0, 1]. More than 400 calls score 0.0.

    Raises:
        RewardDefinitionError: an invalid option.
        MissingExtraError: the extra ``json`` is not installed.
        CoercionError: while scoring: a gold cell is not a list of calls.
    """
    if not isinstance(column, str):
        raise RewardDefinitionError(f"tool_calls: pass the name of the column of gold calls, got {shorten(column)}")
    for option, value, known in (
        ("order", order, get_args(Order)),
        ("arguments", arguments, get_args(Credit)),
        ("extra", extra, get_args(Extra)),
    ):
        if value not in known:
            words = ", ".join(f'"{word}"' for word in known)
            hint = near_miss(str(value), known)
            raise RewardDefinitionError(f"tool_calls: {option} must be one of {words}, got {shorten(value)}.{hint}")
    check_form(form, "tool_calls")
    if type(free) is not int or free < 0:
        raise RewardDefinitionError(f"tool_calls: free must be a number of calls, 0 or more, got {shorten(free)}")
    for name, function in (same or {}).items():
        if not isinstance(name, str) or not callable(function) or not hashable(function):
            raise RewardDefinitionError(
                f"tool_calls: same= maps the name of an argument to a function, got {shorten(name)}: "
                f"{shorten(function)}"
            )
    try:
        import jiter  # noqa: F401
    except ImportError:
        raise MissingExtraError.of("rk.tool_calls", "json") from None
    compared = Rules(arguments, order == "kept", tuple((same or {}).items()))
    shown = expression(
        "tool_calls",
        column,
        order=(order, "any"),
        arguments=(arguments, "exact"),
        extra=(extra, "cost"),
        free=(free, 0),
        same=(dict(compared.same), {}),
        form=(form, "auto"),
    )
    return primitive(
        ToolCalls(compared, extra, free, form),
        "tool_calls",
        shown,
        Parameter("trajectory", "trajectory", view=TextCallsOf(form)),
        Parameter("expected", column, annotation=Annotated[GoldCalls, PlainValidator(read_gold_calls)]),
    )
