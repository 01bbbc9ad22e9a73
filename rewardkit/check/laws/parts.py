"""Laws of parts: each part of a correct completion counts, no part replaces another, and almost right is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby

from rewardkit.check.completion.parsed_completion import as_number, replaced
from rewardkit.check.exploits.documents import Document
from rewardkit.check.findings import Turn
from rewardkit.check.laws.base import Variant, law, needs_good, needs_good_alone
from rewardkit.check.reward_under_test.judgment import Judged, is_penalty, judged, wrongness
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sensitivity import (
    Part,
    atoms_of,
    essence,
    essential_parts,
    parts_of,
    unrelated,
    with_part,
)
from rewardkit.check.reward_under_test.trials import text_of
from rewardkit.check.variants.siblings import Siblings, siblings_in
from rewardkit.check.variants.values import values_in
from rewardkit.check.variants.wrong_answers import other_value
from rewardkit.errors import shorten

_BARE = re.compile(r"(?:\[+[^\[\]\n]*\]+|#+ [^\n]*|[A-Z][\w ]{0,30}:(?=\s|\Z)|[\s.,;*-])+")
"""A text that consists only of citations, headings, and labels."""
_PROSE = 4
"""The minimum number of words whose loss or replacement counts. Arbitrary."""


@law(
    advice="Use a small absolute tolerance for numbers, and compare whole strings",
    skip="no change to a number or word from a column changed a correct completion's score",
    applies=needs_good,
    per=judged,
    turn=Turn.EARLY,
)
def almost_right_is_wrong(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If 100 counts as 10, or "unsupported" counts as "supported", the policy learns to be vague.

    The score of a correct completion may depend on numbers and words from a column. Each of them is replaced with a
    number or word that begins or ends with it, or that differs in sign or by a factor of ten.
    """
    # More than three different scores: partial credit. Two or three are right, wrong and no answer.
    graded = len({round(score.value, 6) for _, score in right.honest if score.scored}) > 3
    words = {word.lower() for name in subject.columns_read for word in _words(subject, right.example, name)}
    for part in essential_parts(subject, right):
        if part.kind == "number":
            is_judged = part.text.lower() in words
        else:
            is_judged = any(gold.holds(part.span) for gold in right.anatomy.places)
        for other in _near_miss_texts(part, graded) if is_judged else ():
            if other.lower() not in words:
                message = f"with {other!r} for {part.text!r}, it scores {{score}}, the same as the correct completion"
                yield Variant(right.trial(with_part(right, part, other)), message)


def _words(subject: RewardUnderTest, example: int, column: str) -> Iterator[str]:
    for atom in atoms_of(subject.examples[example].columns.get(column)):
        # Shorter words ("is", "the") occur in any sentence by chance.
        yield from (part.text for part in parts_of(atom) if len(part.text) > 3 or part.kind == "number")


