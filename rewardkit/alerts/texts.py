"""A random sample of a run's texts: whole groups, with about the same number of completions from every window.

``sampled(run).tokens`` contains the word numbers of all sampled completions, one completion after another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rewardkit.alerts.evidence import Integers, Texts
from rewardkit.alerts.windowed_run import WindowedRun
from rewardkit.batch.column import Floats

PER_WINDOW = 512
"""The number of completions to read per window. The number is arbitrary: more completions take longer, and this many
are enough to measure shares of a few percent."""
CHARACTERS = 2_000
"""The number of characters to read from a long text, half from the beginning and half from the end. The number is
arbitrary: habits are visible at the beginning, and answers are at the end."""

# Scripts that are written without spaces: Thai, Lao, Tibetan, Burmese, Khmer, kana, Chinese characters.
_SPACELESS = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_SPACELESS += "\U00020000-\U0003ffff"
# Tags, commands and runs of one mark: "<b>", "\frac", "###".
MARKUP = re.compile(r"</?[^\W\d][\w-]{0,40}>|\\[^\W\d_]+|([^\w\s])\1+")
# Markup as above, or a word, a character of a script without spaces, or a punctuation mark.
_TOKEN = re.compile(rf"</?[^\W\d][\w-]{{0,40}}>|\\[^\W\d_]+|([^\w\s])\1+|[{_SPACELESS}]|[^\W{_SPACELESS}]+|[^\w\s]")

Hashes = NDArray[np.uint64]


def words(text: str) -> list[str]:
    """Split a text into lowercase words, single characters (for scripts without spaces), punctuation, and whole markup.

    ``words("<b>Sure! 答案 is")`` is ``["<b>", "sure", "!", "答", "案", "is"]``.
    """
    return [match.group() for match in _TOKEN.finditer(text.casefold())]


def spans(text: str) -> list[tuple[int, int]]:
    """Return each word's start and end in ``text.casefold()``, for the words in ``words(text)``."""
    return [match.span() for match in _TOKEN.finditer(text.casefold())]


def shortened(text: str) -> str:
    half = CHARACTERS // 2
    return text if len(text) <= CHARACTERS else f"{text[:half]} {text[-half:]}"


@dataclass(frozen=True)
class Sample:
    """A sample of r rows, in an order that does not depend on the run's row order.

    Attributes:
        run: the run that the rows were drawn from.
        rows: (r,) each row's position among the m training rows.
        completions, prompts: (r,) shortened texts; prompts are empty strings if they are unknown.
    """

    run: WindowedRun
    rows: Integers
    completions: list[str]
    prompts: list[str]

    @cached_property
    def distinct_prompts(self) -> tuple[Integers, list[str]]:
        """Each row's prompt number (r,), and each distinct prompt's text."""
        _, firsts, inverse = np.unique(self.prompt_numbers, return_index=True, return_inverse=True)
        return inverse.astype(np.int64), [self.prompts[first] for first in firsts.tolist()]

    @cached_property
    def _read(self) -> tuple[tuple[Integers, Integers], tuple[Integers, Integers], list[str]]:
        word_numbers: dict[str, int] = {}
        completions, prompts = (
            _numbered(self.completions, word_numbers),
            _numbered(self.distinct_prompts[1], word_numbers),
        )
        return completions, prompts, list(word_numbers)

    @property
    def tokens(self) -> tuple[Integers, Integers]:
        """The word numbers (tokens,), and the position of each token's completion in the sample (tokens,)."""
        return self._read[0]

    @property
    def prompt_tokens(self) -> tuple[Integers, Integers]:
        """The word numbers (tokens,), and the position of each token's prompt in `distinct_prompts` (tokens,)."""
        return self._read[1]

    @property
    def vocabulary(self) -> list[str]:
        """The distinct words, in the order of their numbers."""
        return self._read[2]

    @cached_property
    def windows(self) -> Integers:
        return self.run.windows[self.rows]

    @cached_property
    def steps(self) -> Integers:
        return self.run.steps[self.rows]

    @cached_property
    def prompt_numbers(self) -> Integers:
        return self.run.prompts[self.rows]

    @cached_property
    def groups(self) -> Integers:
        """Each row's group number (r,), counted from 0."""
        return np.unique(self.run.groups[self.rows], return_inverse=True)[1].astype(np.int64)

    @cached_property
    def standing(self) -> Floats:
        """Each row's centered rank (r,) in its group by advantage or total, which is 0 if unknown."""
        return np.nan_to_num(self.run.standing[self.rows])

    def description(self) -> str:
        """Return a description of the sample for an alert's text."""
        return f"a sample of {len(self.rows)} of {len(self.run.rows)} completions, seed {self.run.evidence.seed}"


