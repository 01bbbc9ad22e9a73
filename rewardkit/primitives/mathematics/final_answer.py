r"""Find the final answer of a completion: ``FinalAnswer()(r"So it is \boxed{4}.")`` is ``4``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import final

from rewardkit.core.text.extractors import TextExtractor
from rewardkit.core.text.final_answer import bare, bare_answer, marked, own_words, stated

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_SUBJECT = re.compile(
    r"(?:\A|\b(?:So|Thus|Hence|Therefore|Then|Finally)\b,?\s+)(?:[Tt]he|[Ii]ts|[Tt]heir)\s[^.;:!?]{1,160}\s(?:is|are|equals)\Z"
)
_DOUBT = re.compile(
    r"\b(?:not|never|no|none|cannot|if|when|suppose|assum\w*|guess|might|(?<!that )(?<!which )could|"
    r"may|would|should|possib\w*|maybe|perhaps|likely|"
    r"unlikely|wrong|incorrect|false|doubt|almost|nearly|approximat\w*|about|around|less|more|least|most|greater|between|"
    r"either|or|unless|except|instead|example|bound|one|first|second|another|some|other|next|previous|initial|both|"
    r"question|error|mistake|opposite|claim|alternative|limit|fake)\b|n't\b",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"(?:\*\*|\$|\\\()?\s*(?:[-+(\[\\]|[0-9.])[^\n]{0,120}"
    r"|\$[^$\n]{1,120}\$(?:(?:,? (?:and )?\$[^$\n]{1,120}\$){1,7}[.!]?)?"
    r"|\*\*[^*\n]{1,80}\*\*"
)
_FORMULA = re.compile(r"(?<!\\)\$\$?((?:[^$\\]|\\.)+)\$\$?|\\\(((?:[^\\]|\\[^()])+)\\\)|\\\[((?:[^\\]|\\[^\[\]])+)\\\]")
_BESIDE_FORMULA = re.compile(r"[0-9)\]}+*/^=<>-]\s?\0|\0\s?[0-9(\[{+*/^=<>]")
"""A formula that is only a part of one: ``16 $\\pi$``."""

_DISPLAYS = (("\\[", "\\]"), ("$$", "$$"))
_COURTESY = re.compile(
    r"\s*(?:[.!]\s*|\n\s*)(?:i hope (?:this|that|it|the)|(?:please )?let me know|feel free|hope (?:this|"
    r"that) helps|is there anything|"
    r"would you like|do you (?:have|want|need)|thanks?\b|have a)[^\n]{0,200}\s*\Z",
    re.IGNORECASE,
)
"""A last sentence that speaks to the user: "Let me know if you have questions"."""


@final
@dataclass(frozen=True)
class FinalAnswer(TextExtractor):
    r"""The marked answer, else the stated one, else the formula of the last line.

    Several different boxes are a list, ``4, 5``: boxing two numbers does not answer with one of them.
    """

    def find(self, answer: str) -> str | None:
        answer = own_words(answer)
        mark = marked(answer)
        if mark is not None:
            return bare_answer(mark)
        claim = stated(answer)
        if not claim:
            return _last_claim(answer) if claim == "" else None
        value = _value_of_subject(claim)
        return bare(value) if value else claim

    def __repr__(self) -> str:
        return "final_answer()"


def _last_claim(text: str) -> str | None:
    text = text.rstrip()
    while courtesy := _COURTESY.search(text, max(0, len(text) - 240)):
        text = text[: courtesy.start()]
    line = _last_line(text)
    if value := _value_of_subject(line):
        return bare(value)
    formulas = list(_FORMULA.finditer(line))
    if not formulas or _BESIDE_FORMULA.search(_FORMULA.sub("\0", line)):
        return bare(line)
    return "".join(formulas[0].groups("")) if len(formulas) == 1 else None


def _value_of_subject(line: str) -> str | None:
    """Return the value in a last sentence like "The largest n is 34."; None if it is denied, doubted, or unclear."""
    sentence = _SENTENCE.split(line[-400:].strip())[-1]
    for verb in (" is ", " are ", " equals "):
        start = sentence.rfind(verb)
        if start >= 0:
            subject, value = sentence[: start + len(verb) - 1], sentence[start + len(verb) :].strip()
            match = _SUBJECT.search(subject)
            if match and not _DOUBT.search(sentence, match.start()) and _VALUE.fullmatch(value):
                return value
    return None


def _last_line(text: str) -> str:
    for opening, closing in _DISPLAYS:
        ending = text.rstrip(".")
        start = ending.rfind(opening, 0, -len(closing))
        if ending.endswith(closing) and start >= 0:
            return ending[start:]
    return text.rpartition("\n")[2]
