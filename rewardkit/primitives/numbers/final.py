r"""Find the number that a text gives as its answer: in ``The answer is 42, not 41.`` it is ``42``.

Marks come first (a tag, a box, ``####``). In a text without them, the last number counts that the text claims: it is
neither denied, doubted nor asked for (``rewardkit.core.text.claims``), and it is no label (Step 3, #3, a citation).
``The answer is 42`` counts more than a number in a remark after it. Where a reader could not say which number is meant
(``41 or 42``, ``40-42``), or if it is part of something longer (``42x``, ``half of 42``), the passage is returned,
which is not a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from rewardkit.core.text.claims import OR_WORDS, asked, corrects, denied_after, denied_before, last_retraction
from rewardkit.core.text.extractors import TextExtractor
from rewardkit.core.text.final_answer import (
    Statement,
    bare_answer,
    is_claimed,
    marked,
    own_words,
    stands,
    stands_alone,
    stated_object,
    statements,
    without_elements,
)
from rewardkit.core.text.numbers import NumberText, plain_digits
from rewardkit.core.text.visibility import replaced, straight
from rewardkit.primitives.numbers import context
from rewardkit.primitives.numbers.pieces import Piece, pattern_of, pieces_in

_MOST_SKIPPED = 300
"""A text that denies, asks for or cites more numbers than this at its end answers nothing."""

_CURRENCIES = frozenset("$\u20ac\xa3\xa5")
_SHORT = 64
"""A longer text is never one number with its unit."""

_LARGEST_FACTORIAL = 20
"""10! may be a factorial. Larger ones do not fit into 64 bits, so the sign only calls out: "It is 42!"."""

_NEAR = 64
"""How many characters next to a number are read."""
_STOPS = (".", "!", "?")
_FAR = 400
"""How many characters of a sentence are read."""


_RELATION = re.compile(
    r"\\(?:approx|to|rightarrow|Rightarrow|implies|sim|simeq|equiv|in|q?quad)(?![A-Za-z])\ ?|\u2192\ ?"
)
_UNEQUAL = re.compile(r"\\(?:neq?|not\s?=)(?![A-Za-z])\ ?")
_PLAIN = dict.fromkeys("\u2010\u2011\u2012\ufe63", "-") | dict(
    zip("\uff1d\uff1a\uff0f\uff08\uff09", "=:/()", strict=True)
)
_DOLLARS = re.compile(r"(?<![\w$])(?:US|NZ|HK|[ACS])\$(?=[0-9])")
_ADDRESS = re.compile(r"\bhttps?://\S+")
_BLANK = re.compile(r"(?<![\w_])_{3,}(?![\w_])")
_AFTER_SENTENCE = re.compile(r"(?<=[.!?\n])")
_UNDERLINED = re.compile(r"(?<!\w)__?([^_\n]{1,200})__?(?!\w)")
_ALIGNED = re.compile(
    r"\\(?:begin|end)\{(?:align|aligned|alignat|equation|gather|gathered|split|multline|center)\*?\}|&(?=\s?[=\u2248])"
)
"""Around the lines of a computation. Other environments (matrices, cases) hold several numbers."""
_GOES_ON = re.compile(
    r"\n(?:(?<=[,\u3001\uff0c\u6216\u548c]\n)|(?<=\b(?:or|by|of|ou|et)\n)|(?<=\b(?:and|und)\n)|(?<=\b(?:oder|than|plus)\n)"
    rf"|(?<=\b[oy]\n)|(?<=\b(?:minus|times)\n)|(?<=\bnegative\n))\s{{0,8}}|\n\s{{0,8}}(?=(?:{OR_WORDS})\s)",
    re.IGNORECASE,
)
"""A line break after "or" or a comma, or before "or"."""
_DIGIT = re.compile(r"[\d\u2460-\u249b\u2776-\u2793\xbc-\xbe\u2150-\u215e]")
_ASCII_DIGIT = re.compile(r"[0-9]")


@dataclass(frozen=True)
class FinalNumber(TextExtractor):
    """The marked answer (tag, box, ``####``), else the last number that the visible text claims."""

    text: NumberText

    def find(self, answer: str) -> str | None:
        answer = own_words(answer)
        mark = marked(answer)
        if mark is None:
            return answer if len(answer) < _SHORT and self._reads(answer) else self._last(answer)
        number = bare_answer(mark)
        if number is None:
            return None
        if mark.mark != "hashes" or self._reads(number):
            return number
        # A "####" line without a number is a heading if a number follows later.
        _, _, later = answer[answer.rfind("####") :].partition("\n")
        return self._last(later) or number

    def _reads(self, text: str) -> bool:
        return not isinstance(self.text.read(text), str)

    def _last(self, text: str) -> str | None:
        plain = _prepared(text)
        pattern = pattern_of(tuple(unit for unit, _ in self.text.units), plain.isascii())
        return _Text(plain, pattern, self.text).answer()

    def __repr__(self) -> str:
        return "final_number()"


def _prepared(text: str) -> str:
    """Return `text` as a reader sees it: plain digits and hyphens, nothing struck or invisible, no tags."""
    text = without_elements(text)
    if "_" in text:
        text = _UNDERLINED.sub(r"\1", text)
        if _BLANK.search(text):  # a sentence with a blank to be filled in is the question
            text = "".join(sentence for sentence in _AFTER_SENTENCE.split(text) if not _BLANK.search(sentence))
    if not text.isascii():
        text = replaced(straight(plain_digits(text)), _PLAIN)
    if "://" in text:
        text = _ADDRESS.sub(" ", text)
    if "$" in text:
        text = _DOLLARS.sub("$", text)
    if (checked := context.CHECKED.search(text, max(0, len(text) - _FAR))) and _DIGIT.search(text, 0, checked.start()):
        text = text[: checked.start()]
    if "\\" in text or "\u2192" in text:
        text = _ALIGNED.sub("", _UNEQUAL.sub("\u2260 ", _RELATION.sub("=", text)))
    return _GOES_ON.sub(" ", text)


@dataclass(frozen=True)
class _Text:
    """A prepared text, the pattern of its pieces, and what reads these."""

    text: str
    pattern: re.Pattern[str]
    reader: NumberText

    def answer(self) -> str | None:
        skipped: str | None = None
        denied: set[str] = set()
        for count, line in enumerate(self._from_the_end()):
            piece = line[-1]
            if count > _MOST_SKIPPED:
                return skipped
            if self._is_denied(line):
                denied.add(_value(piece.found))
            elif not self._is_label(piece):
                return self._settled(line, denied)
            skipped = skipped or self._around(piece)
        return skipped

    def _from_the_end(self) -> Iterator[list[Piece]]:
        """Yield each piece, from the last to the first, as the end of the pieces of its line."""
        end = len(self.text)
        digit = _ASCII_DIGIT if self.text.isascii() else _DIGIT
        while end >= 0:
            start = self.text.rfind("\n", 0, end) + 1
            if digit.search(self.text, start, end):
                line = pieces_in(self.text, start, end, self.pattern)
                while line:
                    yield line
                    line.pop()
            end = start - 1

    def _is_denied(self, line: list[Piece]) -> bool:
        text, piece = self.text, line[-1]
        if (
            piece.start in self._unclaimed
            or denied_before(text, piece.start)
            or denied_after(text, piece.end, noun=True)
            or asked(text, piece.end)
        ):
            return True
        if len(line) < 2:
            return False
        before = line[-2]  # "not 41 or 42"
        return self._alternatives(before, piece) and denied_before(text, before.start)

    def _is_label(self, piece: Piece) -> bool:
        """Return whether it is no quantity: a citation, "Step 3", "3rd", the number of an item in a list."""
        text, start, end = self.text, piece.start, piece.end
        if piece.kind != "number":
            return piece.kind == "citation"
        if context.ORDINAL.match(text, end) or self._before(context.LABEL, piece):
            return True
        if ("^" in piece.found and context.RAISED_ORDINAL.search(piece.found)) or (
            piece.found.isdecimal() and self._is_dated(piece)
        ):
            return True
        if not (context.BULLET_END.match(text, end) and context.LINE_START.search(text, max(0, start - 20), start)):
            return False
        return piece.found.isdecimal() and len(piece.found) < 3 and self._is_item(int(piece.found), text[end])

    def _is_dated(self, piece: Piece) -> bool:
        """Return whether it is the day or year of "March 15, 2024" or "15 March 2024"."""
        text, start, end = self.text, piece.start, piece.end
        if len(piece.found) == 4:
            return context.DAY_BEFORE.search(text, max(0, start - context.CLOSE), start) is not None
        if len(piece.found) > 2 or not context.YEAR_AFTER.match(text, end):
            return False
        before = context.MONTH_BEFORE.search(text, max(0, start - context.CLOSE), start)
        return bool(before or context.MONTH_AFTER.match(text, end))

    def _is_item(self, number: int, mark: str) -> bool:
        neighbors = (f"\n{number - 1}{mark} ", f"\n{number + 1}{mark} ")
        return any(neighbor in self.text or self.text.startswith(neighbor[1:]) for neighbor in neighbors)

    def _settled(self, line: list[Piece], denied: set[str]) -> str:
        """Return the text of the last number, or of the stated one, or a passage that says why there is none."""
        last, rest = self._result(line)
        stated = self._stated()
        if isinstance(stated, str):
            return stated
        if stated and stated[0].start > line[-1].end:  # [4, 3] is not a citation here
            return self._passage(stated[0].start - 1, stated[-1].end + 1)
        following: list[Piece] = []
        if stated and stated[0].end <= line[-1].start:
            chosen = self._stated_or_last(stated, line[-1])
            if chosen is None:
                return self._passage(stated[0].start, last.end)
            if chosen is not line[-1]:
                last, rest, following = chosen, [], stated[1:]
            else:
                last, rest = line[-1], line[:-1]
        elif stated:
            last, rest = line[-1], line[:-1]
        if stated and last.start == stated[0].start:
            _, end = stated_object(self.text, last.start)
            if not stands(self.text, end, last.found):
                return self._passage(last.start, len(self.text))
        undecided = context.UNDECIDED.match(self.text, last.end)
        if undecided:
            others = pieces_in(self.text, undecided.end(), undecided.end() + _NEAR, self.pattern)
            if others and not self._same(last, others[0]):
                return self._passage(last.start, others[0].end)
        passage = self._longer(last, rest, following)
        if passage:
            return passage
        if _value(last.found) in denied:
            return f"{last.found}, which is denied later,"
        before = self.text[max(0, last.start - _FAR) : last.start]
        if (
            not stated
            and before.rstrip(" \n*$(\\")[-1:] in _STOPS
            and (unanswered := context.UNANSWERED.search(before))
        ):
            return self._passage(last.start - len(unanswered[0]), last.end)
        retraction = last_retraction(self.text, last.end)
        if retraction and (retraction.everything or not self._has_pieces(last.end, retraction.start)):
            return self._passage(last.start, retraction.end)
        return f"-{last.found}" if self._negative(last) else last.found

    def _negative(self, piece: Piece) -> re.Match[str] | None:
        return self._before(context.NEGATIVE, piece)

    def _before(self, pattern: re.Pattern[str], piece: Piece) -> re.Match[str] | None:
        """Search for `pattern` before the number, unless what is there says nothing about it, as in most texts."""
        left = max(0, piece.start - context.CLOSE)
        head = self.text[left : piece.start].rstrip(" *$(\\")
        if head.endswith(context.SILENT):
            return None
        return pattern.search(self.text, left, piece.start)

    def _result(self, line: list[Piece]) -> tuple[Piece, list[Piece]]:
        """Return the last number of a line, without computations in brackets and adjuncts, and what is before it."""
        text, last = self.text, line[-1]
        opening = text.rfind("(", line[0].end, last.start + 1)
        if opening >= 0 and last.start - opening < _NEAR and ")" not in text[opening : last.start]:
            before = [piece for piece in line if piece.end <= opening]
            inner = line[len(before) :]
            computed = len(inner) > 1 or (
                not _is_plain(inner[0]) and not isinstance(self.reader.read(inner[0].found), Fraction)
            )
            listed = context.JOIN.search(text, opening, last.end) or any(map(self._beside, inner, inner[1:]))
            if before and computed and not listed:
                return before[-1], before[:-1]
        shared = len(line) > 2 and context.SHARED.fullmatch(text, line[-2].end, last.start) is not None
        for count in (3, 2) if shared else (2,):
            if len(line) < count:
                break
            other, following = line[-count], line[1 - count]
            left = max(0, other.start - _NEAR)
            if (
                (
                    context.ADJUNCT.fullmatch(text, other.end, following.start)
                    or (count == 3 and context.RESTATED.fullmatch(text, other.end, following.start))
                    or context.SUBJECT_OF.fullmatch(text, other.end, following.start)
                )
                and not (context.NO_CLAIM_BEFORE.search(text, left, other.start) or self._is_label(other))
                and self._reads_alone(other)
            ):
                return other, line[:-count]
        return last, line[:-1]

    def _beside(self, first: Piece, second: Piece) -> bool:
        return context.COMMA.fullmatch(self.text, first.end, second.start) is not None

    def _reads_alone(self, piece: Piece) -> bool:
        return not isinstance(self.reader.read(piece.found), str) and not self._longer(piece, [], [])

    # the stated answer

    @cached_property
    def _statements(self) -> list[Statement]:
        """The statements of the answer, from the last to the first."""
        return list(statements(self.text))

    @cached_property
    def _unclaimed(self) -> set[int]:
        """Where the answers of others begin, and the answers to something else."""
        others = (statement for statement in self._statements if not is_claimed(self.text, statement))
        return {self._opened(statement.start) for statement in others}

    def _opened(self, start: int) -> int:
        opened = context.OPENED.match(self.text, start)
        return opened.end() if opened else start

    def _stated(self) -> list[Piece] | str | None:
        """Return the number in the last "The answer is 42", and what follows it; a passage if it is no number."""
        for lead, statement_start in self._statements:
            start = self._opened(statement_start)
            if start in self._unclaimed:
                continue
            end = self.text.find("\n", start)
            pieces = pieces_in(self.text, start, len(self.text) if end < 0 else end, self.pattern)
            first = pieces[0] if pieces else None
            if first and (first.start <= start or self._opens_with_sign(statement_start, first)):
                if not self._is_denied([first]):
                    return self._equal(pieces)
            elif (
                first and context.INDIRECT.search(self.text, start, first.start) and self._is_else(lead, start, pieces)
            ):
                return pieces
            elif self._is_no_number(start) or self._is_else(lead, start, pieces):
                return self._passage(lead, start + 20)
        if explained := context.EXPLAINED.match(self.text):
            return pieces_in(self.text, 0, explained.end("value"), self.pattern) or None
        return None

    def _opens_with_sign(self, start: int, piece: Piece) -> bool:
        negative = self._negative(piece)
        return bool(negative and not self.text[start : negative.start("minus")].strip(" *$(:"))

    def _is_no_number(self, start: int) -> bool:
        """Return whether the answer is in words: "forty-two", "unknown", "cannot be determined"."""
        if denied_before(self.text, start):
            return False
        if context.NUMERAL.match(self.text, start):
            end = context.SENTENCE_END.search(self.text, start)
            sentence = self.text[start : end.start() if end else len(self.text)]
            return not re.search(r"[(,]\s*-?\$?[0-9][0-9.,]*\s*(?:\)|\Z)|=", sentence)
        return not _DIGIT.search(self.text, start) and context.WORDS.match(self.text, start) is not None

    def _is_else(self, lead: int, start: int, pieces: list[Piece]) -> bool:
        """Return whether the statement is about the number without stating it: "the answer is half of 42"."""
        end = context.SENTENCE_END.search(self.text, start)
        stop = end.start() if end else len(self.text)
        sentence = [piece for piece in pieces if piece.start < stop]
        if not sentence or context.NUMERAL.match(self.text, start) or denied_before(self.text, sentence[-1].start):
            return False
        between = self.text[lead : sentence[-1].start]
        return bool(
            context.PART_OF.search(between)
            or context.PART_WORD.search(between)
            or not (context.INDIRECT.search(between) or context.SUBJECT.fullmatch(self.text, start, sentence[0].start))
        )

    def _equal(self, pieces: list[Piece]) -> list[Piece]:
        """Return the result of the computation that starts with the first piece, and what follows: 14 for 26 - 12 = 14.

        41 = 42 computes nothing.
        """
        result, computed = 0, not pieces[0].found.isdecimal()
        for number, (left, right) in enumerate(pairwise(pieces), 1):
            if context.EQUALS.fullmatch(self.text, left.end, right.start):
                if not computed:
                    break
                result, computed = number, not right.found.isdecimal()
            elif context.OPERATOR.fullmatch(self.text, left.end, right.start) or right.found[:1] in "+-":
                computed = True
            else:
                break
        return pieces[result:]

    def _stated_or_last(self, pieces: list[Piece], last: Piece) -> Piece | None:
        """Return the stated number, or the last one if it replaces that, or None if no reader could tell."""
        stated = pieces[0]
        between = self.text[stated.end : last.start]
        if self._same(stated, last):
            return last if last_retraction(between, 0) else stated
        if context.UNDECIDED.match(between) and len(between) < _NEAR:
            return None
        if corrects(self.text, last.start) or last_retraction(between, 0):
            return last
        end = context.SENTENCE_END.search(self.text, stated.end)
        stop = end.start() if end else len(self.text)
        tail = self.text[stated.end : min(stop, stated.end + _FAR)]
        if (
            len(pieces) > 1
            and pieces[1].start < stop
            and context.SECOND.search(tail)
            and not context.REASON.match(tail)
        ):
            joined = tail[:1] == " " and context.OR.fullmatch(self.text, stated.end, pieces[1].start)
            if not joined or self._alternatives(stated, pieces[1]):  # 42 minutes, or 0.7 hours
                return None
        again = re.compile(rf"(?<![\w.]){re.escape(_value(stated.found))}(?![\w.]*\w)")
        if redone := context.REDONE.search(between):
            if again.search(between, redone.end()):
                return stated
            if not context.CLAIM.search(between, redone.end()):
                return stated if redone["check"] else None
            return last
        concluded = context.CONCLUSION.search(self.text, stop, last.start)
        if concluded and not again.search(self.text, concluded.end()):
            return None if context.ALONE.match(self.text, stated.end) else last
        return stated

    def _same(self, one: Piece, other: Piece) -> bool:
        """Return whether both are the same number: 42 and $42.00, 0.6 and 3/5, 0.806 and 81%."""
        if _value(one.found) == _value(other.found):
            return True
        if one.found.endswith("%") != other.found.endswith("%"):
            share, percent = (other, one) if one.found.endswith("%") else (one, other)
            return _is_rounded(percent.found[:-1], share.found)
        values = [self.reader.read(piece.found) for piece in (one, other)]
        return not any(isinstance(value, str) for value in values) and Fraction(values[0]) == Fraction(values[1])

    # what the number is part of

    def _longer(self, piece: Piece, rest: list[Piece], following: list[Piece]) -> str | None:
        """Return the passage that the number is a part of, or in which it is one of several; None if it is alone."""
        text, start, end = self.text, piece.start, piece.end
        left = max(0, start - _NEAR)
        if context.SENTENCE_END.match(text, end) or context.COMPUTED.match(text, end):
            text = text[:end]
        negative = self._negative(piece)
        if stands_alone(text, negative.start("minus") if negative else start, end) is None:
            return self._passage(left, end + 8)
        part = self._before(context.PART_OF, piece) or (None if negative else self._before(context.MINUS_WORD, piece))
        if part:
            return self._passage(part.start(), end)
        if attached := context.ATTACHED.match(self.text, end):
            return self._passage(start, attached.end())
        if self.text[end : end + 1] == "!" and piece.found.isdecimal() and int(piece.found) <= _LARGEST_FACTORIAL:
            return self._passage(start, end + 1)
        interval, closed = context.INTERVAL_BEFORE.search(text, left, start), context.INTERVAL_END.match(text, end)
        if interval and closed and ("," in interval[0] or ";" in interval[0] or "," in closed[0]):
            return self._passage(interval.start(), closed.end())
        if text[end : end + 1] == "m" and text[start] in _CURRENCIES and not text[end + 1 : end + 2].isalnum():
            return self._passage(start, end + 1)  # $42m
        if self._is_bare(piece) and context.BARE_LINES.search(text, left, start):
            return self._passage(left, end)
        opening = context.TUPLE_OPEN.search(text, left, start) if "," in piece.found else None
        if opening:
            closing = context.TUPLE_END.match(text, end)
            if closing and (opening[0][0] in "([{" or closing[0][-1] in ")]}"):
                return self._passage(opening.start(), closing.end())
        if rest and (self._alternatives(rest[-1], piece) or self._several(rest, piece)):
            return self._passage(rest[-1].start, end)
        if following and (self._alternatives(piece, following[0]) or self._several([piece], following[0])):
            return self._passage(start, following[0].end)
        return None

    def _is_bare(self, piece: Piece) -> bool:
        """Return whether it is alone on its line, but for a bullet."""
        margin = self.text[max(0, piece.start - 8) : piece.start].rpartition("\n")
        if not margin[1] or ":" in margin[2]:
            return False
        return context.BARE_END.match(self.text, piece.end) is not None

    def _alternatives(self, first: Piece, second: Piece) -> bool:
        """Return whether the text offers the second instead of the first: "41 or 42"."""
        if second.start - first.end > 2 * _NEAR:
            return False
        joined = context.OR.fullmatch(self.text, first.end, second.start)
        if not joined or self._same(first, second):
            return False
        noun = [word for word in context.WORD.findall(joined["noun"]) if not context.JOIN.fullmatch(word)]
        other = context.WORD.match(self.text[second.end : second.end + 24].lstrip(" *$"))
        # "2 hours or 120 minutes" says the same twice.
        return not (noun and other and noun[-1].lower() != other[0].lower())

    def _several(self, rest: list[Piece], piece: Piece) -> bool:
        """Return whether the number is next to another, without a word that tells which one counts."""
        text, first = self.text, rest[-1]
        if piece.start - first.end > _NEAR:
            return False
        span = (first.end, piece.start)
        lead = max(0, first.start - _NEAR)
        if context.RANGE.fullmatch(text, *span):
            return not context.CHANGED.search(text, lead, first.start)
        if context.AND.fullmatch(text, *span):
            return True
        if context.JOINED.fullmatch(text, *span):
            return True
        if quantities := context.QUANTITIES.fullmatch(text, *span):
            return quantities["noun"].lower() in context.LARGER_UNITS
        if self._same(first, piece):
            return False
        if context.SPACE.fullmatch(text, *span):  # "5 km 300 m", but not "From 3 km 5 apples hang"
            return first.found[-1].isdigit() or not piece.found[-1].isdigit()
        if context.EQUALS.fullmatch(text, *span):
            return _is_plain(first) and _is_plain(piece) and bool(context.LISTED.search(text, lead, first.start))
        equation = context.NEXT_EQUATION.fullmatch(text, *span)
        if equation:  # "x = 41, x = 42", "x = 41 and y = 42", but not "Since y = 3, x = 42"
            other = context.EQUATION_BEFORE.search(text, lead, first.start)
            return other is not None and bool(equation["and"] or other["name"] == equation["name"])
        if not context.COMMA.fullmatch(text, *span):
            return False
        third = len(rest) > 1 and context.COMMA.fullmatch(text, rest[-2].end, first.start)
        return bool(third or not context.UNLISTED.search(text, lead, first.start))

    def _has_pieces(self, start: int, end: int) -> bool:
        return start < end and bool(_DIGIT.search(self.text, start, end))

    def _around(self, piece: Piece) -> str:
        """Return the number with some words before and after it, so that a note shows why it was skipped."""
        start, end = max(0, piece.start - 24), min(len(self.text), piece.end + 16)
        start = self.text.find(" ", start, piece.start) + 1 if start else 0
        end = max(piece.end, self.text.rfind(" ", piece.end, end)) if end < len(self.text) else end
        return f"{self._passage(start, end).removesuffix(' …')} …"

    def _passage(self, start: int, end: int) -> str:
        """Return ``text[start:end]`` in one line, as a text that is not a number."""
        passage = " ".join(self.text[max(0, start) : end].split())
        return passage if isinstance(self.reader.read(passage), str) else f"{passage} …"


def _is_rounded(percent: str, share: str) -> bool:
    """Return whether a percentage is a share, rounded: 81 is 0.8065."""
    try:
        rounded, exact = Decimal(percent), Decimal(share) * 100
    except InvalidOperation:
        return False
    return abs(rounded - exact) <= Decimal(1).scaleb(int(rounded.as_tuple().exponent)) / 2


def _value(found: str) -> str:
    """Return the number in one form, so that 42, $42 and 42.00 are equal."""
    plain = found.strip("+$\u20ac\xa3\xa5\\ ").replace(",", "")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _is_plain(piece: Piece) -> bool:
    return piece.found.lstrip("+-").replace(".", "", 1).isdecimal()
