"""A trainer call: its arguments, the rows from all processes, and information about its rollouts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pickle import PicklingError
from typing import Any, final

from rewardkit.batch.environments import journals
from rewardkit.batch.journals import journal_of
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.trajectory import IsError
from rewardkit.errors import BindingError, near_miss, shorten, warn
from rewardkit.online.batch_cache import equal
from rewardkit.tree.reward import Reward, bindings
from rewardkit_adapters.trl.trainer import Trainer

_REMEDY = "make per_device_train_batch_size a multiple of num_generations"


@dataclass(frozen=True)
class TrainerCall:
    """The arguments of one call from the trainer.

    Attributes:
        step: the trainer's step at the time of the call, or None if unknown. It cannot be read from the trainer's state
            after the call.
    """

    completions: list[Any]
    prompts: Any
    completion_ids: Any
    columns: Mapping[str, Any]
    context: Mapping[str, Any]
    step: int | None = None

    @property
    def identity(self) -> tuple[int, ...]:
        """The ids of the objects that the trainer passed. They are valid as long as the call exists."""
        return (id(self.completions), id(self.prompts), *map(id, self.columns.values()))

    def equals(self, other: TrainerCall) -> bool:
        """Return whether `other` has equal contents, so that it may belong to the same batch."""
        own_contents, other_contents = (
            (call.step, call.completions, call.prompts, call.completion_ids, call.columns) for call in (self, other)
        )
        environments = self.context.get("environments"), other.context.get("environments")
        return all(map(equal, own_contents, other_contents)) and equal(*environments)


def gathered(call: TrainerCall, trainer: Trainer) -> tuple[TrainerCall, int]:
    """Return the call with the rows from all processes in rank order, and the index of this process's first row.

    Raises:
        BindingError: a value in the call cannot be sent to another process.
    """
    if call.context.get("environments"):
        raise BindingError(
            "this reward compares completions from several processes, but environments cannot be sent from "
            f"one process to another: {_REMEDY}"
        )
    own_rows = (call.completions, call.prompts, call.completion_ids, dict(call.columns))
    try:
        calls = trainer.of_each_process(own_rows)
    except (PicklingError, TypeError, AttributeError) as error:
        raise BindingError(
            "this reward compares completions from several processes, but its columns cannot be sent from "
            f"one process to another: {error}. Remove the column, or {_REMEDY}"
        ) from error
    start = sum(len(completions) for completions, *_ in calls[: trainer.rank])
    columns = {name: _concatenated(other[3][name] for other in calls) for name in call.columns}
    completions, prompts, ids = (_concatenated(other[index] for other in calls) for index in range(3))
    context = dict(call.context)
    if "log_extra" in context:  # log_extra takes one value per row of this process
        context["log_extra"] = partial(_log_part, context["log_extra"], slice(start, start + len(call.completions)))
    return TrainerCall(completions, prompts, ids, columns, context), start


def _log_part(log_extra: Any, rows: slice, column: str, values: Any) -> None:
    log_extra(column, list(values)[rows])


def _concatenated(lists: Iterable[Any]) -> Any:
    """Return the concatenated lists, or None if all of them are None."""
    materialized = list(lists)
    return None if materialized[0] is None else [value for values in materialized for value in values]


@final
@dataclass(frozen=True)
class Episodes:
    """The settings for reading the trainer's completions.

    Attributes:
        transcripts: the ``rollout_func`` field that contains each episode's messages.
        is_error: a function that decides whether a tool result's text is an error.
    """

    transcripts: str | None = None
    is_error: IsError | None = None

    def call(self, call: TrainerCall) -> TrainerCall:
        """Return the call with the completions replaced by the transcripts.

        Raises:
            BindingError: the transcript field is missing, or it does not contain messages.
        """
        name = self.transcripts
        if name is None:
            return call
        if name not in call.columns:
            raise BindingError(
                f"transcripts={name!r} is not a field that rollout_func returns. Fields and columns: "
                f"{', '.join(call.columns) or 'none'}.{near_miss(name, call.columns)} Return it from rollout_func: one "
                "list of chat messages per completion"
            )
        transcripts = list(call.columns[name])
        for row, messages in enumerate(transcripts):
            if not isinstance(messages, (list, tuple)):
                raise BindingError(
                    f"transcripts={name!r}: row {row} must be a list of chat messages, got {shorten(messages)}"
                )
        columns = {column: values for column, values in call.columns.items() if column != name}
        return replace(call, completions=transcripts, columns=columns)

    def rollouts(self, call: TrainerCall, trainer: Trainer) -> RolloutInfo:
        """Return information about the rollouts beyond their messages."""
        environments, ids, ends = call.context.get("environments"), call.completion_ids, trainer.end_tokens
        cut = Cut(ids, ends) if ends and hasattr(ids, "__getitem__") else None
        recorded = {} if environments is None else journals(environments)
        return RolloutInfo(cut=cut, is_error=self.is_error, runs_calls=trainer.runs_calls, **recorded)


PLAIN = Episodes()


@final
@dataclass(frozen=True)
class Cut:
    """The flags for truncated completions, which do not end with an end token.

    The flags are computed on first use."""

    ids: Sequence[Any]
    ends: frozenset[int]

    def __getitem__(self, row: int) -> bool:
        token_ids = self.ids[row]
        return bool(len(token_ids)) and int(token_ids[-1]) not in self.ends


def warn_of_rollouts(trainer: Trainer, reward: Reward, episodes: Episodes) -> None:
    """Warn if the trainer's rollouts do not expose data that the reward needs."""
    if trainer.has_rollout_function and episodes.transcripts is None:
        warn(
            "this trainer has a rollout_func, so each episode arrives as one assistant message. The "
            "message includes the environment's words, which may be read as the answer. Return each episode's "
            "messages from rollout_func, "
            'as the field "transcript", and pass rk.to_trl(reward, transcripts="transcript")'
        )
    asks = any(getattr(binding.function, "reads_cut", False) for _, binding in bindings(reward))
    if asks and trainer.known and not trainer.end_tokens:
        warn(
            "rk.agents.finished() cannot detect which completions reached the token limit, because this trainer does "
            "not expose the end-of-turn token: a truncated completion counts as an answer"
        )


def warn_of_environments(call: TrainerCall) -> None:
    """Warn if the environments do not record tool calls.

    The reward then reads only messages, and outages go unnoticed."""
    plain = [
        environment
        for environment in call.context.get("environments") or ()
        if environment is not None and journal_of(environment) is None
    ]
    if plain:
        name = type(plain[0]).__name__
        warn(
            f"the environments ({name}) do not record their tool calls, so a tool that cannot reach its service counts "
            f"as the policy's error. Pass environment_factory=funcs.environments({name}) of rk.to_trl(reward)"
        )


def warn_of_tokens(trainer: Trainer, reward: Reward, call: TrainerCall) -> bool:
    """Warn if lengths in tokens include tool results. Return whether later batches need no further check."""
    if not any(binding.reads("completion_ids") for _, binding in bindings(reward)):
        return True
    if not any(_has_results(completion) for completion in call.completions):
        return False
    if trainer.known:
        warn(
            "a reward in this tree counts tokens, but the token ids of these completions also include tool results, "
            "which count as the policy's own tokens. Count the policy's own words instead, such as "
            'rk.length.between(1, 200, unit="words", count="answer")'
        )
    return True


def _has_results(completion: Any) -> bool:
    return isinstance(completion, list) and any(
        isinstance(message, dict) and message.get("role") == "tool" for message in completion
    )
