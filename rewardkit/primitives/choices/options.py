r"""Find mentions of options in a text: ``$\text{(B)}$, not A`` is read as ``(B), not A``, with two mentions.

Formatting (Markdown, LaTeX, quotes, full-width punctuation) is removed first, so that every rule about claims can be
written for plain text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from rewardkit.core.text.claims import without_struck
from rewardkit.core.text.visibility import replaced

MAX_CHARACTERS = 20_000
"""How many characters at the end of an answer are read: a choice is short and follows its explanation."""

MOST_OPTIONS = 100
"""The limit of options: each is searched for in the whole text."""

MOST_MENTIONS = 1_000
"""A text with more mentions of options than this explains nothing and chooses none."""

_WIDE = {"（": "(", "）": ")", "：": ":", "，": ",", "、": ",", "；": ";", "。": ". ", "！": "!", "？": "?"}
_QUOTES = dict.fromkeys("’ʼ", "'") | dict.fromkeys('*`"“”„«»$\\{}✅✓✔☑\ufe0f', "")
_PLAIN = _WIDE | _QUOTES
_LATEX = re.compile(r"\\(?:text|math)[a-z]{0,6}\b|\\f?box(?:ed)?\b|\\(?:bf|rm|quad|,|;|!)")
_FRAME = re.compile(r"(?<!\w)['_]{1,3}|['_]{1,3}(?!\w)")
_LINE_MARK = re.compile(r"^(?:[#>\u2022]{1,6} ?|[-+] )")

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
"""Letters of scripts without spaces between words: ``答案是B`` mentions B."""

_LETTER = rf"[^\W{_UNSPACED}]"
_RUNS_ON = re.compile(
    r"'\w| (?!(?:because|since|as|for|due|given|is|isn't|was|are|and|or|not|rather|instead|over|but|plus|so|while|if|"
    r"which|also|cannot|can't|would|alternatively|oder|ou|und|et|with|vs|xor|along|together|maybe|perhaps|then)\b)[a-z]"
)
"""After A, I or No: it is an ordinary word, as in "A dog" and "I think"."""

_ENDS = re.compile(r"[).,:;!\]]|\s|\Z")
_WORDS = {"a", "i", "no"}


@dataclass(frozen=True)
class Mention:
    """An option's `name` at ``text[start:end]``."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Options:
    """The names of the options of a question."""

    names: tuple[str, ...]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self.names, key=len, reverse=True)
        first = "".join({re.escape(name[0]) for name in longest_first})
        return re.compile(f"(?=[{first}])(?:{'|'.join(map(_bounded, longest_first))})", re.IGNORECASE)

    @cached_property
    def _by_group(self) -> tuple[str, ...]:
        return tuple(sorted(self.names, key=len, reverse=True))

    @cached_property
    def _kept(self) -> frozenset[str]:
        """Characters that belong to names and are not formatting."""
        return frozenset("".join(self.names))

    def plain(self, text: str) -> str:
        """Return the end of `text` without formatting, margins and empty lines."""
        text = text[-MAX_CHARACTERS:]
        if not self._kept & set("~<>"):
            text = without_struck(text)
        if "\\" not in self._kept:
            text = _LATEX.sub("", text)
        text = replaced(text, {character: new for character, new in _PLAIN.items() if character not in self._kept})
        if not self._kept & {"'", "_"} and ("'" in text or "_" in text):
            text = _FRAME.sub("", text)
        lines = (" ".join(line.split()) for line in text.split("\n"))
        lines = (_LINE_MARK.sub("", line) if line not in self.names else line for line in lines)
        return "\n".join(filter(None, lines))

    def named(self, text: str) -> str | None:
        """Return the option with the name `text`, in any case."""
        if text in self.names:
            return text
        return next((name for name in self.names if name.casefold() == text.casefold()), None)

    def mentions(self, plain: str) -> list[Mention] | None:
        """Return the mentions of options in `plain`, in order; None if there are too many."""
        found = list(islice(self._pattern.finditer(plain), MOST_MENTIONS + 1))
        if len(found) > MOST_MENTIONS:
            return None
        return [self._mention(match) for match in found if not self._is_a_word(match, plain)]

    def _mention(self, match: re.Match[str]) -> Mention:
        name = match[0] if match[0] in self.names else self._by_group[(match.lastindex or 1) - 1]
        return Mention(name, match.start(), match.end())

    def _is_a_word(self, match: re.Match[str], plain: str) -> bool:
        found = match[0]
        if found.casefold() in _WORDS and _RUNS_ON.match(plain, match.end()):
            return True
        small = len(found) == 1 and found not in self.names and found.islower()
        return small and not _ENDS.match(plain, match.end())


def _bounded(name: str) -> str:
    """Return a group that matches `name` unless it is part of a longer word or number."""
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, name[0]) else ""
    after = rf"(?!{_LETTER})(?!-[a-z]{{2}})" if re.match(_LETTER, name[-1]) else ""
    if name[0].isdigit():
        before = r"(?<![\w.,/^+\-\u2212])"
    if name[-1].isdigit():
        after = r"(?![\w^%]|[.,:/\-\u2013\u2212]\d| %)"
    return f"{before}({re.escape(name)}){after}"
