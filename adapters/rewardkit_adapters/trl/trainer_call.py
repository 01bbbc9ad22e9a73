"""One call of the trainer: its arguments, and the same call with the rows of all processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pickle import PicklingError
from typing import Any

from rewardkit.errors import BindingError
from rewardkit.online.shared_tables import equal
from rewardkit_adapters.trl.trainer import Trainer

_REMEDY = "make per_device_train_batch_size a multiple of num_generations"


@dataclass(frozen=True)
class TrainerCall:
    """The arguments of one call.

    Attributes:
        step: of the trainer when it called, which its state no longer tells later; None if unknown.
    """

    completions: list[Any]
    prompts: Any
    completion_ids: Any
    columns: Mapping[str, Any]
    context: Mapping[str, Any]
    step: int | None = None

    @property
    def identity(self) -> tuple[int, ...]:
        """The ids of the objects that the trainer passed; they live as long as the call."""
        return (id(self.completions), id(self.prompts), *map(id, self.columns.values()))

    def equals(self, other: TrainerCall) -> bool:
        """Whether `other` has equal contents and may be of the same batch."""
        mine, its = (
            (call.step, call.completions, call.prompts, call.completion_ids, call.columns) for call in (self, other)
        )
        environments = self.context.get("environments"), other.context.get("environments")
        return all(map(equal, mine, its)) and equal(*environments)


def gathered(call: TrainerCall, trainer: Trainer) -> tuple[TrainerCall, int]:
    """Return the call with the rows of all processes in rank order, and the position of this process's first row.

    Raises:
        BindingError: something in the call cannot be sent to another process.
    """
    if call.context.get("environments"):
        raise BindingError(
            "this reward compares completions of several processes, and environments cannot be sent from one process "
            f"to another: {_REMEDY}"
        )
    own = (call.completions, call.prompts, call.completion_ids, dict(call.columns))
    try:
        calls = trainer.of_each_process(own)
    except (PicklingError, TypeError, AttributeError) as error:
        raise BindingError(
            "this reward compares completions of several processes, and its columns cannot be sent from one process "
            f"to another: {error}. Remove the column, or {_REMEDY}"
        ) from error
    start = sum(len(completions) for completions, *_ in calls[: trainer.rank])
    columns = {name: _concatenated(other[3][name] for other in calls) for name in call.columns}
    completions, prompts, ids = (_concatenated(other[place] for other in calls) for place in range(3))
    context = dict(call.context)
    if "log_extra" in context:  # it takes one value for each row of this process
        context["log_extra"] = partial(_log_part, context["log_extra"], slice(start, start + len(call.completions)))
    return TrainerCall(completions, prompts, ids, columns, context), start


def _log_part(log_extra: Any, rows: slice, column: str, values: Any) -> None:
    log_extra(column, list(values)[rows])


def _concatenated(lists: Iterable[Any]) -> Any:
    """Return the lists joined; None if they are all None."""
    listed = list(lists)
    return None if listed[0] is None else [value for values in listed for value in values]
