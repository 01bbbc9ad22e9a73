r"""Find the final answer of a completion: ``FinalAnswer()(r"So it is \boxed{4}.")`` is ``4``."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import final

from rewardkit.core.text.claims import without_struck
from rewardkit.core.text.extractors import ANSWER, TextExtractor
from rewardkit.core.text.marks import behind_hashes, boxes

_STATED = re.compile(
    r"\banswers?\b[*\s]*(?:is\b|are\b|:)(?:\s(?:therefore|thus|simply|just|exactly|indeed)\b)?[\s:*]*"
    r"|^[ ]{0,3}(?:#{1,6}[ ]{0,9}|\*\*)(?:the |final |correct ){0,2}answer\**[ ]*\n\s*",
    re.IGNORECASE | re.MULTILINE,
)
_LEAD = re.compile(
    r"\A\s{0,9}(?:the\s)?(?:final\s|correct\s)?answers?\b[*\s]{0,9}(?:is\b|are\b|:)[\s:*]{0,9}", re.IGNORECASE
)
_TURN = re.compile(r"<\|(?:im_start|im_end|endoftext|eot_id|end|user|assistant)\|>")
"""The end of the model's turn. What it makes up of the next one is not its answer."""

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
_DENIED = re.compile(
    r"\b(?:not|never|nobody|none|cannot|hardly|if|unless|suppose|assum\w*|wrong|incorrect|false|doubt\w*|den(?:y|ies|ied))\b"
    r"|\bno one\b|n't\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:half|twice|double|triple|thrice|fake|decoy|inverse|opposite|square|reciprocal|negative|part)"
    r"(?: of)?(?: the| my| our| this)?(?: final| correct)?\s\Z",
    re.IGNORECASE,
)
"""What makes the number after "the answer is" another one: half the answer is 42."""

_LAST_SENTENCE = re.compile(r"[.!?;\n]")
_BOX = r"\\(?:boxed|fbox)\s{0,2}\{"
_OPENED = r"\s?(?:\$\$?|\\\(|\\\[)?\s?"
_OPERAND = r"(?:[0-9)\]}]|(?<![A-Za-z])[A-Za-z])"
_BEFORE = re.compile(
    rf"[0-9]{_BOX}|(?:{_OPERAND}\s?[-+/]|{_OPERAND}\s?(?<!\*)\*(?!\*)|[/^_+]"
    r"|\\(?:[hv]?phantom|[bx]?cancel|sout|sqrt|frac|cdot|times|div|pm|mp|sin|cos|tan|ln|log|exp)\s?(?:\{[^{}\n]{0,80}\})?\{?"
    rf"|(?:\b(?:not|never|nor|no|cannot|except)|n't)\s(?:equal\sto\s|be\s)?){_OPENED}{_BOX}"
)
_AFTER = re.compile(
    _BOX + r"[^{}]*(?:\{[^{}]*\}[^{}]*){0,9}\}\s?(?:\$\$?|\\\)|\\\])?"
    rf"(?:[0-9^]|[A-Za-z](?![A-Za-z])|(?:\s|\\text\s?\{{\s?)*(?:or\b(?!\s?\}}?{_OPENED}{_BOX})"
    r"|(?:hundred|thousand|million|billion|trillion)\b|(?:is|was)\s(?:not|wrong|incorrect|false)\b|isn't\b)"
    r"| ?(?:\\(?:pm|mp)(?![a-z])|±)| ?(?:[-+*/]|\\(?:times|cdot|div)) ?\(?[0-9]"
    r"|[,;]\s?or\s(?:maybe|perhaps|possibly|else)\b"
    r"|\s?[,;]\s?(?:or\s)?[-$]{0,2}[0-9])",
)
"""What may not stand before and after a box."""

_LONGEST_BEFORE = 200
"""More characters than `_BEFORE` reads before a box: the text before that is not searched."""

_VALUE = re.compile(r"(?:\*\*|\$|\\\()?\s*(?:[-+(\[\\]|[0-9.])[^\n]{0,120}|\$[^$\n]{1,120}\$|\*\*[^*\n]{1,80}\*\*")
_FORMULA = re.compile(r"(?<!\\)\$\$?((?:[^$\\]|\\.)+)\$\$?|\\\(((?:[^\\]|\\[^()])+)\\\)|\\\[((?:[^\\]|\\[^\[\]])+)\\\]")
_DISPLAYS = (("\\[", "\\]"), ("$$", "$$"))
_CLOSING_WORDS = "i hope it is correct"


