"""Plan: a compiled tree with its distinct nodes, their names, and other information that all batches share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, get_args

from rewardkit.batch.batch import Batch
from rewardkit.errors import RewardDefinitionError, RewardKitError, near_miss
from rewardkit.progress.bounds import TOLERANCE
from rewardkit.progress.schedule import PerformanceSchedule, Schedule
from rewardkit.text.extractors import Prefilled
from rewardkit.text.thinking import Marks
from rewardkit.tree.conversion import RewardLike, tree_of
from rewardkit.tree.names import Names
from rewardkit.tree.parameters import Scope, check
from rewardkit.tree.reward import Reward, Tunable, counted_nodes, leaves, walk

# Late changes: schedules and stages whose first change comes after the last training step, so it never happens.


_OF = {"weights": "the weight of", "thresholds": "the threshold of", "schedules": "the end of stage"}


def late_changes(nodes: Iterable[Reward], max_steps: int, label: Callable[[Reward], str]) -> Iterator[str]:
    """Yield a warning for each schedule or stage in `nodes` whose first change comes after the last training step.

    Args:
        max_steps: the number of optimizer steps in the training run.
        label: returns the name of a node.
    """
    length = f"but this training run has only {max_steps} steps"
    for node in nodes:
        for tunable in node.facts.tunables:
            if tunable.kind == "schedules" and isinstance(tunable.value, int) and tunable.value >= max_steps:
                yield (
                    f"{label(node)}: stage {tunable.stage!r} ends at step {tunable.value}, {length}, so the next stage "
                    "never begins. Write until= as a fraction of training, or lower it"
                )
            elif isinstance(tunable.value, Schedule):
                for schedule, step in tunable.value.late(max_steps):
                    yield (
                        f"{_tunable_label(tunable, node, label)}: {schedule!r} first changes at step {step}, "
                        f"{length}, so it never has an effect. Write its positions as fractions of training (0.0 to "
                        "1.0), or lower them"
                    )


def _tunable_label(tunable: Tunable, node: Reward, label: Callable[[Reward], str]) -> str:
    if tunable.kind == "schedules":
        return f"{_OF[tunable.kind]} {tunable.stage!r} of {label(node)!r}"
    return f"{_OF[tunable.kind]} {label(node if tunable.child is None else tunable.child)!r}"


class Plan:
    """A compiled tree.

    Attributes:
        root: the tree.
        nodes: the distinct nodes of the tree.
        names: the names of components, terms, and gates.
        followers: the schedules that follow a component's mean.
        followed: the rewards whose means are followed.
        compares: whether a node compares the completions for a prompt.
        together: the rows that must be in the same batch for the scores to be correct.
        scheduled: whether scores depend on training progress, through a schedule or a function that reads the progress.
        waits: whether a node waits for something; other nodes can run in the meantime.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: two different rewards in the tree have the same name.
    """

    def __init__(self, reward: RewardLike | Sequence[Any]) -> None:
        self.root = tree_of(reward, "the object to score")
        self.names = Names.of(self.root)
        _check_prefilled(self.root)
        self._first: dict[Reward, Reward] = {}
        # Keep the objects alive, so that no other object can get the same id.
        self._by_identity: dict[int, tuple[Reward, Reward]] = {}
        for node, _, _ in walk(self.root):
            self._by_identity[id(node)] = (node, self._first.setdefault(node, node))
        self.nodes: Sequence[Reward] = list(self._first)
        self._checked: object = None
        self._labels = self._labelled()
        self._component_names = frozenset(name for name, _ in self.names.components)
        self.followers = list(dict.fromkeys(follower for node in self.nodes for follower in node.facts.followers))
        self.followed = self._followed()
        bindings = [node.facts.binding for node in self.nodes]
        self.waits = any(binding.waits for binding in bindings if binding is not None)
        self.compares = any(node.facts.together == "group" for node in self.nodes)
        self.together: Scope = max((node.facts.together for node in self.nodes), key=get_args(Scope).index)
        self.scheduled = bool(self.followers) or any(
            node.facts.schedules or (node.facts.binding is not None and node.facts.binding.follows_progress)
            for node in self.nodes
        )
        self.measures = any(node.facts.measures for node in self.nodes)

    def first(self, reward: Reward) -> Reward:
        """Return the one node that is evaluated for all nodes that are equal to `reward`."""
        entry = self._by_identity.get(id(reward))
        return self._first[reward] if entry is None else entry[1]

    def label(self, reward: Reward) -> str:
        """Return the name of `reward` in this tree; for a renamed reward, the new name."""
        node_label = self._labels.get(id(reward))
        return self._labels.get(id(self.first(reward)), reward.name) if node_label is None else node_label

    def _labelled(self) -> dict[int, str]:
        """Return the names of all nodes by node id."""
        names = {id(self.first(node)): name for name, node in self.names.components}
        for name, node in self.names.components:
            if node.facts.stands_for is not None:
                names.setdefault(id(self.first(node.facts.stands_for)), name)
        labels = {id(node): names.get(id(first), node.name) for node, first in self._by_identity.values()}
        return names | labels

    def _followed(self) -> list[Reward]:
        nodes = dict(self.names.components)
        for follower in self.followers:
            _check_followed(follower, nodes)
        return [nodes[name] for name in dict.fromkeys(follower.component for follower in self.followers)]

    def check(self, batch: Batch) -> None:
        """Raise a BindingError if the batch lacks columns that a reward in the tree needs."""
        if self.compares:
            batch.check_groups()
        available = (tuple(batch.columns), batch.prompts is None, batch.completion_ids is None, tuple(batch.context))
        if available == self._checked:  # the same as the last batch
            return
        for node in self.nodes:
            try:
                check_node(node, batch, self.label(node))
            except RewardKitError as error:
                self.blame(error, node)
                raise
        self._checked = available

    def blame(self, error: RewardKitError, reward: Reward) -> None:
        """Record `reward` as the component in an error that it raised, unless the error already has a component."""
        label = self.label(reward)
        if not error.component and label in self._component_names:
            error.component = label

    def traps(self) -> Iterator[str]:
        """Yield warnings about parts of the tree that probably do not work as intended."""
        weights = self.root.facts.weights or ()
        if weights and isinstance(weights[0], Schedule) and all(weight == weights[0] for weight in weights):
            yield (
                f"the schedule {weights[0]!r} multiplies the whole reward, but GRPO normalizes within each group, "
                "which cancels it. Schedule a part of the reward instead"
            )
        scored_leaves = {leaf for _, node in self.names.terms for leaf in leaves(node)}
        counted = set(counted_nodes(self.root))
        for node in self.nodes:
            condition = node.facts.condition
            if condition is not None and node in counted and not scored_leaves & set(leaves(condition)):
                yield (
                    f"gate {node.name!r}: its condition {condition.name or condition!r} is not rewarded "
                    "itself, so the model learns nothing until a completion passes by chance. Add the "
                    "condition to the reward "
                    "with a small weight"
                )
            yield from node.facts.traps
            other_limits = {limit for other in self.nodes if other is not node for limit in other.facts.limits}
            yield from (trap for limit, trap in node.facts.traps_unless.items() if limit not in other_limits)

    def late(self, max_steps: int) -> Iterator[str]:
        """Yield a warning for each schedule or stage whose first change comes after the last training step."""
        return late_changes(self.nodes, max_steps, lambda node: self.label(node) or repr(node))


def _check_prefilled(root: Reward) -> None:
    """Raise a RewardDefinitionError if an extractor does not expect the thinking tag that the prompt opens."""
    opened: list[tuple[Marks, tuple[str, ...], Reward]] = []
    waiting: list[tuple[Prefilled, tuple[str, ...], Reward]] = []
    for node, path, _ in walk(root):
        binding = node.facts.binding
        if binding is None:
            continue
        if marks := getattr(binding.function, "opened_by_prompt", None):
            opened.append((marks, path, node))
        for parameter in binding.parameters:
            view = parameter.view
            while view is not None and not isinstance(view, Prefilled):
                view = getattr(view, "source", None)
            waiting += [(view, path, node)] if view is not None else []
    for extractor, path, node in waiting:
        # The prompts of other routes may open another tag.
        here = [entry for entry in opened if all(key == other for key, other in zip(path, entry[1], strict=False))]
        if here and not any(marks in extractor.where.thinking.blocks for marks, _, _ in here):
            marks, _, form = here[0]
            raise RewardDefinitionError(
                f"{node!r} searches after {' or '.join(extractor.where.thinking.closings)}, but with {form!r}, the "
                f"prompt opens {marks.opening}, so no answer would be found. Name the tag: "
                f"extract=rk.extract.prefilled(rk.extract.{extractor.for_prompt(marks).where!r})"
            )


def check_node(node: Reward, batch: Batch, label: str) -> None:
    """Raise a BindingError if the batch lacks columns that `node` needs; `label` is the node's name in the tree."""
    binding = node.facts.binding
    if binding is None:
        return
    if not binding.foreign:
        check(binding.parameters, batch, label, binding.scope)
    more = getattr(binding.function, "check", None)
    if more is not None:
        more(batch, label)


