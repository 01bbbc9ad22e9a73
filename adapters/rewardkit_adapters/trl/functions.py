"""to_trl: turn a reward into the list of reward functions that GRPOTrainer takes."""

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
from rewardkit_adapters.trl.evaluator import Evaluator, Options
from rewardkit_adapters.trl.layout import Columns, layout_of
from rewardkit_adapters.trl.trainer import Trainer

if TYPE_CHECKING:
    from rewardkit_adapters.trl.environments import Made

_CONTEXT = ("trainer_state", "log_extra", "log_metric", "environments")


class RewardFunction:
    """One column of the reward, as a function that TRL can call.

    ``function(completions=["42"], prompts=["6*7?"], answer=["42"])`` returns ``[1.0]``: one float per completion, or
    None if it cannot be scored.
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
        """The weight that the trainer must give this function at the start of training."""
        layout = self.evaluator.layout
        return layout.weights[layout.names.index(self.__name__)]

    def __repr__(self) -> str:
        return f"<reward function {self.__name__!r} of {self.evaluator.reward!r}>"


class RewardFunctions(list[Any]):
    """The list for ``GRPOTrainer(reward_funcs=...)``.

    Add other reward functions with ``+``: ``rk.to_trl(reward) + ["org/reward-model"]`` is also a RewardFunctions list.
    """

    @property
    def _evaluators(self) -> list[Evaluator]:
        return list(dict.fromkeys(function.evaluator for function in self if isinstance(function, RewardFunction)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RewardTypeError, because the trainer took a list inside another list for a function."""
        raise RewardTypeError(
            "rk.to_trl returns a list, but here it is inside another list. Pass it unchanged: "
            "reward_funcs=rk.to_trl(reward)"
        )

    @property
    def reward(self) -> Reward:
        """The reward from which the list was made."""
        return self._evaluators[0].reward

    @property
    def reward_weights(self) -> list[float]:
        """The weights for ``GRPOConfig(reward_weights=...)``. All are 1.0, TRL's default, with ``outputs="terms"``."""
        return [function.weight if isinstance(function, RewardFunction) else 1.0 for function in self]

    def callback(self) -> Any:
        """Return a TrainerCallback that gives schedules the training progress: ``callbacks=[funcs.callback()]``.

        You need it only if your TRL passes no ``trainer_state`` to reward functions. With ``record=``, the callback
        also records the trainer's log. If you do not pass it, it is added at the first batch.
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

        Trajectories then have information that is missing in messages: the arguments before a tool changed them, a
        result that was dropped because it was too long, a call that never ran. If a tool, ``reset`` or ``get_reward``
        meets an outage (ConnectionError, TimeoutError, ``rk.RewardFailure``, the equivalents in common HTTP libraries),
        the environment is broken: the training continues, and the row fails in every component, so it gives no learning
        signal. A tool that calls ``sys.exit`` gets an error instead of ending the training.

        Args:
            environment: the class of the environment, a function that makes one, or a dictionary of these, from which
                the column "environment" selects.
            timeout: seconds for one call of a tool; after that, the environment is broken. A tool that does not return
                continues in its thread, and the environment stays broken until it returns.
            outages: further exception classes that mean that the environment broke.

        Raises:
            RewardDefinitionError: the class has no ``reset``, or no tool.
            RewardTypeError: `environment` cannot make environments, or `outages` are not exception classes.
        """
        from rewardkit_adapters.trl.environments import environments

        return environments(environment, self.reward, timeout=timeout, outages=outages)

    def faults(self, trainer: Any) -> str:
        """Return the failures and errors if a training of `trainer` ended before `failure_window` batches."""
        reports = [evaluator.faults(Trainer(trainer)) for evaluator in self._evaluators]
        return ", ".join(filter(None, reports))

    def flush(self) -> None:
        """Wait until everything recorded so far is written.

        This happens automatically at the end of training and when the process exits. If you call the functions without
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
    radar: bool = True,
) -> RewardFunctions:
    """Return a list of reward functions for TRL's GRPOTrainer.

    ::

        trainer = GRPOTrainer(model, reward_funcs=rk.to_trl(reward), args=args, train_dataset=dataset)

    Args:
        reward: a reward, or a list of rewards and plain TRL functions, which are summed. If each item in the list
            produces one column, as plain functions do, ``GRPOConfig(reward_weights=...)`` weights the items as in TRL.
        weights: one number for each item in the list. Also pass ``reward_weights=funcs.reward_weights`` to GRPOConfig.
        outputs: ``"terms"``: one function per term, whose plain sum is the total. ``"components"``: one function per
            component, with raw scores. In this case, pass ``reward_weights=funcs.reward_weights`` to GRPOConfig (GDPO
            needs this form).
        record: the folder (or fsspec URL) for the record: completions, scores, terms, advantages, and the output of
            reward functions. ``rk.open_run`` and ``rewardkit view`` can read it during training.
        logs: whether to log raw means, weights, gate pass rates, and faults through ``log_metric``, and each
            completion's scores and notes through ``log_extra``. ``components/<name>`` is the mean over the scored
            completions. In TRL's ``rewards/<name>/mean``, a skipped completion counts as 0, and a completion whose
            function raised an exception counts as the lowest bound.
        limits: an ``rk.Limits``: the fractions of failed and errored rows above which the run stops.
        updates: whether to accept ``rewardkit update`` and ``rk.update_config`` during training, if `record` is a local
            folder.
        transcripts: for a trainer with ``rollout_func``: the returned field that holds each episode's messages. These
            messages replace the completions, so that the environment's text is never read as the answer.
        is_error: a function that decides whether the text of a tool result is an error: it returns True, or the error
            message. By default, a result is an error if it is an object whose only key is ``error``, as TRL writes it.
        radar: whether to look for signs that the policy games the reward, using at most 1% of the training time. Some
            completions are scored again with the gold answers for other prompts (never by judges, tested programs, or
            functions that wait or were not written for rewardkit). The radar logs ``radar/foreign`` and
            ``radar/strength``, and does not affect training.

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
    make_updates = None
    if updates and record is not None:
        from rewardkit_adapters.live.updates import Updates

        make_updates = Updates
    options = Options(limits, logs, record, make_updates, Episodes(transcripts, is_error), radar)
    evaluator = Evaluator(layout, options)
    for trap in evaluator.scorer.traps():
        warnings.warn(trap, RewardKitWarning, stacklevel=2)
    return RewardFunctions(RewardFunction(evaluator, name) for name in layout.names)
