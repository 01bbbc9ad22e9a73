"""Laws of form: the same content gets the same score in any form.

The form may be text or chat, a string or a number, one line or several lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from rewardkit.check.findings import Finding, Turn
from rewardkit.check.laws.base import Skip, Variant, finding, law, needs_good_alone
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import anatomies, given, has_parts, score_sweep
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, TrialResult, text_of, with_text
from rewardkit.check.variants.allowed_variants import make_allowed_variants
from rewardkit.check.variants.episodes.messages import has_calls
from rewardkit.check.variants.format_variants import DOTALL, FormatVariant, make_format_variants
from rewardkit.errors import CoercionError, RewardKitError
from rewardkit.tree.coercion import Coercer


@law(advice="Read the text of the last assistant message")
def chat_equals_text(subject: RewardUnderTest) -> Iterator[Variant]:
    """Conversational data contains messages instead of text. The score must not depend on the format."""
    if subject.plain:
        raise Skip("a trainer's function supports only one of the two forms")
    for trial, score in score_sweep(subject)[: subject.affordable(60)]:
        if not (isinstance(trial.completion, str) or len(trial.completion) == 1) or not score.scored:
            continue
        text = text_of(trial.completion)
        message = {"role": "assistant"} if isinstance(trial.completion, str) else trial.completion[0]
        if message.get("tool_calls") or not text:
            continue
        forms: dict[str, Any] = {
            "as text": text,
            "as a message": [{"role": "assistant", "content": text}],
        }
        if has_parts(subject):
            forms["as content in parts"] = [{**message, "content": [{"type": "text", "text": text}]}]
        for name, completion in forms.items():
            explanation = f"scores {{base}} in its original form, but {{score}} {name}"
            yield Variant(Trial(completion, trial.example), explanation, "same", trial)


@law(
    advice="Annotate the column with its type (answer: float), so that rewardkit converts it",
    skip="no column is annotated with a type other than str",
)
def strings_equal_typed_columns(subject: RewardUnderTest) -> Iterator[Variant | Finding | None]:
    """Text files contain "False" and "42" instead of False and 42. Both forms must mean the same.

    This law checks columns whose argument is annotated with a type.
    """
    for _, binding in subject.bindings:
        if binding.foreign:
            yield from _flags_as_text(subject)
            continue
        for parameter in binding.columns:
            if parameter.annotation in (str, Any) or binding.trusted:
                continue
            for trial in given(subject)[: subject.affordable(40)]:
                value = subject.examples[trial.example].columns.get(parameter.source)
                for other in _other_forms(value, parameter.coercer):
                    yield None
                    changed = replace(trial, columns={parameter.source: other})
                    with suppress(RewardKitError):
                        subject.see([trial, changed])
                        column = parameter.source
                        message = f"scores {{base}} with {column}={value!r}, but {{score}} with {column}={other!r}"
                        yield Variant(changed, message, "same", trial)


def _flags_as_text(subject: RewardUnderTest) -> Iterator[Finding]:
    """Check trainers' functions that call ``bool(...)`` on a flag stored as text: "False" must not count as True."""
    if "bool" not in subject.mined.names:
        return
    for trial in given(subject):
        for column, value in subject.examples[trial.example].columns.items():
            if value in ("False", "false") and column in subject.columns_read:
                no, text, yes = subject.see(
                    [Trial(trial.completion, trial.example, {column: flag}) for flag in (False, "False", True)]
                )
                if text.same(yes) and not text.same(no):
                    changed = Trial(trial.completion, trial.example, {column: "False"})
                    message = (
                        f"scores {text.value:.6g} with {column}='False', as with True, but {no.value:.6g} with False"
                    )
                    yield finding(subject, changed, text, message)
                    return


def _other_forms(value: Any, coercer: Coercer) -> Iterator[Any]:
    """Yield a typed value as text, or a text as a typed value, if both coerce to the same value."""
    try:
        coerced = coercer(value)
    except (CoercionError, TypeError, ValueError):
        return
    candidates: list[Any] = []
    if isinstance(value, str):
        candidates.append(coerced)
    elif isinstance(value, (bool, int, float)):
        candidates.append(str(value))
    elif isinstance(value, (list, dict)):
        try:
            candidates.append(json.dumps(value))
        except (TypeError, ValueError):
            return
    for candidate in candidates:
        try:
            if type(candidate) is not type(value) and coercer(candidate) == coerced:
                yield candidate
        except (CoercionError, TypeError, ValueError):
            continue


