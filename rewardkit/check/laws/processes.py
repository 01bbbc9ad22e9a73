"""Laws of processes: a completion gets the same score each time, in any process or thread.

The reward's arguments also stay unchanged.
"""

from __future__ import annotations

import copy
import dis
import inspect
import math
import pickle
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice, permutations
from types import CodeType
from typing import Any

from rewardkit.batch.score import Outcome
from rewardkit.check.examples import Example
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, Unfinished, finding, law, score_text
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import given, score_sweep
from rewardkit.check.reward_under_test.trials import Trial, TrialResult, result_in_row, result_of_error, text_of
from rewardkit.check.reward_under_test.vocabulary import code_of
from rewardkit.errors import RewardBug, RewardFailure
from rewardkit.tree.binding import Binding
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.leaf import rebound
from rewardkit.tree.reward import Reward
from rewardkit.workers.background import in_background
from rewardkit.workers.worker import Call, Launch, run_in_process

_ROUNDS = 3
"""The number of times to score the completions again in this process. Arbitrary."""
# Arbitrary seeds: each is one more process to start.
_HASH_SEEDS = ("1", "2", "3")
_SENT = 80
"""The maximum number of completions to send to other processes. Arbitrary: a few are enough to reveal a dependence
on a hash seed or global state."""
_JOINED = 4
"""The maximum number of pairs of completions to join per example. Arbitrary: each pair adds three completions."""
_MORE = "Several engineers from northern harbors measured remarkable currents, temperatures, depths and salinity."
"""Words that make the text in a column longer."""
_SECONDS = 60.0
"""The time limit for another process. Arbitrary: the process imports the reward's modules again."""


@law(advice="Remove the randomness, or seed it with the completion. For a judge, set temperature 0")
def deterministic(subject: RewardUnderTest) -> Iterator[Finding]:
    """If equal completions get different scores, GRPO mistakes noise for an advantage, and replay fails.

    Every completion must get the same score again, also in another order and in another process.
    """
    if not subject.deterministic:
        raise Skip("the reward declares deterministic=False")
    pairs = [pair for pair in score_sweep(subject)[: subject.affordable(150)] if not subject.skips(pair[0])]
    trials = [trial for trial, _ in pairs]
    first = {id(trial): score for trial, score in pairs}
    orders = [list(reversed(trials)), trials, given(subject)]
    for number in range(_ROUNDS):
        order = orders[number % len(orders)]
        for trial, score in zip(order, subject.see(order, fresh=True), strict=True):
            before = first.get(id(trial)) or next((old for other, old in pairs if other == trial), score)
            if not before.same(score):
                small, values = _shrunk(subject, trial)
                message = f"scored {score_text(before)} the first time and {score_text(score)} the second time"
                if values is not None:
                    message = f"scored {score_text(values[0])} once and {score_text(values[1])} another time"
                yield finding(subject, small, score, message)
    if not _orders_sets(subject):
        return
    sent_trials = [
        candidate
        for candidate in (*_join_completions(subject), *_longer_cells(subject), *trials[:_SENT])
        if not subject.skips(candidate)
    ]
    local_scores = subject.see(sent_trials, fresh=True)  # in the same batches: rewards may look at the other rows
    for remote_scores in _in_other_processes(subject, sent_trials):
        for trial, here, (value, outcome) in zip(sent_trials, local_scores, remote_scores, strict=True):
            if not here.same(TrialResult(value, type(here.outcome)(outcome))):
                message = (
                    f"scores {score_text(here)} here and {value:.6g} in another process: it depends on the order of "
                    "a set, "
                    "or on a hash"
                )
                yield finding(subject, trial, here, message)


def _join_completions(subject: RewardUnderTest) -> list[Trial]:
    """Return joined pairs of given completions. A set made from both texts reveals its order."""
    return [
        Trial(subject.formed(f"{text}\n{other}"), number)
        for number, example in enumerate(subject.examples)
        for text, other in islice(permutations(_texts(example), 2), _JOINED)
    ]


