"""Batch: the completions that are scored together, with their prompts and columns.

``Batch(["<answer>42</answer>"], prompts=["6*7?"], columns={"answer": ["42"]})``. Values that several rewards need are
computed once: the completion texts, the extractor results, and the groups of equal values, which allow duplicates to be
scored only once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.column import Rows
from rewardkit.batch.equality import Equality, equal_ids, equality, first_apart, number_equal_rows
from rewardkit.batch.logs import OF_TRAINERS, Logs
from rewardkit.batch.messages import Message, as_messages, completion_text, prompt_text
from rewardkit.batch.rollouts import UNKNOWN, RolloutInfo
from rewardkit.batch.trajectory import Trajectory
from rewardkit.errors import BindingError, shorten
from rewardkit.progress.progress import END, Progress
from rewardkit.workers.signals import from_operator

# TrainerState: the progress in the form in which trainers pass it, for functions that run outside of a trainer.


@final
@dataclass
class TrainerState:
    """The attributes of ``trainer_state`` that a reward function may read."""

    epoch: float
    global_step: int
    max_steps: int
    num_train_epochs: int
    # The defaults of transformers' TrainerState.
    logging_steps: int = 500
    eval_steps: int = 500
    save_steps: int = 500
    train_batch_size: int | None = None
    num_input_tokens_seen: int = 0
    total_flos: float = 0
    log_history: list[dict[str, float]] = field(default_factory=list)
    best_metric: float | None = None
    best_global_step: int | None = None
    best_model_checkpoint: str | None = None
    is_local_process_zero: bool = True
    is_world_process_zero: bool = True
    is_hyper_param_search: bool = False
    trial_name: str | None = None
    trial_params: dict[str, Any] | None = None
    stateful_callbacks: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, progress: Progress | None) -> TrainerState:
        """Return the state at `progress`; None means the end of training, when schedules have their final values."""
        now = progress or END
        epochs = now.epoch / now.fraction if now.fraction > 0.0 else now.epoch
        return cls(
            epoch=now.epoch,
            global_step=now.step,
            max_steps=now.max_steps,
            # Trainers count epochs with rounding errors: 2.9999999999999996 epochs are 3.
            num_train_epochs=max(1, math.ceil(round(epochs, 6))),
        )


Numbers = NDArray[np.int64]
View = Callable[[str], Any]

RESERVED = ("completion", "messages", "trajectory", "prompt", "progress", "example", "completion_ids", *OF_TRAINERS)
"""Argument names with a fixed meaning, which cannot be used for columns."""


@dataclass(frozen=True, slots=True)
class ViewFault:
    """The placeholder for an extracted value if the user's extractor raised an exception."""

    error: BaseException


