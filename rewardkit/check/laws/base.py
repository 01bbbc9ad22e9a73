"""The engine for laws: the `law` decorator, and the code that tries variants of completions.

A law is a decorated generator, for example::

    @law(advice="Let each call count", skip="no column has several calls", per=judged_actions, applies=needs_calls) def
    missing_calls_cost(subject, right): '''If one correct call scores as high as all the needed calls, the policy makes
    only one.''' yield Variant(right_with_one_call, "one call earns {score}, as all of them do")
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, overload

from rewardkit.check.completion.lines import deciding_line
from rewardkit.check.findings import Finding, Law, Turn, advice_for
from rewardkit.check.reading.slips import reads_messages
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sensitivity import shrink_text
from rewardkit.check.reward_under_test.sweep import given, has_messages
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, TrialResult, text_of, with_text
from rewardkit.check.reward_under_test.whole import COVERED, covered, refused_by_others
from rewardkit.errors import RewardDefinitionError, shorten

OVER = "out of time"
"""The reason that a law was not finished."""
NO_GOOD = "no correct completions were given"
"""The reason that a law that starts with correct completions was skipped."""


class Skip(Exception):
    """The law does not apply to this reward. The message is the reason."""


class Unfinished(Exception):
    """The law may apply, but its check was cut short. The message explains why. Earlier findings still count.

    Attributes:
        reached: the number of kinds of completions that were tried. If time is left at the end, the law continues after
            these.
        count: the total number of kinds.
    """

    def __init__(self, reason: str, reached: int = 0, count: int = 0) -> None:
        super().__init__(reason)
        self.reached = reached
        self.count = count


@dataclass(frozen=True)
class Variant:
    """A completion derived from another completion, with a condition on its score.

    Attributes:
        trial: the completion.
        why: the finding's message. ``{score}`` is replaced with the score of `trial`, ``{base}`` with the score of
            `base`.
        must: the condition: compared with `base`, `trial` must score ``"less"``, ``"more"``, ``"no more"``, ``"no
            less"``, or the ``"same"``.
        base: the completion to compare with. The default is the correct completion with which the law starts.
        slack: the tolerance for the comparison. By default, only rounding errors are tolerated.
        twins: other completions with the same condition. The law is broken only if `trial` and all twins break it.
        lead: whether a violation is evidence that a person must judge, rather than a fault.
    """

    trial: Trial
    why: str
    must: Literal["less", "more", "no more", "no less", "same"] = "less"
    base: Trial | None = None
    slack: float | None = None
    twins: tuple[Trial, ...] = ()
    lead: bool = False

    def breaks(self, score: TrialResult, base: TrialResult) -> bool:
        """Return whether `score`, compared with the score `base`, violates the variant's condition."""
        if self.must == "same":
            return score.tried and base.tried and not score.same(base)
        if not score.scored or not base.scored:
            return False
        size = max(1.0, abs(base.value))
        if self.must == "less":
            return score.value >= base.value - EQUAL * size
        if self.must == "more":
            return score.value <= base.value
        if self.must == "no less":
            return score.value < base.value - (EQUAL if self.slack is None else self.slack)
        # Sums in a different order may differ in their last digits.
        return score.value > base.value + (1e-6 * size if self.slack is None else self.slack)


def needs_good(subject: RewardUnderTest) -> None:
    """Raise `Skip` if no correct completions were given."""
    if not any(example.good for example in subject.examples):
        raise Skip(NO_GOOD)


def needs_good_alone(subject: RewardUnderTest) -> None:
    """Raise `Skip` if no correct completions were given, or if the reward compares completions with each other."""
    needs_good(subject)
    if subject.scope != "sample":
        raise Skip(f"the reward compares completions (scope {subject.scope!r})")


def needs_own_code(subject: RewardUnderTest) -> None:
    """Raise `Skip` if no correct completions were given, or if the reward has no user-defined function."""
    needs_good(subject)
    if subject.bindings and all(binding.trusted for _, binding in subject.bindings):
        raise Skip("a ready reward's behavior is set by its options")


def given_rights(subject: RewardUnderTest) -> list[Trial]:
    """Return the given correct completions of all examples."""
    return [Trial(good, number) for number, example in enumerate(subject.examples) for good in example.good]


Make = Callable[..., Iterable[Variant | Finding | None]]
"""A function that yields a law's variants and findings."""


@overload
def law(make: Make, /) -> Law: ...
@overload
def law(
    *,
    advice: str = "",
    skip: str = "",
    applies: Callable[[RewardUnderTest], None] | None = None,
    per: Callable[[RewardUnderTest], Iterable[Any]] | None = None,
    every: bool = False,
    advice_on_calls: str = "",
    fast: bool = False,
    turn: Turn = Turn.USUAL,
    names_line: bool = False,
) -> Callable[[Make], Law]: ...


