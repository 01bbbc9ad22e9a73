"""Text similarity: ``rk.token_f1("answer")`` gives 0.8 to ``the big red house`` if "answer" is ``red house``."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

from rewardkit.batch.score import Score
from rewardkit.errors import MissingExtraError, RewardDefinitionError
from rewardkit.progress.bounds import number
from rewardkit.text.extractors import Extractor
from rewardkit.text.json_text import MAX_CHARACTERS
from rewardkit.tree.gold import (
    LONGEST,
    Affordable,
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
from rewardkit.tree.reward import Reward

Words = tuple[str, ...]

_ARTICLES = frozenset({"a", "an", "the"})
# "1,000" is 1000; "1,00" and "1, 000" are not.
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
# Punctuation that is part of a word: inside a number, as its sign, and in C++ and C#. So 3.5 is not 35, -5 is not 5,
# and neither C++ nor C# is C. The lookahead makes the search faster.
_KEPT = re.compile(r"((?=[-.\d])(?:(?<!\w)-)?(?:(?<![\w.])\.)?\d+(?:[^\w\s]\d+)*|(?=[+#])(?<=[a-z])[+#]+(?![\w+#]))")


def _is_punctuation(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character)[0] == "P"


@dataclass(frozen=True)
class WordsText:
    """A function that splits a text into words: ``The red-hot 3.5!`` becomes ``the redhot 3.5``.

    Case and punctuation are removed.

    Attributes:
        articles: True to keep English articles.
        most: the maximum number of words; None for no limit.
    """

    articles: bool = True
    most: int | None = None

    def __call__(self, text: str) -> Words:
        if len(text) > MAX_CHARACTERS:
            raise ValueError(f"longer than {MAX_CHARACTERS:,} characters")
        text = _THOUSANDS.sub("", normal(text, ignore_case=True).replace("\u2212", "-"))
        dropped = {ord(character): None for character in set(text) if _is_punctuation(character)}
        pieces = _KEPT.split(text)
        pieces[::2] = [spaced(piece.translate(dropped)) for piece in pieces[::2]]
        words = tuple("".join(pieces).split())
        if not self.articles:
            words = tuple([word for word in words if word not in _ARTICLES]) or words
        if not words:
            raise ValueError("it contains no words")
        if self.most is not None and len(words) > self.most:
            raise ValueError(f"more than {self.most:,} words")
        return words


@dataclass(frozen=True)
class Similarity:
    """The normalized Indel similarity, rescaled so that `floor` becomes 0.0."""

    floor: float

    def __call__(self, answer: str, gold: str) -> Score:
        from rapidfuzz.distance import Indel

        value = above(self.floor, Indel.normalized_similarity(answer, gold))
        return Score(value, "" if value else "not similar")


def similarity(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    ignore_case: bool = False,
    floor: float = 0.0,
) -> Reward:
    """Score the character-level similarity between the answer and the gold answer: 1.0 if they are equal.

    ``rk.similarity("answer")`` gives 0.8 to ``<answer>Perth</answer>`` if the column "answer" is ``Berth``: four of
    five letters are the same.

    The value is 2 * LCS / (answer length + gold length), where LCS is the length of the longest common subsequence.
    This is the normalized Indel similarity, 1 - (insertions + deletions) / (answer length + gold length), which
    rapidfuzz calls ``ratio``. Both strings count in full, so text added to a correct answer lowers the score. Unrelated
    sentences in the same language still score 0.25 to 0.45, because they share letters. `floor` removes this baseline.

    Args:
        column: the column with the gold answer: text, int, or a list of acceptable answers (the one with the highest
            score counts).
        extract: finds the answer, ``rk.extract.answer()`` by default.
        gold: finds the gold answer in its cell (in each item of a list), such as ``rk.extract.after("####")``.
        ignore_case: ignore case. White space and Unicode form (NFC) are always ignored.
        floor: the similarity that is rescaled to 0.0, at least 0.0 and less than 1.0. A similarity s becomes max(0, (s
            - floor) / (1 - floor)).

    Returns:
        A reward in [0, 1]. An answer longer than 20,000 characters scores 0.0. With more than 100 acceptable answers,
        the limit is 2,000,000 characters divided by their number.

    Raises:
        MissingExtraError: the extra ``text`` is not installed.
        RewardDefinitionError: `floor` is outside [0, 1).
        CoercionError: while scoring: a gold cell is not text, or is longer than 20,000 characters.
    """
    _check_rapidfuzz("rk.similarity")
    least = checked_floor(floor, "similarity")
    read = PlainText(bool(ignore_case))
    return against_gold(
        Reading(read, Affordable(BestOf(Similarity(least)))),
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
    """Return the weighted harmonic mean of precision and recall, with both values in the note."""
    if common == answer == gold:
        return Score(1.0)
    note = f"precision {common / answer:.2f}, recall {common / gold:.2f}"
    return Score((1.0 + beta**2) * common / (answer + beta**2 * gold), note)


@dataclass(frozen=True)
class TokenF1:
    """The F1 score for the words that two texts have in common. A word counts as often as it occurs in both."""

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
    """Score the words that the answer and the gold answer have in common, in any order: SQuAD's F1.

    ``rk.token_f1("answer")`` gives 0.8 to ``<answer>the big red house</answer>`` if the column "answer" is
    ``red house``: two of three words are correct, and both gold words are found.

    F1 is 2 * common / (answer words + gold words). A word counts as often as it occurs in both, so repeating a word
    lowers the score. Adding words to a correct answer also lowers it. Words are compared without case, punctuation, and
    English articles, as in SQuAD (Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250). Unlike SQuAD, this reward
    keeps the characters inside a number (3.5 is not 35, -5 is not 5, but 1,000 is 1000), distinguishes C++ and C# from
    C, removes punctuation in all scripts, and treats every Chinese or Japanese character as a word (as in MLQA, Lewis
    et al. 2020, https://arxiv.org/abs/1910.07475). Word order is ignored, and "not" counts as only one word. If there
    is one correct answer, prefer ``rk.exact``.

    Args:
        column: the column with the gold answer: text, int, or a list of acceptable answers (the one with the highest
            score counts).
        extract: finds the answer, ``rk.extract.answer()`` by default.
        gold: finds the gold answer in its cell (in each item of a list), such as ``rk.extract.after("####")``.
        articles: if True, count "a", "an", and "the" as words. They always count in a text without other words.

    Returns:
        A reward in [0, 1]. An answer with more words than 2,000,000 divided by the number of acceptable answers scores
        0.0.

    Raises:
        CoercionError: while scoring: a gold cell is not text, contains no words, or is longer than 200,000 characters.
    """
    read = WordsText(bool(articles))
    return against_gold(
        Reading(read, Affordable(BestOf(TokenF1()))),
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
    """The F-measure for the longest common subsequence of words."""

    beta: float

    def __call__(self, answer: Words, gold: Words) -> Score:
        from rapidfuzz.distance import LCSseq

        numbers: dict[str, int] = {}  # rapidfuzz compares hashes; the hash of a small integer is the integer
        first, second = ([numbers.setdefault(word, len(numbers)) for word in words] for words in (answer, gold))
        return _f_measure(LCSseq.similarity(first, second), len(answer), len(gold), self.beta)


def rouge_l(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    beta: float = 1.0,
) -> Reward:
    """Score the overlap of the answer with the gold text, in order and without extra words: ROUGE-L, for summaries.

    ``rk.rouge_l("answer")`` gives 0.75 to ``police kill the gunman`` if the column "answer" is
    ``police killed the gunman``.

    If L is the length of the longest common subsequence of words (Lin 2004, https://aclanthology.org/W04-1013),
    precision is P = L / words in the answer, and recall is R = L / words in the gold text. The score is (1 + beta^2) *
    P * R / (R + beta^2 * P). Words are compared without case and punctuation, and they are not stemmed. Numbers are
    read as in ``rk.token_f1``.

    Args:
        column: the column with the gold text: text, int, or a list of acceptable answers (the one with the highest
            score counts).
        extract: finds the answer, ``rk.extract.answer()`` by default.
        gold: finds the gold text in its cell (in each item of a list).
        beta: the weight of recall relative to precision, 0.01 to 100.0. The higher it is, the less extra text lowers
            the score.

    Returns:
        A reward in [0, 1]. An answer with more than 20,000 words scores 0.0. With more than 100 acceptable answers, the
        limit is 2,000,000 words divided by their number.

    Raises:
        MissingExtraError: the extra ``text`` is not installed.
        RewardDefinitionError: `beta` is outside [0.01, 100.0].
        CoercionError: while scoring: a gold cell is not text, contains no words, or has more than 20,000 words.
    """
    _check_rapidfuzz("rk.rouge_l")
    weight = number(beta, "rouge_l: beta")
    # Outside this range, precision or recall counts less than 0.01%.
    if not 0.01 <= weight <= 100.0:
        raise RewardDefinitionError(f"rouge_l: beta must be between 0.01 and 100.0, got {weight}")
    read = WordsText(most=LONGEST)
    return against_gold(
        Reading(read, Affordable(BestOf(RougeL(weight)))),
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
