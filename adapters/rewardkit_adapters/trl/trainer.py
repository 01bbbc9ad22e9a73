"""The trainer behind a call: whether it trains or evaluates, its generations per prompt, and its reward weights.

TRL passes ``log_metric`` to every reward function. It is a bound method of the trainer, and the only way to access the
trainer. Every attribute is read defensively, because an older or patched TRL version may lack it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, get_args

import numpy as np

from rewardkit.analyze.advantages import Way
from rewardkit.analyze.signal import Scale
from rewardkit.batch.column import Floats
from rewardkit.errors import RewardFailure
from rewardkit.online.trainers import caller

T = TypeVar("T")

SCALES: tuple[Scale, ...] = get_args(Scale)
_PER_FUNCTION = ("reward_funcs", "reward_func_names", "reward_processing_classes")
"""The trainer attributes that are lists with one item per reward function."""


class Trainer:
    """A trainer's current state, as seen by one of its evaluators, or ``Trainer(None)`` if there is no trainer.

    The trainer is read once, when this object is created, so create a new object for each call.
    ``Trainer.behind(log_metric).training`` is False during evaluation.

    Args:
        trainer: the trainer itself.
        evaluator: the evaluator whose reward functions are listed in `own`.

    Attributes:
        instance: the trainer itself, or None if there is no trainer.
        known: whether a trainer exists.
        training: False during evaluation, and True if unknown.
        num_generations: the number of completions per prompt, in training or evaluation; None if unknown.
        limits: ``limit/tokens``, the number of tokens at which completions are truncated.
        end_tokens: the tokens that end a completion before the limit. The trainer counts other completions as clipped.
        runs_calls: whether the trainer parses and runs the policy's tool calls, with tools or in an environment.
        logs_completions: whether the trainer logs a table of completions.
        normalizes_each: whether the trainer normalizes each reward function separately before it adds up the results
            (GDPO).
        reward_functions: all reward functions, including `evaluator`'s functions.
        own: (index, name) for each of `evaluator`'s functions.
        scale: the divisor for advantages: the standard deviation of the group or of the batch, or none.
        way: the method that the trainer uses to compute advantages, or None if they do not depend on `evaluator` alone.
        can_stop_later: whether a callback can stop training after a checkpoint.
        rank: the rank of this process, starting at 0.
        processes: the number of processes that train together.
        is_main: whether this is the process that logs.
    """

    def __init__(self, trainer: Any, evaluator: object = None) -> None:
        self.instance = self._trainer = trainer
        self.known = trainer is not None
        self.training = bool(getattr(getattr(trainer, "model", None), "training", True))
        generations = getattr(trainer, "num_generations", None)
        if not self.training:
            generations = getattr(trainer, "num_generations_eval", None) or generations
        self.num_generations = generations if isinstance(generations, int) else None
        length = getattr(trainer, "max_completion_length", None)
        self.limits = {"limit/tokens": float(length)} if isinstance(length, int) else {}
        self.end_tokens = _end_tokens(trainer)
        self.runs_calls = bool(getattr(trainer, "tools", None))
        self.logs_completions = bool(getattr(trainer, "log_completions", True))
        self.normalizes_each = getattr(trainer, "multi_objective_aggregation", None) == "normalize_then_sum"
        self.reward_functions: Sequence[Any] = getattr(trainer, "reward_funcs", [])
        # Compared by evaluator and not by identity, because functions may have been pickled or copied.
        self.own = [
            (index, function.__name__)
            for index, function in enumerate(self.reward_functions)
            if getattr(function, "evaluator", self) is evaluator
        ]
        scale: Any = "batch" if self.normalizes_each else getattr(trainer, "scale_rewards", "group")
        if hasattr(trainer, "normalize_advantages"):  # RLOO, which divides the whole batch by one number, if at all
            scale = "none"
        self.scale: Scale = scale if scale in SCALES else "group"
        self.way: Way | None = None
        if self.own and len(self.own) == len(self.reward_functions):
            self.way = "each" if self.normalizes_each else self.scale if hasattr(trainer, "scale_rewards") else None
        self.can_stop_later = hasattr(trainer, "add_callback") and getattr(trainer, "is_in_train", True)
        self._accelerator: Any = getattr(trainer, "accelerator", None)
        self.rank = int(getattr(self._accelerator, "process_index", 0))
        self.processes: int = getattr(self._accelerator, "num_processes", 1)
        self.is_main = bool(getattr(self._accelerator, "is_main_process", True))

    @classmethod
    def behind(cls, log_metric: Any, evaluator: object = None) -> Trainer:
        """Return the trainer to which `log_metric` belongs."""
        owner = getattr(log_metric, "__self__", None)
        return cls(owner if hasattr(owner, "reward_funcs") else None, evaluator)

    @classmethod
    def calling(cls, callback: object, evaluator: object = None) -> Trainer:
        """Return the trainer that is currently calling `callback`."""

        def calls(owner: Any) -> bool:
            callbacks = getattr(getattr(owner, "callback_handler", None), "callbacks", ())
            return hasattr(owner, "reward_funcs") and any(candidate is callback for candidate in callbacks)

        return cls(caller(calls), evaluator)

    def prompt_lengths(self, prompts: list[Any]) -> list[int] | None:
        """Return the lengths of prompts in tokens, with the trainer's chat template and tools.

        Return None if the lengths are unknown because the trainer is old, prompts contain images, or an environment or
        a function changes the prompts.
        """
        # The only method of TRL that tokenizes a prompt as for a generation. Other versions may lack it.
        tokenize = getattr(self._trainer, "_tokenize_prompts", None)
        prompt_changers = ("environment_factories", "environment_factory", "rollout_func")
        if tokenize is None or any(getattr(self._trainer, name, None) is not None for name in prompt_changers):
            return None
        try:
            ids, images, other_fields = tokenize(prompts)
            return None if images or other_fields else [len(token_ids) for token_ids in ids]
        except Exception:  # a private method of the trainer, which may change
            return None

    @property
    def has_rollout_function(self) -> bool:
        """Whether a user-defined function generates the completions."""
        return getattr(self._trainer, "rollout_func", None) is not None

    def log_alone(self, values: Mapping[str, float]) -> None:
        """Log numbers that only this process has.

        ``log_metric`` would average the numbers over all processes. In addition, older TRL versions wait until all
        processes have logged the same names.
        """
        metrics: Any = getattr(self._trainer, "_metrics", {}).get("train")
        for name, value in values.items() if metrics is not None else ():
            metrics[name].append(value)

    @property
    def reward_names(self) -> list[str]:
        """The names of the reward functions in the trainer's log."""
        return list(getattr(self._trainer, "reward_func_names", []))

    def weights(self) -> list[tuple[str, float]]:
        """Return (name, weight) for each of the evaluator's functions, or [] if the trainer does not expose weights."""
        reward_weights = getattr(self._trainer, "reward_weights", None)
        # The shortest number that equals the weight in float32: 0.3 instead of 0.30000001192092896.
        return (
            []
            if reward_weights is None
            else [(name, float(str(np.float32(float(reward_weights[index]))))) for index, name in self.own]
        )

    def set_weights(self, weights: Mapping[str, float]) -> None:
        """Set the weights of the evaluator's functions for the trainer's next sum.

        Raises:
            RewardFailure: the trainer does not expose its weights.
        """
        reward_weights = getattr(self._trainer, "reward_weights", None)
        if reward_weights is None or not self.own:
            raise RewardFailure(
                'outputs="components" with scheduled weights sets reward_weights on the trainer, but this trainer '
                'does not expose them: use outputs="terms"'
            )
        for index, name in self.own:
            reward_weights[index] = weights[name]

    def refusal(self, names: Sequence[str]) -> str | None:
        """Return why functions with `names` cannot replace the evaluator's functions, or None if they can."""
        if not self.known:
            return "the trainer is not known, so its reward functions cannot be replaced"
        lists = [getattr(self._trainer, name, None) for name in _PER_FUNCTION]
        weights = getattr(self._trainer, "reward_weights", None)
        own_indices = [index for index, _ in self.own]
        replaceable = (
            own_indices and all(isinstance(entries, list) for entries in lists) and hasattr(weights, "new_tensor")
        )
        if not replaceable or len({len(entries) for entries in (*lists, weights)}) > 1:  # type: ignore[arg-type]
            return "this trainer stores its reward functions in a way that rewardkit does not support"
        other_names = [name for index, name in enumerate(self.reward_names) if index not in own_indices]
        conflicts = [name for name in names if name in other_names]
        return f"this trainer already has another reward function named {conflicts[0]!r}" if conflicts else None

    def replace_functions(self, functions: Sequence[Any], weights: Sequence[float]) -> None:
        """Replace the evaluator's functions with `functions`, at the position of the first replaced function.

        The other reward functions keep their order and their weights.
        """
        own_indices = [index for index, _ in self.own]
        lists = [getattr(self._trainer, name) for name in _PER_FUNCTION]
        names = [function.__name__ for function in functions]
        rows: list[tuple[Any, ...]] = []
        for index, row in enumerate(zip(*lists, self._trainer.reward_weights.tolist(), strict=True)):
            if index == own_indices[0]:
                rows += zip(functions, names, [None] * len(names), weights, strict=True)
            if index not in own_indices:
                rows.append(row)
        removed = {self.reward_names[index] for index in own_indices} - set(names)
        for index, values in enumerate(lists):
            values[:] = [row[index] for row in rows]  # in place: one list is the one that to_trl returned
        self._trainer.reward_weights = self._trainer.reward_weights.new_tensor([row[-1] for row in rows])
        self.own = [(own_indices[0] + number, name) for number, name in enumerate(names)]
        self.even_out("rewards", removed, names, math.nan)

    def even_out(self, part: str, removed: Iterable[str], present: Iterable[str], absent: Any) -> None:
        """Make all columns in one part of the completions table equally long, so that TRL can print the table."""
        logs = getattr(self._trainer, "_logs", {})
        columns, length = logs.get(part, {}), len(logs.get("prompt", ()))
        for name in removed:
            columns.pop(name, None)
        for name in present:
            if length and name not in columns:
                columns[name].extend([absent] * length)

    @property
    def callbacks(self) -> list[Any]:
        return list(getattr(getattr(self._trainer, "callback_handler", None), "callbacks", []))

    def add_callback(self, callback: Any) -> None:
        """Add a TrainerCallback if the trainer accepts callbacks."""
        if hasattr(self._trainer, "add_callback"):
            self._trainer.add_callback(callback)

    def summed_over_ranks(self, values: Floats) -> Floats:
        """Return `values`, shape (k,), summed over all processes in one collective call."""
        if self.processes == 1:
            return values
        import torch

        tensor = torch.tensor(values, dtype=torch.float64, device=self._accelerator.device)
        return np.asarray(self._accelerator.reduce(tensor, reduction="sum").tolist())

    def of_each_process(self, value: T) -> list[T]:
        """Return the `value` from every process in rank order, in one collective call."""
        if self.processes == 1:
            return [value]
        from accelerate.utils import gather_object

        return list(gather_object([value]))

    def on_main(self, compute: Callable[[], T]) -> T:
        """Call `compute` on the main process, and return its result or raise its error on all processes."""
        if self.processes == 1:
            return compute()
        from accelerate.utils import broadcast_object_list

        outcome: list[Any] = [None, None]
        if self.is_main:
            try:
                outcome[0] = compute()
            except Exception as error:
                broadcast_object_list([None, RewardFailure(f"{type(error).__name__} on the main process: {error}")])
                raise
        broadcast_object_list(outcome)
        result, failure = outcome
        if failure is not None:
            raise failure
        return result  # type: ignore[no-any-return]


def _end_tokens(trainer: Any) -> frozenset[int]:
    settings = [getattr(trainer, "eos_token_ids", None), getattr(trainer, "eos_token_id", None)]
    if not any(settings):
        return frozenset()
    tokens = [token for setting in settings for token in (setting if isinstance(setting, list) else [setting])]
    tokens.append(getattr(getattr(trainer, "_tokenizer", None), "pad_token_id", None))
    return frozenset(token for token in tokens if isinstance(token, int))
