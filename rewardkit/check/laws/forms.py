"""Laws of form: the same content gets the same score as text or as chat, as a string or as a number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, finding, law
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.sweep import given, swept
from rewardkit.check.reward_under_test.trials import Trial, text_of
from rewardkit.errors import CoercionError, RewardKitError
from rewardkit.tree.coercion import Coercer


@law(
    advice="Read the text of the last assistant message",
)
def chat_equals_text(subject: Subject) -> Iterator[Finding]:
    """Conversational data passes messages where other data has text; the score must not depend on that."""
    if subject.plain:
        raise Skip("a trainer's function is written for only one of the two forms")
    for trial, seen in swept(subject)[: subject.affordable(60)]:
        if not (isinstance(trial.completion, str) or len(trial.completion) == 1) or not seen.scored:
            continue
        text = text_of(trial.completion)
        message = {"role": "assistant"} if isinstance(trial.completion, str) else trial.completion[0]
        if message.get("tool_calls") or not text:
            continue
        parts = [{**message, "content": [{"type": "text", "text": text}]}]
        said_alone = [{"role": "assistant", "content": text}]
        forms: list[tuple[str, Any]] = [("as text", text), ("as a message", said_alone), ("as content in parts", parts)]
        for name, completion in forms:
            other = Trial(completion, trial.example)
            said = subject.see([other])[0]
            if not said.same(seen):
                got = f"{said.value:.6g}" if said.scored else f"{said.outcome} ({said.reason})"
                why = f"scores {seen.value:.6g} in its original form, but {got} {name}"
                yield finding(subject, other, said, why)
                return


@law(
    advice="Annotate the column with its type (answer: float), and rewardkit converts it",
    every=True,
    skip="no column is annotated with a type other than str",
)
def strings_equal_typed_columns(subject: Subject) -> Iterator[Finding | None]:
    """Text files give "False" and "42" where a table has False and 42; both must mean the same.

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
                    differing = _compared(subject, trial, parameter.source, value, other)
                    if differing is not None:
                        yield differing
                        return


def _flags_as_text(subject: Subject) -> Iterator[Finding]:
    """Check trainers' functions that call ``bool(...)`` on a flag that is text: "False" must not count as True."""
    if "bool" not in subject.mined.names:
        return
    for trial in given(subject):
        for column, value in subject.examples[trial.example].columns.items():
            if value in ("False", "false") and column in subject.columns_read:
                no, text, yes = subject.see(
                    [Trial(trial.completion, trial.example, {column: form}) for form in (False, "False", True)]
                )
                if text.same(yes) and not text.same(no):
                    changed = Trial(trial.completion, trial.example, {column: "False"})
                    why = f"scores {text.value:.6g} with {column}='False', as with True, but {no.value:.6g} with False"
                    yield finding(subject, changed, text, why)
                    return


def _compared(subject: Subject, trial: Trial, column: str, value: Any, other: Any) -> Finding | None:
    changed = Trial(trial.completion, trial.example, {column: other})
    try:
        before, after = subject.see([trial])[0], subject.see([changed])[0]
    except RewardKitError:
        return None
    if before.same(after):
        return None
    why = f"scores {before.value:.6g} with {column}={value!r}, but {after.value:.6g} with {column}={other!r}"
    return finding(subject, changed, after, why)


def _other_forms(value: Any, coercer: Coercer) -> Iterator[Any]:
    """Yield a typed value as text and a text as a typed value, if it coerces to the same value."""
    try:
        meant = coercer(value)
    except (CoercionError, TypeError, ValueError):
        return
    candidates: list[Any] = []
    if isinstance(value, str):
        candidates.append(meant)
    elif isinstance(value, (bool, int, float)):
        candidates.append(str(value))
    elif isinstance(value, (list, dict)):
        try:
            candidates.append(json.dumps(value))
        except (TypeError, ValueError):
            return
    for candidate in candidates:
        try:
            if type(candidate) is not type(value) and coercer(candidate) == meant:
                yield candidate
        except (CoercionError, TypeError, ValueError):
            continue
