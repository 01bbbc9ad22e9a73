"""Execution: run the laws one by one in a forked child. If the child is lost, report a finding and start another."""

from __future__ import annotations

import copy
import os
import tempfile
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rewardkit.check.findings import Finding, Law, LawOutcome, LawResult
from rewardkit.check.laws import find
from rewardkit.check.laws.base import OVER, Skip, Unfinished, finding
from rewardkit.check.reward_under_test.judgment import rejects
from rewardkit.check.reward_under_test.reward_under_test import NOWHERE, OutOfTime, RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial, text_of, with_text
from rewardkit.check.reward_under_test.whole import detect_scope
from rewardkit.check.run.isolation import Lost, Note, can_isolate, run_in_child
from rewardkit.check.run.output import Output, divert_output
from rewardkit.errors import RewardKitError

OnProgress = Callable[[str, int, int], None]
"""A function that is called when a law starts, with the law's name, the law's number, and the number of laws."""

_SHOWN = 200
"""If a reward ends the process on a completion with more characters than this, a shorter completion is tried.
Arbitrary: a longer completion does not help in an error message."""
_STALLED = 1.0
"""The number of seconds that one completion may take once a reward has hung. Arbitrary: further completions that
hang are skipped without a finding."""
_CULPRITS = 4
"""The number of completions in a batch that are identified if the reward hangs or crashes on them. Arbitrary: each
takes the time of a stall, so the rest of the batch is skipped after these."""
_LOSSES = 16
"""If the child is lost on a completion, the law runs again without that completion, up to this many times.
Arbitrary."""
WORTH = 1.0
"""The minimum number of seconds left for unfinished laws to continue. Arbitrary: starting a child alone takes almost
as long."""
_SHARE = 0.5
"""The share of the time left that one law may take. Arbitrary: it leaves time for later laws."""
_OF_TIME = "time_linear"
"""The law that is broken if the reward hangs or takes too long on a completion."""


def run_laws(
    subject: RewardUnderTest,
    laws: Sequence[Law],
    *,
    patience: float,
    isolate: bool,
    on_progress: OnProgress,
    output: Output,
) -> Generator[LawResult, None, None]:
    """Yield the result of each law as it arrives. Unfinished laws then continue in the time that is left.

    Args:
        subject: the reward under test.
        laws: the laws, in the order in which they run.
        patience: the number of seconds that one completion may take.
        isolate: whether to run the laws in a child process if the system allows it.
        on_progress: a function that is called when each law starts.
        output: the collector of the reward's output.
    """
    run = _run_in_children if isolate and can_isolate() else _run_in_process
    cut: dict[str, LawResult] = {}
    for result in run(subject, laws, patience, on_progress, output):
        if result.longest:
            subject.skip_longer(result.longest)  # for the next child process
        if result.outcome == "unfinished" and result.count:
            cut[result.law] = result
        yield result
    if not cut or subject.left < WORTH:
        return
    subject.resume({name: result.reached for name, result in cut.items()})
    for again in run(subject, [law for law in laws if law.name in cut], patience, on_progress, output):
        yield continued(cut[again.law], again)


def continued(first: LawResult, again: LawResult) -> LawResult:
    """Return the result of a law that was unfinished at first and then ran again."""
    merged = again if again.reason != OVER else replace(first, outcome=again.outcome)
    leads = (*first.leads, *(lead for lead in again.leads if lead not in first.leads))
    return replace(merged, tries=first.tries + again.tries, seconds=first.seconds + again.seconds, leads=leads)


def _run_in_process(
    subject: RewardUnderTest, laws: Sequence[Law], patience: float, on_progress: OnProgress, output: Output
) -> Generator[LawResult, None, None]:
    """Run the laws in this process."""
    with divert_output(output.hear):
        _prepare(subject)
    for number, law in enumerate(laws):
        on_progress(law.name, number, len(laws))
        with divert_output(output.hear):
            result = run_law(law, subject)
        yield result


def _prepare(subject: RewardUnderTest) -> None:
    """Measure the time per completion, and find out whether the reward compares completions.

    If the reward is slow, the laws try fewer completions.
    """
    subject.measure()
    detect_scope(subject)


