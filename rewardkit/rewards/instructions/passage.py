"""Passage: a text and its parts (words, sentences, lines) for the checks. Each kind of part is computed once."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import final

from rewardkit.rewards.instructions.vocabulary import ABBREVIATIONS, STARTERS
from rewardkit.text.visibility import has_visible_character, straight

# Sentences: ``sentences("Dr. Smith left. Why?")`` is ``["Dr. Smith left.", "Why?"]``.


_PUNCTUATION = r"""[)";}\]*:@'({\[!?\u2018\u2019\u201c\u201d\u00ab\u00bb]"""
# A period before a space or a closing mark may end a sentence; the period in 3.5 does not.
_END = re.compile(rf"[.?!](?=(?P<mark>{_PUNCTUATION})|(?P<gap>\s+)\S)")
_PIECE = re.compile(rf"{_PUNCTUATION}|--")
# Punkt reads all numbers as one kind of word: "1,000.5", "-3".
_NUMBER = re.compile(r"-?[.,]?\d[\d,.\-]*")
_NEXT = re.compile(r"[^\W\d]+|\S")
# Quotation marks and brackets after a period belong to its sentence: 'He said "No."'.
_CLOSING_MARKS = re.compile(r"""["')\]}\u2018\u2019\u201c\u201d\u00ab\u00bb]+(?=\s|--|\Z)\s*""")
_SPACE = re.compile(r"\s")
_LONGEST = 100
"""The maximum number of characters in a word that are read before a period. The number is arbitrary, but larger than
the length of any abbreviation. With a limit, the time stays linear."""


