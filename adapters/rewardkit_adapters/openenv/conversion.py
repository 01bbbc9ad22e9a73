"""from_openenv: use an OpenEnv rubric as a Reward, with the same numbers."""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, TypeVar, final
from weakref import WeakKeyDictionary

from rewardkit.batch.journals import Watch
from rewardkit.batch.score import Score
from rewardkit.combine.gate import gate
from rewardkit.combine.monitor import monitor
from rewardkit.errors import RewardDefinitionError, RewardFailure, RewardTypeError, hashable, shorten, warn
from rewardkit.progress.bounds import Bounds
from rewardkit.tree.algebra import weighted_sum_of
from rewardkit.tree.binding import Binding
from rewardkit.tree.decorator import checked_bounds
from rewardkit.tree.fingerprints import described, source
from rewardkit.tree.leaf import Leaf
from rewardkit.tree.parameters import Parameter, parameters_of
from rewardkit.tree.results import ReturnPolicy
from rewardkit.tree.reward import Reward, checked_name

# Read trees of OpenEnv rubrics without importing OpenEnv.


CONTAINERS = "openenv.core.rubrics.containers"
"""The module that defines WeightedSum, Gate, and Sequential."""


def is_rubric(value: Any) -> bool:
    """Return whether `value` is an instance of a rubric class."""
    return not isinstance(value, type) and _base(value) is not None


def _base(rubric: Any) -> type | None:
    """Return OpenEnv's Rubric class from the bases of the rubric's class, or None if it is not among them."""
    kinds = (kind for kind in type(rubric).__mro__ if kind.__name__ == "Rubric" and "named_rubrics" in vars(kind))
    return next(kinds, None)


def nodes(rubric: Any) -> Iterator[Any]:
    """Yield a rubric and all rubrics inside it."""
    yield rubric
    yield from rubric.rubrics()


def is_container(rubric: Any, name: str) -> bool:
    """Return whether `rubric` is exactly OpenEnv's container `name` and has no call hooks."""
    kind = type(rubric)
    # OpenEnv calls these hooks around a rubric; there is no public way to list them.
    has_hooks = rubric._forward_hooks or rubric._forward_pre_hooks
    return kind.__name__ == name and kind.__module__ == CONTAINERS and not has_hooks


def is_asynchronous(rubric: Any) -> bool:
    """Return whether calls may return a coroutine, because a rubric in the tree has an async ``forward``."""
    return any(
        inspect.iscoroutinefunction(method) for node in nodes(rubric) for method in (node.forward, type(node).__call__)
    )


def has_state(rubric: Any) -> bool:
    """Return whether a rubric in the tree is stateful, which means that it overrides ``reset``."""
    return any(type(node).reset is not getattr(_base(node), "reset", None) for node in nodes(rubric))


def setters(rubric: Any) -> list[str]:
    """Return the methods through which an environment passes data to its rubrics on reset, such as ``set_expected``."""
    names = {
        f"{type(node).__name__}.{name}"
        for node in nodes(rubric)
        for name in dir(type(node))
        if name.startswith("set_") and callable(getattr(type(node), name))
    }
    return sorted(names)


def ignored_forwards(rubric: Any) -> list[str]:
    """Return the classes whose ``forward`` is never called.

    These are subclasses of containers. They inherit the container's ``__call__``, which does not call ``forward``."""
    ignored = {}
    for node in nodes(rubric):
        for kind in type(node).__mro__:
            if "__call__" in vars(kind):
                if kind.__module__ == CONTAINERS and "forward" in _own_attributes(type(node), kind):
                    ignored[type(node).__name__] = kind.__name__
                break
    return [f"{name} (a {kind})" for name, kind in ignored.items()]


def _own_attributes(kind: type, container: type) -> set[str]:
    """Return the attributes that `kind` and its bases before `container` define."""
    kinds = kind.__mro__[: kind.__mro__.index(container)]
    return {name for base in kinds for name in vars(base)}


# Calls of rubrics: a completion is played as one step, or as the steps of an episode, whose last score counts.


_OUTAGES = {"RateLimitError", "InternalServerError", "APIConnectionError", "TransportError"}
"""The names of LLM client exceptions for outages, which are not caused by the completion."""
_LOCKS: WeakKeyDictionary[Any, threading.Lock] = WeakKeyDictionary()
_ASYNC_LOCKS: WeakKeyDictionary[Any, asyncio.Lock] = WeakKeyDictionary()
_MAKING = threading.Lock()
_PLAIN = (str, int, float, type(None))

