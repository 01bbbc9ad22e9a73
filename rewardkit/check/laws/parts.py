"""Laws of parts: each part of a correct completion counts, no part replaces another, and almost right is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rewardkit.batch.messages import prompt_text
from rewardkit.check.completion.parsed_completion import (
    Part,
    Span,
    as_number,
    atoms_of,
    parsed_json,
    parts_of,
    replaced,
    unrelated,
)
from rewardkit.check.exploits.documents import Document
from rewardkit.check.findings import Turn
from rewardkit.check.laws.base import Variant, law, needs_good, needs_good_alone
from rewardkit.check.reward_under_test.judgment import Judged, is_penalty, judged, wrongness
from rewardkit.check.reward_under_test.reward_under_test import OutOfTime, RewardUnderTest
from rewardkit.check.reward_under_test.sensitivity import essence, essential_parts, with_part
from rewardkit.check.reward_under_test.trials import text_of
from rewardkit.check.variants.elements import Elements, elements_in, similar_lines
from rewardkit.check.variants.format_variants import rules_of
from rewardkit.check.variants.values import values_in
from rewardkit.check.variants.wrong_answers import may_agree, other_options, other_value
from rewardkit.errors import shorten

_BARE = re.compile(r"(?:\[+[^\[\]\n]*\]+|#+ [^\n]*|[A-Z][\w ]{0,30}:(?=\s|\Z)|[\s.,;*-])+")
"""A text that consists only of citations, headings, and labels."""
_PROSE = 4
"""The minimum number of words whose loss or replacement counts. Arbitrary."""
_MOST_ELEMENTS = 12
"""The maximum number of elements of one kind to try. Arbitrary: each one adds two completions to score."""


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
            around = right.anatomy.text[max(0, part.span.start - 1) : part.span.end + 1]
            # A number in a date or a pattern is not compared on its own.
            is_judged = part.text.lower() in words and not re.search(r"^[-:/{\\]|[-:/}]$", around)
        else:
            # A text in an object, such as {"ending": "Enjoy."}, may only have to occur.
            is_text = not isinstance(subject.examples[right.example].columns.get(right.anatomy.column), Mapping)
            is_judged = is_text and any(gold.holds(part.span) for gold in right.anatomy.places)
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
        # No model writes "unthe".
        yield from (f"un{text}", f"{text}xyz", f"xyz{text}") if len(text) > 3 else ()
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
    for spans in similar_lines(right_text):
        lines = [span.of(right_text) for span in spans]
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
_COUNTED = frozenset(("call", "block", "fence", "bullet", "item", "mention"))
"""The kinds of elements whose number a column may state."""


def _groups(subject: RewardUnderTest, right: Judged) -> Iterator[Elements]:
    """Yield each group of a correct completion's elements of the same kind."""
    columns = subject.examples[right.example].columns
    yield from elements_in(right.anatomy, [columns[name] for name in sorted(subject.columns_read & set(columns))])


# Elements: an element may not be free to change or to leave out if another one of its kind counts.


