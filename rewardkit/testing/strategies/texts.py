"""Texts: what stands in a tag's body, and what a policy writes when it falls apart.

``bodies()`` shrinks to ``"0"``, and ``wild_texts()`` to ``""``.
"""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from rewardkit.core.text.visibility import has_visible_character
from rewardkit.testing.wild_texts import TEXTS
from rewardkit.testing.wrong_answers import wrong_answers as _wrong_answers

_WORDS = ("a", "is", "so", "the", "seven", "Paris", "because", "therefore", "naïve", "東京", "x²", "👍")
_CHUNKS = ("a", " ", "\n", "0", "9", "the ", "\u200b", "\u0301", "\U0001f600", "<", "[", "{", "(", "\\", "`", '"')
_ENCODABLE: SearchStrategy[str] = st.characters(exclude_categories=["Cs"])


def numbers() -> SearchStrategy[str]:
    """Plain numbers, such as ``42``, ``-3`` and ``0.25``."""
    whole = st.integers(-(10**6), 10**6).map(str)
    return st.one_of(whole, st.decimals(-1000, 1000, places=2).map(lambda number: format(number, "f")))


def sentences() -> SearchStrategy[str]:
    """A few words, in several scripts."""
    return st.lists(st.sampled_from(_WORDS), min_size=1, max_size=8).map(" ".join)


def visible_texts(max_size: int = 40) -> SearchStrategy[str]:
    """Any text that shows something and that UTF-8 can hold."""
    return st.text(_ENCODABLE, min_size=1, max_size=max_size).filter(has_visible_character)


def bodies() -> SearchStrategy[str]:
    """What may stand inside a tag: a number, some words, lines of them, or any text that shows something."""
    lines = st.lists(sentences(), min_size=2, max_size=3).map("\n".join)
    return st.one_of(numbers(), sentences(), lines, visible_texts())


def wild_texts(*, max_size: int = 5_000, pieces: Iterable[str] = ()) -> SearchStrategy[str]:
    """Texts that nobody asked for: empty, broken, in strange alphabets, with half characters, repeated at length.

    Args:
        max_size: in characters.
        pieces: further texts to build from, such as marks that a reward looks for.

    ``wild_texts()`` gives ``""``, ``"<answer>"``, ``"\\\\boxed{" * 700``, ``"\\ud800"`` and the like. Holds lone
    surrogates: a reward has to stand them, a file does not.
    """
    own = [piece for piece in dict.fromkeys(pieces) if 0 < len(piece) <= max_size]
    known = [text for text in TEXTS.values() if len(text) <= max_size]
    chunks = [chunk for chunk in (*own, *_CHUNKS, *(text for text in known if len(text) <= 20)) if chunk]
    one = st.sampled_from([*known, *own])
    mixed = st.lists(st.sampled_from(chunks), max_size=6).map("".join)
    anything = st.text(st.characters(), max_size=min(max_size, 60))
    long = st.tuples(st.sampled_from(chunks), st.integers(2, max(2, max_size))).map(lambda pair: pair[0] * pair[1])
    return st.one_of(one, anything, mixed, long).map(lambda text: text[:max_size])


def wrong_answers(
    gold: object, *, value: object = None, others: Iterable[str] = (), honest: bool = False
) -> SearchStrategy[str]:
    """Answers that are certainly not `gold`, those that a model may give in good faith first.

    ``wrong_answers("42")`` gives ``86``, ``-42``, ``420``, ``nan``, ``""`` and the like. What they are and why they
    are wrong says ``rewardkit.testing.wrong_answers``.

    Args:
        gold: the right answer as a completion writes it.
        value: of the column that holds it, where that is a list or an object.
        others: golds of other examples.
        honest: only those in good faith.
    """
    found = _wrong_answers(str(gold), value, others)
    return st.sampled_from([wrong.text for wrong in found if wrong.honest or not honest])
