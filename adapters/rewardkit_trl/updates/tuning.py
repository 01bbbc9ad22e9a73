"""The numbers of a reward that can be changed without code: weights, thresholds, and when stages end.

``retuned(gate(tags, 0.7 * exact + 0.3 * style), {"weights": {"exact": 0.5}})`` is the same tree with another weight.

Each is called after what it belongs to: a weight after its component, a threshold after its gate, an end after its
stage. Where that says too little, the names of what stands around it come in front: ``tags_gate/exact``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, get_args

from rewardkit.aggregators.curriculum import Curriculum, Stage, curriculum
from rewardkit.aggregators.gated import HardGate
from rewardkit.aggregators.means import WeightedMean
from rewardkit.aggregators.monitored import Monitor
from rewardkit.aggregators.power_means import PowerMean
from rewardkit.core.algebra import Reward, WeightedSum
from rewardkit.core.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.core.leaf import Leaf
from rewardkit.core.progress import Constant, Schedule
from rewardkit.core.scorer import Scorer
from rewardkit_trl.updates.grammar import parsed, written

Kind = Literal["weights", "thresholds", "schedules"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Numbers = Mapping[str, Mapping[str, Any]]
"""Kind -> name -> a number, or a schedule as text."""

_Weighted = WeightedSum | WeightedMean | PowerMean


@dataclass(frozen=True)
class Tunable:
    """One number: what kind it is, where it stands, and what it is now.

    Attributes:
        path: the names of what is around it, and its own.
        node: the reward that holds it, equal ones being one.
        place: which of several numbers of that kind in `node`.
    """

    kind: Kind
    path: tuple[str, ...]
    value: Any
    node: Reward
    place: int

    @property
    def text(self) -> str:
        return "/".join(self.path)


def tunables(reward: Reward) -> list[Tunable]:
    """All numbers of `reward`, in the order in which the tree mentions them, each under a path of its own."""
    names = Scorer(reward).names
    labels = {node: name for name, node in (*names.terms, *names.components, *names.gates)}
    found: list[Tunable] = []
    seen: set[tuple[Kind, tuple[str, ...]]] = set()
    for one in _visited(reward, (), labels, set()):
        *around, own = one.path
        path, number = one.path, 1
        while (one.kind, path) in seen:
            number += 1
            path = (*around, f"{own}#{number}")
        seen.add((one.kind, path))
        found.append(replace(one, path=path))
    return found


def _visited(node: Reward, path: tuple[str, ...], labels: Mapping[Reward, str], seen: set[Reward]) -> Iterator[Tunable]:
    if isinstance(node, Leaf) or node in seen:
        return
    seen.add(node)
    label = labels.get(node, node.name)
    inside = (*path, label) if label else path
    if isinstance(node, _Weighted):
        for place, (weight, child) in enumerate(node.items):
            if not isinstance(child, Monitor):  # which counts for nothing, whatever its weight
                yield Tunable("weights", (*inside, labels.get(child, child.name) or "sum"), weight, node, place)
    if isinstance(node, HardGate):
        yield Tunable("thresholds", inside, node.threshold, node, 0)
    if isinstance(node, Curriculum):
        for place, stage in enumerate(node.stages):
            if stage.until is not None:
                yield Tunable("schedules", (*inside, stage.name), stage.until, node, place)
            yield from _visited(stage.reward, (*inside, stage.name), labels, seen)
        return
    for child in node.children:
        yield from _visited(child, inside, labels, seen)


def numbers_of(reward: Reward) -> dict[str, dict[str, float | str]]:
    """Kind -> name -> number, or the text of a schedule: what `retuned` takes."""
    found = tunables(reward)
    return {kind: {_key(one, found): _shown(one.value) for one in found if one.kind == kind} for kind in KINDS}


def _key(one: Tunable, found: list[Tunable]) -> str:
    """The shortest end of its path that no other has."""
    paths = [other.path for other in found if other.kind == one.kind]
    for length in range(1, len(one.path)):
        if sum(path[-length:] == one.path[-length:] for path in paths) == 1:
            return "/".join(one.path[-length:])
    return one.text


def _shown(value: Any) -> float | str:
    if not isinstance(value, Schedule):
        shown: float = value
        return shown
    try:
        return written(value)
    except RewardDefinitionError:  # a schedule of the user's own
        return repr(value)


def retuned(reward: Reward, numbers: Numbers) -> Reward:
    """`reward` with other numbers, all checked as they were when it was made.

    Raises:
        RewardDefinitionError: a name is unknown or says too little, or a number is not possible where it stands.
    """
    found = tunables(reward)
    changes: dict[tuple[Reward, Kind, int], Any] = {}
    for kind, given in numbers.items():
        if kind not in KINDS:
            raise RewardDefinitionError(f"there are {', '.join(KINDS)} to set, not {kind!r}.{near_miss(kind, KINDS)}")
        for name, value in given.items():
            one = _named(name, kind, found)
            changes[one.node, one.kind, one.place] = _checked(value, f"{kind}.{name}")
    made: Reward = _Rebuilding(changes).of(reward)
    return made


def _named(name: str, kind: str, found: list[Tunable]) -> Tunable:
    alike = [one for one in found if one.kind == kind]
    exact = [one for one in alike if one.text == name]
    fitting = exact or [one for one in alike if f"/{one.text}".endswith(f"/{name}")]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise RewardDefinitionError(
            f"{kind}: {name!r} stands in several places: {', '.join(one.text for one in fitting)}"
        )
    known = [_key(one, found) for one in alike]
    raise RewardDefinitionError(
        f"{kind}: this reward has no {shorten(name)}.{near_miss(name, known)} There are: {', '.join(known) or 'none'}"
    )


def _checked(value: Any, where: str) -> Any:
    """A number or a schedule; of a stage's end a step stays an int."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return parsed(value)
    except RewardDefinitionError as error:
        raise RewardDefinitionError(f"{where}: {error}") from None