_OPTIONAL = re.compile(
    r"(?i)\b(?:optional|ignored|fine|harmless|not (?:compared|checked|judged)"
    r"|metadata|at least (?!one\b|1\b)|tolera\w*)\b"
)
"""Words of a prompt or docstring that say that some elements do not count."""
_OF_FORM = re.compile(
    r"(?i)\b(?:optional reasoning|text (?:outside|around|before|after)|case|white ?space|spac(?:es|ing)|punctuation"
    r"|layout|articles?)\b"
    r"[^.\n]*"
)
"""The part of a sentence that says that the form does not count."""
_IN_ORDER = re.compile(
    r"(?i)\b(?:(?:in|right|correct|\w+ing|\w+ical) order|"
    r"(?:\w+est|best|most \w+)(?: \w+)? first|rank\w*|"
    r"sort\w*|sequence|chronolog\w*|shortest path|moves)\b"
)
"""Words of a prompt that ask for an order."""
_ANY = re.compile(r"(?i)\b(?:one|any|some|an?) (?:of|from|example|possible)\b|\bat most\b|\bup to\b")
"""Words of a prompt that ask for a part of what is correct."""
_DATE_FORMAT = re.compile(r"(?i)\b(?:dd?[/.-]mm?|mm?[/.-]dd?)\b|\b(?:day|month) first\b")
"""A format of dates in a prompt."""
_EVERY = re.compile(r"(?i)\b(?:every|each|all (?:the|that|of|its|their|\d+))\b")
"""Words of a prompt that ask for everything that is correct."""
_CLOSED = re.compile(r"(?i)\b(?:only|exactly|nothing else|no others?|and no more)\b")
"""Words of a prompt that allow no other items."""
_ONCE = re.compile(
    r"(?i)\b(?:exactly|only) once\b|\bno (?:\w+ )?(?:duplicate|repetition)s?\b|\bnone twice\b|\bdistinct\b"
)
"""Words of a prompt or docstring that allow no copies."""
_STATEMENT = re.compile(r"(.*\w\**(?:[:=]| is an?| is)[ *]*)(\w[^:=\n]*)")
"""A line that states a value of something, such as ``Ann: knight``."""
_WORD = re.compile(r"\w(?:[\w.-]*\w)?")
"""A word, number, or name such as ``doc-1``."""
_LONGEST_CELL = 40
"""The maximum length of a cell to look for in a completion. Arbitrary: longer cells are texts."""
_TIMES = (1, 3, 10)
"""The numbers of copies to try: one, a few, and many, since the reward may limit copies."""


@dataclass(frozen=True)
class _Change:
    """A change to one element that costs nothing.

    Attributes:
        kind: the kinds of element and change, which are equal for the same fault in different rows.
        right: the correct completion.
        text: the changed completion.
        why: the message.
        certain: whether the changed completion is incorrect, as far as the row shows.
    """

    kind: tuple[str, str]
    right: Judged
    text: str
    why: str
    certain: bool


@law(
    advice="Compare each element with its own counterpart, and the number of elements: zip(..., strict=True)",
    skip="no correct completion has several elements of one kind that affect the score",
    applies=needs_good,
    turn=Turn.EARLY,
    every=True,
)
def every_element_counts(subject: RewardUnderTest) -> Iterator[Variant | None]:
    """If a wrong or missing element costs nothing while others of its kind count, the policy stops working on it.

    Each element of a correct completion is changed, removed, moved, and replaced with a copy of another one. What costs
    nothing is a finding if a column that the reward reads contains the element, and no other row shows that it counts.
    Otherwise, it is a lead.
    """
    by_kind: dict[tuple[str, str], list[_Change]] = {}
    counting: set[str] = set()
    late: OutOfTime | None = None
    try:
        for right in judged(subject):
            for elements in _groups(subject, right) if right.text_counts else ():
                changes = list(_free_changes(subject, right, elements))
                for change in changes:
                    if change is None:
                        yield None
                    else:
                        by_kind.setdefault(change.kind, []).append(change)
                if changes == [None] and len(elements) > 1:
                    counting.add(_kind(elements))
        for change in _free_cells(subject):
            by_kind.setdefault(change.kind, []).append(change)
    except OutOfTime as error:  # what was found until then still counts
        late = error
    texts: set[str] = set()
    for (kind, _), free in by_kind.items():
        first = next((change for change in free if change.certain), free[0])
        if first.text in texts:  # also found as another kind of element
            continue
        texts.add(first.text)
        rows = {change.right.example for change in free if change.certain}
        message = f"{first.why}: it scores {{score}}, the same as the correct completion"
        # A row may hide that a clause counts, but not that an element does.
        is_hidden = len(rows) == 1 and kind in counting and kind != "clause" and first.kind[1] != "repeated"
        is_lead = not first.certain or is_hidden
        yield Variant(first.right.trial(first.text), message, base=first.right.as_given, lead=is_lead)
    if late is not None:
        raise late


