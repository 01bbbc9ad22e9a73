"""Instructions about length: how many words, sentences, paragraphs, letters."""

from __future__ import annotations

import re

from rewardkit.core.errors import shorten
from rewardkit.primitives.instructions.passage import Passage, spoken, trimmed
from rewardkit.primitives.instructions.registry import (
    Count,
    Letter,
    Position,
    Relation,
    Text,
    check,
    counted,
)

_LOWER_WORD = re.compile(r"\b[a-z]+\b")
_LETTER = re.compile(r"[a-zA-Z]")


@check("length_constraints:number_words")
def number_words(passage: Passage, num_words: Count, relation: Relation) -> str:
    return counted(len(passage.words), relation, num_words, "words")


@check("length_constraints:number_sentences")
def number_sentences(passage: Passage, num_sentences: Count, relation: Relation) -> str:
    return counted(len(passage.sentences), relation, num_sentences, "sentences")


@check("length_constraints:number_paragraphs")
def number_paragraphs(passage: Passage, num_paragraphs: Count) -> str:
    return _paragraphs(passage, "***", num_paragraphs)


@check("paragraphs:paragraphs")
def two_divided_paragraphs(passage: Passage) -> str:
    return _paragraphs(passage, "***", 2)


@check("paragraphs:paragraphs2")
def two_paragraphs(passage: Passage) -> str:
    return _paragraphs(passage, "\n\n", 2)


def divided(text: str, divider: str) -> list[str] | None:
    """Return the parts between dividers; None if one in the middle is empty."""
    parts = text.split(divider)
    if any(not part.strip() for part in parts[1:-1]):
        return None
    return [part for part in parts if part.strip()]


def _paragraphs(passage: Passage, divider: str, wanted: int) -> str:
    parts = divided(passage.text, divider)
    return "an empty paragraph" if parts is None else counted(len(parts), "exactly", wanted, "paragraphs")


@check("length_constraints:nth_paragraph_first_word")
def first_word_of_paragraph(passage: Passage, num_paragraphs: Count, nth_paragraph: Position, first_word: Text) -> str:
    paragraphs = [part for part in passage.text.split("\n\n") if part.strip()]
    if len(paragraphs) != num_paragraphs or nth_paragraph > len(paragraphs):
        return counted(len(paragraphs), "exactly", num_paragraphs, "paragraphs") or f"no paragraph {nth_paragraph:,}"
    found = re.split(r"[.,?!'\"]", paragraphs[nth_paragraph - 1].split()[0].lstrip("'\""), maxsplit=1)[0]
    right = found.lower() == first_word.lower()
    return "" if right else f"paragraph {nth_paragraph:,} starts with {shorten(found, 40)}"


@check("keywords:letter_frequency", "letters:letter_counting2")
def letter_frequency(passage: Passage, letter: Letter, let_frequency: Count, let_relation: Relation) -> str:
    return counted(passage.lower.count(letter), let_relation, let_frequency, f"times {letter!r}")


@check("letters:letter_counting")
def letter_counting(passage: Passage, N: Count, relation: Relation) -> str:  # noqa: N803 (the data's name)
    return counted(len(_LETTER.findall(passage.text)), relation, N, "letters")


@check("count:word_count_range")
def word_count_range(passage: Passage, min_words: Count, max_words: Count) -> str:
    count = len(passage.words)
    return counted(count, "at least", min_words, "words") or counted(count, "at most", max_words, "words")


@check("count:unique_word_count")
def unique_word_count(passage: Passage, N: Count) -> str:  # noqa: N803
    unique = {trimmed(word) for word in passage.lower.split()} - {""}
    return counted(len(unique), "at least", N, "different words")


@check("count:lowercase_counting")
def lowercase_counting(passage: Passage, N: Count) -> str:  # noqa: N803
    return counted(len(_LOWER_WORD.findall(passage.text)), "at most", N, "lowercase words")


@check("count:counting_composition")
def counting_composition(passage: Passage, n_sent: Count, n_words: Count) -> str:
    problem = _paragraphs(passage, "***", 3)
    if problem:
        return problem
    for paragraph in (Passage(part) for part in passage.text.split("***") if part.strip()):
        if len(paragraph.sentences) != n_sent:
            return counted(len(paragraph.sentences), "exactly", n_sent, "sentences in a paragraph")
        for sentence in paragraph.sentences:
            if (count := len(spoken(sentence.split()))) != n_words:
                return counted(count, "exactly", n_words, "words in a sentence")
    return ""


@check("count:count_unique")
def count_unique(passage: Passage) -> str:
    seen: set[str] = set()
    for word in spoken(passage.lower.split()):
        word = trimmed(word)
        if word in seen:
            return f"repeats {shorten(word, 40)}"
        seen.add(word)
    return "" if seen else "no words"