class Batch:
    """Completions (n) with their prompts and dataset columns.

    Args:
        completions: n strings, or n conversational completions (lists of messages).
        prompts: n prompts, or None.
        completion_ids: n lists of token ids, or None.
        columns: name -> n values.
        progress: the training progress, or None for evaluation.
        num_generations: the number of completions per prompt, if known.
        context: the trainer's objects, which are passed to functions written for that trainer.
        rollouts: information about the completions that their messages do not contain.

    Raises:
        BindingError: the lengths differ, or a completion is neither text nor messages.
    """

    def __init__(
        self,
        completions: Iterable[Any],
        *,
        prompts: Iterable[Any] | None = None,
        completion_ids: Iterable[Any] | None = None,
        columns: Mapping[str, Iterable[Any]] | None = None,
        progress: Progress | None = None,
        num_generations: int | None = None,
        context: Mapping[str, Any] | None = None,
        rollouts: RolloutInfo = UNKNOWN,
    ) -> None:
        self.completions = _listed(completions, "completions", None)
        self.size = len(self.completions)
        self.prompts = None if prompts is None else _listed(prompts, "prompts", self.size)
        self.completion_ids = None if completion_ids is None else _listed(completion_ids, "completion_ids", self.size)
        _check_ids(self.completion_ids or [])
        self.columns: dict[str, list[Any]] = {}
        for name, values in (columns or {}).items():
            self.columns[name] = _listed(values, f"column {name!r}", self.size)
        if progress is not None and not isinstance(progress, Progress):
            raise BindingError(f"progress must be rk.Progress(step, max_steps), got {shorten(progress)}")
        self.progress = progress
        self.num_generations = num_generations
        self.context = context or {}
        self.rollouts = rollouts
        self.logs = Logs(self.size, self.context)
        self._views: dict[View, dict[int, Any]] = {}
        self._equal: dict[Sequence[str], Equality] = {}
        self._trajectories: list[Trajectory | None] = []

    def __len__(self) -> int:
        return self.size

    @cached_property
    def texts(self) -> list[str]:
        """The n completions as text."""
        if set(map(type, self.completions)) <= {str}:
            return list(self.completions)
        return [
            value if type(value) is str else completion_text(value, row) for row, value in enumerate(self.completions)
        ]

    @cached_property
    def prompt_texts(self) -> list[str]:
        """The n prompts as text; n empty strings if the batch does not have prompts."""
        if self.prompts is None:
            return [""] * self.size
        return [value if type(value) is str else prompt_text(value, row) for row, value in enumerate(self.prompts)]

    @cached_property
    def trainer_state(self) -> Any:
        """The trainer's state; outside a trainer, an object with the same attributes, created from `progress`."""
        state = self.context.get("trainer_state")
        return TrainerState.of(self.progress) if state is None else state

    def messages(self, row: int) -> Sequence[Message]:
        """Return a row's completion as messages."""
        return as_messages(self.completions[row], "completions", row)

    def trajectory(self, row: int) -> Trajectory:
        """Return a row's completion as a trajectory. Equal completions are parsed only once."""
        if not self._trajectories:
            self._trajectories = [None] * self.size
        read = self._trajectories[row]
        if read is None:
            first = row if self.rollouts.by_row else self.equality("messages").first_of(row)
            read = self._trajectories[first] or self.rollouts.read(first, self.completions[first])
            self._trajectories[row] = self._trajectories[first] = read
        return read

    def example(self, row: int) -> dict[str, Any]:
        """Return a row's columns."""
        return {name: values[row] for name, values in self.columns.items()}

    def equality(self, *names: str) -> Equality:
        """Return which rows have equal values for all `names`: ``completion``, ``messages``, ``prompt``, or columns."""
        if names not in self._equal:
            self._equal[names] = self._equality(names)
        return self._equal[names]

    def _equality(self, names: Sequence[str]) -> Equality:
        if not names:
            return Equality(np.zeros(self.size, dtype=np.int64), min(self.size, 1))
        *leading, name = names
        if leading:
            return self.equality(*leading).joined(self.equality(name))
        if name == "trajectory" and not self.rollouts.by_row:
            return self.equality("messages")
        values = self._values(name)
        return equal_ids(values) if name == "completion_ids" else equality(values)

    def _values(self, name: str) -> list[Any]:
        if name == "completion":
            return self.texts
        if name == "messages":
            return self.completions
        if name == "trajectory":
            return list(map(self.trajectory, range(self.size)))
        if name == "prompt":
            return self.prompts if self.prompts is not None else self.prompt_texts
        if name == "completion_ids":
            return self.completion_ids or []
        return self.columns[name]

    def view(self, extract: View, rows: Sequence[int]) -> list[Any]:
        """Return the result of `extract` for each of `rows` (ascending).

        Each distinct text is parsed once per batch.
        """
        numbers = self.equality("completion").numbers
        return self._found(extract, numbers.tolist() if len(rows) == self.size else numbers[rows].tolist())

    def _found(self, extract: View, numbers: list[int]) -> list[Any]:
        """Return the results of `extract` for the distinct texts with these numbers, reusing its `source`'s results."""
        cache = self._views.setdefault(extract, {})
        missing = list(dict.fromkeys(numbers))
        if cache:
            missing = [number for number in missing if number not in cache]
        if missing:
            source = getattr(extract, "source", None)
            inputs = [self._distinct[number] for number in missing] if source is None else self._found(source, missing)
            derive = extract if source is None else extract.derive  # type: ignore[attr-defined]
            extracted = _all_derived(derive, inputs)
            cache.update(zip(missing, extracted, strict=True))
            if len(missing) == len(numbers):
                return extracted
        return [cache[number] for number in numbers]

    @cached_property
    def _distinct(self) -> list[str]:
        """The distinct completion texts, indexed by their numbers in ``equality("completion")``."""
        equal = self.equality("completion")
        return self.texts if equal.count == self.size else [self.texts[row] for row in equal.firsts.tolist()]

    @cached_property
    def everywhere(self) -> Rows:
        """True for all rows (n,). Code checks for this object with ``is``, which is faster than comparing values."""
        rows: Rows = np.ones(self.size, dtype=np.bool_)
        rows.flags.writeable = False
        return rows

    @cached_property
    def groups(self) -> Numbers:
        """Each row's group (n,): `num_generations` rows or, if unknown, consecutive rows with equal prompt and columns.

        If `num_generations` is known, prompts are not compared, because an environment may start each completion with a
        different prompt, and images that are decoded separately for each row are never equal.
        """
        starts = np.zeros(self.size, dtype=np.bool_)
        if self.num_generations:
            starts[:: self.num_generations] = True
        else:
            starts[1:] = np.diff(self._alike) != 0
        groups: Numbers = np.cumsum(starts, dtype=np.int64)
        return groups

    @cached_property
    def _alike(self) -> Numbers:
        """A number for each row (n,); rows with equal prompt and columns have the same number."""
        column_names = [name for name in self.columns if name not in RESERVED]
        return number_equal_rows(
            [self.equality(name) for name in (["prompt"] if self.prompts is not None else []) + column_names], self.size
        )

    def check_groups(self) -> None:
        """Raise a BindingError if groups are unknown because completions for a prompt are not in adjacent rows."""
        split_rows = None if self.num_generations else first_apart(self._alike)
        if split_rows is not None:
            row, before = split_rows
            shared = "columns" if self.prompts is None else "prompt and columns" if self.columns else "prompt"
            raise BindingError(
                f"the reward compares the completions for each prompt. Rows {before} and {row} have the same {shared}, "
                f"but row {row - 1} between them does not, so the groups cannot be determined. Put the completions for "
                "each prompt next to each other. If every k rows already form one group, pass num_generations=k"
            )

    def members(self, rows: Rows) -> Iterator[Numbers]:
        """Yield the positions of the rows selected by `rows` (n,), group by group."""
        positions = np.flatnonzero(rows)
        if len(positions):
            yield from np.split(positions, np.flatnonzero(np.diff(self.groups[positions])) + 1)

    def whole_groups(self, rows: Rows) -> Rows:
        """Return all rows (n,) in the groups that contain any of `rows`."""
        touched = np.zeros(self.size + 1, dtype=np.bool_)
        touched[self.groups[rows]] = True
        widened: Rows = touched[self.groups]
        return widened