def _free_cells(subject: RewardUnderTest) -> Iterator[_Change]:
    """Yield another value for a column's value in a correct completion, if it costs nothing in one row but in others.

    For example, a reward compares the text to type, but not the option to select.
    """
    for column in sorted(subject.columns_read):
        cells = [str(example.columns[column]) for example in subject.examples if _is_short(example.columns.get(column))]
        outcomes: list[tuple[bool, _Change]] = []
        for right in judged(subject) if len(set(cells)) > 1 else ():
            cell = subject.examples[right.example].columns.get(column)
            text, anatomy = right.anatomy.text, right.anatomy
            region = anatomy.region if anatomy.marked else Span(text.rstrip().rfind("\n") + 1, len(text))
            written = str(cell) if _is_short(cell) else ""
            matches = list(re.finditer(rf"(?<![\w.-]){re.escape(written)}(?![\w-])", text)) if written else []
            spans = [span for span in (Span(*match.span()) for match in matches) if region.holds(span)]
            if len(spans) != 1 or not right.text_counts:
                continue
            alternatives = [value for value in cells if not may_agree(value, written)] or [str(other_value(cell))]
            texts = [replaced(text, [(spans[0], value)]) for value in (alternatives[0], str(other_value(cell)))]
            paid = all(right.paid(score) for score in subject.see([right.trial(changed) for changed in texts]))
            why = f"{shorten(str(other_value(cell)))} instead of {shorten(written)}"
            outcomes.append((paid, _Change((f"cell {column}", "changed"), right, texts[1], why, True)))
        if not all(paid for paid, _ in outcomes):
            yield from (change for paid, change in outcomes if paid)


def _is_short(cell: Any) -> bool:
    # A number may be within a tolerance.
    return isinstance(cell, str) and len(cell) <= _LONGEST_CELL and re.search(r"[^\W\d_]", cell) is not None


def _kind(elements: Elements) -> str:
    """Return the kind of the elements. If some of them are equal, it is another kind, because a reward may miscount."""
    parts = {elements.part(index) for index in range(len(elements))}
    return elements.kind if len(parts) == len(elements) else f"repeated {elements.kind}"


def _free_changes(subject: RewardUnderTest, right: Judged, elements: Elements) -> Iterator[_Change | None]:
    """Yield the changes to elements that cost nothing although these elements or others of their kind count."""
    count = len(elements)
    parts = [elements.part(index) for index in range(count)]
    # One number of a point or a box may be near enough.
    is_place = count in (2, 4) and all(as_number(part) is not None for part in parts)
    if is_place or count > subject.affordable(_MOST_ELEMENTS):
        return
    texts = [elements.without_all()]
    texts += [elements.without(index) for index in range(count)]
    texts += [elements.instead(index, elements.changed(index)) for index in range(count)]
    if elements.kind in ("number", "mention", "quote"):  # in a line that counts
        lines = [replaced(elements.text, [(elements.line(index), "")]) for index in range(count)]
        if any(right.paid(score) for score in subject.see([right.trial(text) for text in lines])):
            return
    emptied, *scores = subject.see([right.trial(text) for text in texts])
    if not emptied.scored or right.paid(emptied):
        return
    removal_paid, change_paid = ([right.paid(score) for score in scores[start:][:count]] for start in (0, count))
    counts = [not removed and not changed for removed, changed in zip(removal_paid, change_paid, strict=True)]
    facts = _RowFacts.of(subject, right)
    if elements.kind in _COUNTED and _is_asked_for(subject, right, count):
        yield None
        if removal_paid[-1]:
            why = f"with {count - 1} {elements.kind}s instead of {count}"
            yield _Change((_kind(elements), "removed"), right, texts[count], why, True)
            return
    if elements.kind == "call":
        yield from _more_calls(subject, right, elements, facts)
    if not any(counts) and any(change_paid):
        return
    if len(set(parts)) > 1:
        yield None
    for index, part in enumerate(parts):
        certain = facts.judges(elements, index, counts)
        name = elements.name(index)
        label = f"{name} ({shorten(part)})" if name else shorten(part)
        is_alone = facts.concerns(elements, index) and not facts.is_copied(elements, index)
        if is_alone and change_paid[index] and elements.kind != "entry":
            other = elements.changed(index)
            why = f"{shorten(other)} instead of {label}"
            yield _Change((_kind(elements), "changed"), right, texts[1 + count + index], why, certain)
        elif is_alone and removal_paid[index] and not all(removal_paid) and texts[1 + index] != elements.text:
            yield _Change((_kind(elements), "removed"), right, texts[1 + index], f"without {label}", certain)
        elif counts[index]:
            yield from _cut_or_repeated(subject, right, elements, index, certain)
            yield from _contradicted(subject, right, elements, index, certain)
    if count > 1 and all(removal_paid) and not any(change_paid) and elements.kind in ("item", "line", "bullet", "call"):
        alone = [elements.only(index) for index in range(count)]
        if all(right.paid(score) for score in subject.see([right.trial(text) for text in alone])):
            certain = not facts.is_optional and not _ANY.search(facts.prompt)
            is_known = all(_words_of(part) <= facts.words for part in parts)
            certain = certain and (is_known or _EVERY.search(facts.prompt) is not None)
            yield _Change((_kind(elements), "alone"), right, alone[0], f"{shorten(parts[0])} alone", certain)
    if elements.kind in ("item", "call", "line", "bullet", "block"):
        yield from _listed(subject, right, elements)
    if all(counts) and elements.kind in ("item", "call", "line", "bullet"):
        yield from _moved_or_added(subject, right, elements, facts)
    for index, following in pairwise(number for number in range(count) if counts[number]):
        text = elements.swapped(index, following)
        if _are_exchangeable(elements, index, following) and right.paid(subject.see([right.trial(text)])[0]):
            certain = all(facts.judges(elements, number, counts) for number in (index, following))
            certain = certain or (elements.kind == "piece" and _DATE_FORMAT.search(facts.prompt) is not None)
            why = f"{shorten(parts[index])} and {shorten(parts[following])} in each other's place"
            yield _Change((_kind(elements), "exchanged"), right, text, why, certain)
    if elements.kind == "citation":
        text = elements.with_more(*(f"[{number}]" for number in range(1, 31)))
        if right.paid(subject.see([right.trial(text)])[0]):
            why = "with thirty more citations"
            yield _Change((_kind(elements), "added"), right, text, why, not facts.is_optional)


