"""Edits: texts at a known distance from a gold answer, such as ``("43", 1)`` and ``("24", 2)`` for ``"42"``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from hypothesis import assume, strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.batch.call_arguments import read_arguments
from rewardkit.batch.trajectory import Trajectory
from rewardkit.check.completion.parsed_completion import parsed_json
from rewardkit.check.variants.episodes.messages import Messages, is_assistant, is_result, last_turn
from rewardkit.errors import RewardDefinitionError, shorten

# Edits of trajectories: changes that a reward for tool calls must treat fairly.


Edit = Literal["further calls", "idle turns", "parallel order", "arguments", "ids", "prefix"]


def edited(messages: Iterable[Mapping[str, Any]], *edits: Edit) -> SearchStrategy[tuple[Edit, Messages]]:
    """Draw pairs of an edit's name and the edited completion.

    Args:
        messages: a completion, with calls in the format of TRL or OpenAI.
        edits: some of ``"further calls"``: 1 to 20 calls before the last turn, repeated or to a tool that does not
            exist; ``"idle turns"``: turns without content, before and after the answer; ``"parallel order"``: the calls
            in each turn, permuted together with their results; ``"arguments"``: arguments as a mapping or as JSON text,
            with keys in another order; ``"ids"``: ids on all calls and results, or on none; ``"prefix"``: the
            completion cut after one of the messages. By default, all of these.

    Raises:
        RewardDefinitionError: an edit is unknown.
    """
    for edit in edits:
        if edit not in get_args(Edit):
            raise RewardDefinitionError(
                f"edited: an edit must be one of {', '.join(get_args(Edit))}, got {shorten(edit)}"
            )
    copies = [dict(message) for message in messages]
    return st.sampled_from(edits or get_args(Edit)).flatmap(
        lambda edit: st.tuples(st.just(edit), _EDITS[edit](copies)),
    )


@st.composite
def _further_calls(draw: DrawFn, messages: Messages) -> Messages:
    calls = [call for call in _calls(messages) if isinstance(call.get("function"), Mapping)]
    unknown = {"type": "function", "function": {"name": "no_such_tool", "arguments": {}}}
    further: Messages = []
    # A few calls, or enough calls to exceed a limit on calls.
    for _ in range(draw(st.sampled_from([1, 2, 20]))):
        call = draw(
            st.sampled_from(
                [unknown, *({"type": "function", "function": past_call["function"]} for past_call in calls)]
            )
        )
        name = call["function"].get("name")
        further += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "name": name, "content": str({"error": f"Tool {name} not found."})},
        ]
    last = last_turn(messages)
    return [*messages[:last], *further, *messages[last:]]


@st.composite
def _idle_turns(draw: DrawFn, messages: Messages) -> Messages:
    idle = {"role": "assistant", "content": draw(st.sampled_from(["", None, " "]))}
    indices = [index for index, message in enumerate(messages) if is_assistant(message)] + [len(messages)]
    index = draw(st.sampled_from(indices))
    return [*messages[:index], *[dict(idle)] * draw(st.sampled_from([1, 2, 5])), *messages[index:]]


@st.composite
def _parallel_order(draw: DrawFn, messages: Messages) -> Messages:
    """Draw the messages with the calls in each turn permuted. Each result stays with its call."""
    reordered: Messages = []
    for part, turn in zip(_parts(messages), [None, *Trajectory.of(messages).turns], strict=False):
        calls = part[0].get("tool_calls") if part and turn is not None else None
        results = [message for message in part[1:] if is_result(message)]
        if turn is None or not isinstance(calls, list) or len(results) not in (0, len(calls)):
            reordered += part
            continue
        order = draw(st.permutations(range(len(calls))))
        messages_by_result = {id(result): message for result, message in zip(turn.results, results, strict=False)}
        moved = [messages_by_result.get(id(turn.calls[index].result)) for index in order] if results else []
        if any(message is None for message in moved):
            reordered += part
            continue
        remainder = [message for message in part[1:] if not is_result(message)]
        reordered += [{**part[0], "tool_calls": [calls[index] for index in order]}, *filter(None, moved), *remainder]
    return reordered


@st.composite
def _arguments(draw: DrawFn, messages: Messages) -> Messages:
    as_text, backwards = draw(st.booleans()), draw(st.booleans())

    def written(arguments: Any) -> Any:
        value, _ = read_arguments(arguments)
        if value is None:
            return arguments
        names = reversed(list(value)) if backwards else value
        again = {name: value[name] for name in names}
        return json.dumps(again) if as_text else again

    def changed(call: dict[str, Any]) -> dict[str, Any]:
        function = call.get("function")
        if not isinstance(function, Mapping) or "arguments" not in function:
            return call
        return {**call, "function": {**function, "arguments": written(function["arguments"])}}

    return _with_calls(messages, changed)


@st.composite
def _ids(draw: DrawFn, messages: Messages) -> Messages:
    """Draw the messages with ids on all calls and their results, or without any ids."""
    if not draw(st.booleans()):
        bare = _with_calls(messages, lambda call: {name: value for name, value in call.items() if name != "id"})
        return [{name: value for name, value in message.items() if name != "tool_call_id"} for message in bare]
    ids: dict[int, str] = {}
    turns = Trajectory.of(messages).turns
    numbers = iter([(turn, position) for turn in turns for position in range(len(turn.calls))])
    counter = iter(range(10**6))

    def numbered(call: dict[str, Any]) -> dict[str, Any]:
        turn, call_index = next(numbers)
        name = f"call_{next(counter)}"
        if turn.calls[call_index].result is not None:
            ids[id(turn.calls[call_index].result)] = name
        return {**call, "id": name}

    numbered_messages = _with_calls(messages, numbered)
    results = iter([result for turn in turns for result in turn.results])
    for message in numbered_messages:
        if is_result(message) and (result := next(results, None)) is not None and id(result) in ids:
            message["tool_call_id"] = ids[id(result)]
    return numbered_messages


@st.composite
def _prefix(draw: DrawFn, messages: Messages) -> Messages:
    return messages[: draw(st.integers(0, len(messages)))]


_EDITS: Mapping[str, Callable[[Messages], SearchStrategy[Messages]]] = {
    "further calls": _further_calls,
    "idle turns": _idle_turns,
    "parallel order": _parallel_order,
    "arguments": _arguments,
    "ids": _ids,
    "prefix": _prefix,
}


def _calls(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    listed = [message.get("tool_calls") for message in messages if is_assistant(message)]
    return [call for calls in listed if isinstance(calls, list) for call in calls if isinstance(call, dict)]


def _with_calls(messages: Messages, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Messages:
    """Return copies of the messages with each call changed."""
    copies = []
    for message in messages:
        calls = message.get("tool_calls")
        if is_assistant(message) and isinstance(calls, list):
            message = {**message, "tool_calls": [change(call) if isinstance(call, dict) else call for call in calls]}
        copies.append(dict(message))
    return copies


def _parts(messages: Messages) -> list[Messages]:
    """Return the messages before the first assistant message, and each assistant message with the messages after it."""
    parts: list[Messages] = [[]]
    for message in messages:
        if is_assistant(message):
            parts.append([])
        parts[-1].append(message)
    return parts


Unit = Literal["characters", "digits", "words", "items", "lines"]

_MOST = 5
"""The maximum distance that is drawn by default. Arbitrary."""
_LONG = 400
"""The number of units above which the distance is not measured, but follows from how the text is generated. The time
for measuring grows with the product of both lengths."""


def edits(gold: Any, *, distance: int | None = None, unit: Unit = "characters") -> SearchStrategy[tuple[str, int]]:
    """Draw pairs of a text and its edit distance from `gold`.

    Args:
        gold: a string, a number, or a list, which is written as JSON.
        distance: the number of edits, at least 1. By default, a distance from 1 to 5 is drawn.
        unit: the unit that one edit inserts, deletes, or replaces: ``"characters"``, ``"words"``, ``"items"`` in a list
            (JSON, or text with commas, semicolons, or lines), or ``"lines"``. ``"digits"`` only replaces digits, so the
            distance in characters is the same.

    Raises:
        RewardDefinitionError: the distance is below 1, or larger than the number of digits.
    """
    text = gold if isinstance(gold, str) else json.dumps(gold, ensure_ascii=False, default=str)
    written = _written(text, unit)
    most = len(written.units) if unit == "digits" else _MOST
    if most == 0:
        raise RewardDefinitionError(f"edits: {shorten(text)} has no digits. Pass unit='characters'")
    if distance is not None and not (distance >= 1 and (unit != "digits" or distance <= most)):
        allowed = f"from 1 to {most}" if unit == "digits" else "at least 1"
        raise RewardDefinitionError(f"edits: distance must be {allowed}, got {distance}")
    counts = st.integers(1, min(_MOST, most)) if distance is None else st.just(distance)
    return counts.flatmap(lambda count: st.tuples(_edited(written, count, unit), st.just(count)))


def edit_distance(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Return the Levenshtein distance: the fewest insertions, deletions, and replacements (Levenshtein 1966).

    ``edit_distance("kitten", "sitting")`` is 3. The time is proportional to the product of both lengths.
    """
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]