def run_law(law: Law, subject: RewardUnderTest) -> LawResult:
    """Run one law in this process, and return the result."""
    before, started = subject.tries, time.monotonic()
    findings: list[Finding] = []
    asides: list[Finding] = []
    leads: list[Finding] = []
    outcome: LawOutcome = "held"
    reason, reached, count, first = "", 0, 0, 0
    try:
        if subject.left <= 0:
            raise Unfinished(OVER)
        with subject.limited(subject.left * (1.0 if subject.reached(law.name) else _SHARE)):
            for fault in _law_findings(law, subject):
                (asides if fault.unreachable or fault.of_data else leads if fault.lead else findings).append(fault)
                first = first or (subject.tries - before if findings else 0)
    except Skip as skip:
        outcome, reason = "skipped", str(skip)
    except Unfinished as unfinished:
        outcome, reason, reached, count = "unfinished", str(unfinished), unfinished.reached, unfinished.count
    except OutOfTime:
        outcome, reason = "unfinished", OVER
    except RewardKitError:
        raise
    except Exception as error:  # a bug in the law, not in the reward
        frame = traceback.extract_tb(error.__traceback__)[-1]
        outcome = "unfinished"
        reason = f"the law itself failed ({type(error).__name__}: {error}, {frame.name}:{frame.lineno})"
    return LawResult(
        law=law.name,
        outcome="broken" if findings else outcome,
        tries=subject.tries - before,
        findings=tuple(findings),
        reason=reason,
        seconds=time.monotonic() - started,
        why=law.why,
        asides=tuple(asides),
        leads=tuple(leads),
        reached=reached,
        count=count,
        longest=subject.longest,
        first=first,
        rejects=rejects(subject),
        shares=subject.shares,
    )


def _law_findings(law: Law, subject: RewardUnderTest) -> Iterator[Finding]:
    """Yield the findings of a law, then a finding if one of its completions took long to score."""
    subject.law, subject.slow, subject.covered, subject.shares = law, None, False, ()
    try:
        yield from law.check(subject)
    finally:
        slow = subject.slow if law.name != _OF_TIME else None
    if slow is not None:
        from rewardkit.check.laws.growth import took_long

        yield from took_long(subject)


def _run_in_children(
    subject: RewardUnderTest, laws: Sequence[Law], patience: float, on_progress: OnProgress, output: Output
) -> Generator[LawResult, None, None]:
    """Run the laws in a child process, starting a new child whenever one is lost, until all laws are done."""
    note = Note()
    subject.watch(note.write)
    # Sandboxes and models take seconds to start.
    patience *= 8.0 if any(binding.expensive for _, binding in subject.bindings) else 1.0
    extra = subject.left
    law_index, settles, hangs = 0, True, False
    losses: list[Finding | None] = []
    while law_index < len(laws):
        work, left = _child_work(subject, laws[law_index:], settles), subject.left
        for message in run_in_child(work, note, patience, left, output.hear, quiet=left * _SHARE):
            if isinstance(message, str):
                on_progress(message, law_index, len(laws))
            elif isinstance(message, RewardKitError):
                raise message
            elif isinstance(message, Lost) and law_index < len(laws):
                settles = False
                started = note.since or time.monotonic()
                culprits, avoided, reason = _culprits(subject, message, patience, output)
                for trial, loss in culprits:
                    # Programs that a reward runs may take their whole timeout.
                    is_expected = loss.hung and (hangs or "TimeoutExpired" in subject.mined.names)
                    losses.append(None if is_expected else _loss_finding(subject, trial, loss, patience, output))
                    hangs = hangs or loss.hung
                subject.avoid(avoided)
                # Do not take the time of a stall from the other laws, up to the budget once more.
                spent = min(extra, time.monotonic() - started)
                extra -= spent
                subject.deadline += spent
                if message.hung:
                    hangs, patience = True, min(patience, _STALLED)
                    reason = f"the reward hangs on {len(losses)} of its completions"
                if not culprits or len(losses) >= _LOSSES or (message.hung and laws[law_index].name == _OF_TIME):
                    name, why = laws[law_index].name, laws[law_index].why
                    yield _add_losses(LawResult(name, "unfinished", reason=reason, why=why), losses)
                    law_index, losses = law_index + 1, []
            elif isinstance(message, LawResult):
                yield _add_losses(message, losses)
                law_index, losses = law_index + 1, []
        note.write(None)


def _add_losses(result: LawResult, losses: Sequence[Finding | None]) -> LawResult:
    """To a law's result, add the completions on which the child was lost, as one finding per kind of loss."""
    findings = [loss for loss in losses if loss is not None]
    for name in dict.fromkeys(loss.law for loss in findings):
        same_law = [loss for loss in findings if loss.law == name]
        first = min(same_law, key=lambda loss: len(repr(loss.completion)))
        other_count = len(same_law) - 1 + (losses.count(None) if name == _OF_TIME else 0)
        if other_count:
            first = replace(first, why=f"{first.why}, as did {other_count} more of the completions tried")
        result = replace(result, outcome="broken", findings=(*result.findings, first))
    return result


