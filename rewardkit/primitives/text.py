"""Likeness of texts: ``rk.token_f1("answer")`` gives 0.8 to ``the big red house`` where "answer" is ``red house``."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import MissingExtraError, RewardDefinitionError
from rewardkit.core.progress.bounds import number
from rewardkit.core.text.extraction import Extractor
from rewardkit.core.tree.gold import (
    LONGEST,
    BestOf,
    GoldTexts,
    PlainText,
    Reading,
    above,
    against_gold,
    checked_floor,
    normal,
    spaced,
)
from rewardkit.core.tree.reward import Reward

Words = tuple[str, ...]

_ARTICLES = frozenset({"a", "an", "the"})
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
# What stands inside a number, or is its sign, belongs to it: 3.5 is not 35, and -5 is not 5; nor is C++ C, or C# C.
# Looking ahead is faster.
_KEPT = re.compile(r"((?=[-.\d])(?:(?<!\w)-)?(?:(?<![\w.])\.)?\d+(?:[^\w\s]\d+)*|(?=[+#])(?<=[a-z])[+#]+(?![\w+#]))")


def _is_punctuation(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character)[0] == "P"


@dataclass(frozen=True)
class WordsText:
    """Reads the words of a text, without case and punctuation: ``The red-hot 3.5!`` is ``the redhot 3.5``."""

    articles: bool = True
    most: int | None = None

    def __call__(self, text: str) -> Words:
        text = _THOUSANDS.sub("", normal(text, ignore_case=True).replace("\u2212", "-"))
        dropped = {ord(character): None for character in set(text) if _is_punctuation(character)}
        pieces = _KEPT.split(text)
        pieces[::2] = [spaced(piece.translate(dropped)) for piece in pieces[::2]]
        words = tuple("".join(pieces).split())
        if not self.articles:
            words = tuple(word for word in words if word not in _ARTICLES) or words
        if not words:
            raise ValueError("there are no words in it")
        if self.most is not None and len(words) > self.most:
            raise ValueError(f"more than {self.most:,} words")
        return words


@dataclass(frozen=True)
class Similarity:
    """Normalized Indel similarity, and of that what is above the floor."""

    floor: float

    def __call__(self, answer: str, gold: str) -> Score:
        from rapidfuzz.distance import Indel

        value = above(self.floor, Indel.normalized_similarity(answer, gold))
        return Score(value, "" if value else "not alike")


def similarity(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    ignore_case: bool = False,
    floor: float = 0.0,
) -> Reward:
    """How alike the answer and the gold answer are, character by character: 1.0 where they are equal.

    ``rk.similarity("answer")`` gives 0.8 to ``<answer>Perth</answer>`` where the column "answer" is ``Berth``: four
    letters of five are the same.

    This is 2 * LCS / (length + length) with the longest common subsequence LCS: the normalized Indel similarity, 1 -
    (insertions + deletions) / (length + length), which rapidfuzz calls ``ratio``. Both texts count in full, so what is
    added to a right answer costs. Unrelated sentences of one language still get 0.25 to 0.45 for letters that they
    share; `floor` takes that away.

    Args:
        column: the gold answer's column: text, int, or a list of acceptable answers (the nearest one counts).
        extract: finds the answer, ``rk.extract.answer()`` by default.
        gold: finds the gold answer in its cell (in each one of a list), such as ``rk.extract.after("####")``.
        ignore_case: compare without case. White space and Unicode form (NFC) never count.
        floor: the similarity s that earns nothing, from 0.0 up to 1.0: the value is max(0, (s - floor) / (1 - floor)).

    Returns:
        A reward within [0, 1]. An answer longer than 20,000 characters scores 0.0.

    Raises:
        MissingExtraError: the extra ``text`` is not installed.
        RewardDefinitionError: a floor outside of [0, 1).
        CoercionError: while scoring: a gold cell that is no text, or longer than 20,000 characters.
    """
    _check_rapidfuzz("rk.similarity")
    least = checked_floor(floor, "similarity")
    read = PlainText(bool(ignore_case))
    return against_gold(
        Reading(read, BestOf(Similarity(least))),
        "similarity",
        column,
        tuple[str, ...],
        partial(GoldTexts, read),
        extract=extract,
        gold=gold,
        ignore_case=(read.ignore_case, False),
        floor=(least, 0.0),
    )


def _f_measure(common: int, answer: int, gold: int, beta: float = 1.0) -> Score:
    """The weighted harmonic mean of precision and recall, with both in the note."""
    if common == answer == gold:
        return Score(1.0)
    note = f"precision {common / answer:.2f}, recall {common / gold:.2f}"
    return Score((1.0 + beta**2) * common / (answer + beta**2 * gold), note)


@dataclass(frozen=True)
class TokenF1:
    """Words in common, each as often as it stands in both."""

    def __call__(self, answer: Words, gold: Words) -> Score:
        common = Counter(answer) & Counter(gold)
        return _f_measure(common.total(), len(answer), len(gold))


def token_f1(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    articles: bool = False,
) -> Reward:
    """The share of words that the answer and the gold answer have in common, in any order: F1 of SQuAD.

    ``rk.token_f1("answer")`` gives 0.8 to ``<answer>the big red house</answer>`` where the column "answer" is
    ``red house``: two of three words are right, and both words are found.

    F1 is 2 * common / (words + words), each word counted as often as it stands in both: a word said twice earns once
    and costs twice, and so does anything added to a right answer. Words are compared without case, punctuation and
    English articles, as in SQuAD (Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250). Unlike there, a number
    keeps what stands inside it (3.5 is not 35, -5 is not 5, but 1,000 is 1000), C++ and C# are not C, punctuation of
    all scripts goes, and every Chinese or Japanese character is a word (as in MLQA, Lewis et al. 2020,
    https://arxiv.org/abs/1910.07475).
    Order and "not" count little: prefer ``rk.exact`` where there is one right answer.

    Args:
        column: the gold answer's column: text, int, or a list of acceptable answers (the nearest one counts).
        extract: finds the answer, ``rk.extract.answer()`` by default.
        gold: finds the gold answer in its cell (in each one of a list), such as ``rk.extract.after("####")``.
        articles: count "a", "an" and "the" as words. They count in any case where there is nothing else.

    Returns:
        A reward within [0, 1].

    Raises:
        CoercionError: while scoring: a gold cell that is no text, or holds no word.
    """
    read = WordsText(bool(articles))
    return against_gold(
        Reading(read, BestOf(TokenF1())),
        "token_f1",
        column,
        tuple[Words, ...],
        partial(GoldTexts, read),
        extract=extract,
        gold=gold,
        articles=(read.articles, False),
    )


@dataclass(frozen=True)
class RougeL:
    """The longest common subsequence of words, as F-measure."""

    beta: float

    def __call__(self, answer: Words, gold: Words) -> Score:
        from rapidfuzz.distance import LCSseq

        numbers: dict[str, int] = {}  # rapidfuzz compares hashes, and small integers are their own
        first, second = ([numbers.setdefault(word, len(numbers)) for word in words] for words in (answer, gold))
        return _f_measure(LCSseq.similarity(first, second), len(answer), len(gold), self.beta)


def rouge_l(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    beta: float = 1.0,
) -> Reward:
    """How much of the gold text the answer holds in the same order, and how little else: ROUGE-L, for summaries.

    ``rk.rouge_l("answer")`` gives 0.75 to ``police kill the gunman`` where the column "answer" is
    ``police killed the gunman``.

    With the length L of the longest common subsequence of words (Lin 2004, https://aclanthology.org/W04-1013),
    precision P = L / words of the answer and recall R = L / words of the gold, it is
    (1 + beta^2) * P * R / (R + beta^2 * P). Words are compared without case and punctuation, unstemmed, numbers as in
    ``rk.token_f1``.

    Args:
        column: the gold text's column: text, int, or a list of acceptable texts (the nearest one counts).
        extract: finds the answer, ``rk.extract.answer()`` by default.
        gold: finds the gold text in its cell (in each one of a list).
        beta: how many times as important recall is as precision, 0.01 to 100.0. The higher, the less added text costs.

    Returns:
        A reward within [0, 1]. An answer of more than 20,000 words scores 0.0.

    Raises:
        MissingExtraError: the extra ``text`` is not installed.
        RewardDefinitionError: a beta outside of [0.01, 100.0].
        CoercionError: while scoring: a gold cell that is no text, holds no word, or more than 20,000.
    """
    _check_rapidfuzz("rk.rouge_l")
    weight = number(beta, "rouge_l: beta")
    if not 0.01 <= weight <= 100.0:
        raise RewardDefinitionError(f"rouge_l: beta is from 0.01 to 100.0, got {weight}")
    read = WordsText(most=LONGEST)
    return against_gold(
        Reading(read, BestOf(RougeL(weight))),
        "rouge_l",
        column,
        tuple[Words, ...],
        partial(GoldTexts, read),
        extract=extract,
        gold=gold,
        beta=(weight, 1.0),
    )


def _check_rapidfuzz(feature: str) -> None:
    try:
        import rapidfuzz.distance  # noqa: F401
    except ImportError:
        raise MissingExtraError.of(feature, "text") from None