def _are_exchangeable(elements: Elements, index: int, other: int) -> bool:
    """Return whether two elements with a name or place of their own can be exchanged, so that the result is wrong."""
    first, second = elements.part(index), elements.part(other)
    are_numbers = [as_number(part.strip('"')) is not None for part in (first, second)]
    if first == second or are_numbers[0] != are_numbers[1]:
        return False
    if elements.kind == "piece":  # of the same form, such as a day and a month
        return all(are_numbers) and len(first) == len(second) and max(int(first), int(second)) <= 12
    # Two values of the same list have no name between them.
    between = elements.text[elements.spans[index].end : elements.spans[other].start]
    if elements.kind in ("placeholder", "cell"):
        return True
    return elements.kind in ("value", "field") and (":" in between or "<" in between or "=" in between)


def _cut_or_repeated(
    subject: RewardUnderTest, right: Judged, elements: Elements, index: int, certain: bool
) -> Iterator[_Change]:
    """Yield less of an element that counts, or a copy of another one in its place, if that costs nothing."""
    part = elements.part(index)
    changes = [*(("cut", text) for text in elements.cut(index)), ("negated", elements.negated(index))]
    for name, shorter in changes:
        text = elements.instead(index, shorter)
        if shorter != part and right.paid(subject.see([right.trial(text)])[0]):
            why = f"{shorten(shorter)} instead of {shorten(part)}"
            yield _Change((_kind(elements), name), right, text, why, certain)
    other = next((another for another in map(elements.part, range(len(elements))) if another != part), "")
    if elements.names or elements.apart or not other:
        return
    repeated = [elements.without_but_more(index, *[other] * times) for times in _TIMES]
    for text in (elements.instead(index, other), *repeated):
        if right.paid(subject.see([right.trial(text)])[0]):
            why = f"{shorten(part)} is missing, {shorten(other)} is repeated"
            yield _Change((_kind(elements), "repeated"), right, text, why, True)
            break