def law(
    make: Make | None = None,
    /,
    *,
    advice: str = "",
    skip: str = "",
    applies: Callable[[RewardUnderTest], None] | None = None,
    per: Callable[[RewardUnderTest], Iterable[Any]] | None = None,
    every: bool = False,
    advice_on_calls: str = "",
    fast: bool = False,
    turn: Turn = Turn.USUAL,
    names_line: bool = False,
) -> Law | Callable[[Make], Law]:
    """Convert a generator function to a law with the function's name.

    ::

        @law
        def thanks_are_free(reward, right):
            '''If thanks raise the score, the policy thanks in every answer.'''
            thankful = right.with_text(right.text + " Thank you!")
            yield Variant(thankful, "thanks raise the score from {base} to {score}", must="no more")

    The first argument is the reward, with ``examples``, ``see(trials)`` for the results of trials, and
    ``value(completion, example)`` for one total. A function with a second argument is called for each correct
    completion, a `Trial`. The docstring states why a training run needs the law. The function yields variants,
    findings, or None. None means that the law applies, but there is nothing to try. It raises `Skip` if the law does
    not apply.

    Args:
        advice: the next step after a finding, without a period at the end.
        skip: the reason that the law does not apply, for a generator that yields nothing.
        applies: a function that raises `Skip` if the law does not apply.
        per: a function that returns the items for which the generator is called, instead of the correct completions.
        every: whether to report every fault instead of only the first one.
        advice_on_calls: the advice if the completions' calls were really run.
        fast: whether ``rewardkit check --fast`` runs the law.
        turn: the law's position in the order of laws.
        names_line: whether findings name the source line at which the reward decides the score.

    Raises:
        RewardDefinitionError: the function does not have one or two arguments, or, during the check, it yields any
            other value.
    """

    def entry(make: Make) -> Law:
        starts = _starts(make, per)

        @functools.wraps(make)
        def check(subject: RewardUnderTest) -> Iterator[Finding]:
            if applies is not None:
                applies(subject)
            elif starts is given_rights:
                needs_good(subject)
            looked = False
            for start in (None,) if starts is None else starts(subject):
                for item in _items(make, (subject,) if starts is None else (subject, start)):
                    looked = True
                    fault = _check_variant(subject, start, item) if isinstance(item, Variant) else item
                    if fault is not None:
                        yield fault
                        if not (every or fault.lead):
                            return
            if skip and not looked:
                raise Skip(skip)
            if subject.covered:
                raise Skip(COVERED)

        return Law(make.__name__, check, advice, advice_on_calls, fast, turn, names_line)

    return entry if make is None else entry(make)


Starts = Callable[[RewardUnderTest], Iterable[Any]]


def _starts(make: Make, per: Starts | None) -> Starts | None:
    """Return the function that provides the second argument of `make`, or None if `make` has only one argument."""
    parameters = inspect.signature(make).parameters.values()
    needed = sum(parameter.default is parameter.empty for parameter in parameters)
    if needed not in (1, 2) or (per is not None and needed == 1):
        raise RewardDefinitionError(
            f"the law {make.__name__!r} has {needed} argument{'s' * (needed != 1)}. Write "
            f"`def {make.__name__}(reward, right):` to get each correct completion, or `def {make.__name__}(reward):`"
        )
    return per or (given_rights if needed == 2 else None)


def _items(make: Make, arguments: tuple[Any, ...]) -> Iterator[Variant | Finding | None]:
    """Yield a law's variants and findings. Raise a RewardDefinitionError for any other value."""
    items: Any = make(*arguments)
    if not isinstance(items, Iterable):
        raise RewardDefinitionError(
            f"the law {make.__name__!r} returned {shorten(items)}. Yield variants: "
            '`yield Variant(right.with_text("..."), "the variant scores {score}")`'
        )
    for item in items:
        if not isinstance(item, (Variant, Finding, type(None))):
            raise RewardDefinitionError(
                f"the law {make.__name__!r} yields {shorten(item)}. Yield a Variant, or the result of "
                "finding(reward, trial, score, why)"
            )
        yield item


def _check_variant(subject: RewardUnderTest, right: Any, variant: Variant) -> Finding | None:
    """Return a finding if `variant` violates its condition, unless other rewards in the run judge the variant."""
    start = variant.base or (right if isinstance(right, Trial) else getattr(right, "as_given", None))
    if start is None:
        raise RewardDefinitionError(
            f"the law {subject.law.name!r} yields a variant, but nothing to compare it with. Pass base=, or "
            f"add a second argument: `def {subject.law.name}(reward, right):`"
        )
    base, *scores = subject.see([start, variant.trial, *variant.twins])
    if not all(variant.breaks(score, base) for score in scores):
        subject.rejects = subject.rejects or (variant.must == "less" and base.scored and scores[0].scored)
        return None
    others_judge = {"less": covered, "no more": refused_by_others}.get(variant.must)
    if others_judge is not None and others_judge(subject, start, variant.trial):
        return None
    earned = f"{score_text(scores[0])} ({scores[0].reason})" if scores[0].reason else score_text(scores[0])
    message = variant.why.replace("{score}", earned).replace("{base}", score_text(base))
    correct = start.completion if start in given_rights(subject) else None
    return finding(subject, variant.trial, scores[0], message, lead=variant.lead, correct=correct)


