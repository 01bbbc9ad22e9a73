"""Gold calls: the calls that a policy should make, as a dataset holds them.

``[{"name": "book", "arguments": {"city": "Rome", "days": {"any_of": [2, 3]}, "notes": {"optional": ""}}}]``. OpenAI's
shape, ``{"function": {"name": ..., "arguments": "{...}"}}``, is read, too. A list of lists is one list per round: the
turns between one message of the user and the next.

Arrow gives all dicts of a column the same keys and fills the gaps with None, so None in a cell that is not text may be
an argument that the call never had: it may be missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from rewardkit.core.batch.trajectory import ToolCall, json_key
from rewardkit.core.errors import shorten
from rewardkit.core.text.json_text import parse_json

_OTHER_NAMES = {"args", "parameters", "params", "input", "inputs", "kwargs"}
"""What other formats call the arguments."""

Same = Mapping[str, Callable[[Any, Any], object]]
"""For each argument that is not compared by value: a function of the made and the gold value."""


@final
@dataclass(frozen=True)
class GoldArgument:
    """What one argument may be: one of `values`; it may be missing if `optional`.

    Attributes:
        keys: the values as JSON texts.
        nested: choices may be inside a value, so that its text does not decide.
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
        """Return whether a call may have a value whose text is not in `keys`.

        Args:
            readings: the value; several if the form of the call does not tell its type. A gold text is compared with
                the texts among them, and any other gold value with the others.
        """
        compare = same or _matches
        several = len(readings) > 1
        return any(
            compare(made, gold)
            for gold in self.values
            for made in readings
            if not several or isinstance(made, str) is isinstance(gold, str)
        )


def _matches(made: Any, gold: Any) -> bool:
    """Return whether a value is one that `gold` allows; choices may be anywhere inside."""
    if isinstance(gold, dict) and set(gold) == {"any_of"} and isinstance(gold["any_of"], list):
        return any(_matches(made, one) for one in gold["any_of"])
    if isinstance(gold, dict) and isinstance(made, dict):
        for name, wanted in gold.items():
            optional = isinstance(wanted, dict) and set(wanted) == {"optional"}
            if name not in made:
                if not optional:
                    return False
            elif not _matches(made[name], wanted["optional"] if optional else wanted):
                return False
        return set(made) <= set(gold)
    if isinstance(gold, list) and isinstance(made, list):
        return len(made) == len(gold) and all(map(_matches, made, gold))
    return json_key(made) == json_key(gold)


@final
@dataclass(frozen=True)
class GoldCall:
    """A call that the policy should make."""

    name: str
    arguments: tuple[tuple[str, GoldArgument], ...]

    @cached_property
    def key(self) -> tuple[str, frozenset[tuple[str, str]]] | None:
        """What a made call must be, if only one is right; None if there are choices."""
        if any(wanted.optional or len(wanted.keys) != 1 or wanted.nested for _, wanted in self.arguments):
            return None
        return self.name, frozenset((name, next(iter(wanted.keys))) for name, wanted in self.arguments)

    def worth(self, call: ToolCall, same: Same) -> float:
        """Return the share of equal top-level arguments among all that either side names, 0.0 for another tool.

        An optional argument that the call leaves out does not count. Arguments that are no object match nothing.
        """
        if call.name != self.name or call.arguments is None:
            return 0.0
        held = call.arguments.keys_by_name
        named, equal = len(held), 0
        for name, wanted in self.arguments:
            key = held.get(name)
            if key is None:
                named += not wanted.optional
            elif key in wanted.keys:
                equal += 1
            elif wanted.nested or name in same or not call.arguments.typed:
                equal += wanted.allows(call.arguments.readings(name), same.get(name))
        return equal / named if named else 1.0

    def __str__(self) -> str:
        given = ", ".join(f"{name}={_shown(wanted)}" for name, wanted in self.arguments)
        return f"{self.name}({given})"


def _shown(wanted: GoldArgument) -> str:
    return " or ".join(json.dumps(value, ensure_ascii=False) for value in wanted.values[:3])


@final
@dataclass(frozen=True, slots=True)
class GoldCalls:
    """The calls of one gold cell, by round; without rounds, all are one round.

    Attributes:
        by_round: the cell is a list of lists.
    """

    rounds: tuple[tuple[GoldCall, ...], ...]
    by_round: bool = False

    @property
    def count(self) -> int:
        return sum(map(len, self.rounds))


def read_gold_calls(value: object) -> GoldCalls:
    """Read a gold cell.

    Raises:
        ValueError: it is not a list of calls, or a list of such lists.
    """
    if isinstance(value, GoldCalls):
        return value
    text = isinstance(value, str)
    if isinstance(value, str):
        parsed = parse_json(value)
        if parsed.error:
            raise ValueError(f"{parsed.error}; the gold calls must be a JSON list of {{name, arguments}}")
        value = parsed.value
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"the gold calls must be a list, [] for no call; got {shorten(value)}")
    if value and all(isinstance(item, (list, tuple)) for item in value):
        return GoldCalls(tuple(tuple(_gold_call(one, text) for one in item) for item in value), by_round=True)
    return GoldCalls((tuple(_gold_call(one, text) for one in value),))


def _gold_call(given: Any, text: bool) -> GoldCall:
    function = given.get("function") if isinstance(given, Mapping) else None
    inner = function if isinstance(function, Mapping) else given
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str) or not name:
        raise ValueError(f'a gold call must be {{"name": ..., "arguments": {{...}}}}, got {shorten(given)}')
    misnamed = next((key for key in inner if key in _OTHER_NAMES and inner[key] is not None), None)
    if misnamed is not None and "arguments" not in inner:
        raise ValueError(f"the gold call {name!r} has no 'arguments', but {misnamed!r}; rename it to 'arguments'")
    if inner.get("optional") is not None:
        raise ValueError(f'the gold call {name!r} has the key "optional"; only an argument may be optional')
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
    """Return a value in which None in an object may be missing."""
    if isinstance(value, (list, tuple)):
        return [_gaps_optional(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    if value and set(value) <= {"optional", "any_of"}:
        return {key: one for key, one in value.items() if one is not None} or {"optional": None}
    return {key: {"optional": None} if one is None else _gaps_optional(one) for key, one in value.items()}
