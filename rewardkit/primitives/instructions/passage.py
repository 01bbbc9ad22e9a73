"""Passage: a text and what checks read in it (words, sentences, lines), each found once."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from functools import cached_property
from typing import final

from rewardkit.core.text.visibility import has_visible_character
from rewardkit.primitives.instructions.sentences import sentences
from rewardkit.primitives.instructions.tokens import tokens

PUNCTUATION = string.punctuation
_NO_PUNCTUATION = str.maketrans("", "", PUNCTUATION)
_WORD = re.compile(r"\w+")
_CLOSING = "\"')]}>*_`\u2019\u201d\u00bb"
_BULLET = re.compile(r"[^\S\n]*([*-])\s(.*)")


def bare(text: str) -> str:
    """Return `text` without ASCII punctuation."""
    return text.translate(_NO_PUNCTUATION)


def trimmed(word: str) -> str:
    """Return `word` without ASCII punctuation and spaces around it."""
    return word.strip(PUNCTUATION + " ")


def spoken(words: list[str]) -> list[str]:
    """Return the words with a letter or digit in them."""
    return [word for word in words if word.isalnum() or any(map(str.isalnum, word))]


def final_mark(sentence: str) -> str:
    """Return the character that ends a sentence, before closing quotes, brackets and emphasis: ``.`` for ``"Go."``"""
    return sentence.rstrip(_CLOSING)[-1:]


def bullet(line: str) -> str:
    """Return ``*`` or ``-`` if the line is a bullet point: that mark, white space and something more. A rule (``---``,
    ``* * *``), a negative number, ``*emphasis*`` and an option (``--all``) are none."""
    match = _BULLET.match(line)
    return match[1] if match and match[2].strip("*-_ \t\r") and has_visible_character(match[2]) else ""


@final
@dataclass(frozen=True)
class Passage:
    """A text, as checks read it."""

    text: str

    @cached_property
    def lower(self) -> str:
        return self.text.lower()

    @cached_property
    def words(self) -> list[str]:
        """Runs of letters, digits and underscores: ``["don", "t"]`` for ``don't``."""
        return _WORD.findall(self.text)

    @cached_property
    def bare_words(self) -> list[str]:
        """What spaces separate, in lower case and without ASCII punctuation: ``["dont"]`` for ``Don't!``"""
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
        """The lines with something in them."""
        return [line for line in self.text.split("\n") if line.strip()]