Lock = TypeVar("Lock", threading.Lock, asyncio.Lock)

Step = tuple[Any, Any]
"""An action and the resulting observation."""


def finished_step(completion: str, example: dict[str, Any]) -> Step:
    """Return a completion's default step: its text as the action, and an observation that ends the episode."""
    return completion, SimpleNamespace(**{"done": True, "reward": None, "metadata": dict(example), **example})


@final
@dataclass(frozen=True)
class Play:
    """The settings for calling a rubric on a completion.

    Attributes:
        root: the rubric to reset before each completion.
        rubric: the rubric that computes the score: the root, or a rubric inside it.
        step: a function that returns a completion's step, or a list of steps.
        reset: a function that prepares the root for a completion. Its arguments after the rubric are bound by name.
        names: the argument names of `step`, and the names of `reset`'s arguments after the rubric.
        text: the description of the rubric for the fingerprint.
    """

    root: Any
    rubric: Any
    step: Callable[..., Any]
    reset: Callable[..., Any] | None
    names: tuple[tuple[str, ...], tuple[str, ...]]
    text: str = field(compare=False)

    @property
    def remembers(self) -> bool:
        """Whether a score may depend on earlier calls, so that completions must be scored one at a time."""
        return self.reset is not None or has_state(self.root)

    def steps(self, arguments: Mapping[str, Any]) -> Iterator[Step]:
        """Reset the rubrics, and yield the steps for one completion."""
        for node in nodes(self.root):  # OpenEnv's containers do not reset the rubrics inside them
            node.reset()
        of_step, of_reset = ({name: arguments[name] for name in names if name in arguments} for names in self.names)
        if self.reset is not None:
            self.reset(self.root, **of_reset)
        step_result = self.step(**of_step)
        for pair in _check_steps(step_result):
            for node in nodes(self.rubric):
                node.last_score = None
            yield pair

    def score(self, result: Any) -> Any:
        """Return the result of the last step, with the inner rubrics' scores as parts."""
        inner_scores = {path: node.last_score for path, node in self.rubric.named_rubrics()}
        parts = {path: float(score) for path, score in inner_scores.items() if _is_number(score)}
        return Score(float(result), parts=parts) if parts and _is_number(result) else result

    def describe(self) -> str:
        """Return the text for the fingerprint."""
        return f"Play({self.text}, {described(self.step)}, {described(self.reset)})"


def _check_steps(step_result: Any) -> list[Step]:
    steps = step_result if isinstance(step_result, list) else [step_result]
    if not steps or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in steps):
        raise TypeError(
            f"step returned {shorten(step_result)} ({type(step_result).__name__}). Return an action and an "
            "observation, or a "
            "list of such pairs"
        )
    return steps


def _is_number(score: Any) -> bool:
    return isinstance(score, (int, float)) and math.isfinite(score)


@final
@dataclass(frozen=True)
class RubricCall:
    """A callable that calls a rubric for one completion at a time."""

    play: Play

    def __call__(self, **arguments: Any) -> Any:
        with _lock(_LOCKS, self.play.root, threading.Lock), outages_as_failures():
            result = None
            for action, observation in self.play.steps(arguments):
                result = _run_coroutine(self.play.rubric(action, observation))
            return self.play.score(result)


@final
@dataclass(frozen=True)
class AsyncRubricCall:
    """A callable that awaits a rubric. Completions are scored concurrently unless their order matters."""

    play: Play

    async def __call__(self, **arguments: Any) -> Any:
        if not self.play.remembers:
            return await self._result(arguments)
        async with _lock(_ASYNC_LOCKS, self.play.root, asyncio.Lock):
            return self.play.score(await self._result(arguments))

    async def _result(self, arguments: Mapping[str, Any]) -> Any:
        with outages_as_failures():
            result = None
            for action, observation in self.play.steps(arguments):
                result = self.play.rubric(action, observation)
                if inspect.isawaitable(result):
                    result = await result
            return result


def _lock(locks: WeakKeyDictionary[Any, Lock], root: Any, make: Callable[[], Lock]) -> Lock:
    with _MAKING:
        return locks.setdefault(root, make())


