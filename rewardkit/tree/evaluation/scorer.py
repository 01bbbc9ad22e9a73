"""Scorer: a compiled tree that scores batches.

``Scorer(0.7 * a + 0.3 * b).score(Batch(["..."]))`` evaluates each node once, for the rows that need it. It returns a
ScoreTable with the raw components, the additive terms, and the total.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from queue import SimpleQueue
from typing import Any, get_args

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column, Floats, Rows, Share
from rewardkit.batch.logs import OF_TRAINERS
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.score import ABSTAINED, SCORED, SKIPPED, Fault, Measured
from rewardkit.batch.table import ScoreTable
from rewardkit.batch.trajectory import IsError
from rewardkit.errors import (
    BindingError,
    CoercionError,
    RewardDefinitionError,
    RewardFailure,
    RewardKitError,
    RunStopped,
    shorten,
)
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import weight_now
from rewardkit.tree.conversion import RewardLike
from rewardkit.tree.evaluation import observers
from rewardkit.tree.evaluation.calls import Pending, TimedResults, make
from rewardkit.tree.evaluation.plan import Plan
from rewardkit.tree.parameters import OnUnparsableGold
from rewardkit.tree.results import LARGEST
from rewardkit.tree.reward import Calls, Request, Reward, Steps, SubBatch, child_rows

# Run: the evaluation of a tree over one batch, each node once, on the rows that need it.


def advance_steps(steps: Steps, answer: Any) -> Any:
    """Send `answer` to a node's generator and return the next request; float overflows become infinite."""
    with np.errstate(over="ignore", invalid="ignore"):  # reported once, with the name of the node, by `overflow`
        return steps.send(answer)


@dataclass(slots=True, eq=False)
class Memo:
    """The current results of one node.

    Attributes:
        covered: (n,) the rows in which the node was evaluated, or None for no rows.
        asked: (n,) the rows that need the node's value, or None for no rows.
        column: the node's values, or None before the first evaluation.
        unrouted: (n,) the rows in which the node does not apply.
        passed: for a gate, the rows (n,) that reached it and the rows that passed it.
        seconds: the duration of the node's function calls.
        running: the tasks that are evaluating the node.
    """

    covered: Rows | None = None
    asked: Rows | None = None
    column: Column | None = None
    unrouted: Rows | None = None
    passed: tuple[Rows, Rows] | None = None
    seconds: float = 0.0
    running: list[Any] = field(default_factory=list)


