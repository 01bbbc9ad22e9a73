"""Find out which mutants of a reward are noticed by the given correct and incorrect completions.

A mutant is noticed if a correct completion no longer scores above its example's incorrect completions, or cannot be
scored. Otherwise, many completions are tried, and the shortest completion whose score the mutant changes is shown. If
you add that completion, the bug is noticed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Literal

from rewardkit.batch.score import Outcome
from rewardkit.check.check import subject_of
from rewardkit.check.laws.golds import perturbed
from rewardkit.check.mutants.mutants import Mutant
from rewardkit.check.reward_under_test.bound_reward import BoundReward
from rewardkit.check.reward_under_test.judgment import judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import given, sweep
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, TrialResult, result_in_row, text_of
from rewardkit.check.run.isolation import Lost, Note, can_isolate, run_in_child
from rewardkit.check.run.output import divert_output
from rewardkit.check.run.scratch import scratch_for
from rewardkit.check.variants.format_variants import make_format_variants
from rewardkit.errors import RewardDefinitionError, shorten

Fate = Literal["noticed", "missed", "unchanged"]
PATIENCE = 2.0
"""The number of seconds that one completion may take. Arbitrary: a mutant that takes longer counts as hanging."""
_LIMIT = 20.0
"""The number of seconds that one mutant may take. Arbitrary: a mutant may loop forever."""
_WRONG = 40
"""The maximum number of incorrect answers to substitute for a correct one. Arbitrary: a bug that none of them
reveals is of little use to a policy."""
_MOST_LOST = 8
"""The number of times that the original may hang or crash before the check gives up. Arbitrary: after that, the
reward itself is at fault, not a mutant."""
_ROWS = 16
"""The number of completions to score at a time. Arbitrary: if one of them hangs, the scores of all are lost."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on one mutant.

    Attributes:
        mutant: the bug.
        fate: ``"noticed"`` by the given completions, ``"missed"`` by them although it changes scores, or
            ``"unchanged"`` if no score changed, so that it may not be a bug at all.
        said: the bug's effect in words, for example that the mutant cannot be loaded, or "" if the bug only changes
            scores.
        shown: the completion that reveals the bug, or None if there is none.
        before, after: the results of the original and the mutant for `shown`. `after` is None if the mutant hung or
            crashed.
        flips: whether a completion that is certainly correct or incorrect was judged correctly before but no longer is.
    """

    mutant: Mutant
    fate: Fate
    said: str = ""
    shown: Trial | None = None
    before: TrialResult | None = None
    after: TrialResult | None = None
    flips: bool = False


@dataclass(frozen=True)
class Noticed:
    """The results for a reward's mutants. Printing them shows a report.

    Attributes:
        name: the reward's name.
        verdicts: one per mutant.
        completions: the number of completions on which each mutant was tried.
        given: the number of these completions that the user gave.
    """

    name: str
    verdicts: tuple[Verdict, ...]
    completions: int
    given: int

    def of(self, fate: Fate) -> list[Verdict]:
        """Return the verdicts with the given fate."""
        return [verdict for verdict in self.verdicts if verdict.fate == fate]

    def __str__(self) -> str:
        missed, noticed = self.of("missed"), self.of("noticed")
        changing = len(missed) + len(noticed)
        head = [
            f"{self.name}: {len(self.verdicts)} mutants, each with one ordinary bug. {changing} change a score of "
            f"{self.completions} completions.",
        ]
        if changing:
            share = len(noticed) / changing
            head.append(
                f"The {self.given} given correct and incorrect completions reveal {len(noticed)} "
                f"of {changing} ({share:.0%})."
            )
        if missed:
            head.append("Not revealed. To reveal them, add the completion to the correct or the incorrect ones:")
        return "\n".join([*head, *(line for verdict in missed for line in _lines(verdict))])


def noticed(
    bound: BoundReward, mutants: Sequence[Mutant], on_progress: Callable[[int], None] = lambda number: None
) -> Noticed:
    """Try each mutant on the given completions and on many others, and return the results.

    Args:
        bound: the original reward, named after its variable, with correct and incorrect completions.
        mutants: the mutants of the original's module.
        on_progress: a function that is called with each mutant's number when its trial starts.

    Raises:
        RewardDefinitionError: there are no correct or no incorrect completions, so nothing could be noticed, or the
            system cannot run mutants in separate processes.
    """
    if not can_isolate():
        raise RewardDefinitionError("mutants run in forked processes, which this system does not support")
    options = {name: bound.options[name] for name in ("good", "bad", "seed") if name in bound.options}
    options["examples"] = bound.options["examples"]
    subject = subject_of(bound.reward, **options)
    given_trials = given(subject)
    if not any(example.good for example in subject.examples) or not any(example.bad for example in subject.examples):
        raise RewardDefinitionError(
            f"{bound.name}: no bug can be detected without correct and incorrect completions (GOOD and BAD)"
        )
    with divert_output(lambda data: None):  # the reward may print hundreds of times
        labeled = _labeled(subject)
        pool = [*(trial for trial, _ in labeled), *sweep(subject)]
    labels = tuple(label for _, label in labeled)
    verdicts = []
    with scratch_for(subject.reward, network=bool(bound.options.get("network"))):
        before, pool = _original(bound.name, subject, pool, given_trials, len(labeled))
        for number, mutant in enumerate(mutants):
            on_progress(number)
            after, lost = _results_in_child(partial(_load_mutant, mutant, bound.name, options), pool, given_trials)
            verdicts.append(_verdict(mutant, _Scored(subject, pool, given_trials, labels, before, after), lost))
    return Noticed(bound.name, tuple(verdicts), len(pool), len(given_trials))


def _labeled(subject: RewardUnderTest) -> list[tuple[Trial, bool]]:
    """Return certainly correct or incorrect completions: given or reformatted completions, and incorrect answers."""
    labeled = [(trial, _is_good(subject, trial)) for trial in given(subject)]
    for right in judged(subject):
        labeled += [
            (right.trial(dress.text), True) for dress in make_format_variants(subject, right) if not dress.unreachable
        ]
        if right.judges:
            labeled += [(right.trial(text), False) for text, _ in islice(perturbed(subject, right), _WRONG)]
    return labeled


def _parts(
    subject: RewardUnderTest, pool: Sequence[Trial], given_trials: Sequence[Trial]
) -> Iterator[list[TrialResult]]:
    """Yield the pool's scores in parts, then the given completions' scores in one batch, then in the reversed batch."""
    for start in range(0, len(pool), _ROWS):
        yield subject.see(pool[start : start + _ROWS])
    yield _in_one_batch(subject, given_trials)
    yield _in_one_batch(subject, given_trials[::-1])[::-1]


def _in_one_batch(subject: RewardUnderTest, trials: Sequence[Trial]) -> list[TrialResult]:
    try:
        table = subject.table(trials)
    except Exception as error:
        return [TrialResult(math.nan, Outcome.ERRORED, f"raised {type(error).__name__}: {shorten(str(error))}")] * len(
            trials
        )
    return [result_in_row(table, row) for row in range(len(trials))]


def _original(
    name: str, subject: RewardUnderTest, pool: list[Trial], given_trials: Sequence[Trial], labeled: int
) -> tuple[list[TrialResult], list[Trial]]:
    """Score the pool with the original reward, and drop unlabeled completions on which it hangs or crashes."""
    for _ in range(_MOST_LOST):
        scores, lost = _results_in_child(lambda: subject, pool, given_trials)
        if not lost:
            return scores, pool
        if isinstance(lost, str) or len(scores) + _ROWS <= labeled:
            break
        pool = [*pool[: len(scores)], *pool[len(scores) + _ROWS :]]
    raise RewardDefinitionError(
        f"{name}: the original reward hangs or crashes on some completions. Run `rewardkit check` on the reward first, "
        "and fix the fault"
    )


def _load_mutant(mutant: Mutant, name: str, options: Mapping[str, Any]) -> RewardUnderTest:
    return subject_of(mutant.load(name), **options)


def _results_in_child(
    make: Callable[[], RewardUnderTest], pool: Sequence[Trial], given_trials: Sequence[Trial]
) -> tuple[list[TrialResult], Lost | str]:
    """Score the completions in a separate process. Return the results, and the reason if they end early."""
    note = Note()

    def work(send: Callable[[Any], None]) -> None:
        try:
            subject = make()
        except BaseException as error:
            send(f"cannot be loaded: {type(error).__name__}: {shorten(str(error))}")
            return
        subject.watch(note.write)
        for part in _parts(subject, pool, given_trials):
            send([TrialResult(score.value, score.outcome, score.reason) for score in part])

    scores: list[TrialResult] = []
    for message in run_in_child(work, note, PATIENCE, _LIMIT):
        if isinstance(message, (str, Lost)):
            return scores, message
        scores += message
    return scores, ""


def _is_good(subject: RewardUnderTest, trial: Trial) -> bool:
    return any(trial.completion == completion for completion in subject.examples[trial.example].good)


@dataclass(frozen=True)
class _Scored:
    """The results of the original and a mutant for the same completions.

    Attributes:
        subject: the original.
        pool: completions scored one by one, the given ones first, then other labeled ones, then the rest.
        own: the given completions, scored in one batch and again in reverse order.
        labels: whether each labeled completion is correct.
        before, after: the original's and the mutant's scores for the pool, the batch, and the reversed batch.
    """

    subject: RewardUnderTest
    pool: Sequence[Trial]
    own: Sequence[Trial]
    labels: tuple[bool, ...]
    before: Sequence[TrialResult]
    after: Sequence[TrialResult]

    def trial(self, row: int) -> Trial:
        return self.pool[row] if row < len(self.pool) else self.own[(row - len(self.pool)) % len(self.own)]

    def changed(self) -> list[int]:
        """Return the rows whose score the mutant changes."""
        pairs = enumerate(zip(self.before, self.after, strict=True))
        return [row for row, (original, mutated) in pairs if not original.same(mutated)]

    def is_noticed(self) -> bool:
        """Return whether the given completions reveal the bug, one by one or in a batch."""
        size, end = len(self.own), len(self.before)
        views = (range(size), range(end - 2 * size, end - size), range(end - size, end))
        return any(self._tells(view) for view in views)

    def _tells(self, rows: Sequence[int]) -> bool:
        """Return whether a row no longer scores, or a correct row no longer beats its example's incorrect rows."""
        if any(self.before[row].scored and not self.after[row].scored for row in rows):
            return True
        for number in range(len(self.subject.examples)):
            example_rows = [row for row, trial in zip(rows, self.own, strict=True) if trial.example == number]
            right = [row for row in example_rows if _is_good(self.subject, self.trial(row))]
            wrong = [row for row in example_rows if row not in right]
            told_apart = _least(self.before, right) > _most(self.before, wrong)
            if told_apart and not _least(self.after, right) > _most(self.after, wrong):
                return True
            if not wrong and any(self.after[row].value < self.before[row].value for row in right):
                return True
            if not right and any(self.after[row].value > self.before[row].value for row in wrong):
                return True
        return False

    def flips(self) -> bool:
        """Return whether any labeled completion was judged correctly by the original but not by the mutant.

        A completion is judged to be correct if it scores at least as high as its example's given correct completions.
        """
        for number in range(len(self.subject.examples)):
            example_rows = [row for row, trial in enumerate(self.own) if trial.example == number]
            right = [row for row in example_rows if self.labels[row]]
            pay, now = _least(self.before, right), _least(self.after, right)
            low = _most(self.after, [row for row in example_rows if row not in right])
            for row, label in enumerate(self.labels):
                if not right or self.pool[row].example != number:
                    continue
                was, is_now = self.before[row].value, self.after[row].value
                if label and was >= pay and not is_now > (low if math.isfinite(low) else now - EQUAL):
                    return True
                if not label and was < pay and not is_now < now:
                    return True
        return False


