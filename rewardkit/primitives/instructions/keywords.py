"""Instructions about keywords: that they occur, how often, and where."""

from __future__ import annotations

import re

from rewardkit.core.errors import shorten
from rewardkit.primitives.instructions.passage import PUNCTUATION, Passage
from rewardkit.primitives.instructions.registry import (
    Count,
    Position,
    Relation,
    Text,
    Texts,
    check,
    counted,
)


def occurrences(passage: Passage, keyword: str) -> int:
    """Return how often `keyword` occurs in any case, also inside longer words."""
    return passage.lower.count(keyword.lower())


def has_word(text: str, word: str) -> bool:
    """Return whether `word` occurs as a word of its own, in any case."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


@check("keywords:existence")
def existence(passage: Passage, keywords: Texts) -> str:
    missing = [keyword for keyword in keywords if not occurrences(passage, keyword)]
    return f"missing {shorten(missing, 80)}" if missing else ""


@check("keywords:frequency", "keywords:word_count_different_numbers")
def frequency(passage: Passage, keyword: Text, frequency: Count, relation: Relation) -> str:
    return counted(occurrences(passage, keyword), relation, frequency, f"times {shorten(keyword, 40)}")


@check("keywords:word_once")
def word_once(passage: Passage, keyword: Text) -> str:
    return counted(occurrences(passage, keyword), "exactly", 1, f"times {shorten(keyword, 40)}")


@check("keywords:forbidden_words")
def forbidden_words(passage: Passage, forbidden_words: Texts) -> str:
    found = next((word for word in forbidden_words if has_word(passage.text, word)), None)
    return f"contains {shorten(found, 40)}" if found else ""


@check("keywords:exclude_word_harder")
def exclude_word(passage: Passage, keyword: Text) -> str:
    return forbidden_words(passage, (keyword,))


def _numbered(passage: Passage, keywords: tuple[str, ...], counts: tuple[int, ...]) -> str:
    problems = (
        counted(occurrences(passage, keyword), "exactly", count, f"times {shorten(keyword, 40)}")
        for keyword, count in zip(keywords, counts, strict=True)
    )
    return next(filter(None, problems), "")


@check("count:count_increment_word")
def increment_word(passage: Passage, keyword1: Text, keyword2: Text) -> str:
    return _numbered(passage, (keyword1, keyword2), (1, 2))


@check("count:keywords_multiple")
def keywords_multiple(
    passage: Passage, keyword1: Text, keyword2: Text, keyword3: Text, keyword4: Text, keyword5: Text
) -> str:
    return _numbered(passage, (keyword1, keyword2, keyword3, keyword4, keyword5), (1, 2, 3, 5, 7))


@check("sentence:keyword")
def keyword_in_sentence(passage: Passage, word: Text, N: Position) -> str:  # noqa: N803 (the data's name)
    if len(passage.sentences) < N:
        return counted(len(passage.sentences), "at least", N, "sentences")
    return "" if has_word(passage.sentences[N - 1], word) else f"sentence {N:,} lacks {shorten(word, 40)}"


@check("words:keywords_specific_position", "keywords:keyword_specific_position")
def keyword_at(passage: Passage, keyword: Text, n: Position, m: Position) -> str:
    if len(passage.sentences) < n:
        return counted(len(passage.sentences), "at least", n, "sentences")
    words = [token for token in Passage(passage.sentences[n - 1]).tokens if any(map(str.isalnum, token))]
    if len(words) < m:
        return counted(len(words), "at least", m, f"words in sentence {n:,}")
    found = words[m - 1]
    return "" if found.lower() == keyword.lower() else f"word {m:,} of sentence {n:,} is {shorten(found, 40)}"


@check("words:words_position")
def second_and_second_last(passage: Passage, keyword: Text) -> str:
    words = passage.tokens[:-1] if passage.tokens and passage.tokens[-1] in PUNCTUATION else passage.tokens
    if len(words) < 2:
        return counted(len(words), "at least", 2, "words")
    found = words[1], words[-2]
    right = found[0].lower() == found[1].lower() == keyword.lower()
    return "" if right else f"the second word is {shorten(found[0], 40)}, the second to last {shorten(found[1], 40)}"


@check("keywords:palindrome")
def palindrome(passage: Passage) -> str:
    found = any(len(word) > 2 and word.isalpha() and word == word[::-1] for word in passage.bare_words)
    return "" if found else "no palindrome of three letters or more"


@check("words:palindrome")
def ten_palindromes(passage: Passage) -> str:
    found = sum(len(word) >= 5 and word == word[::-1] for word in passage.bare_words)
    return counted(found, "at least", 10, "palindromes of five letters or more")
