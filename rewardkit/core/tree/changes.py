"""Changes: the same tree with other numbers or other columns; all parts that do not change stay the same objects.

``with_columns(number("answer"), {"answer": "solution"})`` reads the column "solution" where the reward says "answer".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from rewardkit.core.batch.batch import RESERVED
from rewardkit.core.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.core.progress.schedule import Schedule
from rewardkit.core.tree.reward import Reward, Tunable, walk

Number = Callable[[Reward, int, Tunable], Any]


def _same_number(node: Reward, place: int, one: Tunable) -> Any:
    return one.value


def changed(value: Any, own: Callable[[Reward], Reward], number: Number = _same_number) -> Any:
    """Return a tree where something in it changes. Schedules that follow a changed reward change, too.

    Args:
        value: a reward; also a schedule or a tuple that holds rewards.
        own: returns a node with changes of its own; it is called from the leaves up.
        number: returns the number for a tunable of a node, by its place.
    """
    if isinstance(value, Reward):
        facts = value.facts
        numbers = [changed(number(value, place, one), own, number) for place, one in enumerate(facts.tunables)]
        children = [changed(child, own, number) for child in facts.children]
        same = [new is old for new, old in zip(children, facts.children, strict=True)]
        same += [new is one.value for new, one in zip(numbers, facts.tunables, strict=True)]
        return own(value if all(same) else value._rebuilt(tuple(children), tuple(numbers)))
    if isinstance(value, tuple):
        parts = tuple(changed(part, own, number) for part in value)
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    if isinstance(value, Schedule) and is_dataclass(value):
        inside = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        new = {name: changed(part, own, number) for name, part in inside.items()}
        return value if all(new[name] is inside[name] for name in new) else replace(value, **new)
    return value


def with_columns(reward: Reward, columns: Mapping[str, str]) -> Reward:
    """Return `reward` reading other columns: ``{"answer": "solution"}`` for the data's "solution".

    Raises:
        RewardDefinitionError: it reads no such column, or the columns of a node cannot be changed.
    """
    read: dict[str, None] = {}
    takes_all = False
    for node, _, _ in walk(reward):
        facts = node.facts
        read |= dict.fromkeys(facts.columns)
        if facts.binding is not None and (facts.binding.foreign or facts.binding.reads("example")):
            takes_all = True
            if facts.with_columns is None:
                raise RewardDefinitionError(
                    f"with_columns: {node!r} gets all columns from another library. Rename the columns of the dataset"
                )
    for ours, theirs in columns.items():
        if not isinstance(theirs, str) or not theirs or theirs in RESERVED:
            raise RewardDefinitionError(
                f"with_columns: {ours}= must be the name of a column in the data, got {shorten(theirs)}"
            )
        if ours in RESERVED or not (takes_all or ours in read):
            raise RewardDefinitionError(
                f"with_columns: the reward reads no column {ours!r}. It reads: {', '.join(read) or 'none'}."
                f"{near_miss(ours, read)} Write with_columns(<the reward's name>=<the data's name>)"
            )

    def own(node: Reward) -> Reward:
        return node if node.facts.with_columns is None else node.facts.with_columns(columns)

    result: Reward = changed(reward, own)
    return result
