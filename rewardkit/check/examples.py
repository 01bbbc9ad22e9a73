"""Examples: data rows, each with correct and incorrect completions.

``examples_of([{"prompt": "6*7?", "answer": "42"}], good=["<answer>42</answer>"], bad=["<answer>41</answer>"])``
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rewardkit.check.variants.episodes.messages import calling
from rewardkit.errors import BindingError, shorten

_OWN = ("prompt", "prompts", "completion")


@dataclass(frozen=True)
class Example:
    """One data row with its correct and incorrect completions.

    Attributes:
        prompt: a string, chat messages, or None.
        columns: all columns except the prompt.
        good: completions that deserve full marks.
        bad: completions that deserve lower scores than each good completion.
    """

    prompt: Any = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    good: tuple[Any, ...] = ()
    bad: tuple[Any, ...] = ()

    @property
    def shown(self) -> dict[str, Any]:
        """The prompt (if there is one) and the columns, for display in findings."""
        return {**({} if self.prompt is None else {"prompt": self.prompt}), **self.columns}


def examples_of(examples: Iterable[Mapping[str, Any]], good: Any = (), bad: Any = ()) -> tuple[Example, ...]:
    """Combine data rows with their correct and incorrect completions.

    Args:
        examples: at least one row ``{"prompt": ..., <columns>}``, or ``[{}]`` if the reward reads no columns.
        good: one completion (or list of completions) per example. With any other number of items, all completions apply
            to every example. A completion is a string or a list of chat messages. A function is called with the row. A
            mapping with a ``completion`` and columns is a separate example.
        bad: incorrect completions, in the same format.

    Raises:
        BindingError: there are no rows, or an argument has the wrong type.
    """
    rows = [dict(_checked_row(row, number)) for number, row in enumerate(_listed(examples, "examples"))]
    if not rows:
        raise BindingError('examples= is empty. Pass at least one row: examples=[{"prompt": ..., <columns>}], or [{}]')
    cases = [[_prompt(row), _columns(row), [], []] for row in rows]
    for slot, argument, name in ((2, good, "good"), (3, bad, "bad")):
        for number, completions in enumerate(_per_example(argument, rows, name)):
            cases[number][slot] += completions
        if not callable(argument):
            for item in _listed(argument, name):
                if _is_row(item):
                    case = [_prompt(item), _columns(item), [], []]
                    case[slot].append(item["completion"])
                    _merged(cases, case)
    return tuple(Example(prompt, columns, tuple(right), tuple(wrong)) for prompt, columns, right, wrong in cases)


def grouped(examples: Sequence[Example]) -> tuple[Example, ...]:
    """Merge examples with the same prompt and columns, which a trainer treats as one group."""
    merged: list[Example] = []
    for example in examples:
        index = next((index for index, candidate in enumerate(merged) if _same_row(candidate, example)), None)
        if index is None:
            merged.append(example)
        else:
            first = merged[index]
            good = (*first.good, *(candidate for candidate in example.good if candidate not in first.good))
            merged[index] = replace(first, good=good, bad=(*first.bad, *example.bad))
    return tuple(merged)


def _same_row(example: Example, other: Example) -> bool:
    try:
        return example.prompt is not None and bool(example.prompt == other.prompt and example.columns == other.columns)
    except ValueError:  # arrays
        return False


def per_example(examples: Sequence[Example], **arguments: Any) -> Iterator[str]:
    """Yield a remark if `good` or `bad` has one item per example and was therefore matched item by item."""
    matched_names = []
    for name, values in arguments.items():
        items = [] if values is None or callable(values) else [item for item in values if not _is_row(item)]
        if len(items) == len(examples) > 1 and all(len(_as_completions(item)) == 1 for item in items):
            matched_names.append(name)
    if matched_names:
        names = " and ".join(matched_names)
        yield f"{names}: one per example. To try several on an example, pass a list for it."


def _merged(cases: list[list[Any]], case: list[Any]) -> None:
    for other in cases:
        if other[:2] == case[:2]:
            other[2] += case[2]
            other[3] += case[3]
            return
    cases.append(case)


def _per_example(argument: Any, rows: Sequence[dict[str, Any]], name: str) -> list[list[Any]]:
    if callable(argument):
        completions_of: Callable[[dict[str, Any]], Any] = argument
        return [_as_completions(completions_of(dict(row))) for row in rows]
    items = [item for item in _listed(argument, name) if not _is_row(item)]
    if len(items) == len(rows):
        return [_as_completions(item) for item in items]
    return [[completion for item in items for completion in _as_completions(item)] for _ in rows]


def _as_completions(item: Any) -> list[Any]:
    """Return the completions in `item`. Chat messages, a single message, or calls with an answer are one completion."""
    listed = isinstance(item, (list, tuple))
    mappings = [mapping for mapping in (item if listed else [item]) if isinstance(mapping, Mapping)]
    invalid_mapping = next((mapping for mapping in mappings if not {"calls", "role", "content"} & set(mapping)), None)
    if invalid_mapping is not None:
        raise BindingError(
            f'a completion must be text, messages, or {{"calls": [...], "answer": "..."}}, got '
            f"{shorten(invalid_mapping)}"
        )
    if mappings and len(mappings) == (len(item) if listed else 1) and all("calls" in mapping for mapping in mappings):
        return [_episode(mapping) for mapping in mappings]
    if isinstance(item, Mapping):
        return [[item]]
    if isinstance(item, (list, tuple)) and item and not all(isinstance(part, Mapping) for part in item):
        return list(item)
    return [item]


def _episode(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Convert ``{"calls": [("open", {"color": "red"})], "answer": "18"}`` to messages, with one turn per call."""
    unknown = sorted(map(str, set(item) - {"calls", "answer"}))
    calls = item["calls"]
    if unknown or not isinstance(calls, (list, tuple)) or not all(map(_is_call, calls)):
        problem = f"it also has {', '.join(map(repr, unknown))}" if unknown else f"the calls are {shorten(calls)}"
        raise BindingError(
            f'calls must be written as {{"calls": [("open", {{"color": "red"}})], "answer": "18"}}; {problem}'
        )
    turns = [calling((name, arguments)) for name, arguments in calls]
    return [*turns, {"role": "assistant", "content": str(item.get("answer", ""))}]


def _is_call(value: Any) -> bool:
    """Return whether `value` is a pair of a tool name and arguments."""
    return (
        isinstance(value, (list, tuple))
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], Mapping)
    )


def _is_row(item: Any) -> bool:
    return isinstance(item, Mapping) and "completion" in item


def _prompt(row: Mapping[str, Any]) -> Any:
    return row.get("prompt", row.get("prompts"))


def _columns(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _OWN}


def _listed(values: Any, name: str) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise BindingError(f"{name}= must be a list with one item per example, got {shorten(values)}")
    return list(values)


def _checked_row(row: Any, number: int) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise BindingError(f"examples[{number}] must be a mapping with the columns of one row, got {shorten(row)}")
    return row
