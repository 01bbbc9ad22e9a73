"""One evaluation: a tree over a batch, each node once, on the rows that need it.

A node's generator is driven here: where it asks for children they are evaluated, where it asks for calls of its
function they are made. Trees in which nothing waits take the plain way, depth first; `scheduler` drives the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.column import Column, Rows
from rewardkit.core.batch.score import ABSTAINED, SKIPPED, Fault, Measured
from rewardkit.core.errors import RunStopped
from rewardkit.core.evaluation.calls import Made, make
from rewardkit.core.evaluation.plan import Plan
from rewardkit.core.tree.reward import Calls, Reward, Steps, applied


@dataclass(slots=True, eq=False)
class Memo:
    """What is known of one node.

    Attributes:
        covered: (n,) the rows in which it has been evaluated.
        asked: (n,) the rows in which its value is needed.
        column: what it gave; None before it has been evaluated.
        unrouted: (n,) the rows in which it does not apply.
        passed: of a gate, the rows (n,) that reached it and that it let through.
        seconds: that its function took.
        running: the tasks that evaluate it now.
    """

    covered: Rows
    asked: Rows
    column: Column | None = None
    unrouted: Rows | None = None
    passed: tuple[Rows, Rows] | None = None
    seconds: float = 0.0
    running: list[Any] = field(default_factory=list)


class Run:
    """One tree over one batch: the `Evaluation` that its nodes see.

    Args:
        strict: a bug of a reward function raises.
        stops: what must stop the run raises.
    """

    def __init__(self, plan: Plan, batch: Batch, strict: bool, stops: bool) -> None:
        self.plan = plan
        self.batch = batch
        self.strict = strict
        self.measures: dict[Reward, Measured] = {}
        self.faults: list[Fault] = []
        self._stops = stops
        self._memos: dict[int, Memo] = {}

    def memo(self, reward: Reward) -> Memo:
        """What is known of `reward`, and of all nodes that equal it."""
        memo = self._memos.get(id(reward))
        if memo is None:
            first = self.plan.first(reward)
            if first is reward:
                nowhere = np.zeros(self.batch.size, dtype=np.bool_)
                memo = Memo(nowhere, nowhere.copy())
            else:
                memo = self.memo(first)
            self._memos[id(reward)] = memo
        return memo

    def evaluated(self, reward: Reward, rows: Rows) -> Column:
        """The column of `reward`, evaluated in `rows` where it is not yet: the plain way."""
        memo = self.memo(reward)
        missing = self.missing(reward, memo, rows)
        if missing is None:
            return memo.column or Column.empty(self.batch.size)
        steps: Steps = reward._evaluate(self, missing)
        answer: object = None
        while True:
            try:
                asked = steps.send(answer)
            except StopIteration as end:
                return self.keep(memo, missing, end.value)
            if isinstance(asked, Calls):
                answer = self.taken(asked.reward, memo, make(asked))
            else:
                answer = columns = []
                for child, needed in asked:
                    columns.append(self.evaluated(child, needed))

    def missing(self, reward: Reward, memo: Memo, rows: Rows) -> Rows | None:
        """The rows in which `reward` has to be evaluated now, those of its whole groups included; None for none."""
        memo.asked |= rows
        missing = rows & ~memo.covered
        if not missing.any():
            return None
        sees = reward.facts.sees
        if sees != "sample":
            seen = self.batch.whole_groups(missing) if sees == "group" else np.ones_like(missing)
            if (seen & ~missing).any():  # a whole group or batch, but never the rows of another route
                missing |= seen & self.applied[self.plan.first(reward)] & ~memo.covered
        memo.covered |= missing
        return missing

    def keep(self, memo: Memo, rows: Rows, column: Column) -> Column:
        """Remembers what a node gave in `rows`; gives all that is known of it now."""
        if memo.column is None:
            # A node may hand on the column of a child, which has other rows, too.
            memo.column = column if rows.all() else Column.empty(len(rows)).extended(rows, column)
        else:
            memo.column.extended(rows, column)
        return memo.column

    def taken(self, reward: Reward, memo: Memo, made: Made) -> list[object]:
        """The results of calls, with what was measured of them noted."""
        memo.seconds += made.seconds
        if made.measured is not None:
            self.measured(reward, made.measured)
        return made.results

    @cached_property
    def applied(self) -> dict[Reward, Rows]:
        """The rows in which each node applies: those of its own routes, gates open or not."""
        found: dict[Reward, Rows] = {}
        stack = [(self.plan.root, np.ones(self.batch.size, dtype=np.bool_))]
        while stack:
            node, rows = stack.pop()
            first = self.plan.first(node)
            found[first] = found.get(first, False) | rows
            stack += zip(node.children, applied(node, self.batch, rows), strict=True)
        return found

    # What nodes see

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

    # What a table takes

    def component(self, memo: Memo) -> Column:
        """The column of one component, without the rows that nothing asked for."""
        column = memo.column
        if column is not None and memo.asked.all():
            return column
        absent = SKIPPED if memo.unrouted is None else np.where(memo.unrouted, ABSTAINED, SKIPPED)
        column = column or Column.empty(self.batch.size)
        codes = np.where(memo.asked, column.codes, absent).astype(np.int8)
        notes = {row: note for row, note in column.notes.items() if memo.asked[row]}
        parts = {name: np.where(memo.asked, part, np.nan) for name, part in column.parts.items()}
        return Column(np.where(memo.asked, column.values, np.nan), codes, notes, parts)
