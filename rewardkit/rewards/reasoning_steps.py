"""Reasoning steps: ``rk.reasoning_steps(3)`` gives 2/3 to a text with two numbered, nontrivial steps."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.text.extraction import as_extractor, raw
from rewardkit.text.extractors import Extractor
from rewardkit.text.json_text import MAX_CHARACTERS
from rewardkit.text.visibility import shown as visible
from rewardkit.tree.gold import spaced
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

MOST = 20
"""The maximum number of steps that a user can require. The limit is arbitrary, but each step is compared with all
earlier steps that counted."""

ALIKE = 0.6
"""The fraction of common words above which two steps are considered the same. It is lower for two calculations with the
same wording."""

_DISTINCT = 3
"""The minimum number of different words in a step. The number is arbitrary: "so so so so" is not a step."""
_READ = 200
"""The number of words at the beginning of each step that are compared. The number is arbitrary: equal steps have the
same beginning."""

_ORDER = "first|second|third|fourth|fifth|next|then|after that|finally|lastly"
_MARK = re.compile(
    # at the start of a line, after marks of Markdown: a number, a bullet, "Step 1:", "Schritt 1:", and so in Chinese
    r"^[ \t>#*_]{0,12}(?:\(?\d{1,3}[.):\uff1a\u3001](?!\d)|[-*+\u2022](?=[ \t])|\u7b2c\w{1,3}\u6b65"
    r"|[^\W\d_]{1,15}[ \t]?\d{1,3}[*_]{0,2}[ \t]?[:.)\uff1a\u3001])"
    # anywhere
    r"|\bstep[ \t]\d{1,3}[ \t]?[:.)]"
    # at the start of a sentence
    rf"|(?:^|(?<=[.!?:\n])[ \t]{{1,2}})(?:{_ORDER}(?:ly)?)(?:,|(?=[ \t]))",
    re.IGNORECASE | re.MULTILINE,
)
# Letters and digits of any script; list marks are not words.
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class ReasoningSteps:
    """The fraction of the requested steps that a text contains. Empty, short, and repeated steps do not count."""

    enough: int
    words: int

    def __call__(self, text: str | None) -> float | Score:
        if text is None:
            return Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
        counted: list[frozenset[str]] = []
        earlier: set[frozenset[str]] = set()
        reasons: Counter[str] = Counter()
        for step in _steps(visible(text)):
            words = _WORD.findall(step)[:_READ]
            distinct = frozenset(words)
            if len(words) < self.words or sum(len(word) > 1 or not word.isascii() for word in distinct) < _DISTINCT:
                reasons["too short"] += 1
            elif distinct in earlier or any(_similar(distinct, other) for other in counted):
                reasons["repeated"] += 1
            else:
                counted.append(distinct)
                if len(counted) == self.enough:
                    return 1.0
            earlier.add(distinct)
        notes = [
            f"{len(counted)} of {self.enough} steps",
            *(f"{count:,} {reason}" for reason, count in reasons.items()),
        ]
        return Score(len(counted) / self.enough, ", ".join(notes))


def _steps(text: str) -> list[str]:
    """Return the text between each mark and the next, in lower case."""
    marks = list(_MARK.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return [spaced(text[mark.end() : end]).casefold() for mark, end in zip(marks, ends, strict=False)]


def _similar(step: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(step & other)
    return shared > ALIKE * (len(step) + len(other) - shared)


def reasoning_steps(enough: int = 3, *, words: int = 5, extract: Extractor | Any = None) -> Reward:
    """Score the number of reasoning steps, up to `enough`. Extra, empty, and repeated steps do not raise the score.

    ``rk.reasoning_steps(3)`` gives 2/3 to ``1. Add 3 and 4 to get 7.``, ``2. Halve 7, which gives 3.5.``, ``3. Done.``
    on three lines.

    A step begins with a number or a bullet at the start of a line, with ``Step 1:`` in any language, or with a word
    such as First, Next, Then, or Finally at the start of a sentence. It ends at the beginning of the next step. A step
    counts if it has at least `words` words or numbers, at least three different ones, and shares at most 60% of its
    words with each earlier step that counted. The idea is from open-r1's ``reasoning_steps_reward``, which counts only
    the markers.

    This reward checks only the form: nonsensical steps count if they differ. Therefore, give it a small weight, and
    also reward the answer. ``rk.milestones`` looks for specific milestones instead.

    Args:
        enough: the number of steps that scores 1.0, from 1 to 20.
        words: the minimum number of words or numbers in a step, at least 1 (about 3 for terse formulas).
        extract: finds the text, by default the whole completion, including thinking.

    Raises:
        RewardDefinitionError: a number is out of range.
    """
    for name, value, most in (("enough", enough, MOST), ("words", words, _READ)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise RewardDefinitionError(
                f"reasoning_steps: {name} must be an int from 1 to {most}, got {shorten(value)}"
            )
    where = as_extractor(extract, raw())
    arguments = [] if enough == 3 else [enough]
    call_text = expression("reasoning_steps", *arguments, words=(words, 5), extract=(extract and where, None))
    text = Parameter("text", "completion", view=where)
    return primitive(ReasoningSteps(enough, words), "reasoning_steps", call_text, text)
