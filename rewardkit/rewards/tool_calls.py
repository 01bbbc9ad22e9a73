"""Tool calls: ``rk.tool_calls("calls")`` gives 1.0 if the policy made exactly the gold calls.

If the gold is ``[{"name": "open", "arguments": {"color": "red"}}]``, the single call ``open(color="red")`` scores 1.0.
With two other calls, the score is 0.5. The formula is F1, ``2 * matched / (gold + made)``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, final, get_args

from pydantic import PlainValidator

from rewardkit.batch.score import Score
from rewardkit.batch.text_calls import Form, begins_like_a_call, check_form, read_text_calls
from rewardkit.batch.trajectory import TextCallsOf, ToolCall, Trajectory, Turn, json_key
from rewardkit.errors import RewardDefinitionError, hashable, near_miss, shorten, shorten_line
from rewardkit.rewards.assignment import assigned
from rewardkit.text.json_text import json_parser, parse_json
from rewardkit.text.thinking import visible_text
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

# Gold calls: the calls that a policy should make, in the format of a dataset.


_OTHER_NAMES = {"args", "parameters", "params", "input", "inputs", "kwargs"}
"""The keys for a call's arguments in other formats."""

Same = Mapping[str, Callable[[Any, Any], object]]
"""A map from arguments that are not compared by value to functions that compare the actual and the gold value."""


@final
@dataclass(frozen=True)
class GoldArgument:
    """The allowed values for one argument, which may be missing if `optional`.

    Attributes:
        keys: the values as JSON text.
        nested: True if a value may contain choices, so that comparing JSON text is not enough.
    """

    values: tuple[Any, ...]
    keys: frozenset[str]
    optional: bool = False
    nested: bool = False

    @classmethod
    def of(cls, value: Any) -> GoldArgument:
        optional = isinstance(value, dict) and set(value) == {"optional"}
        inner = value["optional"] if optional else value
        if isinstance(inner, dict) and set(inner) == {"any_of"} and not isinstance(inner["any_of"], list):
            raise ValueError(f"any_of must be a list of values, got {shorten(inner['any_of'])}")
        several = isinstance(inner, dict) and set(inner) == {"any_of"} and isinstance(inner["any_of"], list)
        values = tuple(inner["any_of"] if several else [inner])
        nested = any(isinstance(value, (dict, list)) for value in values)
        return cls(values, frozenset(map(json_key, values)), optional, nested)

    def allows(self, readings: Sequence[Any], same: Callable[[Any, Any], object] | None) -> bool:
        """Return whether this argument allows a value whose JSON text is not in `keys`.

        Args:
            readings: the possible values. There are several if the call's notation does not show the type. Gold text is
                compared with the readings that are text, and any other gold value with the other readings.
            same: a function that compares a reading with a gold value; None to compare by value.
        """
        compare = same or _matches
        several = len(readings) > 1
        return any(
            compare(reading, gold)
            for gold in self.values
            for reading in readings
            if not several or isinstance(reading, str) is isinstance(gold, str)
        )


def _matches(actual: Any, gold: Any) -> bool:
    """Return whether `gold` allows the value `actual`. Choices may be anywhere inside `gold`."""
    if isinstance(gold, dict) and set(gold) == {"any_of"} and isinstance(gold["any_of"], list):
        return any(_matches(actual, choice) for choice in gold["any_of"])
    if isinstance(gold, dict) and isinstance(actual, dict):
        for name, expected in gold.items():
            optional = isinstance(expected, dict) and set(expected) == {"optional"}
            if name not in actual:
                if not optional:
                    return False
            elif not _matches(actual[name], expected["optional"] if optional else expected):
                return False
        return set(actual) <= set(gold)
    if isinstance(gold, list) and isinstance(actual, list):
        return len(actual) == len(gold) and all(map(_matches, actual, gold))
    return json_key(actual) == json_key(gold)