def _all_derived(derive: Callable[[Any], Any], inputs: Sequence[Any]) -> list[Any]:
    if ViewFault not in set(map(type, inputs)):
        try:
            return list(map(derive, inputs))
        except BaseException as error:  # the user's extractor raised: find out on which texts
            if from_operator(error):
                raise
    return [_derived(derive, value) for value in inputs]


def _derived(derive: Callable[[Any], Any], value: Any) -> Any:
    if type(value) is ViewFault:
        return value
    try:
        return derive(value)
    except BaseException as error:
        if from_operator(error):
            raise
        return ViewFault(error)


def _check_ids(rows: Sequence[Any]) -> None:
    if set(map(type, rows)) <= {list}:
        return
    for row, ids in enumerate(rows):
        if isinstance(ids, (str, bytes, Mapping)) or not hasattr(ids, "__len__"):
            raise BindingError(f"completion_ids[{row}] must be a list of token ids, got {shorten(ids)}")


_PASTED = 60
"""The maximum number of characters in a value that is shown as code. The limit is arbitrary: in the user's code, longer
values are variables."""


def _listed(values: Iterable[Any], label: str, size: int | None) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise BindingError(
            f"{label} must be a list with one value per completion, got {shorten(values)}{_as_list(values, size)}"
        )
    listed = values if isinstance(values, list) else list(values)
    if size is not None and len(listed) != size:
        raise BindingError(f"{label} has {len(listed)} values for {size} completions: pass one value per completion")
    return listed


def _as_list(value: Any, size: int | None) -> str:
    """Return a suggestion to pass a single value as a list; empty if its code is long or probably not intended."""
    kinds = str if size is None else (str, int, float, Mapping, type(None))
    if not isinstance(value, kinds) or len(repr(value)) > _PASTED:
        return ""
    return f". Pass [{value!r}]{'' if size is None else f' * {size}'}"
