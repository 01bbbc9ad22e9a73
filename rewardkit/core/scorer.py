"""Scorer: a compiled tree. It evaluates each node once per batch and gives a ScoreTable.

``Scorer(0.7 * a + 0.3 * b).score(Batch(["..."]))`` walks the tree: every node asks for its children on the rows it
needs, so closed gates stay unevaluated and nothing is computed twice. Afterwards the total is handed down the
additive part of the tree as shares, which become the terms.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rewardkit.core.algebra import Named, Reward, WeightedSum, as_reward
from rewardkit.core.batch import Batch
from rewardkit.core.driving import Driver, Finished, Task, Turn, in_background
from rewardkit.core.errors import RewardDefinitionError, RunStopped, near_miss
from rewardkit.core.naming import Names, distinct_nodes
from rewardkit.core.outcome import ABSTAINED, SKIPPED, Column, Fault, Floats, Measured, Rows, ScoreTable
from rewardkit.core.progress import TOLERANCE, Progress, Schedule
from rewardkit.core.scoring import Share, leaves


class Scorer:
    """A tree ready to score batches. Safe to share between threads; holds no results.

    Args:
        reward: the tree.

    Raises:
        RewardTypeError: `reward` is no reward.
        RewardDefinitionError: two different rewards of the tree have one name.
    """

    def __init__(self, reward: Reward) -> None:
        self.reward = as_reward(reward, "what is scored")
        self.names = Names.of(self.reward)
        self._keys = distinct_nodes(self.reward)
        self.followers = list(dict.fromkeys(follower for node in self._keys.nodes for follower in node.followers))
        self._followed = self._nodes_followed()

    def _nodes_followed(self) -> list[Reward]:
        """The rewards whose means schedules follow."""
        nodes = dict(self.names.components)
        for follower in (follower for node in self._keys.nodes for follower in node.followers):
            if follower.component not in nodes:
                raise RewardDefinitionError(
                    f"{follower!r} follows {follower.component!r}, which is no component of the reward. Components: "
                    f"{', '.join(nodes)}.{near_miss(follower.component, nodes)} rk.monitor(...) adds one that only "
                    "is watched"
                )
            best = nodes[follower.component].bounds[1]
            if follower.highest > best + TOLERANCE:
                raise RewardDefinitionError(
                    f"{follower!r} waits for a mean of {follower.highest:g}, but {follower.component!r} gives at most "
                    f"{best:g}"
                )
            if follower.source is not None and nodes[follower.component] != follower.source:
                raise RewardDefinitionError(
                    f"{follower!r} was made of {follower.source!r}, but the component {follower.component!r} is "
                    f"{nodes[follower.component]!r}: give the one that is followed another name with .named(...)"
                )
        return [nodes[name] for name in dict.fromkeys(follower.component for follower in self.followers)]

    @property
    def measures(self) -> bool:
        """Whether its tables may hold what was measured."""
        return any(node.measures for node in self._keys.nodes)

    @property
    def components(self) -> list[str]:
        """The names of all rewards that are logged by themselves."""
        return [name for name, _ in self.names.components]

    @property
    def terms(self) -> list[str]:
        """The names of the additive terms of the total."""
        return [name for name, _ in self.names.terms]

    def traps(self) -> list[str]:
        """What in the tree will probably not do what its author wants, in sentences."""
        found = []
        if isinstance(self.reward, WeightedSum):
            first = self.reward.items[0][0]
            if isinstance(first, Schedule) and all(weight == first for weight, _ in self.reward.items):
                found.append(
                    f"the schedule {first!r} multiplies the whole reward alike: GRPO normalises within the group, "
                    "which cancels it; schedule a part of the reward instead"
                )
        earning = {leaf for _, node in self.names.terms for leaf in leaves(node)}
        for node in self._keys.nodes:
            found += node.traps(earning)
        return found

    def check(self, batch: Batch) -> None:
        """Raises a BindingError if the batch lacks what a reward of the tree asks for."""
        for node in self._keys.nodes:
            node.check(batch)

    def score(self, batch: Batch, *, strict: bool = True, stops: bool = True) -> ScoreTable:
        """All components, terms and the total of `batch`.

        Args:
            strict: a bug of a reward function raises; otherwise it scores the lowest bound and is reported.
            stops: what must stop the run raises; otherwise it fails all samples of its component, and ``table.stop``
                says why.

        Raises:
            BindingError: a column or argument is missing.
            CoercionError: a column's value does not fit its annotation.
            RewardFailure: a reward function's bug while `strict`, a failure under policy "raise", an unknown route.
            RunStopped: no later sample would be scored either.
        """
        self.check(batch)
        evaluation = _Evaluation(self, batch, strict, stops)
        root = evaluation.driver.run(evaluation.walk(self.reward, self._followed))
        terms, weights, reached = evaluation.terms(root)
        names = dict(self.names.components)
        timings = {name: evaluation.seconds.get(self._keys.key(node), 0.0) for name, node in names.items()}
        return ScoreTable(
            completions=batch.texts,
            components={name: evaluation.component(node) for name, node in names.items()},
            terms=terms,
            total=np.where(root.contributing, root.values, np.nan),
            weights=weights,
            reached=reached,
            passed=evaluation.passed(),
            gauges={
                f"{gauge}/{name}": value
                for name, node in self.names.gauged
                for gauge, value in node.gauges(batch.progress).items()
            },
            measures=evaluation.named_measures(),
            timings=timings,
            faults=tuple(evaluation.faults),
        )


@dataclass(slots=True)
class _Memo:
    """What is known of one node: evaluated in ``covered``, wanted in ``asked``, not applicable in ``unrouted``."""

    column: Column
    covered: Rows
    asked: Rows
    unrouted: Rows
    tasks: list[Task] = field(default_factory=list)


class _Evaluation:
    """One tree over one batch; the `Scoring` that nodes see."""

    def __init__(self, scorer: Scorer, batch: Batch, strict: bool, stops: bool) -> None:
        self.scorer = scorer
        self._batch = batch
        self._strict = strict
        self._stops = stops
        self.driver = Driver()
        self.memos: dict[int, _Memo] = {}
        self.seconds: dict[int, float] = {}
        self.measures: dict[Reward, Measured] = {}
        self.gates: dict[int, tuple[int, int]] = {}
        self.faults: list[Fault] = []

    @property
    def batch(self) -> Batch:
        return self._batch

    @property
    def strict(self) -> bool:
        return self._strict

    def _memo(self, reward: Reward) -> _Memo:
        key = self.scorer._keys.key(reward)
        if key not in self.memos:
            size = self._batch.size
            none = np.zeros(size, dtype=np.bool_)
            self.memos[key] = _Memo(Column.empty(size), none, none.copy(), none.copy())
        return self.memos[key]

    async def walk(self, root: Reward, followed: Sequence[Reward]) -> Column:
        """The column of `root`; then those of what schedules follow, on all rows where they apply."""
        everything = np.ones(self._batch.size, dtype=np.bool_)
        (column,) = await self.columns([(root, everything)])
        if followed:
            await self.columns([(reward, self._applied[self.scorer._keys.key(reward)]) for reward in followed])
        return column

    @cached_property
    def _applied(self) -> dict[int, Rows]:
        """The rows in which each node applies: those of its own routes, gates open or not."""
        found: dict[int, Rows] = {}
        stack = [(self.scorer.reward, np.ones(self._batch.size, dtype=np.bool_))]
        while stack:
            node, rows = stack.pop()
            key = self.scorer._keys.key(node)
            found[key] = found.get(key, False) | rows
            stack += zip(node.children, node.applied(self._batch, rows), strict=True)
        return found

    async def columns(self, requests: Sequence[tuple[Reward, Rows]]) -> list[Column]:
        memos = []
        for reward, rows in requests:
            memo = self._memo(reward)
            memo.asked |= rows
            missing = rows & ~memo.covered
            if missing.any():
                reached = reward.reach(self._batch, missing)
                if (reached & ~missing).any():  # a whole group or batch, but never the rows of another route
                    reached &= self._applied[self.scorer._keys.key(reward)] | missing
                missing = reached & ~memo.covered
                memo.covered |= missing
                memo.tasks.append(self.driver.start(self._fill(reward, missing, memo)))
            memos.append(memo)
        running = [task for memo in memos for task in memo.tasks if not task.done]
        if running:
            await Finished(running)
        return [memo.column for memo in memos]

    async def _fill(self, reward: Reward, rows: Rows, memo: _Memo) -> None:
        column = await reward.evaluate(self, rows)
        if rows.all():
            memo.column = column
        else:
            memo.column.fill(rows, column)

    def column(self, reward: Reward) -> Column:
        return self._memo(reward).column

    async def turn(self) -> None:
        await Turn()

    async def background(self, work: Coroutine[Any, Any, Any]) -> Any:
        future = in_background(work)
        await Finished(future=future)
        return future.result()

    async def finished(self, future: Future[Any]) -> None:
        await Finished(future=future)

    def timed(self, reward: Reward, seconds: float) -> None:
        key = self.scorer._keys.key(reward)
        self.seconds[key] = self.seconds.get(key, 0.0) + seconds

    def measured(self, reward: Reward, found: Measured) -> None:
        self.measures[reward] = self.measures[reward] + found if reward in self.measures else found

    def named_measures(self) -> dict[str, Measured]:
        """What was measured, by component; that of a renamed reward under its new name."""
        names = {node.reward: name for name, node in self.scorer.names.components if isinstance(node, Named)}
        names |= {node: name for name, node in self.scorer.names.components}
        return {names.get(reward, reward.name): found for reward, found in self.measures.items()}

    def faulted(self, faults: Sequence[Fault]) -> None:
        for fault in faults:
            if fault.stops and self._stops:
                raise RunStopped(fault.reason)
        self.faults += faults

    def gate_passed(self, gate: Reward, reached: Rows, passed: Rows) -> None:
        key = self.scorer._keys.key(gate)
        before, through = self.gates.get(key, (0, 0))
        self.gates[key] = before + int(reached.sum()), through + int(passed.sum())

    def unrouted(self, reward: Reward, rows: Rows) -> None:
        self._memo(reward).unrouted |= rows
        for child in reward.children:
            self.unrouted(child, rows)

    def passed(self) -> dict[str, tuple[int, int]]:
        """Each gate's rows that reached it, and that it let through."""
        return {name: self.gates.get(self.scorer._keys.key(gate), (0, 0)) for name, gate in self.scorer.names.gates}

    def component(self, reward: Reward) -> Column:
        """The column of one component, with what nobody asked for left out."""
        memo = self._memo(reward)
        column = memo.column
        if memo.asked.all():
            return column
        codes = np.where(memo.asked, column.codes, np.where(memo.unrouted, ABSTAINED, SKIPPED)).astype(np.int8)
        notes = {row: note for row, note in column.notes.items() if memo.asked[row]}
        parts = {name: np.where(memo.asked, part, np.nan) for name, part in column.parts.items()}
        return Column(np.where(memo.asked, column.values, np.nan), codes, notes, parts)

    def terms(self, root: Column) -> tuple[dict[str, Floats], dict[str, float], dict[str, int]]:
        """Each term's values (n,), its weight in this batch, and how many rows it counts in."""
        size = self._batch.size
        shares: dict[int, list[Share]] = {}
        everything = Share(1.0, np.ones(size, dtype=np.bool_))
        stack = [(self.scorer.reward, everything)]
        while stack:
            node, share = stack.pop()
            if node.addends is None:
                shares.setdefault(self.scorer._keys.key(node), []).append(share)
            else:
                stack += node.distribute(self, share)
        terms: dict[str, Floats] = {}
        weights: dict[str, float] = {}
        reached: dict[str, int] = {}
        for name, node in self.scorer.names.terms:
            parts = shares.get(self.scorer._keys.key(node), [])
            terms[name] = _term(parts, self.column(node), root.contributing)
            # Where it is switched on; if it is nowhere, where it would be.
            on = [share.reached & (share.weight != 0.0) for share in parts]
            rows = np.logical_or.reduce(on) if parts else np.zeros(size, dtype=np.bool_)
            rows = rows if rows.any() or not parts else np.logical_or.reduce([share.reached for share in parts])
            reached[name] = int(rows.sum())
            if reached[name]:
                weights[name] = _mean_weight(parts, rows)
        return terms, weights, reached