@final
@dataclass(frozen=True)
class GoldCall:
    """A call that the policy should make."""

    name: str
    arguments: tuple[tuple[str, GoldArgument], ...]

    @cached_property
    def key(self) -> tuple[str, frozenset[tuple[str, str]]] | None:
        """The name and the arguments of the only correct call; None if there are choices."""
        if any(
            gold_argument.optional or len(gold_argument.keys) != 1 or gold_argument.nested
            for _, gold_argument in self.arguments
        ):
            return None
        return self.name, frozenset((name, next(iter(gold_argument.keys))) for name, gold_argument in self.arguments)

    def worth(self, call: ToolCall, same: Same) -> float:
        """Return the fraction of top-level arguments on either side that are equal; 0.0 for another tool.

        An optional argument that the call omits does not count. Arguments that are not an object match nothing.
        """
        if call.name != self.name or call.arguments is None:
            return 0.0
        call_keys = call.arguments.keys_by_name
        named, equal = len(call_keys), 0
        for name, gold_argument in self.arguments:
            key = call_keys.get(name)
            if key is None:
                named += not gold_argument.optional
            elif key in gold_argument.keys:
                equal += 1
            elif gold_argument.nested or name in same or not call.arguments.typed:
                equal += gold_argument.allows(call.arguments.readings(name), same.get(name))
        return equal / named if named else 1.0

    def __str__(self) -> str:
        signature = ", ".join(f"{name}={_shown(gold_argument)}" for name, gold_argument in self.arguments)
        return f"{self.name}({signature})"


def _shown(gold_argument: GoldArgument) -> str:
    return " or ".join(json.dumps(value, ensure_ascii=False) for value in gold_argument.values[:3])


@final
@dataclass(frozen=True, slots=True)
class GoldCalls:
    """The calls in one gold cell, by round. Without rounds, all calls are in one round.

    Attributes:
        by_round: True if the cell is a list of lists.
    """

    rounds: tuple[tuple[GoldCall, ...], ...]
    by_round: bool = False

    @property
    def count(self) -> int:
        return sum(map(len, self.rounds))


def read_gold_calls(value: object) -> GoldCalls:
    """Return the gold calls in a cell.

    Raises:
        ValueError: `value` is neither a list of calls nor a list of such lists.
    """
    if isinstance(value, GoldCalls):
        return value
    text = isinstance(value, str)
    if isinstance(value, str):
        parsed = parse_json(value)
        if parsed.error:
            raise ValueError(f"{parsed.error}. The gold calls must be a JSON list of {{name, arguments}}")
        value = parsed.value
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"the gold calls must be a list, [] for no call, got {shorten(value)}")
    if value and all(isinstance(item, (list, tuple)) for item in value):
        return GoldCalls(tuple(tuple(_gold_call(entry, text) for entry in item) for item in value), by_round=True)
    return GoldCalls((tuple(_gold_call(entry, text) for entry in value),))


def _gold_call(entry: Any, text: bool) -> GoldCall:
    function = entry.get("function") if isinstance(entry, Mapping) else None
    inner = function if isinstance(function, Mapping) else entry
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str) or not name:
        raise ValueError(f'a gold call must be {{"name": ..., "arguments": {{...}}}}, got {shorten(entry)}')
    misnamed = next((key for key in inner if key in _OTHER_NAMES and inner[key] is not None), None)
    if misnamed is not None and inner.get("arguments") is None:
        raise ValueError(f"the gold call {name!r} has no 'arguments', but {misnamed!r}. Rename it to 'arguments'")
    if inner.get("optional") is not None:
        raise ValueError(f'the gold call {name!r} has the key "optional". Only an argument may be optional')
    arguments = inner.get("arguments")
    if isinstance(arguments, str):
        text = True
        parsed = parse_json(arguments)
        if parsed.error:
            raise ValueError(f"the arguments of the gold call {name!r}: {parsed.error}")
        arguments = parsed.value
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        raise ValueError(f"the arguments of the gold call {name!r} must be an object, got {shorten(arguments)}")
    try:
        arguments = arguments if text else _gaps_optional(arguments)
        return GoldCall(name, tuple((str(key), GoldArgument.of(item)) for key, item in arguments.items()))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the arguments of the gold call {name!r} are not JSON ({shorten(str(error))})") from None


def _gaps_optional(value: Any) -> Any:
    """Return `value`, with each None in an object marked as optional."""
    if isinstance(value, (list, tuple)):
        return [_gaps_optional(member) for member in value]
    if not isinstance(value, Mapping):
        return value
    if value and set(value) <= {"optional", "any_of"}:
        return {key: member for key, member in value.items() if member is not None} or {"optional": None}
    return {key: {"optional": None} if member is None else _gaps_optional(member) for key, member in value.items()}


# Pair the calls that were made with the gold calls so that they are worth as much as possible.


Credit = Literal["exact", "partial", "names"]

# The assignment is found in integers, so that ties do not depend on rounding.
_SCALE = 10**9
# Sums of the same worths in different orders differ by less than this.
_LEAST = 1e-12
_MOST_PAIRS = 144
"""The maximum number of pairs in one turn. With more pairs, the turn's calls are paired in the order in which they were
written. The limit is 12 gold calls times 12 actual calls because the assignment takes cubic time."""

