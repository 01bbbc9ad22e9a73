"""check_reward: check a reward against the laws, and try to get paid without doing the task."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from rewardkit.batch.trajectory import Trajectory
from rewardkit.check.completion.parsed_completion import anatomy_of
from rewardkit.check.examples import Example, examples_of, grouped, per_example
from rewardkit.check.findings import Law, LawResult, imports_of
from rewardkit.check.reports.report import Report
from rewardkit.check.reward_under_test.components import components_of, unrepeated
from rewardkit.check.reward_under_test.reward_under_test import Declarations, RewardUnderTest, is_foreign
from rewardkit.check.reward_under_test.trials import Trial, text_of
from rewardkit.check.run.execution import Told, run_laws
from rewardkit.check.run.isolation import Lost, Note, can_isolate, isolated
from rewardkit.check.run.output import Output
from rewardkit.check.run.selection import selected
from rewardkit.check.variants.episodes.stage import Stage, stage_of
from rewardkit.check.variants.wrong_answers import equal
from rewardkit.errors import BindingError, RewardDefinitionError, near_miss, shorten, shorten_line
from rewardkit.tree.conversion import tree_of
from rewardkit.tree.reward import Reward

# Rehearsal: the errors when the calls of the right completions really run.


_MOST = 3
"""Tools that are reported."""


def failing_calls(subject: RewardUnderTest, seconds: float, *, isolate: bool = True) -> Iterator[str]:
    """Yield a remark for each tool that a right completion calls in vain: it does not exist, or fails.

    Args:
        subject: the reward under test, with its environment or tools.
        seconds: the time limit, if the calls are isolated.
        isolate: run the calls in a child process, since a tool may hang or end the process; without forks, run none.
    """
    if not subject.stage.real or subject.lost or (isolate and not can_isolate()):
        return
    if not isolate:
        yield from _failing(subject)
        return
    for said in isolated(lambda send: send(list(_failing(subject))), Note(), seconds, seconds):
        if isinstance(said, list):
            yield from said
        elif isinstance(said, Lost):
            yield f"good: while the calls of the right completions ran, a tool {said.reason}"


def _failing(subject: RewardUnderTest) -> Iterator[str]:
    known = sorted(subject.stage.names())
    seen: set[str] = set()
    for number, example in enumerate(subject.examples):
        for completion in example.good:
            try:
                played, _ = subject.stage.played(completion, example.shown)
            except Exception as error:
                why = shorten_line(f"{type(error).__name__}: {error}", 120)
                yield f"good, example {number}: its calls cannot run: {why}"
                return
            for call in () if isinstance(played, str) else Trajectory.of(played).calls:
                if call.ok is not False or call.name in seen or len(seen) == _MOST:
                    continue
                seen.add(call.name)
                said = call.result.error if call.result is not None else None
                yield f"good, example {number}: {_problem(call.name, said, known)}"


def _problem(name: str, error: str | None, known: list[str]) -> str:
    if name not in known:
        return f"there is no tool {name!r}, only {', '.join(known) or 'none'}.{near_miss(name, known)}"
    return (
        f"the call of {name!r} fails: {shorten_line(error or '', 120)}. Fix the completion or the tool, unless "
        "the failure is meant"
    )


_INDIFFERENCES = ("whitespace", "unicode", "case")


def check_reward(
    reward: Reward | Callable[..., Any] | Sequence[Any],
    *,
    examples: Iterable[Mapping[str, Any]],
    good: Any = (),
    bad: Any = (),
    laws: Iterable[Law | str] | None = None,
    without: Iterable[Law | str] | None = (),
    exploits: bool = True,
    right: Callable[[str, Mapping[str, Any]], bool] | None = None,
    distractors: Iterable[str] | None = (),
    chains: Iterable[Sequence[Any]] | None = (),
    indifferent: Iterable[str] | None = (),
    beside: Sequence[Any] | None = (),
    environment: Callable[[], Any] | None = None,
    tools: Sequence[Callable[..., Any]] | None = (),
    nothing_to_do: Iterable[int] | None = (),
    margin: float = 0.0,
    regressions: str | Path | None = None,
    budget: float = 40.0,
    patience: float = 8.0,
    seed: int = 0,
    fail_fast: bool = False,
    isolate: bool = True,
    components: bool = True,
    told: Told | None = None,
) -> Report:
    """Check a reward against the laws, and search for ways to get paid without doing the task.

    ::

        report = check_reward(
            rk.number("answer"),
            examples=[{"prompt": "6*7?", "answer": "42"}],
            good=["<answer>42</answer>"],
            bad=["<answer>41</answer>"],
        )
        assert report.ok, report

    Args:
        reward: a rewardkit reward, a TRL reward function (``def f(completions, answer, **kwargs)``), a function of
            one completion (``def f(completion, answer)``), or a list of these, whose sum is checked.
        examples: rows of the data, ``{"prompt": ..., <columns>}``: two or three of different kinds, or ``[{}]`` for a
            reward that reads no columns. A prompt is a text, or chat messages as in your dataset:
            ``{"prompt": [{"role": "user", "content": "6*7?"}], "answer": "42"}``.
        good: completions that deserve full marks: one per example, a list of them per example, a list of any other
            length for every example, or a function of the row. A completion is a text or a list of chat messages; if
            the prompt is chat messages, a TRL function gets a text as TRL passes it, as ``[{"role": "assistant",
            "content": text}]``. Without them, the laws of right and wrong are skipped.
        bad: completions that deserve less, in the same form: ordinary mistakes of a model.
        laws: `Law`s or their names; all laws by default, including those for exploits.
        without: laws to leave out.
        exploits: whether to try to get paid without doing the task.
        right: (text, row) -> whether a completion is right. With it, the search also tries texts that have the gold
            answer.
        distractors: answers that are wrong for every example; one that may equal a gold answer is an error.
        chains: completions of the first example, each better than the one before; ``(number, [...])`` for another.
        indifferent: the changes that must not change a score: ``"whitespace"``, ``"unicode"``, ``"case"``.
        beside: other rewards that the trainer adds to this one. If it judges only a part of the answer, it is not
            blamed for paying completions that the sum distinguishes from a right one.
        environment: the class of an environment, or a function that makes one, as for TRL's ``environment_factory``.
            The calls of every completion run in a fresh one, which is reset with the row, and their real results take
            the place of those in the completion. ``rk.agents.final_state`` and ``rk.agents.environment_reward`` need
            it.
        tools: functions that completions may call; they run in the same way. Without `environment` and `tools`, calls
            have the results that the completion says.
        nothing_to_do: the numbers of examples in which a policy that calls no tool is right.
        margin: the least amount by which each good completion must score above each bad one.
        regressions: a file that keeps the exploits found; the next check tries them again.
        budget: seconds for everything; a law without time left is reported as unfinished, and the report says which
            budget would do. Most checks take 5 to 40 s. If the reward hangs, the check may take twice as long, so that
            the other laws are also checked.
        patience: seconds that one completion may take before the reward counts as hanging.
        seed: the same seed draws the same completions.
        fail_fast: stop at the first broken law.
        isolate: run in a forked child if the system allows it, so that a reward that hangs or dies is a finding.
        components: also check each addend of a list or sum by itself: the sum may hide its faults. The sum gets twice
            the time of a component.
        told: a function that is called with the name of each law that starts, its number, and the number of laws.

    Returns:
        A `Report`: ``.ok`` (no fault was found), ``.complete`` (all laws were finished), ``.findings``, a text when
        printed, ``.to_json``, ``.to_html``.

    Raises:
        BindingError: the examples lack a column that the reward reads.
        RewardDefinitionError: an unknown law, or a distractor that equals a gold answer.
    """
    subject = subject_of(
        reward,
        examples,
        good=good,
        bad=bad,
        right=right,
        distractors=distractors,
        chains=chains,
        indifferent=indifferent,
        beside=beside,
        environment=environment,
        tools=tools,
        nothing_to_do=nothing_to_do,
        margin=margin,
        seed=seed,
    )
    todo = selected(laws, without=without or (), exploits=exploits, regressions=regressions)
    parts = components_of(subject) if components else []
    started = time.monotonic()
    results: list[Report] = []

    def checked(one: RewardUnderTest, seconds: float, source: Any) -> Report:
        """Check the whole reward or a component; its findings know how to import it."""
        began, output, before = time.monotonic(), Output(), len(results) * len(todo)
        one.deadline, one.imports = began + seconds, _imports(source, environment)

        def on_law(law: str, number: int, count: int) -> None:
            if told is not None:
                told(law, before + number, (1 + len(parts)) * count)

        laws_run: dict[str, LawResult] = {}
        with closing(run_laws(one, todo, patience=patience, isolate=isolate, told=on_law, output=output)) as running:
            for result in running:
                laws_run[result.law] = result  # a law that was not finished may go on later
                if fail_fast and result.findings:
                    break
        return Report(
            reward=shorten(one.reward),
            results=tuple(laws_run.values()),
            seed=seed,
            seconds=time.monotonic() - began,
            fingerprint=one.reward.fingerprint,
            printed=output.printed,
            title=one.part,
        )

    results.append(checked(subject, budget * 2 / (2 + len(parts)), reward))
    for number, part in enumerate(parts):
        if fail_fast and not all(report.ok for report in results):
            break
        left = started + budget - time.monotonic()
        own = checked(part, left / (len(parts) - number), part.reward)
        results.append(unrepeated(own, results[0].findings, "as shown above, for the sum"))
    whole, *of_parts = results
    if regressions is not None:
        from rewardkit.check.exploits.regressions import save

        save(regressions, whole.findings, subject.examples)
    remarks = (*per_example(subject.examples, good=good, bad=bad), *failing_calls(subject, patience, isolate=isolate))
    spent = time.monotonic() - started
    return replace(whole, components=tuple(of_parts), seconds=spent, budget=budget, remarks=remarks)


def _imports(reward: Any, environment: Any) -> str:
    """Return the statements that import the reward and the environment; empty if the reward's place is not known."""
    found = imports_of(reward)
    name = getattr(environment, "__name__", "")
    known = (
        found and name.isidentifier() and vars(sys.modules.get(environment.__module__, sys)).get(name) is environment
    )
    return f"{found}; from {environment.__module__} import {name}" if known else found


