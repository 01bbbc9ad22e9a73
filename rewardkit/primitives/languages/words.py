"""Words: those of a text by their script, in passages that are long enough to tell their language.

In ``Das ist 答案`` there are two Latin words and two Chinese ones: each character of Chinese and Japanese is a word,
and every four letters of Thai, which has no spaces either. A single letter is a symbol, not a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import final

from rewardkit.core.text.languages import SCRIPTS, script_of

LEAST = 5
"""How many words a passage has at least, unless the text has fewer; in longer texts it is more."""
_PASSAGES = 4_000
"""A passage has one word more for every so many characters of the text: a long text is not read word by word."""

_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_NO_LETTERS = (
    "!-&(-/:-@\\[-`{-~\u00a1-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u060c\u061b\u061f\u06d4\u0964"
    "\u0965\u2000-\u200b\u200e-\u2018\u201a-\u206f\u2190-\u2bff\u3000-\u3004\u3008-\u303f\uff01-\uff20\U0001f000-\U0001faff"
)
_END = ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964\n"
_TOKEN = re.compile(f"(?P<end>[{_END}]+)|[{_CJK}]{{1,20}}|[^\\s\\d{_NO_LETTERS}{_CJK}]{{1,60}}")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_LETTERS_OF_A_WORD = 4
_KANA = frozenset(SCRIPTS["ja"])
_EACH_A_WORD = re.compile(f"[{_CJK}]")


@final
@dataclass(slots=True)
class Passage:
    """Consecutive words.

    Attributes:
        text: the words in a script of the language (or kana next to Chinese), to tell their language.
        words: how many those are.
        own: how many of them are in a script of the language itself.
    """

    text: list[str] = field(default_factory=list)
    words: int = 0
    own: int = 0

    def add(self, token: str, words: int, own: bool) -> None:
        self.text.append(token)
        self.words += words
        self.own += words if own else 0

    def join(self, other: Passage) -> None:
        self.text += other.text
        self.words += other.words
        self.own += other.own


@lru_cache(maxsize=65_536)
def scripts_and_words(token: str) -> tuple[frozenset[str], int]:
    """Return the scripts of a token, and how many words it is."""
    if token.isascii():
        letters = sum(map(str.isalpha, token))
        return frozenset(("LATIN",) if letters else ()), int(letters > 1)
    found = Counter(map(script_of, token))
    del found[""]
    letters = found.total()
    if _EACH_A_WORD.match(token):
        words = letters
    elif _UNSPACED.match(token):
        words = -(-letters // _LETTERS_OF_A_WORD)
    else:
        words = int(letters > 1)
    return frozenset(found), words


def _name(script: str) -> str:
    return "Chinese characters" if script == "CJK" else script.title()


def passages(text: str, own: frozenset[str], foreign: Counter[str]) -> Iterator[Passage]:
    """Yield the passages of `text`, sentences where they are long enough, for a language in the scripts `own`.

    Words in other scripts are counted in `foreign`, by script. Kana stay in Chinese text: they tell that it is
    Japanese.
    """
    least = max(LEAST, len(text) // _PASSAGES)
    family = own | _KANA if "CJK" in own else own
    whole: Passage | None = None
    passage = Passage()
    for found in _TOKEN.finditer(text):
        token = found[0]
        if found["end"]:
            closed = passage.words >= least
        else:
            scripts, words = scripts_and_words(token)
            if not scripts:
                continue
            if scripts <= family:
                passage.add(token, words, scripts <= own)
            else:
                foreign[_name(min(scripts - family))] += words
            closed = passage.words >= 3 * least
        if closed:
            if whole:
                yield whole
            whole, passage = passage, Passage()
    if whole and passage.words < least:  # what is left is read with what is before it
        whole.join(passage)
        passage = Passage()
    if whole:
        yield whole
    if passage.text:
        yield passage