_Best = tuple[float, int, frozenset[int]]
"""A pairing: its worth, the number of its calls, and the indices of the fully matched gold calls."""


@final
@dataclass(frozen=True)
class Rules:
    """The rules for comparing calls and for the worth of a pair."""

    credit: Credit
    kept: bool
    same: tuple[tuple[str, Callable[[Any, Any], object]], ...] = ()

    @cached_property
    def _same(self) -> Same:
        return dict(self.same)

    def worth(self, gold: GoldCall, call: ToolCall) -> float:
        """Return the worth of one pair, from 0.0 to 1.0."""
        if self.credit == "names":
            return float(gold.name == call.name and call.arguments is not None)
        worth = gold.worth(call, self._same)
        return worth if self.credit == "partial" else float(worth == 1.0)


@final
@dataclass(frozen=True, slots=True)
class Paired:
    """The best pairing: its worth, the number of its calls, and the indices of the gold calls without a full match."""

    worth: float
    calls: int
    missed: tuple[int, ...]

    @classmethod
    def of(cls, best: _Best, gold: Sequence[GoldCall]) -> Paired:
        worth, calls, right = best
        return cls(worth, calls, tuple(index for index in range(len(gold)) if index not in right))


def paired(gold: Sequence[GoldCall], turns: Sequence[Sequence[ToolCall]], rules: Rules) -> Paired:
    """Return the best pairing between the calls in `turns` and the gold calls."""
    made_calls = [call for calls in turns for call in calls]
    if not gold or not made_calls:
        return Paired.of((0.0, 0, frozenset()), gold)
    if rules.kept and (len(gold) > 1 or len(made_calls) > 1):
        return _in_order(gold, turns, rules)
    right = _equal(gold, made_calls, rules)
    if right is not None and (rules.credit == "exact" or len(right) == min(len(gold), len(made_calls))):
        return Paired.of((float(len(right)), len(right), right), gold)
    return Paired.of(_stretch([[rules.worth(gold_call, call) for call in made_calls] for gold_call in gold], 0), gold)


def _equal(gold: Sequence[GoldCall], made_calls: Sequence[ToolCall], rules: Rules) -> frozenset[int] | None:
    """Return the gold calls that equal an actual call; None if comparing JSON text is not enough to decide."""
    if rules.same or rules.credit == "names":
        return None
    if any(call.arguments is not None and not call.arguments.typed for call in made_calls):
        return None
    unpaired_counts = Counter(
        (call.name, frozenset(call.arguments.keys_by_name.items())) for call in made_calls if call.arguments is not None
    )
    right = set()
    for index, gold_call in enumerate(gold):
        if gold_call.key is None:
            return None
        if unpaired_counts[gold_call.key] > 0:
            unpaired_counts[gold_call.key] -= 1
            right.add(index)
    return frozenset(right)


def _in_order(gold: Sequence[GoldCall], turns: Sequence[Sequence[ToolCall]], rules: Rules) -> Paired:
    # best[j] is the best pairing of the turns so far with the first j gold calls.
    best: list[_Best] = [(0.0, 0, frozenset())] * (len(gold) + 1)
    for calls in turns:
        is_small = len(gold) * len(calls) <= _MOST_PAIRS
        for together in [calls] if is_small else [[call] for call in calls]:
            if together:
                best = _after(gold, together, best, rules)
    return Paired.of(best[-1], gold)


def _after(gold: Sequence[GoldCall], calls: Sequence[ToolCall], before: Sequence[_Best], rules: Rules) -> list[_Best]:
    """Return the best pairings after one more turn. The turn's calls are paired with consecutive gold calls."""
    best = list(before)
    worths = [[rules.worth(gold_call, call) for call in calls] for gold_call in gold]
    useful = [index for index, row in enumerate(worths) if any(row)]
    most = _most(worths)
    for start in useful:
        for stop in (index + 1 for index in useful if index >= start):
            if len(calls) == 1 and stop > start + 1:
                break  # a single call is paired with a single gold call
            worth, count, right = _stretch(worths[start:stop], start)
            earlier = before[start]
            if earlier[0] + worth > best[stop][0] + _LEAST:
                best[stop] = (earlier[0] + worth, earlier[1] + count, earlier[2] | right)
            if worth > most[start] - _LEAST:
                break  # further gold calls cannot make it worth more
    for stop in range(1, len(best)):
        if best[stop - 1][0] > best[stop][0] + _LEAST:
            best[stop] = best[stop - 1]
    return best


