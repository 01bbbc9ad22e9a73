"""Source texts: completions for a user's function, made from the texts in its code and from right completions.

For a function with ``re.compile(r"<answer>(.*?)</answer>")``: ``<answer>42</answer>`` and ``<answer>42``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from rewardkit.testing.anatomy import anatomy_of
from rewardkit.testing.broken_texts import near_misses
from rewardkit.testing.strategies.contents import gold_text
from rewardkit.testing.strategies.places import guessed
from rewardkit.testing.strategies.tags import tagged
from rewardkit.testing.strategies.texts import bodies, wrong_answers
from rewardkit.testing.strategies.wordings import Contents, pattern_contents
from rewardkit.testing.vocabulary import Mined

_MOST_PATTERNS = 6


def from_code(code: Mined, row: Mapping[str, Any]) -> Contents:
    """Return completions with the tags, marks and patterns in a function's code.

    Their meaning is unknown, so right ones are only likely to be paid.
    """
    golds = [text for text in map(gold_text, _cells(code, row)) if text]
    answers = st.sampled_from(golds) if golds else bodies()
    wrong_ones = st.one_of([wrong_answers(gold) for gold in golds]) if golds else st.just("")
    right: list[SearchStrategy[str]] = []
    wrong: list[SearchStrategy[str]] = []
    if code.tags:
        right.append(tagged(*code.tags, body=answers))
        wrong.append(tagged(*code.tags, body=answers, valid=False))
    for pattern in code.patterns[:_MOST_PATTERNS]:
        try:
            contents = pattern_contents(re.compile(pattern, re.DOTALL), full=False)
            contents.right.validate()
        except Exception:  # Hypothesis cannot make texts for this pattern
            continue
        right.append(contents.right)
        wrong.append(contents.wrong)
    # Tags are handled above; a bare word is more often a key or a name than a mark.
    marks = [guessed(text) for text in code.texts if not re.fullmatch(r"</?\w+>|\w+", text)]
    for form in marks:
        right.append(answers.map(form.around))
        wrong.append(st.one_of(answers, wrong_ones.map(form.around)))
    if not right:
        return Contents(answers, wrong_ones)
    return Contents(st.one_of(right), st.one_of(wrong))


def from_good(good: Sequence[str], row: Mapping[str, Any]) -> Contents:
    """Return right completions as they are, and with one thing wrong: a mark missing, an empty tag, a wrong answer."""
    anatomies = [anatomy_of(text, row, frozenset(row)) for text in good]
    wrong = [
        st.sampled_from([miss for miss in dict.fromkeys(near_misses(anatomy)) if miss not in good] or ["?"])
        for anatomy in anatomies
    ]
    return Contents(st.sampled_from(list(good)), st.one_of(wrong))


def _cells(code: Mined, row: Mapping[str, Any]) -> list[Any]:
    """Return the cells that the code names, or else all cells."""
    named = [value for name, value in row.items() if name in code.names and value is not None]
    return named or [value for value in row.values() if value is not None]
