"""Texts for the bodies of tags, and wild texts.

``bodies()`` shrinks to ``"0"``, and ``wild_texts()`` to ``""``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from rewardkit.check.variants.wild_texts import TEXTS
from rewardkit.check.variants.wrong_answers import wrong_answers as _wrong_answers
from rewardkit.text.visibility import has_visible_character

_WORDS = ("a", "is", "so", "the", "seven", "Paris", "because", "therefore", "naïve", "東京", "x²", "👍")
_CHUNKS = ("a", " ", "\n", "0", "9", "the ", "\u200b", "\u0301", "\U0001f600", "<", "[", "{", "(", "\\", "`", '"')
_ENCODABLE: SearchStrategy[str] = st.characters(exclude_categories=["Cs"])


def numbers() -> SearchStrategy[str]:
    """Draw plain numbers, such as ``42``, ``-3``, and ``0.25``."""
    integers = st.integers(-(10**6), 10**6).map(str)
    return st.one_of(integers, st.decimals(-1000, 1000, places=2).map(lambda number: format(number, "f")))


def sentences() -> SearchStrategy[str]:
    """Draw texts of a few words in several scripts."""
    return st.lists(st.sampled_from(_WORDS), min_size=1, max_size=8).map(" ".join)


def visible_texts(max_size: int = 40) -> SearchStrategy[str]:
    """Draw any texts that have a visible character and that UTF-8 can encode."""
    return st.text(_ENCODABLE, min_size=1, max_size=max_size).filter(has_visible_character)


def bodies() -> SearchStrategy[str]:
    """Draw tag bodies: a number, some words, lines of words, or any visible text."""
    lines = st.lists(sentences(), min_size=2, max_size=3).map("\n".join)
    return st.one_of(numbers(), sentences(), lines, visible_texts())


def pattern_texts(pattern: re.Pattern[str], *, full: bool = False) -> SearchStrategy[str]:
    """Draw texts that match a pattern, fully or (unless `full`) anywhere. Full matches come first."""
    clean = st.characters(exclude_categories=["Cs"], exclude_characters="\v")  # whitespace in Python, but not in RE2
    full_matches = st.from_regex(pattern, fullmatch=True, alphabet=clean)
    drawn = full_matches if full else st.one_of(full_matches, st.from_regex(pattern, alphabet=clean))
    # In Python, $ also matches before a final line break; in RE2 and JSON Schema, it does not.
    return drawn.filter(lambda text: not (text.endswith("\n") and pattern.search(text[:-1])))


def wild_texts(*, max_size: int = 5_000, pieces: Iterable[str] = ()) -> SearchStrategy[str]:
    """Draw unusual texts: empty, broken, in rare scripts, with lone surrogates, or highly repetitive.

    Args:
        max_size: the maximum length, in characters.
        pieces: more texts to combine, such as marks that a reward looks for.

    ``wild_texts()`` draws ``""``, ``"<answer>"``, ``"\\\\boxed{" * 700``, ``"\\ud800"``, and the like. A reward must
    handle lone surrogates, although UTF-8 files cannot contain them.
    """
    valid_pieces = [piece for piece in dict.fromkeys(pieces) if 0 < len(piece) <= max_size]
    short_texts = [text for text in TEXTS.values() if len(text) <= max_size]
    # Arbitrary limit: longer texts are repeated less often within the size.
    chunks = [chunk for chunk in (*valid_pieces, *_CHUNKS, *(text for text in short_texts if len(text) <= 20)) if chunk]
    choice = st.sampled_from([*short_texts, *valid_pieces])
    mixed = st.lists(st.sampled_from(chunks), max_size=6).map("".join)
    # Arbitrary limit: Hypothesis draws each character, which is slow.
    anything = st.text(st.characters(), max_size=min(max_size, 60))
    long = st.tuples(st.sampled_from(chunks), st.integers(2, max(2, max_size))).map(lambda pair: pair[0] * pair[1])
    return st.one_of(choice, anything, mixed, long).map(lambda text: text[:max_size])


def wrong_answers(
    gold: object, *, value: object = None, others: Iterable[str] = (), honest: bool = False
) -> SearchStrategy[str]:
    """Draw answers that are certainly not `gold`. Answers that a model may plausibly give come first.

    ``wrong_answers("42")`` draws ``86``, ``-42``, ``420``, ``nan``, ``""``, and the like. See
    ``rewardkit.check.variants.wrong_answers``.

    Args:
        gold: the correct answer as a completion writes it.
        value: the gold column's value, if it is a list or an object.
        others: the gold answers of other examples.
        honest: whether to draw only answers that a model may give in good faith.
    """
    answers = _wrong_answers(str(gold), value, others)
    return st.sampled_from([wrong.text for wrong in answers if wrong.honest or not honest])