def _longer_cells(subject: RewardUnderTest) -> list[Trial]:
    """Return trials with longer texts in a column. A set of only a few words may keep its order by chance."""
    trials = []
    for number, example in enumerate(subject.examples):
        for column in sorted(subject.columns_read & set(example.columns)):
            texts = [other.columns.get(column) for other in subject.examples]
            # Texts of up to three words have no order to lose.
            if all(isinstance(text, str) and len(text.split()) > 3 for text in texts):
                longer = " ".join([*map(str, texts), _MORE])
                trials += [Trial(subject.formed(text), number, {column: longer}) for text in (*map(str, texts), _MORE)]
    return trials


def _texts(example: Example) -> list[str]:
    return [completion for completion in (*example.good, *example.bad) if isinstance(completion, str)]


def _shrunk(subject: RewardUnderTest, trial: Trial) -> tuple[Trial, tuple[TrialResult, TrialResult] | None]:
    """Return a shorter completion and two scores that differ between tries, or `trial` and None if there is none."""
    for text in ("", "a", "42"):
        small = Trial(subject.formed(text), trial.example)
        # Four tries: a random 0 or 1 is the same in all of them in one of eight cases.
        scores = [subject.see([small], fresh=True)[0] for _ in range(4)]
        other = next((score for score in scores if not score.same(scores[0])), None)
        if other is not None:
            return small, (scores[0], other)
    return trial, None


def _orders_sets(subject: RewardUnderTest) -> bool:
    """Return whether the reward's code uses sets or hashes, whose order differs between processes."""
    return any(_uses_sets(code) for _, binding in subject.bindings for code in _codes(binding.original))


def _codes(function: Any) -> Iterator[CodeType]:
    code = code_of(function)
    if code is not None:
        yield code
        for name in code.co_names:
            helper = getattr(getattr(function, "func", function), "__globals__", {}).get(name)
            below = getattr(helper, "__code__", None)
            if isinstance(below, CodeType):
                yield below


def _uses_sets(code: CodeType) -> bool:
    if {"set", "frozenset", "hash"} & set(code.co_names):
        return True
    if any(instruction.opname in ("BUILD_SET", "SET_ADD", "SET_UPDATE") for instruction in dis.get_instructions(code)):
        return True
    return any(_uses_sets(constant) for constant in code.co_consts if isinstance(constant, CodeType))


def _in_other_processes(subject: RewardUnderTest, trials: list[Trial]) -> list[list[tuple[float, str]]]:
    """Return the scores from processes with other hash seeds, or an empty list if the reward cannot be pickled.

    Raises:
        Unfinished: a process took too long.
    """
    arguments = (subject.reward, subject.examples, trials, subject.plain, subject.scope, subject.stage)
    calls: list[Call] = []
    try:
        for seed in _HASH_SEEDS:
            calls.append(
                run_in_process(
                    _scored_again, arguments, _SECONDS, Launch(environment={"PYTHONHASHSEED": seed}, quiet=True)
                )
            )
    except Exception:  # pickle may raise any exception; the first call already raises it
        return []
    errors = [call.exception() for call in calls]  # wait for all processes, so that none keeps running
    if any(isinstance(error, TimeoutError) for error in errors):
        raise Unfinished(f"a second process did not score {len(trials)} completions within {_SECONDS:g} s")
    return [call.result() for call, error in zip(calls, errors, strict=True) if error is None]


def _scored_again(
    reward: Any, examples: Any, trials: list[Trial], plain: bool, scope: str, stage: Any
) -> list[tuple[float, str]]:
    subject = RewardUnderTest(reward, examples, plain=plain, stage=stage)
    if scope == "group":
        subject.score_in_groups()
    return [(score.value, score.outcome.value) for score in subject.see(trials)]


_THREADS = 4
"""The number of threads. Arbitrary, but above one: threads must interrupt each other."""
_LIVE = frozenset(("messages", "completion_ids", "progress", "example", "trainer_state", "log_metric", "log_extra"))
"""Arguments that only the scorer can create."""