class Run:
    """The evaluation of one tree for one batch.

    Args:
        strict: raise an exception if a reward function has a bug.
        stops: raise an exception if the run must stop.
        on_unparsable_gold: the effect of a gold cell that a ready reward cannot read. A reward's own setting takes
            precedence.
    """

    def __init__(
        self, plan: Plan, batch: Batch, strict: bool, stops: bool, on_unparsable_gold: OnUnparsableGold = "raise"
    ) -> None:
        self.plan = plan
        self.batch = batch
        self.strict = strict
        self.on_unparsable_gold = on_unparsable_gold
        self.label = plan.label
        self.measures: dict[Reward, Measured] = {}
        self.faults: list[Fault] = []
        self._stops = stops
        self._memos: dict[int, Memo] = {}

    def memo(self, reward: Reward) -> Memo:
        """Return the results that `reward` shares with all equal nodes."""
        memo = self._memos.get(id(reward))
        if memo is None:
            first = self.plan.first(reward)
            memo = Memo() if first is reward else self.memo(first)
            self._memos[id(reward)] = memo
        return memo

    def evaluated(self, reward: Reward, rows: Rows) -> Column:
        """Evaluate `reward` depth first for the `rows` that have not been evaluated yet; return its column."""
        memo = self.memo(reward)
        missing = self.missing(reward, memo, rows)
        if missing is None:
            return memo.column or Column.empty(self.batch.size)
        steps: Steps = reward._evaluate(self, missing)
        answer: object = None
        try:
            while True:
                try:
                    demand = advance_steps(steps, answer)
                except StopIteration as end:
                    return self.keep(memo, missing, end.value)
                if isinstance(demand, Calls):
                    answer = self.taken(demand.reward, memo, make(demand, self.label(demand.reward)))
                elif isinstance(demand, SubBatch):
                    answer = self.of_pieces(demand, memo, lambda inner: inner.evaluated)
                else:
                    answer = columns = []
                    for child, needed in demand:
                        columns.append(self.evaluated(child, needed))
        except RewardKitError as error:
            self.plan.blame(error, reward)
            raise

    def missing(self, reward: Reward, memo: Memo, rows: Rows) -> Rows | None:
        """Return the rows for which `reward` must still be evaluated (whole groups if it needs them), or None."""
        memo.asked = rows if memo.asked is None else memo.asked | rows
        if memo.covered is None and rows is self.batch.everywhere and len(rows):
            memo.covered = rows
            return rows
        missing = rows if memo.covered is None else rows & ~memo.covered
        if not missing.any():
            return None
        sees = reward.facts.sees
        if sees != "sample":
            visible = self.batch.whole_groups(missing) if sees == "group" else np.ones_like(missing)
            if (visible & ~missing).any():  # the whole group or batch, without the rows of other routes
                missing = missing | visible & self.applied[self.plan.first(reward)]
                if memo.covered is not None:
                    missing &= ~memo.covered
        memo.covered = missing if memo.covered is None else memo.covered | missing
        return missing

    def keep(self, memo: Memo, rows: Rows, column: Column) -> Column:
        """Store a node's values for `rows`; return the updated column."""
        if memo.column is None:
            # A node may return the column of a child, which also has values in other rows.
            every = rows is self.batch.everywhere or rows.all()
            memo.column = column if every else Column.empty(len(rows)).extended(rows, column)
        else:
            memo.column.extended(rows, column)
        return memo.column

    def taken(self, reward: Reward, memo: Memo, outcome: TimedResults) -> list[object]:
        """Return the results of the calls, and record their duration and measurements."""
        memo.seconds += outcome.seconds
        if outcome.measured is not None:
            self.measured(reward, outcome.measured)
        return outcome.results

    def of_pieces(
        self, sub_batch: SubBatch, memo: Memo, evaluator_of: Callable[[Run], Callable[[Reward, Rows], Column]]
    ) -> tuple[Column, list[Fault]]:
        """Evaluate a child for pieces of completions, which form a separate batch; return its column and faults."""
        inner = Run(self.plan, sub_batch.batch, self.strict, self._stops, self.on_unparsable_gold)
        with observers.observed_by(None):  # its rows are not those of the batch
            column = evaluator_of(inner)(sub_batch.reward, sub_batch.batch.everywhere)
        for reward, usage in inner.measures.items():
            self.measured(reward, usage)
        memo.seconds += sum({id(inner_memo): inner_memo.seconds for inner_memo in inner._memos.values()}.values())
        return column, inner.faults

    @cached_property
    def applied(self) -> dict[Reward, Rows]:
        """The rows to which each node applies according to the routes above it, whether or not gates are open."""
        rows_by_node: dict[Reward, Rows] = {}
        stack = [(self.plan.root, self.batch.everywhere)]
        while stack:
            node, rows = stack.pop()
            first = self.plan.first(node)
            rows_by_node[first] = rows_by_node.get(first, False) | rows
            stack += zip(node.children, child_rows(node, self.batch, rows), strict=True)
        return rows_by_node

    # The `Evaluation` protocol, which nodes use

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

    def measured(self, reward: Reward, usage: Measured) -> None:
        self.measures[reward] = self.measures[reward] + usage if reward in self.measures else usage

    def overflow(self) -> None:
        """Raise RewardFailure if a node's score for a row, such as a product, is too large for a float."""
        for node in self.plan.nodes:
            memo = self._memos.get(id(node))
            column = None if memo is None else memo.column
            if column is not None and not np.isfinite(column.values).all():
                rows = np.flatnonzero(~np.isfinite(column.values) & (column.codes == SCORED))
                if len(rows):
                    error = RewardFailure(
                        f"reward {shorten(self.label(node) or node)} is {column.values[rows[0]]:g} in row {rows[0]}: "
                        "the numbers that it combines are too large. Scale down these numbers, or limit them: "
                        "reward.clip(low, high)"
                    )
                    self.plan.blame(error, node)
                    raise error

    def component(self, memo: Memo) -> Column:
        """Return one component's column for the table, without values in the rows that did not need one."""
        column = memo.column or Column.empty(self.batch.size)
        needed = np.zeros(self.batch.size, dtype=np.bool_) if memo.asked is None else memo.asked
        if needed is self.batch.everywhere or needed.all():
            return column
        absent = SKIPPED if memo.unrouted is None else np.where(memo.unrouted, ABSTAINED, SKIPPED)
        codes = np.where(needed, column.codes, absent).astype(np.int8)
        notes = {row: note for row, note in column.notes.items() if needed[row]}
        parts = {name: np.where(needed, part, np.nan) for name, part in column.parts.items()}
        turns = {row: shares for row, shares in column.turns.items() if needed[row]}
        return Column(np.where(needed, column.values, np.nan), codes, notes, parts, turns=turns)