def _most(worths: Sequence[Sequence[float]]) -> list[float]:
    """Return an upper bound on a turn's worth for each gold call at which it may start: the sum of each call's best."""
    best, bounds = [0.0] * len(worths[0]), []
    for row in reversed(worths):
        best = list(map(max, best, row))
        bounds.append(sum(best))
    return bounds[::-1]


def _stretch(worths: Sequence[Sequence[float]], start: int) -> _Best:
    """Return the best pairing between one turn's calls and consecutive gold calls, starting at index `start`."""
    pairs = assigned([[round(worth * _SCALE) for worth in row] for row in worths])
    matches = [(row, worths[row][column]) for row, column in pairs if worths[row][column] > 0.0]
    right = frozenset(start + row for row, worth in matches if worth == 1.0)
    return sum(worth for _, worth in matches), len(matches), right


# The engine of ``rk.tool_calls``: gold calls, the values of calls, and the best pairing.


Order = Literal["any", "kept"]
Extra = Literal["cost", "allow"]

MOST_CALLS = 400
"""The maximum number of calls. A trajectory with more calls scores 0.0. The limit is arbitrary: pairing takes time
quadratic in the number of calls per turn, and no task needs this many."""
_SPRAYING = (
    'tool_calls(extra="allow"): calls that are not in the gold answer cost nothing, so a policy gains by trying '
    "everything. Use the default, or add a penalty for calls, such as rk.agents.calls_between(0, 4)"
)


@dataclass(frozen=True)
class ToolCalls:
    """The F1 score of the policy's calls against the gold calls."""

    rules: Rules
    extra: Extra
    free: int
    form: Form = "auto"

    @property
    def traps(self) -> Mapping[str, str]:
        """A map from each quantity to a warning that applies unless another reward limits that quantity."""
        return {"calls": _SPRAYING} if self.extra == "allow" else {}

    def __call__(self, trajectory: Trajectory, expected: GoldCalls) -> float | Score:
        call_count = len(trajectory.calls)
        if call_count > MOST_CALLS:
            return Score(0.0, f"{call_count:,} calls, more than {MOST_CALLS}")
        rounds = list(trajectory.rounds) if expected.by_round else [trajectory.turns]
        pairings: list[tuple[Paired, int]] = []
        for number in range(max(len(rounds), len(expected.rounds))):
            turns: tuple[Turn, ...] = rounds[number] if number < len(rounds) else ()
            gold_calls = expected.rounds[number] if number < len(expected.rounds) else ()
            calls = [turn.calls for turn in turns if turn.calls]
            pairings.append((paired(gold_calls, calls, self.rules), sum(map(len, calls))))
        worth = sum(pairing.worth for pairing, _ in pairings)
        surplus = call_count - sum(pairing.calls for pairing, _ in pairings)
        value = self._value(worth, expected.count, call_count - min(self.free, surplus))
        return value if value == 1.0 else Score(value, self._note(trajectory, expected, pairings, surplus))

    def _value(self, worth: float, gold: int, call_count: int) -> float:
        if self.extra == "allow":
            return min(1.0, worth / gold) if gold else 1.0
        return min(1.0, 2.0 * worth / (gold + call_count)) if gold + call_count else 1.0

    def _note(self, trajectory: Trajectory, gold: GoldCalls, pairings: list[tuple[Paired, int]], surplus: int) -> str:
        missed = [
            gold_calls[index]
            for gold_calls, (pairing, _) in zip(gold.rounds, pairings, strict=False)
            for index in pairing.missed
        ]
        notes = []
        if missed:
            more = f" and {len(missed) - 2} more" if len(missed) > 2 else ""
            notes.append(f"not called as expected: {shorten_line(', '.join(map(str, missed[:2])), 160)}{more}")
        if surplus:
            notes.append(f"{surplus} other call{'s' * (surplus != 1)}{_broken(trajectory.calls)}")
        if missed and not trajectory.calls and (unread := self._unread(trajectory)):
            notes.append(unread)
        return "; ".join(notes)

    def _unread(self, trajectory: Trajectory) -> str:
        """Return why an apparent call in the last turn does not count; empty if there is no such call."""
        text = trajectory.turns[-1].text if trajectory.turns else ""
        if self.form == "messages" or (self.form == "auto" and trajectory.runs_calls):
            begins = begins_like_a_call(visible_text(text))
            reason = "form='messages'" if self.form == "messages" else "the trainer runs the calls of messages"
            return f"the text begins like a call, which does not count: {reason}" if begins else ""
        where = read_text_calls(text).unread
        return f"a call {where} does not count" if where else ""


