"""Reward: the base class of all nodes in a tree, with their declarations and evaluation.

This is the contract for all nodes. A node declares its `NodeSpec` once. It is evaluated by a generator that yields
requests (for its children's columns or for calls of its function) and returns its `Column`. Users write functions
(``@rk.reward``) and call factories; they never subclass `Reward`.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, Protocol, final

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column, Floats, Numbers, Rows
from rewardkit.batch.score import Fault, Measured, Score
from rewardkit.errors import RewardDefinitionError, RewardTypeError, is_factory, shorten
from rewardkit.progress.bounds import Bounds, number
from rewardkit.progress.schedule import PerformanceSchedule, Schedule, Weight, as_weight, following
from rewardkit.tree.binding import Binding
from rewardkit.tree.parameters import OnUnparsableGold, Scope

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Kind = Literal["weights", "thresholds", "schedules"]

Request = tuple["Reward", Rows]
"""A child, and the rows (n,) that need its value."""


class Tunable(NamedTuple):
    """A number in a node that can be changed during training.

    Attributes:
        kind: a weight, a threshold, or the end of a stage (``"schedules"``).
        value: a number or a schedule; a stage's end may be a step (int).
        child: for a weight, the child that it applies to.
        stage: the name of the stage that the number belongs to, if any.
    """

    kind: Kind
    value: Any
    child: Reward | None = None
    stage: str = ""


@dataclass(frozen=True, kw_only=True)
class NodeSpec:
    """A node's declarations about itself.

    Attributes:
        name: the node's name in tables, logs, and errors; empty for a plain sum.
        bounds: the lowest and the highest possible value.
        children: the rewards that the node combines.
        prefixes: for each child, the prefix of its name if there are duplicate names (the route's key); empty for no
            prefixes.
        generic: whether the name was generated, so that a number may be appended to it.
        call: the code of the call that created the node, if the node is named after the called function. A second node
            of the same kind is named after the argument that differs.
        logged: whether the node's raw value is a component.
        stands_for: the reward that the node renames.
        addends: the children whose shares add up to the node's value, or None if the node is a single term.
        weights: the weights of the addends, if they are the same in all rows.
        average: whether the weighted sum is divided by the sum of the weights of the children that did not abstain.
        condition: for a gate, the reward that opens it.
        threshold: for a gate that is not soft, the condition's value that opens it.
        sees: the rows that the node needs to score one row.
        together: the rows that must be in the same batch, across processes, for the values to be correct.
        schedules: the schedules among the weights and the threshold.
        moments: other schedules that the node reads.
        gauges: numbers that change during training and are logged: ``{"threshold": schedule}``.
        stages: the name and the weight of each stage.
        columns: the columns that the node reads itself.
        choose: for a route, a function that chooses each row's child: ``(batch, rows) -> (n,)``, where -1 means no
            child.
        wants: the children that a good completion must satisfy.
        tunables: the numbers that can be changed during training.
        traps: warnings about settings that probably do not work as intended, in full sentences.
        traps_unless: more warnings. A warning is issued unless another reward in the tree limits the quantity that the
            warning's key names.
        limits: the quantities that the node keeps from growing or shrinking without limit: ``"answers"``, ``"calls"``.
        renamed: for nodes that store their name, returns the node under a different name.
        with_columns: for nodes that read columns themselves, returns the node with different columns.
        measures: whether the node also reports measurements: calls, tokens, or money.
        pieces: whether the children score pieces of completions; if so, they are not components of the batch.
        binding: for a leaf, the function that it calls.
    """

    name: str
    bounds: Bounds
    children: tuple[Reward, ...] = ()
    prefixes: tuple[str, ...] = ()
    generic: bool = False
    call: str = ""
    logged: bool = True
    stands_for: Reward | None = None
    addends: tuple[Reward, ...] | None = None
    weights: tuple[Weight, ...] | None = None
    average: bool = False
    condition: Reward | None = None
    threshold: Weight | None = None
    sees: Scope = "sample"
    together: Scope = "sample"
    schedules: tuple[Schedule, ...] = ()
    moments: tuple[PerformanceSchedule, ...] = ()
    gauges: Mapping[str, Weight] = field(default_factory=dict)
    stages: tuple[tuple[str, Weight], ...] = ()
    columns: tuple[str, ...] = ()
    choose: Callable[[Batch, Rows], Numbers] | None = None
    wants: Literal["all", "any", "none"] = "all"
    tunables: tuple[Tunable, ...] = ()
    traps: tuple[str, ...] = ()
    traps_unless: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[str, ...] = ()
    renamed: Callable[[str], Reward] | None = None
    with_columns: Callable[[Mapping[str, str]], Reward] | None = None
    measures: bool = False
    pieces: bool = False
    binding: Binding | None = None

    @cached_property
    def followers(self) -> tuple[PerformanceSchedule, ...]:
        """The schedules in this node that follow a component's mean."""
        return (*(follower for schedule in self.schedules for follower in following(schedule)), *self.moments)


@dataclass(slots=True)
class Calls:
    """Calls of a leaf's function. The evaluation makes the calls and sends back the results (`Raised` for exceptions).

    Attributes:
        reward: the leaf.
        function: called with each of `arguments`.
        rows: each call's row in the batch, or None for a call with several rows.
        binding: how to call the function: asynchronously, in a worker process, or in this thread.
        quiet: whether the function is built in and does not print anything.
        make: makes all calls at once in this thread, instead of one after another.
    """

    reward: Reward
    function: Callable[..., Any]
    arguments: Iterable[tuple[Any, ...]]
    rows: Sequence[int | None]
    binding: Binding
    quiet: bool = False
    make: Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], list[Any]] | None = None


