"""Changes for `benchmarks/check/review.py`: mutations that change a score, and refactorings that change none.

A mutation counts if it changes the score of one of the hundreds of completions in its reward's `pool`, or if the reward
cannot be loaded, hangs or dies. The rule was fixed before the first review was run.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.check.review_corpus import Row, Subject, loaded, pool
from benchmarks.check.review_refactorings import Refactoring, refactorings
from rewardkit.check.mutants.mutants import Mutant, mutants
from rewardkit.check.run.isolation import Lost, Note, run_in_child
from rewardkit.scoring.scores import Work, score
from rewardkit.tree.conversion import tree_of
from rewardkit.tree.evaluation.scorer import Scorer

_PATIENCE = 30.0
_EQUAL = 1e-9
Totals = list[float | None]


@dataclass(frozen=True)
class Change:
    """A change of a reward's module, as a commit would have it.

    Attributes:
        subject: the reward.
        kind: of the mutation or refactoring.
        said: what it changes.
        files: the new files, by their path.
        renamed: the new path of the module; "" if it stays.
        counts: whether it changes a score of the pool.
    """

    subject: Subject
    kind: str
    said: str
    files: dict[str, str] = field(repr=False)
    renamed: str = ""
    counts: bool = False


def totals(subject: Subject, source: str, rows: Sequence[Row]) -> Totals | str:
    """Score rows with the reward in a source, in a process of its own; or say why that was not possible."""

    def work(send: Callable[[Any], None]) -> None:
        try:
            reward = tree_of(loaded(subject, source), subject.label)
        except BaseException as error:
            send(f"cannot be loaded: {type(error).__name__}")
            return
        names = [name for name in rows[0] if name not in ("prompt", "completion")]
        prompts = [row["prompt"] for row in rows]
        sizes = [len(list(group)) for _, group in itertools.groupby(prompts)]
        columns = {name: [row[name] for row in rows] for name in names}
        try:
            found = score(
                Scorer(reward), Work([row["completion"] for row in rows], prompts, None, columns, tuple(sizes))
            )
        except Exception as error:
            send(f"cannot be scored: {type(error).__name__}")
            return
        send([None if np.isnan(one) else float(one) for one in found.total])

    for said in run_in_child(work, Note(), _PATIENCE, _PATIENCE):
        return said.reason if isinstance(said, Lost) else said
    return "died"


def differs(one: Totals | str, other: Totals | str) -> bool:
    """Whether two rewards score differently."""
    if isinstance(one, str) or isinstance(other, str):
        return one != other
    return any(
        (a is None) != (b is None) or (a is not None and b is not None and abs(a - b) > _EQUAL)
        for a, b in zip(one, other, strict=True)
    )


def mutations(subjects: Sequence[Subject], wanted: int, seed: int = 0) -> Iterator[Change]:
    """Yield mutations, one of each reward in turn, until `wanted` of them count."""
    streams = [_mutations(one, subjects, seed) for one in subjects]
    while wanted > 0 and streams:
        for stream in list(streams):
            change = next(stream, None)
            if change is None:
                streams.remove(stream)
                continue
            yield change
            wanted -= change.counts
            if not wanted:
                return


def _mutations(subject: Subject, others: Sequence[Subject], seed: int) -> Iterator[Change]:
    rows = pool(subject, others)
    original = totals(subject, subject.source, rows)
    if isinstance(original, str):
        raise RuntimeError(f"{subject.label} {original}")
    made: list[Mutant] = mutants(subject.source, of=subject.name)
    random.Random(f"{seed} mutants {subject.label}").shuffle(made)
    for one in made:
        counts = differs(original, totals(subject, one.source, rows))
        yield Change(subject, one.operator, str(one), {_path(subject): one.source}, counts=counts)


def sound_refactorings(subjects: Sequence[Subject], wanted: int, seed: int = 0) -> Iterator[Change]:
    """Yield refactorings, as many of each kind as possible.

    Raises:
        RuntimeError: one changes a score of its pool, so it is none.
    """
    by_kind: dict[str, list[tuple[Subject, Refactoring]]] = {}
    for subject in subjects:
        for one in refactorings(subject, seed):
            by_kind.setdefault(one.kind, []).append((subject, one))
    for kind, several in by_kind.items():
        random.Random(f"{seed} {kind}").shuffle(several)
    chosen: list[tuple[Subject, Refactoring]] = []
    while len(chosen) < wanted and any(by_kind.values()):
        for several in by_kind.values():
            if several and len(chosen) < wanted:
                chosen.append(several.pop())
    for subject, one in chosen:
        if len(one.files) == 1 and not one.renamed:
            rows = pool(subject, subjects)
            before, after = (totals(subject, source, rows) for source in (subject.source, *one.files.values()))
            if differs(before, after):
                raise RuntimeError(
                    f"{one.kind} of {subject.label} changes a score: {after if isinstance(after, str) else ''}"
                )
        yield Change(subject, one.kind, one.kind, one.files, one.renamed)


def _path(subject: Subject) -> str:
    return f"rewards/{subject.stem}.py"
