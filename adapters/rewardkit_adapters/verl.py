"""rewardkit and verl: ``rk.to_verl(reward)`` trains with a reward, ``rk.from_verl(compute_score)`` wraps one.

Only ``rk.to_verl(reward, manager=True)`` imports verl.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import json
import logging
import math
import os
import sys
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NoReturn, final, overload

import numpy as np

from rewardkit.batch.batch import RESERVED, Batch
from rewardkit.batch.score import Score
from rewardkit.errors import (
    BindingError,
    MissingExtraError,
    RewardDefinitionError,
    RewardKitWarning,
    RewardTypeError,
    hashable,
    shorten,
)
from rewardkit.online.batches import RunExit, check_patience
from rewardkit.online.breaker import LIMITS, Limits
from rewardkit.online.exports import Export, Target, Tested
from rewardkit.online.requests import Requests
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import Schedule
from rewardkit.tree.binding import Binding, is_async, name_of
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.leaf import Leaf
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.results import Abstention, InvalidReturn, ReturnPolicy
from rewardkit.tree.reward import Reward, bindings, checked_name

# The columns of a verl sample: ``reward_model.ground_truth``, the entries of ``extra_info``, and "data_source".


_OF_VERL = {
    "rollout_reward_scores", "turn_scores", "tool_rewards", "tools_kwargs", "interaction_kwargs", "need_tools_kwargs",
    "global_steps", "min_global_steps", "max_global_steps", "num_cached_tokens", "num_preempted", "extras",
    "uid", "index", "session_id", "agent_name", "raw_prompt", "dummy_tensor", "prompt_len", "response_len",
    "multi_modal_data", "multi_modal_inputs", "reward_model", "extra_info", "tool_extra_fields", "__num_turns__",
    "reward_scores", "routed_experts", "teacher_ids", "teacher_logprobs",
}  # fmt: skip
"""The fields that verl itself adds to a sample. These fields become columns only if the reward reads them."""


@final
@dataclass(frozen=True)
class Columns:
    """A mapping from a sample's fields to columns.

    Attributes:
        gold: the column for ``reward_model.ground_truth``.
        read: the columns that the reward reads.
    """

    gold: str
    read: frozenset[str] = frozenset()

    @classmethod
    def of(cls, scorer: Scorer, gold: str) -> Columns:
        """Return the mapping for a reward."""
        return cls(
            gold, frozenset(parameter.source for _, binding in bindings(scorer.reward) for parameter in binding.columns)
        )

    def row(self, data_source: Any, ground_truth: Any, *fields: Any) -> dict[str, Any]:
        """Return a sample's columns.

        Args:
            fields: mappings whose entries become columns. Later mappings override earlier mappings.
        """
        cells: dict[str, Any] = {}
        for mapping in fields:
            if isinstance(mapping, Mapping):
                cells |= {str(name): plain(cell) for name, cell in mapping.items() if self._is_column(str(name))}
        gold = plain(ground_truth)
        return {**cells, "data_source": plain(data_source), "ground_truth": gold, self.gold: gold}

    def _is_column(self, name: str) -> bool:
        return name not in RESERVED and (name not in _OF_VERL or name in self.read)


def plain(cell: Any) -> Any:
    """Convert a NumPy value to a Python value. Return other values unchanged."""
    if isinstance(cell, np.generic):
        return cell.item()
    return cell.tolist() if isinstance(cell, np.ndarray) else cell


# Score samples for verl, and end a run that can no longer learn anything.


_LOG = logging.getLogger("rewardkit")
_KEYS_OF_VERL = {
    "score", "reward", "acc", "acc_success_only", "pred", "input", "output", "gts", "step", "uid", "data_source",
    "reward_model", "extra_info", "raw_prompt", "prompt", "ability", "index", "agent_name", "tools_kwargs",
    "interaction_kwargs", "multi_modal_data", "multi_modal_inputs", "turn_scores", "tool_rewards", "extras",
    "global_steps", "min_global_steps", "max_global_steps", "num_turns", "dummy_tensor", "prompts", "responses",
    "input_ids", "attention_mask", "position_ids", "response_mask", "loss_mask", "rm_scores", "token_level_scores",
    "token_level_rewards", "values", "advantages", "returns", "old_log_probs", "ref_log_prob", "rollout_log_probs",
    "request_id",
}  # fmt: skip
"""Keys with a special meaning in verl. For example, "uid" identifies the group, and "acc" counts an excluded sample as
0."""

Metrics = dict[str, float | None]


@final
class Scoring:
    """A scorer for samples, which also ends the run if necessary.

    Args:
        deadline: the maximum number of seconds for scoring a sample. If scoring takes longer, the sample counts as
            unscorable. None means no limit.
        patience: the number of seconds for which a failed sample is retried.
    """

    def __init__(self, scorer: RowScorer, *, deadline: float | None, patience: float) -> None:
        self.requests = Requests(scorer, deadline=deadline)
        self.patience = patience
        self._ended = False

    async def score(self, row: Row, **options: Any) -> Metrics:
        """Score a row. Return the total as "score", the terms, and the components as ``components/<name>``.

        Raises:
            RewardFailure: the sample has no score, so verl must exclude it.
            RunExit: the run must end.
        """
        try:
            score = await self.requests.score(row, patience=self.patience, **options)
        except Exception as error:
            await self.end(str(error), error)
        return {"score": score.value(), **score.numbers(_KEYS_OF_VERL)}

    async def end(self, reason: str, error: Exception | None = None) -> NoReturn:
        """End the run.

        Raises:
            RunExit: always.
        """
        if not self._ended:
            self._ended = True
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, self.requests.scorer.flush)
            await loop.run_in_executor(None, end_run, reason)
        raise RunExit(f"verl: this run ends: {reason}") from error


def end_run(reason: str) -> None:
    """Make verl's trainer raise an exception the next time it requests samples. This function itself never raises."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return
    status = (
        f"rewardkit ends this run: {reason}. If this happens again as soon as you resume, delete "
        "the checkpoint's folder transfer_queue"
    )
    tag = {"is_prompt": True, "global_steps": 0, "status": status}
    try:
        importlib.import_module("transfer_queue").kv_put(key="rewardkit", partition_id="train", tag=tag)
    except Exception as error:  # no queue: trainer.use_v1=False, where every error of a reward ends the run
        _LOG.warning("verl: could not inform the trainer that the run ends (%s: %s)", type(error).__name__, error)