def _contradicted(
    subject: RewardUnderTest, right: Judged, elements: Elements, index: int, certain: bool
) -> Iterator[_Change]:
    """Yield another statement about the same thing, if it costs nothing before and after the correct one."""
    if elements.kind not in ("line", "bullet", "field"):
        return
    line = elements.line(index)
    statement = _STATEMENT.fullmatch(line.of(elements.text))
    lines = (elements.line(other).of(elements.text) for other in range(len(elements)))
    statements = [match for match in map(_STATEMENT.fullmatch, lines) if match is not None]
    values = [match[2] for match in statements if statement is not None and match[2] != statement[2]]
    if statement is None or not values or len({match[1] for match in statements}) < len(statements):
        return  # several quotes are no contradiction
    contrary = f"{statement[1]}{values[0]}"
    first = f"{elements.text[: line.start]}{contrary}\n{elements.text[line.start :]}"
    last = f"{elements.text[: line.end]}\n{contrary}{elements.text[line.end :]}"
    if all(right.paid(score) for score in subject.see([right.trial(first), right.trial(last)])):
        why = f"with {shorten(contrary)} next to {shorten(line.of(elements.text))}"
        yield _Change((_kind(elements), "contradicted"), right, last, why, certain)


def _moved_or_added(
    subject: RewardUnderTest, right: Judged, elements: Elements, facts: _RowFacts
) -> Iterator[_Change | None]:
    """Yield a change of the order, and more elements, if they cost nothing."""
    swaps = [
        elements.swapped(index)
        for index in range(len(elements) - 1)
        if elements.part(index) != elements.part(index + 1)
    ]
    paid = [right.paid(score) for score in subject.see([right.trial(text) for text in swaps])]
    if any(paid) and (not all(paid) or _IN_ORDER.search(facts.prompt)):
        # If only some swaps cost, two elements may be equally good.
        certain = all(paid) and "any order" not in facts.prompt
        why = "with two elements in each other's place"
        yield _Change((_kind(elements), "moved"), right, swaps[paid.index(True)], why, certain)
    again = right.trial(elements.with_more(elements.part(0)))
    if _ONCE.search(facts.rules) and right.paid(subject.see([again])[0]):
        why = f"with {shorten(elements.part(0))} twice"
        yield _Change((_kind(elements), "doubled"), right, again.text, why, not facts.is_optional)
    if elements.kind == "item" and _CLOSED.search(facts.rules):
        parts = {elements.part(index) for index in range(len(elements))}
        foreign = other_options(facts.prompt, parts) or [elements.foreign(index) for index in range(4)]
        texts = [elements.with_more(*foreign[:times]) for times in (1, 4)]
        if all(right.paid(score) for score in subject.see([right.trial(text) for text in texts])):
            why = f"with four more elements, such as {shorten(foreign[0])}"
            yield _Change((_kind(elements), "added"), right, texts[1], why, not facts.is_optional)


def _listed(subject: RewardUnderTest, right: Judged, elements: Elements) -> Iterator[_Change]:
    """Yield an additional element that a column lists, if it costs nothing in one position but something in another."""
    columns = subject.examples[right.example].columns
    for name in sorted(subject.columns_read & set(columns)):
        for other in elements.listed(columns[name]):
            texts = [elements.with_more(other), elements.instead(0, f"{other}{elements.joint}{elements.part(0)}")]
            paid = [right.paid(score) for score in subject.see([right.trial(text) for text in texts])]
            if any(paid) and not all(paid):
                text, position = texts[paid.index(True)], ("at the end", "at the start")[paid.index(True)]
                yield _Change((_kind(elements), "added"), right, text, f"with {shorten(other)} added {position}", True)
                return


