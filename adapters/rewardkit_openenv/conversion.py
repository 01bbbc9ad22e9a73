"""from_openenv: a rubric of OpenEnv as a Reward, with the same numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, final

from rewardkit.aggregators.gate import gate
from rewardkit.aggregators.monitor import monitor
from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, hashable, shorten, warn
from rewardkit.core.progress.bounds import Bounds
from rewardkit.core.tree.algebra import weighted_sum_of
from rewardkit.core.tree.binding import Binding
from rewardkit.core.tree.decorator import checked_bounds
from rewardkit.core.tree.leaf import Leaf
from rewardkit.core.tree.parameters import Parameter, parameters_of
from rewardkit.core.tree.results import Contract
from rewardkit.core.tree.reward import Reward, checked_name
from rewardkit_openenv.calls import AsyncRubricCall, Play, RubricCall, finished_step, text_of
from rewardkit_openenv.trees import ignored_forwards, is_asynchronous, is_container, is_rubric, setters

_REMEDY = (
    "Fix the rubric, or pass step=, a function that returns the action and the observation of a completion. To score "
    "such rows instead of stopping, pass bounds=: the lowest one counts then."
)
_LOWEST = 1e-6
"""The lowest threshold of a gate: rewardkit's gates tolerate 1e-9, and a closed Gate scores 0."""


def from_openenv(
    rubric: Any,
    step: Callable[..., Any] | None = None,
    *,
    reset: Callable[..., Any] | None = None,
    name: str | None = None,
    bounds: Bounds = (-math.inf, math.inf),
) -> Reward:
    """Turn a rubric of OpenEnv into a Reward, with the same numbers.

    ::

        def step(completion: str, answer: str):
            return CodeAction(code=completion), CodeObservation(done=True, metadata={"expected": answer})

        reward = rk.gate(when=rk.tags("code"), then=rk.from_openenv(rubric, step))

    A ``WeightedSum`` becomes the weighted sum of its rubrics, each a component with the name of its class, and a
    ``Sequential`` that begins with Gates becomes a gate. Any other rubric is one component that OpenEnv computes, with
    the scores of the rubrics inside as parts. A rubric that returns None abstains. If a service is down (connection
    errors, rate limits), the completion has no score.

    Args:
        rubric: an instance, sync or async.
        step: returns the action and the observation of a completion, or a list of them for an episode, of which the
            last score counts. Its arguments are bound by name, as with ``@rk.reward``. By default the action is the
            text, and the observation is done and has the columns as attributes and in ``metadata``.
        reset: called with the rubric before each completion, after it and all rubrics inside were reset; further
            arguments are bound by name: ``lambda rubric, answer: rubric.set_expected(answer)``.
        name: the name of the component; a sum becomes one term with that name.
        bounds: the lowest and the highest score; rubrics declare none.

    Raises:
        RewardTypeError: `rubric` is not a rubric, or cannot be hashed.
        RewardDefinitionError: an argument of `step` or `reset`, or `bounds`, is not valid.
    """
    if not is_rubric(rubric):
        hint = f" Pass an instance: from_openenv({rubric.__name__}(...))." if isinstance(rubric, type) else ""
        raise RewardTypeError(
            f"from_openenv: expected a rubric of OpenEnv, got {shorten(rubric)} ({type(rubric).__name__}).{hint}"
        )
    if not all(map(hashable, (rubric, step, reset))):
        raise RewardTypeError("from_openenv: the rubric, step= and reset= must be hashable, as every part of a reward")
    for ignored in ignored_forwards(rubric):
        warn(
            f"{ignored} overrides forward, which OpenEnv never calls: the container's own __call__ computes the score. "
            "Derive it from Rubric to use its forward"
        )
    uncalled = setters(rubric) if reset is None else []
    if uncalled:
        method = uncalled[0].partition(".")[2]
        warn(
            f"from_openenv: an environment calls {', '.join(uncalled)} at its reset, and nothing does so here: the "
            "rubric is reset before each completion. Pass reset=, such as lambda rubric, answer: "
            f"rubric.{method}(answer)"
        )
    tree = Tree(rubric, step, reset, bounds)
    if not is_decomposed(rubric):
        return tree.component(rubric, type(rubric).__name__ if name is None else name)
    reward = tree.reward(rubric)
    return reward if name is None else reward.named(name)