# Scheduler: evaluates trees with rewards that wait: async rewards, judges, worker processes.


@dataclass(slots=True, eq=False)
class _Task:
    """A node in progress, with its pending requests and the tasks that wait for it."""

    reward: Reward
    steps: Steps
    memo: Memo
    rows: Rows
    requests: Sequence[Request] = ()
    calls: Calls | None = None
    pending: Pending | None = None
    left: int = 0
    """The number of nodes or futures that the task still waits for."""
    waiters: list[_Task] = field(default_factory=list)


class Scheduler:
    """The scheduler of one `run`, which evaluates nodes while other nodes wait."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._ready: deque[tuple[_Task, Any]] = deque()
        self._turns: deque[_Task] = deque()
        self._arrived: SimpleQueue[_Task] = SimpleQueue()
        self._pending: set[_Task] = set()

    def evaluated(self, reward: Reward, rows: Rows) -> Column:
        """Evaluate `reward` and return its column; an exception in any node stops all pending calls."""
        root = self._started(reward, rows)
        try:
            while root.running:
                self._advance()
            return self._run.column(reward)
        finally:
            for task in self._pending:
                if task.pending is not None:
                    task.pending.stop()

    def _started(self, reward: Reward, rows: Rows) -> Memo:
        memo = self._run.memo(reward)
        missing = self._run.missing(reward, memo, rows)
        if missing is not None:
            task = _Task(reward, reward._evaluate(self._run, missing), memo, missing)
            memo.running.append(task)
            self._ready.append((task, None))
        return memo

    def _advance(self) -> None:
        """Continue a node that is ready. If there is none, run a synchronous function; otherwise, wait."""
        while not self._arrived.empty():
            self._arrival(self._arrived.get())
        if self._ready:
            self._step(*self._ready.popleft())
        elif self._turns:
            task = self._turns.popleft()
            assert task.calls is not None
            reward = task.calls.reward
            self._step(task, self._run.taken(reward, task.memo, make(task.calls, self._run.label(reward))))
        elif self._pending:
            self._arrival(self._arrived.get())
        else:
            raise RuntimeError("rewards in this tree wait for each other. Report this as a bug in rewardkit")

    def _step(self, task: _Task, answer: Any) -> None:
        try:
            demand = advance_steps(task.steps, answer)
        except StopIteration as end:
            self._finish(task, end.value)
            return
        except RewardKitError as error:
            self._blame(error, task)
            raise
        if isinstance(demand, SubBatch):
            outcome = self._run.of_pieces(demand, task.memo, lambda inner: Scheduler(inner).evaluated)
            self._ready.append((task, outcome))
        elif not isinstance(demand, Calls):
            self._ask(task, demand)
        elif demand.binding.waits and demand.make is None:
            self._wait(task, demand)
        else:
            task.calls = demand
            self._turns.append(task)

    def _blame(self, error: RewardKitError, task: _Task) -> None:
        self._run.plan.blame(error, task.reward)
        for waiter in task.waiters:
            self._blame(error, waiter)

    def _ask(self, task: _Task, requests: Sequence[Request]) -> None:
        task.requests = requests
        running = [subtask for reward, rows in requests for subtask in self._started(reward, rows).running]
        task.left = len(running)
        for other in running:
            other.waiters.append(task)
        if not running:
            self._answer(task)

    def _answer(self, task: _Task) -> None:
        self._ready.append((task, [self._run.column(reward) for reward, _ in task.requests]))

    def _wait(self, task: _Task, calls: Calls) -> None:
        task.calls, task.pending = calls, Pending(calls, self._run.label(calls.reward))
        self._pending.add(task)
        task.left = len(task.pending.futures)
        for future in task.pending.futures:
            future.add_done_callback(lambda _: self._arrived.put(task))
        if not task.pending.futures:
            task.left = 1
            self._arrived.put(task)

    def _arrival(self, task: _Task) -> None:
        task.left -= 1
        if task.left == 0:
            assert task.calls is not None
            assert task.pending is not None
            self._pending.discard(task)
            task.pending.stop()
            self._ready.append((task, self._run.taken(task.calls.reward, task.memo, task.pending.made())))

    def _finish(self, task: _Task, column: Column) -> None:
        self._run.keep(task.memo, task.rows, column)
        task.memo.running.remove(task)
        for waiter in task.waiters:
            waiter.left -= 1
            if waiter.left == 0:
                self._answer(waiter)


# Terms: split the total of a batch into shares, from the root of the tree down to single rewards.


def require_float32(terms: Mapping[str, Floats], total: Floats) -> None:
    """Raise RewardFailure if a total or a term is too large for float32, which trainers use."""
    with np.errstate(invalid="ignore"):  # NaN
        if not any(np.any(np.abs(values) > LARGEST) for values in (total, *terms.values())):
            return
        sizes = np.abs([total, *terms.values()])
    row = int(np.argmax(np.nan_to_num(sizes, posinf=np.inf).max(axis=0)))
    shares = ", ".join(f"{name} {values[row]:g}" for name, values in terms.items() if values[row])
    error = RewardFailure(
        f"the total in row {row} is {total[row]:g} (terms: {shares}), but trainers use float32, whose largest number "
        f"is {LARGEST:.2g}. Scale down the largest term, or limit it: reward.clip(low, high)"
    )
    error.component = max(terms, key=lambda name: abs(float(np.nan_to_num(terms[name][row]))), default="")
    raise error


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms for a batch of n completions, by name.

    Attributes:
        values: (n,) the term's share of the total.
        weights: the term's weight in this batch, averaged over the rows where the term counts.
        reached: the number of rows where the term counts.
    """

    values: dict[str, Floats]
    weights: dict[str, float]
    reached: dict[str, int]


