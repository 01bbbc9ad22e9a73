"""Tokens: ``tokens('He said "don\\'t," twice.')`` is ``["He", "said", '"', "do", "n't", ",", '"', "twice", "."]``.

Words and punctuation marks in the way of the Penn Treebank, which the public benchmarks read words with: hyphens,
periods and apostrophes stay inside a word, contractions are two tokens, and only the last period of a sentence is one
of its own.
"""

from __future__ import annotations

import re

from rewardkit.core.text.visibility import straight

_MARK = r"[;@\#$%&?!*\[\](){}<>\"\u00ab\u00bb\u201c\u201d\u201e\u2018\u2013\u2014\u2026]"
_TOKEN = re.compile(
    rf"""\.{{2,}}|--|``?|''|{_MARK}|[:,](?!\d)
    |(?:[^\s:,.\-`'{_MARK[1:-1]}]|[:,](?=\d)|\.(?!\.)|-(?!-)|'(?!'))+""",
    re.VERBOSE,
)
_CONTRACTION = re.compile(r"(?i)(.+)(n't|'s|'m|'d|'ll|'re|'ve|')\Z", re.DOTALL)
_SPLIT_WORDS = {"cannot": 3, "gonna": 3, "gotta": 3, "gimme": 3, "lemme": 3, "wanna": 3}
_CLOSERS = "]})>\"'\u00bb\u201d"


def tokens(sentence: str) -> list[str]:
    """Return the words and punctuation marks of one sentence."""
    found: list[str] = []
    for word in _TOKEN.findall(straight(sentence)):
        if cut := _SPLIT_WORDS.get(word.lower()):
            found += [word[:cut], word[cut:]]
        elif "'" in word and word.strip("'"):
            found += _apart(word)
        else:
            found.append(word)
    last = len(found) - 1
    while last > 0 and found[last] in _CLOSERS:
        last -= 1
    if found and len(found[last]) > 1 and found[last][-1] == "." != found[last][-2]:
        found[last : last + 1] = [found[last][:-1], "."]
    return found


def _apart(word: str) -> list[str]:
    """Return a contraction as two tokens, and an opening quotation mark as one of its own."""
    if word[0] == "'" and word.lower() not in ("'s", "'m", "'d", "'ll", "'re", "'ve", "'t"):
        return ["'", *(_apart(word[1:]) if "'" in word[1:] else [word[1:]])]
    dotted = word.endswith(".")
    match = _CONTRACTION.match(word[:-1] if dotted else word)
    return [match[1], match[2], *(["."] if dotted else [])] if match else [word]