def _check_followed(follower: PerformanceSchedule, nodes: dict[str, Reward]) -> None:
    """Raise a RewardDefinitionError if a schedule cannot follow the component that it names."""
    name = follower.component
    if name not in nodes:
        raise RewardDefinitionError(
            f"{follower!r} follows {name!r}, which is not a component of the reward. Components: {', '.join(nodes)}."
            f"{near_miss(name, nodes)} To add a component that is only logged, use rk.monitor(...)"
        )
    best = nodes[name].bounds[1]
    if follower.highest > best + TOLERANCE:
        raise RewardDefinitionError(
            f"{follower!r} waits for a mean of {follower.highest:g}, but the highest score of {name!r} is {best:g}"
        )
    if follower.source is not None and nodes[name] != follower.source:
        here = next((label for label, node in nodes.items() if node == follower.source), None)
        if here is not None:
            raise RewardDefinitionError(
                f"{follower!r} follows {follower.source!r}, whose name in this reward is {here!r}, because another "
                f"component is called {name!r}. Pass the name {here!r} to the schedule instead of the reward"
            )
        raise RewardDefinitionError(
            f"{follower!r} follows {follower.source!r}, but the component {name!r} is {nodes[name]!r}. Rename the "
            "component "
            'that it follows: .named("another name")'
        )