def finding(
    subject: RewardUnderTest,
    trial: Trial,
    score: TrialResult | None,
    why: str,
    *,
    law: Law | None = None,
    component: str = "total",
    advice: str = "",
    family: str = "",
    matters: str = "",
    **more: Any,
) -> Finding:
    """Return a `Finding` about one trial, in the form that the report shows.

    Args:
        subject: the reward under test.
        trial: the completion at fault.
        score: the completion's score, or None if there is none.
        why: the fault, with the numbers.
        law: the broken law. The default is the law that is being checked.
        component: the component at fault.
        advice: the next step, if it is more specific than the advice for the law and the family.
        family: the exploit's family.
        matters: the reason why the fault matters, if it differs from the law's reason.
        more: other attributes of the finding.
    """
    broken = law or subject.law
    example, stage, completion = subject.examples[trial.example], subject.stage, trial.completion
    columns = {**example.shown, **(trial.columns or {})}
    if more.get("correct") is not None:
        more["correct_score"] = subject.see([Trial(more["correct"], trial.example)])[0].score
    if stage.real:  # the real results of its calls
        completion, _ = stage.played(completion, columns)
    trace = "" if score is None else score.trace
    chat = not isinstance(completion, str) or isinstance(columns.get("prompt"), (list, tuple))
    return Finding(
        law=broken.name,
        component=subject.part if subject.part and component == "total" else component,
        completion=completion,
        environment=stage.name,
        columns=columns,
        score=None if score is None else score.score,
        why=why,
        matters=matters or broken.why,
        note="" if score is None else score.note,
        trace=trace,
        own=None if score is None else score.components.get(component),
        line=deciding_line(subject, trial, score) if broken.names_line else "",
        of=subject.part,
        imports=subject.imports,
        family=family,
        advice=advice or advice_for(broken, family=family, trace=trace, chat=chat, environment=stage.name),
        **more,
    )


def score_text(score: TrialResult) -> str:
    """Return a score as text, or the reason that there is none."""
    return f"{score.value:.6g}" if score.scored else str(score.outcome)


def about_good(subject: RewardUnderTest) -> str:
    """Return a hint for a reward without high scores if correct completions seem to be missing, otherwise ""."""
    good = [example.good for example in subject.examples]
    if not any(good):
        return ". No correct completion was given, so perhaps none was tried: pass one per example (good=, GOOD)"
    if len(good) > 1 and len(good[0]) != len(good) and all(completions == good[0] for completions in good):
        count = f"{len(good[0])} completion{'' if len(good[0]) == 1 else 's'}"
        return (
            f". good= has {count} for {len(good)} examples, and each counts as correct for every example: pass "
            "one per example"
        )
    return ""


def misread_chat(subject: RewardUnderTest) -> str:
    """Return advice if a trainer's function compares chat messages as if they were text, otherwise ""."""
    is_plain = any(binding.foreign for _, binding in subject.bindings)
    if not is_plain or not has_messages(subject) or reads_messages(subject.reward):
        return ""
    values = {round(score.value, 9) for score in subject.see(given(subject)) if score.scored}
    if len(values) > 1:
        return ""
    return (
        "Completions are lists of chat messages here, because the prompts are. Read the text with "
        'completion[-1]["content"]. If the prompts in your dataset are strings, write strings in the examples'
    )


def shortest(
    subject: RewardUnderTest,
    trial: Trial,
    shows: Callable[[TrialResult], bool],
    *,
    keep: str = "",
    seconds: float = 2.0,
) -> tuple[Trial, TrialResult]:
    """Return the trial with the shortest text found for which `shows` still returns True, with its score."""

    def made(text: str) -> Trial:
        return Trial(with_text(trial.completion, text), trial.example, trial.columns)

    text = text_of(trial.completion)
    if text and not (isinstance(trial.completion, list) and len(trial.completion) != 1):
        # At least 0.2 s, which is arbitrary: with less time, hardly any completion would be scored.
        limit = min(seconds, max(0.2, subject.left / 4))
        best = shrink_text(text, lambda shorter: shows(subject.see([made(shorter)])[0]), seconds=limit, keep=keep)
        trial = trial if best == text else made(best)
    return trial, subject.see([trial])[0]
