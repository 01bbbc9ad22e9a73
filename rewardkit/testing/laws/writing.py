"""Laws of writing: a right answer earns its pay on one line or several, with its comma or without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rewardkit.core.batch.messages import prompt_text
from rewardkit.testing.anatomy import Anatomy, Span, as_number, replaced
from rewardkit.testing.findings import Finding
from rewardkit.testing.judgment import Judged, judged
from rewardkit.testing.laws.base import NO_GOOD, Skip, finding, law
from rewardkit.testing.subject import Subject
from rewardkit.testing.sweep import anatomies, swept
from rewardkit.testing.trials import EQUAL, Seen, Trial, with_text

_DOTALL = "`.` stops at line breaks unless the pattern is compiled with re.DOTALL"
_NUMERIC = frozenset(("float", "int", "Decimal", "Fraction", "isclose", "isdigit"))
_PRICED = re.compile(r"\s*[$€£¥]\s*(-?\d[\d,]*(?:\.\d+)?)\s*|\s*(-?\d[\d,]*(?:\.\d+)?)\s*[A-Za-z°²³/ ]{1,20}\s*")


@dataclass(frozen=True)
class Dress:
    """A right completion in other clothes.

    Attributes:
        name: how it is written.
        text: of the completion.
        control: another text that must be paid for the dress to count; empty for none.
        hint: the likely cause, or how to fix it.
        any_cost: whether any loss is a fault; otherwise only the loss of everything.
        unreachable: why the model of the given data does not write it; empty if it does.
    """

    name: str
    text: str
    control: str = ""
    hint: str = ""
    any_cost: bool = False
    unreachable: str = ""


@law
def right_however_written(subject: Subject) -> Iterator[Finding]:
    """A model writes a right answer as it likes: if it earns nothing on several lines, the policy learns a quirk.

    Right completions are tried with line breaks in the thinking and around the answer, on one line, with Windows line
    ends, after an opening tag that the prompt has, and with the answer without a comma or a unit of the gold answer.
    """
    if not any(example.good for example in subject.examples):
        raise Skip(NO_GOOD)
    if subject.scope != "sample":
        raise Skip(f"the reward compares completions (scope {subject.scope!r})")
    known: set[str] = set()
    for right in judged(subject):
        for dress in dresses(subject, right):
            found = None if dress.name in known else _paid_less(subject, right, dress)
            if found is not None:
                known.add(dress.name)
                yield found
    yield from _only_on_one_line(subject)


def _paid_less(subject: Subject, right: Judged, dress: Dress) -> Finding | None:
    """Return a finding if a right completion loses its pay by the way in which it is written."""
    trial = right.trial(dress.text)
    seen = subject.see([trial])[0]
    limit = right.value - 1e-6 if dress.any_cost else _nothing(subject, right)
    if not seen.scored or seen.value > limit or right.paid(seen):
        return None
    if dress.control and not right.paid(subject.see([right.trial(dress.control)])[0]):
        return None
    hint = f": {dress.hint}" if dress.hint and (dress.hint != _DOTALL or subject.mined.has_dots) else ""
    why = f"a right completion {dress.name} earns {seen.value:.6g} instead of {right.value:.6g}{hint}"
    return finding("right_however_written", subject, trial, seen, why, unreachable=dress.unreachable, tip=_tip(subject))


def _tip(subject: Subject) -> str:
    """Return the advice for a reward that has no pattern with a dot; empty for the usual one."""
    said = "Allow for it: .strip() on the answer, commas and units removed from both sides"
    return "" if subject.mined.has_dots else said


def _nothing(subject: Subject, right: Judged) -> float:
    """Return the score of a wrong answer, or the lowest score if the reward judges no answers."""
    wrong = [seen.value for _, seen in right.honest if seen.scored and not right.paid(seen)]
    lowest = min((seen.value for trial, seen in swept(subject) if trial.example == right.example and seen.scored))
    return (max(wrong) if right.judges and wrong else lowest) + EQUAL


def dresses(subject: Subject, right: Judged) -> Iterator[Dress]:
    """Yield a right completion as others would write it."""
    anatomy = right.anatomy
    yield from _broken_lines(anatomy)
    if "\n" in anatomy.text and "\r" not in anatomy.text:
        text = anatomy.text.replace("\n", "\r\n")
        yield Dress("with Windows line ends", text, unreachable="" if right.judges else "Windows line ends")
    yield from _prefilled(subject, right)
    if right.judges and not any(binding.trusted for _, binding in subject.bindings):  # rk.exact is exact by contract
        yield from _other_numbers(anatomy, _reads_numbers(subject))


def _reads_numbers(subject: Subject) -> bool:
    """Whether the code of a reward has to do with numbers: it calls ``float``, or has a pattern with digits."""
    mined = subject.mined
    return bool(mined.names & _NUMERIC) or any(
        "\\d" in text or "0-9" in text for text in (*mined.patterns, *mined.texts)
    )


def _broken_lines(anatomy: Anatomy) -> Iterator[Dress]:
    """Yield the completion with a line break in its thinking, and with its answer on a line of its own."""
    text, region, block = anatomy.text, anatomy.region, anatomy.thinking
    thought = block.body if block is not None else Span(0, region.start)
    body = thought.of(text)
    space = re.search(r"(?<=[\w.,;:)]) (?=[\w(])", body)
    if space is not None and "\n" not in body.strip():
        broken = f"{body[: space.start()]}\n{body[space.end() :]}"
        where = "with a line break in its thinking" if block is not None else "with a line break before its answer"
        yield Dress(where, replaced(text, [(thought, broken)]), hint=_DOTALL, any_cost=block is not None)
    said = region.of(text)
    if region.kind.startswith("tag ") and said.strip() and said == said.strip("\n"):
        lines, spaces = (anatomy.with_region(f"{mark}{said.strip()}{mark}") for mark in "\n ")
        yield Dress("with its answer on a line of its own", lines, spaces, _DOTALL, any_cost=True)


def _prefilled(subject: Subject, right: Judged) -> Iterator[Dress]:
    """Yield the completion without the opening tag of its thinking, as after a prompt that ends with that tag."""
    block, text = right.anatomy.thinking, right.anatomy.text
    if block is None or block.whole.start == block.body.start or text[: block.whole.start].strip():
        return
    opening = text[block.whole.start : block.body.start]
    prompt = prompt_text(subject.examples[right.example].prompt).rstrip()
    beyond = "" if prompt.endswith(opening) else f"no {opening}, as after a chat template that ends with it"
    yield Dress(f"after a prompt that ends with {opening}", text[block.body.start :].lstrip("\n"), unreachable=beyond)


def _other_numbers(anatomy: Anatomy, reads_numbers: bool) -> Iterator[Dress]:
    """Yield the completion with its number without the comma or the unit of the gold answer, or with a comma.

    A reward whose code reads no numbers compares texts: to it, a unit is a part of the answer.
    """
    number, written = as_number(anatomy.gold), str(anatomy.value)
    priced = _PRICED.fullmatch(written)
    said = anatomy.region.of(anatomy.text)
    if priced is not None and said.strip() == written.strip() and reads_numbers:
        hint = f"the gold answer {written!r} has a unit: remove it from both, or read numbers (rk.number)"
        yield Dress(
            "without the unit of the gold answer",
            anatomy.with_region(said.replace(written.strip(), priced[1] or priced[2])),
            hint=hint,
        )
    if number is None or abs(number) < 1000 or re.search(r"[^\d,.\-]", anatomy.gold):
        return
    hint = "remove commas from both sides before comparing, or read numbers (rk.number)"
    if "," in anatomy.gold:
        yield Dress("without the comma of the gold answer", anatomy.saying(anatomy.gold.replace(",", "")), hint=hint)
    else:
        yield Dress("with a comma in its number", anatomy.saying(f"{number:,f}"), hint=hint)


def _only_on_one_line(subject: Subject) -> Iterator[Finding]:
    """Report a reward that pays a right completion on one line, but nothing as it was given, on several."""
    for number, example in enumerate(subject.examples[:4]):
        lowest = min(
            (seen.value for trial, seen in swept(subject) if trial.example == number and seen.scored), default=0
        )
        for completion, anatomy in zip(example.good, anatomies(subject, number), strict=True):
            trial = Trial(completion, number)
            line = re.sub(r"\s*\n\s*", " ", anatomy.text.strip())
            seen, other = subject.see([trial, Trial(with_text(completion, line), number)])
            if seen.scored and _is_more(other, seen) and seen.value <= lowest + EQUAL:
                why = f"a right completion earns {seen.value:.6g} on several lines, but {other.value:.6g} on one"
                hint = f": {_DOTALL}" if subject.mined.has_dots else ""
                yield finding("right_however_written", subject, trial, seen, f"{why}{hint}", tip=_tip(subject))
                return


def _is_more(one: Seen, other: Seen) -> bool:
    return one.scored and one.value > other.value + 1e-6


ALL = (right_however_written,)