@dataclass(frozen=True)
class _Written:
    """A text split into units, with a function that joins units and a strategy for new units."""

    units: tuple[str, ...]
    join: Callable[[Sequence[str]], str]
    foreign: SearchStrategy[str]


def _written(text: str, unit: Unit) -> _Written:
    if unit == "characters":
        return _Written(tuple(text), "".join, _characters(text))
    if unit == "digits":
        pieces = re.split(r"([0-9])", text)
        return _Written(tuple(pieces[1::2]), lambda digits: _interleaved(pieces[::2], digits), st.nothing())
    if unit == "words":
        return _Written(tuple(text.split()), " ".join, _other_units(text.split()))
    if unit == "lines":
        return _Written(tuple(text.split("\n")), "\n".join, _other_units(text.split("\n")))
    if unit == "items":
        return _items(text)
    raise RewardDefinitionError(f"edits: unit must be characters, digits, words, items, or lines, got {shorten(unit)}")


def _items(text: str) -> _Written:
    parsed = parsed_json(text)
    if isinstance(parsed, list):
        units = tuple(json.dumps(item, ensure_ascii=False) for item in parsed)
        numeric = all(isinstance(item, (int, float)) for item in parsed)
        new = _other_units(units, numeric=numeric)
        return _Written(units, lambda items: f"[{', '.join(items)}]", new if numeric else new.map(json.dumps))
    joint = next((mark for mark in ("\n", "; ", ", ", ";", ",") if mark in text), ", ")
    listed = tuple(text.split(joint))
    return _Written(
        listed, joint.join, _other_units(listed, numeric=all(re.fullmatch(r"-?\d+", item) for item in listed))
    )