@dataclass(frozen=True)
class SubBatch:
    """A child to evaluate for pieces of completions, a separate `batch`. The reply is the child's column and faults."""

    reward: Reward
    batch: Batch


Steps = Generator[Sequence[Request] | Calls | SubBatch, Any, Column]
"""A running evaluation of a node: it yields requests, receives columns or results, and returns its column."""


class Evaluation(Protocol):
    """The evaluation of one tree for one batch, as the nodes in the tree see it."""

    @property
    def batch(self) -> Batch: ...

    @property
    def strict(self) -> bool:
        """Whether a bug in a reward raises an exception (``rk.score``, checks, the first training batch)."""

    @property
    def on_unparsable_gold(self) -> OnUnparsableGold:
        """The effect of a gold cell that a ready reward cannot read: an error or, in training, a failed row."""

    def label(self, reward: Reward) -> str:
        """Return the name of `reward` in this tree."""

    def column(self, reward: Reward) -> Column:
        """Return the values of `reward` that have been computed so far."""

    def passed(self, gate: Reward, reached: Rows, passed: Rows) -> None:
        """Record which of the rows that reached `gate` passed it."""

    def unrouted(self, reward: Reward, rows: Rows) -> None:
        """Record the rows to which `reward` does not apply, so that it abstains on them."""

    def faulted(self, faults: Sequence[Fault]) -> None:
        """Record rows that failed or errored."""

    def measured(self, reward: Reward, usage: Measured) -> None:
        """Record other measurements of `reward` in this batch: calls, tokens, or money."""