@dataclass(frozen=True)
class _RowFacts:
    """What an example says about the elements of its correct completion.

    Attributes:
        prompt: the text of the prompt.
        rules: the prompt and the docstrings of the reward's functions.
        is_optional: whether the prompt or the reward's docstring says that some elements do not count.
        words: the words and numbers in the columns that the reward reads, in lower case.
        worthless: the keys in these columns whose value is zero or empty, such as documents of no relevance.
        named: the names and keys in the reward's source.
    """

    prompt: str
    rules: str
    is_optional: bool
    words: frozenset[str]
    worthless: frozenset[str]
    named: frozenset[str]

    @classmethod
    def of(cls, subject: RewardUnderTest, right: Judged) -> _RowFacts:
        example = subject.examples[right.example]
        prompt = prompt_text(example.prompt)
        columns = [example.columns[name] for name in subject.columns_read & set(example.columns)]
        words = {word for column in columns for atom in atoms_of(column) for word in _words_of(atom)}
        # The letters of "ACD", a selection of several options.
        words |= {letter for column in columns for atom in atoms_of(column) for letter in _options(atom)}
        rules = rules_of(subject, [example])
        return cls(
            prompt,
            "\n".join(rules),
            any(_OPTIONAL.search(_OF_FORM.sub("", text)) for text in rules),
            frozenset(words),
            frozenset(key.lower() for column in columns for key in _worthless(column)),
            subject.mined.names,
        )

    def judges(self, elements: Elements, index: int, counts: Sequence[bool]) -> bool:
        """Return whether the element is part of the gold answer and nothing says that it is optional."""
        words = _words_of(elements.part(index))
        name = elements.name(index)
        chosen = {elements.name(other) for other, counted in enumerate(counts) if counted} & self.named - {""}
        return (
            bool(words)
            and words <= self.words
            and elements.part(index).lower() not in self.worthless
            and not self.is_optional
            # The source names the keys that it reads, and this one is not among them.
            and not (name and chosen and name not in self.named)
            # "First step: ..." is a sentence of the reasoning.
            and not (elements.kind == "field" and " " in name and name.lower() not in self.prompt.lower())
        )

    def concerns(self, elements: Elements, index: int) -> bool:
        """Return whether the element has a value from a column, or belongs to a structured answer."""
        part = elements.part(index)
        if not _words_of(part) or re.search(r":\s*(?:\{\}|\[\]|\"\"|null)$", part):  # an empty value may be left out
            return False
        is_known = _words_of(part) <= self.words
        return is_known or elements.kind in ("value", "item", "call")

    def is_copied(self, elements: Elements, index: int) -> bool:
        """Return whether the completion also has the element outside its list."""
        part = elements.part(index).strip().strip("\"'")
        copies = (
            1 if elements.apart else sum(elements.part(other) == elements.part(index) for other in range(len(elements)))
        )
        return len(re.findall(rf"(?<!\w){re.escape(part)}(?!\w)", elements.text, re.IGNORECASE)) != copies


def _words_of(text: str) -> set[str]:
    """Return the words, numbers, and names in a text, in lower case, without short words such as "is" and "the"."""
    words = _WORD.findall(re.sub(r"</?\w+>", " ", text.lower()))
    return {word for word in words if not re.fullmatch(r"[a-z]{1,2}|the|and|for|has|are|was", word)} or set(words)


def _options(text: str) -> list[str]:
    """Return the letters in a selection of options such as ``"ACD"``, in lower case, or [] for other texts."""
    return list(text.lower()) if re.fullmatch(r"[A-H]{2,6}", text) and len(set(text)) == len(text) else []


def _worthless(value: Any) -> Iterator[str]:
    """Yield the keys in a cell, which may be JSON text, whose value is zero or empty."""
    value = parsed_json(value) if isinstance(value, str) else value
    pairs = value.items() if isinstance(value, Mapping) else ()
    yield from (str(key) for key, grade in pairs if not grade)


def _is_asked_for(subject: RewardUnderTest, right: Judged, count: int) -> bool:
    """Return whether a column that the reward reads states the number of elements."""
    return any(
        value == count and type(value) is int and _COUNTS.search(name) and not _LIMITS.search(name)
        for name, value in subject.examples[right.example].columns.items()
        if name in subject.columns_read and not (name == right.anatomy.column and right.anatomy.marked)
    )


def _more_calls(subject: RewardUnderTest, right: Judged, elements: Elements, facts: _RowFacts) -> Iterator[_Change]:
    """Yield an additional call, to another function or with other arguments, if it costs nothing."""
    wrong = [right.trial(text_of(bad)) for bad in subject.examples[right.example].bad]
    if not wrong or any(map(right.paid, subject.see(wrong))):
        return
    for call in _other_calls(elements):
        texts = (elements.with_more(call), elements.instead(0, f"{call}{elements.joint}{elements.part(0)}"))
        behind, before = (right.paid(score) for score in subject.see([right.trial(text) for text in texts]))
        if behind and (before or _CLOSED.search(facts.rules)):
            yield _Change(("call", "added"), right, texts[0], f"with the call {shorten(call)} added", True)
            return


def _other_calls(parts: Elements) -> Iterator[str]:
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