def _child_work(
    subject: RewardUnderTest, laws: Sequence[Law], settles: bool
) -> Callable[[Callable[[Any], None]], None]:
    """Return the function to run in the child, which sends each law's name and then its result."""

    def work(send: Callable[[Any], None]) -> None:
        # Without this, Hypothesis would write files into the working directory.
        os.environ.setdefault(
            "HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(tempfile.gettempdir(), "rewardkit-hypothesis")
        )
        try:
            if settles:
                _prepare(subject)
            for law in laws:
                send(law.name)
                send(run_law(law, subject))
        except RewardKitError as error:
            send(error)

    return work


def _loss_finding(subject: RewardUnderTest, trial: Trial, lost: Lost, patience: float, output: Output) -> Finding:
    """Return the finding for a completion on which a child was lost.

    Its tool calls are run in a child, because the environment or a tool may have caused the loss.
    """
    matters = (
        "A policy finds the completion that takes minutes to score, and then every process in the run waits for it."
        if lost.hung
        else "A completion that ends the process also ends the run, and all unsaved work is lost."
    )
    law = find(_OF_TIME if lost.hung else "total")
    make = partial(finding, trial=trial, score=None, why=f"scoring {lost.reason}", law=law, matters=matters)
    if subject.stage.real:
        for message in run_in_child(lambda send: send(make(subject)), Note(), patience, patience, output.hear):
            if isinstance(message, Finding):
                return message
    without_stage = copy.copy(subject)
    without_stage.stage = NOWHERE
    return replace(make(without_stage), environment=subject.stage.name)


def _culprits(
    subject: RewardUnderTest, lost: Lost, patience: float, output: Output
) -> tuple[list[tuple[Trial, Lost]], list[Trial], str]:
    """Return the completions on which the reward hangs or crashes, all to skip from now on, and why none was found."""
    if not lost.trials:
        return [], [], lost.reason
    if lost.hung and len(lost.trials) == 1:
        return [(lost.trials[0], lost)], [lost.trials[0]], ""
    culprits: list[tuple[Trial, Lost]] = []
    avoided: list[Trial] = []
    rest = sorted(lost.trials, key=lambda candidate: len(repr(candidate.completion)))
    while rest and len(culprits) < _CULPRITS:
        index, again = _score_one_by_one(subject, rest, patience, output)
        if again is None:
            rest = []
        elif not again.trials:
            break  # out of time
        else:
            trial, rest = rest[index], rest[index + 1 :]
            culprits.append((_shortened(subject, trial, again, patience, output), again))
            avoided += [trial, culprits[-1][0]]
            patience = min(patience, _STALLED) if again.hung else patience
    if not culprits:
        return [], [], f"scoring {len(lost.trials)} completions at once {lost.reason}, but none of them did so alone"
    from_user = [completion for example in subject.examples for completion in (*example.good, *example.bad)]
    return culprits, [*avoided, *(trial for trial in rest if trial.completion not in from_user)], ""


def _shortened(subject: RewardUnderTest, trial: Trial, lost: Lost, patience: float, output: Output) -> Trial:
    """Return a shorter completion on which the reward ends the process, if the start or the end of a long one does."""
    text = text_of(trial.completion)
    if len(text) > _SHOWN and not lost.hung:
        for shorter in (text[:_SHOWN], text[-_SHOWN:]):
            small = replace(trial, completion=with_text(trial.completion, shorter))
            _, again = _score_one_by_one(subject, [small], patience, output)
            if again is not None and again.trials:
                return small
    return trial


def _score_one_by_one(
    subject: RewardUnderTest, trials: Sequence[Trial], patience: float, output: Output
) -> tuple[int, Lost | None]:
    """Score completions one by one in a child. Return the index of the last one, and a `Lost` if the child was lost."""
    note, index = Note(), 0

    def work(send: Callable[[Any], None]) -> None:
        subject.watch(note.write)
        for number, trial in enumerate(trials):
            send(number)
            subject.see([trial], fresh=True)

    # The same time as for a batch of them (`run_in_child`).
    limit = patience * (1 + len(trials) / 32)
    for message in run_in_child(work, note, patience, limit, output.hear):
        if isinstance(message, Lost):
            return index, message
        index = message
    return index, None