def _run_coroutine(result: Any) -> Any:
    """Return the result of a coroutine that never waits. Containers return such coroutines inside an event loop."""
    if not inspect.iscoroutine(result):
        return result
    try:
        result.send(None)
    except StopIteration as stop:
        return stop.value
    result.close()
    raise TypeError("forward is not async, but returned a coroutine that waits. Write it as `async def forward`")


@contextmanager
def outages_as_failures() -> Iterator[None]:
    """Raise a `RewardFailure` if an external service does not respond, because the completion is not at fault."""
    try:
        yield
    except Exception as error:
        if Watch().is_outage(error) or any(kind.__name__ in _OUTAGES for kind in type(error).__mro__):
            raise RewardFailure(f"{type(error).__name__}: {error}") from error
        raise


def text_of(rubric: Any) -> str:
    """Return the classes, code, and settings of the rubrics in a tree as text, without their state."""
    return "; ".join(
        f"{type(node).__qualname__}({settings_of(node)}) {source(type(node).forward)}" for node in nodes(rubric)
    )


def settings_of(rubric: Any) -> dict[str, Any]:
    """Return a rubric's plain attributes: strings, numbers, and None."""
    attributes = {name: value for name, value in vars(rubric).items() if name != "last_score"}
    return {name: value for name, value in attributes.items() if isinstance(value, _PLAIN)}


_REMEDY = (
    "Fix the rubric, or pass step=, a function that returns the action and the observation for a completion. To score "
    "such rows instead of stopping, pass bounds=: these rows then get the lowest score."
)
_LOWEST = 1e-6
"""The lowest threshold with which an OpenEnv Gate becomes a rewardkit gate. A closed Gate scores 0, but rewardkit gates
have a tolerance of 1e-9."""


def from_openenv(
    rubric: Any,
    step: Callable[..., Any] | None = None,
    *,
    reset: Callable[..., Any] | None = None,
    name: str | None = None,
    bounds: Bounds = (-math.inf, math.inf),
) -> Reward:
    """Turn an OpenEnv rubric into a Reward, with the same numbers.

    ::

        def step(completion: str, answer: str):
            return CodeAction(code=completion), CodeObservation(done=True, metadata={"expected": answer})

        reward = rk.gate(when=rk.tags("code"), then=rk.from_openenv(rubric, step))

    A ``WeightedSum`` becomes the weighted sum of its rubrics, each of which becomes a component named after its class.
    A ``Sequential`` that begins with Gates becomes a gate. Any other rubric becomes one component that OpenEnv
    computes, with the inner rubrics' scores as parts. A rubric that returns None abstains. If a service is down
    (connection errors, rate limits), the completion has no score.

    Args:
        rubric: an instance, sync or async.
        step: a function that returns the action and the observation for a completion, or a list of such pairs for an
            episode. In an episode, the last score counts. The function's arguments are bound by name, as with
            ``@rk.reward``. By default, the action is the text, and the observation has ``done=True`` and the columns as
            attributes and in ``metadata``.
        reset: a function that is called with the rubric before each completion is scored, after the rubric and all
            rubrics inside it have been reset. Additional arguments are bound by name: ``lambda rubric, answer:
            rubric.set_expected(answer)``.
        name: the component's name. A sum becomes one term with this name.
        bounds: the lowest and the highest possible score, which rubrics do not declare.

    Raises:
        RewardTypeError: `rubric` is not a rubric, or cannot be hashed.
        RewardDefinitionError: an argument of `step` or `reset` is invalid, or `bounds` are invalid.
    """
    if not is_rubric(rubric):
        hint = f" Pass an instance: from_openenv({rubric.__name__}(...))" if isinstance(rubric, type) else ""
        raise RewardTypeError(
            f"from_openenv: expected an OpenEnv rubric, got {shorten(rubric)} ({type(rubric).__name__}).{hint}"
        )
    if not all(map(hashable, (rubric, step, reset))):
        raise RewardTypeError(
            "from_openenv: the rubric, step=, and reset= must be hashable, like every part of a reward"
        )
    for ignored in ignored_forwards(rubric):
        warn(
            f"{ignored} overrides forward, which OpenEnv never calls: the container's own __call__ computes the score. "
            f"To use forward, derive {ignored} from Rubric"
        )
    uncalled = setters(rubric) if reset is None else []
    if uncalled:
        method = uncalled[0].partition(".")[2]
        warn(
            f"from_openenv: an environment calls {', '.join(uncalled)} when it is reset, but that does not happen "
            "here, because only the rubric is reset before each completion. Pass reset=, such as lambda rubric, "
            f"answer: rubric.{method}(answer)"
        )
    tree = Tree(rubric, step, reset, bounds)
    if not is_decomposed(rubric):
        return tree.component(rubric, type(rubric).__name__ if name is None else name)
    reward = tree.reward(rubric)
    return reward if name is None else reward.named(name)