# A reward manager for verl. It gets the prompt, the token ids, all columns of the data, and the training step.


def manager_of(scoring: Scoring, columns: Columns) -> type[Any]:
    """Return the reward manager class, which verl instantiates in each reward worker.

    Raises:
        MissingExtraError: verl is not installed.
    """
    try:
        from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase
    except ImportError as error:
        raise MissingExtraError(
            f"rk.to_verl(reward, manager=True) creates a verl class, but verl cannot be imported ({error}). Install "
            "verl here, or use the function: rk.to_verl(reward)"
        ) from error

    class Manager(RewardManagerBase):
        """A reward manager that scores samples with rewardkit."""

        def __init__(
            self,
            config: Any,
            tokenizer: Any,
            compute_score: Any = None,
            reward_router_address: Any = None,
            reward_model_tokenizer: Any = None,
        ) -> None:
            check(config)
            self.max_steps = max_steps_of(config) if scoring.requests.scorer.scorer.scheduled else None
            self.longest = setting(config, "actor_rollout_ref", "rollout", "response_length")
            super().__init__(config, tokenizer, compute_score)

        async def run_single(self, data: Any) -> dict[str, Any]:
            """Score the last sample of `data`."""
            sample = data[-1:][0]
            row = await asyncio.to_thread(row_of, sample, self.tokenizer, columns, self.longest)
            step = sample.non_tensor_batch.get("global_steps")
            progress = None if self.max_steps is None else progress_of(sample.non_tensor_batch, self.max_steps)
            if self.max_steps is not None and progress is None:
                await scoring.end(
                    "the reward follows training progress, but this verl trainer does not pass the step with "
                    "the samples. Train with trainer.use_v1=True, or use a plain number instead of the schedule"
                )
            result = await scoring.score(row, progress=progress, step=None if step is None else int(step))
            return {"reward_score": result["score"], "reward_extra_info": result}

    return Manager