_Part = tuple["float | Floats", "Rows | None"]
"""The share of a term at one place in the tree: a weight, and the rows where it counts (None for all rows)."""


def terms_of(run: Run, root: Column) -> Terms:
    """Return the terms of an evaluation, given the column of its root."""
    terms = Terms({}, {}, {})
    parts = _parts(run)
    size = run.batch.size
    for name, node in run.plan.names.terms:
        node_parts, column = parts.get(id(run.plan.first(node)), []), run.column(node)
        if (
            root.complete
            and column.complete
            and len(node_parts) == 1
            and node_parts[0][1] is None
            and isinstance(node_parts[0][0], float)
        ):
            weight = node_parts[0][0]  # one weight for all rows, and nothing has to be masked
            terms.values[name] = weight * column.values + 0.0  # -0.0 + 0.0 is 0.0
            terms.weights[name], terms.reached[name] = float(weight), size
            continue
        masked = [(weight, run.batch.everywhere if rows is None else rows) for weight, rows in node_parts]
        terms.values[name] = _values(masked, column, root.contributing)
        counting = _counting(masked)
        terms.reached[name] = 0 if counting is None else int(counting.sum())
        if counting is not None and terms.reached[name]:
            terms.weights[name] = _mean_weight(masked, counting)
    return terms


def _parts(run: Run) -> dict[int, list[_Part]]:
    """Return the parts of each term, by node id because hashing a tree is slow."""
    parts: dict[int, list[_Part]] = {}
    stack: list[tuple[Reward, float | Floats, Rows | None]] = [(run.plan.root, 1.0, None)]
    while stack:
        node, weight, reached = stack.pop()
        addends = node.facts.addends
        if addends is None:
            parts.setdefault(id(run.plan.first(node)), []).append((weight, reached))
            continue
        for addend, share in zip(addends, run.column(node).shares or _unevaluated(run, node), strict=False):
            joint = share.reached if reached is None else reached
            if reached is not None and share.reached is not None:
                joint = reached & share.reached
            stack.append((addend, weight * share.weight, joint))
    return parts


def _unevaluated(run: Run, node: Reward) -> list[Share]:
    """Return the shares for a sum that was not evaluated (its weight is zero); empty if they depend on the rows."""
    return [Share(weight_now(weight, run.batch.progress)) for weight in node.facts.weights or ()]


