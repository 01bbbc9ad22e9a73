"""Laws of inputs and processes: a reward leaves its arguments alone and works in any thread or process."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from rewardkit.batch.score import Outcome
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, finding, law
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.sweep import given, swept
from rewardkit.check.reward_under_test.trials import Seen, Trial, seen_in, seen_of, text_of
from rewardkit.errors import RewardBug, RewardFailure
from rewardkit.tree.binding import Binding
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.leaf import rebound
from rewardkit.tree.reward import Reward
from rewardkit.workers.background import in_background

_THREADS = 4
_LIVE = frozenset(("messages", "completion_ids", "progress", "example", "trainer_state", "log_metric", "log_extra"))
"""Arguments that only the scorer can make."""


@law
def inputs_not_mutated(subject: Subject) -> Iterator[Finding]:
    """Trainers pass the same lists to every reward function; one that sorts or pops them corrupts the next."""
    trials = (given(subject) or [trial for trial, _ in swept(subject)[:4]])[:16]
    for leaf, _ in subject.bindings:
        changed = _changed_by(subject, leaf, trials)
        if changed is not None:
            what, before, after = changed
            why = f"{leaf.name} changes its argument {what} from {before!r} to {after!r}"
            yield finding("inputs_not_mutated", subject, trials[0], None, why[:600], component=leaf.name)


def _changed_by(subject: Subject, leaf: Reward, trials: list[Trial]) -> tuple[str, Any, Any] | None:
    """Return the first argument that a function changes: its name, the value before and after.

    Trainers' functions and leaves get the objects themselves. Adapters score within their tree as in training, which
    copies: they may need their neighbors.
    """
    batch = subject.batch(trials)
    given_now: dict[str, Any] = {"completions": batch.completions, "prompts": batch.prompts, **batch.columns}
    try:
        kept = copy.deepcopy(given_now)
        mine = copy.deepcopy(given_now)
    except Exception:
        return None
    binding = leaf.facts.binding
    if binding is None or binding.trusted or binding.timeout is not None:
        return None
    if binding.plain and not binding.foreign:
        return _changed_by_plain(binding, subject, trials)
    accepted = getattr(binding.function, "accepted", None)
    if accepted is not None:
        keywords = {**mine, "completion_ids": batch.completion_ids, "trainer_state": batch.trainer_state}
        keywords["prompts"] = mine["prompts"] or [""] * len(trials)
        keywords.update(log_extra=batch.logs.extra, log_metric=batch.logs.metric)
        _ignoring(lambda: _finished(binding.original(**accepted(keywords)), subject.left))
    else:
        scorer = subject.scorer if binding.foreign else Scorer(rebound(leaf, trusted=True))
        batch.completions, batch.prompts = mine["completions"], mine["prompts"]
        batch.columns = {name: mine[name] for name in batch.columns}
        _ignoring(lambda: scorer.score(batch, strict=False))
    for name, before in kept.items():
        try:
            if mine[name] != before:
                return name, before, mine[name]
        except Exception:
            continue
    return None


def _changed_by_plain(binding: Binding, subject: Subject, trials: list[Trial]) -> tuple[str, Any, Any] | None:
    """Return what a plain function of one completion changes if it gets the cells themselves, as from its own loop."""
    for trial in trials:
        cells = {**subject.examples[trial.example].columns, **(trial.columns or {})}
        asked = {one.name: cells[one.source] for one in binding.columns if one.source in cells}
        if len(asked) < len(binding.columns) or any(one.source in _LIVE for one in binding.parameters):
            return None
        texts = {"completion": text_of(trial.completion), "prompt": subject.examples[trial.example].prompt}
        told = {one.name: texts[one.source] for one in binding.parameters if one.source in texts}
        try:
            mine = copy.deepcopy(asked)
        except Exception:
            return None
        _ignoring(lambda told=told, mine=mine: _finished(binding.original(**told, **mine), subject.left))  # type: ignore[misc]
        for name, before in asked.items():
            if mine[name] != before:
                return name, before, mine[name]
    return None


def _finished(returned: Any, seconds: float) -> None:
    """Run a returned coroutine, or exhaust a returned generator."""
    if inspect.iscoroutine(returned):
        returned = in_background(returned).result(seconds)
    if isinstance(returned, Iterator):
        list(returned)


def _ignoring(call: Callable[[], Any]) -> None:
    """Ignore exceptions, which other laws report."""
    with suppress(Exception):
        call()


@law
def picklable(subject: Subject) -> Iterator[Finding]:
    """Trainers that score in other processes pickle the reward to send it there."""
    nested = [leaf.name for leaf, binding in subject.bindings if _is_local(binding.original)]
    if nested:
        raise Skip(f"{', '.join(nested)} is defined inside a function, so other processes cannot import it")
    try:
        again = pickle.loads(pickle.dumps(subject.reward))
    except Exception as error:
        if any(getattr(binding.original, "__module__", "") == "__main__" for _, binding in subject.bindings):
            raise Skip("the reward is defined in the script that runs the check") from None
        why = f"the reward cannot be pickled: {type(error).__name__}: {error}"
        yield finding("picklable", subject, Trial(subject.formed(""), 0), None, why[:400])
        return
    trials = [trial for trial, seen in swept(subject)[: subject.affordable(40)] if seen.scored]
    other = Subject(again, subject.examples, plain=subject.plain, stage=subject.stage)
    other.__dict__["scope"] = subject.scope
    for trial, one, two in zip(trials, subject.see(trials), other.see(trials), strict=True):
        if subject.deterministic and not one.same(two):
            why = f"scores {one.value:.6g}, but {two.value:.6g} after a round trip through pickle"
            yield finding("picklable", subject, trial, one, why)
            return


def _is_local(function: Any) -> bool:
    name = getattr(getattr(function, "func", function), "__qualname__", "") or type(function).__qualname__
    return "<locals>" in name or "<lambda>" in name or "<locals>" in type(function).__qualname__


@law
def thread_safe(subject: Subject) -> Iterator[Finding]:
    """Asynchronous trainers score in several threads at once: a reward must not use signals or shared state."""
    if subject.stage.real:
        raise Skip("the calls of completions really run, and tools may need the main thread")
    pairs = [(trial, seen) for trial, seen in swept(subject)[: subject.affordable(60, 0.1)] if seen.scored]
    trials = [trial for trial, _ in pairs]
    if not trials:
        raise Skip("the reward scores no completion")
    results: list[list[Seen]] = []
    raised: list[tuple[Trial, BaseException]] = []
    all_started = threading.Event()

    def work(number: int) -> None:
        all_started.wait()
        found = []
        for trial in trials if number % 2 == 0 else reversed(trials):
            try:
                found.append(_alone(subject, trial))
            except BaseException as error:  # otherwise the thread would end silently
                raised.append((trial, error))
                return
        results.append(found if number % 2 == 0 else found[::-1])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(_THREADS)]
        try:
            for thread in threads:
                thread.start()
        finally:
            all_started.set()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    for trial, error in raised[:1]:
        seen = _seen_of(error)
        why = f"outside the main thread, it {seen.reason[:300]}"
        yield finding("thread_safe", subject, trial, seen, why)
        return
    for said in results:
        for (trial, before), after in zip(pairs, said, strict=True):
            if subject.deterministic and not before.same(after):
                got = f"{after.value:.6g}" if after.scored else f"{after.outcome}: {after.reason}"
                why = f"scores {before.value:.6g} on the main thread, but {got} when several threads score"
                yield finding("thread_safe", subject, trial, after, why)
                return


def _alone(subject: Subject, trial: Trial) -> Seen:
    """Score one completion without the subject's cache."""
    beside = subject.beside(trial.example) if subject.scope != "sample" else []
    trials = [*(replace(trial, completion=one) for one in beside), trial]
    table = subject.scorer.score(subject.batch(trials), strict=False)
    return seen_in(table, len(table) - 1)


def _seen_of(error: BaseException) -> Seen:
    if isinstance(error, (RewardBug, RewardFailure)):
        return seen_of(error)
    reason = f"raised {type(error).__name__}: {error}"
    return Seen(math.nan, Outcome.ERRORED, reason, trace="".join(traceback.format_exception(error)))


ALL = (inputs_not_mutated, picklable, thread_safe)
