"""Laws of inputs and processes: what a reward is given stays as it was, and it works wherever it is called."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rewardkit.core.algebra import Reward
from rewardkit.core.errors import RewardKitError
from rewardkit.core.leaf import Leaf
from rewardkit.core.scorer import Scorer
from rewardkit.testing.findings import Finding
from rewardkit.testing.laws.base import Skip, finding, law
from rewardkit.testing.subject import Subject
from rewardkit.testing.sweep import given, swept
from rewardkit.testing.trials import Seen, Trial, seen_in

_THREADS = 4


@law
def inputs_not_mutated(subject: Subject) -> Iterator[Finding]:
    """Trainers hand the same lists to every reward function; one that sorts or pops them corrupts the next."""
    trials = (given(subject) or [trial for trial, _ in swept(subject)[:4]])[:16]
    for leaf in subject.leaves:
        changed = _changed_by(subject, leaf, trials)
        if changed is not None:
            what, before, after = changed
            why = f"{leaf.name} changes its argument {what}: it was {before!r} and is {after!r} afterwards"
            yield finding("inputs_not_mutated", subject, trials[0], None, why[:600], component=leaf.name)


def _changed_by(subject: Subject, leaf: Any, trials: list[Trial]) -> tuple[str, Any, Any] | None:
    """The first argument that a function changes: its name, before and after."""
    batch = subject.batch(trials)
    given_now: dict[str, Any] = {"completions": batch.completions, "prompts": batch.prompts, **batch.columns}
    try:
        kept = copy.deepcopy(given_now)
        mine = copy.deepcopy(given_now)
    except Exception:
        return None
    if isinstance(leaf, Leaf):
        if leaf.trusted or leaf.timeout is not None:
            return None
        bare: Reward = replace(leaf, trusted=True)  # given the very objects, not copies
        batch.completions, batch.prompts = mine["completions"], mine["prompts"]
        batch.columns = {name: mine[name] for name in batch.columns}
        _ignoring(lambda: Scorer(bare).score(batch, strict=False))
    else:
        keywords = {**mine, "completion_ids": batch.completion_ids, **subject.context}
        keywords.update(log_extra=lambda *_: None, log_metric=lambda *_: None)
        accepted = getattr(leaf, "_accepted", lambda all_of_them: all_of_them)(keywords)
        _ignoring(lambda: leaf.function(**accepted))
    for name, before in kept.items():
        try:
            if mine[name] != before:
                return name, before, mine[name]
        except Exception:
            continue
    return None


def _ignoring(call: Any) -> None:
    """What it raises is the business of other laws."""
    try:
        result = call()
        if hasattr(result, "close"):  # a coroutine that nobody awaits
            result.close()
    except Exception:
        return


@law
def picklable(subject: Subject) -> Iterator[Finding]:
    """Trainers that score in other processes send the reward there."""
    nested = [leaf.name for leaf in subject.leaves if _is_local(leaf.function)]
    if nested:
        raise Skip(f"{', '.join(nested)} is defined inside a function: other processes could not find it")
    try:
        again = pickle.loads(pickle.dumps(subject.reward))
    except Exception as error:
        if any(getattr(leaf.function, "__module__", "") == "__main__" for leaf in subject.leaves):
            raise Skip("it is defined in the script that runs the check") from None
        why = f"it cannot be pickled: {type(error).__name__}: {error}"
        yield finding("picklable", subject, Trial(subject.formed(""), 0), None, why[:400])
        return
    trials = [trial for trial, seen in swept(subject)[: subject.affordable(40)] if seen.scored]
    other = Subject(again, subject.examples, plain=subject.plain)
    other.__dict__["scope"] = subject.scope
    for trial, one, two in zip(trials, subject.see(trials), other.see(trials), strict=True):
        if subject.deterministic and not one.same(two):
            why = f"scores {one.value:.6g}, and {two.value:.6g} after a round trip through pickle"
            yield finding("picklable", subject, trial, one, why)
            return


def _is_local(function: Any) -> bool:
    name = getattr(getattr(function, "func", function), "__qualname__", "") or type(function).__qualname__
    return "<locals>" in name or "<lambda>" in name or "<locals>" in type(function).__qualname__


@law
def thread_safe(subject: Subject) -> Iterator[Finding]:
    """Asynchronous trainers score in threads, several at once: no signals, nothing shared that changes."""
    pairs = [(trial, seen) for trial, seen in swept(subject)[: subject.affordable(60, 0.1)] if seen.scored]
    trials = [trial for trial, _ in pairs]
    if not trials:
        raise Skip("there is no completion that it scores")
    results: list[list[Seen] | str] = [[] for _ in range(_THREADS)]
    barrier = threading.Barrier(_THREADS)

    def work(number: int) -> None:
        barrier.wait(timeout=30)
        found = []
        for trial in trials if number % 2 == 0 else reversed(trials):
            try:
                row = _alone(subject, trial)
            except RewardKitError as error:
                results[number] = f"{trial!r}: {str(error).splitlines()[0]}"
                return
            found.append(row)
        results[number] = found if number % 2 == 0 else list(reversed(found))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(_THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    for said in results:
        if isinstance(said, str):
            why = f"raises in a thread that is not the main one: {said[-300:]}"
            yield finding("thread_safe", subject, trials[0], None, why)
            return
        for (trial, before), after in zip(pairs, said, strict=False):
            if subject.deterministic and not before.same(after):
                got = f"{after.value:.6g}" if after.scored else f"{after.outcome}: {after.reason}"
                why = f"scores {before.value:.6g} on the main thread, and {got} in threads beside others"
                yield finding("thread_safe", subject, trial, after, why)
                return


def _alone(subject: Subject, trial: Trial) -> Seen:
    """One completion, past what the subject remembers."""
    beside = subject.beside(trial.example) if subject.scope != "sample" else []
    trials = [*(replace(trial, completion=one) for one in beside), trial]
    table = subject.scorer.score(subject.batch(trials), strict=False)
    return seen_in(table, len(table) - 1)


ALL = (inputs_not_mutated, picklable, thread_safe)