def _characters(text: str) -> SearchStrategy[str]:
    """Draw characters like those of the text first, then any characters."""
    text_characters = sorted(set(text))
    alike = "0123456789" if text.strip("0123456789.,-") == "" else "abcdefghijklmnopqrstuvwxyz0123456789 "
    anything = st.characters(exclude_categories=["Cs", "Cc"])
    return st.one_of(st.sampled_from(alike), st.sampled_from(text_characters or ["a"]), anything)


def _other_units(units: Sequence[str], *, numeric: bool = False) -> SearchStrategy[str]:
    # Numbers and words that lists of examples rarely have.
    words = [str(number) for number in range(90, 99)] if numeric else ["window", "quartz", "blue", "seven", "oxen"]
    return st.sampled_from([word for word in words if word not in units] + [*units][:5])


def _interleaved(around: Sequence[str], digits: Sequence[str]) -> str:
    return "".join(part for pair in zip(around, (*digits, ""), strict=True) for part in pair)


def _edited(written: _Written, count: int, unit: Unit) -> SearchStrategy[str]:
    return _digits_replaced(written, count) if unit == "digits" else _units_edited(written, count, unit)


@st.composite
def _digits_replaced(draw: DrawFn, written: _Written, count: int) -> str:
    size = len(written.units)
    indices = draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count, unique=True))
    digits = list(written.units)
    for index in indices:
        leading = index == 0 and size > 1
        digits[index] = draw(
            st.sampled_from([digit for digit in "1234567890"[: 10 - leading] if digit != digits[index]])
        )
    # Shifted digits, as in 1212 -> 2121, have a smaller distance than the number of replaced digits.
    assume(size > _LONG or edit_distance(written.units, digits) == count)
    return written.join(digits)


@st.composite
def _units_edited(draw: DrawFn, written: _Written, count: int, unit: Unit) -> str:
    units = list(written.units)
    long = len(units) > _LONG
    for _ in range(count):
        kind = draw(st.sampled_from(["replace", "insert"] if long or not units else ["replace", "insert", "delete"]))
        index = draw(st.integers(0, len(units) - (kind != "insert" and bool(units))))
        new = [] if kind == "delete" else [draw(written.foreign)]
        units[index : index + (kind != "insert")] = new
    text = written.join(units)
    if long:
        # Each unit that is not in the gold answer takes one edit, and there were no other edits.
        assume(sum(edited_unit not in set(written.units) for edited_unit in units) == count)
    else:
        assume(edit_distance(written.units, units) == count)
    assume(tuple(_written(text, unit).units) == tuple(units))  # an inserted comma must not split an item
    return text