class Reward(ABC):
    """A function or a combination of rewards that scores completions. It is frozen, hashable, and picklable.

    ``0.7 * a + 0.3 * b`` weights and adds rewards, ``a.named("x")`` renames a reward, and ``a.clip(0, 1)`` limits a
    reward's value. Equal rewards are the same component, which is evaluated once per batch.
    """

    @property
    @abstractmethod
    def facts(self) -> NodeSpec:
        """The node's declarations about itself."""

    @abstractmethod
    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        """Compute this node's column for `rows` (n,)."""

    @abstractmethod
    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        """Return the same reward with different children and tunable numbers, both in the order of `facts`."""

    @final
    @property
    def name(self) -> str:
        """The name in tables, logs, and errors, or an empty string for a plain sum."""
        return self.facts.name

    @final
    @property
    def bounds(self) -> Bounds:
        """The lowest and the highest possible value."""
        return self.facts.bounds

    @final
    @property
    def children(self) -> tuple[Reward, ...]:
        """The rewards that this reward combines."""
        return self.facts.children

    @final
    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that identify the reward's structure and the source code of the user's functions."""
        from rewardkit.tree.fingerprints import fingerprint

        return fingerprint(self)

    @final
    def named(self, name: str) -> Reward:
        """Return this reward as a component called `name`."""
        from rewardkit.tree.algebra import Named

        checked = checked_name(name)
        return Named(self, checked) if self.facts.renamed is None else self.facts.renamed(checked)

    @final
    def with_columns(self, **columns: str) -> Reward:
        """Return this reward for data with different column names.

        ``rk.number("answer").with_columns(answer="solution")`` reads the column "solution". The same applies to a
        function with the argument ``answer``.

        Raises:
            RewardDefinitionError: the reward does not read a column with this name.
        """
        from rewardkit.tree.algebra import with_columns

        return with_columns(self, columns)

    @final
    def clip(self, low: float = 0.0, high: float = 1.0) -> Reward:
        """Return this reward with its value limited to [`low`, `high`]. The result is one term, not a sum of terms."""
        from rewardkit.tree.algebra import Clipped

        return Clipped(self, number(low, "clip's lower bound"), number(high, "clip's upper bound"))

    @final
    def weights_over_training(
        self, max_steps: int = 100, *, means: Mapping[str, Sequence[float]] | None = None
    ) -> dict[str, Floats]:
        """Return each term's weight at steps 0 to `max_steps`: name -> (max_steps + 1,).

        ::

            (form * rk.schedules.linear(1.0, 0.0) + right).weights_over_training(4)["tags"]  # 1, 0.75, 0.5, 0.25, 0

        A weight is the term's factor if no gate is closed and nothing abstains, as in the metric ``weights/<term>``.

        Args:
            max_steps: the number of optimizer steps, at least 1.
            means: component -> the component's mean in each training batch (one batch per step), for example, from an
                earlier run. Performance-based schedules need the means. NaN means that the component was not scored in
                that batch. After the last mean, the schedules stay constant.

        Raises:
            BindingError: a schedule follows a component that is not in `means`.
            RewardDefinitionError: `max_steps` is below 1.
            RewardTypeError: `means` are not lists of numbers.
        """
        # Imported by name here and below: plots score trees, so their module is in a layer above this one.
        plots = importlib.import_module("rewardkit.schedules.plots")
        weights: dict[str, Floats] = plots.weights_over_training(self, max_steps, means=means)
        return weights

    @final
    def plot_schedules(self, max_steps: int = 100, *, means: Mapping[str, Sequence[float]] | None = None) -> Figure:
        """Return a figure of the weights, thresholds, and stages over training.

        ::

            reward.plot_schedules(max_steps=500).savefig("weights.png")

        Args:
            max_steps: the number of optimizer steps, at least 1.
            means: as in `weights_over_training`. If a component's means are missing, the figure shows the area between
                the lowest and the highest possible curve of its schedule.

        Raises:
            MissingExtraError: matplotlib is not installed.
            RewardDefinitionError: `max_steps` is below 1, or there is nothing to draw.
            RewardTypeError: `means` are not lists of numbers.
        """
        figure: Figure = importlib.import_module("rewardkit.schedules.plots").plot_schedules(
            self, max_steps, means=means
        )
        return figure

    @final
    def __mul__(self, weight: object) -> Reward:
        from rewardkit.tree.algebra import weighted_sum_of

        if isinstance(weight, Reward):
            raise RewardTypeError(
                "a reward times a reward is ambiguous. Use rk.product(a, b), or rk.gate(a, b, soft=True)"
            )
        return weighted_sum_of([(as_weight(weight), self)])

    __rmul__ = __mul__

    @final
    def __truediv__(self, divisor: float) -> Reward:
        if number(divisor, "a divisor") == 0.0:
            raise RewardDefinitionError(
                "a reward cannot be divided by zero. Divide by another number, or multiply by a weight"
            )
        return self * (1.0 / float(divisor))

    @final
    def __neg__(self) -> Reward:
        return self * -1.0

    @final
    def __add__(self, other: object) -> Reward:
        from rewardkit.tree.algebra import weighted_sum_of

        if isinstance(other, Real) and other == 0:  # so that sum([a, b]) works
            return self
        return weighted_sum_of([(1.0, self), (1.0, as_reward(other, "a summand"))])

    __radd__ = __add__

    @final
    def __sub__(self, other: object) -> Reward:
        return self + -as_reward(other, "what is subtracted")

    @final
    def __bool__(self) -> NoReturn:
        raise RewardTypeError(
            f"{shorten(self)} has no truth value, so `and`, `or`, `not`, and `if` cannot combine rewards. Write "
            "rk.gate(a, b) to score b only if a passes, rk.minimum(a, b) for the lower score, rk.maximum(a, b) for the "
            "higher score, or 0.3 * a + 0.7 * b for a weighted sum. To test whether a variable has a reward, write `is "
            "not None`"
        )

    @final
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the decorated function directly; a ready reward returns a `Score`.

        For example, ``rk.tags("answer")("42").note`` describes the missing tags. ``float(score)`` is the value.

        Raises:
            RewardTypeError: the reward does not wrap exactly one user-defined function, or a trainer calls the reward.
        """
        binding = self.facts.binding
        called_by_trainer = {"completions", "prompts"} <= kwargs.keys()
        if binding is None or binding.foreign or called_by_trainer:
            raise RewardTypeError(
                f"{shorten(self)} cannot be called like a function. To train with it, pass "
                "reward_funcs=rk.to_trl(reward). To score completions, call rk.score(reward, completions)"
            )
        result = binding.function(*args, **kwargs)
        return Score(result) if binding.trusted and isinstance(result, float) else result

    @final
    def __getstate__(self) -> dict[str, Any]:
        # Leave out cached values, such as the facts.
        return {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}  # type: ignore[arg-type]


