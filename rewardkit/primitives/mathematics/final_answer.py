r"""Find the final answer of a completion: ``FinalAnswer()(r"So it is \boxed{4}.")`` is ``4``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import final

from rewardkit.core.text.extractors import TextExtractor
from rewardkit.core.text.final_answer import COURTESY, bare, bare_answer, marked, own_words, stands_alone, stated

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z$\\])")
_SUBJECT = re.compile(
    r"(?:\A|\b(?:So|Thus|Hence|Therefore|Then|Finally)\b,?\s+)(?:[Tt]he|[Ii]ts|[Tt]heir)\s[^.;:!?]{1,160}\s(?:is|are|"
    r"equals)\Z"
)
_DENIED = (
    r"not|never|no|none|nobody|cannot|if|when|suppose|assum\w*|guess\w*|might|(?<!that )(?<!which )could|may|would|"
    r"should|(?:a|the) possible|possibly|maybe|perhaps|likely|unlikely|wrong|incorrect|false|doubt|either|or|unless|"
    r"except|instead|error|mistake|claim\w*|says?|said|thinks?|thought|believes?|according|fake|candidates?|options|"
    r"impossible|invalid|extraneous|exclud\w+|reject\w+|discard\w+|without|ignoring"
)
_DOUBT = re.compile(rf"\b(?:{_DENIED})\b|n't\b", re.IGNORECASE)
_PARTIAL = re.compile(
    r"\b(?:almost|nearly|approximat\w*|about|around|less|more|least|most|greater|between|example|bound|one|first|"
    r"second|another|so far|partial|intermediate|estimate|contradiction|distractor|trap|to (?:subtract|avoid)|"
    r"modulo|a solution|(?<!this )case|in base|to the power|units of|answer(?:'s|, squared| (?:mod|plus|times))|some|"
    r"other|next|previous|initial|both|question|opposite|alternative|limit|minus|(?:square|cube|half|third|quarter|double|twice|triple|negative|inverse|reciprocal|multiple|"
    r"logarithm) (?:root )?of)\b",
    re.IGNORECASE,
)
"""What makes a sentence one about something near the answer, or a part of it."""

_VALUE = re.compile(
    r"(?:\*\*|\$|\\\()?\s*(?:[-+(\[\\]|[0-9.])[^\n]{0,120}"
    r"|\$[^$\n]{1,120}\$(?:(?:,? (?:and )?\$[^$\n]{1,120}\$){1,7}[.!]?)?"
    r"|\*\*[^*\n]{1,80}\*\*"
)
_FORMULA = re.compile(
    r"(?<!\\)(?:\$\$?((?:[^$\\]|\\.)+)\$\$?|\\\(((?:[^\\]|\\[^()])+)\\\)|\\\[((?:[^\\]|\\[^\[\]])+)\\\])"
)
_DISPLAYS = (("\\[", "\\]"), ("$$", "$$"))
_CLOSING = re.compile(r"(?:\s*(?:\n`{3}|\n-{3,}|\$?\\blacksquare\$?|∎|[QE]\.?E\.?D\.?))+\s*\Z")
"""The end of a block or of a proof."""

_COURTESY = re.compile(rf"\s*(?:[.!]\s*|\n\s*){COURTESY.pattern}[^\n\d$.!?]{{0,160}}[.!?]?\s*\Z", re.IGNORECASE)

# What may be around the only formula of the last line, and before that line, is listed.

_RELATION = (
    r"(?:\b(?:is|are|equals|be|becomes|gives|gave|giving|yields|makes|get|gets|have|has|obtain|obtains|find|conclude|"
    r"costs|(?:equal|equals|simplifies|reduces|evaluates|amounts|adds? up|comes|leads|sums) to|(?:conclude|follows|"
    r"means|implies|find|see|get|have) that|so|therefore|thus|hence|then|finally|answer|solution|result|value)|"
    r"[=:\u2234\u21d2\u2192])[,*_\s]*\Z"
)
_LEADS = re.compile(rf"[\s*_>]*\Z|.*{_RELATION}", re.IGNORECASE | re.DOTALL)
_UNIT = re.compile(
    r"[*_\s]*[.!]?[*_]*\Z|\s?%[.!]?\Z|\s(?!(?:hundred|thousand|million|billion|trillion|dozen|squared|cubed|factorial|mod|times|is|"
    r"was|and|but|at|too|though|short|off|only|or|in|i|we|more|less|fewer|of)\b)[a-z]{2,20}(?:\s(?!\w*(?:is|was|and|or|"
    r"but|i)\b)[a-z]{2,20}){0,2}[.!]?\Z"
)
_MEASURED = re.compile(r"\s?(?:%|(?:percent|[ckm]?m|k?g|km/h|m/s|s|min|h|hours|degrees|dollars|units)\b)\W*\Z")
_IS_ANSWER = re.compile(
    r"(?:(?:So|Thus|Hence|Therefore),? )?(?P<value>\$[^$]+\$|\\\(.+\\\)|\*\*[^*]+\*\*|-?\d[\d.,/]*) is (?:the|my|our) "
    r"(?:final |correct )?(?:answer|solution|result)\W*\Z"
)
_CONCLUDED = re.compile(
    r"(?:So|Thus|Hence|Therefore|Then|Finally|In conclusion|We get),?\s(?:we (?:get|have|find)\s)?"
    r"(?=[A-Za-z]\s?=|[-\d\\])"
)
_ONLY_NUMBER = re.compile(
    r"(?:So|Thus|Hence|Therefore|Consequently|In total|Altogether|This means|This gives|It follows),?\s"
    r"[^\d$\\=]{2,120}\s(?:is|are|was|were|equals|has|have|had|makes?|gets?|needs?|spends?|pays?|earns?|costs?|(?:total|"
    r"count) of)[\s*]{1,3}"
    r"(?P<value>\\?\$?-?\d[\d,]*(?:\.\d+)?%?)(?=[\s.!*])[^\d$\\=]*\Z"
)
"""A last sentence that concludes with one number: "So Tom has 42 apples"."""

_OPEN = re.compile(
    r"(?:\b(?:or|and|nor|not|never|than|if|unless|suppose|assume|of|but)|n't\b[^.\n]{0,40} that|"
    r"\bnot\b[^.\n]{0,40} that|\u2260|!=|n't)\W*\Z",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?<=[.!?:])\s+|\n")
_EQUATION = re.compile(r"(?<![<>!\u2260\\])=")
_WORD = re.compile(r"(?<!\\)\b[a-z]{2}", re.IGNORECASE)


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
    if closing := _CLOSING.search(text, max(0, len(text) - 40)):
        text = text[: closing.start()]
    while courtesy := _COURTESY.search(text, max(0, len(text) - 240)):
        text = text[: courtesy.start()].rstrip()
    start = _last_line(text)
    before, line = text[:start], text[start:]
    if line.endswith("?") or _OPEN.search(before, max(0, len(before) - 40)):
        return None
    if value := _value_of_subject(line):
        return bare(value)
    sentence = _SENTENCE.split(line)[-1]
    if (only := _ONLY_NUMBER.match(sentence)) and not (_DOUBT.search(sentence) or _PARTIAL.search(sentence)):
        return only["value"] if stands_alone(sentence, *only.span("value")) else None
    if match := _IS_ANSWER.match(sentence):
        return bare(match["value"])
    formulas = list(_FORMULA.finditer(sentence))
    if len(formulas) > 1:
        return None
    lead, tail = (sentence[: formulas[0].start()], sentence[formulas[0].end() :]) if formulas else ("", "")
    is_alone = not lead.strip("*_> ")
    if concluded := None if formulas else _CONCLUDED.match(sentence):
        return bare(sentence[concluded.end() :])
    if is_alone and not _introduces(before if sentence == line else line[: -len(sentence)], sentence):
        return None
    if not formulas:
        return bare(line).lstrip("= ")
    if (
        (is_alone and tail.strip("*_.! ") and (before.strip() or not _MEASURED.match(tail)))
        or _DOUBT.search(lead)
        or _PARTIAL.search(lead)
        or not _LEADS.match(lead)
        or not _UNIT.match(tail)
    ):
        return None
    return "".join(formulas[0].groups("")) + tail.rstrip("*_.! ")


def _introduces(before: str, value: str) -> bool:
    """Return whether a value on a separate line may be the answer after `before`: not after "41" or "Suppose"."""
    before = before.rstrip("*_$`>- \n\t")
    if not before or value.startswith("="):
        return True
    last = _CLAUSE.split(before[-400:])[-1].strip("*_$` ")
    if _DOUBT.search(last):
        return False
    if _EQUATION.search(last):  # a step before it; "x = 41" and "x = 42" are two results
        names = [text.strip("*_$\\[]() \n").partition("=")[0].strip() for text in (value, last)]
        return "=" not in value or names[0] != names[1]
    return bool(_LEADS.match(last)) or (last[-1:] in (".", "!") and bool(_WORD.search(last)))


def _value_of_subject(line: str) -> str | None:
    """Return the value in a last sentence like "The largest n is 34."; None if it is denied, doubted, or unclear."""
    sentence = _SENTENCE.split(line[-400:].strip())[-1]
    for verb in (" is ", " are ", " equals "):
        start = sentence.rfind(verb)
        if start >= 0:
            subject, value = sentence[: start + len(verb) - 1], sentence[start + len(verb) :].strip()
            match = _SUBJECT.search(subject)
            if (
                match
                and not (_DOUBT.search(sentence, match.start()) or _PARTIAL.search(sentence, match.start()))
                and _VALUE.fullmatch(value)
            ):
                return value
    return None


def _last_line(text: str) -> int:
    """Return where the last line begins, or the formula that is displayed at the end."""
    ending = text.rstrip(".")
    for opening, closing in _DISPLAYS:
        start = ending.rfind(opening, 0, -len(closing))
        if ending.endswith(closing) and start >= 0:
            return start
    return text.rfind("\n") + 1
