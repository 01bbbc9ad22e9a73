"""The trainer behind a call: training or evaluation, generations per prompt, the weights that it holds.

TRL passes ``log_metric`` to every reward function. It is a bound method of the trainer, and the only way to reach it.
Every attribute is read with care, because an older or patched TRL may lack any of them.
"""

from __future__ import annotations

import inspect
import math
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar, get_args

import numpy as np

from rewardkit.analyze.advantages import Way
from rewardkit.analyze.signal import Scale
from rewardkit.batch.column import Floats
from rewardkit.errors import RewardFailure
from rewardkit.progress.progress import Progress

T = TypeVar("T")

SCALES: tuple[Scale, ...] = get_args(Scale)
NOTHING: Mapping[Any, Any] = MappingProxyType({})
_PER_FUNCTION = ("reward_funcs", "reward_func_names", "reward_processing_classes")
"""The lists of the trainer that hold one item for each reward function."""


class Trainer:
    """What can be read from a trainer, and changed in it; ``Trainer(None)`` if there is none.

    ``Trainer.behind(log_metric).training`` is False during evaluation.
    """

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    @classmethod
    def behind(cls, log_metric: Any) -> Trainer:
        """Return the trainer that `log_metric` belongs to."""
        owner = getattr(log_metric, "__self__", None)
        return cls(owner if hasattr(owner, "reward_funcs") else None)

    @classmethod
    def calling(cls, callback: object) -> Trainer:
        """Return the trainer that is calling `callback` now.

        Callbacks do not receive their trainer, so it is looked up in the frames of the callers.
        """
        frame = inspect.currentframe()
        while frame is not None:
            owner = frame.f_locals.get("self")
            handler = getattr(owner, "callback_handler", None)
            if hasattr(owner, "reward_funcs") and any(own is callback for own in getattr(handler, "callbacks", ())):
                return cls(owner)
            frame = frame.f_back
        return cls(None)

    def weak(self) -> Callable[[], Trainer]:
        """Return a function that gives this trainer while it is alive, without keeping it alive."""
        if self._trainer is None:
            return lambda: Trainer(None)
        held = weakref.ref(self._trainer)
        return lambda: Trainer(held())

    @property
    def instance(self) -> Any:
        """The trainer itself; None if there is none."""
        return self._trainer

    @property
    def known(self) -> bool:
        return self._trainer is not None

    @property
    def training(self) -> bool:
        """False during evaluation; True if unknown."""
        return bool(getattr(getattr(self._trainer, "model", None), "training", True))

    @property
    def num_generations(self) -> int | None:
        """Completions per prompt, in training or in evaluation."""
        held = getattr(self._trainer, "num_generations", None)
        if not self.training:
            held = getattr(self._trainer, "num_generations_eval", None) or held
        return held if isinstance(held, int) else None

    @property
    def limits(self) -> dict[str, float]:
        """``limit/tokens``: the length in tokens at which completions are cut."""
        held = getattr(self._trainer, "max_completion_length", None)
        return {"limit/tokens": float(held)} if isinstance(held, int) else {}

    def prompt_lengths(self, prompts: list[Any]) -> list[int] | None:
        """Return the lengths of prompts in tokens, with the chat template and the tools of the trainer.

        None if that cannot be known: an older trainer, images, or prompts that an environment or a function changes.
        """
        tokenize = getattr(self._trainer, "_tokenize_prompts", None)
        changed = ("environment_factories", "environment_factory", "rollout_func")
        if tokenize is None or any(getattr(self._trainer, name, None) is not None for name in changed):
            return None
        try:
            ids, images, more = tokenize(prompts)
            return None if images or more else [len(one) for one in ids]
        except Exception:  # it is the trainer's own, and may change
            return None

    @property
    def end_tokens(self) -> frozenset[int]:
        """The tokens that end a completion before the limit, as the trainer counts clipped completions."""
        known = [getattr(self._trainer, name, None) for name in ("eos_token_ids", "eos_token_id")]
        ends = [token for one in known for token in (one if isinstance(one, list) else [one])]
        pad = getattr(getattr(self._trainer, "_tokenizer", None), "pad_token_id", None)
        return frozenset(token for token in [*ends, pad] if isinstance(token, int)) if any(known) else frozenset()

    @property
    def runs_calls(self) -> bool:
        """True if it reads the calls of the policy and runs them, with tools or in an environment."""
        return bool(getattr(self._trainer, "tools", None))

    @property
    def has_rollout_function(self) -> bool:
        """True if a function of the user's makes the completions."""
        return getattr(self._trainer, "rollout_func", None) is not None

    @property
    def logs_completions(self) -> bool:
        return bool(getattr(self._trainer, "log_completions", True))

    def log_alone(self, values: Mapping[str, float]) -> None:
        """Log numbers that only this process has.

        ``log_metric`` would average them over all processes, and an older TRL waits until all have logged the same.
        """
        held: Any = getattr(self._trainer, "_metrics", {}).get("train")
        for name, value in values.items() if held is not None else ():
            held[name].append(value)

    @property
    def normalizes_each(self) -> bool:
        """True if the trainer normalizes each reward function separately before it adds them up (GDPO)."""
        return getattr(self._trainer, "multi_objective_aggregation", None) == "normalize_then_sum"

    @property
    def reward_functions(self) -> list[Any]:
        return list(getattr(self._trainer, "reward_funcs", []))

    @property
    def reward_names(self) -> list[str]:
        """The names of the reward functions in the log."""
        return list(getattr(self._trainer, "reward_func_names", []))

    def weights_of(self, evaluator: object) -> list[tuple[str, float]]:
        """Return (name, weight) of each function of `evaluator`; empty if the trainer does not show them."""
        held = getattr(self._trainer, "reward_weights", None)
        return [] if held is None else [(name, _number(held[place])) for place, name in self._places(evaluator)]

    def set_weights(self, evaluator: object, weights: Mapping[str, float]) -> None:
        """Set the weights of the functions of `evaluator`, for the sum that follows this call.

        Raises:
            RewardFailure: there are weights to set, but the trainer does not show its own.
        """
        held = getattr(self._trainer, "reward_weights", None)
        places = self._places(evaluator)
        if weights and (held is None or not places):
            raise RewardFailure(
                'outputs="components" with scheduled weights must set the reward_weights of the trainer, but this '
                'trainer does not show them: use outputs="terms"'
            )
        if held is not None and weights:
            for place, name in places:
                held[place] = weights[name]

    def refusal(self, evaluator: object, names: Sequence[str]) -> str | None:
        """Return why the functions of `evaluator` cannot be replaced by others called `names`; None if they can."""
        if not self.known:
            return "the trainer is not known, so its reward functions cannot be replaced"
        lists = [getattr(self._trainer, name, None) for name in _PER_FUNCTION]
        weights = getattr(self._trainer, "reward_weights", None)
        own = [place for place, _ in self._places(evaluator)]
        known = own and all(isinstance(held, list) for held in lists) and hasattr(weights, "new_tensor")
        if not known or len({len(held) for held in (*lists, weights)}) > 1:  # type: ignore[arg-type]
            return "this trainer stores its reward functions in a way that rewardkit does not know"
        others = [name for place, name in enumerate(self.reward_names) if place not in own]
        taken = [name for name in names if name in others]
        return f"another reward function of this trainer is called {taken[0]!r} already" if taken else None

    def replace_functions(self, evaluator: object, functions: Sequence[Any], weights: Sequence[float]) -> None:
        """Replace the functions of `evaluator` by `functions`, at the place of its first one.

        The other reward functions keep their order and their weights.
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
            values[:] = [row[place] for row in rows]  # in place: one of them is the list that to_trl returned
        self._trainer.reward_weights = self._trainer.reward_weights.new_tensor([row[-1] for row in rows])
        self.even_out("rewards", gone, names, math.nan)

    def even_out(self, part: str, gone: Iterable[str], there: Iterable[str], absent: Any) -> None:
        """Make all columns of one part of the completions table equally long; TRL cannot print it otherwise."""
        logs = getattr(self._trainer, "_logs", {})
        columns, length = logs.get(part, {}), len(logs.get("prompt", ()))
        for name in gone:
            columns.pop(name, None)
        for name in there:
            if length and name not in columns:
                columns[name].extend([absent] * length)

    def _places(self, evaluator: object) -> list[tuple[int, str]]:
        # By evaluator and not by identity: functions may have been pickled or copied.
        return [
            (place, function.__name__)
            for place, function in enumerate(self.reward_functions)
            if getattr(function, "evaluator", None) is evaluator
        ]

    @property
    def scale(self) -> Scale:
        """What advantages are divided by: the standard deviation of the group, of the batch, or nothing."""
        if hasattr(self._trainer, "normalize_advantages"):  # RLOO, which at most divides the whole batch by one number
            return "none"
        held = "batch" if self.normalizes_each else getattr(self._trainer, "scale_rewards", "group")
        return next((scale for scale in SCALES if scale == held), "group")

    def way_to_advantages(self, evaluator: object) -> Way | None:
        """Return how the trainer computes advantages; None if they do not depend on `evaluator` alone."""
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
        """Add a TrainerCallback, if the trainer takes callbacks."""
        if hasattr(self._trainer, "add_callback"):
            self._trainer.add_callback(callback)

    @property
    def can_stop_later(self) -> bool:
        """True if a callback can stop the training after a checkpoint."""
        return hasattr(self._trainer, "add_callback") and getattr(self._trainer, "is_in_train", True)

    @property
    def rank(self) -> int:
        """The number of this process, from 0."""
        return int(getattr(self._accelerator, "process_index", 0))

    @property
    def processes(self) -> int:
        """The number of processes that train together."""
        return getattr(self._accelerator, "num_processes", 1)

    @property
    def is_main(self) -> bool:
        return bool(getattr(self._accelerator, "is_main_process", True))

    @property
    def _accelerator(self) -> Any:
        return getattr(self._trainer, "accelerator", None)

    def summed_over_ranks(self, values: Floats) -> Floats:
        """Return `values`, (k,), added up over all processes, in one collective call."""
        if self.processes == 1:
            return values
        import torch

        given = torch.tensor(values, dtype=torch.float64, device=self._accelerator.device)
        return np.asarray(self._accelerator.reduce(given, reduction="sum").tolist())

    def of_each_process(self, value: T) -> list[T]:
        """Return the `value` of every process in rank order, in one collective call."""
        if self.processes == 1:
            return [value]
        from accelerate.utils import gather_object

        return list(gather_object([value]))

    def on_main(self, compute: Callable[[], T]) -> T:
        """Call `compute` on the main process, and return or raise the same on all processes."""
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


def _number(value: Any) -> float:
    """Return the shortest number that is `value` in float32: 0.3 and not 0.30000001192092896."""
    return float(str(np.float32(float(value))))


def progress_of(
    state: Any, training: bool, means: Mapping[str, float] = NOTHING, states: Mapping[Any, Any] = NOTHING
) -> Progress | None:
    """Return the progress that a trainer's state shows; None without a state."""
    step, max_steps = getattr(state, "global_step", None), getattr(state, "max_steps", None)
    if not isinstance(step, int) or not isinstance(max_steps, int):
        return None
    epoch = getattr(state, "epoch", None)
    known = {"epoch": float(epoch)} if isinstance(epoch, (int, float)) else {}
    return Progress(step, max(max_steps, 1), training, means=means, states=states, **known)
