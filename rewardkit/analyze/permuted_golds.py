"""Scoring of completions with the gold answers of other prompts, to find scores that do not depend on the answer.

``PermutedGolds(rk.exact("answer")).scores(batch)`` scores each completion with the cells of another prompt in the
batch. A completion with only the correct answer scores 0, but a completion that lists all numbers scores the same as
before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Floats, Numbers
from rewardkit.batch.table import ScoreTable
from rewardkit.tree.conversion import RewardLike
from rewardkit.tree.evaluation.omission import binding_of, counted_nodes, omitted
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward, walk

PROMPT, EXAMPLE = "prompt", "example"


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
                leaves |= {
                    parameter.source
                    for parameter in binding.parameters
                    if parameter.is_column or parameter.source in (PROMPT, EXAMPLE)
                }
        return cls(frozenset(leaves), frozenset(branches))

    def exchanged(self, batch: Batch) -> list[str]:
        """Return the names of the columns to exchange in a batch, and ``"prompt"`` if the reward reads the prompt."""
        columns = [name for name in batch.columns if EXAMPLE in self.leaves or name in self.leaves]
        prompt_column = [PROMPT] if PROMPT in self.leaves and batch.prompts is not None else []
        return prompt_column + [name for name in columns if name not in self.branches]


class PermutedGolds:
    """A scorer that scores completions with the cells of other prompts.

    Some components are excluded: judges, reward models, tested programs, and functions that wait, are not
    deterministic, read the training progress, or were not written for rewardkit. Calling them again may cost money or
    have side effects. Components that are only monitored are also excluded, because they do not count toward the total.

    Args:
        reward: a training run's reward.
        trusting: whether to also call functions that were not written for rewardkit.

    Attributes:
        left_out: the names of components that count toward the total but are not called.
    """

    def __init__(self, reward: RewardLike, *, trusting: bool = False) -> None:
        tree = Scorer(reward).reward
        earning = set(counted_nodes(tree))
        left, _ = omitted(tree, lambda name, node: node not in earning)
        left, self.left_out = omitted(left, lambda name, node: _is_left_out(node, trusting))
        self._scorer = Scorer(left)
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


def _is_left_out(reward: Reward, trusting: bool) -> bool:
    binding = binding_of(reward)
    if binding is None:
        return False
    unsafe = binding.expensive or binding.waits or not binding.deterministic or binding.reads("progress")
    return unsafe or ((binding.foreign or binding.plain) and not trusting)


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
