"""from_verifiers: use a rubric, a task or a reward function of verifiers as a Reward, with the same numbers.

``rk.from_verifiers(vf.Rubric(funcs=[correct, format], weights=[1.0, 0.2]))`` is ``correct + 0.2 * format``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rewardkit.aggregators.monitor import monitor
from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.core.progress.schedule import Schedule
from rewardkit.core.tree.algebra import weighted_sum_of
from rewardkit.core.tree.reward import Reward, checked_name
from rewardkit_verifiers.reward import VerifiersReward, unwrapped
from rewardkit_verifiers.rubrics import RubricArguments, is_rubric, reads_state, rubric_functions, scores_groups
from rewardkit_verifiers.tasks import TaskArguments, is_task, prototype_of, signals

Weighted = Iterator[tuple[float, VerifiersReward]]


def from_verifiers(rubric_or_function: Any, name: str | None = None) -> Reward:
    """Turn a rubric, a task or a reward function of verifiers into a Reward.

    ``rk.from_verifiers(vf.Rubric(funcs=[correct, format], weights=[1.0, 0.2]))`` gives 1.2 to a completion if both
    functions give it 1.0.

    A rubric becomes the weighted sum of its functions, each a component with the function's name; functions of weight 0
    are monitored. They get the arguments that verifiers gives them: prompt, completion (as messages), answer, info,
    state, task, parser, and columns by name. An exception in a function is an error; verifiers would score 0.0.

    ::

        reward = rk.gate(when=rk.tags("think"), then=rk.from_verifiers(rubric))

    Args:
        rubric_or_function: a ``vf.Rubric``, a ``vf.RubricGroup`` or an environment that has one (verifiers up to 0.3);
            a ``verifiers.v1.Task`` or a class of tasks (0.4), whose data model is filled from the columns; or a single
            function, sync or async. A function with plural arguments (completions, answers) scores the group of a
            prompt.
        name: the name of a function's component; turns a rubric or a task into one component with that name.

    Raises:
        RewardTypeError: `rubric_or_function` is none of these.
        RewardDefinitionError: it has no function, or one that needs more than a finished completion.
    """
    given = rubric_or_function
    if is_task(given):
        reward = _summed(_of_task(prototype_of(given)), given)
    elif is_rubric(given):
        reward = _summed(_of_rubric(given), given)
    elif is_rubric(getattr(given, "rubric", None)):
        reward = _summed(_of_rubric(given.rubric), given)
    else:
        return _of_function(given, name)
    return reward if name is None else reward.named(name)


def _of_rubric(rubric: Any) -> Weighted:
    functions = list(rubric_functions(rubric))
    labels = _distinct(name_of(function) for _, function, _ in functions)
    last: VerifiersReward | None = None
    for (weight, function, binding), label in zip(functions, labels, strict=True):
        # verifiers runs the functions in order, and each may leave values in the state for the next.
        reading = reads_state(function)
        grouped = scores_groups(function)
        reward = VerifiersReward(function, checked_name(label), binding, grouped, rubric, last if reading else None)
        last = reward if reading else last
        yield weight, reward


def _of_task(prototype: Any) -> Weighted:
    last: VerifiersReward | None = None
    for signal in signals(prototype):
        binding = TaskArguments(prototype, signal.name, signal.is_metric)
        # Rewards may read the metrics on the trace.
        reward = VerifiersReward(signal.function, checked_name(signal.name), binding, False, prototype, last)
        last = reward if signal.is_metric else last
        yield signal.weight, reward


def _of_function(function: Callable[..., Any], name: str | None) -> Reward:
    if isinstance(function, (Reward, Schedule, type, str)) or not callable(function):
        hint = ""
        if isinstance(function, type):
            hint = f" Pass an instance: from_verifiers({function.__name__}(...))."
        raise RewardTypeError(
            "from_verifiers: expected a rubric, a task or a reward function of verifiers, got "
            f"{shorten(function)} ({type(function).__name__}).{hint}"
        )
    label = checked_name(name if name is not None else name_of(function))
    try:
        inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise RewardTypeError(f"cannot read the signature of {label} ({error}); wrap it in a function") from None
    return VerifiersReward(function, label, RubricArguments(None, function), scores_groups(function), function)


def _summed(weighted: Iterable[tuple[float, VerifiersReward]], given: object) -> Reward:
    """Return their weighted sum; functions of weight 0 are monitored."""
    items = [(weight or 1.0, reward if weight else monitor(reward)) for weight, reward in weighted]
    if not items:
        raise RewardDefinitionError(f"this {type(given).__name__} has no reward function; add one before wrapping it")
    return weighted_sum_of(items)


def _distinct(names: Iterable[str]) -> list[str]:
    """Return `names` with numbers after repeated ones: format, format_2."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return found


def name_of(function: Callable[..., Any]) -> str:
    """Return the name that verifiers uses."""
    function = unwrapped(function)
    return str(getattr(function, "__name__", type(function).__name__))