def row_of(sample: Any, tokenizer: Any, columns: Columns, longest: int | None) -> Row:
    """Convert a sample to a row.

    Args:
        longest: the maximum number of tokens in a completion, or None if unknown.
    """
    fields, batch = sample.non_tensor_batch, sample.batch
    width, mask = batch["prompts"].shape[-1], batch["attention_mask"]
    length = fields.get("response_len")
    ids = batch["responses"][: int(mask[width:].sum() if length is None else length)]
    prompt = plain(fields.get("raw_prompt"))
    if prompt is None:
        prompt = tokenizer.decode(batch["prompts"][mask[:width].bool()], skip_special_tokens=True)
    model = fields.get("reward_model")
    is_finished = len(ids) > 0 and int(ids[-1]) == getattr(tokenizer, "eos_token_id", None)
    return Row(
        tokenizer.decode(ids, skip_special_tokens=True),
        prompt,
        columns.row(
            fields.get("data_source", ""),
            model.get("ground_truth") if isinstance(model, Mapping) else None,
            fields,
            fields.get("extra_info"),
            fields.get("tool_extra_fields"),
            {"num_turns": fields.get("__num_turns__"), "rollout_reward_scores": fields.get("reward_scores")},
        ),
        completion_ids=ids.tolist(),
        cut=None if longest is None else len(ids) >= longest and not is_finished,
    )


def progress_of(fields: Mapping[str, Any], max_steps: int) -> Progress | None:
    """Return the training progress for a sample, or None if its step is unknown.

    verl 0.9 counts steps from 1. It passes the step in which the prompt was drawn, which is the same for all
    completions for the prompt. Its old trainer passes the weights' version instead.
    """
    step = fields.get("global_steps")
    if step is not None:
        return Progress(max(0, int(step) - 1), max_steps)
    extra = fields.get("tool_extra_fields")
    version = extra.get("min_global_steps") if isinstance(extra, Mapping) else None
    return None if version is None else Progress(max(0, int(version)), max_steps)