def sampled(run: WindowedRun) -> Sample | None:
    """Draw whole groups with about `PER_WINDOW` completions from each window; return None if there are no texts."""
    if run.evidence.completions is None or not len(run.rows):
        return None
    firsts = np.unique(run.groups, return_index=True)[1]
    sizes = np.bincount(run.groups)
    keys = mixed(run.steps[firsts], run.evidence.seed) ^ mixed(run.prompts[firsts], run.evidence.seed + 1)
    order = np.lexsort((mixed(keys.view(np.int64), 0), run.windows[firsts]))
    # The number of completions of the same window before each group, in the random order of groups.
    before = np.concatenate([[0], np.cumsum(sizes[order])[:-1]])
    starts = np.searchsorted(run.windows[firsts][order], np.arange(len(run.starts)))
    before -= before[starts][run.windows[firsts][order]]
    chosen = np.zeros(len(sizes), dtype=np.bool_)
    chosen[order[before < PER_WINDOW]] = True
    rows = np.flatnonzero(chosen[run.groups])
    completions = _texts(run.evidence.completions, run.rows[rows])
    prompts = run.evidence.prompt_texts
    prompt_texts = [""] * len(rows) if prompts is None else _texts(prompts, run.rows[rows])
    # Sort the rows of a group by total and text, so that the result does not depend on their order in the arrays.
    positions = sorted(range(len(rows)), key=lambda at: (run.groups[rows[at]], run.totals[rows[at]], completions[at]))
    return Sample(run, rows[positions], [completions[at] for at in positions], [prompt_texts[at] for at in positions])


def _texts(texts: Texts, rows: Integers) -> list[str]:
    raw_texts = texts(rows) if callable(texts) else [texts[row] for row in rows.tolist()]
    return [shortened(text) for text in raw_texts]


def _numbered(texts: Sequence[str], word_numbers: dict[str, int]) -> tuple[Integers, Integers]:
    """Return word numbers (tokens,) and text positions (tokens,); add new words to `word_numbers`."""
    numbers, sizes = [], []
    for text in texts:
        text_numbers = [word_numbers.setdefault(word, len(word_numbers)) for word in words(text)]
        numbers.extend(text_numbers)
        sizes.append(len(text_numbers))
    return np.array(numbers, dtype=np.int64), np.repeat(np.arange(len(texts)), sizes)


def mixed(numbers: NDArray[Any], seed: int) -> Hashes:
    """Return well-mixed 64-bit hashes of 64-bit integers (the finalizer of SplitMix64)."""
    with np.errstate(over="ignore"):
        state = numbers.astype(np.int64).view(np.uint64) + np.uint64((seed * 0x9E3779B97F4A7C15 + 1) % 2**64)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        result: Hashes = state ^ (state >> np.uint64(31))
    return result


def chained(tokens: Hashes, owners: Integers, size: int) -> tuple[Hashes, Integers, Integers]:
    """Return the hash, the text, and the start position for each sequence of `size` tokens within a text."""
    result, count = tokens.copy(), len(tokens) - size + 1
    if count <= 0:
        return result[:0], owners[:0], owners[:0]
    result = result[:count]
    with np.errstate(over="ignore"):
        for further in range(1, size):
            # The prime of FNV-1a for 64 bits.
            result = result * np.uint64(0x100000001B3) ^ tokens[further : further + count]
    begins = np.flatnonzero(owners[:count] == owners[size - 1 :])
    return mixed(result[begins].view(np.int64), size), owners[begins], begins


def among(values: NDArray[Any], selected: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which of many `values` are in the small array `selected`, as `numpy.isin` would, but without sorting."""
    if not len(selected):
        return np.zeros(len(values), dtype=np.bool_)
    ascending = np.sort(selected)
    is_member = ascending[np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)] == values
    return np.asarray(is_member, dtype=np.bool_)