def _broken(calls: Sequence[ToolCall]) -> str:
    """Return a remark with the number of unreadable calls and the first reason; empty if all calls are readable."""
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
    """Score the tool calls in a trajectory against the gold calls (F1): 1.0 only for exactly the gold calls.

    ``rk.tool_calls("calls")`` gives 1.0 to the call ``open(color="red")`` if "calls" is
    ``[{"name": "open", "arguments": {"color": "red"}}]``, and 0.4 if there are four other calls.

    The score is ``2 * S / (gold + made)``, where ``made`` is the number of calls in the trajectory and ``S`` is the
    value of the best pairing between these calls and the gold calls. Each call can be paired once, so repeating a call
    does not raise the score. Every call counts, even if it failed, names an unknown tool, has no result, or comes after
    the answer. Arguments are compared by JSON value: 1 equals 1.0, True is not 1, and strings must match exactly. See
    docs/agents.md and docs/laws.md.

    Args:
        column: the column with the gold calls: a JSON list, as text, of ``{"name", "arguments"}`` objects, or ``[]`` if
            no call is needed. An argument may be ``{"any_of": [...]}`` or ``{"optional": value}``. A list of lists has
            one list per round, that is, for the turns between one user message and the next. Keep the cell as text:
            Arrow gives all dicts in a column the same keys and fills the gaps with None. Therefore, in a cell that is
            not text, an argument that is None is treated as optional.
        order: ``"any"``: calls may be in any order; ``"kept"``: calls must be in the gold order. The order of calls
            within one turn does not matter.
        arguments: ``"exact"``: a call is either correct or incorrect; ``"partial"``: a call counts as the fraction of
            top-level arguments that are equal, out of all arguments on either side; ``"names"``: only tool names are
            compared.
        extra: ``"cost"``: extra calls lower the score; ``"allow"``: the score is ``S / gold``, so extra calls do not
            lower it.
        free: the number of extra calls that do not lower the score, such as a retry after an error.
        same: a map from argument names to functions. A function receives the call's value and the gold value, and
            returns whether they are equal.
        form: where calls are found, and in which notation. ``"auto"``: in messages or, if no message has a call, in the
            text, in any form used by common chat templates. If the trainer is known to run calls, it parses them
            itself, so calls in the text do not count. ``"messages"``: only in messages. ``"hermes"``, ``"llama"``,
            ``"mistral"``, ``"deepseek"``, ``"kimi"``, ``"harmony"``, ``"gemma"``, ``"xml"``, ``"pythonic"``,
            ``"json"``, or ``"react"``: a call written in another form counts as a call, but matches nothing.
            docs/agents.md lists all forms.

    Returns:
        A reward in [0, 1]. A trajectory with more than 400 calls scores 0.0.

    Raises:
        RewardDefinitionError: an option is invalid.
        MissingExtraError: the extra ``json`` is not installed.
        CoercionError: while scoring: a gold cell is not a list of calls.
    """
    if not isinstance(column, str):
        raise RewardDefinitionError(
            f"tool_calls: pass the name of the column with the gold calls, got {shorten(column)}"
        )
    for option, value, choices in (
        ("order", order, get_args(Order)),
        ("arguments", arguments, get_args(Credit)),
        ("extra", extra, get_args(Extra)),
    ):
        if value not in choices:
            words = ", ".join(f'"{word}"' for word in choices)
            hint = near_miss(str(value), choices)
            raise RewardDefinitionError(f"tool_calls: {option} must be one of {words}, got {shorten(value)}.{hint}")
    check_form(form, "tool_calls")
    if type(free) is not int or free < 0:
        raise RewardDefinitionError(f"tool_calls: free must be a number of calls, 0 or more, got {shorten(free)}")
    for name, function in (same or {}).items():
        if not isinstance(name, str) or not callable(function) or not hashable(function):
            raise RewardDefinitionError(
                f"tool_calls: same= must map an argument's name to a function, got {shorten(name)}: {shorten(function)}"
            )
    json_parser("rk.tool_calls")
    compared = Rules(arguments, order == "kept", tuple((same or {}).items()))
    call_text = expression(
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
        call_text,
        Parameter("trajectory", "trajectory", view=TextCallsOf(form)),
        Parameter("expected", column, annotation=Annotated[GoldCalls, PlainValidator(read_gold_calls)]),
    )