@final
@dataclass(frozen=True)
class Tree:
    """Makes rewards of the rubrics in `root`, with names that differ."""

    root: Any
    step: Callable[..., Any] | None
    reset: Callable[..., Any] | None
    bounds: Bounds
    labels: Counter[str] = field(default_factory=Counter)

    def reward(self, rubric: Any) -> Reward:
        """Return a rubric as a sum, a gate or a component, so that the numbers stay equal to the last bit."""
        if is_container(rubric, "WeightedSum"):
            return weighted_sum_of(
                [
                    (float(weight), self._inside(one)) if weight else (1.0, monitor(self._inside(one)))
                    for weight, one in zip(rubric._weights, rubric._rubric_list, strict=True)
                ]
            )
        if is_decomposed(rubric):
            *gates, last = rubric._rubric_list
            conditions = [(self._labeled(one), one.threshold) for one in gates]
            reward = self.reward(last)
            for condition, threshold in reversed(conditions):
                reward = gate(condition, reward, threshold=threshold)
            return reward
        return self._labeled(rubric)

    def _inside(self, rubric: Any) -> Reward:
        # A sum in a sum would become one sum, with weights that are rounded products.
        return self._labeled(rubric) if is_container(rubric, "WeightedSum") else self.reward(rubric)

    def _labeled(self, rubric: Any) -> Reward:
        label = type(rubric.rubric if is_container(rubric, "Gate") else rubric).__name__
        self.labels[label] += 1
        return self.component(rubric, label if self.labels[label] == 1 else f"{label}_{self.labels[label]}")

    def component(self, rubric: Any, name: str) -> Reward:
        """Return a rubric as a component that OpenEnv computes."""
        label = checked_name(name)
        step = finished_step if self.step is None else self.step
        of_step = parameters_of(step, "sample", label, {})
        of_reset = () if self.reset is None else parameters_of(self.reset, "sample", label, {}, first="completion")[1:]
        names = tuple(one.name for one in of_step), tuple(one.name for one in of_reset)
        owner = rubric if self.reset is None else self.root  # whose rubrics are prepared for a completion
        play = Play(owner, rubric, step, self.reset, names, text_of(rubric))
        call = AsyncRubricCall(play) if is_asynchronous(owner) else RubricCall(play)
        binding = Binding(call, joined(of_step, of_reset, label), plain=True)
        contract = Contract(label, checked_bounds(label, self.bounds), may_abstain=True, remedy=_REMEDY)
        return Leaf(binding, contract, f"from_openenv({label})")


def is_decomposed(rubric: Any) -> bool:
    """Return whether a rubric becomes a sum, or a gate: a Sequential of Gates, which pass 0 or at least a threshold."""
    if is_container(rubric, "Sequential"):
        gates = rubric._rubric_list[:-1]
        return bool(gates) and all(is_container(one, "Gate") and one.threshold >= _LOWEST for one in gates)
    return is_container(rubric, "WeightedSum")


def joined(first: tuple[Parameter, ...], second: tuple[Parameter, ...], label: str) -> tuple[Parameter, ...]:
    """Return the arguments of two functions, each once."""
    found = {one.name: one for one in first}
    for one in second:
        if found.setdefault(one.name, one) != one:
            raise RewardDefinitionError(
                f"reward {label!r}: step and reset annotate the argument {one.name!r} differently. Give it one type"
            )
    return tuple(replace(one, keyword_only=True) for one in found.values())