@final
@dataclass(frozen=True)
class Tree:
    """A converter of the rubrics in `root` to rewards with unique names."""

    root: Any
    step: Callable[..., Any] | None
    reset: Callable[..., Any] | None
    bounds: Bounds
    labels: Counter[str] = field(default_factory=Counter)

    def reward(self, rubric: Any) -> Reward:
        """Convert a rubric to a sum, a gate, or a component. Scores stay exactly the same, bit for bit."""
        if is_container(rubric, "WeightedSum"):
            return weighted_sum_of(
                [
                    (float(weight), self._inside(child)) if weight else (1.0, monitor(self._inside(child)))
                    # Private attributes of OpenEnv's WeightedSum, which has no public names for its weights and
                    # rubrics.
                    for weight, child in zip(rubric._weights, rubric._rubric_list, strict=True)
                ]
            )
        if is_decomposed(rubric):
            # The rubrics of a Sequential, in order; only this private attribute has them as a list.
            *gates, last = rubric._rubric_list
            conditions = [(self._labeled(child), child.threshold) for child in gates]
            reward = self.reward(last)
            for condition, threshold in reversed(conditions):
                reward = gate(condition, reward, threshold=threshold)
            return reward
        return self._labeled(rubric)

    def _inside(self, rubric: Any) -> Reward:
        # A sum inside a sum would be flattened into one sum, whose weights are rounded products.
        return self._labeled(rubric) if is_container(rubric, "WeightedSum") else self.reward(rubric)

    def _labeled(self, rubric: Any) -> Reward:
        label = type(rubric.rubric if is_container(rubric, "Gate") else rubric).__name__
        self.labels[label] += 1
        return self.component(rubric, label if self.labels[label] == 1 else f"{label}_{self.labels[label]}")

    def component(self, rubric: Any, name: str) -> Reward:
        """Convert a rubric to a component that OpenEnv computes."""
        label = checked_name(name)
        step = finished_step if self.step is None else self.step
        of_step = parameters_of(step, "sample", label, {})
        of_reset = () if self.reset is None else parameters_of(self.reset, "sample", label, {}, first="completion")[1:]
        names = tuple(parameter.name for parameter in of_step), tuple(parameter.name for parameter in of_reset)
        owner = rubric if self.reset is None else self.root  # prepared for each completion
        play = Play(owner, rubric, step, self.reset, names, text_of(rubric))
        call = AsyncRubricCall(play) if is_asynchronous(owner) else RubricCall(play)
        binding = Binding(call, merge_parameters(of_step, of_reset, label), plain=True)
        contract = ReturnPolicy(label, checked_bounds(label, self.bounds), may_abstain=True, remedy=_REMEDY)
        return Leaf(binding, contract, f"from_openenv({label})")


def is_decomposed(rubric: Any) -> bool:
    """Return whether a rubric is converted to a sum or a gate.

    A Sequential becomes a gate if its first rubrics are Gates, because each Gate returns either 0 or at least its
    threshold."""
    if is_container(rubric, "Sequential"):
        # A private attribute, as in `Tree.reward`.
        gates = rubric._rubric_list[:-1]
        return bool(gates) and all(is_container(child, "Gate") and child.threshold >= _LOWEST for child in gates)
    return is_container(rubric, "WeightedSum")


def merge_parameters(first: tuple[Parameter, ...], second: tuple[Parameter, ...], label: str) -> tuple[Parameter, ...]:
    """Return the parameters of two functions as keyword-only parameters, with each name once."""
    by_name = {entry.name: entry for entry in first}
    for entry in second:
        if by_name.setdefault(entry.name, entry) != entry:
            raise RewardDefinitionError(
                f"reward {label!r}: step and reset annotate the argument {entry.name!r} differently. Use the same "
                "type in both"
            )
    return tuple(replace(entry, keyword_only=True) for entry in by_name.values())
