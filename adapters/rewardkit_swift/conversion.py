"""from_swift: use an outcome reward model (ORM) of ms-swift as a Reward.

``rk.from_swift(MathAccuracy)`` can be weighted, gated, checked and logged like any other reward. It gets what ms-swift
passes: completions as texts, the whole conversation as ``messages``, and the dataset columns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from rewardkit.core.batch.messages import as_messages, completion_text
from rewardkit.core.errors import RewardTypeError, hashable, shorten
from rewardkit.core.progress.schedule import Schedule
from rewardkit.core.tree.binding import is_async, name_of
from rewardkit.core.tree.leaf import written_as
from rewardkit.core.tree.reward import Reward
from rewardkit.core.tree.trl_function import from_trl

_ROLLOUTS = ("prompt_id", "request_id", "finish_reason", "is_truncated", "rollout_infos", "response_token_ids")
"""What ms-swift knows of its rollouts beside the columns."""


@final
@dataclass(frozen=True)
class Orm:
    """Call an ORM with the arguments that ms-swift passes."""

    orm: Callable[..., Any]

    def __call__(self, completions: Sequence[Any], prompts: Sequence[Any], **given: Any) -> Any:
        return self.orm(**arguments(self.orm, completions, prompts, given))

    @property
    def __signature__(self) -> inspect.Signature:
        return signature_of(self.orm)


@final
@dataclass(frozen=True)
class AsyncOrm:
    """Call an async ORM."""

    orm: Callable[..., Any]

    async def __call__(self, completions: Sequence[Any], prompts: Sequence[Any], **given: Any) -> Any:
        return await self.orm(**arguments(self.orm, completions, prompts, given))

    @property
    def __signature__(self) -> inspect.Signature:
        return signature_of(self.orm)


def arguments(
    orm: Callable[..., Any], completions: Sequence[Any], prompts: Sequence[Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what ms-swift passes, without what the ORM does not take."""
    texts = [completion_text(completion, row) for row, completion in enumerate(completions)]
    messages = [
        [*_asked(prompt, row), *({"role": "assistant", **message} for message in as_messages(one, "completions", row))]
        for row, (prompt, one) in enumerate(zip(prompts, completions, strict=True))
    ]
    ids = given.get("completion_ids")
    known = {**given, "completions": texts, "messages": messages}
    if ids is not None:
        known["response_token_ids"] = [[list(own)] for own in ids]
    known = {name: value for name, value in known.items() if name not in ("completion_ids", "log_metric", "log_extra")}
    parameters = inspect.signature(orm).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return known
    return {name: value for name, value in known.items() if name in parameters}


def _asked(prompt: Any, row: int) -> list[Mapping[str, Any]]:
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}] if prompt else []
    return list(as_messages(prompt, "prompts", row))


def signature_of(orm: Callable[..., Any]) -> inspect.Signature:
    """Return the signature for TRL's form of a function: the columns that the ORM names, and everything else."""
    own = inspect.signature(orm).parameters.values()
    fixed = ("completions", "prompts", "messages", "trainer_state", *_ROLLOUTS)
    named = [
        one.replace(kind=one.KEYWORD_ONLY)
        for one in own
        if one.name not in fixed and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    first = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("completions", "prompts")]
    return inspect.Signature([*first, *named, inspect.Parameter("given", inspect.Parameter.VAR_KEYWORD)])


def from_swift(orm: Any, name: str | None = None) -> Reward:
    """Turn an ORM of ms-swift into a Reward: ``rk.from_swift(MathAccuracy) + 0.2 * rk.from_swift(Format)``.

    Completions are texts for an ORM, also with chat prompts; ``messages`` is the whole conversation. What only a
    rollout of ms-swift knows (``prompt_id``, ``finish_reason`` and the like) is not passed. None and NaN abstain.

    Args:
        orm: a subclass of ``ORM`` or ``AsyncORM``, which is made with ``args=None``; an instance; or a function
            ``f(completions, **kwargs)``. It returns one number per completion.
        name: the name of the component; by default the name of the class or function.

    Raises:
        RewardTypeError: `orm` is not an ORM, cannot be made without training arguments, or takes ``infer_requests``.
        BindingError: while scoring: a column is missing.
    """
    made = _made(orm) if isinstance(orm, type) else orm
    if isinstance(made, (Reward, Schedule, str)) or not callable(made):
        raise RewardTypeError(f"from_swift: expected an ORM of ms-swift, got {shorten(orm)} ({type(orm).__name__})")
    label = name_of(made)
    try:
        parameters = inspect.signature(made).parameters
    except (TypeError, ValueError) as error:
        raise RewardTypeError(f"from_swift: cannot read the signature of {label} ({error})") from None
    if "completions" not in parameters:
        hint = " An ORM for inference takes infer_requests and is not used in training." * (
            "infer_requests" in parameters
        )
        raise RewardTypeError(f"from_swift: {label} has no argument completions, so it is not an ORM of GRPO.{hint}")
    if not hashable(made):
        raise RewardTypeError(f"from_swift: {label} is not hashable, which a reward must be")
    leaf = from_trl(AsyncOrm(made) if is_async(made) else Orm(made), name if name is not None else label)
    shown = f"from_swift({label}{'' if name is None else f', name={name!r}'})"
    return written_as(leaf, shown)


def _made(kind: type) -> Any:
    try:
        return kind(args=None)
    except Exception as error:
        raise RewardTypeError(
            f"from_swift: {kind.__name__}(args=None) raised {type(error).__name__}: {error}. Make the instance "
            f"yourself, with the arguments that it needs, and pass it: rk.from_swift({kind.__name__}(...))"
        ) from None
