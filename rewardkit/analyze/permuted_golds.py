"""Scoring of completions with the gold answers of other prompts, to find scores that do not depend on the answer.

``PermutedGolds(rk.exact("answer")).scores(batch)`` scores each completion with the cells of another prompt in the
batch. A completion with only the correct answer scores 0, but a completion that lists all numbers scores the same as
before.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Floats, Numbers
from rewardkit.batch.table import ScoreTable
from rewardkit.tree.binding import Binding
from rewardkit.tree.conversion import RewardLike
from rewardkit.tree.evaluation.omission import excluded
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.parameters import ENVIRONMENT, WHOLE_BATCH
from rewardkit.tree.reward import Reward, counted_nodes, walk

PROMPT, EXAMPLE = "prompt", "example"
OPT_IN = (
    "If another call costs nothing and changes nothing, declare it with @rk.reward(pure=True) or rk.from_trl(f, "
    'pure=True), or pass radar="rescore" to rk.to_trl'
)
"""The advice in all reports on how to allow more calls of a function."""


class ForeignScores(NamedTuple):
    """Completions' totals with the cells of their own prompts and of other prompts, (n,) each, or NaN if not scored.

    `form` is the part of both totals that comes from terms that do not read cells, for example, a format.
    """

    own: Floats
    foreign: Floats
    form: Floats

    @classmethod
    def unknown(cls, size: int) -> ForeignScores:
        """Return scores that are all NaN, for `size` completions that were not rescored."""
        return cls(*(np.full(size, np.nan) for _ in cls._fields))


@dataclass(frozen=True)
class _Reads:
    """The columns that a reward reads. Columns that leaves read are exchanged; columns that select a branch are not."""

    leaves: frozenset[str]
    branches: frozenset[str]

    @classmethod
    def of(cls, reward: Reward) -> _Reads:
        leaves: set[str] = set()
        branches: set[str] = set()
        for node, _, _ in walk(reward):
            binding = node.facts.binding
            if binding is None:
                branches |= set(node.facts.columns)
            else:
                # A plain function's **kwargs do not count: most plain functions that score a format have them, too.
                leaves |= {
                    parameter.source
                    for parameter in binding.parameters
                    if parameter.is_column
                    or (parameter.source in (PROMPT, EXAMPLE) and not parameter.name.startswith("**"))
                }
                leaves |= set(binding.function.columns) if binding.reads(WHOLE_BATCH) else set()  # type: ignore[attr-defined]
        return cls(frozenset(leaves), frozenset(branches))

    def exchanged(self, batch: Batch) -> list[str]:
        """Return the names of the columns to exchange in a batch, and ``"prompt"`` if the reward reads the prompt."""
        columns = [name for name in batch.columns if EXAMPLE in self.leaves or name in self.leaves]
        prompt_column = [PROMPT] if PROMPT in self.leaves and batch.prompts is not None else []
        return prompt_column + [name for name in columns if name not in self.branches]


class PermutedGolds:
    """A scorer that scores completions with the cells of other prompts.

    It only calls ready rewards and functions that are declared ``pure``. It never calls judges, reward models, tested
    programs, functions that wait, are not deterministic, or read the training progress or an environment, and
    functions from verifiers, whose gold answers cannot be exchanged.

    If a tree also contains other functions, only the additive terms without such functions are scored, in both totals.
    A product, minimum, or gate with such a function in its condition is excluded as a whole, because without one of its
    parts its score means something else. Monitors are excluded, because they do not count toward the total.

    Args:
        reward: a training run's reward.
        rescore: whether to also call the user's functions that are not declared ``pure``.

    Attributes:
        left_out: the names of the components that count toward the total but must not be called.
        undeclared: the reward's functions and ready rewards with a function as an option that are not declared
            ``pure``, by name. They are called if `rescore` is True.
        remark: a sentence that names the components that are not scored because they are not declared ``pure``,
            followed by the ways to allow it. Empty if there are no such components that read a column or the prompt.
    """

    def __init__(self, reward: RewardLike, *, rescore: bool = False) -> None:
        scorer = Scorer(reward)
        tree = scorer.reward
        names = {node.facts.stands_for: name for name, node in scorer.names.components}
        names |= {node: name for name, node in scorer.names.components}
        called = {node: binding for node in counted_nodes(tree) if (binding := node.facts.binding) is not None}
        never = {node for node, binding in called.items() if _is_never_called(binding)}
        undeclared = {node for node, binding in called.items() if node not in never and _is_undeclared(binding)}
        left_out = never if rescore else never | undeclared
        terms = list(dict.fromkeys(_excluded_terms(tree, left_out)))
        self.left_out = tuple(names.get(node, node.name) for node in called if node in left_out)
        self.undeclared = {names.get(node, node.name): called[node] for node in called if node in undeclared}
        blind = {node for term in terms if _Reads.of(term).leaves for node, _, _ in walk(term)} & undeclared
        self.remark = (
            "" if rescore or not blind else _remark([names.get(node, node.name) for node in called if node in blind])
        )
        self._scorer = Scorer(excluded(tree, terms))
        left = self._scorer.reward
        self._reads = _Reads.of(left)
        self._form = [name for name, node in self._scorer.names.terms if not _Reads.of(node).leaves]

    @property
    def possible(self) -> bool:
        """Whether the reward reads anything that can be exchanged and does not score the batch as a whole."""
        return bool(self._reads.leaves) and self._scorer.together != "batch"

    def scores(
        self,
        batch: Batch,
        *,
        groups: Collection[int] | None = None,
        donor: Batch | None = None,
        draws: int = 1,
        seed: int = 0,
    ) -> ForeignScores:
        """Score a batch with its own cells and with the cells of other prompts, using the weights at the end of
        training.

        The fixed weights make the totals at different steps comparable. Each group gets the cells of another group,
        which is drawn at random from the groups that have cells (not None) in the same columns, differ in every column
        with several values, and are equal in the columns that select a branch.

        Args:
            batch: the completions.
            groups: the numbers of the groups to score (``batch.groups``), or None for all groups.
            donor: additional rows with the same columns, whose cells may also be drawn.
            draws: the number of times that other cells are drawn. The foreign total is the mean over the draws.
            seed: the random seed for the draws.

        Raises:
            RewardKitError: as for `Scorer.score`.
        """
        foreign_scores = ForeignScores.unknown(len(batch))
        names = self._reads.exchanged(batch) if self.possible else []
        cells = batch if donor is None else _cells(batch, donor)
        random = np.random.default_rng(seed)
        partners = [self._partners(batch, cells, names, random) for _ in range(draws)]
        chosen = partners[0] >= 0  # the draw does not affect whether a partner exists
        if groups is not None:
            chosen &= np.isin(batch.groups, list(groups))
        rows = np.flatnonzero(chosen)
        if rows.size:
            own_table = self._scored(batch, rows, batch, rows, names)
            foreign_scores.own[rows] = own_table.total
            totals = [self._scored(batch, rows, cells, partner[rows], names).total for partner in partners]
            foreign_scores.foreign[rows] = np.mean(totals, axis=0)
            foreign_scores.form[rows] = sum(
                (np.nan_to_num(own_table.terms[name]) for name in self._form), np.zeros(len(rows))
            )
        return foreign_scores

    def _scored(self, batch: Batch, rows: Numbers, cells: Batch, drawn: Numbers, names: Sequence[str]) -> ScoreTable:
        """Score the completions in `rows`, with the columns `names` taken from the rows `drawn` in `cells`."""
        ids = batch.completion_ids
        prompts, prompt_rows = (cells.prompts, drawn) if PROMPT in names else (batch.prompts, rows)
        part = Batch(
            _select_rows(batch.completions, rows),
            prompts=None if prompts is None else _select_rows(prompts, prompt_rows),
            completion_ids=None if ids is None else _select_rows(ids, rows),
            columns={
                name: _select_rows(cells.columns[name], drawn) if name in names else _select_rows(values, rows)
                for name, values in batch.columns.items()
            },
            num_generations=batch.num_generations,
            rollouts=batch.rollouts.taken(rows.tolist()),
        )
        return self._scorer.score(part, strict=False, stops=False, on_unparsable_gold="fail")

    def _partners(self, batch: Batch, cells: Batch, names: Sequence[str], random: np.random.Generator) -> Numbers:
        """Return, for each row (n,), a row in `cells` from another group to take cells from, or -1 if there is none."""
        starts = np.flatnonzero(np.diff(batch.groups, prepend=-1))
        firsts = np.concatenate([starts, np.arange(len(batch), len(cells))])
        partner = np.full(len(starts), -1, dtype=np.int64)
        numbers = np.array([cells.equality(name).numbers[firsts] for name in names]).reshape(len(names), len(firsts))
        missing = np.array([_missing(cells, name, firsts) for name in names]).reshape(len(names), len(firsts))
        is_varied = (numbers != numbers[:, :1]).any(axis=1)
        varied, missing = numbers[is_varied], missing[is_varied]
        branch_columns = [
            cells.equality(name).numbers[firsts] for name in self._reads.branches if name in cells.columns
        ]
        for group in range(len(starts)) if len(varied) else ():
            none = missing[:, group, None]
            other = np.where(none, missing, ~missing & (varied != varied[:, group, None])).all(axis=0) & ~none.all()
            for column in branch_columns:
                other &= column == column[group]
            candidates = np.flatnonzero(other)
            if candidates.size:
                partner[group] = firsts[random.choice(candidates)]
        row_partners: Numbers = partner[np.searchsorted(starts, np.arange(len(batch)), side="right") - 1]
        return row_partners


def _is_never_called(binding: Binding) -> bool:
    """Return whether a function must not be called again, or cannot be scored with other gold answers."""
    costs = binding.expensive or binding.waits or not binding.deterministic or binding.follows_progress
    of_rollout = binding.reads(ENVIRONMENT) or binding.passes("environments")
    # Functions from verifiers read the gold answer from the rollout's state.
    return costs or of_rollout or (binding.foreign and not binding.reads(WHOLE_BATCH))


def _is_undeclared(binding: Binding) -> bool:
    """Return whether a call runs a function of the user's that is not declared pure."""
    if binding.pure:
        return False
    options = binding.function, *(parameter.view for parameter in binding.parameters)
    return not binding.trusted or any(map(_is_users, _functions(options)))


