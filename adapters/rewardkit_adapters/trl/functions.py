"""to_trl: turn a reward into a list of reward functions for GRPOTrainer."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.batch.trajectory import IsError
from rewardkit.errors import RewardDefinitionError, RewardKitWarning, RewardTypeError, shorten
from rewardkit.online.breaker import LIMITS, Limits
from rewardkit.online.trainers import nan_to_none
from rewardkit.tree.reward import Reward
from rewardkit_adapters.trl.calls import Episodes, TrainerCall
from rewardkit_adapters.trl.checks import clash
from rewardkit_adapters.trl.evaluator import Evaluator, Options, RadarOption
from rewardkit_adapters.trl.layout import Columns, layout_of
from rewardkit_adapters.trl.trainer import Trainer

if TYPE_CHECKING:
    from rewardkit_adapters.trl.environments import Made

_CONTEXT = ("trainer_state", "log_extra", "log_metric", "environments")


class RewardFunction:
    """A reward column as a function that TRL can call.

    ``function(completions=["42"], prompts=["6*7?"], answer=["42"])`` returns ``[1.0]``. The list contains one float per
    completion, or None for a completion that cannot be scored.
    """

    def __init__(self, evaluator: Evaluator, name: str) -> None:
        self.evaluator = evaluator
        self.__name__ = name

    def __call__(
        self, /, *, completions: Any, prompts: Any = None, completion_ids: Any = None, **columns: Any
    ) -> list[float | None]:
        context = {name: columns.pop(name) for name in _CONTEXT if name in columns}
        step = getattr(context.get("trainer_state"), "global_step", None)
        call = TrainerCall(completions, prompts, completion_ids, columns, context, step)
        return nan_to_none(self.evaluator.tables.get(self.__name__, call, self.evaluator.table)[self.__name__])

    @property
    def weight(self) -> float:
        """The weight that the trainer must use for this function at the start of training."""
        layout = self.evaluator.layout
        return layout.weights[layout.names.index(self.__name__)]

    def __repr__(self) -> str:
        return f"<reward function {self.__name__!r} of {self.evaluator.reward!r}>"


class RewardFunctions(list[Any]):
    """The list of reward functions for ``GRPOTrainer(reward_funcs=...)``.

    Add other reward functions with ``+``: ``rk.to_trl(reward) + ["org/reward-model"]`` is also a RewardFunctions list.
    """

    @property
    def _evaluators(self) -> list[Evaluator]:
        return list(dict.fromkeys(function.evaluator for function in self if isinstance(function, RewardFunction)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RewardTypeError, because the trainer calls this list as a function if it is inside another list."""
        raise RewardTypeError(
            "rk.to_trl returns a list, but here it is inside another list. Pass it unchanged: "
            "reward_funcs=rk.to_trl(reward)"
        )

    @property
    def reward(self) -> Reward:
        """The reward from which the list was created."""
        return self._evaluators[0].reward

    @property
    def reward_weights(self) -> list[float]:
        """The weights for ``GRPOConfig(reward_weights=...)``. With ``outputs="terms"``, all are 1.0, TRL's default."""
        return [function.weight if isinstance(function, RewardFunction) else 1.0 for function in self]

    def callback(self) -> Any:
        """Return a TrainerCallback that passes training progress to schedules: ``callbacks=[funcs.callback()]``.

        You need the callback only if your TRL version does not pass ``trainer_state`` to reward functions. With
        ``record=``, the callback also records the trainer's log. In this case, if you do not pass the callback, it is
        added at the first batch.
        """
        from rewardkit_adapters.trl.callbacks import RewardCallback

        return RewardCallback(self._evaluators)

    def environments(
        self,
        environment: Made | Mapping[str, Made],
        *,
        timeout: float | None = None,
        outages: tuple[type[BaseException], ...] = (),
    ) -> Any:
        """Return an ``environment_factory`` for a trainer whose environments record their tool calls.

        ::

            trainer = GRPOTrainer(..., reward_funcs=funcs, environment_factory=funcs.environments(Shop))

        Trajectories then contain information that messages do not: the arguments before a tool changed them, results
        that were dropped because they were too long, and calls that never ran. If a tool, ``reset``, or ``get_reward``
        raises an exception for an outage (ConnectionError, TimeoutError, ``rk.RewardFailure``, or an equivalent from a
        common HTTP library), the environment is broken. Training continues, but the row fails in every component, so it
        gives no learning signal. If a tool calls ``sys.exit``, the call results in an error and does not end training.

        Args:
            environment: the environment class, a function that creates an environment, or a dictionary of classes and
                functions, from which the column "environment" selects one.
            timeout: the maximum number of seconds for one tool call. If a call takes longer, the environment is broken
                until the call returns. The call continues in its thread.
            outages: additional exception classes that indicate a broken environment.

        Raises:
            RewardDefinitionError: the class has no ``reset`` method or no tools.
            RewardTypeError: `environment` cannot create environments, or `outages` contains an object that is not an
                exception class.
        """
        from rewardkit_adapters.trl.environments import environments

        return environments(environment, self.reward, timeout=timeout, outages=outages)

    def faults(self, trainer: Any) -> str:
        """Return the failures and errors if `trainer`'s training ended before `failure_window` batches."""
        reports = [evaluator.faults(Trainer(trainer)) for evaluator in self._evaluators]
        return ", ".join(filter(None, reports))

    def flush(self) -> None:
        """Wait until all recorded data has been written.

        `flush` is called automatically when training ends and when the process exits. If you call the functions without
        a trainer, `flush` also marks the run as finished.
        """
        for evaluator in self._evaluators:
            if evaluator.recording is not None:
                evaluator.recording.flush()

    def __add__(self, other: Any) -> RewardFunctions:
        return _join_functions([*self, *other])

    def __radd__(self, other: Any) -> RewardFunctions:
        return _join_functions([*other, *self])


