"""Scorer: a compiled tree that scores batches.

``Scorer(0.7 * a + 0.3 * b).score(Batch(["..."]))`` evaluates each node once, on the rows that need it, and returns a
ScoreTable: raw components, the additive terms, and the total.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, get_args

import numpy as np

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.environments import journals
from rewardkit.core.batch.logs import OF_TRAINERS
from rewardkit.core.batch.rollouts import Rollouts
from rewardkit.core.batch.score import Measured
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.batch.trajectory import IsError
from rewardkit.core.errors import BindingError, RewardDefinitionError, shorten
from rewardkit.core.evaluation.plan import Plan
from rewardkit.core.evaluation.run import Run
from rewardkit.core.evaluation.scheduler import Scheduler
from rewardkit.core.evaluation.terms import require_float32, terms_of
from rewardkit.core.progress.progress import Progress
from rewardkit.core.progress.schedule import PerformanceSchedule, weight_now
from rewardkit.core.tree.conversion import RewardLike
from rewardkit.core.tree.names import Names
from rewardkit.core.tree.parameters import OnUnparsableGold, Scope
from rewardkit.core.tree.reward import Reward


class Scorer:
    """A compiled tree that scores batches. It keeps no results, so threads can share it.

    Args:
        reward: the tree; or a plain function, or a list of rewards and functions.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: two different rewards of the tree have the same name.
    """

    def __init__(self, reward: RewardLike | Sequence[Any]) -> None:
        self._plan = Plan(reward)

    @property
    def reward(self) -> Reward:
        """The tree."""
        return self._plan.root

    @property
    def names(self) -> Names:
        """The names of components, terms and gates, with their nodes."""
        return self._plan.names

    @property
    def components(self) -> list[str]:
        """The names of all rewards that are logged."""
        return [name for name, _ in self.names.components]

    @property
    def terms(self) -> list[str]:
        """The names of the additive terms of the total."""
        return [name for name, _ in self.names.terms]

    @property
    def followers(self) -> list[PerformanceSchedule]:
        """The schedules that follow the means of components."""
        return self._plan.followers

    @property
    def together(self) -> Scope:
        """What has to be in one batch for its values to be right: a row, the completions of a prompt, or all rows."""
        return self._plan.together

    @property
    def scheduled(self) -> bool:
        """Whether its scores follow training progress: a schedule, or a function that reads it."""
        return self._plan.scheduled

    @property
    def waits(self) -> bool:
        """Whether it waits for something while it scores: an endpoint, a worker process."""
        return self._plan.waits

    @property
    def measures(self) -> bool:
        """Whether its tables may have measurements: calls, tokens, money."""
        return self._plan.measures

    def traps(self) -> list[str]:
        """Return warnings about what will probably not work as intended, in sentences."""
        return list(self._plan.traps())

    def late(self, max_steps: int) -> list[str]:
        """Return, in sentences, the schedules and stages that first change after the last step of a training."""
        return list(dict.fromkeys(self._plan.late(max_steps)))

    def check(self, batch: Batch) -> None:
        """Raise a BindingError if the batch lacks what a reward in the tree asks for."""
        self._plan.check(batch)

    def score(
        self,
        batch: Batch,
        *,
        strict: bool = True,
        stops: bool = True,
        on_unparsable_gold: OnUnparsableGold = "raise",
    ) -> ScoreTable:
        """Return all components, terms and the total of `batch`.

        Args:
            strict: raise if a reward function has a bug; otherwise score the lowest bound and report it.
            stops: raise if the run must stop; otherwise fail all samples of the component and set ``table.stop``.
            on_unparsable_gold: what a cell does that a ready reward cannot read: ``"raise"`` a CoercionError, or
                ``"fail"``: its row has no score, and the others are scored, as in a training. A reward with this option
                decides itself.

        Raises:
            BindingError: a column or argument is missing.
            CoercionError: a column's value does not fit its annotation.
            RewardFailure: a bug in a reward function while `strict`, a failure under policy "raise", an unknown route.
            RunStopped: every later sample would fail, too.
        """
        if on_unparsable_gold not in get_args(OnUnparsableGold):
            raise RewardDefinitionError(
                f'on_unparsable_gold must be "raise" or "fail", got {shorten(on_unparsable_gold)}'
            )
        plan = self._plan
        plan.check(batch)
        run = Run(plan, batch, strict, stops, on_unparsable_gold)
        evaluated = Scheduler(run).evaluated if plan.waits else run.evaluated
        evaluated(plan.root, batch.everywhere)
        for reward in plan.followed:
            evaluated(reward, run.applied[plan.first(reward)])
        batch.logs.flush()
        return _table(run)


def _table(run: Run) -> ScoreTable:
    names, nowhere = run.plan.names, np.zeros(run.batch.size, dtype=np.bool_)
    root = run.column(run.plan.root)
    run.overflow()
    terms = terms_of(run, root)
    require_float32(terms.values, root.values)
    memos = {name: run.memo(node) for name, node in names.components}
    return ScoreTable(
        completions=run.batch.texts,
        components={name: run.component(memo) for name, memo in memos.items()},
        terms=terms.values,
        total=root.values.copy(),
        weights=terms.weights,
        reached=terms.reached,
        passed={name: run.memo(gate).passed or (nowhere, nowhere) for name, gate in names.gates},
        gauges={
            f"{gauge}/{name}": weight_now(weight, run.batch.progress)
            for name, node in names.gauged
            for gauge, weight in node.facts.gauges.items()
        },
        measures=_measures(run),
        timings={name: memo.seconds for name, memo in memos.items()},
        faults=tuple(run.faults),
        metrics=run.batch.logs.metrics,
        extras=run.batch.logs.extras,
    )


def _measures(run: Run) -> dict[str, Measured]:
    """Return the measurements by component, with the new names of renamed rewards."""
    return {run.label(reward): found for reward, found in run.measures.items()}


def score(
    reward: RewardLike | Sequence[Any],
    completions: Iterable[Any],
    /,
    *,
    prompts: Iterable[Any] | None = None,
    completion_ids: Iterable[Any] | None = None,
    progress: Progress | None = None,
    num_generations: int | None = None,
    environments: Iterable[Any] | None = None,
    is_error: IsError | None = None,
    **columns: Iterable[Any],
) -> ScoreTable:
    """Score completions outside of training: in a notebook or a test.

    ::

        table = rk.score(rk.number("answer"), ["<answer>42</answer>", "dunno"], answer=["42", "7"])
        table.total      # array([1., 0.])

    Args:
        reward: the tree to score with; or what `to_trl` takes: a plain function, or a list of rewards and functions.
        completions: n texts, or conversational completions (lists of messages).
        prompts: n prompts, texts or lists of messages.
        completion_ids: n lists of token ids.
        progress: how far training is; without it, schedules have their end value.
        num_generations: completions per prompt, for rewards that compare them: so many rows are a group. Without it, a
            group is a run of rows with equal prompt and columns.
        environments: n environments after their rollouts, for ``rk.final_state`` and ``rk.environment_reward``.
        is_error: tells whether the text of a tool's result is an error: returns True, or what the error says. By
            default a result is an error if it is an object with the one key ``error``, as TRL writes it.
        columns: the dataset's columns, n values each.

    Raises:
        RewardTypeError: `reward` is not a reward.
        BindingError: a column is missing, too short, or has a reserved name, or the groups that the reward compares are
            not known.
        CoercionError: a column's value does not fit the annotation.
        RewardFailure: a reward function raised or returned something that is not a score.
    """
    scorer = Scorer(reward)
    for name in OF_TRAINERS:
        if name in columns:
            raise BindingError(
                f"{name!r} is not a column: functions that ask for it get it. Drop it. To score at a point of "
                "training, pass progress=rk.Progress(step, max_steps)"
            )
    if is_error is not None and not callable(is_error):
        raise BindingError(
            f"is_error= takes a function of a result's text, got {shorten(is_error)}. If it is a column, rename it"
        )
    if isinstance(environments, (str, bytes)) or not isinstance(environments, Iterable | None):
        raise BindingError(f"environments= takes a list, one for each completion, got {shorten(environments)}")
    live = None if environments is None else list(environments)
    kind = next((one for one in live or () if isinstance(one, type)), None)
    if kind is not None:
        raise BindingError(f"environments= takes environments after their rollouts, got the class {kind.__name__!r}")
    batch = Batch(
        completions,
        prompts=prompts,
        completion_ids=completion_ids,
        columns=columns,
        progress=progress,
        num_generations=num_generations,
        context=None if live is None else {"environments": live},
        rollouts=Rollouts(is_error=is_error, **journals(live)),
    )
    if live is not None and len(live) != len(batch):
        raise BindingError(f"environments has {len(live)} values for {len(batch)} completions: pass one per completion")
    if num_generations is not None and (type(num_generations) is not int or num_generations < 1):
        raise BindingError(f"num_generations must be a whole number of completions, got {shorten(num_generations)}")
    if num_generations is not None and len(batch) % num_generations:
        raise BindingError(
            f"num_generations={num_generations} does not divide the {len(batch)} completions. Pass whole groups"
        )
    return scorer.score(batch)
