"""Run: the evaluation of a tree over one batch, each node once, on the rows that need it.

It drives the generators of the nodes: evaluates the children that a node asks for, and makes the calls of its function.
This file evaluates depth first; if any node in a tree waits, `scheduler` does it instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column, Rows
from rewardkit.batch.score import ABSTAINED, SCORED, SKIPPED, Fault, Measured
from rewardkit.errors import RewardFailure, RewardKitError, RunStopped, shorten
from rewardkit.tree.evaluation import observers
from rewardkit.tree.evaluation.calls import Made, make
from rewardkit.tree.evaluation.plan import Plan
from rewardkit.tree.parameters import OnUnparsableGold
from rewardkit.tree.reward import Calls, Pieces, Reward, Steps, applied


def advanced(steps: Steps, answer: Any) -> Any:
    """Send `answer` to a node and return what it asks for next; numbers too large for a float become infinite."""
    with np.errstate(over="ignore", invalid="ignore"):  # reported once, with the name of the node, by `overflow`
        return steps.send(answer)


@dataclass(slots=True, eq=False)
class Memo:
    """The results of one node so far.

    Attributes:
        covered: (n,) the rows where it was evaluated; None for no rows.
        asked: (n,) the rows where its value is needed; None for no rows.
        column: its values; None before it was evaluated.
        unrouted: (n,) the rows where it does not apply.
        passed: for a gate: the rows (n,) that reached it, and the rows that passed it.
        seconds: the time that its function took.
        running: the tasks that evaluate it now.
    """

    covered: Rows | None = None
    asked: Rows | None = None
    column: Column | None = None
    unrouted: Rows | None = None
    passed: tuple[Rows, Rows] | None = None
    seconds: float = 0.0
    running: list[Any] = field(default_factory=list)


class Run:
    """The evaluation of one tree over one batch.

    Args:
        strict: raise if a reward function has a bug.
        stops: raise if the run must stop.
        on_unparsable_gold: what a cell does that a ready reward cannot read, unless the reward says so itself.
    """

    def __init__(
        self, plan: Plan, batch: Batch, strict: bool, stops: bool, on_unparsable_gold: OnUnparsableGold = "raise"
    ) -> None:
        self.plan = plan
        self.batch = batch
        self.strict = strict
        self.on_unparsable_gold = on_unparsable_gold
        self.measures: dict[Reward, Measured] = {}
        self.faults: list[Fault] = []
        self._stops = stops
        self._memos: dict[int, Memo] = {}

    def memo(self, reward: Reward) -> Memo:
        """Return the results of `reward` and all nodes equal to it."""
        memo = self._memos.get(id(reward))
        if memo is None:
            first = self.plan.first(reward)
            memo = Memo() if first is reward else self.memo(first)
            self._memos[id(reward)] = memo
        return memo

    def evaluated(self, reward: Reward, rows: Rows) -> Column:
        """Evaluate `reward` in those of `rows` where it was not evaluated yet, depth first; return its column."""
        memo = self.memo(reward)
        missing = self.missing(reward, memo, rows)
        if missing is None:
            return memo.column or Column.empty(self.batch.size)
        steps: Steps = reward._evaluate(self, missing)
        answer: object = None
        try:
            while True:
                try:
                    asked = advanced(steps, answer)
                except StopIteration as end:
                    return self.keep(memo, missing, end.value)
                if isinstance(asked, Calls):
                    answer = self.taken(asked.reward, memo, make(asked, self.label(asked.reward)))
                elif isinstance(asked, Pieces):
                    answer = self.of_pieces(asked, memo, lambda inner: inner.evaluated)
                else:
                    answer = columns = []
                    for child, needed in asked:
                        columns.append(self.evaluated(child, needed))
        except RewardKitError as error:
            self.plan.blame(error, reward)
            raise

    def missing(self, reward: Reward, memo: Memo, rows: Rows) -> Rows | None:
        """Return the rows where `reward` must be evaluated now, whole groups if it needs them; None for no rows."""
        memo.asked = rows if memo.asked is None else memo.asked | rows
        if memo.covered is None and rows is self.batch.everywhere and len(rows):
            memo.covered = rows
            return rows
        missing = rows if memo.covered is None else rows & ~memo.covered
        if not missing.any():
            return None
        sees = reward.facts.sees
        if sees != "sample":
            seen = self.batch.whole_groups(missing) if sees == "group" else np.ones_like(missing)
            if (seen & ~missing).any():  # the whole group or batch, without the rows of other routes
                missing = missing | seen & self.applied[self.plan.first(reward)]
                if memo.covered is not None:
                    missing &= ~memo.covered
        memo.covered = missing if memo.covered is None else memo.covered | missing
        return missing

    def keep(self, memo: Memo, rows: Rows, column: Column) -> Column:
        """Store the values of a node in `rows`; return its column so far."""
        if memo.column is None:
            # A node may return the column of a child, which has values in other rows, too.
            every = rows is self.batch.everywhere or rows.all()
            memo.column = column if every else Column.empty(len(rows)).extended(rows, column)
        else:
            memo.column.extended(rows, column)
        return memo.column

    def taken(self, reward: Reward, memo: Memo, made: Made) -> list[object]:
        """Return the results of calls, and record their measurements."""
        memo.seconds += made.seconds
        if made.measured is not None:
            self.measured(reward, made.measured)
        return made.results

    def of_pieces(
        self, asked: Pieces, memo: Memo, way: Callable[[Run], Callable[[Reward, Rows], Column]]
    ) -> tuple[Column, list[Fault]]:
        """Evaluate a child on pieces of completions, which are a batch of their own; return its column and faults."""
        inner = Run(self.plan, asked.batch, self.strict, self._stops, self.on_unparsable_gold)
        with observers.observed_by(None):  # its rows are not those of the batch
            column = way(inner)(asked.reward, asked.batch.everywhere)
        for reward, found in inner.measures.items():
            self.measured(reward, found)
        memo.seconds += sum({id(own): own.seconds for own in inner._memos.values()}.values())
        return column, inner.faults

    @cached_property
    def applied(self) -> dict[Reward, Rows]:
        """The rows where each node applies: those of its routes, whether gates are open or not."""
        found: dict[Reward, Rows] = {}
        stack = [(self.plan.root, self.batch.everywhere)]
        while stack:
            node, rows = stack.pop()
            first = self.plan.first(node)
            found[first] = found.get(first, False) | rows
            stack += zip(node.children, applied(node, self.batch, rows), strict=True)
        return found

    # For nodes: the `Evaluation` protocol

    def label(self, reward: Reward) -> str:
        return self.plan.label(reward)

    def column(self, reward: Reward) -> Column:
        return self.memo(reward).column or Column.empty(self.batch.size)

    def passed(self, gate: Reward, reached: Rows, passed: Rows) -> None:
        memo = self.memo(gate)
        before = memo.passed
        memo.passed = (reached, passed) if before is None else (before[0] | reached, before[1] | passed)

    def unrouted(self, reward: Reward, rows: Rows) -> None:
        memo = self.memo(reward)
        memo.unrouted = rows if memo.unrouted is None else memo.unrouted | rows
        for child in reward.children:
            self.unrouted(child, rows)

    def faulted(self, faults: Sequence[Fault]) -> None:
        for fault in faults:
            if fault.stops and self._stops:
                raise RunStopped(fault.reason)
        self.faults += faults

    def measured(self, reward: Reward, found: Measured) -> None:
        self.measures[reward] = self.measures[reward] + found if reward in self.measures else found

    def overflow(self) -> None:
        """Raise RewardFailure if a node, such as a product, scored a row with a number too large for a float."""
        for node in self.plan.nodes:
            column = self.memo(node).column
            if column is not None and not np.isfinite(column.values).all():
                rows = np.flatnonzero(~np.isfinite(column.values) & (column.codes == SCORED))
                if len(rows):
                    error = RewardFailure(
                        f"reward {shorten(self.label(node) or node)} is {column.values[rows[0]]:g} in row {rows[0]}: "
                        "the numbers that it combines are too large. Scale them down, or limit them: "
                        "reward.clip(low, high)"
                    )
                    self.plan.blame(error, node)
                    raise error

    def component(self, memo: Memo) -> Column:
        """Return the column of one component for the table, without rows where its value was not needed."""
        column = memo.column or Column.empty(self.batch.size)
        asked = np.zeros(self.batch.size, dtype=np.bool_) if memo.asked is None else memo.asked
        if asked is self.batch.everywhere or asked.all():
            return column
        absent = SKIPPED if memo.unrouted is None else np.where(memo.unrouted, ABSTAINED, SKIPPED)
        codes = np.where(asked, column.codes, absent).astype(np.int8)
        notes = {row: note for row, note in column.notes.items() if asked[row]}
        parts = {name: np.where(asked, part, np.nan) for name, part in column.parts.items()}
        turns = {row: shares for row, shares in column.turns.items() if asked[row]}
        return Column(np.where(asked, column.values, np.nan), codes, notes, parts, turns=turns)
