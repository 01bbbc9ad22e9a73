"""Repetition: ``rk.repetition_penalty(ngram=2)`` gives -0.75 to the token ids ``[5, 5, 5, 5, 5]``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, count
from typing import Any, Literal, get_args

import numpy as np

from rewardkit.batch.column import Numbers
from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.progress.bounds import number as checked_number
from rewardkit.text.extraction import as_extractor, raw
from rewardkit.text.extractors import Extractor
from rewardkit.text.json_text import MAX_CHARACTERS
from rewardkit.text.visibility import plain_letters
from rewardkit.tree.gold import spaced
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

Unit = Literal["tokens", "words"]

_FEW = 64
"""The maximum number of n-grams for which a set is faster than an array."""

_SHORT = 4
"""The maximum length for which n-grams of words are also counted with a set: numbering the words would take longer."""

_BITS = 63
"""The number of bits in a nonnegative int64."""

_AT_ONCE = 8_000
"""The approximate number of items to count at once. A larger array is slow because it needs new system memory."""


def distinct_ngrams(items: Sequence[int] | list[str], size: int) -> int:
    """Return the number of distinct runs of `size` consecutive items: ``distinct_ngrams([1, 2, 1, 2], 2)`` is 2."""
    total = len(items) - size + 1
    words = isinstance(items[0], str)
    if total <= _FEW or (words and size <= _SHORT):
        return len(set(zip(*[items[start:] for start in range(size)], strict=False)))
    return _distinct_runs([_numbered(items) if words else items], size)[0]  # type: ignore[list-item]


def distinct_in_each(texts: Iterable[Sequence[int]], size: int) -> Iterator[int]:
    """Return an iterator over the number of distinct runs in each sequence of token ids, counted in batches."""
    return chain.from_iterable(_distinct_runs(block, size) for block in _blocks(texts))


def _blocks(texts: Iterable[Sequence[int]]) -> Iterator[list[Sequence[int]]]:
    block: list[Sequence[int]] = []
    size = 0
    for text in texts:
        block.append(text)
        size += len(text)
        if size >= _AT_ONCE:
            yield block
            block, size = [], 0
    if block:
        yield block


def _distinct_runs(texts: Sequence[Sequence[int]], size: int) -> list[int]:
    """Return the number of distinct runs in each sequence, counted in one array for all sequences."""
    ends = list(accumulate(map(len, texts)))
    codes = np.fromiter(chain.from_iterable(texts), dtype=np.int64, count=ends[-1])
    used = int(np.bitwise_or.reduce(codes))  # has the bits of the highest id; negative if any id is negative
    bits = used.bit_length()
    if used < 0 or 2 * bits > _BITS:
        codes, bits = _renumbered(codes)
    # One number per run, in which each id takes `bits` bits.
    total = len(codes) - size + 1
    runs, width = codes[:total], bits
    for start in range(1, size):
        if width + bits > _BITS:
            runs, width = _renumbered(runs)
        runs = (runs << bits) | codes[start : start + total]
        width += bits
    counts = []
    start = 0
    for end in ends:
        text_runs = runs[start : end - size + 1]  # without the runs that reach into the next text
        text_runs.sort()
        counts.append(int(np.count_nonzero(text_runs[1:] != text_runs[:-1])) + 1)
        start = end
    return counts


def _numbered(words: Iterable[Any]) -> list[int]:
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    return list(map(numbers.__getitem__, words))


def _renumbered(codes: Numbers) -> tuple[Numbers, int]:
    """Return `codes` renumbered from 0 without gaps, and the number of bits in the highest new code."""
    distinct, numbers = np.unique(codes, return_inverse=True)
    return numbers, (len(distinct) - 1).bit_length()


@dataclass(frozen=True)
class RepetitionPenalty:
    """The fraction of n-grams that repeat an earlier one, multiplied by the maximum penalty."""

    ngram: int
    max_penalty: float

    def __call__(self, counted: Sequence[int] | str | None) -> float | Score:
        if counted is None:
            return Score(self.max_penalty, f"longer than {MAX_CHARACTERS:,} characters")
        items = spaced(plain_letters(counted)).split() if isinstance(counted, str) else counted
        return self._share(len(items), distinct_ngrams(items, self.ngram)) if len(items) > self.ngram else 0.0

    def many(self, rows: Sequence[tuple[Sequence[int] | str | None]]) -> list[float | Score]:
        """Return the scores for several completions. Token ids are counted in batches, and words are not."""
        texts = [counted for (counted,) in rows if counted is not None and not isinstance(counted, str)]
        if len(texts) < len(rows):
            return [self(counted) for (counted,) in rows]
        counts = distinct_in_each((ids for ids in texts if len(ids) > self.ngram), self.ngram)
        return [self._share(len(ids), next(counts)) if len(ids) > self.ngram else 0.0 for ids in texts]

    def _share(self, length: int, distinct: int) -> float:
        total = length - self.ngram + 1
        return (1 - distinct / total) * self.max_penalty if distinct < total else 0.0


# The defaults are those of TRL's get_repetition_penalty_reward.
def repetition_penalty(
    *, ngram: int = 3, unit: Unit = "tokens", max_penalty: float = -1.0, extract: Extractor | Any = None
) -> Reward:
    """Penalize repeated n-grams, from 0.0 (no repetition) to nearly `max_penalty` (the same n-gram over and over).

    ``rk.repetition_penalty(ngram=2, unit="words")`` gives -0.5 to ``very very very``: one of the two pairs is a
    repetition. Add the penalty to other rewards.

    The value is ``(1 - distinct n-grams / n-grams) * max_penalty``, or 0.0 if there are fewer than `ngram` tokens.
    Source: Yeo et al. 2025, Demystifying Long Chain-of-Thought Reasoning (arXiv:2502.03373), appendix C.2. The numbers
    are the same as those from TRL's ``get_repetition_penalty_reward`` over tokens.

    Args:
        ngram: the number of consecutive tokens or words in an n-gram, at least 1.
        unit: ``"tokens"`` (needs ``completion_ids``), or ``"words"`` in the whole completion, ignoring case and
            invisible characters. Every Chinese or Japanese character is a word.
        max_penalty: the lowest score, at most 0.0.
        extract: finds the text whose words are counted, by default the whole completion.

    Raises:
        RewardDefinitionError: `ngram` is below 1, the penalty is positive, or the unit is unknown.
        BindingError: while scoring: the unit is tokens and there are no ``completion_ids``.
    """
    if isinstance(ngram, bool) or not isinstance(ngram, int) or ngram < 1:
        raise RewardDefinitionError(f"repetition_penalty: ngram must be an integer of 1 or more, got {shorten(ngram)}")
    if checked_number(max_penalty, "repetition_penalty: max_penalty") > 0.0:
        raise RewardDefinitionError(f"repetition_penalty: max_penalty must be at most 0, got {max_penalty:g}")
    if unit not in get_args(Unit):
        raise RewardDefinitionError(f"repetition_penalty: unit must be tokens or words, got {shorten(unit)}")
    if unit == "tokens" and extract is not None:
        raise RewardDefinitionError('repetition_penalty: extract= finds text, not tokens. Pass unit="words" with it')
    view = as_extractor(extract, raw())
    counted = (
        Parameter("counted", "completion_ids") if unit == "tokens" else Parameter("counted", "completion", view=view)
    )
    call_text = expression(
        "repetition_penalty",
        ngram=(ngram, 3),
        unit=(unit, "tokens"),
        max_penalty=(max_penalty, -1.0),
        extract=(extract and view, None),
    )
    penalty = RepetitionPenalty(ngram, float(max_penalty))
    return primitive(penalty, "repetition_penalty", call_text, counted, bounds=(float(max_penalty), 0.0))
