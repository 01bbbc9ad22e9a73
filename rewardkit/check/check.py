"""check_reward: check a reward against the laws, and search for ways to get a high score without doing the task."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.batch.trajectory import Trajectory
from rewardkit.check.completion.parsed_completion import anatomy_of
from rewardkit.check.declarations import Declarations
from rewardkit.check.examples import Example, examples_of, grouped, per_example
from rewardkit.check.findings import Law, LawResult, imports_of
from rewardkit.check.reports.report import Report, cut_short
from rewardkit.check.reward_under_test.components import components_of, unrepeated
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest, is_foreign
from rewardkit.check.reward_under_test.trials import text_of
from rewardkit.check.run.execution import WORTH, OnProgress, continued, run_laws
from rewardkit.check.run.isolation import Lost, Note, can_isolate, run_in_child
from rewardkit.check.run.output import Output
from rewardkit.check.run.scratch import scratch_for
from rewardkit.check.run.selection import LawLike, selected
from rewardkit.check.run.status import law_progress, on_terminal, shown_status
from rewardkit.check.variants.episodes.stage import Stage, stage_of
from rewardkit.check.variants.wrong_answers import equal
from rewardkit.errors import BindingError, RewardDefinitionError, near_miss, shorten, shorten_line
from rewardkit.tree.conversion import tree_of
from rewardkit.tree.reward import Reward

if TYPE_CHECKING:
    from rewardkit.rewards.judges.endpoint.access import Endpoint

# Rehearsal: run the tool calls of the right completions and report their errors.


_MOST = 3
"""The maximum number of tools to report. Arbitrary: one fault usually appears in all of them."""


def failing_calls(subject: RewardUnderTest, seconds: float, *, isolate: bool = True) -> Iterator[str]:
    """Yield a remark for each tool that does not exist, or whose calls in correct completions fail.

    Args:
        subject: the reward under test, with its environment or tools.
        seconds: the time limit for isolated calls.
        isolate: whether to run the calls in a child process, since a tool may hang or end the process. If the system
            cannot fork, no calls are run.
    """
    if not subject.stage.real or subject.lost or (isolate and not can_isolate()):
        return
    if not isolate:
        yield from _failing(subject)
        return
    for message in run_in_child(lambda send: send(list(_failing(subject))), Note(), seconds, seconds):
        if isinstance(message, list):
            yield from message
        elif isinstance(message, Lost):
            yield f"good: while the calls of the correct completions ran, a tool {message.reason}"


def _failing(subject: RewardUnderTest) -> Iterator[str]:
    tool_names = sorted(subject.stage.names())
    failed_names: set[str] = set()
    for number, example in enumerate(subject.examples):
        for completion in example.good:
            try:
                played, _ = subject.stage.played(completion, example.shown)
            except Exception as error:
                reason = shorten_line(f"{type(error).__name__}: {error}", 120)
                yield f"good, example {number}: its calls cannot be run: {reason}"
                return
            for call in () if isinstance(played, str) else Trajectory.of(played).calls:
                if call.ok is not False or call.name in failed_names or len(failed_names) == _MOST:
                    continue
                failed_names.add(call.name)
                failure = call.result.error if call.result is not None else None
                yield f"good, example {number}: {_problem(call.name, failure, tool_names)}"


def _problem(name: str, error: str | None, tool_names: list[str]) -> str:
    if name not in tool_names:
        return f"there is no tool {name!r}, only {', '.join(tool_names) or 'none'}.{near_miss(name, tool_names)}"
    return (
        f"the call to {name!r} fails: {shorten_line(error or '', 120)}. Fix the completion or the tool, unless "
        "the failure is intentional"
    )


def check_reward(
    reward: Reward | Callable[..., Any] | Sequence[Any],
    *,
    examples: Iterable[Mapping[str, Any]],
    good: Any = (),
    bad: Any = (),
    declarations: Declarations | None = None,
    laws: Iterable[LawLike] | None = None,
    without: Iterable[LawLike] | None = (),
    regressions: str | Path | None = None,
    # In seconds. Arbitrary: short enough to wait for.
    budget: float = 40.0,
    seed: int = 0,
    fail_fast: bool = False,
    components: bool = True,
    isolate: bool = True,
    network: bool = False,
    on_progress: OnProgress | None = None,
    reviewer: str | Endpoint | None = None,
) -> Report:
    """Check a reward against the laws, and search for ways to get a high score without doing the task.

    ::

        report = check_reward(
            rk.number("answer"),
            examples=[{"prompt": "6*7?", "answer": "42"}],
            good=["<answer>42</answer>"],
            bad=["<answer>41</answer>"],
        )
        assert report.ok, report

    Args:
        reward: a rewardkit reward, a TRL reward function (``def f(completions, answer, **kwargs)``), a function that
            scores one completion (``def f(completion, answer)``), or a list of these, whose sum is checked.
        examples: data rows, ``{"prompt": ..., <columns>}``: two or three rows of different kinds, or ``[{}]`` for a
            reward that reads no columns. A prompt is a string, or chat messages as in your dataset: ``{"prompt":
            [{"role": "user", "content": "6*7?"}], "answer": "42"}``.
        good: completions that deserve full marks: one completion (or a list of completions) per example, a list of
            another length that applies to every example, or a function of the row. A completion is a string or a list
            of chat messages. If the prompt is a list of chat messages, a TRL function receives a string completion in
            the same form as from TRL: ``[{"role": "assistant", "content": text}]``. Without `good`, laws that compare
            correct and incorrect completions are skipped.
        bad: completions that deserve lower scores, in the same format. Use ordinary model mistakes.
        declarations: the reward's promises and properties, as `Declarations`.
        laws: laws of ``rewardkit.testing.laws``, their names, or functions that yield variants (docs/own_laws.md). The
            default is all laws, including exploit laws.
        without: laws to exclude. ``["exploits", "search"]`` skips the search for ways to get a high score without doing
            the task.
        regressions: a file in which exploits are saved. The next check tries them again.
        budget: the time limit for the whole check, in seconds. A law that runs out of time is reported as unfinished,
            and the report states a sufficient budget. Most checks take 5 to 40 s. If the reward hangs, the check may
            take twice as long, so that the other laws are also checked.
        seed: the random seed. With the same seed, the same completions are drawn.
        fail_fast: if True, stop at the first broken law.
        components: if True, also check each addend in a list or sum separately, because the sum can hide faults in its
            addends. The sum gets twice as much time as a component.
        isolate: if True, run in a forked child process if the system allows it, so that a reward that hangs or crashes
            is reported as a finding.
        network: if True, the reward may connect to other machines. Otherwise such connections are refused, unless the
            reward contains a judge, a reward model, a remote reward, or a function with ``expensive=True``. This
            machine can always be reached.
        on_progress: a function that is called when a law starts, with the law's name, the law's number, and the total
            number of laws. Without this function, the progress is shown on stderr if stderr is a terminal.
        reviewer: a model that reads the reward and proposes completions: the name of a model, as in `rk.judge`, or an
            ``rk.Endpoint``, with ``deadline=300, max_tokens=None`` for long replies. It receives the reward's source,
            the examples, and the findings in one request, which may exceed the budget. Proposals that score as the
            model claims are shown as leads, in ``report.review``.

    Returns:
        A `Report` with ``.ok`` (True if all laws were finished without findings, None if no fault was found but some
        laws were not finished), ``.findings``, ``.to_json``, and ``.to_html``. Print the report to read it as text.

    Raises:
        BindingError: the examples lack a column that the reward reads.
        RewardDefinitionError: a law is unknown, or a distractor equals a gold answer.
        RunStopped: there is no API key for the reviewer.
    """
    if reviewer is not None:
        from rewardkit.check.reviewer import endpoint_of_reviewer, review

        endpoint = endpoint_of_reviewer(reviewer)
    declared = declarations or Declarations()
    patience = declared.seconds_per_completion
    subject = subject_of(reward, examples, good=good, bad=bad, declarations=declared, seed=seed)
    todo = selected(laws, without=without or (), regressions=regressions)
    remarks = tuple(per_example(subject.examples, good=good, bad=bad))
    parts = components_of(subject) if components else []
    started = time.monotonic()
    results: list[Report] = []

    def checked(checked_subject: RewardUnderTest, seconds: float, source: Any, chosen: Sequence[Law]) -> Report:
        """Check the whole reward or a component. `source` is the object that findings import."""
        total = (1 + len(parts)) * len(todo)
        began, output, before = time.monotonic(), Output(), min(len(results) * len(todo), total - len(chosen))
        checked_subject.deadline, checked_subject.imports = began + seconds, _imports(source, declared.environment)

        def on_law(law: str, number: int, count: int) -> None:
            if on_progress is not None:
                on_progress(law, before + number, total)

        laws_run: dict[str, LawResult] = {}
        running = run_laws(
            checked_subject, chosen, patience=patience, isolate=isolate, on_progress=on_law, output=output
        )
        with closing(running):
            for result in running:
                laws_run[result.law] = result  # an unfinished law may continue later
                if fail_fast and result.findings:
                    break
        return Report(
            reward=shorten(checked_subject.reward),
            results=tuple(laws_run.values()),
            seed=seed,
            seconds=time.monotonic() - began,
            fingerprint=checked_subject.reward.fingerprint,
            printed=output.printed,
            title=checked_subject.part,
            unjudged=_unjudged(checked_subject, laws_run.values()),
        )

    with ExitStack() as status:
        scratch = status.enter_context(scratch_for((subject.whole or subject).reward, network=network))
        if not (isolate and can_isolate()):
            status.enter_context(scratch.entered())
        if on_progress is None and on_terminal():
            on_progress = law_progress(status.enter_context(shown_status()), "the reward", budget)
        results.append(checked(subject, budget * 2 / (2 + len(parts)), reward, todo))
        for number, part in enumerate(parts):
            if fail_fast and any(report.findings for report in results):
                break
            left = started + budget - time.monotonic()
            part_report = checked(part, left / (len(parts) - number), part.reward, todo)
            results.append(unrepeated(part_report, results[:1], "as shown above, for the sum"))
        # The time that a component did not need goes to the laws that were not finished.
        for number, (report, tested) in enumerate(zip(results, [subject, *parts], strict=False)):
            late = {result.law: result for result in cut_short(report.results)}
            left = started + budget - time.monotonic()
            if not late or left < WORTH or (fail_fast and any(report.findings for report in results)):
                continue
            tested.resume({name: result.reached for name, result in late.items()})
            again = checked(
                tested, left, reward if number == 0 else tested.reward, [law for law in todo if law.name in late]
            )
            merged = {result.law: result for result in report.results}
            merged |= {result.law: continued(merged[result.law], result) for result in again.results}
            seconds, printed = report.seconds + again.seconds, report.printed or again.printed
            unjudged = _unjudged(tested, merged.values())
            whole = replace(report, results=tuple(merged.values()), seconds=seconds, printed=printed, unjudged=unjudged)
            results[number] = unrepeated(whole, results[:1], "as shown above, for the sum") if number else whole
        reviewed = None
        if reviewer is not None:
            if on_progress is not None:
                count = (1 + len(parts)) * len(todo) + 1
                on_progress("reviewer", count - 1, count)
            findings = [finding for report in results for finding in report.findings]
            reviewed = review(subject, endpoint, findings, patience=patience, isolate=isolate)
        remarks = (*remarks, *failing_calls(subject, patience, isolate=isolate))
        effects = scratch.effects()
    total_report, *of_parts = results
    if regressions is not None:
        from rewardkit.check.exploits.regressions import save

        save(regressions, total_report.findings, subject.examples)
    spent = time.monotonic() - started
    return replace(
        total_report,
        components=tuple(of_parts),
        seconds=spent,
        budget=budget,
        remarks=remarks,
        review=reviewed,
        effects=effects,
    )


_JUDGING = frozenset(("separates_good_from_bad", "gold_above_perturbed_gold"))
"""The laws that try the incorrect completions given, and incorrect answers in place of the gold answer."""


def _unjudged(subject: RewardUnderTest, results: Iterable[LawResult]) -> str:
    """Return "" if an incorrect completion was observed to score lower, otherwise what is most useful to add."""
    listed = list(results)
    if any(result.rejects for result in listed):
        return ""
    if not any(example.good for example in subject.examples):
        return "pass good=[...] with a correct completion for each example"
    if _JUDGING.isdisjoint(result.law for result in listed):
        return "run the laws that try incorrect completions, such as separates_good_from_bad"
    if any(example.bad for example in subject.examples):
        return "pass bad completions that this reward should score lower"
    reads = any(example.columns for example in subject.examples) and bool(subject.columns_read)
    return "pass bad=[...] with ordinary mistakes" + ("" if reads else ", or a column with the gold answers")


def _imports(reward: Any, environment: Any) -> str:
    """Return statements that import the reward and the environment, or "" if the reward cannot be located."""
    imports = imports_of(reward)
    name = getattr(environment, "__name__", "")
    is_importable = (
        imports and name.isidentifier() and vars(sys.modules.get(environment.__module__, sys)).get(name) is environment
    )
    return f"{imports}; from {environment.__module__} import {name}" if is_importable else imports


def subject_of(
    reward: Any,
    examples: Iterable[Mapping[str, Any]],
    *,
    good: Any = (),
    bad: Any = (),
    declarations: Declarations | None = None,
    seed: int = 0,
) -> RewardUnderTest:
    """Combine a reward with its examples into a `RewardUnderTest`, ready to be checked.

    Raises:
        BindingError: the examples lack a column that the reward reads.
        RewardTypeError: `reward` is not a reward.
    """
    tree = tree_of(reward, "check_reward")
    declared = declarations or Declarations()
    stage = stage_of(declared.environment, declared.tools)
    parsed_examples = examples_of(examples, () if good is None else good, () if bad is None else bad)
    if not declared.rankings:  # rankings refer to examples by position
        parsed_examples = grouped(parsed_examples)
    combined = _combined_subject(tree, declared.other_rewards, parsed_examples, seed, stage)
    subject = RewardUnderTest(
        tree, parsed_examples, plain=is_foreign(tree), seed=seed, declarations=declared, whole=combined, stage=stage
    )
    subject.check_columns()
    _check_distractors(subject)
    return subject


def _combined_subject(
    tree: Reward, other_rewards: Sequence[Any], examples: tuple[Example, ...], seed: int, stage: Stage
) -> RewardUnderTest | None:
    """Return the sum of a reward and `other_rewards`, or None if there are none or the examples lack their columns."""
    if not other_rewards:
        return None
    try:
        combined_tree = tree_of([tree, *other_rewards], "check_reward")
        combined = RewardUnderTest(combined_tree, examples, plain=is_foreign(combined_tree), seed=seed, stage=stage)
        combined.check_columns()
    except (BindingError, RewardDefinitionError):
        return None
    return combined


def _check_distractors(subject: RewardUnderTest) -> None:
    """Reject distractors that may be correct answers, since the check would blame the reward for accepting them."""
    for number, example in enumerate(subject.examples if subject.declarations.distractors else ()):
        for anatomy in (anatomy_of(text_of(good), example.columns, subject.columns_read) for good in example.good):
            for text in subject.declarations.distractors:
                if anatomy.gold and equal(text, anatomy.gold):
                    raise RewardDefinitionError(
                        f"the distractor {shorten(text)} may equal the gold answer {shorten(anatomy.gold)} in "
                        f"examples[{number}] ({shorten(dict(example.columns))}). Remove it from distractors="
                    )