_SOME = 0.05
"""The share of a correct completion's score whose loss is a fault. Arbitrary: a smaller loss may be intended."""


@law(
    advice="Accept this form: use re.DOTALL in the pattern, .strip() the answer, and remove commas and "
    "units from both sides",
    fast=True,
    turn=Turn.EARLY,
    names_line=True,
    applies=needs_good_alone,
    every=True,
)
def right_however_written(subject: RewardUnderTest) -> Iterator[Finding]:
    """Models format correct answers in many ways. If one of these formats does not score, the policy learns an
    arbitrary format.

    Correct completions are tried with line breaks in the thinking and around the answer, on one line, with Windows line
    endings, after an opening tag in the prompt, and with the answer without the gold answer's comma or unit. They are
    also tried with another accepted answer, in another order, and in other forms, if the rules of the task allow this.
    """
    reported_names: set[str] = set()
    for right in judged(subject):
        for variant in _variants(subject, right) if right.text_counts else ():
            violation = None if variant.name in reported_names else _paid_less(subject, right, variant)
            if violation is not None:
                reported_names.add(variant.name)
                yield violation
    yield from _only_on_one_line(subject)


def _variants(subject: RewardUnderTest, right: Judged) -> Iterator[FormatVariant]:
    yield from make_format_variants(subject, right)
    yield from make_allowed_variants(subject, right)


def _paid_less(subject: RewardUnderTest, right: Judged, variant: FormatVariant) -> Finding | None:
    """Return a finding if a correct completion loses its score because of its format."""
    trial = right.trial(variant.text)
    score = subject.see([trial])[0]
    nothing = _wrong_answer_score(subject, right)
    limit = right.value - _SOME * (right.value - nothing) if variant.any_cost or variant.partly else nothing
    if not score.scored or score.value > limit or right.paid(score) or (variant.partly and score.value <= nothing):
        return None
    if variant.control and not right.paid(subject.see([right.trial(variant.control)])[0]):
        return None
    hint = f": {variant.hint}" if variant.hint and (variant.hint != DOTALL or subject.mined.has_dots) else ""
    message = f"a correct completion {variant.name} scores {score.value:.6g} instead of {right.value:.6g}{hint}"
    advice = _dot_advice(subject)
    return finding(subject, trial, score, message, unreachable=variant.unreachable, advice=advice, lead=variant.lead)


def _dot_advice(subject: RewardUnderTest) -> str:
    """Return the advice for a reward without a pattern that has a dot, or "" if the law's advice fits."""
    advice = "Accept this form: .strip() the answer, and remove commas and units from both sides"
    return "" if subject.mined.has_dots else advice


def _wrong_answer_score(subject: RewardUnderTest, right: Judged) -> float:
    """Return the highest score of an incorrect answer, or the lowest score if the reward does not judge answers."""
    wrong = [score.value for _, score in right.honest if score.scored and not right.paid(score)]
    return (max(wrong) if right.judges and wrong else _lowest(subject, right.example)) + EQUAL


def _lowest(subject: RewardUnderTest, example: int) -> float:
    return min(
        (score.value for trial, score in score_sweep(subject) if trial.example == example and score.scored), default=0.0
    )


def _only_on_one_line(subject: RewardUnderTest) -> Iterator[Finding]:
    """Report a reward that accepts a correct completion on one line, but not on several lines as it was given."""
    for number, example in enumerate(subject.examples[:4]):
        for completion, anatomy in zip(example.good, anatomies(subject, number), strict=True):
            if has_calls(completion):
                continue
            trial = Trial(completion, number)
            line = re.sub(r"\s*\n\s*", " ", anatomy.text.strip())
            score, other = subject.see([trial, Trial(with_text(completion, line), number)])
            if score.scored and _is_more(other, score) and score.value <= _lowest(subject, number) + EQUAL:
                message = (
                    f"a correct completion scores {score.value:.6g} on several lines, but {other.value:.6g} on one line"
                )
                hint = f": {DOTALL}" if subject.mined.has_dots else ""
                yield finding(subject, trial, score, f"{message}{hint}", advice=_dot_advice(subject))
                return


def _is_more(score: TrialResult, other_score: TrialResult) -> bool:
    # Sums in a different order may differ in their last digits.
    return score.scored and score.value > other_score.value + 1e-6