def _functions(value: object) -> Iterator[object]:
    """Yield the functions in a ready reward's options, such as an extractor."""
    if isinstance(value, (tuple, list, frozenset)):
        for item in value:
            yield from _functions(item)
    elif isinstance(value, Mapping):
        yield from _functions(tuple(value.values()))
    elif isinstance(value, functools.partial):
        yield from _functions((value.func, value.args))
    elif is_dataclass(value) and not isinstance(value, type):
        if callable(value):
            yield type(value)
        yield from _functions(tuple(getattr(value, field.name) for field in fields(value)))
    elif callable(value):
        yield value


def _is_users(function: object) -> bool:
    module = getattr(function, "__module__", None) or type(function).__module__
    root = module.partition(".")[0]
    return root not in ("rewardkit", "rewardkit_adapters") and root not in sys.stdlib_module_names


def _excluded_terms(node: Reward, left_out: set[Reward]) -> Iterator[Reward]:
    """Yield the smallest additive parts of a tree that contain a function that is left out, and all monitors."""
    facts = node.facts
    addends = facts.addends
    if addends == ():  # a monitor
        yield node
    elif _contains(node, left_out):
        conditions = [child for child in facts.children if child not in (addends or ())]
        if addends is None or any(_contains(child, left_out) for child in conditions):
            yield node
        else:
            for addend in addends:
                yield from _excluded_terms(addend, left_out)


def _contains(node: Reward, left_out: set[Reward]) -> bool:
    return any(below in left_out for below, _, _ in walk(node))


def _remark(names: Sequence[str]) -> str:
    return (
        f"The radar does not score {', '.join(names)} again with the gold answers of other prompts, because pure=True "
        f"is not declared, so it may miss rewards that do not depend on the correct answer. {OPT_IN}."
    )


def _missing(cells: Batch, name: str, rows: Numbers) -> list[bool]:
    """Return whether each row lacks a cell in a column because the row belongs to a different task."""
    return [name != PROMPT and cells.columns[name][row] is None for row in rows.tolist()]


def _cells(batch: Batch, donor: Batch) -> Batch:
    """Return the prompts and columns of `batch`, followed by the prompts and columns of `donor`."""
    return Batch(
        [""] * (len(batch) + len(donor)),
        prompts=None if batch.prompts is None else [*batch.prompts, *(donor.prompts or [None] * len(donor))],
        columns={name: [*values, *donor.columns[name]] for name, values in batch.columns.items()},
    )


def _select_rows(values: Any, rows: Numbers) -> list[Any]:
    return [values[row] for row in rows.tolist()]
