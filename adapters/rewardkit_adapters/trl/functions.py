"""to_trl: a reward as the list of reward functions that GRPOTrainer takes."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.batch.trajectory import IsError
from rewardkit.errors import RewardDefinitionError, RewardKitWarning, RewardTypeError, shorten
from rewardkit.online.breaker import LIMITS, Limits
from rewardkit.progress.bounds import number
from rewardkit.progress.schedule import Schedule
from rewardkit.tree.conversion import tree_of
from rewardkit.tree.reward import Reward
from rewardkit.tree.trl_function import is_model
from rewardkit_adapters.trl.checks import clash, weighted_expression
from rewardkit_adapters.trl.evaluator import Evaluator, MakeUpdates
from rewardkit_adapters.trl.layout import Columns, Layout
from rewardkit_adapters.trl.reports import nan_to_none
from rewardkit_adapters.trl.rollouts import Episodes
from rewardkit_adapters.trl.trainer import Trainer
from rewardkit_adapters.trl.trainer_call import TrainerCall

if TYPE_CHECKING:
    from rewardkit_adapters.trl.environments import Made

_CONTEXT = ("trainer_state", "log_extra", "log_metric", "environments")


class RewardFunction:
    """One column of the reward, as TRL calls it.

    ``function(completions=["42"], prompts=["6*7?"], answer=["42"])`` returns ``[1.0]``: one float for each completion,
    or None if it cannot be scored.
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

    Add other reward functions with ``+``: ``rk.to_trl(reward) + ["org/reward-model"]`` is such a list again.
    """

    @property
    def _evaluators(self) -> list[Evaluator]:
        return list(dict.fromkeys(function.evaluator for function in self if isinstance(function, RewardFunction)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise: the list was passed inside another list, so that the trainer took it for a function."""
        raise RewardTypeError(
            "rk.to_trl returns a list, and here it is inside another list. Pass it as it is: "
            "reward_funcs=rk.to_trl(reward)"
        )

    @property
    def reward(self) -> Reward:
        """The reward that the list was made of."""
        return self._evaluators[0].reward

    @property
    def reward_weights(self) -> list[float]:
        """The weights for ``GRPOConfig(reward_weights=...)``. With ``outputs="terms"`` all are 1.0, the default."""
        return [function.weight if isinstance(function, RewardFunction) else 1.0 for function in self]

    def callback(self) -> Any:
        """Return a TrainerCallback that gives schedules the training progress: ``callbacks=[funcs.callback()]``.

        Only a TRL that passes no ``trainer_state`` to reward functions needs it. With ``record=`` it also records what
        the trainer logs; if you do not pass it, it is added at the first batch.
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
        """Return the ``environment_factory`` for a trainer, whose environments record what their tools do.

        ::

            trainer = GRPOTrainer(..., reward_funcs=funcs, environment_factory=funcs.environments(Shop))

        Trajectories then know what messages do not tell: the arguments before a tool changed them, the result that was
        dropped because it was too long, the call that never ran. If a tool, ``reset`` or ``get_reward`` meets an outage
        (ConnectionError, TimeoutError, ``rk.RewardFailure``, the same of common HTTP libraries), the environment is
        broken: the training goes on, and the row fails in every component, so it gives no learning signal. A tool that
        calls ``sys.exit`` has an error instead of ending the training.

        Args:
            environment: the class of the environment, a function that makes one, or a dictionary of them, from which
                the column "environment" chooses.
            timeout: seconds for one call of a tool; after that, the environment is broken. A tool that does not return
                goes on in its thread, and the environment stays broken until it returns.
            outages: further exceptions that mean that the environment broke.

        Raises:
            RewardDefinitionError: the class has no ``reset``, or no tool.
            RewardTypeError: `environment` cannot make environments, or `outages` are not exceptions.
        """
        from rewardkit_adapters.trl.environments import environments

        return environments(environment, self.reward, timeout=timeout, outages=outages)

    def faults(self, trainer: Any) -> str:
        """Return the failures and errors of a training of `trainer` that ended before `failure_window` batches."""
        found = [evaluator.faults(Trainer(trainer)) for evaluator in self._evaluators]
        return ", ".join(filter(None, found))

    def flush(self) -> None:
        """Wait until everything recorded so far is written.

        This happens by itself at the end of training and when the process exits. If you call the functions without a
        trainer, it also marks the run as finished.
        """
        for evaluator in self._evaluators:
            if evaluator.recording is not None:
                evaluator.recording.flush()

    def __add__(self, other: Any) -> RewardFunctions:
        return _joined([*self, *other])

    def __radd__(self, other: Any) -> RewardFunctions:
        return _joined([*other, *self])


def _joined(functions: list[Any]) -> RewardFunctions:
    # Only names of ours: trainers add their tools to the list, which may have any name. The names of the trainer's
    # other reward functions are checked at its first call.
    names = Counter(function.__name__ for function in functions if isinstance(function, RewardFunction))
    for name, count in names.items():
        if count > 1:
            raise RewardDefinitionError(clash(name, count))
    joined = RewardFunctions(functions)
    paths = Counter(evaluator.recording.path for evaluator in joined._evaluators if evaluator.recording is not None)
    for path, count in paths.items():
        if count > 1:
            raise RewardDefinitionError(
                f"{count} lists record into {path!r}, so their rows would be mixed. Give each list its own folder, or "
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
    transcripts: str | None = None,
    is_error: IsError | None = None,
    radar: bool = True,
    make_updates: MakeUpdates | None = None,
) -> RewardFunctions:
    """``rk.to_trl`` without live update; see ``rewardkit_adapters.live.to_trl`` for the arguments.

    Args:
        make_updates: returns what updates the reward during training, from the folder of the record and the reward.
    """
    layout = layout_of(reward, outputs, weights)
    if transcripts is not None and (not isinstance(transcripts, str) or not transcripts):
        raise RewardDefinitionError(f"to_trl: transcripts= is the name of a field, got {shorten(transcripts)}")
    if is_error is not None and not callable(is_error):
        raise RewardDefinitionError(f"to_trl: is_error= is a function of a result's text, got {shorten(is_error)}")
    evaluator = Evaluator(layout, limits, logs, record, make_updates, Episodes(transcripts, is_error), radar)
    for trap in evaluator.scorer.traps():
        warnings.warn(trap, RewardKitWarning, stacklevel=3)
    return RewardFunctions(RewardFunction(evaluator, name) for name in layout.names)


def layout_of(reward: Any, columns: Columns = "terms", weights: Sequence[float] | None = None) -> Layout:
    """Return the layout for what was passed to `to_trl`.

    Raises:
        RewardDefinitionError: there is not one weight for each item, a weight is not finite, or as in `Layout.listed`.
        RewardTypeError: as in `checked_tree`, or a weight is not a number.
    """
    checked_tree(reward)
    listed = list(reward) if isinstance(reward, (list, tuple)) else [reward]
    items = [tree_of(item, "an item of to_trl") for item in listed]
    if weights is None:
        return Layout.listed(items, columns)
    given = list(weights)
    if len(given) != len(items):
        layout, inside = Layout.listed(items, columns), None
        if len(given) == len(layout.names):  # one for each column, but a reward gives several
            inside = weighted_expression(layout, dict(zip(layout.names, given, strict=True)))
        instead = "" if inside is None else f", or write the weights into the reward: rk.to_trl({inside})"
        raise RewardDefinitionError(
            f"to_trl: there are {len(given)} weights for {len(items)} reward{'s' * (len(items) != 1)}. Pass one weight "
            f"for each reward{instead}"
        )
    for weight, item in zip(given, listed, strict=True):
        if isinstance(weight, Schedule):
            raise RewardTypeError(
                f"to_trl: weights= are numbers, got the schedule {weight!r}. Multiply the reward by it instead, and "
                f"give {shorten(item)} the weight 1"
            )
    return Layout.listed(items, columns, [number(weight, "to_trl: a weight") for weight in given])


def successor(reward: Any, held: Mapping[str, float] | None) -> Reward:
    """Return the tree of what takes the place of a reward whose columns the trainer weights with `held`.

    A list keeps these weights, as it keeps those of a GRPOConfig. Any other reward has its own.

    Raises:
        RewardDefinitionError: a list has other columns, so it is unknown how they are weighted.
        RewardTypeError: as in `checked_tree`.
    """
    tree = checked_tree(reward)
    if held is None or not isinstance(reward, (list, tuple)) or set(held.values()) == {1.0}:
        return tree
    layout = layout_of(reward)
    if not layout.honors or set(layout.names) != set(held):
        columns = ", ".join(f"{weight!r} * rk.from_trl({name})" for name, weight in held.items())
        raise RewardDefinitionError(
            f"the trainer weights the columns of the list in force, {dict(held)}, but this list has the columns "
            f"{list(layout.names)}. Write the weights into the reward: rk.weighted_sum([{columns}])"
        )
    return layout.holding([held[name] for name in layout.names]).reward


def checked_tree(reward: Any) -> Reward:
    """Return the tree for what was passed to `to_trl`: a reward, a plain function, or a list of them.

    Raises:
        RewardTypeError: a reward model, something that `to_trl` returned, or anything else.
    """
    if isinstance(reward, RewardFunctions):
        raise RewardTypeError("rk.to_trl already returned this list. Join lists with +: rk.to_trl(a) + rk.to_trl(b)")
    for item in reward if isinstance(reward, (list, tuple)) else [reward]:
        if isinstance(item, RewardFunction):
            raise RewardTypeError("rk.to_trl already returned this function. Join its list with others with +")
        if isinstance(item, str) or is_model(item):
            raise RewardTypeError(
                f"to_trl does not take reward models. Add it to the list: rk.to_trl(reward) + [{shorten(item)}]"
            )
    return tree_of(reward, "to_trl")