def as_reward(value: object, where: str) -> Reward:
    """Return `value` if it is a Reward; otherwise, raise an error that explains how to create one.

    Raises:
        RewardTypeError: `value` is not a reward; `where` names its purpose.
    """
    if isinstance(value, Reward):
        return value
    hint = ""
    if isinstance(value, Schedule):
        hint = " Use a schedule as a weight: `reward * schedule`"
    elif isinstance(value, Real):
        hint = " Remove the constant: it is the same for all completions of a group, so normalization cancels it out"
    elif is_factory(value):
        hint = f" Call it to create the reward: {getattr(value, '__name__', '')}(...)"
    elif callable(value) and hasattr(value, "derive"):
        hint = " Pass an extractor as extract= to a ready reward, such as rk.exact('answer', extract=...)"
    elif callable(value):
        hint = " Decorate the function with @rk.reward, or wrap a TRL reward function with rk.from_trl(function)"
    raise RewardTypeError(f"{where} must be a reward, got {shorten(value)} ({type(value).__name__}).{hint}")


def checked_name(name: str) -> str:
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise RewardDefinitionError(f"a reward's name must be printable and not empty, got {shorten(name)}")
    return name


def walk(root: Reward, *, pieces: bool = True) -> Iterator[tuple[Reward, tuple[str, ...], Reward | None]]:
    """Yield all nodes from the root down and from left to right, each with the route keys above it and its parent.

    Args:
        pieces: also yield the nodes that score pieces of completions.
    """
    stack: list[tuple[Reward, tuple[str, ...], Reward | None]] = [(root, (), None)]
    while stack:
        node, path, parent = stack.pop()
        yield node, path, parent
        facts = node.facts
        if facts.pieces and not pieces:
            continue
        below = list(zip(facts.children, facts.prefixes or ("",) * len(facts.children), strict=True))
        for addend in facts.addends or ():
            if addend not in facts.children:
                below.append((addend, ""))
        stack += [(child, (*path, prefix) if prefix else path, node) for child, prefix in reversed(below)]


def bindings(reward: Reward) -> list[tuple[Reward, Binding]]:
    """Return the distinct nodes that call functions, with their bindings, from left to right."""
    nodes = dict.fromkeys(node for node, _, _ in walk(reward))
    return [(node, node.facts.binding) for node in nodes if node.facts.binding is not None]


def leaves(reward: Reward) -> Iterator[Reward]:
    """Yield the leaves of `reward` from left to right, with repetitions."""
    if not reward.children:
        yield reward
    for child in reward.children:
        yield from leaves(child)


def counted_nodes(reward: Reward) -> Iterator[Reward]:
    """Yield all nodes that affect the total, skipping nodes that are only monitored."""
    facts = reward.facts
    if facts.addends != ():  # a monitor has no addends
        yield reward
        for child in (*facts.children, *(facts.addends or ())):
            yield from counted_nodes(child)


def child_rows(reward: Reward, batch: Batch, rows: Rows) -> list[Rows]:
    """Return the rows (n,) to which each child of `reward` applies: all of `rows`, unless `reward` is a route."""
    if reward.facts.choose is None:
        return [rows] * len(reward.children)
    chosen = reward.facts.choose(batch, rows)
    return [chosen == position for position in range(len(reward.children))]