@final
@dataclass(frozen=True)
class FinalAnswer(TextExtractor):
    r"""The marked answer, else the stated one, else the formula of the last line.

    Marks are ``<answer>``, ``\boxed{}``, and ``####``, in this order; statements are "answer is ..." and "answer: ...".
    Several different boxes are a list, ``4, 5``: boxing two numbers does not answer with one of them.
    """

    def find(self, answer: str) -> str | None:
        answer = without_struck(answer)
        if "<answer>" in answer or "</answer>" in answer:
            body = ANSWER.find(answer)
            return _boxed(body) if body and _has_box(body) else body and _LEAD.sub("", body, count=1)
        if _has_box(answer):
            return _boxed(answer)
        marked = behind_hashes(answer) if "####" in answer else answer
        if marked is not answer:
            return marked
        turn = _TURN.search(answer)
        return _stated(_without_closing_words((answer[: turn.start()] if turn else answer).rstrip()))

    def __repr__(self) -> str:
        return "final_answer()"


def _without_closing_words(text: str) -> str:
    """Remove the closing words of the Minerva prompt: "The final answer is $5$. I hope it is correct."."""
    bare = text.rstrip(". ")
    if bare[-len(_CLOSING_WORDS) :].lower() != _CLOSING_WORDS:
        return text
    return bare[: -len(_CLOSING_WORDS)].rstrip(" .\n")


def _has_box(text: str) -> bool:
    return "\\boxed" in text or "\\fbox" in text


def _boxed(text: str) -> str | None:
    """Return the contents of the outermost boxes, each once.

    None if one is not closed or has no braces, is a part of a formula (``2\\boxed{21}``), has an alternative beside it
    (``\\boxed{42} or 43``), or is denied.
    """
    first = min(place for place in (text.find("\\boxed"), text.find("\\fbox")) if place >= 0)
    if _BEFORE.search(text, max(0, first - _LONGEST_BEFORE)) or _AFTER.search(text, first):
        return None
    return in_boxes(text)


def in_boxes(text: str) -> str | None:
    """Return the contents of the outermost boxes, each once; None if there are none, or one is not closed."""
    contents: dict[str, str] = {}
    for content in boxes(text) or []:
        contents.setdefault("".join(content.split()), content.strip())
    return ", ".join(contents.values()) or None


def _stated(text: str) -> str | None:
    said = next(iter(deque(_STATED.finditer(text), maxlen=1)), None)
    before = _LAST_SENTENCE.split(text[max(0, said.start() - 200) : said.start()])[-1] if said else ""
    if _DENIED.search(before) or _PART.search(before):
        return None  # nobody thinks that the answer is 42
    line = _without_closing_words(_first_line(text[said.end() :]) if said else _last_line(text))
    if value := _value_of_subject(line):
        return value
    formulas = _FORMULA.findall(line)
    if said or not formulas:
        return line
    return "".join(formulas[0]) if len(formulas) == 1 else None


def _value_of_subject(line: str) -> str | None:
    """Return the value in a last sentence like "The largest n is 34."; None where it is denied, doubted, or unclear."""
    sentence = _SENTENCE.split(line[-400:].strip())[-1]
    for verb in (" is ", " are ", " equals "):
        start = sentence.rfind(verb)
        if start >= 0:
            subject, value = sentence[: start + len(verb) - 1], sentence[start + len(verb) :].strip()
            said = _SUBJECT.search(subject)
            if said and not _DOUBT.search(sentence, said.start()) and _VALUE.fullmatch(value):
                return value
    return None


def _first_line(text: str) -> str:
    """Return the first line; a displayed formula counts as one line."""
    for opening, closing in _DISPLAYS:
        end = text.find(closing, len(opening))
        if text.startswith(opening) and end >= 0:
            return text[len(opening) : end] + text[end + len(closing) :].partition("\n")[0]
    return text.partition("\n")[0]


def _last_line(text: str) -> str:
    for opening, closing in _DISPLAYS:
        ending = text.rstrip(".")
        start = ending.rfind(opening, 0, -len(closing))
        if ending.endswith(closing) and start >= 0:
            return ending[start:]
    return text.rpartition("\n")[2]