def _values(parts: list[tuple[float | Floats, Rows]], column: Column, scorable: Rows) -> Floats:
    """Return a term's values (n,): NaN if it abstained, 0 if its weight is zero or a gate above it is closed."""
    size = len(scorable)
    values = np.zeros(size)
    live, closed = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
    contributing = column.contributing
    for weight, reached in parts:
        closed |= ~reached
        counts = reached & (weight != 0.0)
        live |= counts
        values += np.where(counts & contributing, weight * column.values, 0.0)
    # Behind a closed gate, a term counts as scored, even if it abstained elsewhere in the tree.
    values[(live & ~contributing & ~closed) | ~scorable] = np.nan
    return values


def _counting(parts: list[tuple[float | Floats, Rows]]) -> Rows | None:
    """Return the rows (n,) where a term has a nonzero weight; if there are none, the rows that it reached."""
    if not parts:
        return None
    on, anywhere = np.zeros_like(parts[0][1]), np.zeros_like(parts[0][1])
    for weight, reached in parts:
        anywhere |= reached
        on |= reached & (weight != 0.0)
    return on if on.any() else anywhere


def _mean_weight(parts: list[tuple[float | Floats, Rows]], rows: Rows) -> float:
    """Return the mean weight of a term over the `rows` (n,) where it counts."""
    if len(parts) == 1 and isinstance(parts[0][0], float):
        return parts[0][0]
    weights = np.sum([np.where(reached, weight, 0.0) for weight, reached in parts], axis=0)[rows]
    return float(weights[0] if (weights == weights[0]).all() else weights.mean())


class Scorer:
    """A compiled tree that scores batches. It does not store results, so threads can share it.

    Args:
        reward: the tree, a plain function, or a list of rewards and functions.

    Attributes:
        reward: the tree.
        names: the names of components, terms, and gates, and the nodes that have them.
        components: the names of all logged rewards.
        terms: the names of the additive terms of the total.
        followers: the schedules that follow a component's mean.
        together: the rows that must be in the same batch for the scores to be correct: one row, all completions for a
            prompt, or all rows.
        scheduled: whether scores depend on training progress, through a schedule or a function that reads the progress.
        waits: whether scoring waits for something, such as an endpoint or a worker process.
        measures: whether score tables may have measurements: calls, tokens, money.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: two different rewards in the tree have the same name.
    """

    def __init__(self, reward: RewardLike | Sequence[Any]) -> None:
        self._plan = plan = Plan(reward)
        self.reward, self.names = plan.root, plan.names
        self.components = [name for name, _ in plan.names.components]
        self.terms = [name for name, _ in plan.names.terms]
        self.followers, self.together, self.scheduled = plan.followers, plan.together, plan.scheduled
        self.waits, self.measures = plan.waits, plan.measures

    def traps(self) -> list[str]:
        """Return warnings about parts of the tree that probably do not work as intended."""
        return list(self._plan.traps())

    def late(self, max_steps: int) -> list[str]:
        """Return a warning for each schedule or stage whose first change comes after the last training step."""
        return list(dict.fromkeys(self._plan.late(max_steps)))

    def check(self, batch: Batch) -> None:
        """Raise a BindingError if the batch lacks columns that a reward in the tree needs."""
        self._plan.check(batch)

    def score(
        self,
        batch: Batch,
        *,
        strict: bool = True,
        stops: bool = True,
        on_unparsable_gold: OnUnparsableGold = "raise",
    ) -> ScoreTable:
        """Return all components, terms, and the total for `batch`.

        Args:
            strict: raise an exception if a reward function has a bug; if False, use the lowest bound as the score and
                report the bug.
            stops: raise an exception if the run must stop; if False, mark all of the component's samples as failed and
                set ``table.stop``.
            on_unparsable_gold: the effect of a gold cell that a ready reward cannot read: ``"raise"`` raises a
                CoercionError; ``"fail"`` leaves only that row without a score, as in training. If a reward sets this
                option itself, the reward's setting takes precedence.

        Raises:
            BindingError: a column or argument is missing.
            CoercionError: a column's value does not fit its annotation.
            RewardBug: a reward function has a bug, and `strict` is True.
            RewardFailure: a score cannot be computed and the policy is "raise", or a row's route is unknown.
            RunStopped: the run must stop, because every later sample would also fail.
        """
        if on_unparsable_gold not in get_args(OnUnparsableGold):
            raise RewardDefinitionError(
                f'on_unparsable_gold must be "raise" or "fail", got {shorten(on_unparsable_gold)}'
            )
        plan = self._plan
        plan.check(batch)
        run = Run(plan, batch, strict, stops, on_unparsable_gold)
        evaluated = Scheduler(run).evaluated if plan.waits else run.evaluated
        root = evaluated(plan.root, batch.everywhere)
        for reward in plan.followed:
            evaluated(reward, run.applied[plan.first(reward)])
        batch.logs.flush()
        return _table(run, root)