def sentences(text: str) -> list[str]:
    """Return the sentences in `text`, without the white space between them."""
    pieces: list[str] = []
    start, length = 0, len(text.rstrip())
    for end, following in _breaks(text):
        if start:
            closing = _CLOSING_MARKS.match(text, start)
            if closing and closing.end() <= end:
                pieces[-1] += closing[0].rstrip()
                start = closing.end()
        pieces.append(text[start:end])
        start = following
    closing = _CLOSING_MARKS.match(text, start) if start else None
    if closing:
        pieces[-1] += closing[0].rstrip()
        start = closing.end()
    if start < length:
        pieces.append(text[start:length])
    return [sentence for sentence in pieces if sentence]


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield (end of a sentence, start of the next one) for each sentence break in `text`."""
    begin = 0  # the start of the word with the last mark
    last: re.Match[str] | None = None
    for match in _END.finditer(text):
        # Of several marks in one word, only the last can end a sentence.
        if last is not None and (last["gap"] or _SPACE.search(text, last.end(), match.start())):
            yield from _decided(text, begin, last)
            begin = last.end()
        last = match
    if last is not None:
        yield from _decided(text, begin, last)


def _decided(text: str, begin: int, match: re.Match[str]) -> Iterator[tuple[int, int]]:
    if match[0] == ".":
        word = text[max(begin, match.start() - _LONGEST) : match.start()].split()
        if not _ends(word[-1] if word else "", _follower(text, match), new_line="\n" in (match["gap"] or "")):
            return
    yield match.end(), match.end("gap") if match["gap"] else match.end()


def _follower(text: str, match: re.Match[str]) -> str:
    """Return the mark right after the end of a sentence, or the next word if there is no mark."""
    if match["mark"]:
        return match["mark"]
    next_word = _NEXT.match(text, match.end("gap"))
    return next_word[0] if next_word else ""


def _ends(word: str, following: str, *, new_line: bool) -> bool:
    """Return whether the period after `word` ends a sentence, given the text after it."""
    if "!" in word or "?" in word:
        return True
    word = _PIECE.split(word)[-1].lower()
    starts = following[:1].isupper()
    if word.endswith("."):
        return starts
    if len(word) == 1 and word.isalpha():
        return starts and (new_line or following.lower() in STARTERS)
    if _NUMBER.fullmatch(word):
        return not (following[:1].islower() or following in ";:,.!?")
    if word in ABBREVIATIONS or word.rpartition("-")[2] in ABBREVIATIONS:
        return starts and following.lower() in STARTERS
    return True


# Tokens: ``tokens('He said "don\'t," twice.')`` is ``["He", "said", '"', "do", "n't", ",", '"', "twice", "."]``.


_TOKEN_MARK = r"[;@\#$%&?!*\[\](){}<>\"\u00ab\u00bb\u201c\u201d\u201e\u2018\u2013\u2014\u2026]"
# The Penn Treebank's tokens: marks by themselves, numbers with their commas and points, words with their hyphens.
_TOKEN = re.compile(
    rf"""\.{{2,}}|--|``?|''|{_TOKEN_MARK}|[:,](?!\d)
    |(?:[^\s:,.\-`'{_TOKEN_MARK[1:-1]}]+|[:,](?=\d)|\.(?!\.)|-(?!-)|'(?!'))+""",
    re.VERBOSE,
)
# "don't" is "do" and "n't", as in the Penn Treebank.
_CONTRACTION = re.compile(r"(?i)(.+)(n't|'s|'m|'d|'ll|'re|'ve|')\Z", re.DOTALL)
# "cannot" is "can" and "not": the length of the first part.
_SPLIT_WORDS = {"cannot": 3, "gonna": 3, "gotta": 3, "gimme": 3, "lemme": 3, "wanna": 3}
_CLOSERS = "]})>\"'\u00bb\u201d"


def tokens(sentence: str) -> list[str]:
    """Return the words and punctuation marks in one sentence."""
    pieces: list[str] = []
    for word in _TOKEN.findall(straight(sentence)):
        if cut := _SPLIT_WORDS.get(word.lower()):
            pieces += [word[:cut], word[cut:]]
        elif "'" in word and word.strip("'"):
            pieces += _apart(word)
        else:
            pieces.append(word)
    last = len(pieces) - 1
    while last > 0 and pieces[last] in _CLOSERS:
        last -= 1
    if pieces and len(pieces[last]) > 1 and pieces[last][-1] == "." != pieces[last][-2]:
        pieces[last : last + 1] = [pieces[last][:-1], "."]
    return pieces


def _apart(word: str) -> list[str]:
    """Return the tokens in `word`: two for a contraction, and a separate token for an opening quotation mark."""
    if word[0] == "'" and word.lower() not in ("'s", "'m", "'d", "'ll", "'re", "'ve", "'t"):
        return ["'", *(_apart(word[1:]) if "'" in word[1:] else [word[1:]])]
    dotted = word.endswith(".")
    match = _CONTRACTION.match(word[:-1] if dotted else word)
    return [match[1], match[2], *(["."] if dotted else [])] if match else [word]


PUNCTUATION = string.punctuation
_NO_PUNCTUATION = str.maketrans("", "", PUNCTUATION)
_WORD = re.compile(r"\w+")
_CLOSING = "\"')]}>*_`\u2019\u201d\u00bb"
# A list item: "* item" or "- item"; "*bold*" has no space.
_BULLET = re.compile(r"[^\S\n]*([*-])\s(.*)")


def bare(text: str) -> str:
    """Return `text` without ASCII punctuation."""
    return text.translate(_NO_PUNCTUATION)


def trimmed(word: str) -> str:
    """Return `word` without surrounding ASCII punctuation and spaces."""
    return word.strip(PUNCTUATION + " ")


def spoken(words: list[str]) -> list[str]:
    """Return the items of `words` that contain a letter or a digit."""
    return [word for word in words if word.isalnum() or any(map(str.isalnum, word))]


def final_mark(sentence: str) -> str:
    """Return the last character before closing quotes, brackets, and emphasis: ``.`` for ``"Go."``"""
    return sentence.rstrip(_CLOSING)[-1:]


def bullet(line: str) -> str:
    """Return ``*`` or ``-`` if the line is a bullet point (a mark, white space, and text), else an empty string.

    A rule (``---``, ``* * *``), a negative number, ``*emphasis*``, and an option (``--all``) are not bullet points.
    """
    match = _BULLET.match(line)
    return match[1] if match and match[2].strip("*-_ \t\r") and has_visible_character(match[2]) else ""


@final
@dataclass(frozen=True)
class Passage:
    """A text and its parts, for the checks."""

    text: str

    @cached_property
    def lower(self) -> str:
        return self.text.lower()

    @cached_property
    def words(self) -> list[str]:
        """Runs of letters, digits, and underscores: ``["don", "t"]`` for ``don't``."""
        return _WORD.findall(self.text)

    @cached_property
    def bare_words(self) -> list[str]:
        """The words separated by spaces, in lower case and without ASCII punctuation: ``["dont"]`` for ``Don't!``"""
        return spoken(bare(self.lower).split())

    @cached_property
    def sentences(self) -> list[str]:
        return sentences(self.text)

    @cached_property
    def tokens(self) -> list[str]:
        """Words and punctuation marks: ``["do", "n't", "!"]`` for ``don't!``"""
        return [token for sentence in self.sentences for token in tokens(sentence)]

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.text.split("\n") if line.strip()]
