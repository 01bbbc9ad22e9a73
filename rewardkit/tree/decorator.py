"""``@rk.reward``: turn a function into a reward.

::

    @rk.reward
    def closeness(completion: str, answer: float) -> float:
        \"\"\"Score 1.0 for the right number, less with the relative error.\"\"\"

"answer" is a dataset column, converted from text to float.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, overload

from rewardkit.errors import RewardDefinitionError, RewardTypeError, hashable, shorten
from rewardkit.progress.bounds import Bounds
from rewardkit.tree.binding import Binding, name_of
from rewardkit.tree.leaf import Leaf
from rewardkit.tree.parameters import Scope, caller_locals, may_abstain, parameters_of
from rewardkit.tree.results import ON_ERROR_REMEDY, Policy, ReturnPolicy
from rewardkit.tree.reward import Reward, checked_name


@overload
def reward(function: Callable[..., Any], /) -> Reward: ...
@overload
def reward(
    *,
    name: str | None = None,
    scope: Scope = "sample",
    bounds: Bounds = (0.0, 1.0),
    on_failure: Policy = "unscorable",
    on_error: Literal["raise"] | float | None = None,
    deterministic: bool = True,
    pure: bool = False,
    expensive: bool = False,
    timeout: float | None = None,
) -> Callable[[Callable[..., Any]], Reward]: ...


def reward(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    scope: Scope = "sample",
    bounds: Bounds = (0.0, 1.0),
    on_failure: Policy = "unscorable",
    on_error: Literal["raise"] | float | None = None,
    deterministic: bool = True,
    pure: bool = False,
    expensive: bool = False,
    timeout: float | None = None,
) -> Reward | Callable[[Callable[..., Any]], Reward]:
    """Turn a function into a reward. Its arguments are bound by name and type.

    ::

        @rk.reward(bounds=(-1.0, 1.0))
        def polite(completion: str) -> float:
            return 1.0 if "please" in completion else -1.0

    Each argument is ``completion`` (the completion's text), ``messages`` (the chat messages), ``prompt`` (the prompt's
    text), ``completion_ids``, ``progress``, ``example`` (a mapping of all columns; its values are strings if it is
    annotated ``dict[str, str]``), a TRL argument (``trainer_state``, ``log_metric(name, value)``, ``log_extra(column,
    value)``), or a dataset column, converted to the annotated type. The function can be async. It returns a number or
    an ``rk.Score``. If the return annotation is ``float | None``, the function can return None to abstain. If the score
    cannot be computed for a reason other than the completion, the function should raise ``rk.RewardFailure``.

    Args:
        name: the component's name. The default is the function's name.
        scope: ``"sample"`` calls the function once per completion. ``"group"`` calls it once per prompt, with lists of
            all generations for the prompt. ``"batch"`` calls it once per batch, with lists of all rows. In both cases,
            the function returns a list of scores.
        bounds: the lowest and the highest score. A score outside these bounds is an error; scores are never clipped.
        on_failure: the behavior if a score cannot be computed: ``"unscorable"`` (no learning signal), ``"raise"``, or a
            number to use as the score.
        on_error: the behavior if the function has a bug: ``"raise"``, a number to use as the score, or None, which
            raises an exception in the first batch and uses the lowest bound as the score in later batches.
        deterministic: whether the same arguments always get the same score. If so, duplicates are scored only once.
        pure: whether another call costs nothing and changes nothing: the function is deterministic, is free to call,
            writes nothing, and counts nothing. Only pure functions are called again with the gold answers of other
            prompts, by the radar of ``rk.to_trl``.
        expensive: whether to skip the function while its scheduled weight is zero.
        timeout: the time limit for one call, in seconds; a sample that takes longer fails. An async function is
            canceled at the limit, so it must await and not block. Any other function runs in a separate process, which
            is killed at the limit. That process imports your script again, so put the code that starts training under
            ``if __name__ == "__main__":``. In a notebook, the function is sent to the process together with everything
            that it refers to.

    Raises:
        RewardDefinitionError: an option, the signature, or an annotation is invalid.
    """
    names = caller_locals(1)

    def decorate(function: Callable[..., Any]) -> Reward:
        if isinstance(function, (Reward, type)) or not callable(function):
            raise RewardTypeError(
                f"@rk.reward must decorate a function, got {shorten(function)} ({type(function).__name__})"
            )
        if not hashable(function):
            raise RewardDefinitionError(
                f"@rk.reward: {shorten(function)} ({type(function).__name__}) is not hashable, but rewards must "
                "be hashable. Make its class a @dataclass(frozen=True)"
            )
        label = checked_name(name if name is not None else name_of(function))
        checked_scope(label, scope)
        if pure and not deterministic:
            raise RewardDefinitionError(
                f"reward {label!r}: pure=True contradicts deterministic=False, because a pure function always "
                "returns the same score for the same arguments. Drop one of the two"
            )
        parameters = parameters_of(function, scope, label, names)
        binding = Binding(
            function, parameters, scope, deterministic, expensive, checked_timeout(label, timeout), pure=pure
        )
        check_logs(binding, label)
        contract = ReturnPolicy(
            label,
            checked_bounds(label, bounds),
            may_abstain(function, label, scope, names),
            on_failure if on_failure in ("unscorable", "raise") else policy_number(label, "on_failure", on_failure),
            on_error if on_error in (None, "raise") else policy_number(label, "on_error", on_error),
            ON_ERROR_REMEDY,
        )
        return Leaf(binding, contract)

    return decorate if function is None else decorate(function)


def check_logs(binding: Binding, name: str) -> None:
    """Raise a RewardDefinitionError if the function needs the trainer's objects but runs in another process."""
    if binding.timeout is None or binding.asynchronous:
        return
    if binding.logs:
        raise RewardDefinitionError(
            f"reward {name!r} logs, but with timeout= it runs in a separate process, which cannot log. Drop "
            "timeout=, or return the logged values as rk.Score(value, parts={...})"
        )
    needed = [argument for argument in ("log_metric", "log_extra", "environments") if binding.passes(argument)]
    if needed:
        raise RewardDefinitionError(
            f"reward {name!r} has the argument {needed[0]!r}, but with timeout= it runs in a separate process, which "
            "cannot log or read the trainer's environments. Drop timeout=, or make the function async"
        )


def checked_scope(name: str, scope: object) -> None:
    if scope not in ("sample", "group", "batch"):
        raise RewardDefinitionError(f'reward {name!r}: scope must be "sample", "group", "batch", got {shorten(scope)}')


def checked_bounds(name: str, bounds: Any) -> Bounds:
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high:
        raise RewardDefinitionError(f"reward {name!r}: bounds must be (lowest, highest), got {shorten(bounds)}")
    return low, high


def policy_number(name: str, option: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        words = '"unscorable", "raise"' if option == "on_failure" else 'None, "raise"'
        raise RewardDefinitionError(f"reward {name!r}: {option} must be {words} or a number, got {shorten(value)}")
    return float(value)


def checked_timeout(name: str, timeout: Any) -> float | None:
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < math.inf:
        raise RewardDefinitionError(
            f"reward {name!r}: timeout must be a number of seconds greater than 0, got {shorten(timeout)}"
        )
    return float(timeout)
