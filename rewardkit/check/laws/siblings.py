"""Laws of siblings: parts of one kind do not stand in for each other, and each that is asked for counts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from rewardkit.check.completion.anatomy import replaced
from rewardkit.check.exploits.documents import Document
from rewardkit.check.findings import Turn
from rewardkit.check.laws.base import Variant, law, needs_good
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.sensitivity import parts_of, unrelated
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import text_of
from rewardkit.check.variants.siblings import Siblings, siblings_in
from rewardkit.check.variants.wrong_answers import other_value
from rewardkit.errors import shorten

_COUNTS = re.compile(r"(?i)^(?:n|num|min|number|count|exact\w*)(?:_|$)|(?:^|_)(?:count|number)$|s$")
_LIMITS = re.compile(r"(?i)max|most|limit|up_to|below|under|budget")
_TIMES = (1, 3, 10)


def _groups(subject: Subject) -> Iterator[tuple[Judged, Siblings]]:
    """Yield the parts of one kind of each right completion."""
    for right in judged(subject):
        columns = subject.examples[right.example].columns
        values = [columns[name] for name in sorted(subject.columns_read & set(columns))]
        for parts in siblings_in(right.anatomy, values):
            yield right, parts


@law(
    advice="Compare each part with its own counterpart, in order: zip(..., strict=True)",
    skip="no right completion has several parts of one kind that each count",
    applies=needs_good,
    per=_groups,
    turn=Turn.EARLY,
)
def none_stands_in_for_another(subject: Subject, group: tuple[Judged, Siblings]) -> Iterator[Variant]:
    """If one right item repeated is paid like all of them, the policy says the easiest one again and again.

    A part of a right completion whose loss costs something is left out, and another part of its kind is repeated.
    """
    right, parts = group
    listed = [parts.part(index) for index in range(len(parts))]
    for index, part in enumerate(listed):
        other = next((another for another in listed if another != part), "")
        nonsense = replaced(part, [(word.span, unrelated(word)) for word in parts_of(part)])
        lost = right.trial(parts.without(index)), right.trial(parts.instead(index, nonsense))
        if not other or any(map(right.paid, subject.see(lost))):
            continue  # it is not needed, or only counted
        repeated = (parts.without_but_more(index, *[other] * times) for times in _TIMES)
        for text in (parts.instead(index, other), *repeated):
            what = f"{shorten(part)} is missing, {shorten(other)} is repeated"
            why = f"{what}: it earns {{score}}, like the right completion"
            yield Variant(right.trial(text), why, base=right.as_given)


@law(
    advice="Compare the number of parts, too: zip(..., strict=True), or len(found) == len(wanted)",
    skip="no right completion has as many parts of a kind as a column says",
    applies=needs_good,
    per=_groups,
    turn=Turn.EARLY,
)
def as_many_as_asked_for(subject: Subject, group: tuple[Judged, Siblings]) -> Iterator[Variant]:
    """A completion with one part fewer than a column asks for must earn less.

    A right completion has as many bullets, code blocks or tags as a column says. One is left out.
    """
    right, parts = group
    count = len(parts)
    is_asked_for = any(
        value == count and type(value) is int and _COUNTS.search(name) and not _LIMITS.search(name)
        for name, value in subject.examples[right.example].columns.items()
        if name in subject.columns_read and not (name == right.anatomy.column and right.anatomy.marked)
    )
    if not is_asked_for:
        return
    (without_any,) = subject.see([right.trial(parts.without_all())])
    if without_any.scored and not right.paid(without_any):
        text = parts.without(count - 1) if count > 1 else parts.without_all()
        why = f"with {count - 1} {parts.kind}s instead of {count}, it earns {{score}}"
        yield Variant(right.trial(text), why, base=right.as_given)


@law(
    advice="Compare all calls with all that are wanted, and give less for each that nobody asked for",
    skip="no right completion makes calls in tags",
    applies=needs_good,
    per=_groups,
    turn=Turn.EARLY,
)
def more_calls_cost(subject: Subject, group: tuple[Judged, Siblings]) -> Iterator[Variant]:
    """If a call that nobody asked for costs nothing, the policy makes every call that may be the right one.

    The call of another example, or one with other arguments, is put behind the right calls.
    """
    right, parts = group
    wrong = [right.trial(text_of(bad)) for bad in subject.examples[right.example].bad]
    if parts.kind != "call" or not wrong or any(map(right.paid, subject.see(wrong))):
        return
    for call in _other_calls(parts):
        behind = right.trial(parts.with_more(call))
        before = right.trial(parts.instead(0, f"{call}{parts.joint}{parts.part(0)}"))
        why = f"with the call {shorten(call)} added, it earns {{score}}, like the right calls alone"
        yield Variant(behind, why, base=right.as_given, twins=(before,))


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


@law(
    advice="Parse the JSON and compare the objects, not their texts",
    skip="no right completion has an object with several keys",
    applies=needs_good,
    per=judged,
    turn=Turn.EARLY,
)
def order_of_keys_does_not_count(subject: Subject, right: Judged) -> Iterator[Variant | None]:
    """An object has no order: one whose keys are in another order is as right, and one with other keys is wrong.

    A reward that goes by the order pays values under the wrong keys.
    """
    document = Document.within(right.anatomy)
    if document is None or len(document.value) < 2:
        return
    yield None
    (plain,) = subject.see([right.trial(document.saying(_reformatted(document)))])
    if right.paid(plain):
        turned = json.dumps(dict(reversed(document.value.items())), ensure_ascii=False)
        why = "with its keys in another order, a right object earns {score} instead of {base}"
        yield Variant(right.trial(document.saying(turned)), why, "no less")


def _reformatted(document: Document) -> str:
    """Return the same object with other spaces: a reward that refuses it compares texts."""
    compact = json.dumps(document.value, ensure_ascii=False, separators=(",", ":"))
    is_compact = document.span.of(document.text) == compact
    return json.dumps(document.value, ensure_ascii=False) if is_compact else compact
