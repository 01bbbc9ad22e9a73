"""Laws of siblings: parts of one kind do not stand in for each other, and each that is asked for counts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from rewardkit.check.completion.anatomy import replaced
from rewardkit.check.exploits.documents import Document
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, finding, law
from rewardkit.check.laws.golds import needs_good
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.sensitivity import parts_of, unrelated
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import text_of
from rewardkit.check.reward_under_test.whole import COVERED, covered
from rewardkit.check.variants.siblings import Siblings, siblings_in
from rewardkit.check.variants.wrong_answers import other_value
from rewardkit.errors import shorten

_COUNTS = re.compile(r"(?i)^(?:n|num|min|number|count|exact\w*)(?:_|$)|(?:^|_)(?:count|number)$|s$")
_LIMITS = re.compile(r"(?i)max|most|limit|up_to|below|under|budget")
_TIMES = (1, 3, 10)


@law
def none_stands_in_for_another(subject: Subject) -> Iterator[Finding]:
    """If one right item repeated is paid like all of them, the policy says the easiest one again and again.

    A part of a right completion whose loss costs something is left out, and another part of its kind is repeated.
    """
    needs_good(subject)
    looked = False
    for right, parts in _groups(subject):
        for place in range(len(parts)) if len(parts) > 1 else ():
            nonsense = _nonsense(parts.part(place))
            lost = right.trial(parts.without(place)), right.trial(parts.instead(place, nonsense))
            if any(map(right.paid, subject.see(lost))):
                continue  # it is not needed, or only counted
            other = next((one for one in map(parts.part, range(len(parts))) if one != parts.part(place)), "")
            if not other:
                continue
            looked = True
            texts = [
                parts.instead(place, other),
                *(parts.without_but_more(place, *[other] * times) for times in _TIMES),
            ]
            for text in texts:
                trial = right.trial(text)
                (seen,) = subject.see([trial])
                if right.paid(seen) and not covered(subject, right, trial):
                    what = f"{shorten(parts.part(place))} is missing, {shorten(other)} is repeated"
                    why = f"{what}: it earns {seen.value:.6g}, like the right completion"
                    yield finding("none_stands_in_for_another", subject, trial, seen, why)
                    return
    if not looked:
        raise Skip("no right completion has several parts of one kind that each count")
    if subject.covered:
        raise Skip(COVERED)


def _groups(subject: Subject) -> Iterator[tuple[Judged, Siblings]]:
    for right in judged(subject):
        columns = subject.examples[right.example].columns
        values = [columns[name] for name in sorted(subject.columns_read & set(columns))]
        for parts in siblings_in(right.anatomy, values):
            yield right, parts


def _nonsense(text: str) -> str:
    """Return a part of the same form with other words and numbers in it."""
    return replaced(text, [(part.span, unrelated(part)) for part in parts_of(text)])


@law
def as_many_as_asked_for(subject: Subject) -> Iterator[Finding]:
    """A completion with one part fewer than a column asks for must earn less.

    A right completion has as many bullets, code blocks or tags as a column says. One is left out.
    """
    needs_good(subject)
    looked = False
    for right, parts in _groups(subject):
        if not _is_asked_for(subject, right, len(parts)):
            continue
        (none,) = subject.see([right.trial(parts.without_all())])
        if right.paid(none) or not none.scored:
            continue
        looked = True
        trial = right.trial(parts.without(len(parts) - 1) if len(parts) > 1 else parts.without_all())
        (seen,) = subject.see([trial])
        if right.paid(seen) and not covered(subject, right, trial):
            why = f"with {len(parts) - 1} {parts.kind}s instead of {len(parts)}, it earns {seen.value:.6g}"
            yield finding("as_many_as_asked_for", subject, trial, seen, why)
            return
    if not looked:
        raise Skip("no right completion has as many parts of a kind as a column says")


def _is_asked_for(subject: Subject, right: Judged, count: int) -> bool:
    return any(
        value == count and type(value) is int and _COUNTS.search(name) and not _LIMITS.search(name)
        for name, value in subject.examples[right.example].columns.items()
        if name in subject.columns_read and not (name == right.anatomy.column and right.anatomy.marked)
    )


@law
def more_calls_cost(subject: Subject) -> Iterator[Finding]:
    """If a call that nobody asked for costs nothing, the policy makes every call that may be the right one.

    The call of another example, or one with other arguments, is put behind the right calls.
    """
    needs_good(subject)
    looked = False
    for right, parts in _groups(subject):
        if parts.kind != "call":
            continue
        wrong = [right.trial(text_of(bad)) for bad in subject.examples[right.example].bad]
        if not wrong or any(map(right.paid, subject.see(wrong))):
            continue
        for call in _other_calls(parts):
            looked = True
            trials = [
                right.trial(parts.with_more(call)),
                right.trial(parts.instead(0, f"{call}{parts.joint}{parts.part(0)}")),
            ]
            seen = subject.see(trials)
            if all(map(right.paid, seen)) and not covered(subject, right, trials[0]):
                why = f"with the call {shorten(call)} added, it earns {seen[0].value:.6g}, like the right calls alone"
                yield finding("more_calls_cost", subject, trials[0], seen[0], why)
                return
    if not looked:
        raise Skip("no right completion makes calls in tags")


def _other_calls(parts: Siblings) -> Iterator[str]:
    """Yield the first call with other arguments, and as a call of another function."""
    first = parts.part(0)
    found = re.search(r"\{.*\}", first, re.DOTALL)
    try:
        call = json.loads(found.group()) if found is not None else None
    except (ValueError, RecursionError):
        return
    if isinstance(call, dict) and isinstance(call.get("name"), str) and found is not None:
        arguments = next(
            (name for name in ("arguments", "parameters", "args") if isinstance(call.get(name), Mapping)), ""
        )
        others = [{**call, "name": "delete_account"}]
        others += [{**call, arguments: other_value(call[arguments])}] if arguments and call[arguments] else []
        for other in others:
            yield first[: found.start()] + json.dumps(other) + first[found.end() :]


@law
def order_of_keys_does_not_count(subject: Subject) -> Iterator[Finding]:
    """An object has no order: one whose keys are in another order is as right, and one with other keys is wrong.

    A reward that goes by the order pays values under the wrong keys.
    """
    needs_good(subject)
    looked = False
    for right in judged(subject):
        document = Document.within(right.anatomy)
        if document is None or len(document.value) < 2:
            continue
        looked = True
        value = document.value
        same = right.trial(document.saying(_reformatted(document)))
        turned = right.trial(document.saying(json.dumps(dict(reversed(value.items())), ensure_ascii=False)))
        plain, seen = subject.see([same, turned])
        if right.paid(plain) and seen.scored and not right.paid(seen):
            why = f"with its keys in another order, a right object earns {seen.value:.6g} instead of {right.value:.6g}"
            yield finding("order_of_keys_does_not_count", subject, turned, seen, why)
            return
    if not looked:
        raise Skip("no right completion has an object with several keys")


def _reformatted(document: Document) -> str:
    """Return the same object with other spaces: a reward that refuses it compares texts."""
    compact = json.dumps(document.value, ensure_ascii=False, separators=(",", ":"))
    is_compact = document.span.of(document.text) == compact
    return json.dumps(document.value, ensure_ascii=False) if is_compact else compact


ALL = (none_stands_in_for_another, as_many_as_asked_for, more_calls_cost, order_of_keys_does_not_count)
