"""to_trl: a reward as the list of functions that GRPOTrainer takes."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from rewardkit.core.algebra import Reward, as_reward, weighted_sum_of
from rewardkit.core.errors import RewardDefinitionError, RewardKitWarning, RewardTypeError, is_factory, shorten
from rewardkit.core.progress import Schedule
from rewardkit_trl.breaker import Limits
from rewardkit_trl.checks import clash
from rewardkit_trl.columns import Columns, Layout
from rewardkit_trl.evaluator import Evaluator
from rewardkit_trl.logs import nan_to_none
from rewardkit_trl.sharing import Call
from rewardkit_trl.wrapped import from_trl, is_model

_CONTEXT = ("trainer_state", "log_extra", "log_metric", "environments")


class RewardFunction:
    """One column as TRL calls it: keywords only, a list of floats and None back."""

    def __init__(self, evaluator: Evaluator, name: str) -> None:
        self.evaluator = evaluator
        self.__name__ = name

    def __call__(
        self, /, *, completions: Any, prompts: Any = None, completion_ids: Any = None, **columns: Any
    ) -> list[float | None]:
        context = {name: columns.pop(name) for name in _CONTEXT if name in columns}
        table = self.evaluator.table(self.__name__, Call(completions, prompts, completion_ids, columns, context))
        return nan_to_none(self.evaluator.layout.values(table, self.__name__))

    @property
    def weight(self) -> float:
        """That the trainer must give it, at the start of training."""
        layout = self.evaluator.layout
        return layout.weights[layout.names.index(self.__name__)]

    def __repr__(self) -> str:
        return f"<reward function {self.__name__!r} of {self.evaluator.reward!r}>"


class RewardFunctions(list[Any]):
    """The list for ``GRPOTrainer(reward_funcs=...)``. It stays one when other functions are added to it."""

    @property
    def _evaluators(self) -> list[Evaluator]:
        return list(dict.fromkeys(function.evaluator for function in self if isinstance(function, RewardFunction)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Not a function; a trainer that was given it inside another list would call it."""
        raise RewardTypeError("pass the list that rk.to_trl returned itself: reward_funcs=rk.to_trl(reward), not [...]")

    @property
    def reward(self) -> Reward:
        """The tree behind the list."""
        return self._evaluators[0].reward

    @property
    def reward_weights(self) -> list[float]:
        """For ``GRPOConfig(reward_weights=...)``; all 1.0 with ``columns="terms"``, where it may be left out."""
        return [function.weight if isinstance(function, RewardFunction) else 1.0 for function in self]

    def callback(self) -> Any:
        """A TrainerCallback that tells schedules where training stands, for a TRL that passes no trainer_state.

        A record (``record=``) that sees its trainer makes one for itself; given at the start, it hears all of its logs.
        """
        from rewardkit_trl.callbacks import RewardCallback

        return RewardCallback(self._evaluators)

    def flush(self) -> None:
        """Waits until all that was recorded so far is written; the end of a training and of the process do so too.

        Where the functions are called by hand, without a trainer, it also marks the run as finished.
        """
        for evaluator in self._evaluators:
            if evaluator.recording is not None:
                evaluator.recording.flush()

    def __add__(self, other: Any) -> RewardFunctions:
        return _joined([*self, *other])

    def __radd__(self, other: Any) -> RewardFunctions:
        return _joined([*other, *self])


def _joined(functions: list[Any]) -> RewardFunctions:
    # Only ours: trainers add their tools to the list to look at both, and these may be called as they like. How a
    # trainer's own functions are called is asked when it makes its first call.
    names = Counter(function.__name__ for function in functions if isinstance(function, RewardFunction))
    for name, count in names.items():
        if count > 1:
            raise RewardDefinitionError(clash(name, count))
    joined = RewardFunctions(functions)
    paths = Counter(evaluator.recording.path for evaluator in joined._evaluators if evaluator.recording is not None)
    for path, count in paths.items():
        if count > 1:
            raise RewardDefinitionError(
                f"{count} lists record into {path!r}, whose rows would be mixed: give each a folder of its own, or put "
                "all rewards into one to_trl([...], record=...)"
            )
    return joined


def to_trl(
    reward: Reward | Callable[..., Any] | Iterable[Any],
    *,
    columns: Columns = "terms",
    record: str | os.PathLike[str] | None = None,
    logs: bool = True,
    max_failure_rate: float = 0.05,
    max_error_rate: float = 0.05,
    failure_window: int = 20,
    updates: bool = True,
) -> RewardFunctions:
    """A reward as the list of functions that TRL's GRPOTrainer takes.

    ::

        trainer = GRPOTrainer(model, reward_funcs=rk.to_trl(reward), args=args, train_dataset=dataset)

    Args:
        reward: a tree, or a list that mixes rewards and plain TRL functions, whose sum it is.
        columns: ``"terms"``: one function per term, whose plain sum is the total. ``"components"``: one per component,
            raw; pass ``reward_weights=funcs.reward_weights`` to GRPOConfig (GDPO needs this form).
        record: the folder (or fsspec address) in which everything is recorded: completions, scores, terms, advantages,
            what reward functions print. ``rk.open_run`` and ``rewardkit view`` read it, also while it is written.
        logs: log raw means, weights, gate pass rates and faults through ``log_metric``, and per completion scores and
            notes through ``log_extra``.
        max_failure_rate: share of failed rows of a component, over `failure_window` batches, that stops the run.
        max_error_rate: the same for errored rows.
        failure_window: number of batches.
        updates: where `record` is a local folder, take what ``rewardkit update`` and ``rk.update_config`` ask for while
            it trains.

    Returns:
        A list of uniquely named, picklable functions with ``.reward_weights`` and ``.callback()``. One evaluation per
        batch stands behind them all.

    Raises:
        RewardDefinitionError: names clash, nothing in the tree trains, or a limit is impossible.
        RewardTypeError: an item is neither a reward nor a function.
        MissingExtraError: `record` is given, but the extra ``store`` is not installed.
    """
    tree = tree_of(reward)
    layout = Layout.of(tree, columns)
    evaluator = Evaluator(
        tree, layout, Limits(max_failure_rate, max_error_rate, failure_window), logs, record, updates=updates
    )
    for trap in evaluator.scorer.traps():
        warnings.warn(trap, RewardKitWarning, stacklevel=2)
    return RewardFunctions(RewardFunction(evaluator, name) for name in layout.names)


def tree_of(reward: Any) -> Reward:
    """The tree that `to_trl` makes of what it is given: a reward, a plain function, or a list of them."""
    if isinstance(reward, Reward):
        return reward
    if isinstance(reward, RewardFunctions):
        raise RewardTypeError("this list has been made by rk.to_trl already; join it with others by +")
    if isinstance(reward, (list, tuple)):
        if not reward:
            raise RewardDefinitionError("to_trl needs at least one reward")
        return weighted_sum_of([(1.0, _item(item)) for item in reward])
    return _item(reward)


def _item(item: Any) -> Reward:
    if isinstance(item, Reward):
        return item
    if isinstance(item, RewardFunction):
        raise RewardTypeError("this function has been made by rk.to_trl already; join its list with others by +")
    if isinstance(item, str) or is_model(item):
        raise RewardTypeError(f"a reward model goes beside the list: rk.to_trl(reward) + [{shorten(item)}]")
    plain = callable(item) and not isinstance(item, Schedule) and not hasattr(item, "derive") and not is_factory(item)
    return from_trl(item) if plain else as_reward(item, "an item of to_trl")
