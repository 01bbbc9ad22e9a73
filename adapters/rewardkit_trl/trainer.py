"""What the trainer behind a reward call knows: train or evaluation, generations per prompt, weights really held.

TRL hands every reward function ``log_metric``, a bound method of the trainer: the only way to it. All of it is
guarded, because a patched or older TRL may lack any part.
"""

from __future__ import annotations

import inspect
import math
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pickle import PicklingError
from types import MappingProxyType
from typing import Any, TypeVar, get_args
from weakref import WeakKeyDictionary

import numpy as np

from rewardkit.analysis.signal import Scale
from rewardkit.core.batch.column import Floats
from rewardkit.core.errors import BindingError, RewardFailure
from rewardkit.core.progress.progress import Progress
from rewardkit_trl.advantages import Way
from rewardkit_trl.shared_tables import TrainerCall

T = TypeVar("T")

SCALES: tuple[Scale, ...] = get_args(Scale)
NOTHING: Mapping[Any, Any] = MappingProxyType({})
_PER_FUNCTION = ("reward_funcs", "reward_func_names", "reward_processing_classes")
"""The trainer's lists that have an item for each reward function."""


class Trainer:
    """A guarded look at the trainer of one call; ``Trainer.behind(None)`` knows nothing."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    @classmethod
    def behind(cls, log_metric: Any) -> Trainer:
        owner = getattr(log_metric, "__self__", None)
        return cls(owner if hasattr(owner, "reward_funcs") else None)

    @classmethod
    def calling(cls, callback: object) -> Trainer:
        """The trainer that is calling `callback`: nobody hands it over, but it is a few frames up."""
        frame = inspect.currentframe()
        while frame is not None:
            owner = frame.f_locals.get("self")
            handler = getattr(owner, "callback_handler", None)
            if hasattr(owner, "reward_funcs") and any(one is callback for one in getattr(handler, "callbacks", ())):
                return cls(owner)
            frame = frame.f_back
        return cls(None)

    def weak(self) -> Callable[[], Trainer]:
        """Gives it as long as it lives, without keeping it alive."""
        if self._trainer is None:
            return lambda: Trainer(None)
        held = weakref.ref(self._trainer)
        return lambda: Trainer(held())

    @property
    def known(self) -> bool:
        return self._trainer is not None

    @property
    def training(self) -> bool:
        """Whether it trains; assumed where nothing is known."""
        return bool(getattr(getattr(self._trainer, "model", None), "training", True))

    @property
    def num_generations(self) -> int | None:
        """Completions per prompt in the mode it is in."""
        held = getattr(self._trainer, "num_generations", None)
        if not self.training:
            held = getattr(self._trainer, "num_generations_eval", None) or held
        return held if isinstance(held, int) else None

    @property
    def limits(self) -> dict[str, float]:
        """``limit/tokens``: at which length it cuts a completion."""
        held = getattr(self._trainer, "max_completion_length", None)
        return {"limit/tokens": float(held)} if isinstance(held, int) else {}

    @property
    def logs_completions(self) -> bool:
        return bool(getattr(self._trainer, "log_completions", True))

    def kept_in(self, known: WeakKeyDictionary[Any, T]) -> T | None:
        """What is known of it, if it has been met."""
        return known.get(self._trainer)

    def keep_in(self, known: WeakKeyDictionary[Any, T], value: T) -> T:
        """Remembers `value` of it for as long as it lives."""
        known[self._trainer] = value
        return value

    @property
    def normalizes_each(self) -> bool:
        """Whether every reward function is normalized by itself before they are summed (GDPO)."""
        return getattr(self._trainer, "multi_objective_aggregation", None) == "normalize_then_sum"

    @property
    def reward_functions(self) -> list[Any]:
        return list(getattr(self._trainer, "reward_funcs", []))

    @property
    def reward_names(self) -> list[str]:
        """How it calls them in its log."""
        return list(getattr(self._trainer, "reward_func_names", []))

    def weights_of(self, evaluator: object) -> list[tuple[str, float]]:
        """Name and held weight of each function of `evaluator`; empty where they cannot be found."""
        held = getattr(self._trainer, "reward_weights", None)
        return [] if held is None else [(name, float(held[place])) for place, name in self._places(evaluator)]

    def set_weights(self, evaluator: object, weights: Mapping[str, float]) -> None:
        """Gives the functions of `evaluator` new weights, if there are any, for the sum that follows this call.

        Raises:
            RewardFailure: the trainer's weights cannot be found.
        """
        held = getattr(self._trainer, "reward_weights", None)
        places = self._places(evaluator)
        if weights and (held is None or not places):
            raise RewardFailure(
                'columns="components" with scheduled weights needs a trainer whose reward_weights can be set: '
                'this one hides them; use columns="terms"'
            )
        if held is not None and weights:
            for place, name in places:
                held[place] = weights[name]

    def refusal(self, evaluator: object, names: Sequence[str]) -> str | None:
        """Why the functions of `evaluator` cannot become others called `names`; None where they can."""
        if not self.known:
            return "no trainer is in sight whose reward functions could be changed"
        lists = [getattr(self._trainer, name, None) for name in _PER_FUNCTION]
        weights = getattr(self._trainer, "reward_weights", None)
        own = [place for place, _ in self._places(evaluator)]
        known = own and all(isinstance(held, list) for held in lists) and hasattr(weights, "new_tensor")
        if not known or len({len(held) for held in (*lists, weights)}) > 1:  # type: ignore[arg-type]
            return "this trainer keeps its reward functions in a way that is not known here"
        others = [name for place, name in enumerate(self.reward_names) if place not in own]
        taken = [name for name in names if name in others]
        return f"another reward function of this trainer is called {taken[0]!r} already" if taken else None

    def replace_functions(self, evaluator: object, functions: Sequence[Any], weights: Sequence[float]) -> None:
        """Puts `functions` of `evaluator` where its first one stands; the others keep their order and their weights.

        Ours are synchronous, so whether there are asynchronous ones does not change.
        """
        own = [place for place, _ in self._places(evaluator)]
        held = [getattr(self._trainer, name) for name in _PER_FUNCTION]
        names = [function.__name__ for function in functions]
        rows: list[tuple[Any, ...]] = []
        for place, row in enumerate(zip(*held, self._trainer.reward_weights.tolist(), strict=True)):
            if place == own[0]:
                rows += zip(functions, names, [None] * len(names), weights, strict=True)
            if place not in own:
                rows.append(row)
        gone = {self.reward_names[place] for place in own} - set(names)
        for place, values in enumerate(held):
            values[:] = [row[place] for row in rows]  # the very lists: the one that to_trl returned is among them
        self._trainer.reward_weights = self._trainer.reward_weights.new_tensor([row[-1] for row in rows])
        self.even_out("rewards", gone, names, math.nan)

    def even_out(self, part: str, gone: Iterable[str], there: Iterable[str], absent: Any) -> None:
        """Makes the columns of a part of the completions table as long as its prompts, or there would be no table."""
        logs = getattr(self._trainer, "_logs", {})
        columns, length = logs.get(part, {}), len(logs.get("prompt", ()))
        for name in gone:
            columns.pop(name, None)
        for name in there:
            if length and name not in columns:
                columns[name].extend([absent] * length)

    def _places(self, evaluator: object) -> list[tuple[int, str]]:
        # Found by their evaluator, which survives pickling and copying, and not by their own identity.
        return [
            (place, function.__name__)
            for place, function in enumerate(self.reward_functions)
            if getattr(function, "evaluator", None) is evaluator
        ]

    @property
    def scale(self) -> Scale:
        """What advantages are divided by: a deviation in the group, in the batch, or nothing."""
        held = "batch" if self.normalizes_each else getattr(self._trainer, "scale_rewards", "group")
        return next((scale for scale in SCALES if scale == held), "group")

    def way_to_advantages(self, evaluator: object) -> Way | None:
        """How it makes advantages of what `evaluator` gives; None where that cannot be told from this alone."""
        functions = self.reward_functions
        if not functions or any(getattr(function, "evaluator", None) is not evaluator for function in functions):
            return None
        if self.normalizes_each:
            return "each"
        return self.scale if hasattr(self._trainer, "scale_rewards") else None

    @property
    def callbacks(self) -> list[Any]:
        return list(getattr(getattr(self._trainer, "callback_handler", None), "callbacks", []))

    def add_callback(self, callback: Any) -> None:
        """Adds a TrainerCallback, if it takes any."""
        if hasattr(self._trainer, "add_callback"):
            self._trainer.add_callback(callback)

    @property
    def can_stop_later(self) -> bool:
        """Whether it trains and takes callbacks, so that it can be stopped after a checkpoint."""
        return hasattr(self._trainer, "add_callback") and getattr(self._trainer, "is_in_train", True)

    @property
    def rank(self) -> int:
        """Which of the processes this one is."""
        return int(getattr(self._accelerator, "process_index", 0))

    @property
    def processes(self) -> int:
        """How many processes train together."""
        return getattr(self._accelerator, "num_processes", 1)

    @property
    def is_main(self) -> bool:
        return bool(getattr(self._accelerator, "is_main_process", True))

    @property
    def _accelerator(self) -> Any:
        return getattr(self._trainer, "accelerator", None)

    def summed_over_ranks(self, values: Floats) -> Floats:
        """(k,) numbers added up over all processes, in one collective; as they are in a run of one."""
        if self.processes == 1:
            return values
        import torch

        given = torch.tensor(values, dtype=torch.float64, device=self._accelerator.device)
        return np.asarray(self._accelerator.reduce(given, reduction="sum").tolist())

    def of_each_process(self, value: T) -> list[T]:
        """`value` of every process, in one collective."""
        if self.processes == 1:
            return [value]
        from accelerate.utils import gather_object

        return list(gather_object([value]))

    def on_main(self, compute: Callable[[], T]) -> T:
        """What `compute` gives, or raises, on the main process, for all of them."""
        if self.processes == 1:
            return compute()
        from accelerate.utils import broadcast_object_list

        computed: list[Any] = [None, None]
        if self.is_main:
            try:
                computed[0] = compute()
            except Exception as error:
                broadcast_object_list([None, RewardFailure(f"{type(error).__name__} on the main process: {error}")])
                raise
        broadcast_object_list(computed)
        result, failure = computed
        if failure is not None:
            raise failure
        return result  # type: ignore[no-any-return]

    def of_all_processes(self, call: TrainerCall) -> tuple[TrainerCall, int]:
        """The call with the rows of all processes in their order, and at which of them this one's start."""
        from accelerate.utils import gather_object

        if call.context.get("environments"):
            raise BindingError(
                "this reward compares completions of several processes, and environments cannot be sent from one to "
                "another: make per_device_train_batch_size a multiple of num_generations"
            )
        own = (call.completions, call.prompts, call.completion_ids, dict(call.columns))
        try:
            calls = gather_object([own])
        except (PicklingError, TypeError, AttributeError) as error:
            raise BindingError(
                "this reward compares completions of several processes, and their columns cannot be sent from one to "
                f"another: {error}. Remove the column, or make per_device_train_batch_size a multiple of "
                "num_generations"
            ) from error
        start = sum(len(completions) for completions, *_ in calls[: self._accelerator.process_index])
        columns = {name: _joined(other[3][name] for other in calls) for name in call.columns}
        completions, prompts, ids = (_joined(other[place] for other in calls) for place in range(3))
        context = dict(call.context)
        if "log_extra" in context:  # it takes a value for each row of this process
            context["log_extra"] = partial(
                _logged_part, context["log_extra"], slice(start, start + len(call.completions))
            )
        return TrainerCall(completions, prompts, ids, columns, context), start


def _logged_part(log_extra: Any, rows: slice, column: str, values: Any) -> None:
    log_extra(column, list(values)[rows])


def _joined(lists: Iterable[Any]) -> Any:
    """Lists one after another; None where there are none."""
    listed = list(lists)
    return None if listed[0] is None else [value for values in listed for value in values]


def progress_of(
    state: Any, training: bool, means: Mapping[str, float] = NOTHING, states: Mapping[Any, Any] = NOTHING
) -> Progress | None:
    """Progress from a trainer's state; None without one."""
    step, max_steps = getattr(state, "global_step", None), getattr(state, "max_steps", None)
    if not isinstance(step, int) or not isinstance(max_steps, int):
        return None
    return Progress(step, max(max_steps, 1), training, means=means, states=states)