@law(advice="Copy a list before you sort, pop, or change it: sorted(values), list(values)", every=True)
def inputs_not_mutated(subject: RewardUnderTest) -> Iterator[Finding]:
    """Trainers pass the same lists to all reward functions. A function that sorts or pops them corrupts the other
    functions' input.
    """
    # Arbitrary limits: a few rows show whether an argument is changed.
    trials = (given(subject) or [trial for trial, _ in score_sweep(subject)[:4]])[:16]
    for leaf, _ in subject.bindings:
        changed = _changed_by(subject, leaf, trials)
        if changed is not None:
            argument, before, after = changed
            message = f"{leaf.name} changes its argument {argument} from {before!r} to {after!r}"
            yield finding(subject, trials[0], None, message[:600], component=leaf.name)


def _changed_by(subject: RewardUnderTest, leaf: Reward, trials: list[Trial]) -> tuple[str, Any, Any] | None:
    """Return the first argument that a function changes, as (name, value before, value after), or None.

    Trainers' functions and leaves get the original objects. Adapters may need their neighbors, so they score within
    their tree as in training, where arguments are copied.
    """
    batch = subject.batch(trials)
    arguments: dict[str, Any] = {"completions": batch.completions, "prompts": batch.prompts, **batch.columns}
    try:
        originals = copy.deepcopy(arguments)
        copies = copy.deepcopy(arguments)
    except Exception:
        return None
    binding = leaf.facts.binding
    if binding is None or binding.trusted or binding.timeout is not None:
        return None
    if binding.plain and not binding.foreign:
        return _changed_by_plain(binding, subject, trials)
    accepted = getattr(binding.function, "accepted", None)
    if accepted is not None:
        keywords = {**copies, "completion_ids": batch.completion_ids, "trainer_state": batch.trainer_state}
        keywords["prompts"] = copies["prompts"] or [""] * len(trials)
        keywords.update(log_extra=batch.logs.extra, log_metric=batch.logs.metric)
        _ignoring(lambda: _finished(binding.original(**accepted(keywords)), subject.left))
    else:
        scorer = subject.scorer if binding.foreign else Scorer(rebound(leaf, trusted=True))
        batch.completions, batch.prompts = copies["completions"], copies["prompts"]
        batch.columns = {name: copies[name] for name in batch.columns}
        _ignoring(lambda: scorer.score(batch, strict=False))
    for name, before in originals.items():
        try:
            if copies[name] != before:
                return name, before, copies[name]
        except Exception:
            continue
    return None


def _changed_by_plain(binding: Binding, subject: RewardUnderTest, trials: list[Trial]) -> tuple[str, Any, Any] | None:
    """Return the first cell that a plain function of one completion changes, as (name, value before, value after).

    The function gets the original cells, as in a user's loop.
    """
    for trial in trials:
        cells = {**subject.examples[trial.example].columns, **(trial.columns or {})}
        originals = {
            parameter.name: cells[parameter.source] for parameter in binding.columns if parameter.source in cells
        }
        if len(originals) < len(binding.columns) or any(parameter.source in _LIVE for parameter in binding.parameters):
            return None
        texts = {"completion": text_of(trial.completion), "prompt": subject.examples[trial.example].prompt}
        inputs = {
            parameter.name: texts[parameter.source] for parameter in binding.parameters if parameter.source in texts
        }
        try:
            copies = copy.deepcopy(originals)
        except Exception:
            return None
        _ignoring(lambda inputs=inputs, copies=copies: _finished(binding.original(**inputs, **copies), subject.left))  # type: ignore[misc]
        for name, before in originals.items():
            if copies[name] != before:
                return name, before, copies[name]
    return None


def _finished(returned: Any, seconds: float) -> None:
    """Run a returned coroutine to its end, or exhaust a returned generator."""
    if inspect.iscoroutine(returned):
        returned = in_background(returned).result(seconds)
    if isinstance(returned, Iterator):
        list(returned)


def _ignoring(call: Callable[[], Any]) -> None:
    """Run `call` and ignore its exceptions, which other laws report."""
    with suppress(Exception):
        call()