def subject_of(
    reward: Any, examples: Iterable[Mapping[str, Any]], *, good: Any = (), bad: Any = (), seed: int = 0, **promised: Any
) -> RewardUnderTest:
    """Return the reward with its examples, ready to be checked.

    Raises:
        BindingError: the examples lack a column that the reward reads.
        RewardTypeError: `reward` is not a reward.
    """
    tree = tree_of(reward, "check_reward")
    indifferent = tuple(promised.pop("indifferent", None) or ())
    unknown = set(indifferent) - set(_INDIFFERENCES)
    if unknown:
        raise RewardDefinitionError(
            f"unknown indifferent={sorted(unknown)}. Use {', '.join(map(repr, _INDIFFERENCES))}."
        )
    chains = tuple(_chain(chain) for chain in promised.pop("chains", None) or ())
    distractors = tuple(promised.pop("distractors", None) or ())
    beside = promised.pop("beside", None) or ()
    promised["nothing_to_do"] = tuple(promised.pop("nothing_to_do", None) or ())
    stage = stage_of(promised.pop("environment", None), promised.pop("tools", None) or ())
    promises = Declarations(indifferent=indifferent, chains=chains, distractors=distractors, **promised)
    known = examples_of(examples, () if good is None else good, () if bad is None else bad)
    if not chains:  # which name an example by its place
        known = grouped(known)
    whole = _whole(tree, beside, known, seed, stage)
    subject = RewardUnderTest(
        tree, known, plain=is_foreign(tree), seed=seed, promises=promises, whole=whole, stage=stage
    )
    everything = subject.batch([Trial(subject.formed(""), number) for number in range(len(subject.examples))])
    subject.scorer.check(everything)
    _check_distractors(subject)
    return subject


