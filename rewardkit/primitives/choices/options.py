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
from rewardkit.core.text.final_answer import without_elements
from rewardkit.core.text.visibility import replaced

MAX_CHARACTERS = 20_000
"""How many characters at the end of an answer are read: a choice is short and follows its explanation."""

MOST_OPTIONS = 100
"""The limit of options: each is searched for in the whole text."""

MOST_MENTIONS = 1_000
"""A text with more mentions of options than this explains nothing and chooses none."""

_WIDE = {"（": "(", "）": ")", "：": ":", "，": ",", "、": ",", "；": ";", "。": ". ", "！": "!", "？": "?"}
_QUOTES = dict.fromkeys("’ʼ", "'") | dict.fromkeys('*`"“”„«»「」『』$\\{}✅✓✔☑\ufe0f', "")
_CAPITALS = {chr(0xFF21 + place): chr(0x41 + place) for place in range(26)}
"""Full-width letters, as in Chinese exams."""

_PLAIN = _WIDE | _QUOTES | _CAPITALS
_LATEX = re.compile(
    r"\\(?:text|math)[a-z]{0,6}\b|\\f?box(?:ed)?\b|\\(?:bf|rm|quad|(?:[lL]arge|LARGE|[hH]uge|displaystyle)\b|[,;!()\[\]])"
)
_PADDED = re.compile(r"(?<=[(\[]) +| +(?=[)\]])")
_VARIABLE = re.compile(r"\s?[=≈](?!\s?(?:correct|right|wrong|true|false|incorrect|answer)\b)\s?[^\s=]|/\((?![A-Z]\))")
"""After a letter that names a value: "A = benzoquinone", "A=81°"."""

_ARGUMENT = re.compile(r"[A-Za-z]\([^()\n]{0,20}\Z")
"""Before a letter that is the argument of a function: P(A and B)."""

_FRAME = re.compile(r"(?<!\w)['_]{1,3}|(?<!\b[A-Z])['_]{1,3}(?!\w)|(?<=['_][A-Z])['_]")
_LINE_MARK = re.compile(r"^(?:[#>\u2022➡→⇒▶►🔹🔸👉🎯]{1,6} ?|[-+] )")
_SMILEYS = re.compile("[\U0001f600-\U0001f64f🎉🌟]")

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
"""Letters of scripts without spaces between words: ``答案是B`` mentions B."""

_LETTER = rf"[^\W{_UNSPACED}]"
_RUNS_ON = re.compile(
    r"'\w| (?!(?:because|since|as|for|due|given|is|isn't|was|are|and|or|not|rather|instead|over|but|plus|so|while|if|"
    r"which|also|cannot|can't|would|alternatively|otherwise|oder|ou|und|et|with|vs|xor|along|together|maybe|perhaps|then)\b)[a-z]"
)
"""After A, I or No: it is an ordinary word, as in "A dog" and "I think"."""

_ENDS = re.compile(r"[).,:;!\]]|\s|\Z")
_WORDS = {"a", "A", "i", "I", "no", "No", "NO"}


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
        if all(len(name) == 1 and name.isascii() and name.isupper() for name in self.names):
            names = "".join(self.names)  # ignoring case takes several times as long
            return re.compile(rf"(?<!{_LETTER})([{names}{names.lower()}])(?!{_LETTER})(?!-[a-z]{{2}})")
        longest_first = sorted(self.names, key=len, reverse=True)
        first = "".join({re.escape(name[0]) for name in longest_first})
        return re.compile(f"(?=[{first}])(?:{'|'.join(map(_bounded, longest_first))})", re.IGNORECASE)

    @cached_property
    def _by_group(self) -> tuple[str, ...]:
        return tuple(sorted(self.names, key=len, reverse=True))

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {name.casefold(): name for name in self.names}

    @cached_property
    def _longest(self) -> int:
        """A name has at most three times as many characters when its case is folded."""
        return max(len(name) for name in self.names)

    @cached_property
    def _kept(self) -> frozenset[str]:
        """Characters that belong to names and are not formatting."""
        return frozenset("".join(self.names))

    @cached_property
    def _formatting(self) -> dict[str, str]:
        return {character: new for character, new in _PLAIN.items() if character not in self._kept}

    @cached_property
    def _only_ascii(self) -> dict[str, str]:
        return {character: new for character, new in self._formatting.items() if character.isascii()}

    def plain(self, text: str) -> str:
        """Return the end of `text` without formatting, margins and empty lines."""
        text = text[-MAX_CHARACTERS:]
        if not self._kept & set("~<>"):
            text = without_elements(without_struck(text))
        if "\\" not in self._kept:
            text = _LATEX.sub("", text)
        if not text.isascii():
            text = _SMILEYS.sub("", text)
        text = replaced(text, self._only_ascii if text.isascii() else self._formatting)
        if not self._kept & {"'", "_"} and ("'" in text or "_" in text):
            text = _FRAME.sub("", text)
        lines = (" ".join(line.split()) for line in text.split("\n"))
        if "( " in text or " )" in text:
            lines = (_PADDED.sub("", line) for line in lines)
        lines = (_LINE_MARK.sub("", line) if line not in self.names else line for line in lines)
        return "\n".join(filter(None, lines))

    def named(self, text: str) -> str | None:
        """Return the option with the name `text`, in any case."""
        if text in self.names:
            return text
        return self._folded.get(text.casefold()) if len(text) <= 3 * self._longest else None

    def mentions(self, plain: str) -> list[Mention] | None:
        """Return the mentions of options in `plain`, in order; None if there are too many."""
        found = list(islice(self._pattern.finditer(plain), MOST_MENTIONS + 1))
        if len(found) > MOST_MENTIONS:
            return None
        return [self._mention(match) for match in found if not self._is_a_word(match, plain)]

    def _mention(self, match: re.Match[str]) -> Mention:
        name = match[0] if match[0] in self.names else match[0].upper()
        if name not in self.names:
            name = self._by_group[(match.lastindex or 1) - 1]
        return Mention(name, match.start(), match.end())

    def _is_a_word(self, match: re.Match[str], plain: str) -> bool:
        found = match[0]
        if found in _WORDS and _RUNS_ON.match(plain, match.end()):
            return True
        is_letter = len(found) == 1 and found.isalpha()
        if is_letter and (_VARIABLE.match(plain, match.end()) or self._is_argument(match, plain)):
            return True
        small = len(found) == 1 and found not in self.names and found.islower()
        return small and not _ENDS.match(plain, match.end())

    def _is_argument(self, match: re.Match[str], plain: str) -> bool:
        return _ARGUMENT.search(plain, max(0, match.start() - 24), match.start()) is not None


def _bounded(name: str) -> str:
    """Return a group that matches `name` unless it is part of a longer word or number."""
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, name[0]) else ""
    after = rf"(?!{_LETTER})(?!-[a-z]{{2}})" if re.match(_LETTER, name[-1]) else ""
    if name[0].isdigit():
        before = r"(?<![\w.,/^+\-\u2212])"
    if name[-1].isdigit():
        after = r"(?![\w^%]|[.,:/\-\u2013\u2212]\d| %)"
    return f"{before}({re.escape(name)}){after}"