@law(advice="Define the function at the top level of a module, without lambdas or open files")
def picklable(subject: RewardUnderTest) -> Iterator[Finding]:
    """Trainers that score in other processes pickle the reward to send it to those processes."""
    nested = [leaf.name for leaf, binding in subject.bindings if _is_local(binding.original)]
    if nested:
        raise Skip(f"{', '.join(nested)} is defined inside a function, so other processes cannot import it")
    try:
        again = pickle.loads(pickle.dumps(subject.reward))
    except Exception as error:
        if any(getattr(binding.original, "__module__", "") == "__main__" for _, binding in subject.bindings):
            raise Skip("the reward is defined in the script that runs the check") from None
        message = f"the reward cannot be pickled: {type(error).__name__}: {error}"
        yield finding(subject, Trial(subject.formed(""), 0), None, message[:400])
    trials = [trial for trial, score in score_sweep(subject)[: subject.affordable(40)] if score.scored]
    other = RewardUnderTest(again, subject.examples, plain=subject.plain, stage=subject.stage)
    other.__dict__["scope"] = subject.scope
    for trial, original, restored in zip(trials, subject.see(trials), other.see(trials), strict=True):
        if subject.deterministic and not original.same(restored):
            message = f"scores {original.value:.6g}, but {restored.value:.6g} after a round trip through pickle"
            yield finding(subject, trial, original, message)


def _is_local(function: Any) -> bool:
    name = getattr(getattr(function, "func", function), "__qualname__", "") or type(function).__qualname__
    return "<locals>" in name or "<lambda>" in name or "<locals>" in type(function).__qualname__


@law(advice="Keep state in local variables. For a time limit use @rk.reward(timeout=...), not signals")
def thread_safe(subject: RewardUnderTest) -> Iterator[Finding]:
    """Asynchronous trainers score in several threads at once, so a reward must not use signals or shared state."""
    if subject.stage.real:
        raise Skip("tool calls in completions are executed, and tools may need the main thread")
    pairs = [(trial, score) for trial, score in score_sweep(subject)[: subject.affordable(60, 0.1)] if score.scored]
    trials = [trial for trial, _ in pairs]
    if not trials:
        raise Skip("the reward scores no completion")
    results: list[list[TrialResult]] = []
    raised: list[tuple[Trial, BaseException]] = []
    all_started = threading.Event()

    def work(number: int) -> None:
        all_started.wait()
        scores = []
        for trial in trials if number % 2 == 0 else reversed(trials):
            try:
                scores.append(_score_uncached(subject, trial))
            except BaseException as error:  # otherwise the thread would end silently
                # An error of Python's own parser, which counts the depth for all threads together.
                if "recursion depth mismatch" not in str(error):
                    raised.append((trial, error))
                return
        results.append(scores if number % 2 == 0 else scores[::-1])

    interval = sys.getswitchinterval()
    # Python's default is 5 ms, in which most rewards finish, so threads would never interrupt each other.
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
        score = _result_of_error(error)
        message = f"outside the main thread, it {score.reason[:300]}"
        yield finding(subject, trial, score, message)
    for thread_scores in results:
        for (trial, before), after in zip(pairs, thread_scores, strict=True):
            if subject.deterministic and not before.same(after):
                got = f"{after.value:.6g}" if after.scored else f"{after.outcome}: {after.reason}"
                message = f"scores {before.value:.6g} on the main thread, but {got} when several threads score"
                yield finding(subject, trial, after, message)


def _score_uncached(subject: RewardUnderTest, trial: Trial) -> TrialResult:
    """Return the score of one completion, without the subject's cache."""
    neighbors = subject.beside(trial.example) if subject.scope != "sample" else []
    trials = [*(replace(trial, completion=completion) for completion in neighbors), trial]
    table = subject.scorer.score(subject.batch(trials), strict=False)
    return result_in_row(table, len(table) - 1)


def _result_of_error(error: BaseException) -> TrialResult:
    if isinstance(error, (RewardBug, RewardFailure)):
        return result_of_error(error)
    reason = f"raised {type(error).__name__}: {error}"
    return TrialResult(math.nan, Outcome.ERRORED, reason, trace="".join(traceback.format_exception(error)))