def _term(shares: Sequence[Share], column: Column, scorable: Rows) -> Floats:
    """The share of the total that one node causes: NaN where it abstained or nothing counts, 0 where it is off."""
    values = np.zeros(len(scorable))
    live = np.zeros(len(scorable), dtype=np.bool_)
    closed = np.zeros(len(scorable), dtype=np.bool_)
    for share in shares:
        closed |= ~share.reached
        counts = share.reached & (share.weight != 0.0)
        live |= counts
        values += np.where(counts & column.contributing, share.weight * column.values, 0.0)
    # Behind a closed gate it counts as scored, even where it abstained in another place.
    values[(live & ~column.contributing & ~closed) | ~scorable] = np.nan
    return values


def _mean_weight(shares: Sequence[Share], reached: Rows) -> float:
    """The weight of one node over the rows (n,) that `reached` it."""
    if len(shares) == 1 and isinstance(shares[0].weight, float):
        return shares[0].weight
    weights = np.sum([np.where(share.reached, share.weight, 0.0) for share in shares], axis=0)[reached]
    return float(weights[0] if (weights == weights[0]).all() else weights.mean())


def score(
    reward: Reward,
    completions: Iterable[Any],
    /,
    *,
    prompts: Iterable[Any] | None = None,
    completion_ids: Iterable[Any] | None = None,
    progress: Progress | None = None,
    **columns: Iterable[Any],
) -> ScoreTable:
    """Scores completions outside of training: in a notebook or a test.

    ::

        table = rk.score(rk.number("answer"), ["<answer>42</answer>", "dunno"], answer=["42", "7"])
        table.total      # array([1., 0.])

    Args:
        reward: the tree to score with.
        completions: n texts, or conversational completions (lists of messages).
        prompts: n prompts, texts or lists of messages.
        completion_ids: n lists of token ids.
        progress: where training stands; without it schedules stand at their end value.
        columns: the dataset's columns, n values each.

    Raises:
        BindingError: a column is missing, too short, or has a reserved name.
        CoercionError: a column's value does not fit the annotation.
        RewardFailure: a reward function raised or returned nonsense.
    """
    batch = Batch(completions, prompts=prompts, completion_ids=completion_ids, columns=columns, progress=progress)
    return Scorer(reward).score(batch)