def _near_miss_texts(part: Part, graded: bool) -> Iterator[str]:
    """Yield texts that certainly differ from `part` but match a careless search.

    Args:
        part: the part on which the score depends.
        graded: whether the score depends on the distance of a number, so that another number may be just as close.
    """
    text = part.text
    if part.kind == "word":
        yield from (f"un{text}", f"{text}xyz", f"xyz{text}")
        # Half of a shorter word cannot be recognized.
        if len(text) > 6:
            yield text[: len(text) // 2]
        return
    number = as_number(text)
    if not number or graded:
        return
    digits = text.lstrip("+-")
    if number < 0:
        yield digits
    if re.fullmatch(r"\d+", digits):
        yield from (f"{text}0", f"{text[: len(text) - len(digits)]}1{digits}")


@law(
    advice="Require every part, and the same number of parts: use all(...), not any(...) or only the first part",
    skip="nothing can be removed from the correct completions",
    applies=needs_good,
    per=judged,
    turn=Turn.EARLY,
)
def every_part_counts(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If an answer with a missing part gets the full score, the policy skips that part.

    A correct completion is shortened as long as it keeps the full score. The remaining essence must still contain its
    items from each list in a column, and more than headings, labels, and citations.
    """
    text = essence(subject, right)
    if text != right.anatomy.text:
        message = _missing_parts(subject, right, text)
        yield Variant(right.trial(text), f"{message}: it scores {{score}}") if message else None


def _missing_parts(subject: RewardUnderTest, right: Judged, text: str) -> str:
    """Return a description of the parts that `text`, a correct completion's essence, lacks, or "" if it may be fine."""
    wrong = wrongness(subject, right)
    if wrong is not None and wrong(text):
        return "the answer is missing"
    right_text = right.anatomy.text
    for lines in _similar_lines(right_text):
        atoms = {atom.lower() for column in subject.columns_read for atom in _atoms(subject, right.example, column)}
        atoms_by_line = [[atom for atom in atoms if _has(line, atom)] for line in lines]
        lines_kept = [bool(line_atoms) and any(_has(text, atom) for atom in line_atoms) for line_atoms in atoms_by_line]
        if all(atoms_by_line) and any(lines_kept) and not all(lines_kept):
            return f"one of several lines is enough, {lines[lines_kept.index(False)].strip()!r} is missing"
    gold = right.anatomy.gold if right.judges else ""
    is_answer = bool(gold) and set(values_in(gold)) <= set(values_in(text)) and bool([*values_in(gold)])
    if not is_penalty(subject) and not is_answer and _BARE.fullmatch(text) and _amid_words(right_text, text):
        return "only headings, labels, or citations are left"
    return ""


def _similar_lines(text: str) -> Iterator[list[str]]:
    """Yield runs of two or more lines with the same shape, such as ``name: value``."""
    for _, run in groupby(text.strip().splitlines(), key=lambda line: re.sub(r"\w+", "w", line.strip())):
        lines = list(run)
        if len(lines) > 1:
            yield lines


def _atoms(subject: RewardUnderTest, example: int, column: str) -> list[str]:
    return [atom for atom in atoms_of(subject.examples[example].columns.get(column)) if len(atom) > 2]


def _has(text: str, atom: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(atom)}(?!\w)", text, re.IGNORECASE) is not None


def _amid_words(right_text: str, text: str) -> bool:
    """Return whether `text` was among words on the same line, or its headings had text under them."""
    left = set(re.findall(r"[^\W_]+", text))
    return any(
        # Words of two letters or more: "a" and "x" may be names.
        len([word for word in re.findall(r"[^\W\d_]{2,}", line) if word not in left]) >= _PROSE
        and (any(word in left for word in re.findall(r"[^\W_]+", line)) or "#" in text)
        for line in right_text.splitlines()
    )


@law(
    advice="Look for a score that is subtracted instead of added, or for swapped arguments",
    skip="no correct completion has words next to its answer",
    applies=needs_good_alone,
    per=judged,
)
def nonsense_earns_less(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If nonsense around a correct answer raises the score, a sign in the code is wrong, and the policy learns to write
    nonsense.

    All words in a correct completion except its answer and marks are replaced with other words of the same length.
    """
    essential_spans = {part.span for part in essential_parts(subject, right)}
    parts = [part for part in parts_of(right.anatomy.text) if part.span not in essential_spans and part.kind == "word"]
    other_words = [part for part in parts if not _in_a_mark(right, part)]
    if len(other_words) >= _PROSE:
        nonsense = replaced(right.anatomy.text, [(part.span, unrelated(part)) for part in other_words])
        message = "with nonsense around its answer, it scores {score}, but with sensible text {base}"
        # Style may change the score a little; losing all sense must not raise it further.
        yield Variant(right.trial(nonsense), message, "no more", slack=0.05 * max(1.0, abs(right.value)))


def _in_a_mark(right: Judged, part: Part) -> bool:
    """Return whether a word is the name of a tag, or a label."""
    text, span = right.anatomy.text, part.span
    return text[: span.start].endswith(("<", "</", "\\")) or text[span.end :].startswith((":", ">"))


_COUNTS = re.compile(r"(?i)^(?:n|num|min|number|count|exact\w*)(?:_|$)|(?:^|_)(?:count|number)$|s$")
"""Names of columns with a count: num_items, min_words, items_count, exactly, keywords. A plural at the end is a
list."""
_LIMITS = re.compile(r"(?i)max|most|limit|up_to|below|under|budget")
"""Names of columns with a limit, such as max_words and up_to: more of the counted items may be worse."""
_TIMES = (1, 3, 10)
"""The numbers of copies to try: one, a few, and many, since the reward may limit copies."""


def _groups(subject: RewardUnderTest) -> Iterator[tuple[Judged, Siblings]]:
    """Yield each correct completion with each group of its parts of the same kind."""
    for right in judged(subject):
        columns = subject.examples[right.example].columns
        values = [columns[name] for name in sorted(subject.columns_read & set(columns))]
        for parts in siblings_in(right.anatomy, values):
            yield right, parts


@law(
    advice="Compare each part with its own counterpart, in order: zip(..., strict=True)",
    skip="no correct completion has several parts of one kind that all affect the score",
    applies=needs_good,
    per=_groups,
    turn=Turn.EARLY,
)
def no_item_substitutes(subject: RewardUnderTest, group: tuple[Judged, Siblings]) -> Iterator[Variant]:
    """If repeating one correct item scores as high as giving all of them, the policy repeats the easiest one.

    A part whose loss lowers the score is removed from a correct completion, and another part of its kind is repeated.
    """
    right, parts = group
    part_texts = [parts.part(index) for index in range(len(parts))]
    for index, part in enumerate(part_texts):
        other = next((another for another in part_texts if another != part), "")
        nonsense = replaced(part, [(word.span, unrelated(word)) for word in parts_of(part)])
        trials_without = right.trial(parts.without(index)), right.trial(parts.instead(index, nonsense))
        if not other or any(map(right.paid, subject.see(trials_without))):
            continue  # the part is not needed, or the parts are only counted
        repeated = (parts.without_but_more(index, *[other] * times) for times in _TIMES)
        for text in (parts.instead(index, other), *repeated):
            change = f"{shorten(part)} is missing, {shorten(other)} is repeated"
            message = f"{change}: it scores {{score}}, the same as the correct completion"
            yield Variant(right.trial(text), message, base=right.as_given)


@law(
    advice="Also compare the number of parts: zip(..., strict=True), or len(found) == len(wanted)",
    skip="no correct completion has the number of parts that a column states",
    applies=needs_good,
    per=_groups,
    turn=Turn.EARLY,
)
def counts_requested_items(subject: RewardUnderTest, group: tuple[Judged, Siblings]) -> Iterator[Variant]:
    """If a missing item costs nothing, the policy writes fewer items than a column asks for.

    A correct completion has the number of bullets, code blocks, or tags that a column states. One of them is removed,
    which must lower the score.
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
        message = f"with {count - 1} {parts.kind}s instead of {count}, it scores {{score}}"
        yield Variant(right.trial(text), message, base=right.as_given)


@law(
    advice="Compare all calls with all expected calls, and lower the score for each unexpected call",
    skip="no correct completion contains calls in tags",
    applies=needs_good,
    per=_groups,
    turn=Turn.EARLY,
)
def more_calls_cost(subject: RewardUnderTest, group: tuple[Judged, Siblings]) -> Iterator[Variant]:
    """If an unnecessary call costs nothing, the policy makes every call that may be the correct one.

    A call to another function, or a call with other arguments, is added before or after the correct calls.
    """
    right, parts = group
    wrong = [right.trial(text_of(bad)) for bad in subject.examples[right.example].bad]
    if parts.kind != "call" or not wrong or any(map(right.paid, subject.see(wrong))):
        return
    for call in _other_calls(parts):
        behind = right.trial(parts.with_more(call))
        before = right.trial(parts.instead(0, f"{call}{parts.joint}{parts.part(0)}"))
        message = f"with the call {shorten(call)} added, it scores {{score}}, the same as the correct calls alone"
        yield Variant(behind, message, base=right.as_given, twins=(before,))


def _other_calls(parts: Siblings) -> Iterator[str]:
    """Yield the first call as a call to another function, and with other arguments."""
    first = parts.part(0)
    match = re.search(r"\{.*\}", first, re.DOTALL)
    try:
        call = json.loads(match.group()) if match is not None else None
    except (ValueError, RecursionError):
        return
    if isinstance(call, dict) and isinstance(call.get("name"), str) and match is not None:
        arguments = next(
            (name for name in ("arguments", "parameters", "args") if isinstance(call.get(name), Mapping)), ""
        )
        calls = [{**call, "name": "delete_account"}]
        calls += [{**call, arguments: other_value(call[arguments])}] if arguments and call[arguments] else []
        for other in calls:
            yield first[: match.start()] + json.dumps(other) + first[match.end() :]


@law(
    advice="Parse the JSON and compare the objects, not their JSON text",
    skip="no correct completion has an object with several keys",
    applies=needs_good,
    per=judged,
    turn=Turn.EARLY,
)
def order_of_keys_does_not_count(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """The keys of JSON objects have no order. A reward that relies on their order rewards values under the wrong keys.

    An object with its keys in another order is just as correct, but an object with other keys is incorrect.
    """
    document = Document.within(right.anatomy)
    if document is None or len(document.value) < 2:
        return
    yield None
    (plain,) = subject.see([right.trial(document.saying(_reformatted(document)))])
    if right.paid(plain):
        reordered = json.dumps(dict(reversed(document.value.items())), ensure_ascii=False)
        message = "with its keys in another order, a correct object scores {score} instead of {base}"
        yield Variant(right.trial(document.saying(reordered)), message, "no less")


def _reformatted(document: Document) -> str:
    """Return the same object with different spacing. A reward that rejects it compares strings."""
    compact = json.dumps(document.value, ensure_ascii=False, separators=(",", ":"))
    is_compact = document.span.of(document.text) == compact
    return json.dumps(document.value, ensure_ascii=False) if is_compact else compact