def _join_functions(functions: list[Any]) -> RewardFunctions:
    # Check only rewardkit's names: trainers add their tools to the list, which may have any name. The names of the
    # trainer's other reward functions are checked at its first call.
    names = Counter(function.__name__ for function in functions if isinstance(function, RewardFunction))
    for name, count in names.items():
        if count > 1:
            raise RewardDefinitionError(clash(name, count))
    joined = RewardFunctions(functions)
    paths = Counter(evaluator.recording.path for evaluator in joined._evaluators if evaluator.recording is not None)
    for path, count in paths.items():
        if count > 1:
            raise RewardDefinitionError(
                f"{count} lists record to {path!r}, so their rows would be mixed. Give each list its own folder, or "
                "pass all rewards to one to_trl([...], record=...)"
            )
    return joined


def to_trl(
    reward: Reward | Callable[..., Any] | Iterable[Any],
    *,
    weights: Sequence[float] | None = None,
    outputs: Columns = "terms",
    record: str | os.PathLike[str] | None = None,
    logs: bool = True,
    limits: Limits = LIMITS,
    updates: bool = True,
    transcripts: str | None = None,
    is_error: IsError | None = None,
    radar: RadarOption = True,
) -> RewardFunctions:
    """Return a list of reward functions for TRL's GRPOTrainer.

    ::

        trainer = GRPOTrainer(model, reward_funcs=rk.to_trl(reward), args=args, train_dataset=dataset)

    Args:
        reward: a reward, or a list of rewards and plain TRL functions, which are summed. If each item in the list
            produces one column, as plain functions do, you can weight the items with
            ``GRPOConfig(reward_weights=...)``, as in TRL.
        weights: one number for each item in the list. Also pass ``reward_weights=funcs.reward_weights`` to GRPOConfig.
        outputs: ``"terms"``: one function per term. The plain sum of the functions is the total. ``"components"``: one
            function per component, which returns raw scores. GDPO requires this form. Also pass
            ``reward_weights=funcs.reward_weights`` to GRPOConfig.
        record: the folder (or fsspec URL) for the record: completions, scores, terms, advantages, and the output of
            reward functions. ``rk.open_run`` and ``rewardkit view`` can read it during training.
        logs: whether to log raw means, weights, gate pass rates, and faults through ``log_metric``, and each
            completion's scores and notes through ``log_extra``. ``components/<name>`` is the mean over scored
            completions. In contrast, in TRL's ``rewards/<name>/mean``, a skipped completion counts as 0, and a
            completion whose function raised an exception counts as the lower bound.
        limits: an ``rk.Limits`` with the fractions of failed and errored rows above which the run stops.
        updates: whether to accept ``rewardkit update`` and ``rk.update_config`` during training, if `record` is a local
            folder.
        transcripts: for a trainer with ``rollout_func``, the returned field that contains each episode's messages.
            These messages replace the completions, so that the environment's text is never treated as the answer.
        is_error: a function that decides whether a tool result's text is an error. If it is, the function returns True
            or the error message. By default, a result is an error if it is an object whose only key is ``error``, which
            is TRL's format.
        radar: whether to look for signs of reward hacking, using at most 1% of the training time. For this purpose,
            ready rewards and functions with ``pure=True`` score some completions again with the gold answers for other
            prompts. ``"rescore"`` also calls the functions that do not declare ``pure=True``. The radar never calls
            judges, reward models, tested programs, or functions that wait, are not deterministic, or read the training
            progress. It logs ``radar/foreign`` and ``radar/strength``, and does not affect training.

    Returns:
        A list of uniquely named, picklable functions, with ``.reward_weights`` and ``.callback()``. The functions share
        one evaluation per batch.

    Raises:
        RewardDefinitionError: names clash, no term in the tree affects training, or a limit or a weight is invalid.
        RewardTypeError: an item is neither a reward nor a function.
        MissingExtraError: `record` is given, but the extra ``store`` is not installed.
    """
    layout = layout_of(reward, outputs, weights)
    if transcripts is not None and (not isinstance(transcripts, str) or not transcripts):
        raise RewardDefinitionError(f"to_trl: transcripts= must be the name of a field, got {shorten(transcripts)}")
    if is_error is not None and not callable(is_error):
        raise RewardDefinitionError(
            f"to_trl: is_error= must be a function that accepts a result's text, got {shorten(is_error)}"
        )
    if radar not in (True, False, "rescore"):
        raise RewardDefinitionError(f'to_trl: radar= must be True, False, or "rescore", got {shorten(radar)}')
    make_updates = None
    if updates and record is not None:
        from rewardkit_adapters.live.updates import Updates

        make_updates = Updates
    options = Options(limits, logs, record, make_updates, Episodes(transcripts, is_error), radar)
    evaluator = Evaluator(layout, options)
    for trap in evaluator.scorer.traps():
        warnings.warn(trap, RewardKitWarning, stacklevel=2)
    return RewardFunctions(RewardFunction(evaluator, name) for name in layout.names)