def max_steps_of(config: Any) -> int:
    """Return the number of training steps, which schedules need for computing fractions of training.

    Raises:
        RewardDefinitionError: the configuration does not contain the number.
    """
    total_steps = setting(config, "trainer", "total_training_steps")
    if total_steps is not None:
        return int(total_steps)
    # verl sets this value before it creates the reward workers. The new trainer counts optimizer updates.
    updates = setting(config, "actor_rollout_ref", "actor", "optim", "total_training_steps")
    updates_per_step = 1
    if setting(config, "trainer", "use_v1"):
        mode = setting(config, "trainer", "v1", "trainer_mode")
        updates_per_step = setting(config, "trainer", "v1", str(mode), "parameter_sync_step") or 1
    if updates is None or int(updates) < 1:
        raise RewardDefinitionError(
            "verl: the reward follows training progress, but the configuration does not contain the number of training "
            "steps. Set trainer.total_training_steps"
        )
    return max(1, int(updates) // int(updates_per_step))


def check(config: Any) -> None:
    """Raise RewardDefinitionError if verl would use a reward model instead of the manager."""
    uses_reward_model = setting(config, "reward", "reward_model", "enable")
    if uses_reward_model and setting(config, "reward", "custom_reward_function", "path") is None:
        raise RewardDefinitionError(
            "verl: with reward.reward_model.enable=True verl uses the reward model's score and never calls this reward "
            "manager. Set reward.reward_model.enable=False. A reward model can be a part of the reward: "
            "rk.reward_model(...)"
        )


def setting(config: Any, *names: str) -> Any:
    """Return a setting from a nested configuration, or None if it does not exist."""
    for name in names:
        config = config.get(name) if hasattr(config, "get") else None
    return config


# to_verl: turn a reward into verl's custom reward function, or into a reward manager.


OF_FUNCTIONS = TrainerInputs(
    "verl",
    prompt=False,
    instead="rk.to_verl(reward, manager=True) receives the prompt, the token ids, and the step.",
)
OF_MANAGERS = TrainerInputs("verl", step=True, ids=True)
_MAKES_ZEROS = "RateLimitedRewardManager"
"""verl's reward manager that assigns the score 0.0 if a reward raises an exception or times out."""
_PASSED = {"reward_router_address", "reward_model_tokenizer"}

ComputeScore = Callable[..., Awaitable[Metrics]]


@overload
def to_verl(
    reward: Any,
    *,
    manager: Literal[False] = False,
    gold: str = "answer",
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    patience: float = 0.0,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    limits: Limits = LIMITS,
) -> ComputeScore: ...
@overload
def to_verl(
    reward: Any,
    *,
    manager: Literal[True],
    gold: str = "answer",
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    patience: float = 0.0,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    limits: Limits = LIMITS,
) -> type[Any]: ...
def to_verl(
    reward: Any,
    *,
    manager: bool = False,
    gold: str = "answer",
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    patience: float = 0.0,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    limits: Limits = LIMITS,
) -> Any:
    """Turn a reward into a custom reward function for verl, or into a reward manager.

    ::

        compute_score = rk.to_verl(reward, gold="answer")     # in my_rewards.py
        # reward.custom_reward_function.path=my_rewards.py reward.reward_manager.name=naive

        Manager = rk.to_verl(reward, manager=True)
        # reward.reward_manager.source=importlib reward.reward_manager.module.path=pkg://my_rewards
        # reward.reward_manager.name=Manager

    Both return ``{"score": total, "<term>": ..., "components/<name>": ...}``, always with the same keys. Completions
    that arrive at the same time are scored as one batch. If a completion cannot be scored, an exception is raised, and
    verl excludes the completion.

    Args:
        reward: a reward, a plain function, or a list of them.
        manager: whether to return a reward manager, which is required if the reward reads the prompt, the token ids, or
            the training progress. To create a manager, verl must be installed.
        gold: the reward column to fill with ``reward_model.ground_truth``. The value is also available as the column
            "ground_truth". "data_source" and the entries in ``extra_info`` are also columns. With `manager`, all data
            columns are available.
        examples: example rows, such as ``[{"answer": "42"}]``. The reward is tried on them immediately, so that missing
            columns and bugs are found before training starts.
        deadline: the maximum number of seconds for scoring a completion. If scoring takes longer, the completion counts
            as unscorable. None means no limit.
        patience: the number of seconds for which a failed completion is retried. Set it if you use
            ``trainer.use_v1=False``, because a single completion without a score then ends the run.
        special_tokens: a tokenizer whose special tokens are removed from completions, or a list of strings to remove.
            verl itself removes the special tokens of its tokenizer.
        record: the folder in which the run is recorded. ``rewardkit view`` displays the record.
        limits: an ``rk.Limits`` with the fractions of failed and errored completions above which the run ends, because
            training on such scores is useless.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward compares completions, or an argument is out of range. Also raised without
            `manager` if the reward depends on training progress or reads the prompt, which verl does not pass to a
            function.
        BindingError, CoercionError, RewardFailure: the reward cannot score `examples`.
        MissingExtraError: `manager` is True, but verl is not installed.
    """
    check_patience(patience)
    scorer = RowScorer(
        reward,
        OF_MANAGERS if manager else OF_FUNCTIONS,
        special_tokens=special_tokens,
        record=record,
        limits=limits,
        examples=examples,
    )
    scoring = Scoring(scorer, deadline=deadline, patience=patience)
    columns = Columns.of(scorer.scorer, gold)
    return manager_of(scoring, columns) if manager else function_of(scoring, columns)


def function_of(scoring: Scoring, columns: Columns) -> ComputeScore:
    """Return the function that verl awaits for each completion."""

    async def compute_score(
        data_source: Any = "", solution_str: str = "", ground_truth: Any = None, extra_info: Any = None, **more: Any
    ) -> Metrics:
        if reason := _refusal_reason(more):
            await scoring.end(reason)
        return await scoring.score(Row(solution_str, columns=columns.row(data_source, ground_truth, extra_info)))

    return compute_score


def _refusal_reason(more: Mapping[str, Any]) -> str:
    """Return the reason why a call cannot be scored correctly, or "" if it can."""
    if unknown := sorted(more.keys() - _PASSED):
        return (
            f"the reward accepts no arguments from verl's configuration, but reward_kwargs has {', '.join(unknown)}. "
            "Remove reward.custom_reward_function.reward_kwargs, and put its values into the reward"
        )
    # verl does not tell the function which worker calls it, so search the stack frames above.
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if type(frame.f_locals.get("self")).__name__ == _MAKES_ZEROS:
            return (
                "the reward manager rate_limited scores 0.0 if a reward fails or takes too long, which punishes "
                "completions for an outage. Set reward.reward_manager.name=naive. rk.Endpoint limits the "
                "requests of a judge: requests_per_minute=, concurrency="
            )
    return ""


# from_verl: use a custom verl reward function as a Reward.


_OWN = ("data_source", "solution_str", "ground_truth", "extra_info")
"""The arguments that verl passes to a reward function."""


@final
@dataclass(frozen=True)
class Call:
    """A callable that calls the function for one completion and converts the result."""

    function: Callable[..., Any]

    def check(self, batch: Batch, name: str) -> None:
        """Raise BindingError if no column has the gold answer."""
        if not {"reward_model", "ground_truth"} & set(batch.columns):
            raise BindingError(
                f"reward {name!r} is a verl function, which reads the gold answer from the column reward_model "
                "({'ground_truth': ...}) or ground_truth, but the data has neither. Columns: "
                f"{', '.join(batch.columns) or 'none'}. Rename the column with the gold answer to ground_truth"
            )

    def __call__(self, solution: str, columns: Mapping[str, Any]) -> Any:
        call_arguments = arguments(solution, columns)
        return (
            call_arguments
            if isinstance(call_arguments, Abstention)
            else convert_result(self.function(**call_arguments))
        )


@final
@dataclass(frozen=True)
class AsyncCall:
    """The async version of `Call`."""

    call: Call

    def check(self, batch: Batch, name: str) -> None:
        """Raise BindingError if no column has the gold answer."""
        self.call.check(batch, name)

    async def __call__(self, solution: str, columns: Mapping[str, Any]) -> Any:
        call_arguments = arguments(solution, columns)
        return (
            call_arguments
            if isinstance(call_arguments, Abstention)
            else convert_result(await self.call.function(**call_arguments))
        )


def arguments(solution: str, columns: Mapping[str, Any]) -> dict[str, Any] | Abstention:
    """Return the arguments that verl passes, or an abstention if the row has no gold answer."""
    model = columns.get("reward_model")
    if isinstance(model, str):  # stored as JSON text, so that Arrow does not change it
        try:
            model = json.loads(model)
        except (ValueError, RecursionError):
            model = None
    source = model if isinstance(model, Mapping) and "ground_truth" in model else columns
    gold = source.get("ground_truth")
    if gold is None:
        return Abstention("there is no ground_truth")
    extra = columns.get("extra_info")
    return {
        "data_source": columns.get("data_source") or "",
        "solution_str": solution,
        "ground_truth": gold,
        "extra_info": dict(extra) if isinstance(extra, Mapping) else {},
    }


def convert_result(returned: Any) -> Any:
    """Convert a result to a Score. In a dict with "score", other numbers become parts, and strings become the note."""
    if not isinstance(returned, Mapping):
        return returned
    if "score" not in returned:
        raise InvalidReturn(f"returned {shorten(dict(returned))}, a dict without the key 'score', which verl needs")
    parts, notes = {}, []
    for name, value in returned.items():
        if name == "score" or value is None:
            continue
        if isinstance(value, Real) and math.isfinite(value):
            parts[str(name)] = float(value)
        else:
            notes.append(f"{name}: {shorten(value, 60)}")
    return Score(returned["score"], "; ".join(notes), parts)


def from_verl(function: Callable[..., Any], name: str | None = None) -> Reward:
    """Turn a custom verl reward function into a Reward: ``0.8 * rk.from_verl(compute_score) + form``.

    ``rk.from_verl(gsm8k.compute_score)`` gives 1.0 to ``#### 4`` if the column "ground_truth" is ``4``.

    The gold answer is the ``ground_truth`` in the column "reward_model", as in verl's data files (a dict or a JSON
    string), or the value in the column "ground_truth". If the gold answer is None, the reward abstains. "data_source"
    and "extra_info" are also columns. The function receives a copy of ``extra_info``. Set additional arguments
    (``reward_kwargs``) with ``functools.partial``.

    Args:
        function: ``compute_score(data_source, solution_str, ground_truth, extra_info)``, or a function with a subset of
            these arguments, such as ``compute_score(solution_str, ground_truth)``. It can be async. It returns a
            number, or a dict with "score", whose other numbers become parts and whose strings become the note. An
            exception is an error, never a 0.0. Wrap functions for verl 0.1, because they expect the prompt before the
            completion in `solution_str`.
        name: the component's name, by default the function's name.

    Raises:
        RewardTypeError: `function` does not have such a signature.
        BindingError: while scoring: the data has neither "reward_model" nor "ground_truth".
    """
    if isinstance(function, (Reward, Schedule, type, str)) or not callable(function):
        raise RewardTypeError(
            f"from_verl: expected a reward function from verl, got {shorten(function)} ({type(function).__name__})"
        )
    label = checked_name(name if name is not None else name_of(function))
    if not hashable(function):
        raise RewardTypeError(f"from_verl: {label} is not hashable, but rewards must be hashable. Pass a function")
    accepted_call = (
        function if (names := _accepted_arguments(function, label)) is None else PartialCall(function, names)
    )
    call = Call(accepted_call)
    binding = Binding(
        AsyncCall(call) if is_async(function) else call,
        (Parameter("solution", "completion"), Parameter("columns", "example")),
    )
    return Leaf(binding, ReturnPolicy(label, (-math.inf, math.inf)), f"from_verl({label})")


@final
@dataclass(frozen=True)
class PartialCall:
    """A callable that passes a function only the verl arguments that it accepts."""

    function: Callable[..., Any]
    names: frozenset[str]

    def __call__(self, **call_arguments: Any) -> Any:
        return self.function(**{name: value for name, value in call_arguments.items() if name in self.names})


def _accepted_arguments(function: Callable[..., Any], label: str) -> frozenset[str] | None:
    """Return the names of the verl arguments that the function accepts, or None if it accepts all."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise RewardTypeError(
            f"from_verl: cannot read the signature of {label} ({error}). Wrap it in a function"
        ) from None
    if "solution_str" not in parameters:
        hint = " Wrap a function for TRL with rk.from_trl" if "completions" in parameters else ""
        raise RewardTypeError(
            f"from_verl: {label} has no argument solution_str, so it is not a verl reward function.{hint}"
        )
    preset = function.keywords if isinstance(function, functools.partial) else {}
    needed = [
        parameter.name
        for parameter in parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and parameter.name not in (*_OWN, *preset)
    ]
    if needed:
        raise RewardTypeError(
            f"from_verl: {label} needs {', '.join(needed)}, which verl reads from reward_kwargs. Pass "
            f"functools.partial({label}, {needed[0]}=...)"
        )
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    names = frozenset(name for name in _OWN if name in parameters)
    return None if len(names) == len(_OWN) else names


# Export: the files and settings with which verl uses a reward.


TESTED = Tested("verl", ["0.9.1"])
_FILE = '''"""The reward for verl."""

import rewardkit as rk
{imports}

# gold= names the reward's column that verl's reward_model.ground_truth fills.
{made}
'''
_CONFIG = """\
reward.custom_reward_function.path={file}
reward.custom_reward_function.name=compute_score
reward.reward_manager.name=naive"""
_MANAGER_CONFIG = """\
reward.reward_manager.source=importlib
reward.reward_manager.module.path={file}
reward.reward_manager.name=Manager"""


def export(target: Target) -> Export:
    """Return the files and settings for using a reward with verl.

    The reward is a function, or a manager if it requires more data.

    Raises:
        RewardDefinitionError: verl cannot run the reward.
    """
    if fits_function(Scorer(target.load())):
        definition, config = f'compute_score = rk.to_verl(reward, gold="{target.gold}")', _CONFIG
    else:
        definition, config = f'Manager = rk.to_verl(reward, gold="{target.gold}", manager=True)', _MANAGER_CONFIG
    return Export(
        {"rewards_verl.py": _FILE.format(imports=target.imports, made=definition)},
        config,
        TESTED,
        [
            "A completion that cannot be scored raises an error, and verl 0.9 skips the completion "
            "(trainer.use_v1=True, the default)."
        ],
    )


def fits_function(scorer: Scorer) -> bool:
    """Return whether a plain function is enough, because the reward does not read the prompt, token ids, or progress.

    Raises:
        RewardDefinitionError: the reward reads data that even a manager does not receive.
    """
    OF_MANAGERS.check(scorer)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RewardKitWarning)
            OF_FUNCTIONS.check(scorer)
    except (RewardDefinitionError, RewardKitWarning):
        return False
    return True
