"""Translation: ``rk.bleu("reference")`` and ``rk.chrf("reference")``, computed by sacrebleu."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from rewardkit.batch.score import Score
from rewardkit.errors import MissingExtraError, RewardDefinitionError, shorten
from rewardkit.text.extractors import Extractor
from rewardkit.tree.gold import Affordable, GoldTexts, PlainText, Reading, against_gold
from rewardkit.tree.reward import Reward

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

Tokenizer = Literal["13a", "intl", "zh", "char"]


@cache
def _bleu(tokenize: Tokenizer) -> Metric:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(tokenize=tokenize, effective_order=True)


@cache
def _chrf(word_order: int, beta: int) -> Metric:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(word_order=word_order, beta=beta)


def _clear_caches(tokenizer: object) -> None:
    """Clear a sacrebleu tokenizer's caches, which keep the last 65,536 texts and may grow to gigabytes."""
    for part in (tokenizer, *getattr(tokenizer, "__dict__", {}).values()):
        getattr(type(part).__call__, "cache_clear", int)()


def _scored(metric: Metric, answer: str, references: tuple[str, ...]) -> Score:
    if answer in references:
        return Score(1.0)
    try:
        value = metric.sentence_score(answer, references).score / 100.0
    finally:
        _clear_caches(getattr(metric, "tokenizer", None))
    return Score(min(1.0, value), "" if value else "nothing in common with the reference")


@dataclass(frozen=True)
class Bleu:
    """A scorer for runs of 1 to 4 words that a translation shares with the combined references."""

    tokenize: Tokenizer

    def __call__(self, answer: str, gold: tuple[str, ...]) -> Score:
        return _scored(_bleu(self.tokenize), answer, gold)


@dataclass(frozen=True)
class Chrf:
    """A scorer for runs of 1 to 6 characters that a translation shares with the best reference."""

    word_order: int
    beta: int

    def __call__(self, answer: str, gold: tuple[str, ...]) -> Score:
        return _scored(_chrf(self.word_order, self.beta), answer, gold)


def bleu(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    tokenize: Tokenizer = "13a",
    ignore_case: bool = False,
) -> Reward:
    """Score the word sequences that a translation and its references share: sacrebleu's sentence BLEU, from 0 to 1.

    ``rk.bleu("reference")`` gives 0.54 to ``The cat sat on a mat`` if the column "reference" is
    ``The cat sat on the mat``.

    BLEU is the geometric mean of the precisions for runs of 1 to 4 words, multiplied by a brevity penalty (Papineni et
    al. 2002, https://aclanthology.org/P02-1040). It uses exponential smoothing and, for a short text, only the run
    lengths that fit (Post 2018, https://aclanthology.org/W18-6319). Several references are combined, as in the paper.
    BLEU was designed for whole corpora and is a coarse measure for one sentence. ``rk.chrf`` agrees better with human
    judgment.

    Args:
        column: the column with the reference: text, or a list of references.
        extract: finds the translation, ``rk.extract.answer()`` by default.
        gold: finds the reference in its cell (in each item of a list).
        tokenize: ``"13a"`` for languages with spaces, ``"intl"`` for Unicode punctuation, ``"zh"`` for Chinese, or
            ``"char"`` to treat every character as a word.
        ignore_case: ignore case.

    Returns:
        A reward in [0, 1]. A translation longer than 20,000 characters scores 0.0. With more than 100 references, the
        limit is 2,000,000 characters divided by their number.

    Raises:
        MissingExtraError: the extra ``bleu`` is not installed.
        RewardDefinitionError: the tokenizer is unknown.
        CoercionError: while scoring: a reference is not text, or is longer than 20,000 characters.
    """
    _check_sacrebleu("rk.bleu")
    if tokenize not in get_args(Tokenizer):
        raise RewardDefinitionError(
            f"bleu: tokenize must be one of {', '.join(get_args(Tokenizer))}, got {shorten(tokenize)}"
        )
    read = PlainText(bool(ignore_case))
    return against_gold(
        Reading(read, Affordable(Bleu(tokenize))),
        "bleu",
        column,
        tuple[str, ...],
        partial(GoldTexts, read),
        extract=extract,
        gold=gold,
        tokenize=(tokenize, "13a"),
        ignore_case=(read.ignore_case, False),
    )


def chrf(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    word_order: int = 0,
    beta: int = 2,
    ignore_case: bool = False,
) -> Reward:
    """Score the short character runs that a translation and its reference share: sentence chrF, from 0 to 1.

    ``rk.chrf("reference")`` gives 0.66 to ``The cat sat on a mat`` if the column "reference" is
    ``The cat sat on the mat``.

    chrF is the F-measure over runs of 1 to 6 characters (Popovic 2015, https://aclanthology.org/W15-3049), computed by
    sacrebleu. If there are several references, the best one counts. Other forms of a word get partial credit, and no
    tokenizer is needed. With beta = 2, recall counts four times as much as precision, so a correct translation followed
    by the same amount of other text still gets about 0.8. If the policy exploits this, pass beta=1.

    Args:
        column: the column with the reference: text, or a list of references.
        extract: finds the translation, ``rk.extract.answer()`` by default.
        gold: finds the reference in its cell (in each item of a list).
        word_order: the maximum length of word runs. 2 also counts single words and word pairs: chrF++ (Popovic 2017).
        beta: the weight of recall relative to precision, 1 to 10.
        ignore_case: ignore case.

    Returns:
        A reward in [0, 1]. A translation longer than 20,000 characters scores 0.0. With more than 100 references, the
        limit is 2,000,000 characters divided by their number.

    Raises:
        MissingExtraError: the extra ``bleu`` is not installed.
        RewardDefinitionError: `word_order` or `beta` is invalid.
        CoercionError: while scoring: a reference is not text, or is longer than 20,000 characters.
    """
    _check_sacrebleu("rk.chrf")
    # sacrebleu's usual values are 0 or 2 words and a beta of 2; these bounds around them are arbitrary.
    for option, value, low, high in (("word_order", word_order, 0, 4), ("beta", beta, 1, 10)):
        if type(value) is not int or not low <= value <= high:
            raise RewardDefinitionError(f"chrf: {option} must be an int from {low} to {high}, got {shorten(value)}")
    read = PlainText(bool(ignore_case))
    return against_gold(
        Reading(read, Affordable(Chrf(word_order, beta))),
        "chrf",
        column,
        tuple[str, ...],
        partial(GoldTexts, read),
        extract=extract,
        gold=gold,
        word_order=(word_order, 0),
        beta=(beta, 2),
        ignore_case=(read.ignore_case, False),
    )


def _check_sacrebleu(feature: str) -> None:
    try:
        import sacrebleu.metrics  # noqa: F401
    except ImportError:
        raise MissingExtraError.of(feature, "bleu") from None
