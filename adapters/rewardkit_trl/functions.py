"""to_trl: a reward as the list of functions that GRPOTrainer takes."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from rewardkit.core.errors import RewardDefinitionError, RewardKitWarning, RewardTypeError, shorten
from rewardkit.core.tree.reward import Reward
from rewardkit.core.tree.trl_function import is_model, tree_of
from rewardkit_trl.breaker import Limits
from rewardkit_trl.checks import clash
from rewardkit_trl.evaluator import Evaluator, MakeUpdates
from rewardkit_trl.layout import Columns, Layout
from rewardkit_trl.reports import nan_to_none
from rewardkit_trl.shared_tables import TrainerCall

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
        evaluator, call = self.evaluator, TrainerCall(completions, prompts, completion_ids, columns, context)
        table = evaluator.tables.get(self.__name__, call, evaluator.table)
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
    make_updates: MakeUpdates | None = None,
) -> RewardFunctions:
    """``rk.to_trl`` (`rewardkit_live.to_trl`) without live update.

    Args:
        make_updates: of the record's folder and the reward, what updates it while it trains.
    """
    tree = checked_tree(reward)
    layout = Layout.of(tree, columns)
    limits = Limits(max_failure_rate, max_error_rate, failure_window)
    evaluator = Evaluator(tree, layout, limits, logs, record, make_updates)
    for trap in evaluator.scorer.traps():
        warnings.warn(trap, RewardKitWarning, stacklevel=3)
    return RewardFunctions(RewardFunction(evaluator, name) for name in layout.names)


def checked_tree(reward: Any) -> Reward:
    """The tree that `to_trl` makes of what it is given: a reward, a plain function, or a list of them."""
    if isinstance(reward, RewardFunctions):
        raise RewardTypeError("this list has been made by rk.to_trl already; join it with others by +")
    for item in reward if isinstance(reward, (list, tuple)) else [reward]:
        if isinstance(item, RewardFunction):
            raise RewardTypeError("this function has been made by rk.to_trl already; join its list with others by +")
        if isinstance(item, str) or is_model(item):
            raise RewardTypeError(f"a reward model goes beside the list: rk.to_trl(reward) + [{shorten(item)}]")
    return tree_of(reward, "to_trl")