def _table(run: Run, root: Column) -> ScoreTable:
    names, nowhere = run.plan.names, np.zeros(run.batch.size, dtype=np.bool_)
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
        measures={run.label(reward): measured for reward, measured in run.measures.items()},  # by the tree's names
        timings={name: memo.seconds for name, memo in memos.items()},
        faults=tuple(run.faults),
        metrics=run.batch.logs.metrics,
        extras=run.batch.logs.extras,
    )


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
    """Score completions outside training, such as in a notebook or a test.

    ::

        table = rk.score(rk.number("answer"), ["<answer>42</answer>", "dunno"], answer=["42", "7"])
        table.total      # array([1., 0.])

    Args:
        reward: the reward tree. As in `to_trl`, it can also be a plain function, or a list of rewards and functions.
        completions: n strings, or n conversational completions (lists of messages).
        prompts: n prompts, as strings or lists of messages.
        completion_ids: n lists of token ids.
        progress: the training progress. Without it, schedules use their final values.
        num_generations: the number of completions per prompt, for rewards that compare the completions in a group. By
            default, a group consists of consecutive rows with the same prompt and columns.
        environments: n environments after their rollouts, for ``rk.agents.final_state`` and
            ``rk.agents.environment_reward``.
        is_error: a function that accepts a tool result's text and, if the result is an error, returns True or the error
            message. By default, a result is an error if it is an object whose only key is ``error``, which is TRL's
            format.
        columns: the dataset's columns, with n values each.

    Raises:
        RewardTypeError: `reward` is not a reward.
        BindingError: a column is missing, is too short, or has a reserved name; or the reward compares groups, but the
            groups are unknown.
        CoercionError: a column's value does not fit the annotation.
        RewardBug: a reward function raised an exception, or returned something that is not a score.
    """
    scorer = Scorer(reward)
    for name in OF_TRAINERS:
        if name in columns:
            raise BindingError(
                f"{name!r} is not a column: functions that request it receive it automatically. Remove it. To score "
                "as at a certain point in training, pass progress=rk.Progress(step, max_steps)"
            )
    if is_error is not None and not callable(is_error):
        raise BindingError(
            f"is_error= must be a function that accepts a result's text, got {shorten(is_error)}. If it is "
            "a column, rename it"
        )
    if isinstance(environments, (str, bytes)) or not isinstance(environments, Iterable | None):
        raise BindingError(
            f"environments= must be a list with one environment per completion, got {shorten(environments)}"
        )
    live = None if environments is None else list(environments)
    kind = next((environment for environment in live or () if isinstance(environment, type)), None)
    if kind is not None:
        raise BindingError(
            f"environments= must contain environment instances after their rollouts, got the class {kind.__name__!r}"
        )
    recorded: Mapping[str, Any] = {}
    if live is not None:
        from rewardkit.batch.environments import journals  # imported late: large, and few batches have environments

        recorded = journals(live)
    batch = Batch(
        completions,
        prompts=prompts,
        completion_ids=completion_ids,
        columns=columns,
        progress=progress,
        num_generations=num_generations,
        context=None if live is None else {"environments": live},
        rollouts=RolloutInfo(is_error=is_error, **recorded),
    )
    if live is not None and len(live) != len(batch):
        raise BindingError(
            f"environments has {len(live)} values for {len(batch)} completions: pass one environment per completion"
        )
    if num_generations is not None and (type(num_generations) is not int or num_generations < 1):
        raise BindingError(f"num_generations must be a whole number of completions, got {shorten(num_generations)}")
    if num_generations is not None and len(batch) % num_generations:
        raise BindingError(
            f"num_generations={num_generations} does not evenly divide the {len(batch)} completions. Pass only "
            "complete groups"
        )
    try:
        return scorer.score(batch)
    except (BindingError, CoercionError) as error:
        # The fault is in the data, and the frames inside of rewardkit would hide the message.
        raise error.with_traceback(None) from error.__cause__