@dataclass(frozen=True)
class _Rebuilding:
    """Makes a tree anew where something in it changes; what does not stays the very object it was."""

    changes: Mapping[tuple[Reward, Kind, int], Any]

    def of(self, value: Any) -> Any:
        if isinstance(value, tuple):
            parts = tuple(map(self.of, value))
            return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
        if isinstance(value, Leaf) or not isinstance(value, Reward | Schedule | Stage) or not is_dataclass(value):
            return value
        inside = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        new = {name: self.of(part) for name, part in inside.items()}
        if isinstance(value, Reward):
            new |= self._set(value, new)
        if all(new[name] is inside[name] for name in new):
            return value
        if isinstance(value, Curriculum):
            made = curriculum(new["stages"])
            return made.named(new["label"]) if new["label"] else made
        return replace(value, **new)

    def _set(self, node: Reward, parts: Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(node, _Weighted):
            pairs = enumerate(parts["items"])
            return {"items": _same(parts["items"], tuple(self._pair(node, place, pair) for place, pair in pairs))}
        if isinstance(node, HardGate):
            return {"threshold": self._now(node, "thresholds", 0, parts["threshold"])}
        if isinstance(node, Curriculum):
            stages = tuple(self._stage(node, place, stage) for place, stage in enumerate(parts["stages"]))
            return {"stages": _same(parts["stages"], stages)}
        return {}

    def _pair(self, node: Reward, place: int, pair: tuple[Any, Reward]) -> tuple[Any, Reward]:
        weight = self._now(node, "weights", place, pair[0])
        return pair if weight is pair[0] else (weight, pair[1])

    def _stage(self, node: Reward, place: int, stage: Stage) -> Stage:
        until = self._now(node, "schedules", place, stage.until)
        if until is stage.until:
            return stage
        over = 0 if isinstance(until, Schedule) else stage.over
        return Stage(stage.name, stage.reward, until=until, over=over)

    def _now(self, node: Reward, kind: Kind, place: int, value: Any) -> Any:
        new = self.changes.get((node, kind, place), value)
        if new is value:
            return value
        if isinstance(new, Constant):
            new = new.value
        return float(new) if kind != "schedules" and isinstance(new, int) else new


def _same(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
    return new if any(first is not second for first, second in zip(old, new, strict=True)) else old
