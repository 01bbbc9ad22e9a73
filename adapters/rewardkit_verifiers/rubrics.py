"""Rubrics: the functions of ``vf.Rubric`` and ``vf.RubricGroup`` (verifiers up to 0.3), without importing verifiers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final, get_origin

from rewardkit.core.batch.batch import Batch
from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit_verifiers.reward import Arguments, Bound, VerifiersReward
from rewardkit_verifiers.states import INPUT_FIELDS, State, state_of

_PLURALS = {"states", "prompts", "completions", "answers", "tasks", "infos"}
"""Arguments by which verifiers recognizes a function that scores a group."""


@final
@dataclass(frozen=True, eq=False)
class RubricArguments(Arguments):
    """Call functions as their rubric does; without a rubric, as a plain ``vf.Rubric`` would.

    Attributes:
        rubric: the rubric; None for a single function.
        owner: the outermost rubric, whose functions share the states.
    """

    rubric: Any
    owner: object

    def sample(self, reward: VerifiersReward, batch: Batch, row: int) -> Bound:
        return reward.accepted(reward.function, self._objects(state_of(batch, row, self.owner)), self._where)

    def group(self, reward: VerifiersReward, batch: Batch, rows: Sequence[int]) -> Bound:
        states = [state_of(batch, row, self.owner) for row in rows]
        own = getattr(self.rubric, "group_score_objects", None)
        return reward.accepted(reward.function, own(states) if own else self._plurals(states), self._where)

    @property
    def _where(self) -> str:
        return "verifiers" if self.rubric is None else "its rubric"

    def _objects(self, state: State) -> Mapping[str, Any]:
        own = getattr(self.rubric, "score_objects", None)
        if own is not None:  # 0.1.14 has it, 0.1.8 does not
            objects: Mapping[str, Any] = own(state)
            return objects
        fields = {name: value for name, value in state["input"].items() if name not in INPUT_FIELDS}
        if isinstance(state["task"], Mapping):
            fields.update(state["task"])
        named = {name: state[name] for name in ("prompt", "completion", "answer", "info")}
        return {**fields, **named, "state": state, **self._shared, "task": state["task"]}

    def _plurals(self, states: Sequence[State]) -> Mapping[str, Any]:
        singular = {"prompts": "prompt", "completions": "completion", "answers": "answer", "tasks": "task"}
        lists = {plural: [state[name] for state in states] for plural, name in singular.items()}
        return {**lists, "infos": [state["info"] for state in states], "states": list(states), **self._shared}

    @property
    def _shared(self) -> dict[str, Any]:
        parser = getattr(self.rubric, "parser", None)
        return {**({} if parser is None else {"parser": parser}), **(getattr(self.rubric, "class_objects", None) or {})}


def is_rubric(value: Any) -> bool:
    """Return whether `value` has functions with weights, or rubrics that have them."""
    return not isinstance(value, type) and (
        hasattr(value, "rubrics") or (_functions_of(value) is not None and _weights_of(value) is not None)
    )


def rubric_functions(rubric: Any) -> Iterator[tuple[float, Callable[..., Any], RubricArguments]]:
    """Yield (weight, function, binding) for all functions; for a group, rubric by rubric.

    Raises:
        RewardTypeError: its class overrides the scoring.
    """
    for part in _parts(rubric):
        functions, weights = list(_functions_of(part)), list(_weights_of(part))
        if len(functions) != len(weights):
            raise RewardDefinitionError(
                f"this {type(part).__name__} has {len(functions)} functions and {len(weights)} weights; "
                "give each function one weight"
            )
        for function, weight in zip(functions, weights, strict=True):
            yield float(weight), function, RubricArguments(part, rubric)


def _parts(rubric: Any) -> Iterator[Any]:
    own = _own_scoring(rubric)
    if own is not None:
        raise RewardTypeError(
            f"{type(rubric).__name__} overrides {own}, so its functions and weights do not determine its scores. "
            "Write its scoring as an @rk.reward function"
        )
    if hasattr(rubric, "rubrics"):
        for part in rubric.rubrics:  # a group scores only by its rubrics
            yield from _parts(part)
    elif is_rubric(rubric):
        yield rubric
    else:
        raise RewardTypeError(f"a rubric group contains {shorten(rubric)} ({type(rubric).__name__}), not a rubric")


def _functions_of(rubric: Any) -> Any:
    """Return ``funcs``, or ``reward_funcs`` in 0.1.3."""
    return getattr(rubric, "funcs", getattr(rubric, "reward_funcs", None))


def _weights_of(rubric: Any) -> Any:
    return getattr(rubric, "weights", getattr(rubric, "reward_weights", None))


def _own_scoring(rubric: Any) -> str | None:
    """Return the scoring method that a subclass of verifiers' rubrics overrides, if any."""
    for kind in type(rubric).__mro__:
        if kind.__name__ in ("Rubric", "RubricGroup"):
            return None
        for method in ("score_rollout", "score_group"):
            if method in vars(kind):
                return method
    return None


def scores_groups(function: Callable[..., Any]) -> bool:
    """Return whether verifiers would call it with a group: plural arguments, or a list as the annotated result."""
    signature = inspect.signature(function)
    returned = signature.return_annotation
    return bool(_PLURALS & signature.parameters.keys()) or returned is list or get_origin(returned) is list


def reads_state(function: Callable[..., Any]) -> bool:
    """Return whether it may read values that other functions left in the state."""
    parameters = inspect.signature(function).parameters
    named = bool({"state", "states"} & parameters.keys())
    return named or any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