def _verdict(mutant: Mutant, scored: _Scored, lost: Lost | str) -> Verdict:
    if isinstance(lost, str) and lost:
        return Verdict(mutant, "noticed", lost, flips=True)
    if isinstance(lost, Lost):
        trial = lost.trials[0] if lost.trials else scored.trial(len(scored.after))
        fate: Fate = "noticed" if trial in scored.own else "missed"
        return Verdict(mutant, fate, lost.reason, trial, flips=True)
    changed = scored.changed()
    if not changed:
        return Verdict(mutant, "unchanged")
    fate = "noticed" if scored.is_noticed() else "missed"

    def order(row: int) -> tuple[float, int]:
        gap = round(_gap(scored.before[row], scored.after[row]), 2)
        return -gap, len(text_of(scored.trial(row).completion))

    row = min(changed, key=order)
    flips = fate == "noticed" or scored.flips()
    return Verdict(mutant, fate, "", scored.trial(row), scored.before[row], scored.after[row], flips=flips)


def _least(scores: Sequence[TrialResult], rows: Sequence[int]) -> float:
    return min((scores[row].value for row in rows), default=math.inf)


def _most(scores: Sequence[TrialResult], rows: Sequence[int]) -> float:
    return max((scores[row].value for row in rows), default=-math.inf)


def _gap(score: TrialResult, other_score: TrialResult) -> float:
    gap = abs(score.value - other_score.value)
    return 1.0 if math.isnan(gap) else gap


def _lines(verdict: Verdict) -> Iterator[str]:
    yield f"  {verdict.mutant}"
    if verdict.shown is None:
        return
    where = f" (example {verdict.shown.example})" if verdict.shown.example else ""
    effect = verdict.said or f"scores {_score(verdict.after)}, not {_score(verdict.before)}"
    yield f"      {shorten(text_of(verdict.shown.completion), 70)}{where} {effect}"


def _score(score: TrialResult | None) -> str:
    if score is None:
        return "?"
    return f"{score.value:g}" if score.scored else f"nothing: {shorten(score.reason, 60)}"