def _whole(
    tree: Reward, beside: Sequence[Any], examples: tuple[Example, ...], seed: int, stage: Stage
) -> RewardUnderTest | None:
    """Return the sum of a reward and the other rewards of the run; None if there are none, or the examples lack their
    columns."""
    if not beside:
        return None
    try:
        both = tree_of([tree, *beside], "check_reward")
        whole = RewardUnderTest(both, examples, plain=is_foreign(both), seed=seed, stage=stage)
        whole.scorer.check(whole.batch([Trial(whole.formed(""), number) for number in range(len(examples))]))
    except (BindingError, RewardDefinitionError):
        return None
    return whole


def _check_distractors(subject: RewardUnderTest) -> None:
    """Reject distractors that may be right answers, since a reward would be blamed for paying them."""
    for number, example in enumerate(subject.examples if subject.promises.distractors else ()):
        for anatomy in (anatomy_of(text_of(good), example.columns, subject.columns_read) for good in example.good):
            for text in subject.promises.distractors:
                if anatomy.gold and equal(text, anatomy.gold):
                    raise RewardDefinitionError(
                        f"the distractor {shorten(text)} may equal the gold answer {shorten(anatomy.gold)} of "
                        f"examples[{number}] ({shorten(dict(example.columns))}). Remove it from distractors=."
                    )


def _chain(chain: Sequence[Any]) -> tuple[int, tuple[Any, ...]]:
    """Read ``["bad", "better", "best"]`` as a chain of the first example, ``(2, [...])`` as one of the third."""
    if len(chain) == 2 and isinstance(chain[0], int) and not isinstance(chain[1], str):
        return chain[0], tuple(chain[1])
    return 0, tuple(chain)
